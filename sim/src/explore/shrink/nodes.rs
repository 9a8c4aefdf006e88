//! Nodes and links that nothing names are removed; nodes are numbered anew, since a node's id is its place.

use super::Over;
use super::search::Search;
use crate::plan::{Act, Action, Fault, FaultKind, Plan, Route, When};
use crate::units::NodeId;
use std::collections::{BTreeMap, BTreeSet};

/// Orders of the remaining nodes that are tried, at most: all of up to four nodes.
const MOST_ORDERS: usize = 24;

/// More nodes than this are only tried in their own order: there is more to cut first.
const MANY: usize = 8;

/// Seeds with which what is left is drawn anew.
const DRAWS: u64 = 16;

/// The nodes that an action names.
pub(super) fn of_action(action: &Action) -> BTreeSet<NodeId> {
    let mut nodes = BTreeSet::new();
    in_action(&mut action.clone(), &mut |node| {
        nodes.insert(*node);
    });
    nodes
}

/// The nodes that a fault names.
pub(super) fn of_fault(fault: &Fault) -> BTreeSet<NodeId> {
    let mut nodes = BTreeSet::new();
    in_fault(&mut fault.clone(), &mut |node| {
        nodes.insert(*node);
    });
    nodes
}

/// The links that an action needs, each by its ends in order.
pub(super) fn ways(action: &Action) -> BTreeSet<(NodeId, NodeId)> {
    let pair = |one: NodeId, other: NodeId| (one.min(other), one.max(other));
    match &action.act {
        Act::Send(burst) if burst.route != Route::Links => BTreeSet::new(),
        Act::Send(burst) => match burst.via {
            None => [pair(action.node, burst.to)].into(),
            Some(via) => [pair(action.node, via), pair(via, burst.to)].into(),
        },
        Act::RotateDelegatee | Act::Mail(_) => BTreeSet::new(),
        Act::Join | Act::Leave { .. } => BTreeSet::new(),
        Act::Replay { to, .. } => [pair(action.node, *to)].into(),
        Act::Flood(flood) => match flood.via {
            None => [pair(action.node, flood.to)].into(),
            Some(via) => [pair(action.node, via), pair(via, flood.to)].into(),
        },
        Act::Reconnect(reconnect) => [pair(action.node, reconnect.peer)].into(),
        Act::Signalling(_) | Act::PutBack(_) | Act::SecondRuntime(_) => BTreeSet::new(),
    }
}

fn in_action(action: &mut Action, visit: &mut dyn FnMut(&mut NodeId)) {
    visit(&mut action.node);
    match &mut action.act {
        Act::Send(burst) => {
            visit(&mut burst.to);
            burst.via.iter_mut().for_each(visit);
        }
        Act::RotateDelegatee | Act::Mail(_) => {}
        Act::Join | Act::Leave { .. } => {}
        Act::Replay { frame, to, .. } => {
            visit(&mut frame.origin);
            visit(&mut frame.destination);
            visit(to);
        }
        Act::Flood(flood) => {
            visit(&mut flood.to);
            flood.via.iter_mut().for_each(visit);
        }
        Act::Reconnect(reconnect) => visit(&mut reconnect.peer),
        Act::Signalling(_) | Act::PutBack(_) => {}
        Act::SecondRuntime(second) => visit(&mut second.of),
    }
}

fn in_fault(fault: &mut Fault, visit: &mut dyn FnMut(&mut NodeId)) {
    match &mut fault.at {
        When::Time { .. } => {}
        When::Operation { node, .. } | When::Step { node, .. } | When::Poll { node, .. } => visit(node),
    }
    match &mut fault.kind {
        FaultKind::Crash { node, .. }
        | FaultKind::Disk { node, .. }
        | FaultKind::Clock { node, .. }
        | FaultKind::StallHandler { node, .. }
        | FaultKind::SlowProcessor { node, .. } => visit(node),
        FaultKind::Link { from, to, .. } => {
            visit(from);
            visit(to);
        }
        FaultKind::Store { node, act, .. } => {
            visit(node);
            act.each_record(&mut |record| {
                visit(&mut record.origin);
                visit(&mut record.destination);
            });
        }
    }
}

