//! `groundhog bench swarm`: how many seeds convict each flaw, with swarm and without.
//!
//! Promise: both columns are of the same seeds, the same scenario, and the outcome law that is named for the flaw; nothing
//! is left out of the totals.

mod table;

use crate::campaign::interrupt::Interrupt;
use crate::campaign::pool;
use crate::command::CallError;
use crate::command::run::{enough_seeds, joined, print_failures, program};
use crate::conviction::{run_seed, scenario_of};
use crate::exit::Exit;
use crate::print::block::{Failure, FailureKind};
use crate::print::text;
use crate::target::{self, Target};
use clap::Args;
use groundhog_engine::flaws::Flaw;
use groundhog_sim::laws::catalogue::convicted_by;
use groundhog_sim::ledger::LawSelection;
use groundhog_sim::run::RunError;
use indicatif::{ProgressBar, ProgressStyle};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use table::{Row, Side, Table};

/// How many of 1,000 seeds convict each flaw, with swarm and without: the same seeds of the scenario that `convict` uses for
/// the flaw, judged by the outcome law that is named for it, with a keyed hash in place of Ed25519.
#[derive(Args)]
pub struct Arguments {
    /// Flaws to count for; all of them when none is named.
    flaws: Vec<String>,
    /// Seeds of each flaw.
    #[arg(long, value_name = "N", default_value_t = 300, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    seeds: u64,
    /// The first seed.
    #[arg(long, value_name = "N", default_value_t = 0)]
    from: u64,
    /// Runs at the same time; all cores where it is left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

/// One seed of one flaw.
struct Job {
    place: usize,
    seed: u64,
}

/// A flaw, and what its seeds are drawn from, without swarm and with it.
struct Suspect {
    flaw: Flaw,
    plain: Target,
    swarm: Target,
}

/// Counts.
pub fn main(arguments: &Arguments) -> Result<Exit, CallError> {
    let flaws =
        if arguments.flaws.is_empty() { Flaw::ALL.to_vec() } else { target::flaws(&arguments.flaws)? };
    enough_seeds(arguments.from, arguments.seeds)?;
    let suspects = flaws.into_iter().map(suspect).collect::<Result<Vec<_>, _>>()?;
    let of = arguments.seeds.saturating_mul(suspects.len() as u64);
    let interrupt = Interrupt::listen().map_err(CallError::Signals)?;
    let give_up = || print_failures(&[interrupted(arguments, 0, of)], arguments.json);
    let table = interrupt.during(give_up, || count(arguments, &suspects, &interrupt.stop()))?;
    let done = table.done();
    if done > 0 {
        text::out(&if arguments.json { table.json()? } else { table.text() });
    }
    let cut = (done < of).then(|| interrupted(arguments, done, of));
    Ok(print_failures(&cut.into_iter().collect::<Vec<_>>(), arguments.json))
}

/// The block of a count that Ctrl-C ended.
fn interrupted(arguments: &Arguments, done: u64, of: u64) -> Failure {
    let mut words = vec![program(), "bench".to_owned(), "swarm".to_owned()];
    words.extend(arguments.flaws.iter().cloned());
    words.extend(["--seeds".to_owned(), arguments.seeds.to_string()]);
    words.extend(["--from".to_owned(), arguments.from.to_string()]);
    Failure {
        kind: FailureKind::Cut,
        what: "interrupted".to_owned(),
        saw: format!("after {done} of {of} seeds, each with swarm and without"),
        shrunk: None,
        see: None,
        repeat: Some(joined(&words)),
    }
}

fn suspect(flaw: Flaw) -> Result<Suspect, CallError> {
    let find = |swarm| -> Result<Target, CallError> {
        let mut found = target::swarmed(target::find(scenario_of(flaw), &[])?, swarm)?;
        Ok(found.remove(0))
    };
    Ok(Suspect { flaw, plain: find(false)?, swarm: find(true)? })
}

fn count(arguments: &Arguments, suspects: &[Suspect], stop: &Arc<AtomicBool>) -> Result<Table, CallError> {
    let stopped = || stop.load(Ordering::Relaxed);
    let cores = || std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get);
    let mut rows: Vec<Row> =
        suspects.iter().map(|suspect| Row::new(suspect.flaw, scenario_of(suspect.flaw))).collect();
    let mut failed: Option<RunError> = None;
    let bar = progress(arguments.seeds.saturating_mul(suspects.len() as u64));
    pool::run(
        arguments.jobs.map_or_else(cores, usize::from),
        |number| {
            let place = usize::try_from(number / arguments.seeds).ok()?;
            let seed = arguments.from.checked_add(number % arguments.seeds)?;
            (place < suspects.len() && !stopped()).then_some(Job { place, seed })
        },
        |_, job| {
            let suspect = &suspects[job.place];
            let one = |target| one(target, suspect.flaw, job.seed, stop);
            // A pair of which one was cut short is none.
            Ok((one(&suspect.plain)?, one(&suspect.swarm)?)).map(|pair| (!stopped()).then_some(pair))
        },
        |job, sides: Result<Option<(Side, Side)>, RunError>| {
            match sides {
                Ok(Some((plain, swarm))) => rows[job.place].add(plain, swarm),
                Ok(None) => {}
                Err(error) => {
                    failed.get_or_insert(error);
                }
            }
            bar.inc(1);
        },
    );
    bar.finish_and_clear();
    match failed {
        Some(error) => Err(error.into()),
        None => Ok(Table { seeds: arguments.seeds, from: arguments.from, rows }),
    }
}

/// One run: whether the law broke that is named for the flaw, and how long it took.
fn one(target: &Target, flaw: Flaw, seed: u64, stop: &Arc<AtomicBool>) -> Result<Side, RunError> {
    let (law, _) = convicted_by(flaw);
    let began = Instant::now();
    let outcome = run_seed(target, seed, &[flaw], LawSelection::Ids([law.to_owned()].into()), stop)?;
    let convicts = outcome.violations.iter().any(|violation| violation.law == law);
    Ok(Side { convicted: u64::from(convicts), real: began.elapsed() })
}

/// A bar on the standard error; hidden without a terminal.
fn progress(seeds: u64) -> ProgressBar {
    let bar = ProgressBar::new(seeds);
    let style = ProgressStyle::with_template("{elapsed_precise} {wide_bar} {pos}/{len} seeds, {per_sec}");
    bar.set_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()));
    bar.enable_steady_tick(Duration::from_millis(200));
    bar
}
