//! Parties that flood a node each: who they are, whom they strike, and what they send when.
//!
//! Promise: each party has its own nodes, connections, accounts and rate; nodes of parties are no hubs, and no spokes of a
//! hub. Nothing is drawn where a scenario has no party.

use super::shape::link_between;
use super::{Draft, ring_floods};
use crate::plan::dice::Dice;
use crate::plan::swarm::Kind;
use crate::plan::{Act, Action, Flood, Forgery, PutBack, Reconnect, Signalling};
use crate::units::{ActionId, NodeId};
use groundhog_engine::streams::key::Class;
use std::collections::BTreeSet;

/// Accounts of out-of-band signals are those of parties beyond these.
const SIGNALLERS_FROM: u32 = 1_000;

/// One party.
pub(super) struct Party {
    pub(super) number: u32,
    pub(super) victim: NodeId,
    pub(super) nodes: Vec<NodeId>,
    /// Honest nodes that are linked to the victim.
    pub(super) relays: Vec<NodeId>,
}

pub(super) fn draw(draft: &mut Draft<'_>) {
    if draft.ring.is_some() {
        return ring_floods::draw(draft);
    }
    let parties = parties(draft);
    for party in &parties {
        for node in party.nodes.clone() {
            draft.link(node, party.victim);
        }
        floods(draft, party);
        signals(draft, party);
    }
    rotations(draft, &parties);
    reconnects(draft);
    put_backs(draft);
}

fn parties(draft: &Draft<'_>) -> Vec<Party> {
    let section = &draft.scenario.sections.adversaries;
    let mut dice = draft.dice("parties", 0);
    let count = section.parties.roll_u32(&mut dice);
    let hubs = &draft.shape.hubs;
    let honest: BTreeSet<NodeId> =
        hubs.iter().flat_map(|hub| hub.spokes.iter().copied().chain([hub.node])).collect();
    let mut free: Vec<NodeId> =
        (0..draft.scenario.nodes as u16).map(NodeId).filter(|node| !honest.contains(node)).collect();
    dice.shuffle(&mut free);
    let mut size = section.party_slots.roll_u64(&mut dice);
    let factor = section.party_factor.roll_u64(&mut dice);
    (0..count)
        .zip(hubs)
        .map(|(number, hub)| {
            let taken = usize::try_from(size).unwrap_or(usize::MAX).min(free.len());
            let nodes = free.split_off(free.len() - taken);
            size = size.saturating_mul(factor);
            Party { number, victim: hub.node, nodes, relays: hub.spokes.clone() }
        })
        .filter(|party| !party.nodes.is_empty())
        .collect()
}

pub(super) fn floods(draft: &mut Draft<'_>, party: &Party) {
    let section = &draft.scenario.sections.adversaries;
    let mut dice = draft.dice("flood-of-party", party.number.into());
    let waves = section.flood_waves.roll_u32(&mut dice);
    let wave_us = section.flood_wave_ms.roll_u64(&mut dice) * 1_000;
    // After the rotation that falls into the same part of the run.
    let begin_us = draft.chaos_us / 16 + dice.below(draft.chaos_us / 16 + 1);
    for wave in 0..waves {
        let at_us = begin_us.saturating_add(wave_us.saturating_mul(wave.into()));
        if at_us >= draft.chaos_us {
            return;
        }
        for (node, place) in party.nodes.clone().into_iter().zip(0u32..) {
            let dice = draft.dice("flood-of-node", u64::from(node.0) << 16 | u64::from(wave));
            flood(draft, party, (node, place * waves + wave), at_us, dice);
        }
    }
}

/// One wave of one node: its accounts, and those of them that send again through somebody honest.
fn flood(draft: &mut Draft<'_>, party: &Party, (node, place): (NodeId, u32), at_us: u64, mut dice: Dice) {
    let section = &draft.scenario.sections.adversaries;
    let keys = draft.intensity(Kind::OriginFloods);
    let drawn = section.flood_keys.roll_u32(&mut dice);
    let every_us = section.flood_every_us.roll_u64(&mut dice);
    let most = keys.count(section.flood_keys.bounds().1.max(1).unsigned_abs());
    let relayed_per_mille = section.flood_relayed_per_mille.roll_u64(&mut dice);
    let again_per_mille = section.flood_again_per_mille.roll_u64(&mut dice);
    let application = section.flood_application_per_mille.roll_u64(&mut dice);
    let stamp_ms = section.flood_stamp_ms.roll(&mut dice);
    let forged_per_mille = section.forged_per_mille.roll_u64(&mut dice);
    let relay = dice.pick(&party.relays).copied();
    let relayed = (relay.is_some() || draft.ring.is_some()) && dice.per_mille(relayed_per_mille);
    let via = relay.filter(|_| relayed);
    let class = match dice.per_mille(application) {
        true => Class::Application,
        false => *dice.pick(&[Class::Control, Class::Storage, Class::E2e]).expect("three classes"),
    };
    let forgeries = [Forgery::Transaction, Forgery::Payload, Forgery::Delegation];
    let forged_per_mille = draft.intensity(Kind::ForgedFloods).thin_share(forged_per_mille);
    let forgery = dice.pick(&forgeries).copied().filter(|_| dice.per_mille(forged_per_mille));
    let count = u32::try_from(keys.count(drawn.into())).unwrap_or(u32::MAX);
    if drawn == 0 {
        return;
    }
    let first_key = place.saturating_mul(u32::try_from(most).unwrap_or(u32::MAX));
    let (to, keys, bytes) = (party.victim, party.number, 32);
    let flood =
        Flood { to, via, class, keys, first_key, sequence: 0, count, every_us, bytes, stamp_ms, forgery };
    via.into_iter().for_each(|relay| draft.link(node, relay));
    let of_those = |count: u32| u32::try_from(u64::from(count) * again_per_mille / 1_000).unwrap_or(0);
    if let Some(relay) = relay.filter(|_| of_those(drawn) > 0) {
        draft.link(node, relay);
    }
    let again = of_those(count);
    if let Some(relay) = relay.filter(|_| of_those(drawn).min(again) > 0) {
        let later_us = every_us.saturating_mul(count.into()).saturating_add(50_000);
        let again = Flood { via: Some(relay), sequence: 1, count: again, ..flood.clone() };
        draft.act(at_us.saturating_add(later_us), node, Act::Flood(again));
    }
    if draft.ring.is_some() && !relayed {
        ring_floods::contact(draft, node, to, at_us);
    }
    if flood.count > 0 {
        draft.act(at_us, node, Act::Flood(flood));
    }
}

