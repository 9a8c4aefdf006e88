//! What the command line can say.

mod at_once;
mod bench;
pub mod convict;
mod corpus;
mod explain;
mod keep;
mod list;
mod nightly;
mod plan;
mod replay;
mod run;
mod say_checkpoints;
mod shrink;
mod size;
mod store;
mod sweep;

use crate::exit::Exit;
use crate::print::text;
use crate::target::TargetError;
use clap::{Parser, Subcommand};
use std::process::ExitCode;

/// What it is, for somebody who called it with nothing.
const INTRODUCTION: &str = "\
Groundhog drives many simulated nodes through crashes, failing disks, wrong
clocks and hostile networks, and checks that no message is ever acted on twice
and none is lost without a cause that is known. The same seed gives the same run, bit for bit.

Try this first:

  groundhog run crash-mid-batch --seed 7

Then `groundhog list` for what there is, and `groundhog --help` for every command.
";

/// Deterministic simulation and chaos testing for replay protection in peer-to-peer networks.
#[derive(Parser)]
#[command(name = "groundhog", version, max_term_width = 100)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Run a scenario, all of them, a scenario file or a plan, and check every law.
    Run(run::Arguments),
    /// Run a plan again and print what happens, event by event.
    Replay(replay::Arguments),
    /// Keep a plan that once failed, with law, date and reason: it is run first from then on.
    Keep(keep::Arguments),
    /// Run the kept plans again: each must still show what it was kept for.
    Corpus(corpus::Arguments),
    /// Cut a failing plan down to what the same law needs to be broken.
    Shrink(shrink::Arguments),
    /// Print the plan of one seed, and run nothing.
    Plan(plan::Arguments),
    /// End a node's life at every point at which it can end, with every image that its disk could be left with.
    Sweep(sweep::Arguments),
    /// Which bound holds which load?
    Size(size::Arguments),
    /// How fast it is here, and what a killed process leaves on this machine's real disk.
    Bench(bench::Arguments),
    /// Is every known-bad behaviour found, how soon, and by the law that is named for it?
    Convict(convict::Arguments),
    /// Kept plans first, then every flaw and fresh seeds of every scenario, until the time is over.
    Nightly(nightly::Arguments),
    /// Look into a store's directory, check it, or clear one stream of it.
    Store(store::Arguments),
    /// List scenarios, laws, flaws, marks, known limits and kinds of fault.
    List(list::Arguments),
    /// Say what a scenario, law, flaw, mark, limit or kind of fault is.
    Explain(explain::Arguments),
    /// Work until it is killed: the other process of `bench admissions --kill`.
    #[command(hide = true)]
    BenchWorker(bench::admissions::kill::worker::Arguments),
    /// Run the plan on the standard input and say its checkpoints: the other process of `run --check`.
    #[command(hide = true)]
    SayCheckpoints(say_checkpoints::Arguments),
}

/// Does what the command line says.
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(|panic| {
        eprintln!("error: groundhog has a defect, please report it: {panic}");
    }));
    let command = Cli::parse().command;
    let done = std::panic::catch_unwind(|| match command {
        Some(Command::Run(arguments)) => run::main(&arguments),
        Some(Command::Replay(arguments)) => replay::main(&arguments),
        Some(Command::Keep(arguments)) => keep::main(&arguments),
        Some(Command::Corpus(arguments)) => corpus::main(&arguments),
        Some(Command::Shrink(arguments)) => shrink::main(&arguments),
        Some(Command::Plan(arguments)) => plan::main(&arguments),
        Some(Command::Sweep(arguments)) => sweep::main(&arguments),
        Some(Command::Size(arguments)) => size::main(&arguments),
        Some(Command::Bench(arguments)) => bench::main(&arguments),
        Some(Command::Convict(arguments)) => convict::main(&arguments),
        Some(Command::Nightly(arguments)) => nightly::main(&arguments),
        Some(Command::Store(arguments)) => store::main(&arguments),
        Some(Command::List(arguments)) => Ok(list::main(&arguments)),
        Some(Command::Explain(arguments)) => explain::main(&arguments),
        Some(Command::BenchWorker(arguments)) => Ok(bench::admissions::kill::worker::main(&arguments)),
        Some(Command::SayCheckpoints(arguments)) => Ok(say_checkpoints::main(&arguments)),
        None => {
            text::out(INTRODUCTION);
            Ok(Exit::Held)
        }
    });
    match done {
        Ok(Ok(exit)) => text::ending(exit).into(),
        Ok(Err(error)) => {
            eprintln!("error: {error}");
            Exit::Wrong.into()
        }
        Err(_) => Exit::Cut.into(),
    }
}

/// Why the call, or a file that it names, is wrong.
#[derive(Debug, thiserror::Error)]
pub enum CallError {
    /// There is nothing to run.
    #[error("{0}")]
    Target(#[from] TargetError),
    /// The output folder cannot be written.
    #[error("--out: {0}")]
    Out(groundhog_reports::ReportError),
    /// What is found cannot be kept.
    #[error("--corpus: {0}")]
    KeptIn(groundhog_reports::ReportError),
    /// The report could not be written.
    #[error("{0}")]
    Report(#[from] groundhog_reports::ReportError),
    /// The folder of kept plans cannot be used.
    #[error("{0}")]
    Corpus(#[from] crate::corpus::CorpusError),
    /// The summary could not be written down.
    #[error("the summary: {0}")]
    Summary(#[from] serde_json::Error),
    /// The system gave no signal handler.
    #[error("no handler for signals: {0}")]
    Signals(std::io::Error),
    /// The journal, or a failing plan, of a sweep.
    #[error("{folder}: {source}", folder = .folder.display())]
    Journal {
        /// Where it belongs.
        folder: std::path::PathBuf,
        /// Why it cannot be read or written.
        source: std::io::Error,
    },
    /// Nothing was measured.
    #[error(transparent)]
    Bench(#[from] bench::admissions::BenchError),
    /// The world's speed could not be measured.
    #[error("{0}")]
    BenchWorld(#[from] bench::world::BenchError),
    /// A store cannot be looked into, or a stream of it not be cleared.
    #[error(transparent)]
    Store(#[from] store::StoreCallError),
    /// The world refused the plan, or failed.
    #[error("{0}")]
    Run(#[from] groundhog_sim::run::RunError),
}