fn in_plan(plan: &mut Plan, visit: &mut dyn FnMut(&mut NodeId)) {
    plan.actions.iter_mut().for_each(|action| in_action(action, visit));
    plan.faults.iter_mut().for_each(|fault| in_fault(fault, visit));
}

fn named(plan: &Plan) -> BTreeSet<NodeId> {
    let mut named = BTreeSet::new();
    in_plan(&mut plan.clone(), &mut |node| {
        named.insert(*node);
    });
    named
}

/// The links that something of the plan needs.
fn needed_links(plan: &Plan) -> BTreeSet<(NodeId, NodeId)> {
    let mut needed: BTreeSet<(NodeId, NodeId)> = plan.actions.iter().flat_map(ways).collect();
    needed.extend(plan.faults.iter().filter_map(|fault| match &fault.kind {
        FaultKind::Link { from, to, .. } => Some((*from.min(to), *from.max(to))),
        _ => None,
    }));
    needed
}

/// The plan with only these nodes, `order[id]` being the one that becomes node `id`.
fn numbered(plan: &Plan, order: &[NodeId]) -> Plan {
    let ids: BTreeMap<NodeId, NodeId> = (0..).map(NodeId).zip(order).map(|(new, old)| (*old, new)).collect();
    let mut numbered = plan.clone();
    numbered.nodes = order
        .iter()
        .zip(0..)
        .map(|(old, id)| {
            let mut node = plan.nodes[old.index()].clone();
            node.id = NodeId(id);
            node
        })
        .collect();
    numbered.links.retain(|link| ids.contains_key(&link.a) && ids.contains_key(&link.b));
    for link in &mut numbered.links {
        let (one, other) = (ids[&link.a], ids[&link.b]);
        (link.a, link.b) = (one.min(other), one.max(other));
    }
    numbered.links.sort_by_key(|link| (link.a, link.b));
    if let Some(ring) = &mut numbered.ring {
        ring.outside = ring.outside.iter().filter_map(|node| ids.get(node).copied()).collect();
        ring.outside.sort_unstable();
    }
    in_plan(&mut numbered, &mut |node| *node = ids.get(node).copied().unwrap_or(*node));
    numbered
}

/// The plan without one node. Nothing may name it.
pub(super) fn without(plan: &Plan, node: NodeId) -> Plan {
    let order: Vec<NodeId> = plan.nodes.iter().map(|of| of.id).filter(|id| *id != node).collect();
    numbered(plan, &order)
}

/// Without the links that nothing needs and the nodes that nothing names. Where the law does not survive the new numbers,
/// what is drawn by them is drawn anew with small seeds as well.
pub(super) fn fewer(search: &mut Search<'_>) -> Result<(), Over> {
    let needed = needed_links(search.best());
    let mut fewer_links = search.best().clone();
    fewer_links.links.retain(|link| needed.contains(&(link.a, link.b)));
    let mut named: Vec<NodeId> = named(search.best()).into_iter().collect();
    if named.is_empty() {
        named.push(NodeId(0));
    }
    let orders = orders(&named);
    let both = orders.iter().map(|order| numbered(&fewer_links, order)).collect();
    if search.try_any(both)?.is_some() {
        return Ok(());
    }
    search.try_one(fewer_links)?;
    if named.len() < search.best().nodes.len() {
        let plans: Vec<Plan> = orders.iter().map(|order| numbered(search.best(), order)).collect();
        let drawn_anew =
            (0..DRAWS).flat_map(|seed| plans.iter().map(move |plan| Plan { seed, ..plan.clone() }));
        let drawn_anew = drawn_anew.take(MOST_ORDERS * 4).collect();
        if search.try_any(plans.clone())?.is_none() && search.try_any(drawn_anew)?.is_none() {
            one_to_a_free_place(search)?;
        }
    }
    Ok(())
}

