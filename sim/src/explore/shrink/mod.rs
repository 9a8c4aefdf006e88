//! Shrinking: a plan that breaks a law is cut down for as long as the same law is broken, until nothing can be left out.
//!
//! Promise: what is handed over broke the same law in two more runs with equal fingerprints; a failure of another law, or
//! of a world that the original's premises exclude, is never taken for it. Which plan comes out depends on the plan, the law
//! and the deadline, not on the number of cores.
//!
//! Nodes that nothing names are removed and the others numbered anew, since a node's id is its place. That moves the keyed
//! draws of what is left, so it is one more step that the law must survive, tried in several orders: by then most of
//! what is drawn, such as jitter, is gone from the plan.

mod cut;
mod error;
mod items;
mod merge;
mod nodes;
mod numbers;
mod premises;
mod search;
mod simpler;
mod size;
#[cfg(test)]
mod tests;
mod times;
mod triggers;
mod values;

pub use super::schedules::{SCHEDULE_SEEDS, schedule_seeds};
pub use error::{Flaky, ShrinkError, Stage};
pub use search::Batch;
pub use size::Size;

use crate::outcome::{Cut, Outcome, Violation};
use crate::plan::Plan;
use crate::run::RunError;
use crate::units::{FaultId, SimTime};
use search::Search;
use std::collections::BTreeMap;

/// Runs plans for the shrinker.
pub trait Runner {
    /// Runs the plans of a batch and gives the first of them, in their order, whose run breaks `law`, however many run
    /// side by side.
    ///
    /// # Errors
    /// [`Over`] when the deadline has passed before that is known.
    fn first_broken(&mut self, law: &str, batch: &Batch<'_>) -> Result<Option<(usize, Seen)>, Over>;

    /// Runs one plan with its fingerprint, whether or not the deadline has passed.
    ///
    /// # Errors
    /// [`RunError`] when there is no outcome.
    fn run(&mut self, law: &str, plan: &Plan) -> Result<Seen, RunError>;

    /// Is told where the shrinker stands, after every step.
    fn at(&mut self, progress: &Progress) {
        let _ = progress;
    }
}

/// The deadline has passed, or somebody interrupted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Over;

/// What the shrinker needs to know of one run.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// SHA-256 over all events; of a run of a batch it may be that of no event.
    pub fingerprint: [u8; 32],
    /// The first violation of the law that was asked for.
    pub broken: Option<Violation>,
    /// When each fault that took effect first did so.
    pub began: BTreeMap<FaultId, SimTime>,
    /// Simulated time covered.
    pub covered: SimTime,
    /// Why the run ended early, if it did. Such a run breaks nothing that counts.
    pub cut: Option<Cut>,
}

impl Seen {
    /// What an outcome shows of one law.
    #[must_use]
    pub fn of(outcome: &Outcome, law: &str) -> Self {
        let mut began = BTreeMap::new();
        for span in &outcome.fault_spans {
            began.entry(span.fault).or_insert(span.from);
        }
        Self {
            fingerprint: outcome.fingerprint,
            broken: outcome.violations.iter().find(|violation| violation.law == law).cloned(),
            began,
            covered: outcome.covered,
            cut: outcome.cut.clone(),
        }
    }

    /// Whether the run is whole and broke the law.
    #[must_use]
    pub fn breaks(&self) -> bool {
        self.broken.is_some() && self.cut.is_none()
    }
}

/// How much the shrinker may try.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Schedule seeds under which a candidate may break the law, its own included.
    pub schedule_seeds: usize,
    /// The fingerprint of the run that was seen to break the law, where there was one.
    pub fingerprint: Option<[u8; 32]>,
}

impl Default for Limits {
    fn default() -> Self {
        Self { schedule_seeds: SCHEDULE_SEEDS, fingerprint: None }
    }
}

/// Where the shrinker stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Progress {
    /// How large the smallest plan is that still breaks the law.
    pub now: Size,
    /// Runs so far.
    pub runs: u64,
}

