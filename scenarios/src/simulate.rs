//! The seam to the world: one plan in, one outcome out. Everything of the command that runs a plan calls this.

use groundhog_sim::laws::LawKind;
use groundhog_sim::ledger::compare::RecordedEvent;
use groundhog_sim::ledger::onlooker::{Line, Sink};
use groundhog_sim::ledger::{LawSelection, LedgerOptions};
use groundhog_sim::outcome::Outcome;
use groundhog_sim::plan::Plan;
use groundhog_sim::run::{self, RunError, RunOptions};
use std::ops::Range;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};

/// Which laws are checked. Changes no event of a run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, clap::ValueEnum)]
pub enum Laws {
    /// All of them.
    #[default]
    All,
    /// Those that read only what the world observes.
    Outcome,
    /// Those that read what engines report.
    Mechanism,
}

impl Laws {
    /// As a ledger takes it.
    pub fn selection(self) -> LawSelection {
        match self {
            Self::All => LawSelection::All,
            Self::Outcome => LawSelection::Kind(LawKind::Outcome),
            Self::Mechanism => LawSelection::Kind(LawKind::Mechanism),
        }
    }

    /// As the command line spells it.
    pub const fn id(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Outcome => "outcome",
            Self::Mechanism => "mechanism",
        }
    }
}

/// How a plan is run.
#[derive(Clone, Debug)]
pub struct Manner {
    /// Which laws are checked.
    pub laws: Laws,
    /// Polls that one run may use.
    pub max_polls: u64,
    /// Set to interrupt every run.
    pub stop: Arc<AtomicBool>,
}

/// Runs a plan.
pub fn simulate(plan: &Plan, manner: &Manner) -> Result<Outcome, RunError> {
    run_with(plan, manner, None)
}

fn run_with(plan: &Plan, manner: &Manner, sink: Option<Sink>) -> Result<Outcome, RunError> {
    let options = RunOptions {
        ledger: LedgerOptions { laws: manner.laws.selection(), sink, ..LedgerOptions::default() },
        poll_budget: manner.max_polls,
        stop: Arc::clone(&manner.stop),
    };
    run::run(plan, options)
}

/// Runs a plan and hands each event's place, time, node and line to `sink`.
pub fn watch(plan: &Plan, manner: &Manner, sink: Sink) -> Result<Outcome, RunError> {
    run_with(plan, manner, Some(sink))
}

/// Runs a plan and records those of its events whose places are in `wanted`.
pub fn record(
    plan: &Plan,
    manner: &Manner,
    wanted: Range<u64>,
) -> Result<(Outcome, Vec<RecordedEvent>), RunError> {
    let recorded = Arc::new(Mutex::new(Vec::new()));
    let sink = {
        let recorded = Arc::clone(&recorded);
        Box::new(move |line: &Line<'_>| {
            if wanted.contains(&line.index) {
                recorded.lock().expect("recording does not panic").push(RecordedEvent {
                    index: line.index,
                    node: line.node,
                    encoded: line.encoded.to_vec(),
                    line: line.text.to_owned(),
                });
            }
        })
    };
    let outcome = run_with(plan, manner, Some(sink))?;
    let events = std::mem::take(&mut *recorded.lock().expect("recording does not panic"));
    Ok((outcome, events))
}
