//! The seam to the world: one plan in, one outcome out. Everything of the command that runs a plan calls this.

use crate::scenario_file::nearest;
use groundhog_sim::laws::LawKind;
use groundhog_sim::ledger::onlooker::{Line, Sink};
use groundhog_sim::ledger::{LawSelection, LedgerOptions};
use groundhog_sim::outcome::Outcome;
use groundhog_sim::plan::Plan;
use groundhog_sim::run::{self, Plant, RunError, RunOptions};
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
    /// What is planted in it, to examine the examination.
    pub plant: Option<Plant>,
}

impl Manner {
    /// All laws, the usual budget of polls, and nothing planted.
    pub const fn plain(stop: Arc<AtomicBool>) -> Self {
        Self { laws: Laws::All, max_polls: run::POLL_BUDGET, stop, plant: None }
    }
}

/// A plant by its id.
pub fn plant(id: &str) -> Result<Plant, String> {
    Plant::from_id(id).ok_or_else(|| {
        let nearest = nearest(id, Plant::ALL.iter().map(|plant| plant.id()));
        let nearest = nearest.map_or_else(String::new, |near| format!("; the nearest is `{near}`"));
        format!("no plant is called so{nearest}; `groundhog list plants` names them")
    })
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
        plant: manner.plant,
    };
    run::run(plan, options)
}

/// Runs a plan and hands each event as a line of a timeline to `sink`.
pub fn watch(plan: &Plan, manner: &Manner, sink: Sink) -> Result<Outcome, RunError> {
    run_with(plan, manner, Some(sink))
}

/// Runs a plan, gives `take` every line of it in order, with something that gathers them, and gives that back.
pub fn gather<T: Send + 'static>(
    plan: &Plan,
    manner: &Manner,
    gatherer: T,
    take: impl Fn(&mut T, &Line<'_>) + Send + 'static,
) -> Result<(Outcome, T), RunError> {
    let gatherer = Arc::new(Mutex::new(Some(gatherer)));
    let sink = {
        let gatherer = Arc::clone(&gatherer);
        Box::new(move |line: &Line<'_>| {
            if let Some(gatherer) = &mut *gatherer.lock().expect("gathering does not panic") {
                take(gatherer, line);
            }
        })
    };
    let outcome = run_with(plan, manner, Some(sink))?;
    let gathered = gatherer.lock().expect("gathering does not panic").take();
    Ok((outcome, gathered.expect("it is taken once")))
}
