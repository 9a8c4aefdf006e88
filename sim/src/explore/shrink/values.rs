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

/// Machines, engines, nodes and links as they are where nothing is special about them; and ids that are places.
fn all_usual(search: &mut Search<'_>) -> Result<(), Over> {
    let usual = |plan: &Plan, part: &dyn Fn(&mut Plan, &Plan)| {
        let mut all = plan.clone();
        numbers(&mut all, &mut |number, resting| {
            number.set(resting);
        });
        let mut some = plan.clone();
        part(&mut some, &all);
        some
    };
    let machines = |plan: &mut Plan, all: &Plan| plan.profile = all.profile.clone();
    let engines = |plan: &mut Plan, all: &Plan| plan.engines = all.engines.clone();
    let nodes = |plan: &mut Plan, all: &Plan| plan.nodes.clone_from(&all.nodes);
    let links = |plan: &mut Plan, all: &Plan| plan.links.clone_from(&all.links);
    let ids = |plan: &mut Plan, all: &Plan| {
        plan.actions.iter_mut().zip(&all.actions).for_each(|(action, usual)| action.id = usual.id);
        plan.faults.iter_mut().zip(&all.faults).for_each(|(fault, usual)| fault.id = usual.id);
    };
    let everything = |plan: &mut Plan, all: &Plan| {
        machines(plan, all);
        engines(plan, all);
        nodes(plan, all);
        links(plan, all);
    };
    let parts: [&dyn Fn(&mut Plan, &Plan); 6] = [&everything, &machines, &engines, &nodes, &links, &ids];
    for part in parts {
        let plan = usual(search.best(), part);
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
