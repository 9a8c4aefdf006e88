//! Recorded frames that an adversary sends again.

use super::Draft;
use crate::plan::swarm::Kind;
use crate::plan::{Act, Action, Burst, FrameName};
use crate::units::{ActionId, NodeId};
use groundhog_engine::streams::key::Class;
use std::collections::BTreeMap;

/// A burst and the sequence that its first message has if nobody dies before it.
struct Recorded {
    at_us: u64,
    from: NodeId,
    burst: Burst,
    first: u64,
}

pub(super) fn draw(draft: &mut Draft<'_>) {
    let section = &draft.scenario.sections.adversaries;
    let replays = draft.faults_of(Kind::Replays, "replays");
    let recorded = recorded(draft);
    for place in 0..replays {
        let mut dice = draft.dice("replay", place);
        let Some(target) = dice.pick(&recorded) else { return };
        let burst = &target.burst;
        let other_lane_per_mille = section.other_lane_per_mille.roll_u64(&mut dice);
        let lane = if dice.per_mille(other_lane_per_mille) { dice.pick(&Class::ALL).copied() } else { None };
        let frame = FrameName {
            origin: target.from,
            destination: burst.to,
            class: burst.class,
            sequence: target.first + dice.below(u64::from(burst.count)),
            copy: dice.below(u64::from(burst.copies)) as u32,
        };
        let node = match dice.pick(&draft.shape.neighbours(burst.to)) {
            Some(neighbour) => *neighbour,
            None => draft.shape.other_than(burst.to, &mut dice),
        };
        let at_us = dice.between(target.at_us, draft.chaos_us - 1);
        let act = Act::Replay { frame, to: burst.to, lane };
        draft.actions.push(Action { id: ActionId(0), at_us, node, act });
    }
}

fn recorded(draft: &Draft<'_>) -> Vec<Recorded> {
    let mut sends: Vec<(u64, NodeId, Burst)> = draft
        .actions
        .iter()
        .filter(|action| action.at_us < draft.chaos_us)
        .filter_map(|action| match &action.act {
            Act::Send(burst) => Some((action.at_us, action.node, burst.clone())),
            _ => None,
        })
        .collect();
    sends.sort_by_key(|(at_us, node, _)| (*at_us, *node));
    let mut next: BTreeMap<(NodeId, NodeId, Class), u64> = BTreeMap::new();
    sends
        .into_iter()
        .map(|(at_us, from, burst)| {
            let next = next.entry((from, burst.to, burst.class)).or_default();
            let first = *next;
            *next += u64::from(burst.count);
            Recorded { at_us, from, burst, first }
        })
        .collect()
}
