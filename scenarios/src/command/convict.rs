//! `groundhog convict`: is every known-bad behaviour found, how soon, and by the law that is named for it?
//!
//! Promise: a flaw counts as convicted only by the outcome law named for it, and by the mechanism law where one is named;
//! and only if the same seeds hold without the flaw. Signatures are replaced by a keyed hash, which changes no verdict.

use crate::campaign::pool;
use crate::command::CallError;
use crate::exit::Exit;
use crate::print::text;
use crate::target::{self, Target};
use clap::Args;
use groundhog_engine::flaws::Flaw;
use groundhog_sim::laws::catalogue::convicted_by;
use groundhog_sim::ledger::{LawSelection, LedgerOptions};
use groundhog_sim::outcome::Outcome;
use groundhog_sim::plan::Crypto;
use groundhog_sim::run::{RunError, RunOptions, run};
use std::fmt::Write;
use std::time::{Duration, Instant};

#[derive(Args)]
pub struct Arguments {
    /// Flaws to convict; all of them when none is named.
    flaws: Vec<String>,
    /// Seeds that a flaw may survive before it counts as not convicted.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..=1_000_000))]
    seeds: u64,
    /// The first seed.
    #[arg(long, default_value_t = 0)]
    from: u64,
    /// Flaws examined at once; all cores when not given.
    #[arg(long, value_parser = clap::value_parser!(u16).range(1..=1024))]
    jobs: Option<u16>,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

/// How one flaw fared before one law.
#[derive(Clone, Debug, serde::Serialize)]
struct Trial {
    law: &'static str,
    /// Seeds until the law broke, the breaking one included; `null` when it never did.
    seeds: Option<u64>,
    saw: Option<String>,
}

/// How one flaw fared.
#[derive(Clone, Debug, serde::Serialize)]
struct Case {
    flaw: &'static str,
    scenario: &'static str,
    outcome: Trial,
    mechanism: Option<Trial>,
    /// The first of the same seeds that does not hold without the flaw.
    broken_without: Option<u64>,
    /// Real time, in milliseconds of the machine that ran it.
    real_time_ms: u64,
}

impl Case {
    fn is_convicted(&self) -> bool {
        let tried = |trial: &Trial| trial.seeds.is_some();
        tried(&self.outcome) && self.mechanism.as_ref().is_none_or(tried) && self.broken_without.is_none()
    }
}

/// The scenario whose schedules contain what the flaw needs to show.
const fn scenario_of(flaw: Flaw) -> &'static str {
    match flaw {
        Flaw::OneStreamForAllClasses | Flaw::ClassSpreadOverChannels | Flaw::LaneWindow64 => {
            "lane-interleaving"
        }
        Flaw::KeyedByDelegatee
        | Flaw::RecordRemovedBeforeMarker
        | Flaw::NeverRetired
        | Flaw::RetiredTooEarly => "skewed-clocks",
        _ => "crash-mid-batch",
    }
}

/// Examines them.
pub fn main(arguments: &Arguments) -> Result<Exit, CallError> {
    let flaws =
        if arguments.flaws.is_empty() { Flaw::ALL.to_vec() } else { target::flaws(&arguments.flaws)? };
    let jobs = arguments.jobs.map_or_else(
        || std::thread::available_parallelism().map_or(1, std::num::NonZeroUsize::get),
        usize::from,
    );
    let mut cases = Vec::new();
    let mut failed: Option<RunError> = None;
    pool::run(
        jobs,
        |number| flaws.get(usize::try_from(number).ok()?).copied(),
        |_, flaw| examine(*flaw, arguments),
        |_, case| match case {
            Ok(case) => {
                if !arguments.json {
                    text::out(&line(&case));
                }
                cases.push(case);
            }
            Err(CallError::Run(error)) => failed = Some(error),
            Err(error) => failed = Some(RunError::Simulator(error.to_string())),
        },
    );
    if let Some(error) = failed {
        return Err(error.into());
    }
    if arguments.json {
        text::out(&format!("{}\n", serde_json::to_string_pretty(&cases)?));
    }
    Ok(verdict(&cases, arguments))
}