/// The last node that something names takes the place of one that nothing does, and the plan ends there.
fn one_to_a_free_place(search: &mut Search<'_>) -> Result<(), Over> {
    loop {
        let plan = search.best();
        let named = named(plan);
        let Some(last) = named.last().copied() else { return Ok(()) };
        let all = || (0..=last.0).map(NodeId);
        let mut candidates = vec![numbered(plan, &all().collect::<Vec<_>>())];
        for free in all().filter(|id| !named.contains(id)) {
            let order: Vec<NodeId> = all().map(|id| if id == free { last } else { id }).collect();
            candidates.push(numbered(plan, &order[..last.index()]));
        }
        if search.try_any(candidates)?.is_none() {
            return Ok(());
        }
    }
}

/// One node does what two did.
pub(super) fn merged(search: &mut Search<'_>) -> Result<(), Over> {
    let mut last = search.best().nodes.len();
    while last > 1 {
        last = (last - 1).min(search.best().nodes.len().saturating_sub(1));
        let from = NodeId(u16::try_from(last).expect("a plan holds at most MAX_NODES nodes"));
        let plan = search.best();
        let into = plan.nodes.iter().map(|node| node.id).filter(|id| *id != from);
        let candidates = into.filter_map(|into| merge(plan, from, into)).collect();
        search.try_any(candidates)?;
    }
    Ok(())
}

/// The plan in which `into` does all that `from` did; `None` where that leaves a node talking to itself.
fn merge(plan: &Plan, from: NodeId, into: NodeId) -> Option<Plan> {
    let mut merged = plan.clone();
    in_plan(&mut merged, &mut |node| {
        if *node == from {
            *node = into;
        }
    });
    let mut links = BTreeMap::new();
    for link in &plan.links {
        let moved = |id: NodeId| if id == from { into } else { id };
        let (one, other) = (moved(link.a), moved(link.b));
        let ends = (one.min(other), one.max(other));
        // A link that was there before keeps what it is like.
        if ends.0 != ends.1 && (!links.contains_key(&ends) || (link.a, link.b) == ends) {
            let mut link = link.clone();
            (link.a, link.b) = ends;
            links.insert(ends, link);
        }
    }
    merged.links = links.into_values().collect();
    merged.faults.retain(|fault| !matches!(&fault.kind, FaultKind::Link { from, to, .. } if from == to));
    let merged = without(&merged, from);
    merged.check().is_ok().then_some(merged)
}

/// Orders of these nodes, their own first.
fn orders(nodes: &[NodeId]) -> Vec<Vec<NodeId>> {
    let mut orders = vec![nodes.to_vec()];
    let mut next: Vec<usize> = (0..nodes.len()).collect();
    while nodes.len() <= MANY && orders.len() < MOST_ORDERS && next_permutation(&mut next) {
        orders.push(next.iter().map(|place| nodes[*place]).collect());
    }
    orders
}

/// The next permutation in lexicographic order; `false` after the last.
fn next_permutation(places: &mut [usize]) -> bool {
    let Some(rising) = places.windows(2).rposition(|pair| pair[0] < pair[1]) else { return false };
    let larger = places.iter().rposition(|place| *place > places[rising]).expect("its neighbour is larger");
    places.swap(rising, larger);
    places[rising + 1..].reverse();
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_order_of_three_is_tried_once_and_their_own_first() {
        let orders = orders(&[NodeId(4), NodeId(7), NodeId(9)]);
        assert_eq!(orders[0], [NodeId(4), NodeId(7), NodeId(9)]);
        assert_eq!(orders.iter().collect::<BTreeSet<_>>().len(), 6);
        let of_first = |count| super::orders(&(0..count).map(NodeId).collect::<Vec<_>>()).len();
        assert_eq!((of_first(4), of_first(8), of_first(9)), (24, MOST_ORDERS, 1));
    }
}
