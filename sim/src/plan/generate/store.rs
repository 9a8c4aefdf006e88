//! Acts on stores: an operator's and the damage of a disk at rest, each at a stream that has been used before and is used
//! again after, with a frame of it that is sent once more.
//!
//! Promise: no two acts of a plan strike one node, so that each is seen alone.

use super::{Draft, Span, Strikes, crashes};
use crate::plan::dice::Dice;
use crate::plan::swarm;
use crate::plan::{Act, Action, Burst, Death, DiskFault, DiskOperation, FrameName, RecordOf, StoreAct, When};
use crate::plan::{Fault, FaultKind};
use crate::units::{ActionId, FaultId, NodeId};
use groundhog_engine::streams::key::{Class, Table};
use std::collections::BTreeSet;

/// From an act until its stream is used again, at least, in microseconds.
const MARGIN_US: u64 = 60_000;

/// A stream that carries traffic, and when.
#[derive(Clone)]
struct Used {
    from: NodeId,
    burst: Burst,
    at_us: u64,
}

impl Used {
    fn record(&self, table: Table) -> RecordOf {
        RecordOf { origin: self.from, destination: self.burst.to, class: self.burst.class, table }
    }

    fn route(&self) -> (NodeId, NodeId, Class) {
        (self.from, self.burst.to, self.burst.class)
    }
}

/// One kind of act: its purpose, the kind that says how many, and which table's record it is done to; `None` for either.
struct Kind {
    purpose: &'static str,
    swarm: swarm::Kind,
    table: Option<Table>,
    act: fn(&mut Dice, RecordOf, RecordOf) -> StoreAct,
}

pub(super) fn draw(draft: &mut Draft<'_>) {
    let mut struck = BTreeSet::new();
    for kind in kinds() {
        for place in 0..draft.faults_of(kind.swarm, kind.purpose) {
            let mut dice = draft.dice(kind.purpose, place);
            one(draft, &kind, &mut dice, &mut struck);
        }
    }
    whole_stores(draft, &mut struck);
}

fn kinds() -> Vec<Kind> {
    use swarm::Kind as Of;
    let kind = |purpose, swarm, table, act| Kind { purpose, swarm, table, act };
    let receiver = Some(Table::Receiver);
    vec![
        kind("record-removed", Of::RecordsRemoved, None, |_, of, _| StoreAct::RemoveRecord { of }),
        kind("marker-removed", Of::MarkersRemoved, None, |_, of, _| StoreAct::RemoveMarker { of }),
        kind("record-renamed", Of::RecordsRenamed, None, |_, of, to| StoreAct::Rename { of, to }),
        kind("upper-case", Of::UpperCase, None, |_, of, _| StoreAct::UpperCase { of }),
        kind("swapped", Of::RecordsSwapped, None, |_, of, with| StoreAct::Swap { of, with }),
        kind("truncated", Of::RecordsTruncated, None, |dice, of, _| StoreAct::Truncate {
            of,
            to_bytes: dice.weighted(&[(0, 1), (20, 1), (200, 2), (u32::MAX, 2)]),
        }),
        kind("bit-flipped", Of::BitsFlipped, None, |dice, of, _| StoreAct::FlipBit {
            of,
            bit: dice.below(1 << 16) as u32,
        }),
        kind("unreadable", Of::Unreadable, None, |dice, of, _| StoreAct::Unreadable {
            of,
            sector: dice.below(4) as u32,
        }),
        kind("without-charge", Of::WithoutCharge, receiver, |_, of, _| StoreAct::WithoutCharge { of }),
        kind("shared-snapshot", Of::SharedSnapshots, None, |_, _, _| StoreAct::SharedSnapshot),
        kind("cleared-receiver", Of::ClearedReceivers, receiver, |_, of, _| StoreAct::Clear { of }),
        kind("cleared-sender", Of::ClearedSenders, Some(Table::Sender), |_, of, _| StoreAct::Clear { of }),
        kind("store-removed", Of::StoresRemoved, None, |_, _, _| StoreAct::RemoveStore),
        kind("budget-lowered", Of::BudgetsLowered, None, |_, _, _| StoreAct::LowerBudget { to_bytes: 64 }),
    ]
}

/// What travels straight, and ends in time for something to be done to it.
fn used(draft: &Draft<'_>) -> Vec<Used> {
    let sends = draft.actions.iter().filter_map(|action| match &action.act {
        Act::Send(burst) if burst.via.is_none() => {
            Some(Used { from: action.node, burst: burst.clone(), at_us: action.at_us })
        }
        _ => None,
    });
    let latest = draft.chaos_us / 2;
    let mut used: Vec<Used> = sends.filter(|used| used.at_us < latest).collect();
    used.sort_by_key(|used| (used.at_us, used.route()));
    used
}

