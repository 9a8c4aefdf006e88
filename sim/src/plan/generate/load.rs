//! What the nodes send: bursts in waves around the hubs, bursts elsewhere, fresh delegatee keys, and the bursts after
//! quiescence that must arrive.

use super::Draft;
use super::shape::Hub;
use crate::plan::dice::Dice;
use crate::plan::swarm::Kind;
use crate::plan::{Act, Action, Burst, Engines, Route as By};
use crate::units::{ActionId, NodeId};
use groundhog_engine::streams::key::Class;
use std::collections::BTreeSet;

/// Where a burst goes.
struct Route {
    from: NodeId,
    to: NodeId,
    via: Option<NodeId>,
    class: Class,
    /// Its wave; `None` for any time.
    wave_us: Option<u64>,
}

pub(super) fn draw(draft: &mut Draft<'_>, engines: &Engines) {
    let bursts = draft.count("bursts", &draft.scenario.sections.load.bursts);
    for place in 0..bursts {
        let mut dice = draft.dice("burst", place);
        let route = route(draft, &mut dice, place);
        let spread = draft.scenario.sections.load.wave_spread_us.roll_u64(&mut dice);
        let at_us = match route.wave_us {
            Some(wave) => wave.saturating_add(dice.below(spread + 1)),
            None => dice.below(draft.chaos_us),
        };
        let burst = burst(draft, &mut dice, &route);
        push(draft, at_us.min(draft.chaos_us - 1), route.from, Act::Send(burst));
    }
    let signers: BTreeSet<NodeId> = draft.actions.iter().flat_map(signers).collect();
    rotations(draft, &signers);
    after_quiesce(draft, engines);
}

/// Who signs because of an action: its node, and the relay, which signs the hop.
fn signers(action: &Action) -> impl Iterator<Item = NodeId> + use<> {
    let via = match &action.act {
        Act::Send(burst) => burst.via,
        _ => None,
    };
    [Some(action.node), via].into_iter().flatten()
}

fn push(draft: &mut Draft<'_>, at_us: u64, node: NodeId, act: Act) {
    // Ids are given in the end, in order of time.
    draft.actions.push(Action { id: ActionId(0), at_us, node, act });
}

fn route(draft: &Draft<'_>, dice: &mut Dice, place: u64) -> Route {
    let load = &draft.scenario.sections.load;
    let hub_per_mille = load.hub_per_mille.roll_u64(dice);
    let relayed_per_mille = load.relayed_per_mille.roll_u64(dice);
    let hubs = &draft.shape.hubs;
    if !hubs.is_empty() && dice.per_mille(hub_per_mille) {
        let hub = &hubs[(place % hubs.len() as u64) as usize];
        let wave = dice.below(hub.waves_us.len().max(1) as u64) as usize;
        let open = open_streams(hub, wave);
        if let Some(stream) = dice.pick(&hub.streams[..open]) {
            let wave_us = hub.waves_us.get(wave).copied();
            let (from, to, class) = (stream.from, stream.to, stream.class);
            // A relayed stream begins where another of the hub's neighbours sits.
            let origin = hub.spokes.iter().find(|spoke| **spoke != to && **spoke != from);
            if let Some(origin) = origin.filter(|_| from == hub.node && dice.per_mille(relayed_per_mille)) {
                return Route { from: *origin, to, via: Some(hub.node), class, wave_us };
            }
            return Route { from, to, via: None, class, wave_us };
        }
    }
    let (from, to) = match dice.pick(&draft.shape.links) {
        Some(link) if dice.per_mille(500) => (link.a, link.b),
        Some(link) => (link.b, link.a),
        None => draft.shape.pair(dice),
    };
    let class = *dice.pick(&Class::ALL).expect("there are four classes");
    Route { from, to, via: None, class, wave_us: None }
}

/// How many of a hub's streams are open in one of its waves: half at first, all in the last.
fn open_streams(hub: &Hub, wave: usize) -> usize {
    let waves = hub.waves_us.len().max(1);
    (hub.streams.len() * (waves + wave + 1)).div_ceil(2 * waves).min(hub.streams.len())
}

fn burst(draft: &Draft<'_>, dice: &mut Dice, route: &Route) -> Burst {
    let load = &draft.scenario.sections.load;
    Burst {
        via: route.via,
        route: if draft.ring.is_some() { By::Ring } else { By::Links },
        count: load.messages.roll_u32(dice),
        every_us: load.every_us.roll_u64(dice),
        bytes: load.bytes.roll_u32(dice),
        copies: draft.intensity(Kind::Copies).copies(load.copies.roll_u32(dice)),
        copy_every_us: load.copy_every_us.roll_u64(dice),
        cancel_reserve_every: draft
            .intensity(Kind::CancelledReservations)
            .every(load.cancel_reserve_every.roll_u32(dice)),
        cancel_admit_every: draft
            .intensity(Kind::CancelledAdmissions)
            .every(load.cancel_admit_every.roll_u32(dice)),
        cancel_after_us: load.cancel_after_us.roll_u64(dice),
        ..Burst::one(route.to, route.class)
    }
}

fn rotations(draft: &mut Draft<'_>, signers: &BTreeSet<NodeId>) {
    for node in signers {
        let mut dice = draft.dice("rotation", u64::from(node.0));
        let every_us = draft.scenario.sections.load.rotate_every_ms.roll_u64(&mut dice) * 1_000;
        if every_us == 0 {
            continue;
        }
        let mut at_us = dice.between(every_us / 2, every_us);
        while at_us < draft.chaos_us {
            push(draft, at_us, *node, Act::RotateDelegatee);
            at_us += dice.between(every_us * 3 / 4, every_us * 5 / 4).max(1_000);
        }
    }
}

/// What is sent once everything has healed. Each node that signs for it takes a fresh delegatee key first where the old
/// one's delegation may have expired by then.
fn after_quiesce(draft: &mut Draft<'_>, engines: &Engines) {
    let settle_us = draft.end_us - draft.chaos_us;
    let bursts = draft.count("after-quiesce", &draft.scenario.sections.load.after_quiesce_bursts);
    let mut signers = BTreeSet::new();
    for place in 0..bursts {
        let mut dice = draft.dice("after-quiesce", place);
        let route = route(draft, &mut dice, place);
        let full = burst(draft, &mut dice, &route);
        let burst = Burst {
            count: full.count.min(4),
            every_us: full.every_us.min(1_000),
            copies: 1,
            cancel_reserve_every: 0,
            cancel_admit_every: 0,
            ..full
        };
        let at_us = draft.chaos_us + settle_us / 3 + dice.below(settle_us / 20 + 1);
        signers.extend([Some(route.from), route.via].into_iter().flatten());
        push(draft, at_us, route.from, Act::Send(burst));
    }
    if engines.delegation_lifetime_ms * 1_000 <= draft.end_us * 2 {
        for node in signers {
            push(draft, draft.chaos_us + settle_us / 4, node, Act::RotateDelegatee);
        }
    }
}
