//! `groundhog bench admissions`: the engine that a node runs, on this machine's real disk.
//!
//! Promise: every time it gives is this machine's real time, says what it covers, and stands beside what the directory
//! itself can do, measured in the same run.

mod directory;
pub mod kill;
mod people;
mod raw;
mod row;
mod table;
mod watching;

use crate::campaign::signals;
use crate::exit::Exit;
use crate::print::block::{self, Failure, FailureKind};
use crate::print::text;
use crate::target::TargetError;
use clap::Args;
use directory::Directory;
use groundhog_engine::host::native::NativeError;
use groundhog_engine::streams::{AdmitError, OpenError};
use groundhog_sim::laws::honest::Honest;
use indicatif::{ProgressBar, ProgressStyle};
use people::Load;
use raw::Onto;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;
use table::Table;

/// The engine on this machine's real disk: admissions a second and their latency, beside the rate at which the directory
/// makes single records durable, measured before and after each row. All times are this machine's real time.
///
/// Timed is an admission from its call until its verdict is released, which is when everything that the verdict was
/// computed from is durable. Transactions carry real Ed25519 signatures; they are signed and verified before anything is
/// timed. Each of those in flight begins its next admission when its last was released.
#[derive(Args)]
pub struct Arguments {
    /// Write in a fresh directory inside this one, which is removed again; inside the system's directory for temporary
    /// files where it is left out.
    #[arg(long, value_name = "DIR")]
    dir: Option<PathBuf>,
    /// Admissions in flight, one row of the table for each.
    #[arg(long, value_name = "N,...", value_delimiter = ',', default_value = "1,8,64,512",
        value_parser = clap::value_parser!(u32).range(1..=4_096))]
    in_flight: Vec<u32>,
    /// How long each row is timed, in seconds; the raw rate is measured for a quarter of it before and after each.
    #[arg(long, value_name = "SECONDS", default_value = "1", value_parser = time)]
    seconds: Duration,
    /// Admit through so many streams that go on, in turn, where without it each admission opens a stream of its own:
    /// the worst case, for each then writes a record of its own.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=row::STREAMS_MAX as i64))]
    streams: Option<u32>,
    /// Instead of measuring: let a process reserve, sign and admit, end it with SIGKILL again and again, and show that
    /// nothing was admitted twice and no sequence signed twice. Each life works over the store that the one before left,
    /// and is handed transactions of earlier lives again; the last one is not killed, and is handed all of them. This is
    /// the death of a process; a power loss, which also loses what was not flushed, is simulated by `groundhog run`.
    #[arg(long, conflicts_with_all = ["in_flight", "seconds", "streams"])]
    kill: bool,
    /// How often it is killed.
    #[arg(long, value_name = "N", default_value_t = 25, requires = "kill",
        value_parser = clap::value_parser!(u32).range(1..=1_000))]
    rounds: u32,
    /// What the moments of the kills are drawn from. They lie in real time: a seed repeats the draws, not the moments.
    #[arg(long, value_name = "N", default_value_t = 1, requires = "kill")]
    seed: u64,
    /// Switch a known-bad behaviour of the engine on; `groundhog list flaws` names them.
    #[arg(long, value_name = "ID", requires = "kill")]
    flaw: Vec<String>,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

/// Seconds of real time, up to ten minutes and at least a hundredth.
fn time(text: &str) -> Result<Duration, String> {
    let us = crate::command::replay::seconds(text)?;
    let time = Duration::from_micros(us);
    let allowed = Duration::from_millis(10)..=Duration::from_secs(600);
    allowed.contains(&time).then_some(time).ok_or_else(|| "expected from 0.01 to 600 seconds".to_owned())
}

