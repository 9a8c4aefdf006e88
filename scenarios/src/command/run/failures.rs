//! What of a tally is a failure.

use crate::campaign::monitor::Reason;
use crate::campaign::tally::{Lane, Tally};
use crate::print::block::{Failure, FailureKind};
use groundhog_reports::{ScenarioFacts, Totals};
use groundhog_sim::outcome::{Cut, Violation};
use groundhog_sim::units::SimTime;

/// Who knows commands and pages.
pub struct Pointers<'a> {
    /// The command that repeats one seed of one target.
    pub repeat: &'a dyn Fn(usize, u64) -> String,
    /// The command that repeats everything.
    pub whole: &'a dyn Fn() -> String,
    /// The page of one seed of one target, once it is written.
    pub see: &'a dyn Fn(usize, u64) -> Option<String>,
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
            see: (pointers.see)(target, seed),
            repeat: Some((pointers.repeat)(target, seed)),
        };
        failures
            .extend(of_runs(lane).into_iter().map(|(kind, what, saw, seed)| failure(kind, &what, saw, seed)));
        for cut in lane.totals.cuts.values() {
            // What the monitor stopped is told below, once.
            // Why the monitor stopped everything is told once, below.
            if reason.is_none() || matches!(cut.first, Cut::Polls { .. }) {
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
    if let Some((seed, why)) = &lane.failed {
        failures.push((FailureKind::Defect, "groundhog itself".to_owned(), why.clone(), *seed));
    }
    if let Some((seed, difference)) = &lane.differs {
        let saw = match &difference.event {
            None => format!("another process gave fingerprint {}", difference.other_fingerprint),
            Some(event) => {
                let side = |side: &Option<groundhog_sim::ledger::compare::RecordedEvent>| {
                    side.as_ref().map_or_else(|| "nothing".to_owned(), |event| event.line.trim().to_owned())
                };
                format!(
                    "event {} differs\n  here     {}\n  there    {}",
                    event.index,
                    side(&event.left),
                    side(&event.right)
                )
            }
        };
        failures.push((FailureKind::Differs, "not deterministic".to_owned(), saw, *seed));
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
        Cut::Polls { limit } => ("polls", format!("a run of {scenario} used more than {limit} polls")),
        Cut::Memory { limit_bytes } => {
            ("memory", format!("a run of {scenario} held more than {limit_bytes} bytes"))
        }
        Cut::Watchdog { limit_ms } => {
            ("real time", format!("a run of {scenario} took more than {limit_ms} ms"))
        }
        Cut::Interrupted => ("interrupted", format!("a run of {scenario} was stopped")),
    }
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
    Failure { kind: FailureKind::Cut, what: what.to_owned(), saw, see: None, repeat: Some(repeat) }
}
