//! What of a tally is a failure.

use super::differs;
use crate::campaign::monitor::Reason;
use crate::campaign::tally::{Lane, Tally};
use crate::print::block::{Failure, FailureKind};
use crate::print::text;
use groundhog_reports::{ScenarioFacts, Totals, count};
use groundhog_sim::outcome::{Cut, LastPoll, Violation};
use groundhog_sim::units::SimTime;

/// Who knows commands and pages.
pub struct Pointers<'a> {
    /// The command that repeats one seed of one target.
    pub repeat: &'a dyn Fn(usize, u64) -> String,
    /// The command that repeats everything.
    pub whole: &'a dyn Fn() -> String,
    /// The page of one seed of one target, once it is written.
    pub see: &'a dyn Fn(usize, u64) -> Option<String>,
    /// What the first failure of a law of one target was shrunk to.
    pub shrunk: &'a dyn Fn(usize, &str) -> Option<String>,
}

/// Everything that failed: the first failing seed of each law of each target, bounds, marks.
pub fn of(
    tally: &Tally,
    reason: Option<&Reason>,
    facts: &[ScenarioFacts],
    pointers: &Pointers<'_>,
) -> Vec<Failure> {
    let mut failures = Vec::new();
    for (target, lane) in tally.lanes.iter().enumerate() {
        let failure = |kind, what: &str, saw: String, seed| Failure {
            kind,
            what: what.to_owned(),
            saw,
            shrunk: (pointers.shrunk)(target, what).filter(|_| kind == FailureKind::Broken),
            see: (pointers.see)(target, seed),
            repeat: Some((pointers.repeat)(target, seed)),
        };
        failures
            .extend(of_runs(lane).into_iter().map(|(kind, what, saw, seed)| failure(kind, &what, saw, seed)));
        for cut in lane.totals.cuts.values() {
            // Why the monitor stopped everything is told once, below.
            if reason.is_none() || matches!(cut.first, Cut::Polls { .. } | Cut::Livelock { .. }) {
                let (what, saw) = cut_words(&cut.first, &lane.totals);
                failures.push(failure(FailureKind::Cut, what, saw, cut.first_seed));
            }
        }
    }
    failures.extend(reason.map(|reason| stopped(reason, tally, pointers)));
    for scenario in facts {
        failures.extend(scenario.missed().iter().map(|mark| Failure {
            kind: FailureKind::Missed,
            what: format!("mark {}", mark.id),
            saw: format!(
                "reached {} times in {} seeds of {}, due {}",
                mark.reached,
                mark.seeds,
                scenario.totals.scenario,
                mark.due()
            ),
            shrunk: None,
            see: None,
            repeat: Some((pointers.whole)()),
        }));
    }
    failures
}

fn of_runs(lane: &Lane) -> Vec<(FailureKind, String, String, u64)> {
    let mut failures = Vec::new();
    for (law, broken) in &lane.totals.broken {
        failures.push((FailureKind::Broken, (*law).to_owned(), saw(&broken.first), broken.first_seed));
    }
    if let Some((seed, why)) = &lane.wrong {
        let saw = format!("the plan of seed {seed} cannot be run: {why}; change what was set");
        failures.push((FailureKind::Wrong, lane.totals.scenario.clone(), saw, *seed));
    }
    if let Some((seed, why)) = &lane.failed {
        failures.push((FailureKind::Defect, "groundhog itself".to_owned(), why.clone(), *seed));
    }
    if let Some((seed, difference)) = &lane.differs {
        let whose = format!("{} seed {seed}", lane.totals.scenario);
        let (what, saw) = differs::words(difference, &whose, usize::from(text::width()));
        failures.push((FailureKind::Differs, what.to_owned(), saw, *seed));
    }
    failures
}

/// What a law saw, where and when.
pub fn saw(violation: &Violation) -> String {
    let time = SimTime(violation.at.0);
    match violation.node {
        Some(node) => format!("{} ({node}, t={time})", violation.saw),
        None => format!("{} (t={time})", violation.saw),
    }
}

fn cut_words(cut: &Cut, totals: &Totals) -> (&'static str, String) {
    let scenario = &totals.scenario;
    match cut {
        Cut::Polls { limit, last } => {
            ("polls", format!("{scenario}: more than {} polls{}", count(*limit), last_poll(last.as_ref())))
        }
        Cut::Livelock { limit, last } => (
            "livelock",
            format!("{scenario}: {} polls while time stood still{}", count(*limit), last_poll(last.as_ref())),
        ),
        Cut::Memory { limit_bytes } => {
            ("memory", format!("a run of {scenario} held more than {limit_bytes} bytes"))
        }
        Cut::Watchdog { limit_ms } => {
            ("real time", format!("a run of {scenario} took more than {limit_ms} ms"))
        }
        Cut::Interrupted => ("interrupted", format!("a run of {scenario} was stopped")),
    }
}

/// On lines of their own, as the rest of the block.
fn last_poll(last: Option<&LastPoll>) -> String {
    let words = |LastPoll { node, life, task }: &LastPoll| {
        format!("\n  node     {}, life {}\n  task     {task}", node.0, life.0)
    };
    last.map_or_else(String::new, words)
}

fn stopped(reason: &Reason, tally: &Tally, pointers: &Pointers<'_>) -> Failure {
    let seeds: u64 = tally.lanes.iter().map(|lane| lane.totals.seeds).sum();
    let (what, saw, repeat) = match reason {
        Reason::Interrupted => ("interrupted", format!("after {seeds} runs"), (pointers.whole)()),
        Reason::RunTime { target, seed, bound } => (
            "real time",
            format!(
                "seed {seed} of {} took more than {} ms",
                tally.lanes[*target].totals.scenario,
                bound.as_millis()
            ),
            (pointers.repeat)(*target, *seed),
        ),
        Reason::Memory { bytes, bound_bytes } => (
            "memory",
            format!("after {seeds} runs the process held {bytes} bytes, of at most {bound_bytes}"),
            (pointers.whole)(),
        ),
    };
    Failure {
        kind: FailureKind::Cut,
        what: what.to_owned(),
        saw,
        shrunk: None,
        see: None,
        repeat: Some(repeat),
    }
}
