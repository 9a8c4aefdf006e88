//! The ring, who is on it when, and the first contact of each node that joins.

use super::Draft;
use crate::plan::dice::Dice;
use crate::plan::swarm::{Intensity, Kind, Levels};
use crate::plan::{Act, Action, Burst, Draw, LinkTemplate, RingPlan, Route, Scenario};
use crate::units::{ActionId, NodeId};
use groundhog_engine::streams::key::Class;

/// How long after a join its node makes its first contact: long enough for any store to open.
const CONTACT_AFTER_US: u64 = 2_000_000;

/// The ring of a seed, if the scenario has one.
pub(super) fn draw(scenario: &Scenario, seed: u64, levels: &Levels) -> Option<RingPlan> {
    let keys = &scenario.sections.ring;
    let mut dice = Dice::new(seed, "ring", 0);
    let successors = keys.successors.roll_u32(&mut dice) as u8;
    (successors > 0).then(|| RingPlan {
        successors,
        maintenance_ms: keys.maintenance_ms.roll_u64(&mut dice),
        hop_budget: keys.hop_budget.roll_u32(&mut dice) as u8,
        hand_off_ms: keys.hand_off_ms.roll_u64(&mut dice),
        outside: outside(scenario, seed, levels),
        links: template(scenario, seed, levels),
    })
}

fn outside(scenario: &Scenario, seed: u64, levels: &Levels) -> Vec<NodeId> {
    let mut dice = Dice::new(seed, "outside", 0);
    let drawn = scenario.scaled(&scenario.sections.ring.outside, &mut dice);
    let count = Intensity::of(levels, Kind::LateJoins).count(drawn);
    let mut nodes: Vec<NodeId> = (0..scenario.nodes as u16).map(NodeId).collect();
    dice.shuffle(&mut nodes);
    // Two members at least: a ring of one sends nothing.
    nodes.truncate(count.min(u64::from(scenario.nodes) - 2) as usize);
    nodes.sort_unstable();
    nodes
}

fn template(scenario: &Scenario, seed: u64, levels: &Levels) -> LinkTemplate {
    let links = &scenario.sections.links;
    let mut dice = Dice::new(seed, "ring links", 0);
    let span = |draw: &Draw| {
        let (least, most) = draw.bounds();
        (least as u64, most as u64)
    };
    let of = |kind| Intensity::of(levels, kind);
    let ordered_per_mille = links.ordered_per_mille.roll_u64(&mut dice);
    let loss_per_mille = links.loss_per_mille.roll_u64(&mut dice);
    let duplicate_per_mille = links.duplicate_per_mille.roll_u64(&mut dice);
    LinkTemplate {
        latency_us: span(&links.latency_us),
        jitter_us: span(&links.jitter_us),
        bandwidth_bytes_per_s: span(&links.bandwidth_bytes_per_s),
        channels: span(&links.channels),
        ordered_per_mille: (1_000 - of(Kind::UnorderedChannels).share(1_000 - ordered_per_mille)) as u16,
        loss_per_mille: of(Kind::SteadyLoss).thin_share(loss_per_mille) as u16,
        duplicate_per_mille: of(Kind::SteadyDuplicates).thin_share(duplicate_per_mille) as u16,
    }
}

/// Who joins and leaves when.
pub(super) fn membership(draft: &mut Draft<'_>) {
    let Some(ring) = &draft.ring else { return };
    for node in ring.outside.clone() {
        let mut dice = draft.dice("first join", u64::from(node.0));
        let at_us = dice.below(draft.chaos_us * 3 / 4 + 1);
        join(draft, node, at_us, &mut dice);
    }
    let keys = &draft.scenario.sections.ring;
    for place in 0..draft.faults_of(Kind::Leaves, "leaves") {
        let mut dice = draft.dice("leave", place);
        let (node, _) = draft.shape.pair(&mut dice);
        let at_us = dice.below(draft.chaos_us * 9 / 10 + 1);
        let hand_off_per_mille = keys.hand_off_per_mille.roll_u64(&mut dice);
        let hand_off = dice.per_mille(hand_off_per_mille);
        let back_us = at_us.saturating_add(keys.away_ms.roll_u64(&mut dice) * 1_000);
        push(draft, node, at_us, Act::Leave { hand_off });
        if back_us < draft.chaos_us {
            join(draft, node, back_us, &mut dice);
        }
    }
}

/// A node joins and makes its first contact with some other node, out of band.
fn join(draft: &mut Draft<'_>, node: NodeId, at_us: u64, dice: &mut Dice) {
    push(draft, node, at_us, Act::Join);
    let hello =
        Burst { route: Route::OutOfBand, ..Burst::one(draft.shape.other_than(node, dice), Class::Control) };
    let at_us = at_us.saturating_add(CONTACT_AFTER_US);
    if at_us < draft.chaos_us {
        push(draft, node, at_us, Act::Send(hello));
    }
}

fn push(draft: &mut Draft<'_>, node: NodeId, at_us: u64, act: Act) {
    draft.actions.push(Action { id: ActionId(0), at_us, node, act });
}
