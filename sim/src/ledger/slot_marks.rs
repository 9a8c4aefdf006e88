//! Marks about slots and quotas: which bounds a run has met.
//!
//! Promise: counted from events; a run without slots of its own and without a quota keeps nothing.

use super::event::{Answer, Event};
use super::marks::Mark;
use crate::laws::per_node::PerNode;
use crate::laws::reference_slots::ReferenceSlots;
use crate::plan::Plan;
use groundhog_engine::host::observe::EngineEvent;
use groundhog_engine::streams::key::StreamKey;
use groundhog_engine::streams::record::Introducer;
use groundhog_engine::streams::slots::CapacityBound;
use groundhog_engine::streams::window::VerdictKind;
use std::collections::BTreeSet;

/// See the module.
pub struct SlotMarks {
    /// Whether the plan has bounds that small runs can meet.
    watches: bool,
    floor: u64,
    nodes: PerNode<ReferenceSlots>,
    /// Slots above their floors when they were last looked at.
    over: PerNode<BTreeSet<Introducer>>,
    records: usize,
    /// Streams that were charged in this life, by class.
    charged: PerNode<[BTreeSet<StreamKey>; 4]>,
}

impl SlotMarks {
    /// For one run of `plan`.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        Self {
            watches: plan.engines.slots.is_some(),
            floor: plan.engines.slot_bounds().floor.into(),
            nodes: PerNode::default(),
            over: PerNode::default(),
            records: plan.engines.quota.map_or(usize::MAX, |quota| quota.records as usize),
            charged: PerNode::default(),
        }
    }

    /// The mark that an event reaches.
    pub fn event(&mut self, event: &Event<'_>) -> Option<Mark> {
        match event {
            Event::Engine { event: EngineEvent::BoundMet { introducer, bound, .. }, .. } => {
                return Some(met(*introducer, *bound));
            }
            Event::Engine { node, event: EngineEvent::Quota { stream, charge, .. }, .. } => {
                let charged = &mut self.charged.at(*node)[stream.class.index()];
                let new = charge.refused.is_none() && charged.insert(**stream);
                return (new && charged.len() > self.records).then_some(Mark::QuotaVictim);
            }
            Event::Answered { answer: Answer::Refused(reason), .. } => {
                if let Some(mark) = quota(reason) {
                    return Some(mark);
                }
            }
            Event::Booted { node, .. } => *self.charged.at(*node) = Default::default(),
            _ => {}
        }
        if self.watches { self.slots(event) } else { None }
    }

    fn slots(&mut self, event: &Event<'_>) -> Option<Mark> {
        let node = crate::laws::slots::node_of(event)?;
        let slots = self.nodes.at(node);
        slots.event(event);
        match event {
            Event::ConnectionAdmitted { slot, .. } => {
                let dirty = slots.surely().get(&Introducer::Slot(*slot)).is_some_and(|charged| *charged > 0);
                dirty.then_some(Mark::SlotInheritedDirty)
            }
            Event::Answered { answer: Answer::Verdict(VerdictKind::First), .. } => {
                let over: BTreeSet<Introducer> = slots
                    .surely()
                    .iter()
                    .filter(|(introducer, charged)| {
                        matches!(introducer, Introducer::Slot(_)) && **charged > self.floor
                    })
                    .map(|(introducer, _)| *introducer)
                    .collect();
                let before = std::mem::replace(self.over.at(node), over);
                let crossed = self.over.at(node).iter().any(|slot| !before.contains(slot));
                crossed.then_some(Mark::FloorCrossed)
            }
            _ => None,
        }
    }
}

const fn met(introducer: Introducer, bound: CapacityBound) -> Mark {
    match (introducer, bound) {
        (_, CapacityBound::Claim { over_floor: 2.., .. }) => Mark::ClaimCut,
        (_, CapacityBound::Pool { .. }) => Mark::PoolFull,
        (_, CapacityBound::Table { .. }) => Mark::TableFull,
        (Introducer::Own, _) => Mark::SelfShareMet,
        _ => Mark::SlotRefused,
    }
}

fn quota(reason: &str) -> Option<Mark> {
    match reason {
        "message-rate-exhausted" => Some(Mark::QuotaMessages),
        "byte-rate-exhausted" => Some(Mark::QuotaBytes),
        "quota-table-capacity-exhausted" => Some(Mark::QuotaRecords),
        _ => None,
    }
}
