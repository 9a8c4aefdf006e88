//! Messages too long for one frame: cut into envelopes by their sender, put together again at their destination.
//!
//! Promise: an envelope repeats the sequence, id and lifetime of its transaction and reserves nothing of its own; what is put
//! together is verified and admitted like any other, once.

use super::{LifeContext, lane};
use crate::ledger::event::Event;
use crate::ledger::link_event::LinkEvent;
use crate::plan::{ChunksPlan, Plan};
use crate::world::receiving::Inbound;
use bytes::Bytes;
use groundhog_engine::host::Work;
use groundhog_engine::identity::Did;
use groundhog_engine::identity::delegation::Signer;
use groundhog_engine::streams::chunks::{Envelope, Reassembled, Reassembly, ReassemblyLimits, cut};
use groundhog_engine::streams::message::MessageKind;
use groundhog_engine::streams::payload::Payload;
use groundhog_engine::streams::transaction::{Draft, Transaction};
use groundhog_engine::streams::verify::Verified;
use smallvec::{SmallVec, smallvec};

/// What a plan lets a node keep of messages of which pieces are missing.
pub fn reassembly(plan: &Plan) -> Reassembly {
    let Some(chunks) = plan.engines.links.chunks else { return Reassembly::default() };
    let ChunksPlan { pending_messages, cost_bytes, peer_cost_bytes, tombstones, .. } = chunks;
    let bytes = |bytes: u64| usize::try_from(bytes).unwrap_or(usize::MAX);
    Reassembly::new(ReassemblyLimits {
        pending_messages: pending_messages as usize,
        cost_bytes: bytes(cost_bytes),
        peer_cost_bytes: bytes(peer_cost_bytes),
        tombstones: tombstones as usize,
        ..ReassemblyLimits::SEED
    })
}

/// The frames of a payload: itself, or the envelopes of its pieces, whose making costs this much.
pub fn frames(
    context: &LifeContext,
    payload: &Payload,
    draft: &Draft<'_>,
    signer: &Signer,
) -> (SmallVec<[Bytes; 1]>, Work) {
    let whole = payload.encoded().clone();
    let Some(chunks) = context.chunks.filter(|chunks| whole.len() > chunks.chunk_bytes as usize) else {
        return (smallvec![whole], Work::default());
    };
    let pieces = cut(payload, chunks.chunk_bytes as usize).expect("a checked plan's messages can be cut");
    let mut work = Work::default();
    let frames = pieces.map(|piece| {
        let data = piece.encode();
        let draft = Draft { data: &data, ..*draft };
        let envelope = Transaction::sign(&draft, signer, context.network_id, context.crypto)
            .expect("a piece is within the limits of a transaction");
        lane::add(&mut work, envelope.signing_work());
        let payload = Payload::sign(envelope, signer, context.network_id, context.crypto);
        lane::add(&mut work, payload.signing_work());
        payload.encoded().clone()
    });
    (frames.collect(), work)
}

/// Whether a transaction is an envelope.
pub fn is_envelope(verified: &Verified) -> bool {
    verified.transaction().kind() == MessageKind::Chunk
}

/// Takes a verified envelope that came from `peer`: the message that it completes, if it does. What becomes of the frame
/// otherwise is told.
pub fn take(context: &LifeContext, peer: Did, inbound: &Inbound, verified: &Verified) -> Option<Payload> {
    let envelope = match Envelope::of(verified) {
        Ok(envelope) => envelope,
        Err(_) => {
            lane::unverified(context, inbound, "no-envelope");
            return None;
        }
    };
    let now = context.host.wall_now();
    let (taken, event) = {
        let mut reassembly = context.reassembly.lock().expect("one task at a time uses this lock");
        let before = *reassembly.counters();
        let taken = reassembly.take(peer, &envelope, now);
        let counters = reassembly.counters();
        let since = |now: u64, before: u64| u32::try_from(now - before).unwrap_or(u32::MAX);
        let outcome = match &taken {
            Ok(Reassembled::Waits) => "waits",
            Ok(Reassembled::Duplicate) => "duplicate",
            Ok(Reassembled::AlreadyComplete) => "already-complete",
            Ok(Reassembled::Complete(_)) => "complete",
            Err(rejected) => rejected.id(),
        };
        let event = LinkEvent::Chunk {
            message: inbound.message,
            outcome,
            cost_bytes: reassembly.cost_bytes() as u64,
            pending: u32::try_from(reassembly.pending_messages()).unwrap_or(u32::MAX),
            expired: since(counters.expired, before.expired),
            overflowed: since(counters.tombstones_overflowed, before.tombstones_overflowed),
        };
        (taken, event)
    };
    let (node, life) = (context.node, context.life);
    context.shared.with(|world| {
        if world.is_alive(node, life) {
            world.record(&Event::Link { node, life, event });
        }
    });
    match taken {
        Ok(Reassembled::Complete(message)) => match envelope.open(message) {
            Ok(payload) => Some(payload),
            Err(why) => {
                lane::unverified(context, inbound, why.id());
                None
            }
        },
        Ok(_) => {
            context.shared.with(|world| {
                if world.is_alive(node, life) {
                    world.finish_inbound(node, inbound);
                }
            });
            None
        }
        Err(rejected) => {
            lane::unverified(context, inbound, rejected.id());
            None
        }
    }
}
