//! The same plan in another process, and what the two runs do not share.
//!
//! Promise: runs are compared over everything, their events and every figure of their outcomes. Where events differ, the
//! first that does is named, of two runs that were compared event by event while both went on: what makes runs differ may
//! make them differ otherwise each time.

mod other;

pub use other::{Arguments, Said, say};

use crate::simulate::{self, Manner};
use groundhog_sim::figures::{Unlike, first_unlike_figure};
use groundhog_sim::ledger::compare::{Divergence, Lockstep, first_unlike_interval};
use groundhog_sim::outcome::{Cut, Outcome};
use groundhog_sim::plan::Plan;
use groundhog_sim::run::RunError;
use std::ops::Range;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// Pairs of runs that are compared event by event, at most, until one pair differs.
const MOST_PAIRS: u32 = 5;

/// What two runs of one plan do not share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Difference {
    /// This event, and none before it.
    Event(Box<Divergence>),
    /// A figure, although every event is the same: the ledger counts what no event says.
    Figure(Unlike),
    /// The events among these, and then every pair that was compared event by event was equal.
    NowAndThen {
        /// Where the first event that differs is.
        among: Range<u64>,
        /// Pairs that were compared and found equal.
        pairs: u32,
    },
    /// The other run gave no outcome, and this one did.
    Failed {
        /// What the simulator said there.
        there: String,
    },
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
    #[error("the run cannot be repeated: {0}")]
    Run(#[from] RunError),
}

/// Whether an outcome is one that the plan alone decides: whoever interrupts a run, the clock on the wall decides when.
pub const fn is_repeatable(outcome: &Outcome) -> bool {
    matches!(outcome.cut, None | Some(Cut::Polls { .. } | Cut::Livelock { .. }))
}

/// Runs `plan`, whose run here gave `outcome`, in another process and says what the two do not share.
pub fn against_another_process(
    plan: &Plan,
    outcome: &Outcome,
    manner: &Manner,
) -> Result<Option<Difference>, CheckError> {
    let (fingerprint, checkpoints, figures) = match other::ask(plan, manner)? {
        Said::Failed(there) => return Ok(Some(Difference::Failed { there })),
        Said::Outcome { fingerprint, checkpoints, figures } => (fingerprint, checkpoints, figures),
    };
    if fingerprint == hex(&outcome.fingerprint) {
        return Ok(first_unlike_figure(&outcome.figures(), &figures).map(Difference::Figure));
    }
    let checkpoints: Vec<[u8; 8]> = checkpoints.iter().map(|checkpoint| bytes(checkpoint)).collect();
    // Equal checkpoints and unlike fingerprints cannot be: the last checkpoint covers every event.
    let among = first_unlike_interval(&outcome.checkpoints, &checkpoints).unwrap_or(0..outcome.events);
    for _ in 0..MOST_PAIRS {
        if let Some(divergence) = event_by_event(plan, manner)? {
            return Ok(Some(Difference::Event(Box::new(divergence))));
        }
        if manner.stop.load(Ordering::Relaxed) {
            break;
        }
    }
    Ok(Some(Difference::NowAndThen { among, pairs: MOST_PAIRS }))
}

/// Runs the plan here and in another process and compares the two while they go on; `None` when they are equal, or when
/// this run was interrupted.
fn event_by_event(plan: &Plan, manner: &Manner) -> Result<Option<Divergence>, CheckError> {
    let mut other = other::follow(plan, manner)?;
    let lockstep = Arc::new(Mutex::new(Some(Lockstep::beside(other.events()))));
    let (inside, asked) = (Arc::clone(&lockstep), Arc::clone(&manner.stop));
    let enough = Arc::new(AtomicBool::new(false));
    let told = Arc::clone(&enough);
    let sink = Box::new(move |line: &groundhog_sim::ledger::onlooker::Line<'_>| {
        let mut lockstep = inside.lock().expect("comparing does not panic");
        let equal = lockstep.as_mut().is_some_and(|lockstep| lockstep.event(line));
        if !equal || asked.load(Ordering::Relaxed) {
            told.store(true, Ordering::Relaxed);
        }
    });
    let run = simulate::watch(plan, &Manner { stop: enough, ..manner.clone() }, sink);
    let lockstep = lockstep.lock().expect("comparing does not panic").take();
    let divergence = match manner.stop.load(Ordering::Relaxed) {
        true => None,
        false => lockstep.and_then(Lockstep::end),
    };
    other.end()?;
    // A run that fails here has parted from the other one at the latest where it failed.
    match (divergence, run) {
        (Some(divergence), _) => Ok(Some(divergence)),
        (None, run) => Ok(run.map(|_| None)?),
    }
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
