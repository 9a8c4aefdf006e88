//! `groundhog bench swarm`: how many seeds convict each flaw, with swarm and without.
//!
//! Promise: both columns are of the same seeds, the same scenario, and the outcome law that is named for the flaw; nothing
//! is left out of the totals.

mod table;

use crate::campaign::pool;
use crate::command::CallError;
use crate::command::convict::{run_seed, scenario_of};
use crate::exit::Exit;
use crate::print::text;
use crate::target::{self, Target};
use clap::Args;
use groundhog_engine::flaws::Flaw;
use groundhog_sim::laws::catalogue::convicted_by;
use groundhog_sim::ledger::LawSelection;
use groundhog_sim::run::RunError;
use indicatif::{ProgressBar, ProgressStyle};
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
    let suspects = flaws.into_iter().map(suspect).collect::<Result<Vec<_>, _>>()?;
    let table = count(arguments, &suspects)?;
    text::out(&if arguments.json { table.json()? } else { table.text() });
    Ok(Exit::Held)
}

fn suspect(flaw: Flaw) -> Result<Suspect, CallError> {
    let find = |swarm| -> Result<Target, CallError> {
        let mut found = target::swarmed(target::find(scenario_of(flaw), &[])?, swarm)?;
        Ok(found.remove(0))
    };
    Ok(Suspect { flaw, plain: find(false)?, swarm: find(true)? })
}

fn count(arguments: &Arguments, suspects: &[Suspect]) -> Result<Table, CallError> {
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
            (place < suspects.len()).then_some(Job { place, seed })
        },
        |_, job| {
            let suspect = &suspects[job.place];
            Ok((one(&suspect.plain, suspect.flaw, job.seed)?, one(&suspect.swarm, suspect.flaw, job.seed)?))
        },
        |job, sides: Result<(Side, Side), RunError>| {
            match sides {
                Ok((plain, swarm)) => rows[job.place].add(plain, swarm),
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
fn one(target: &Target, flaw: Flaw, seed: u64) -> Result<Side, RunError> {
    let (law, _) = convicted_by(flaw);
    let began = Instant::now();
    let outcome = run_seed(target, seed, &[flaw], LawSelection::Ids([law.to_owned()].into()))?;
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
