//! The other process of a check: what it is asked, and what it says.
//!
//! Promise: it is told everything that its outcome depends on: the plan, the laws, the bounds, and what is planted. It
//! ends with whoever asked, whatever its run does.

use super::{CheckError, hex};
use crate::simulate::{self, Laws, Manner};
use clap::Args;
use groundhog_sim::figures::Figure;
use groundhog_sim::ledger::compare::RecordedEvent;
use groundhog_sim::ledger::onlooker::Line;
use groundhog_sim::plan::Plan;
use groundhog_sim::run::Plant;
use groundhog_sim::units::{Life, NodeId, SimTime};
use serde::{Deserialize, Serialize};
use std::io::{BufRead, BufReader, BufWriter, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};

/// What the other process is told on its command line; the plan comes on its standard input.
#[derive(Args)]
pub struct Arguments {
    /// Say every event as it happens, and not the outcome.
    #[arg(long)]
    events: bool,
    #[arg(long)]
    max_polls: u64,
    #[arg(long, value_enum)]
    laws: Laws,
    #[arg(long, value_parser = simulate::plant)]
    plant: Option<Plant>,
}

/// What it says of its run.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Said {
    /// It gave an outcome.
    Outcome {
        /// In hex.
        fingerprint: String,
        /// In hex, one after the other.
        checkpoints: Vec<String>,
        /// Everything else.
        figures: Vec<Figure>,
    },
    /// The simulator failed, and said this.
    Failed(String),
}

/// One event as it says it, on a line of its own.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct SaidEvent {
    index: u64,
    at_ns: u64,
    node: Option<NodeId>,
    life: Option<Life>,
    task: String,
    encoded: Vec<u8>,
    line: String,
}

/// Runs the plan and says what was asked: this is the other process.
pub fn say(plan: &Plan, arguments: &Arguments, output: impl Write + Send + 'static) -> std::io::Result<()> {
    let Arguments { events, max_polls, laws, plant } = *arguments;
    let manner = Manner { laws, max_polls, stop: Default::default(), plant };
    if events {
        return say_events(plan, &manner, output);
    }
    let said = match simulate::simulate(plan, &manner) {
        Err(error) => Said::Failed(error.to_string()),
        Ok(outcome) => Said::Outcome {
            fingerprint: hex(&outcome.fingerprint),
            checkpoints: outcome.checkpoints.iter().map(|checkpoint| hex(checkpoint)).collect(),
            figures: outcome.figures(),
        },
    };
    let mut output = output;
    serde_json::to_writer(&mut output, &said)?;
    output.flush()
}

fn say_events(plan: &Plan, manner: &Manner, output: impl Write + Send + 'static) -> std::io::Result<()> {
    let output = Arc::new(Mutex::new(BufWriter::new(output)));
    let (inside, stop) = (Arc::clone(&output), Arc::clone(&manner.stop));
    let sink = Box::new(move |line: &Line<'_>| {
        let mut output = inside.lock().expect("saying does not panic");
        if say_event(line, &mut *output).is_err() {
            // Whoever asked has heard enough.
            stop.store(true, Ordering::Relaxed);
        }
    });
    // A run that fails has said its last event.
    let _ = simulate::watch(plan, manner, sink);
    let mut output = output.lock().expect("saying does not panic");
    output.flush()
}

fn say_event(line: &Line<'_>, output: &mut impl Write) -> std::io::Result<()> {
    let RecordedEvent { index, at, node, life, task, encoded, line } = RecordedEvent::of(line);
    serde_json::to_writer(&mut *output, &SaidEvent { index, at_ns: at.0, node, life, task, encoded, line })?;
    output.write_all(b"\n")
}

/// Asks another process for its outcome.
pub(super) fn ask(plan: &Plan, manner: &Manner) -> Result<Said, CheckError> {
    let (process, input) = started(plan, manner, false)?;
    let output = process.wait_with_output()?;
    drop(input);
    serde_json::from_slice(&output.stdout).map_err(|_| CheckError::Answer {
        status: output.status,
        said: String::from_utf8_lossy(&output.stderr).trim().to_owned(),
    })
}

/// Another process that says its events while it runs.
pub(super) struct Other {
    process: Child,
    /// Open for as long as somebody listens.
    input: ChildStdin,
    heard: Arc<Heard>,
}

/// How its events ended.
#[derive(Debug, Default)]
struct Heard {
    all: AtomicBool,
    unreadable: AtomicBool,
}

/// Starts it.
pub(super) fn follow(plan: &Plan, manner: &Manner) -> Result<Other, CheckError> {
    let (process, input) = started(plan, manner, true)?;
    Ok(Other { process, input, heard: Arc::default() })
}

impl Other {
    /// Its events, to be taken once.
    pub(super) fn events(&mut self) -> Events {
        let output = self.process.stdout.take().expect("its output is piped, and taken once");
        Events { lines: BufReader::new(output), text: String::new(), heard: Arc::clone(&self.heard) }
    }

    /// Ends it, whether or not it has said everything.
    pub(super) fn end(mut self) -> Result<(), CheckError> {
        let all = self.heard.all.load(Ordering::Relaxed);
        if !all {
            self.process.kill()?;
        }
        drop(self.input);
        let status = self.process.wait()?;
        let unreadable = self.heard.unreadable.load(Ordering::Relaxed);
        if unreadable || (all && !status.success()) {
            return Err(CheckError::Answer { status, said: "an event that is none, or too few".to_owned() });
        }
        Ok(())
    }
}

/// What another process says, event by event.
pub(super) struct Events {
    lines: BufReader<ChildStdout>,
    text: String,
    heard: Arc<Heard>,
}

impl Iterator for Events {
    type Item = RecordedEvent;

    fn next(&mut self) -> Option<RecordedEvent> {
        self.text.clear();
        let read = self.lines.read_line(&mut self.text);
        if matches!(read, Ok(0)) {
            self.heard.all.store(true, Ordering::Relaxed);
            return None;
        }
        match serde_json::from_str::<SaidEvent>(&self.text) {
            Ok(SaidEvent { index, at_ns, node, life, task, encoded, line }) => {
                Some(RecordedEvent { index, at: SimTime(at_ns), node, life, task, encoded, line })
            }
            Err(_) => {
                self.heard.unreadable.store(true, Ordering::Relaxed);
                None
            }
        }
    }
}

/// The process, and the input that ends it when it is closed.
fn started(plan: &Plan, manner: &Manner, events: bool) -> std::io::Result<(Child, ChildStdin)> {
    let mut command = Command::new(std::env::current_exe()?);
    let polls = manner.max_polls.to_string();
    command.args(["say-checkpoints", "--max-polls", &polls, "--laws", manner.laws.id()]);
    if let Some(plant) = manner.plant {
        command.args(["--plant", plant.id()]);
    }
    if events {
        // Nobody would read what it says there before it ends.
        command.arg("--events").stderr(Stdio::null());
    } else {
        command.stderr(Stdio::piped());
    }
    // A signal to the group ends whoever asks in good order, and this one by its closed input.
    #[cfg(unix)]
    std::os::unix::process::CommandExt::process_group(&mut command, 0);
    let mut process = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn()?;
    let mut input = process.stdin.take().expect("it was asked to have one");
    // The other process reads its one line before it says anything.
    serde_json::to_writer(&mut input, plan)?;
    input.write_all(b"\n")?;
    Ok((process, input))
}
