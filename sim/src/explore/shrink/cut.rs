//! Leaving out: time after the failure, everything away from it, halves of actions and faults, and then one by one.

use super::items::{Item, items, without};
use super::search::Search;
use super::{Over, nodes, simpler, times, triggers};
use crate::plan::{Act, Fault, FaultKind, Plan, When};
use crate::units::NodeId;
use std::collections::BTreeSet;

/// Candidates that are handed to a runner at once, at most: what a batch holds is bounded.
const MOST_AT_ONCE: usize = 32;

/// From this many items on, leaving out single ones waits until the plan has become smaller.
const FEW: usize = 24;

/// Cheap steps that leave out much: once, at the beginning.
pub(super) fn roughly(search: &mut Search<'_>) -> Result<(), Over> {
    simpler::cheap_signatures(search)?;
    times::end_after_failure(search)?;
    let never: BTreeSet<Item> = search
        .best()
        .faults
        .iter()
        .filter(|fault| !search.seen().began.contains_key(&fault.id))
        .map(|fault| Item::Fault(fault.id))
        .collect();
    leave_out(search, &never)?;
    if let Some(node) = search.seen().broken.as_ref().and_then(|broken| broken.node) {
        let away = away_from(search.best(), node);
        if leave_out(search, &away)? {
            nodes::fewer(search)?;
        }
    }
    let faults = search.best().faults.iter().map(|fault| Item::Fault(fault.id)).collect();
    leave_out(search, &faults)?;
    let adversaries = search.best().actions.iter().filter(|action| !matches!(action.act, Act::Send(_)));
    let adversaries = adversaries.map(|action| Item::Action(action.id)).collect();
    leave_out(search, &adversaries)?;
    let all = items(search.best(), search.seen()).len();
    chunks(search, all.div_ceil(2), 1)?;
    nodes::fewer(search)?;
    times::end_after_failure(search)
}

/// Everything that can be left out in small parts: items, and nodes and links with all that needs them.
pub(super) fn finely(search: &mut Search<'_>) -> Result<(), Over> {
    times::end_after_failure(search)?;
    let all = items(search.best(), search.seen()).len();
    chunks(search, if all > FEW { all.div_ceil(2) } else { 4.min(all) }, 1)?;
    one_by_one_with_aims(search)?;
    nodes::fewer(search)?;
    whole_nodes(search)?;
    whole_links(search)?;
    simpler::flaws(search)
}

fn leave_out(search: &mut Search<'_>, items: &BTreeSet<Item>) -> Result<bool, Over> {
    if items.is_empty() {
        return Ok(false);
    }
    let candidates = without(search.best(), search.seen(), items);
    Ok(search.try_any(candidates)?.is_some())
}

/// Runs of neighbouring items, from `largest` down to `smallest`, the latest first; each size until no run of that size
/// can be left out.
fn chunks(search: &mut Search<'_>, largest: usize, smallest: usize) -> Result<(), Over> {
    let mut size = largest;
    while size >= smallest.max(1) {
        let progress = sweep(search, size)?;
        if size == 1 && !progress {
            break;
        }
        size = if size == 1 { 1 } else { size.div_ceil(2) };
    }
    Ok(())
}

fn sweep(search: &mut Search<'_>, size: usize) -> Result<bool, Over> {
    let mut end = items(search.best(), search.seen()).len();
    let mut progress = false;
    while end > 0 {
        let all = items(search.best(), search.seen());
        end = end.min(all.len());
        let mut candidates = Vec::new();
        // For each candidate, where its run of items begins.
        let mut begins = Vec::new();
        let mut to = end;
        while to > 0 && candidates.len() < MOST_AT_ONCE {
            let from = to.saturating_sub(size);
            let left_out = all[from..to].iter().copied().collect();
            for candidate in without(search.best(), search.seen(), &left_out) {
                candidates.push(candidate);
                begins.push(from);
            }
            to = from;
        }
        match search.try_any(candidates)? {
            Some(place) => {
                progress = true;
                end = begins[place];
            }
            None => end = to,
        }
    }
    Ok(progress)
}