/// Why nothing was measured.
#[derive(Debug, thiserror::Error)]
pub enum BenchError {
    /// The directory cannot be used.
    #[error("--dir: {} cannot be written: {source}", path.display())]
    Directory {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// There is no real machine to stand on.
    #[error(transparent)]
    Machine(#[from] NativeError),
    /// The engine does not open its store.
    #[error("the store does not open: {0}")]
    Open(#[from] OpenError),
    /// An honest transaction, handed in for the first time, was not admitted.
    #[error("an honest transaction was refused: {0}")]
    Admit(#[from] AdmitError),
    /// A name is wrong.
    #[error(transparent)]
    Name(#[from] TargetError),
    /// Ctrl-C.
    #[error("interrupted")]
    Interrupted,
    /// The system gave no threads.
    #[error("the runtime: {0}")]
    Runtime(std::io::Error),
}

/// Runs it.
pub fn main(arguments: &Arguments) -> Result<Exit, BenchError> {
    let interrupts = Interrupts::default();
    signals::count(Arc::clone(&interrupts.0)).map_err(BenchError::Runtime)?;
    if arguments.kill {
        return kill::main(arguments, &interrupts);
    }
    let directory = Directory::fresh(arguments.dir.as_deref())?;
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build();
    match runtime.map_err(BenchError::Runtime)?.block_on(measured(arguments, &directory, &interrupts)) {
        Ok(table) => {
            let printed = if arguments.json { table.json() } else { table.text(usize::from(text::width())) };
            text::out(&printed);
            directory.remove();
            Ok(Exit::Held)
        }
        // What the disk refuses is this machine's; any other refusal of an honest transaction is the engine's.
        Err(BenchError::Admit(refusal)) if !matches!(refusal, AdmitError::Refused(_)) => {
            let failure = Failure {
                kind: FailureKind::Broken,
                what: Honest::ID.to_owned(),
                saw: format!("an honest transaction was refused: {refusal}"),
                shrunk: None,
                see: Some(directory.keep().display().to_string()),
                repeat: Some(repeat(arguments)),
            };
            Ok(failed(&[failure], arguments.json))
        }
        Err(BenchError::Interrupted) => {
            directory.remove();
            Ok(failed(&[interrupted(arguments)], arguments.json))
        }
        Err(error) => Err(error),
    }
}

/// Ctrl-C, counted.
#[derive(Clone, Default)]
pub struct Interrupts(Arc<AtomicU8>);

impl Interrupts {
    /// Whether there was one.
    pub fn any(&self) -> bool {
        self.0.load(Ordering::Relaxed) > 0
    }
}

fn interrupted(arguments: &Arguments) -> Failure {
    Failure {
        kind: FailureKind::Cut,
        what: "interrupted".to_owned(),
        saw: "the bench was stopped".to_owned(),
        shrunk: None,
        see: None,
        repeat: Some(repeat(arguments)),
    }
}

async fn measured(
    arguments: &Arguments,
    directory: &Directory,
    interrupts: &Interrupts,
) -> Result<Table, BenchError> {
    let base = directory.path();
    let (load, onto) = match arguments.streams {
        None => (Load::Fresh, Onto::Free),
        Some(streams) => (Load::Streams(streams), Onto::Same),
    };
    let progress = spinner();
    let record_bytes = row::record_bytes(base, load).await?;
    let raw = |place: usize| {
        progress.set_message("records one at a time");
        let directory = base.join(format!("raw-{place}"));
        raw::measure(&directory, record_bytes, onto, arguments.seconds / 4)
            .map_err(|source| BenchError::Directory { path: directory, source })
    };
    let (mut rows, mut before) = (Vec::new(), raw(0)?);
    for (place, in_flight) in arguments.in_flight.iter().enumerate() {
        let say = |message| progress.set_message(message);
        let name = format!("store-{place}");
        let row = row::measure((base, &name), load, *in_flight, arguments.seconds, interrupts, say).await?;
        let after = raw(place + 1)?;
        rows.push((row, before.and(after)));
        before = after;
    }
    progress.finish_and_clear();
    let (inside, file_system) = (directory.inside().to_owned(), directory::file_system(base));
    Ok(Table { inside, file_system, load, record_bytes, rows })
}

/// Says on the standard error what is going on; hidden without a terminal.
fn spinner() -> ProgressBar {
    let spinner = ProgressBar::new_spinner();
    let style = ProgressStyle::with_template("{elapsed_precise} {msg}");
    spinner.set_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    spinner.enable_steady_tick(Duration::from_millis(100));
    spinner
}

/// The command that does the same again.
fn repeat(arguments: &Arguments) -> String {
    use crate::command::run::{joined, program};
    let mut words = ["bench", "admissions"].map(str::to_owned).to_vec();
    words.insert(0, program());
    if let Some(dir) = &arguments.dir {
        words.extend(["--dir".to_owned(), dir.display().to_string()]);
    }
    if arguments.kill {
        words.push("--kill".to_owned());
        let numbers = [("--rounds", u64::from(arguments.rounds)), ("--seed", arguments.seed)];
        words.extend(numbers.iter().flat_map(|(option, number)| [(*option).to_owned(), number.to_string()]));
        words.extend(arguments.flaw.iter().flat_map(|flaw| ["--flaw".to_owned(), flaw.clone()]));
        return joined(&words);
    }
    let in_flight: Vec<String> = arguments.in_flight.iter().map(u32::to_string).collect();
    words.extend(["--in-flight".to_owned(), in_flight.join(",")]);
    words.extend(["--seconds".to_owned(), format!("{}", arguments.seconds.as_secs_f64())]);
    if let Some(streams) = arguments.streams {
        words.extend(["--streams".to_owned(), streams.to_string()]);
    }
    joined(&words)
}

/// Prints the block and ends as it says.
fn failed(failures: &[Failure], json: bool) -> Exit {
    let block = block::block(failures, text::colour());
    if json {
        eprint!("{block}");
    } else if !block.is_empty() {
        text::out(&format!("\n{block}"));
    }
    block::exit(failures)
}