fn examine(flaw: Flaw, arguments: &Arguments) -> Result<Case, CallError> {
    let begun = Instant::now();
    let scenario = scenario_of(flaw);
    let targets = target::find(scenario, &[])?;
    let target = &targets[0];
    let (outcome, mechanism) = convicted_by(flaw);
    let trial = |law| Trial { law, seeds: None, saw: None };
    let mut case = Case {
        flaw: flaw.id(),
        scenario,
        outcome: trial(outcome),
        mechanism: mechanism.map(trial),
        broken_without: None,
        real_time_ms: 0,
    };
    let mut last = arguments.from;
    for seed in arguments.from..arguments.from.saturating_add(arguments.seeds) {
        last = seed;
        let laws = std::iter::once(outcome).chain(mechanism).map(str::to_owned).collect();
        let seen = run_seed(target, seed, &[flaw], LawSelection::Ids(laws))?;
        let tried = seed - arguments.from + 1;
        for trial in std::iter::once(&mut case.outcome).chain(&mut case.mechanism) {
            let broken = seen.violations.iter().find(|violation| violation.law == trial.law);
            if let (None, Some(violation)) = (trial.seeds, broken) {
                trial.seeds = Some(tried);
                trial.saw = Some(violation.saw.clone());
            }
        }
        if case.is_convicted() {
            break;
        }
    }
    for seed in arguments.from..=last {
        if !run_seed(target, seed, &[], LawSelection::All)?.held() {
            case.broken_without = Some(seed);
            break;
        }
    }
    case.real_time_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
    Ok(case)
}

fn run_seed(target: &Target, seed: u64, flaws: &[Flaw], laws: LawSelection) -> Result<Outcome, RunError> {
    let mut plan = target.plan(seed, flaws);
    plan.crypto = Crypto::KeyedHash;
    run(
        &plan,
        RunOptions { ledger: LedgerOptions { laws, ..LedgerOptions::default() }, ..RunOptions::default() },
    )
}

fn line(case: &Case) -> String {
    let word = if case.is_convicted() { "convicted" } else { "SURVIVES " };
    let real = Duration::from_millis(case.real_time_ms);
    let mut text = format!("{word}  {}  ({}, {:.1} s)\n", case.flaw, case.scenario, real.as_secs_f32());
    for trial in std::iter::once(&case.outcome).chain(&case.mechanism) {
        let after = trial.seeds.map_or_else(|| "never".to_owned(), |seeds| format!("after {seeds} seeds"));
        let _ = writeln!(text, "             {:<26} {after}", trial.law);
    }
    if let Some(seed) = case.broken_without {
        let _ = writeln!(text, "             seed {seed} does not hold without the flaw");
    }
    text
}

fn verdict(cases: &[Case], arguments: &Arguments) -> Exit {
    let survivors: Vec<&Case> = cases.iter().filter(|case| !case.is_convicted()).collect();
    if survivors.is_empty() {
        if !arguments.json {
            text::out(&format!(
                "\nHELD     each of {} flaws is convicted within {} seeds by the laws named for it\n",
                cases.len(),
                arguments.seeds
            ));
        }
        return Exit::Held;
    }
    let names: Vec<&str> = survivors.iter().map(|case| case.flaw).collect();
    let block = format!(
        "\nFAILED   {} of {} flaws are not convicted within {} seeds\n  repeat   groundhog convict {} --seeds {} --from {}\n",
        survivors.len(),
        cases.len(),
        arguments.seeds,
        names.join(" "),
        arguments.seeds,
        arguments.from
    );
    if arguments.json {
        eprint!("{block}");
    } else {
        text::out(&block);
    }
    Exit::Broken
}
