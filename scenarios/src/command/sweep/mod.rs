//! `groundhog sweep`: every crash point of a plan.
//!
//! Promise: what is printed as done was done, by this command or by one like it that was interrupted; a failing point is
//! left behind as a plan that fails when it is run.

mod arguments;
mod journal;
mod report;
mod runner;
mod shrinks;

pub use arguments::Arguments;

use super::CallError;
use crate::campaign::monitor::{Bounds, Monitor, Reason};
use crate::campaign::signals;
use crate::exit::Exit;
use crate::fitness;
use crate::target::{self, Source, Target, TargetError};
use groundhog_sim::explore::sweep::{self, Settings, Stopped, Survey, Tally};
use groundhog_sim::plan::{Crypto, Plan};
use groundhog_sim::units::SimTime;
use indicatif::{ProgressBar, ProgressStyle};
use journal::{Journal, Part};
use report::Report;
use runner::Threads;
use shrinks::Shrinks;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU8};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// Real time that one run may take, and memory that the process may hold.
const BOUNDS: Bounds = Bounds { run_time: Duration::from_secs(300), memory_bytes: 4 << 30 };

/// Points that are explored together and written down as one part, for each thread.
const POINTS_A_THREAD: u64 = 4;

/// What is swept.
struct Swept {
    target: Target,
    plan: Plan,
    settings: Settings,
    folder: PathBuf,
}

/// What was done.
#[derive(Clone, Debug, Default)]
struct Progress {
    survey: Survey,
    tally: Tally,
    /// Points done, and of these done by an earlier command.
    points: u64,
    resumed: u64,
    stopped: Option<Stopped>,
}

impl Progress {
    /// Points in all.
    fn of(&self) -> u64 {
        self.survey.points()
    }

    fn add(&mut self, part: Part) {
        self.points += part.points.end - part.points.start;
        self.tally.add(part.tally);
    }
}

/// Sweeps.
pub fn main(arguments: &Arguments) -> Result<Exit, CallError> {
    let swept = swept(arguments)?;
    let _claim = groundhog_reports::claim(&swept.folder, &[]).map_err(CallError::Out)?;
    let (stop, interrupts) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU8::new(0)));
    signals::count(Arc::clone(&interrupts)).map_err(CallError::Signals)?;
    let monitor = Monitor::new(BOUNDS, Arc::clone(&stop), Arc::clone(&interrupts));
    let bar = bar();
    let progress = Mutex::new(Progress::default());
    let report = Report { arguments, swept: &swept, began: Instant::now() };
    let done = std::thread::scope(|scope| {
        let looking = scope.spawn(|| {
            monitor.look(|| {
                // A run that cannot stop itself: what is known is printed, and the process ends.
                bar.abandon();
                let known = progress.lock().expect("nobody panics while holding it").clone();
                let exit = report.finish(&known, monitor.reason().as_ref(), None).unwrap_or(Exit::Cut);
                std::process::exit(i32::from(exit.worse(Exit::Cut).code()));
            });
        });
        let began = report.began;
        let (jobs, laws, first) = (arguments.threads(), arguments.laws, arguments.first);
        let mut threads =
            Threads { jobs, laws, monitor: &monitor, stop, first, bar: &bar, began, runs: 0, broken: 0 };
        let done = sweep_all(&swept, &mut threads, &progress);
        monitor.over();
        looking.thread().unpark();
        done
    });
    bar.finish_and_clear();
    if let Err(nothing @ CallError::Target(_)) = done {
        return Err(nothing);
    }
    let progress = progress.into_inner().expect("nobody panics while holding it");
    let (reason, time) = (monitor.reason(), arguments.shrink_for);
    let shrinks = Shrinks { time, jobs: arguments.threads(), interrupts: &interrupts };
    let wanted = reason.is_none() && !arguments.no_shrink;
    let exit = report.finish(&progress, reason.as_ref(), wanted.then_some(&shrinks))?;
    // What was found is told though the journal could not be written.
    Ok(match done {
        Ok(()) => exit,
        Err(error) => {
            eprintln!("error: {error}");
            if exit == Exit::Broken { exit } else { Exit::Wrong }
        }
    })
}

fn swept(arguments: &Arguments) -> Result<Swept, CallError> {
    let settings = target::settings(&arguments.set)?;
    let flaws = target::flaws(&arguments.flaw)?;
    let mut targets = target::find(&arguments.target, &settings)?;
    let target = match (targets.pop(), targets.is_empty()) {
        (Some(target), true) => target,
        _ => {
            let what = format!("one plan is swept, and `{}` is several scenarios", arguments.target);
            return Err(TargetError::Call(what).into());
        }
    };
    if let (Source::Plan(_), Some(_)) = (&target.source, arguments.seed) {
        let path = PathBuf::from(&target.spelled);
        return Err(TargetError::OnlyScenarios { option: "--seed", path }.into());
    }
    fitness::check(&target, arguments.seed.unwrap_or(0), &flaws, &settings)?;
    let mut plan = target.plan(arguments.seed.unwrap_or(0), &flaws);
    // Replaces what thousands of runs would do again and again, and changes no verdict.
    plan.crypto = Crypto::KeyedHash;
    if let Some(node) = arguments.node.iter().find(|node| usize::from(**node) >= plan.nodes.len()) {
        let what = format!("--node {node}: the plan has nodes 0 to {}", plan.nodes.len() - 1);
        return Err(TargetError::Call(what).into());
    }
    let folder = arguments.folder(&plan.scenario, plan.seed);
    Ok(Swept { target, plan, settings: arguments.settings(), folder })
}

