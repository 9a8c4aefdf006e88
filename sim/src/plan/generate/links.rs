//! What connections carry beside plain frames, and connections that are torn down and made again.

use super::Draft;
use crate::plan::dice::Dice;
use crate::plan::swarm::Kind;
use crate::plan::{Act, Action, Burst, ChunksPlan, LinkFault, LinksPlan, NamespacePlan, ReferencesPlan};
use crate::units::{ActionId, NodeId};
use groundhog_engine::streams::key::Class;

/// What the plan's engines say of it.
pub(super) fn engines(draft: &Draft<'_>) -> LinksPlan {
    let peers = &draft.scenario.sections.peers;
    let mut dice = draft.dice("peers", 0);
    let declares = peers.namespace_bursts.bounds().1 > 0;
    let message_limit_per_mille = peers.message_limit_per_mille.roll_u64(&mut dice);
    let delegates_message_limit = dice.per_mille(message_limit_per_mille);
    let (sent, received) =
        (peers.references_sent.roll_u32(&mut dice), peers.references_received.roll_u32(&mut dice));
    let chunk_bytes = peers.chunk_bytes.roll_u32(&mut dice);
    let chunks = ChunksPlan {
        chunk_bytes,
        pending_messages: peers.pending_messages.roll_u32(&mut dice),
        cost_bytes: peers.reassembly_bytes.roll_u64(&mut dice),
        peer_cost_bytes: peers.peer_reassembly_bytes.roll_u64(&mut dice),
        tombstones: peers.tombstones.roll_u32(&mut dice),
    };
    LinksPlan {
        namespace: declares.then_some(NamespacePlan { delegates_message_limit }),
        references: (sent > 0).then_some(ReferencesPlan { sent, received }),
        chunks: (chunk_bytes > 0).then_some(chunks),
        mailbox_messages: peers.mailbox_messages.roll_u32(&mut dice),
    }
}

pub(super) fn draw(draft: &mut Draft<'_>) {
    for place in 0..draft.count("namespace", &draft.scenario.sections.peers.namespace_bursts) {
        namespace_burst(draft, draft.dice("namespace", place));
    }
    for place in 0..draft.count("long-messages", &draft.scenario.sections.peers.long_bursts) {
        long_burst(draft, draft.dice("long-messages", place));
    }
}

/// Connections are torn down once everything else is drawn.
pub(super) fn draw_faults(draft: &mut Draft<'_>) {
    for place in 0..draft.faults_of(Kind::DroppedConnections, "dropped-connection") {
        let mut dice = draft.dice("dropped-connection", place);
        let ends = draft.shape.busy_link(&mut dice);
        let lasts_ms = draft.scenario.sections.peers.dropped_ms.roll_u64(&mut dice);
        let span = draft.span(&mut dice, lasts_ms);
        draft.link_fault(ends, false, span, LinkFault::DropConnection);
    }
}

/// Payloads of the namespace, over their origin's own connection or over a relay.
fn namespace_burst(draft: &mut Draft<'_>, mut dice: Dice) {
    let peers = &draft.scenario.sections.peers;
    let (from, to) = draft.shape.busy_link(&mut dice);
    let relayed_per_mille = peers.namespace_relayed_per_mille.roll_u64(&mut dice);
    let neighbours = draft.shape.neighbours(from);
    let common: Vec<NodeId> =
        draft.shape.neighbours(to).into_iter().filter(|node| neighbours.contains(node)).collect();
    let via = if dice.per_mille(relayed_per_mille) { dice.pick(&common).copied() } else { None };
    let burst = Burst {
        via,
        count: peers.namespace_messages.roll_u32(&mut dice),
        every_us: peers.namespace_every_us.roll_u64(&mut dice),
        copies: peers.namespace_copies.roll_u32(&mut dice),
        copy_every_us: peers.namespace_copy_every_us.roll_u64(&mut dice),
        envelopes: peers.envelopes.roll_u32(&mut dice),
        ..Burst::one(to, Class::Application)
    };
    push(draft, &mut dice, from, burst);
}

/// Messages that do not fit a frame.
fn long_burst(draft: &mut Draft<'_>, mut dice: Dice) {
    let peers = &draft.scenario.sections.peers;
    let (from, to) = draft.shape.busy_link(&mut dice);
    let burst = Burst {
        count: peers.long_messages.roll_u32(&mut dice),
        every_us: peers.long_every_us.roll_u64(&mut dice),
        bytes: peers.long_bytes.roll_u32(&mut dice),
        copies: peers.long_copies.roll_u32(&mut dice),
        copy_every_us: peers.long_copy_every_us.roll_u64(&mut dice),
        ..Burst::one(to, *dice.pick(&Class::ALL).expect("there are four classes"))
    };
    push(draft, &mut dice, from, burst);
}

fn push(draft: &mut Draft<'_>, dice: &mut Dice, node: NodeId, burst: Burst) {
    let at_us = dice.below(draft.chaos_us * 3 / 4 + 1);
    draft.actions.push(Action { id: ActionId(0), at_us, node, act: Act::Send(burst) });
}
