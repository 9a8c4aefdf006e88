//! Numbers that are easier to read: all of one sort as usual, then each by itself as usual or rounder.

use super::Over;
use super::numbers::{Number, numbers, simpler_than};
use super::search::Search;
use crate::plan::Plan;

/// Plans with more actions and faults than this are cut first.
const FEW: usize = 40;

/// Makes every number as simple as the law allows.
pub(super) fn rounder(search: &mut Search<'_>) -> Result<(), Over> {
    if search.best().actions.len() + search.best().faults.len() > FEW {
        return Ok(());
    }
    all_usual(search)?;
    let mut place = 0;
    while let Some(values) = simpler_at(search.best(), place) {
        let candidates = values.into_iter().filter_map(|value| with(search.best(), place, value)).collect();
        search.try_any(candidates)?;
        place += 1;
    }
    Ok(())
}

/// Takes one sort of numbers over from a plan in which all are as usual.
type Sort = fn(&mut Plan, &Plan);

/// Machines, engines, nodes and links together and each by themselves; and ids that are places.
const SORTS: [Sort; 6] = [
    |plan, usual| {
        plan.profile.clone_from(&usual.profile);
        plan.engines.clone_from(&usual.engines);
        plan.nodes.clone_from(&usual.nodes);
        plan.links.clone_from(&usual.links);
    },
    |plan, usual| plan.profile.clone_from(&usual.profile),
    |plan, usual| plan.engines.clone_from(&usual.engines),
    |plan, usual| plan.nodes.clone_from(&usual.nodes),
    |plan, usual| plan.links.clone_from(&usual.links),
    |plan, usual| {
        plan.actions.iter_mut().zip(&usual.actions).for_each(|(action, usual)| action.id = usual.id);
        plan.faults.iter_mut().zip(&usual.faults).for_each(|(fault, usual)| fault.id = usual.id);
    },
];

/// One sort of numbers after the other as they are where nothing is special about them.
fn all_usual(search: &mut Search<'_>) -> Result<(), Over> {
    for take_over in SORTS {
        let mut usual = search.best().clone();
        numbers(&mut usual, &mut |number, resting| {
            number.set(resting);
        });
        let mut plan = search.best().clone();
        take_over(&mut plan, &usual);
        search.try_one(plan)?;
    }
    Ok(())
}

/// The simpler values of the number at a place; `None` beyond the last.
fn simpler_at(plan: &Plan, place: usize) -> Option<Vec<i128>> {
    let mut found = None;
    at(&mut plan.clone(), place, &mut |number, resting| found = Some(simpler_than(number.get(), resting)));
    found
}

/// The plan with another value at a place; `None` where the number has no room for it.
fn with(plan: &Plan, place: usize, value: i128) -> Option<Plan> {
    let mut plan = plan.clone();
    let mut has_room = false;
    at(&mut plan, place, &mut |number, _| has_room = number.set(value));
    has_room.then_some(plan)
}

fn at(plan: &mut Plan, place: usize, act: &mut dyn FnMut(&mut dyn Number, i128)) {
    let mut next = 0;
    numbers(plan, &mut |number, resting| {
        if next == place {
            act(number, resting);
        }
        next += 1;
    });
}