pub(super) fn signals(draft: &mut Draft<'_>, party: &Party) {
    let section = &draft.scenario.sections.adversaries;
    let mut dice = draft.dice("signals", party.number.into());
    let drawn = section.signals.roll_u64(&mut dice);
    let count = u32::try_from(draft.intensity(Kind::Signals).count(drawn)).unwrap_or(u32::MAX);
    if count > 0 {
        let every_us = section.flood_every_us.roll_u64(&mut dice);
        let at_us = dice.below(draft.chaos_us / 2 + 1);
        let keys = SIGNALLERS_FROM + party.number;
        draft.act(at_us, party.victim, Act::Signalling(Signalling { keys, count, every_us }));
    }
}

/// A rotation retires every connection of a party in a row.
fn rotations(draft: &mut Draft<'_>, parties: &[Party]) {
    // As many whatever the number of nodes, as there are parties.
    let drawn = draft.scenario.sections.adversaries.rotations.roll_u64(&mut draft.dice("rotations", 0));
    let count = draft.intensity(Kind::Rotations).count(drawn);
    for (place, party) in (0..count).zip(parties.iter().cycle()) {
        let mut dice = draft.dice("rotation-of-party", place);
        let part_us = draft.chaos_us / (count + 1);
        let at_us = part_us * (place + 1) + dice.below(part_us / 16 + 1);
        for node in party.nodes.clone() {
            let after_us = draft.scenario.sections.adversaries.away_us.roll_u64(&mut dice);
            draft.retire((at_us, after_us), node, party.victim);
        }
    }
}

/// Honest connections, those of hubs more often than not.
fn reconnects(draft: &mut Draft<'_>) {
    for place in 0..draft.faults_of(Kind::Reconnects, "reconnects") {
        let mut dice = draft.dice("reconnect", place);
        let (node, peer) = draft.shape.busy_link(&mut dice);
        let after_us = draft.scenario.sections.adversaries.away_us.roll_u64(&mut dice);
        let at_us = dice.below(draft.chaos_us);
        draft.retire((at_us, after_us), node, peer);
    }
}

fn put_backs(draft: &mut Draft<'_>) {
    for place in 0..draft.faults_of(Kind::PutBacks, "put-backs") {
        let mut dice = draft.dice("put-back", place);
        let node = draft.busy_node(&mut dice);
        let at_us = dice.between(draft.chaos_us / 4, draft.chaos_us - 1);
        let taken_us = dice.between(at_us / 8, at_us);
        let down_us = draft.scenario.sections.crashes.down_us.roll_u64(&mut dice);
        draft.act(at_us, node, Act::PutBack(PutBack { taken_us, down_us }));
    }
}

impl Draft<'_> {
    pub(super) fn act(&mut self, at_us: u64, node: NodeId, act: Act) {
        // Ids are given in the end, in order of time.
        let at_us = at_us.min(self.chaos_us - 1);
        self.actions.push(Action { id: ActionId(0), at_us, node, act });
    }

    /// A connection is retired, and back before the chaos ends.
    fn retire(&mut self, (at_us, after_us): (u64, u64), node: NodeId, peer: NodeId) {
        let at_us = at_us.min(self.chaos_us - 1);
        let after_us = after_us.min(self.chaos_us - 1 - at_us);
        self.act(at_us, node, Act::Reconnect(Reconnect { peer, after_us }));
    }

    /// The two are linked from now on.
    pub(super) fn link(&mut self, one: NodeId, other: NodeId) {
        let ends = (one.min(other), one.max(other));
        if !self.shape.links.iter().any(|link| (link.a, link.b) == ends) {
            let link = link_between(self.scenario, self.seed, ends, &self.levels);
            self.shape.links.push(link);
            self.shape.links.sort_by_key(|link| (link.a, link.b));
        }
    }
}