/// A plan that was cut down.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Shrunk {
    /// The plan, with the schedule seed under which it breaks the law.
    pub plan: Plan,
    /// How it breaks the law.
    pub violation: Violation,
    /// The fingerprint of its run.
    pub fingerprint: [u8; 32],
    /// How large the plan was.
    pub from: Size,
    /// How large it is.
    pub to: Size,
    /// Runs that it took. Those that a runner did beside a winning one are not counted.
    pub runs: u64,
    /// Without any one of its actions, faults, nodes or links the law holds under every schedule seed tried, or what is left
    /// is outside the original's premises; `false` when the deadline came before that was known.
    pub one_minimal: bool,
    /// Whether the same plan without its flaws was seen to hold; `None` when it has none, or the original broke without.
    pub holds_without_flaws: Option<bool>,
}

/// Cuts `plan` down for as long as `law` is broken.
///
/// # Errors
/// [`ShrinkError`]: when the plan does not break the law, cannot be run, or does not give the same twice.
pub fn shrink(
    plan: &Plan,
    law: &str,
    runner: &mut dyn Runner,
    limits: Limits,
) -> Result<Shrunk, ShrinkError> {
    let original = original(plan, law, runner, &limits)?;
    let mut search = Search::new(plan, law, original, runner, limits.schedule_seeds.max(1));
    let one_minimal = reduce(&mut search).is_ok();
    let to = search.best().clone();
    let (runs, holds_without_flaws) = (search.runs(), search.holds_without_flaws());
    // No fingerprint yet: the runs of a search take none.
    let again = twice(&to, law, runner, Stage::Shrunk, None)?;
    let violation = again.broken.clone().expect("a run that breaks a law says how");
    Ok(Shrunk {
        violation,
        fingerprint: again.fingerprint,
        from: Size::of(plan),
        to: Size::of(&to),
        runs: runs + 2,
        one_minimal,
        holds_without_flaws,
        plan: to,
    })
}

fn original(plan: &Plan, law: &str, runner: &mut dyn Runner, limits: &Limits) -> Result<Seen, ShrinkError> {
    twice(plan, law, runner, Stage::Original, limits.fingerprint)
}

/// Runs a plan until two runs can be compared: one that was seen before, when its fingerprint is known, counts as the
/// first, and broke the law.
fn twice(
    plan: &Plan,
    law: &str,
    runner: &mut dyn Runner,
    stage: Stage,
    known: Option<[u8; 32]>,
) -> Result<Seen, ShrinkError> {
    let (first, broke_first) = match known {
        Some(fingerprint) => (fingerprint, true),
        None => {
            let seen = whole(plan, law, runner)?;
            if !seen.breaks() && stage == Stage::Original {
                return Err(ShrinkError::NotBroken { law: law.to_owned() });
            }
            (seen.fingerprint, seen.breaks())
        }
    };
    let again = whole(plan, law, runner)?;
    if first == again.fingerprint && broke_first && again.breaks() {
        return Ok(again);
    }
    Err(ShrinkError::Flaky(Box::new(Flaky {
        law: law.to_owned(),
        stage,
        plan: plan.clone(),
        first,
        again: again.fingerprint,
        broke_first,
        broke_again: again.breaks(),
    })))
}

fn whole(plan: &Plan, law: &str, runner: &mut dyn Runner) -> Result<Seen, ShrinkError> {
    let seen = runner.run(law, plan)?;
    match seen.cut {
        Some(cut) => Err(ShrinkError::Cut(cut)),
        None => Ok(seen),
    }
}

/// Big cheap steps first, then everything again and again until nothing changes: under the plan's own schedule seed, and
/// then under all of them.
fn reduce(search: &mut Search<'_>) -> Result<(), Over> {
    cut::roughly(search)?;
    for breadth in [1, search.schedule_seeds()] {
        search.try_schedule_seeds(breadth);
        loop {
            let before = search.steps();
            cut::finely(search)?;
            merge::bursts(search)?;
            nodes::merged(search)?;
            simpler::kinds(search)?;
            triggers::simpler(search)?;
            times::gaps(search)?;
            values::rounder(search)?;
            if search.steps() == before {
                break;
            }
        }
        if breadth == 1 {
            search.small_schedule_seed()?;
        }
    }
    Ok(())
}
