//! `groundhog run`: plans are drawn, run and judged; what came of them is printed, and written where it is asked for.

mod arguments;
mod differs;
mod failures;
mod hints;
mod report;
mod shrinks;

pub use arguments::{Arguments, enough_seeds, joined, program, time};
pub use failures::{Pointers, of as failures_of, saw};
pub use report::scenario_facts;

use super::CallError;
use crate::campaign::monitor::Monitor;
use crate::campaign::signals;
use crate::campaign::tally::Tally;
use crate::campaign::{Campaign, Checked, Ended};
use crate::corpus;
use crate::exit::Exit;
use crate::fitness;
use crate::print::block::{self, Failure};
use crate::print::progress::Progress;
use crate::print::text;
use crate::simulate::Manner;
use crate::target;
use groundhog_reports::Claim;
use groundhog_sim::outcome::Outcome;
use groundhog_sim::plan::Plan;
use report::Report;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8};
use std::sync::{Arc, Mutex};
use std::time::Instant;

/// Runs it.
pub fn main(arguments: &Arguments) -> Result<Exit, CallError> {
    let settings = target::settings(&arguments.set)?;
    let flaws = target::flaws(&arguments.flaw)?;
    let targets = target::swarmed(target::find(&arguments.target, &settings)?, arguments.swarm)?;
    arguments.fit(&targets)?;
    let first = arguments.series().first();
    targets.iter().try_for_each(|target| fitness::check(target, first, &flaws, &settings))?;
    let seeds = arguments.series();
    let only = seeds.is_one() && targets.len() == 1;
    let _claim = claimed(arguments, only)?;
    let (stop, interrupts) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU8::new(0)));
    signals::count(Arc::clone(&interrupts)).map_err(CallError::Signals)?;
    let monitor = Monitor::new(arguments.bounds(), Arc::clone(&stop), Arc::clone(&interrupts));
    let (laws, max_polls, plant) = (arguments.laws, arguments.max_polls, arguments.plant);
    let manner = Manner { laws, max_polls, stop, plant };
    let check = if arguments.check { Checked::Always } else { Checked::Never };
    let tally = Mutex::new(Tally::new(targets.iter().map(target::Target::scenario), only));
    let campaign =
        Campaign { targets, seeds, flaws, jobs: arguments.threads(), manner, check, hard_end: None };
    let began = Instant::now();
    // Whoever runs everything runs the kept plans first.
    let all = arguments.target == "all";
    let entries = if all { corpus::read(&corpus::default_folder())? } else { Vec::new() };
    let report = Report { arguments, campaign: &campaign, kept: Mutex::default(), began };
    let cut_short = watched(&report, &entries, &tally, &monitor);
    let tally = tally.into_inner().expect("the tally's holders do not panic");
    report.finish(&tally, monitor.reason().filter(|_| cut_short).as_ref(), &interrupts)
}

/// The folder of the report is this command's until it ends.
fn claimed(arguments: &Arguments, only: bool) -> Result<Option<Claim>, CallError> {
    let names = if only { groundhog_reports::FILES_OF_A_RUN } else { groundhog_reports::FILES_OF_A_CAMPAIGN };
    let claim = |folder: &PathBuf| groundhog_reports::claim(folder, names).map_err(CallError::Out);
    arguments.out.as_ref().map(claim).transpose()
}

/// A scenario whose one run covers days takes part in a series over several with a share of the seeds.
fn say_shares(arguments: &Arguments, campaign: &Campaign) {
    if arguments.json || campaign.seeds.is_one() || campaign.targets.len() == 1 {
        return;
    }
    for target in campaign.targets.iter().filter(|target| target.seeds_per_thousand() < 1_000) {
        let (share, name) = (target.seeds_per_thousand(), target.scenario());
        let least = if campaign.seeds.count().is_some() { ", and at least one" } else { "" };
        let words = format!("{name} takes {share} of 1,000 seeds{least}, as its file says");
        text::out(&format!("share        {}\n", text::wrapped(&words, usize::from(text::width()), 13)));
    }
}

/// Examines the kept plans where everything is run, and says what came of them.
fn kept_plans(report: &Report<'_>, entries: &[corpus::Entry]) {
    let Report { arguments, campaign, .. } = report;
    if arguments.target != "all" {
        return;
    }
    // The plans are judged as they stand, whatever else is asked for.
    let manner = Manner::plain(Arc::clone(&campaign.manner.stop));
    let account = corpus::examine_all(entries, campaign.jobs, &manner, || {});
    let folder = corpus::default_folder();
    if !arguments.json {
        text::out(&match entries.len() {
            0 => format!("NONE         no plan is kept in {} below this folder\n\n", folder.display()),
            _ => format!("{}\n", account.line(&folder)),
        });
    }
    *report.kept.lock().expect("nobody panics with it") = account;
}

/// Runs the kept plans and the campaign with the monitor beside them. Returns whether that cut anything short.
fn watched(report: &Report<'_>, entries: &[corpus::Entry], tally: &Mutex<Tally>, monitor: &Monitor) -> bool {
    let bar = progress(report.campaign);
    let cut_short = std::thread::scope(|scope| {
        let looking = scope.spawn(|| {
            monitor.look(|| {
                // A run that cannot stop itself: what is known is printed, and the process ends.
                bar.abandon();
                let tally = tally.lock().expect("the tally's holders do not panic");
                let exit = report.give_up(&tally, monitor.reason().as_ref());
                std::process::exit(i32::from(exit.code()));
            });
        });
        kept_plans(report, entries);
        say_shares(report.arguments, report.campaign);
        let cut_short = report.campaign.run(tally, monitor, || bar.step(|| failed(tally)));
        monitor.over();
        looking.thread().unpark();
        cut_short
    });
    bar.finish();
    cut_short
}

fn progress(campaign: &Campaign) -> Progress {
    let runs = |count| campaign.shares().runs_of(campaign.seeds.first(), count);
    Progress::new(campaign.seeds.count().map(runs), "runs")
}

/// Runs that did not hold, so far.
fn failed(tally: &Mutex<Tally>) -> u64 {
    tally.lock().expect("the tally's holders do not panic").failed()
}

/// What failed in one run of a written plan.
pub fn failures_of_one(plan: &Plan, outcome: &Outcome, repeat: &dyn Fn(u64) -> String) -> Vec<Failure> {
    let mut tally = Tally::new(std::iter::once(plan.scenario.as_str()), false);
    tally.add(0, plan.clone(), Ended::Outcome(Box::new(outcome.clone()), None));
    let pointers = failures::Pointers {
        repeat: &|_, seed| repeat(seed),
        whole: &|| repeat(plan.seed),
        see: &|_, _| None,
        shrunk: &|_, _| None,
    };
    failures::of(&tally, None, &[], &pointers)
}

/// The command that runs a written plan.
pub fn repeat_plan(path: &str) -> String {
    arguments::joined(&[arguments::program(), "run".to_owned(), path.to_owned()])
}

/// Prints the block that every failing path ends with, where a machine reads the output on the standard error. Returns how
/// the command ends because of it.
pub fn print_failures(failures: &[Failure], json: bool) -> Exit {
    let colour = text::colour();
    let block = block::block(failures, colour);
    // Where the output is lost the block is all the more wanted.
    if json || text::is_lost() {
        eprint!("{block}");
    } else if !block.is_empty() {
        text::out(&format!("\n{block}"));
    }
    block::exit(failures)
}