/// A bar on the standard error; hidden without a terminal.
fn bar() -> ProgressBar {
    let style = ProgressStyle::with_template("{elapsed_precise} {wide_bar} {pos}/{len} points, {msg}");
    ProgressBar::new(0).with_style(style.unwrap_or_else(|_| ProgressStyle::default_bar()))
}

/// Sweeps part by part, each written down once it is done.
fn sweep_all(swept: &Swept, threads: &mut Threads<'_>, progress: &Mutex<Progress>) -> Result<(), CallError> {
    let with =
        |act: &dyn Fn(&mut Progress)| act(&mut progress.lock().expect("nobody panics while holding it"));
    let survey = match Survey::of(&swept.plan, &swept.settings, threads) {
        Ok(survey) => survey,
        Err(stopped) => {
            with(&|progress| progress.stopped = Some(stopped.clone()));
            return Ok(());
        }
    };
    with(&|progress| progress.survey.clone_from(&survey));
    if threads.first && !survey.broken.is_empty() {
        return Ok(());
    }
    if survey.points() == 0 {
        return Err(nothing_to_sweep(swept));
    }
    let Survey { nodes, .. } = &survey;
    let journal = Journal::open(&swept.folder, &journal::key(&swept.plan, &swept.settings, threads.laws));
    let (mut journal, done) =
        journal.map_err(|source| CallError::Journal { folder: swept.folder.clone(), source })?;
    let mut resumed = vec![Vec::new(); nodes.len()];
    for part in done {
        if let Some(place) = nodes.iter().position(|node| node.node == part.node) {
            resumed[place].push(part.points.clone());
            with(&|progress| {
                progress.add(part.clone());
                progress.resumed = progress.points;
            });
        }
    }
    threads.bar.set_length(with_points(progress, Progress::of));
    for (node, resumed) in nodes.iter().zip(resumed) {
        for points in left(&node.points, resumed, POINTS_A_THREAD * threads.jobs as u64) {
            threads.bar.set_position(with_points(progress, |progress| progress.points));
            let (tally, stopped) =
                sweep::explore(&swept.plan, &survey, &swept.settings, node.node, points.clone(), threads);
            if stopped.is_some() {
                // Counts of half a part would be counted again when it is gone on with; what was found is told.
                with(&|progress| {
                    progress.tally.add(Tally { levels: Vec::new(), ..tally.clone() });
                    progress.stopped.clone_from(&stopped);
                });
                return Ok(());
            }
            let part = Part { node: node.node, points, tally };
            journal
                .add(&part)
                .map_err(|source| CallError::Journal { folder: swept.folder.clone(), source })?;
            with(&|progress| progress.add(part.clone()));
        }
    }
    journal.end();
    Ok(())
}

/// A sweep of nothing would hold whatever the engine does.
fn nothing_to_sweep(swept: &Swept) -> CallError {
    let Range { start, end } = swept.settings.within;
    let until = if end == SimTime(u64::MAX) { "the end".to_owned() } else { end.to_string() };
    let what = format!(
        "{} has no crash point from {start} until {until}: its plan ends at {}; ask for other --from, --until or --node",
        swept.target.scenario(),
        SimTime(swept.plan.end_us.saturating_mul(1_000))
    );
    TargetError::Call(what).into()
}

fn with_points(progress: &Mutex<Progress>, look: impl Fn(&Progress) -> u64) -> u64 {
    look(&progress.lock().expect("nobody panics while holding it"))
}

/// What of `all` is not done, in parts of at most `most`.
fn left(all: &Range<u64>, mut done: Vec<Range<u64>>, most: u64) -> Vec<Range<u64>> {
    done.sort_unstable_by_key(|part| part.start);
    let mut parts = Vec::new();
    let mut at = all.start;
    for next in done.into_iter().chain(std::iter::once(all.end..all.end)) {
        while at < next.start {
            let end = (at + most).min(next.start);
            parts.push(at..end);
            at = end;
        }
        at = at.max(next.end);
    }
    parts
}

/// Why it stopped before its end, in the words of the block.
fn reason_words(reason: Option<&Reason>) -> Option<(&'static str, String)> {
    match reason? {
        Reason::Interrupted => Some(("interrupted", String::new())),
        Reason::RunTime { bound, .. } => {
            Some(("real time", format!("a run took more than {} s; ", bound.as_secs())))
        }
        Reason::Memory { bytes, bound_bytes } => {
            Some(("memory", format!("the process held {bytes} bytes, of at most {bound_bytes}; ")))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_left_is_what_was_not_done() {
        assert_eq!(left(&(0..10), vec![], 4), [0..4, 4..8, 8..10]);
        assert_eq!(left(&(0..10), vec![4..8, 0..2], 4), [2..4, 8..10]);
        assert_eq!(left(&(5..9), vec![5..7, 7..9], 4), []);
        assert_eq!(left(&(5..5), vec![], 4), []);
    }
}
