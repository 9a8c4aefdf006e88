//! Parties on a ring: members as any others, that flood one member each, over connections of their own or behind whoever
//! is nearest before it.
//!
//! Promise: a party's node that opens a connection does it as a newcomer does, out of band; nothing is drawn where a
//! scenario has no party.

use super::Draft;
use super::flooders::{Party, floods, signals};
use crate::plan::{Act, Burst, Route};
use crate::units::NodeId;
use groundhog_engine::streams::key::Class;

/// How long before its flood a node opens its connection.
const CONTACT_BEFORE_US: u64 = 200_000;

pub(super) fn draw(draft: &mut Draft<'_>) {
    for party in parties(draft) {
        floods(draft, &party);
        signals(draft, &party);
    }
}

fn parties(draft: &Draft<'_>) -> Vec<Party> {
    let section = &draft.scenario.sections.adversaries;
    let mut dice = draft.dice("parties", 0);
    let count = section.parties.roll_u32(&mut dice);
    let mut free: Vec<NodeId> = (0..draft.scenario.nodes as u16).map(NodeId).collect();
    dice.shuffle(&mut free);
    let mut size = section.party_slots.roll_u64(&mut dice);
    let factor = section.party_factor.roll_u64(&mut dice);
    let mut parties = Vec::new();
    for number in 0..count {
        let Some(victim) = free.pop() else { break };
        let taken = usize::try_from(size).unwrap_or(usize::MAX).min(free.len());
        let nodes = free.split_off(free.len() - taken);
        size = size.saturating_mul(factor);
        parties.push(Party { number, victim, nodes, relays: Vec::new() });
    }
    parties
}

/// A connection to the victim, opened shortly before a flood.
pub(super) fn contact(draft: &mut Draft<'_>, node: NodeId, victim: NodeId, flood_us: u64) {
    let hello = Burst {
        to: victim,
        via: None,
        route: Route::OutOfBand,
        class: Class::Control,
        count: 1,
        every_us: 0,
        bytes: 64,
        copies: 1,
        copy_every_us: 0,
        cancel_reserve_every: 0,
        cancel_admit_every: 0,
        cancel_after_us: 0,
        envelopes: 0,
    };
    draft.act(flood_us.saturating_sub(CONTACT_BEFORE_US), node, Act::Send(hello));
}
