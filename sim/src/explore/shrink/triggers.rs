//! When faults strike: a place in a life whose number says nothing becomes a step of the engine or a time, and follows
//! what is cut away before it.

use super::search::Search;
use super::{Over, Seen};
use crate::plan::{Fault, FaultKind, Plan, StepId, When};
use crate::units::{Life, SimTime};
use groundhog_engine::host::observe::Step;

/// The how-manieth of a step that a death may be told by.
const STEP_COUNTS: u32 = 3;

/// Lives of a node in which a death that is told by a time is looked for.
const MOST_LIVES: usize = 4;

/// How far a number that is aimed at may have moved because something before it is gone.
const NEARBY: u64 = 4;

/// Simpler instants for every fault.
pub(super) fn simpler(search: &mut Search<'_>) -> Result<(), Over> {
    for place in 0..search.best().faults.len() {
        let fault = &search.best().faults[place];
        let began = search.seen().began.get(&fault.id).copied();
        let with = |at| {
            let mut plan = search.best().clone();
            plan.faults[place].at = at;
            plan
        };
        let candidates = instead_of(search.best(), fault, began).into_iter().map(with).collect();
        search.try_any(candidates)?;
    }
    Ok(())
}

/// Simplest first. A death is told by what its node was doing: that says more than a time, and stays true where times
/// move.
fn instead_of(plan: &Plan, fault: &Fault, began: Option<SimTime>) -> Vec<When> {
    let mut found = Vec::new();
    if let When::Step { node, life, step, table: Some(_), count } = fault.at {
        found.extend([count, 1, 2, 3].map(|count| When::Step { node, life, step, table: None, count }));
    }
    if let FaultKind::Crash { node, .. } = fault.kind {
        let at_step =
            |life| steps().map(move |(step, count)| When::Step { node, life, step, table: None, count });
        match fault.at {
            When::Step { .. } => {}
            When::Operation { life, .. } | When::Poll { life, .. } => found.extend(at_step(life)),
            When::Time { .. } => {
                let of_node = |other: &&Fault| matches!(&other.kind, FaultKind::Crash { node: whose, .. } if *whose == node);
                let deaths = plan.faults.iter().filter(of_node).count();
                let lives = (0..).map(Life).take(deaths.min(MOST_LIVES));
                found.extend(lives.flat_map(at_step));
            }
        }
    }
    if let (false, Some(began)) = (matches!(fault.at, When::Time { .. }), began) {
        found.extend(times(began));
    }
    found
}

fn steps() -> impl Iterator<Item = (StepId, u32)> {
    (1..=STEP_COUNTS).flat_map(|count| Step::ALL.iter().map(move |step| (StepId(*step), count)))
}

fn times(began: SimTime) -> [When; 2] {
    [began.as_us(), began.0.div_ceil(1_000)].map(|us| When::Time { us })
}

/// The plans in which one fault that waits for a place in a life waits for one nearby, or for the time at which it struck
/// before.
pub(super) fn aimed_elsewhere(plan: &Plan, seen: &Seen) -> Vec<Plan> {
    let mut found = Vec::new();
    for (place, fault) in plan.faults.iter().enumerate() {
        let mut aims: Vec<When> = match fault.at {
            When::Time { .. } => continue,
            When::Operation { node, life, operation, phase } => {
                nearby(operation).map(|operation| When::Operation { node, life, operation, phase }).collect()
            }
            When::Step { node, life, step, table, count } => nearby(count.into())
                .filter_map(|count| u32::try_from(count).ok().filter(|count| *count > 0))
                .map(|count| When::Step { node, life, step, table, count })
                .collect(),
            When::Poll { node, life, poll } => {
                nearby(poll).map(|poll| When::Poll { node, life, poll }).collect()
            }
        };
        aims.extend(seen.began.get(&fault.id).into_iter().flat_map(|began| times(*began)));
        found.extend(aims.into_iter().map(|at| {
            let mut plan = plan.clone();
            plan.faults[place].at = at;
            plan
        }));
    }
    found
}

/// Numbers near one, the nearest first and smaller ones before larger.
fn nearby(number: u64) -> impl Iterator<Item = u64> {
    (1..=NEARBY).flat_map(move |by| [number.checked_sub(by), number.checked_add(by)].into_iter().flatten())
}
