//! Actions and faults as things that can be left out, and what has to follow when one is.
//!
//! A fault that waits for a place in a node's third life waits in vain once an earlier death is gone; a replay of the fifth
//! message names another once the third is. Both are put right: the candidate as it would be read, and the one put right, are
//! both tried.

use super::Seen;
use crate::plan::{Act, Action, Fault, FaultKind, FrameName, Plan, When};
use crate::units::{ActionId, FaultId, Life, NodeId, SimTime};
use groundhog_engine::streams::key::Class;
use std::collections::{BTreeMap, BTreeSet};

/// Something that can be left out of a plan.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Item {
    Action(ActionId),
    Fault(FaultId),
}

/// Everything that can be left out, in the order in which it happens; what never did comes last.
pub(super) fn items(plan: &Plan, seen: &Seen) -> Vec<Item> {
    let actions = plan.actions.iter().map(|action| (SimTime::from_us(action.at_us), Item::Action(action.id)));
    let faults = plan.faults.iter().map(|fault| {
        let began = seen.began.get(&fault.id).copied();
        (began.unwrap_or(SimTime(u64::MAX)), Item::Fault(fault.id))
    });
    let mut items: Vec<(SimTime, Item)> = actions.chain(faults).collect();
    items.sort_unstable();
    items.into_iter().map(|(_, item)| item).collect()
}

/// The plan without some of its items: put right, and as it is left where that is another plan.
pub(super) fn without(plan: &Plan, seen: &Seen, left_out: &BTreeSet<Item>) -> Vec<Plan> {
    let mut rest = plan.clone();
    rest.actions.retain(|action| !left_out.contains(&Item::Action(action.id)));
    rest.faults.retain(|fault| !left_out.contains(&Item::Fault(fault.id)));
    let mut right = rest.clone();
    let gone: Vec<&Fault> =
        plan.faults.iter().filter(|fault| left_out.contains(&Item::Fault(fault.id))).collect();
    for fault in &mut right.faults {
        earlier_lives(fault, &gone, seen);
    }
    same_frames(plan, &mut right);
    if right == rest { vec![rest] } else { vec![right, rest] }
}

/// A fault that strikes in a later life than it would without the deaths that are gone.
fn earlier_lives(fault: &mut Fault, gone: &[&Fault], seen: &Seen) {
    let Some(began) = seen.began.get(&fault.id) else { return };
    let (When::Operation { node, life, .. } | When::Step { node, life, .. } | When::Poll { node, life, .. }) =
        &mut fault.at
    else {
        return;
    };
    let deaths = gone.iter().filter(|death| {
        let of_node = matches!(&death.kind, FaultKind::Crash { node: whose, .. } if whose == node);
        of_node && seen.began.get(&death.id).is_some_and(|at| at < began)
    });
    *life = Life(life.0.saturating_sub(u32::try_from(deaths.count()).unwrap_or(u32::MAX)));
}

type Stream = (NodeId, NodeId, Class);

/// Replays name the messages that they named, as far as these are still sent.
fn same_frames(before: &Plan, after: &mut Plan) {
    if !after.actions.iter().any(|action| matches!(action.act, Act::Replay { .. })) {
        return;
    }
    let (first_before, first_after) = (first_sequences(&before.actions), first_sequences(&after.actions));
    let owner = |frame: &FrameName| {
        let stream = (frame.origin, frame.destination, frame.class);
        first_before.iter().find_map(|(action, (of, first, count))| {
            let ordinal = frame.sequence.checked_sub(*first).filter(|ordinal| ordinal < count)?;
            (*of == stream).then_some((*action, ordinal))
        })
    };
    for action in &mut after.actions {
        if let Act::Replay { frame, .. } = &mut action.act
            && let Some((sender, ordinal)) = owner(frame)
            && let Some((_, first, _)) = first_after.get(&sender)
        {
            frame.sequence = first + ordinal;
        }
    }
}

/// The stream, the first sequence and the count of each burst, if nobody dies before it.
fn first_sequences(actions: &[Action]) -> BTreeMap<ActionId, (Stream, u64, u64)> {
    let mut sends: Vec<&Action> =
        actions.iter().filter(|action| matches!(action.act, Act::Send(_))).collect();
    sends.sort_by_key(|action| (action.at_us, action.node));
    let mut next: BTreeMap<Stream, u64> = BTreeMap::new();
    let mut firsts = BTreeMap::new();
    for action in sends {
        let Act::Send(burst) = &action.act else { continue };
        let stream = (action.node, burst.to, burst.class);
        let first = next.entry(stream).or_default();
        firsts.insert(action.id, (stream, *first, u64::from(burst.count)));
        *first += u64::from(burst.count);
    }
    firsts
}
