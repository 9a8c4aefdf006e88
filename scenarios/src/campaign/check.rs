//! The same plan in another process, and the first event in which the two runs part.

use crate::simulate::{self, Manner};
use groundhog_sim::ledger::compare::{
    Divergence, RecordedEvent, RecordedInterval, first_unlike_event, first_unlike_interval,
};
use groundhog_sim::ledger::fingerprint::CHECKPOINT_EVENTS;
use groundhog_sim::outcome::Outcome;
use groundhog_sim::plan::Plan;
use serde::{Deserialize, Serialize};
use std::io::Write;
use std::process::{Command, Stdio};

/// Where two runs of one plan part.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Difference {
    /// The first event that differs, if the runs still differ when they are recorded.
    pub event: Option<Divergence>,
    /// What the fingerprint of the other run was.
    pub other_fingerprint: String,
}

/// What the other process says of its run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Said {
    /// In hex.
    pub fingerprint: String,
    /// In hex, one after the other.
    pub checkpoints: Vec<String>,
    /// The events of the interval that was asked for.
    pub events: Vec<SaidEvent>,
}

/// One event as the other process says it.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SaidEvent {
    /// Its place in the run.
    pub index: u64,
    /// Its encoding.
    pub encoded: Vec<u8>,
    /// Its line in a timeline.
    pub line: String,
}

/// Why another process could not be asked.
#[derive(Debug, thiserror::Error)]
pub enum CheckError {
    /// It could not be started, or be spoken to.
    #[error("another process for the second run: {0}")]
    Process(#[from] std::io::Error),
    /// It said something else than what was asked.
    #[error("the second run's process answered {status}: {said}")]
    Answer {
        /// How it ended.
        status: std::process::ExitStatus,
        /// What it said.
        said: String,
    },
    /// The run itself could not be repeated here.
    #[error("the run cannot be recorded: {0}")]
    Run(#[from] groundhog_sim::run::RunError),
}

/// What this process says when it is the other one.
pub fn said(plan: &Plan, interval: Option<u64>, manner: &Manner) -> Result<Said, CheckError> {
    let (outcome, events) = match interval {
        None => (simulate::simulate(plan, manner)?, Vec::new()),
        Some(interval) => simulate::record(plan, manner, events_of(interval))?,
    };
    Ok(Said {
        fingerprint: hex(&outcome.fingerprint),
        checkpoints: outcome.checkpoints.iter().map(|checkpoint| hex(checkpoint)).collect(),
        events: events
            .into_iter()
            .map(|event| SaidEvent { index: event.index, encoded: event.encoded, line: event.line })
            .collect(),
    })
}

/// Runs `plan`, whose run here gave `outcome`, in another process and says where the two part.
pub fn against_another_process(
    plan: &Plan,
    outcome: &Outcome,
    manner: &Manner,
) -> Result<Option<Difference>, CheckError> {
    let there = ask(plan, None, manner)?;
    if there.fingerprint == hex(&outcome.fingerprint) {
        return Ok(None);
    }
    let here: Vec<[u8; 8]> = outcome.checkpoints.clone();
    let others: Vec<[u8; 8]> = there.checkpoints.iter().map(|checkpoint| bytes(checkpoint)).collect();
    // Equal checkpoints and different fingerprints: they part after the last checkpoint.
    let interval = first_unlike_interval(&here, &others).unwrap_or(here.len() as u64);
    let (_, left) = simulate::record(plan, manner, events_of(interval))?;
    let right = ask(plan, Some(interval), manner)?.events;
    let right = right
        .into_iter()
        .map(|event| RecordedEvent {
            index: event.index,
            node: None,
            encoded: event.encoded,
            line: event.line,
        })
        .collect();
    let left = RecordedInterval { interval, events: left };
    let right = RecordedInterval { interval, events: right };
    Ok(Some(Difference { event: first_unlike_event(&left, &right), other_fingerprint: there.fingerprint }))
}

fn events_of(interval: u64) -> std::ops::Range<u64> {
    interval * CHECKPOINT_EVENTS..(interval + 1) * CHECKPOINT_EVENTS
}

fn ask(plan: &Plan, interval: Option<u64>, manner: &Manner) -> Result<Said, CheckError> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["say-checkpoints", "--max-polls", &manner.max_polls.to_string()]);
    if let Some(interval) = interval {
        command.args(["--interval", &interval.to_string()]);
    }
    let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn()?;
    let text = plan.to_json();
    let mut input = process.stdin.take().expect("it was asked to have one");
    // The other process reads all of it before it says anything.
    input.write_all(text.as_bytes())?;
    drop(input);
    let output = process.wait_with_output()?;
    serde_json::from_slice(&output.stdout).map_err(|_| CheckError::Answer {
        status: output.status,
        said: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    })
}

fn hex(bytes: &[u8]) -> String {
    super::tally::hex(bytes)
}

/// The checkpoint of these hex digits; another text is a checkpoint that no run has.
fn bytes(hex: &str) -> [u8; 8] {
    u64::from_str_radix(hex, 16).unwrap_or(u64::MAX).to_be_bytes()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_survives_its_hex_digits() {
        let checkpoint = [0, 1, 2, 0xab, 0xff, 9, 8, 7];
        assert_eq!(bytes(&hex(&checkpoint)), checkpoint);
    }
}
