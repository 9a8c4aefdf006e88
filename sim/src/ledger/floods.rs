//! What floods of fresh accounts took, and what they cost those who are honest.
//!
//! Promise: counted from arrivals and answers; only a run whose plan has a flood counts anything. Whatever belongs to the
//! workload is honest, and nothing else is.

use super::event::{Answer, Event};
use crate::laws::reference_slots::{ReferenceSlots, Seen};
use crate::outcome::FloodFigures;
use crate::plan::{Act, Plan};
use crate::units::{NodeId, SimTime};
use groundhog_engine::streams::record::Introducer;
use groundhog_engine::streams::window::VerdictKind;
use std::collections::{BTreeMap, BTreeSet};

/// One node that is flooded.
struct Victim {
    figures: FloodFigures,
    slots: ReferenceSlots,
    /// Edges that were refused, and since when.
    refused: BTreeMap<Introducer, SimTime>,
    /// Whom each open arrival came through, by its transaction.
    open: BTreeMap<[u8; 32], Introducer>,
}

/// See the module.
pub struct Floods {
    floor: u64,
    victims: BTreeMap<NodeId, Victim>,
}

impl Floods {
    /// For one run of `plan`.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        // The size of an attacker is that of its own connections, whatever it sends through others.
        let mut hops: BTreeMap<NodeId, BTreeSet<NodeId>> = BTreeMap::new();
        for action in &plan.actions {
            if let Act::Flood(flood) = &action.act {
                hops.entry(flood.to).or_default().insert(action.node);
            }
        }
        let bounds = plan.engines.slot_bounds();
        let bound = bounds.most_streams().min(plan.engines.stream_capacity.into());
        let victim = |(victim, hops): (NodeId, BTreeSet<NodeId>)| {
            let figures = FloodFigures::new(victim, hops.len() as u64, bound);
            let (slots, refused, open) = Default::default();
            (victim, Victim { figures, slots, refused, open })
        };
        Self { floor: bounds.floor.into(), victims: hops.into_iter().map(victim).collect() }
    }

    /// Reads one event.
    #[inline]
    pub fn event(&mut self, at: SimTime, event: &Event<'_>) {
        if self.victims.is_empty() {
            return;
        }
        let (Event::Booted { node, .. } | Event::Arrived { node, .. } | Event::Answered { node, .. }) = event
        else {
            return;
        };
        if let Some(victim) = self.victims.get_mut(node) {
            victim.event(at, event, self.floor);
        }
    }

    /// The figures of every victim, those of fewer slots first.
    #[must_use]
    pub fn finish(self) -> Vec<FloodFigures> {
        let ended = |mut victim: Victim| {
            victim.figures.still_refused = victim.refused.len() as u64;
            victim.figures
        };
        let mut figures: Vec<FloodFigures> = self.victims.into_values().map(ended).collect();
        figures.sort_by_key(|figures| (figures.slots, figures.victim));
        figures
    }
}

impl Victim {
    fn event(&mut self, at: SimTime, event: &Event<'_>, floor: u64) {
        let seen = self.slots.event(event);
        match event {
            Event::Booted { .. } => self.open.clear(),
            Event::Arrived { transaction, introducer, .. } => {
                self.open.insert(transaction.digest, *introducer);
            }
            Event::Answered { message, transaction, answer, .. } => {
                let introducer = self.open.remove(&transaction.digest);
                let honest = message.is_some();
                if let Some(Seen::Refused(refused)) = seen {
                    self.figures.refused(honest, refused.most < floor);
                    self.refused.entry(refused.introducer).or_insert(at);
                } else if *answer == Answer::Verdict(VerdictKind::First) {
                    self.figures.taken += u64::from(!honest);
                    let total = self.slots.surely().values().sum();
                    self.figures.most_streams = self.figures.most_streams.max(total);
                    if let Some(since) = introducer.and_then(|edge| self.refused.remove(&edge)) {
                        self.figures.readmitted += 1;
                        self.figures.longest_refusal_ns = self.figures.longest_refusal_ns.max(at.0 - since.0);
                    }
                }
            }
            _ => {}
        }
    }
}
