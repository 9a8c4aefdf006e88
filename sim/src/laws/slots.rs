//! `streams/slots`: the shares of the receiver's table hold, whoever floods it.
//!
//! A refusal through a slot with fewer streams than its floor, or with less than its fair claim while the pool has room; an
//! admission through one that has its claim; a share or the pool or the table beyond its bound; and a connection on a dirtier
//! slot than a free one: each is seen from arrivals, answers and connections alone. Below its floor
//! nobody is refused where the table's hard bound cannot be met first.

use super::per_node::PerNode;
use super::reference_slots::{ReferenceSlots, RefusedNew, Seen};
use super::store_acts::StoreActs;
use super::{Law, Setting, View};
use crate::ledger::event::{Answer, Event};
use crate::outcome::Violation;
use crate::units::{NodeId, SimTime};
use groundhog_engine::streams::record::Introducer;
use groundhog_engine::streams::slots::SlotBounds;
use groundhog_engine::streams::window::VerdictKind;

/// The limit that stands for connections that were refused for what others had charged to their slots.
pub const NEWCOMER: &str = "newcomer-in-a-charged-slot";

/// See the module.
pub struct Slots {
    bounds: SlotBounds,
    capacity: u64,
    nodes: PerNode<ReferenceSlots>,
    newcomers: u64,
    acts: StoreActs,
}

impl Slots {
    /// Its id.
    pub const ID: &'static str = "streams/slots";
    /// What it states.
    pub const STATES: &'static str = "A party with many origins and k slots can be refused only on those k slots; above its floor a slot has its \
         fair claim on the pool and no more; the shares and the table stay within their bounds, and a connection takes the \
         cleanest free slot (000, Receiver streams by connection slot).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        let engines = &setting.plan.engines;
        let (bounds, capacity) = (engines.slot_bounds(), engines.stream_capacity.into());
        let acts = StoreActs::of(setting);
        Self { bounds, capacity, nodes: PerNode::default(), newcomers: 0, acts }
    }

    fn beyond(&mut self, node: NodeId) -> Option<String> {
        let SlotBounds { floor, pool, inbox, self_share, .. } = self.bounds;
        let surely = self.nodes.at(node).surely();
        let of = |introducer| surely.get(&introducer).copied().unwrap_or(0);
        let total: u64 = surely.values().sum();
        let pooled: u64 = surely
            .iter()
            .filter(|(introducer, _)| matches!(introducer, Introducer::Slot(_)))
            .map(|(_, charged)| charged.saturating_sub(floor.into()))
            .sum();
        let most = self.bounds.most_streams().min(self.capacity);
        let bounds = [
            ("the table", total, most),
            ("the pool", pooled, pool.into()),
            ("the inbox", of(Introducer::Inbox), inbox.into()),
            ("the node itself", of(Introducer::Own), self_share.into()),
        ];
        let (what, charged, bound) = bounds.into_iter().find(|(_, charged, bound)| charged > bound)?;
        Some(format!(
            "{node} admitted a new stream, and {what} has {charged} that are not spent: {bound} is its bound"
        ))
    }

    /// Why a refusal was wrong, for sure.
    fn refused(&mut self, node: NodeId, refused: &RefusedNew) -> Option<String> {
        let RefusedNew { introducer, most, .. } = *refused;
        let floor = self.bounds.floor;
        let below = matches!(introducer, Introducer::Slot(_))
            && most < u64::from(floor)
            && self.capacity >= self.bounds.most_streams();
        if below {
            return Some(format!(
                "{node} refused a new stream through {introducer}, which had at most {most} of the {floor} streams of its floor"
            ));
        }
        let within = self.nodes.at(node).refused_within_claim(refused, self.capacity, &self.bounds)?;
        Some(format!("{node} refused a new stream through {within}"))
    }

    fn of_event(&mut self, node: NodeId, event: &Event<'_>) -> Option<String> {
        if let Event::ConnectionAdmitted { slot, peer, .. } = event
            && let Some((other, charged, most)) = self.nodes.at(node).cleaner_than(*slot, &self.bounds)
        {
            self.nodes.at(node).event(event);
            let other = match other {
                None => "a free slot has none".to_owned(),
                Some(other) => format!("{other}, which is free, has at most {most}"),
            };
            return Some(format!(
                "{node} put its connection to {peer} on {slot} with {charged} streams, and {other}"
            ));
        }
        if let Event::Arrived { .. } = event {
            self.nodes.at(node).held_to(self.bounds);
        }
        let seen = self.nodes.at(node).event(event);
        if let Some(Seen::BegunBeyond(over)) = seen {
            return Some(format!("{node} admitted a new stream through {over}"));
        }
        if let Some(Seen::Refused(refused)) = seen {
            let honest = matches!(event, Event::Answered { message: Some(_), .. });
            let newcomer =
                refused.own < u64::from(self.bounds.floor) && refused.most >= u64::from(self.bounds.floor);
            self.newcomers += u64::from(honest && newcomer);
            return self.refused(node, &refused);
        }
        match event {
            Event::Answered { answer: Answer::Verdict(VerdictKind::First), .. } => self.beyond(node),
            _ => None,
        }
    }
}

/// The node that an event of these laws is of.
pub(crate) const fn node_of(event: &Event<'_>) -> Option<NodeId> {
    match event {
        Event::Booted { node, .. }
        | Event::Arrived { node, .. }
        | Event::Answered { node, .. }
        | Event::ConnectionAdmitted { node, .. }
        | Event::ConnectionRetired { node, .. } => Some(*node),
        _ => None,
    }
}

impl Law for Slots {
    law_identity!(Outcome reads FaultBegan, Booted, Arrived, Answered, ConnectionAdmitted, ConnectionRetired);

    fn event(&mut self, at: SimTime, event: &Event<'_>, _view: &dyn View, broken: &mut Vec<Violation>) {
        if let Event::FaultBegan { fault } = event
            && let Some(touch) = self.acts.get(*fault)
        {
            self.nodes.at(touch.node).touched(touch);
        }
        let Some(node) = node_of(event) else { return };
        if let Some(saw) = self.of_event(node, event) {
            broken.push(Violation { law: Self::ID, at, node: Some(node), saw });
        }
    }

    fn limits(&self, into: &mut std::collections::BTreeMap<&'static str, u64>) {
        if self.newcomers > 0 {
            *into.entry(NEWCOMER).or_default() += self.newcomers;
        }
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
#[path = "slots_tests.rs"]
mod tests;
