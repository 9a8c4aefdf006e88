//! `groundhog bench world`: how fast the simulated world is on one core of this machine, and where its time goes.
//!
//! Promise: every figure is this machine's real time, taken outside the simulation's thread, of runs that dispatched all
//! that they were to and broke no law; each stands beside its goal.

mod goal;
mod measure;
mod table;
mod timed;

pub use timed::Timed;

use crate::campaign::interrupt::Interrupt;
use crate::exit::Exit;
use crate::print::block::{Failure, FailureKind};
use crate::print::text;
use clap::Args;
use groundhog_sim::run::RunError;
use indicatif::{ProgressBar, ProgressStyle};
use measure::Effort;
use std::time::Duration;

/// The simulated world's own speed on one core of this machine: messages through the network alone, and durable admissions
/// through the whole path. Times are this machine's; opening the world is in them.
///
/// The network alone is driver, heap of time, links, ledger with fingerprint and laws; its nodes run no engines. The whole
/// path is reserve, sign, lanes, network, verify, admit, group commit on the simulated disk, dispatch, and credit back, with
/// a keyed hash in place of Ed25519. Of several runs the fastest counts: a machine that does other work only makes a run
/// slower. Where the system says how long a run had a core, that is what is held against the goals, which are for one core;
/// the rate by the clock stands beside it.
#[derive(Args)]
pub struct Arguments {
    /// How often each figure is measured.
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=100))]
    repeat: u32,
    /// Messages of one run; the admissions of one are as many divided by ten.
    #[arg(long, value_name = "N", default_value_t = 2_000_000,
        value_parser = clap::value_parser!(u32).range(100_000..=50_000_000))]
    messages: u32,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The world did not run.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A run that is to be timed broke a law: its time says nothing.
    #[error("while measuring {what}: {law}: {saw}")]
    Broken {
        /// Which figure.
        what: String,
        /// The law.
        law: String,
        /// What it saw.
        saw: String,
    },
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
    /// The system gave no signal handler.
    #[error("no handler for signals: {0}")]
    Signals(std::io::Error),
}

/// Runs it.
pub fn main(arguments: &Arguments) -> Result<Exit, BenchError> {
    let interrupt = Interrupt::listen().map_err(BenchError::Signals)?;
    let progress = spinner();
    let effort = Effort { repeat: arguments.repeat, messages: arguments.messages, stop: &interrupt.stop() };
    let give_up = || {
        progress.finish_and_clear();
        failed(arguments, interrupted(arguments))
    };
    let measured =
        interrupt.during(give_up, || measure::measure(effort, |message| progress.set_message(message)));
    progress.finish_and_clear();
    match measured {
        Ok(table) => {
            let printed = if arguments.json { table.json() } else { table.text(usize::from(text::width())) };
            text::out(&printed);
            Ok(Exit::Held)
        }
        Err(BenchError::Broken { what, law, saw }) => {
            Ok(failed(arguments, broken(arguments, &what, law, saw)))
        }
        Err(BenchError::Interrupted) => Ok(failed(arguments, interrupted(arguments))),
        Err(error) => Err(error),
    }
}

/// Says on the standard error what is going on; hidden without a terminal.
fn spinner() -> ProgressBar {
    let spinner = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{elapsed_precise} {msg}");
    spinner.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}

/// The command that measures so much, so often.
fn command(arguments: &Arguments, repeat: u32) -> String {
    use crate::command::run::{joined, program};
    let (repeat, messages) = (repeat.to_string(), arguments.messages.to_string());
    joined(&[&program(), "bench", "world", "--repeat", &repeat, "--messages", &messages].map(str::to_owned))
}

/// A law that a measured run broke.
fn broken(arguments: &Arguments, what: &str, law: String, saw: String) -> Failure {
    Failure {
        kind: FailureKind::Broken,
        what: law,
        saw: format!("while measuring {what}: {saw}"),
        shrunk: None,
        see: None,
        repeat: Some(command(arguments, 1)),
    }
}

fn interrupted(arguments: &Arguments) -> Failure {
    Failure {
        kind: FailureKind::Cut,
        what: "interrupted".to_owned(),
        saw: "the bench was stopped".to_owned(),
        shrunk: None,
        see: None,
        repeat: Some(command(arguments, arguments.repeat)),
    }
}

/// Prints the block and ends as it says.
fn failed(arguments: &Arguments, failure: Failure) -> Exit {
    crate::command::run::print_failures(&[failure], arguments.json)
}