/// Single items, with what else is aimed at a place in a life aimed a little elsewhere: an operation's number moves when
/// a message before it is gone.
fn one_by_one_with_aims(search: &mut Search<'_>) -> Result<(), Over> {
    let all = items(search.best(), search.seen());
    if all.len() > FEW {
        return Ok(());
    }
    for item in all.into_iter().rev() {
        let rest = without(search.best(), search.seen(), &BTreeSet::from([item]));
        let aimed = rest.iter().flat_map(|plan| triggers::aimed_elsewhere(plan, search.seen())).collect();
        search.try_any(aimed)?;
    }
    Ok(())
}

/// What neither happens at this node nor sends to it.
fn away_from(plan: &Plan, node: NodeId) -> BTreeSet<Item> {
    let actions = plan.actions.iter().filter(|action| !nodes::of_action(action).contains(&node));
    let faults = plan.faults.iter().filter(|fault| !nodes::of_fault(fault).contains(&node));
    actions.map(|action| Item::Action(action.id)).chain(faults.map(|fault| Item::Fault(fault.id))).collect()
}

/// Each node with everything that names it.
fn whole_nodes(search: &mut Search<'_>) -> Result<(), Over> {
    for node in (0..search.best().nodes.len()).rev() {
        let node = NodeId(u16::try_from(node).expect("a plan holds at most MAX_NODES nodes"));
        if node.index() >= search.best().nodes.len() || search.best().nodes.len() == 1 {
            continue;
        }
        let plan = search.best();
        let with_it = plan.actions.iter().filter(|action| nodes::of_action(action).contains(&node));
        let mut left_out: BTreeSet<Item> = with_it.map(|action| Item::Action(action.id)).collect();
        let with_it = plan.faults.iter().filter(|fault| nodes::of_fault(fault).contains(&node));
        left_out.extend(with_it.map(|fault| Item::Fault(fault.id)));
        let rest = without(plan, search.seen(), &left_out);
        search.try_any(rest.iter().map(|plan| nodes::without(plan, node)).collect())?;
    }
    Ok(())
}

/// Each link with everything that needs it.
fn whole_links(search: &mut Search<'_>) -> Result<(), Over> {
    for place in (0..search.best().links.len()).rev() {
        let plan = search.best();
        let link = &plan.links[place];
        let ends = (link.a, link.b);
        let needs = |fault: &Fault| match &fault.kind {
            FaultKind::Link { from, to, .. } => (*from.min(to), *from.max(to)) == ends,
            _ => false,
        };
        let actions = plan.actions.iter().filter(|action| nodes::ways(action).contains(&ends));
        let mut left_out: BTreeSet<Item> = actions.map(|action| Item::Action(action.id)).collect();
        let faults = plan.faults.iter().filter(|fault| needs(fault));
        left_out.extend(faults.map(|fault| Item::Fault(fault.id)));
        let mut rest = without(plan, search.seen(), &left_out);
        for plan in &mut rest {
            plan.links.remove(place);
        }
        search.try_any(rest)?;
    }
    Ok(())
}

/// Drops what begins after `us`, and ends at `us` what would end later.
pub(super) fn until(plan: &Plan, us: u64) -> Plan {
    let mut cut = plan.clone();
    cut.end_us = us.max(1).min(plan.end_us);
    cut.quiesce_us = cut.quiesce_us.min(cut.end_us);
    let (end_us, quiesce_us) = (cut.end_us, cut.quiesce_us);
    cut.actions.retain(|action| action.at_us <= end_us);
    cut.faults.retain(|fault| !matches!(fault.at, When::Time { us } if us > quiesce_us));
    for fault in &mut cut.faults {
        fault.until_us = fault.until_us.map(|until_us| until_us.min(quiesce_us));
    }
    cut
}