/// A stream at a node that nothing is done to yet, and another stream whose record the same node holds in the same table.
fn pick(draft: &Draft<'_>, table: Table, dice: &mut Dice, struck: &BTreeSet<NodeId>) -> Option<(Used, Used)> {
    let used = used(draft);
    let holder = |used: &Used| used.record(table).holder();
    let free: Vec<(usize, usize)> = (0..used.len())
        .filter(|place| !struck.contains(&holder(&used[*place])))
        .filter_map(|place| {
            let other = |other: &usize| {
                holder(&used[*other]) == holder(&used[place]) && used[*other].route() != used[place].route()
            };
            Some((place, (0..used.len()).find(other)?))
        })
        .collect();
    dice.pick(&free).map(|(one, other)| (used[*one].clone(), used[*other].clone()))
}

fn one(draft: &mut Draft<'_>, kind: &Kind, dice: &mut Dice, struck: &mut BTreeSet<NodeId>) {
    let either = if dice.per_mille(700) { Table::Receiver } else { Table::Sender };
    let table = kind.table.unwrap_or(either);
    let Some((used, other)) = pick(draft, table, dice, struck) else { return };
    let node = used.record(table).holder();
    struck.insert(node);
    let act = (kind.act)(dice, used.record(table), other.record(table));
    let sent_us = used.at_us.max(other.at_us) + u64::from(used.burst.count) * used.burst.every_us;
    let at_us = dice.between(sent_us + MARGIN_US, sent_us + 4 * MARGIN_US).min(draft.chaos_us * 3 / 4);
    let stopped_us = draft.scenario.sections.store.stopped_us.roll_u64(dice).clamp(1, draft.chaos_us / 20);
    let until_us = match act {
        StoreAct::LowerBudget { .. } => Some((at_us + 10 * stopped_us).min(draft.chaos_us)),
        _ => None,
    };
    let at = When::Time { us: at_us };
    let kind = FaultKind::Store { node, act, stopped_us };
    draft.faults.push(Fault { id: FaultId(0), at, until_us, kind });
    let after_us = until_us.unwrap_or(at_us + stopped_us) + MARGIN_US;
    again(draft, &used, after_us, dice);
    again(draft, &other, after_us, dice);
}

/// The stream goes on, and a frame of before is sent once more.
fn again(draft: &mut Draft<'_>, used: &Used, after_us: u64, dice: &mut Dice) {
    let Used { from, burst, .. } = used;
    let frame = FrameName {
        origin: *from,
        destination: burst.to,
        class: burst.class,
        sequence: dice.below(u64::from(burst.count)),
        copy: 0,
    };
    let latest = draft.chaos_us - 1;
    let replay = Act::Replay { frame, to: burst.to, lane: None };
    push(draft, dice.between(after_us, after_us + MARGIN_US).min(latest), *from, replay);
    let more = Burst { cancel_reserve_every: 0, cancel_admit_every: 0, copies: 1, ..burst.clone() };
    push(draft, dice.between(after_us, after_us + 2 * MARGIN_US).min(latest), *from, Act::Send(more));
}

fn push(draft: &mut Draft<'_>, at_us: u64, node: NodeId, act: Act) {
    draft.actions.push(Action { id: ActionId(0), at_us, node, act });
}

/// What strikes a store as a whole while its node runs, or is about to: the directory goes, or cannot be listed.
fn whole_stores(draft: &mut Draft<'_>, struck: &mut BTreeSet<NodeId>) {
    for place in 0..draft.faults_of(swarm::Kind::RootsRemoved, "root-removed") {
        let mut dice = draft.dice("root-removed", place);
        let Some((used, other)) = pick(draft, Table::Receiver, &mut dice, struck) else { return };
        let node = used.burst.to;
        struck.insert(node);
        let at_us = used.at_us.max(other.at_us) + MARGIN_US;
        let kind = FaultKind::Store { node, act: StoreAct::RemoveStore, stopped_us: 0 };
        draft.faults.push(Fault { id: FaultId(0), at: When::Time { us: at_us }, until_us: None, kind });
        again(draft, &used, at_us + MARGIN_US, &mut dice);
        let us = (at_us + 6 * MARGIN_US).min(draft.chaos_us - 1);
        crashes::crash(draft, When::Time { us }, node, Death::Process, &mut dice);
        again(draft, &other, us + 4 * MARGIN_US, &mut dice);
    }
    for place in 0..draft.faults_of(swarm::Kind::Unlisted, "unlisted") {
        let mut dice = draft.dice("unlisted", place);
        let Some((used, other)) = pick(draft, Table::Receiver, &mut dice, struck) else { return };
        let node = used.burst.to;
        struck.insert(node);
        let from_us = used.at_us.max(other.at_us) + 2 * MARGIN_US;
        let span = Span { from_us, until_us: (from_us + 10 * MARGIN_US).min(draft.chaos_us) };
        let count = dice.below(3) as u32 + 1;
        let strikes = Strikes { operations: vec![DiskOperation::List], skip: 0, count };
        draft.disk_fault(node, span, DiskFault::Error, strikes);
        crashes::crash(draft, When::Time { us: from_us + 1 }, node, Death::Process, &mut dice);
        again(draft, &used, from_us + 8 * MARGIN_US, &mut dice);
    }
}
