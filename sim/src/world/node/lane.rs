//! The receiving task of one lane of one peer: decodes, verifies and admits in the order of arrival, then handles.
//!
//! Promise: a lane's frames reach admission in arrival order; nothing is dispatched before its verdict is released; credit
//! goes back only when a frame is handled or refused.

use super::{LifeContext, chunks, namespace, settling};
use crate::ledger::event::{Answer, Event, Passage, Transaction as Named};
use crate::ledger::link_event::LinkEvent;
use crate::units::NodeId;
use crate::world::machine::Wait;
use crate::world::receiving::Inbound;
use crate::world::workload::every;
use bytes::Bytes;
use futures_util::future::{Either, select};
use groundhog_engine::commit::CommitError;
use groundhog_engine::flaws::Flaw;
use groundhog_engine::host::Work;
use groundhog_engine::host::observe::RecordName;
use groundhog_engine::store::name::record_name;
use groundhog_engine::streams::key::{Class, StreamKey, Table};
use groundhog_engine::streams::link_local::Link;
use groundhog_engine::streams::payload::Payload;
use groundhog_engine::streams::record::{Introducer, storage_key};
use groundhog_engine::streams::verify::{Verified, VerifyError};
use groundhog_engine::streams::window::VerdictKind;
use groundhog_engine::streams::{AdmitError, Admitting, Arrival, Refusal};
use std::collections::VecDeque;
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::Duration;

/// An admission whose result is not released yet, or whose handler has not run.
struct Waiting {
    inbound: Box<Inbound>,
    transaction: Named,
    passage: Passage,
    record: RecordName,
    /// `None` where a flawed node dispatches without one.
    admission: Option<Admitting>,
    gives_up_after: Option<Duration>,
    /// What the namespace is to act on, where it is one of its payloads.
    payload: Option<Bytes>,
}

/// Boxed, since each is moved from task to task and between polls.
type Queue = Mutex<VecDeque<Box<Waiting>>>;

/// Serves a lane for as long as the life goes on.
pub async fn run(context: Arc<LifeContext>, peer: NodeId, class: Class) {
    let queue = Queue::default();
    // Polled in this order, so that what the first has queued is seen by the second at once.
    futures_util::future::join(admit(&context, peer, class, &queue), handle(&context, class, &queue)).await;
}

async fn admit(context: &LifeContext, peer: NodeId, class: Class, queue: &Queue) {
    let (node, life) = (context.node, context.life);
    loop {
        let mut inbound = std::future::poll_fn(|task| {
            let taken =
                context.shared.with(|world| world.take_inbound(node, life, peer, class, task.waker()));
            taken.map_or(Poll::Pending, Poll::Ready)
        })
        .await;
        let payload = match Payload::decode(std::mem::take(&mut inbound.payload)) {
            Ok(payload) => payload,
            Err(_) => {
                unverified(context, &inbound, "undecodable");
                continue;
            }
        };
        match verify(context, payload).await {
            Ok(verified) if verified.transaction().destination == context.did => {
                if let Some(waiting) = take(context, peer, inbound, verified).await {
                    queue.lock().expect("one task alone uses this lock").push_back(waiting);
                }
            }
            Ok(verified) => relay(context, inbound, verified).await,
            Err(error) => unverified(context, &inbound, error.id()),
        }
    }
}

/// Admits a transaction, or takes its piece of one; what was put together is admitted in its place.
async fn take(
    context: &LifeContext,
    peer: NodeId,
    inbound: Box<Inbound>,
    verified: Verified,
) -> Option<Box<Waiting>> {
    if !chunks::is_envelope(&verified) {
        return Some(submit(context, peer, inbound, &verified, false));
    }
    let peer_did = context.shared.with(|world| world.nodes[peer.index()].identity.did());
    if context.flaws.has(Flaw::ChunkEnvelopesAdmitted) {
        let witness = context.shared.with(|world| world.nodes[context.node.index()].identity.signer());
        let arrival = Arrival { introducer: Introducer::Inbox, link: None, witness: &witness };
        // Nobody waits for it: its admission stands.
        drop(context.streams.admit(&verified, arrival));
    }
    let payload = chunks::take(context, peer_did, &inbound, &verified)?;
    match verify(context, payload).await {
        Ok(whole) if whole.transaction().destination == context.did => {
            Some(submit(context, peer, inbound, &whole, true))
        }
        Ok(_) => {
            unverified(context, &inbound, "other-destination");
            None
        }
        Err(error) => {
            unverified(context, &inbound, error.id());
            None
        }
    }
}

async fn verify(context: &LifeContext, payload: Payload) -> Result<Verified, VerifyError> {
    let mut work = payload.decoding_work();
    let now = context.host.wall_now();
    let verified = {
        let mut verifier = context.verifier.lock().expect("one task at a time uses this lock");
        let verified = verifier.verify(payload, now);
        add(&mut work, verifier.take_work());
        verified
    };
    context.host.charge(work).await;
    verified
}

pub(super) fn add(work: &mut Work, more: Work) {
    work.signatures += more.signatures;
    work.verifications += more.verifications;
    work.hashed_bytes += more.hashed_bytes;
    work.coded_bytes += more.coded_bytes;
}

pub(super) fn unverified(context: &LifeContext, inbound: &Inbound, reason: &'static str) {
    let (node, life) = (context.node, context.life);
    context.shared.with(|world| {
        if world.is_alive(node, life) {
            world.record(&Event::Unverified { message: inbound.message, node, life, reason });
            world.finish_inbound(node, inbound);
        }
    });
}

/// Hands a transaction to the engine: staged at once, in lane order.
fn submit(
    context: &LifeContext,
    peer: NodeId,
    inbound: Box<Inbound>,
    verified: &Verified,
    put_together: bool,
) -> Box<Waiting> {
    let (node, life) = (context.node, context.life);
    let message = inbound.message;
    let (introducer, link) = introduced(context, peer, &inbound);
    // By delegator, whatever the engine's key is. Only the workload's accounts are known beforehand.
    let minted = message.is_none().then(|| verified.transaction().delegation.delegator.did());
    let of_namespace = context.owns(verified.transaction().data());
    let own = peer == inbound.origin;
    let passage = Passage {
        honest: inbound.honest && own,
        copy: inbound.copy,
        link: inbound
            .generation()
            .filter(|_| of_namespace && own && link.is_some())
            .map(|generation| generation.0),
    };
    let (transaction, gives_up_after, witness) = context.shared.with(|world| {
        let transaction = Named {
            stream: StreamKey {
                network_id: context.network_id,
                origin: minted.unwrap_or_else(|| world.nodes[inbound.origin.index()].identity.did()),
                destination: context.did,
                class: verified.transaction().class(),
            },
            sequence: verified.transaction().sequence,
            digest: *verified.digest(),
            expires: verified.transaction().expires(),
        };
        let wall = world.wall_now(node);
        let transaction_of = &transaction;
        world.record(&Event::Arrived {
            message,
            node,
            life,
            wall,
            transaction: transaction_of,
            passage,
            introducer,
        });
        let message = message.filter(|_| inbound.copy == 0 && !inbound.duplicate);
        let gives_up_after = message.and_then(|message| {
            let burst = world.burst_of(message);
            let gives_up = every(burst.cancel_admit_every, message.ordinal);
            gives_up.then(|| Duration::from_micros(burst.cancel_after_us))
        });
        (transaction, gives_up_after, world.nodes[node.index()].identity.signer())
    });
    let arrival = Arrival { introducer, link: link.as_deref(), witness: &witness };
    let trusts_tombstone = put_together && context.flaws.has(Flaw::TombstonesInsteadOfWindow);
    let admission = (!trusts_tombstone).then(|| context.streams.admit(verified, arrival));
    let record = admission.as_ref().and_then(Admitting::record).unwrap_or_else(|| {
        // The tables were not asked: the record that they would have looked at.
        record_name(&storage_key(Table::Receiver, verified.stream()))
    });
    let payload = of_namespace.then(|| verified.transaction().data().clone());
    Box::new(Waiting { inbound, transaction, passage, record, admission, gives_up_after, payload })
}

/// Whom a frame is charged to, and the connection that it came over if that stands.
fn introduced(context: &LifeContext, peer: NodeId, inbound: &Inbound) -> (Introducer, Option<Arc<Link>>) {
    settling::settle(context);
    match inbound.generation() {
        // A handshake comes before its connection is admitted, or over none: what it opens is this node's own.
        None => (Introducer::Own, None),
        Some(_) if inbound.out_of_band => (Introducer::Own, None),
        Some(generation) => {
            let (slot, link) = context.connections.of(peer, generation, context.flaws);
            (Introducer::Slot(slot), link)
        }
    }
}

async fn relay(context: &LifeContext, inbound: Box<Inbound>, verified: Verified) {
    let (node, life) = (context.node, context.life);
    let signer = context.shared.with(|world| world.nodes[node.index()].identity.signer());
    let (transaction, digest) = (verified.transaction().clone(), *verified.digest());
    let named = Named {
        stream: StreamKey {
            network_id: context.network_id,
            origin: transaction.delegation.delegator.did(),
            destination: transaction.destination,
            class: transaction.class(),
        },
        sequence: transaction.sequence,
        digest,
        expires: transaction.expires(),
    };
    let payload = Payload::sign(transaction, &signer, context.network_id, context.crypto);
    context.host.charge(payload.signing_work()).await;
    context.shared.with(|world| {
        if world.is_alive(node, life) {
            world.record(&Event::Relayed { message: inbound.message, node, life });
            world.relay_on(node, &inbound, &named, payload.encoded().clone());
            world.finish_inbound(node, &inbound);
        }
    });
}

async fn handle(context: &LifeContext, class: Class, queue: &Queue) {
    let (node, life) = (context.node, context.life);
    loop {
        let mut waiting = std::future::poll_fn(|_| {
            let first = queue.lock().expect("one task alone uses this lock").pop_front();
            first.map_or(Poll::Pending, Poll::Ready)
        })
        .await;
        let dispatched = match answer_of(context, &mut waiting).await {
            Some(answer) => answered(context, &waiting, answer),
            None => false,
        };
        if dispatched {
            if let Some(payload) = &waiting.payload {
                let origin = waiting.transaction.stream.origin;
                namespace::act(context, waiting.inbound.message, origin, payload);
            }
            Wait::new(context.shared.clone(), move |world| world.start_stall(node, life, class)).await;
            let handler_ns = context.handler_ns;
            Wait::new(context.shared.clone(), move |world| world.start_busy(node, life, handler_ns)).await;
        }
        context.shared.with(|world| {
            if world.is_alive(node, life) {
                if dispatched {
                    world.leaves_mailbox(node, waiting.transaction.stream.class);
                    world.record(&Event::Handled { message: waiting.inbound.message, node, life, class });
                }
                world.finish_inbound(node, &waiting.inbound);
            }
        });
    }
}

/// The caller's answer; `None` when it gave up waiting.
async fn answer_of(context: &LifeContext, waiting: &mut Waiting) -> Option<Answer> {
    let Some(admission) = &mut waiting.admission else {
        return Some(Answer::Verdict(VerdictKind::First));
    };
    let result = match waiting.gives_up_after {
        None => admission.await,
        Some(patience) => match select(admission, context.host.sleep(patience)).await {
            Either::Left((result, _)) => result,
            Either::Right(((), _)) => {
                abandoned(context, waiting);
                return None;
            }
        },
    };
    Some(answer_to(result))
}

/// What an admission's result is to its caller.
pub(super) fn answer_to(result: Result<VerdictKind, AdmitError>) -> Answer {
    match result {
        Ok(verdict) => Answer::Verdict(verdict),
        Err(AdmitError::Replay { .. }) => Answer::Verdict(VerdictKind::Replay),
        Err(AdmitError::Fork { .. }) => Answer::Verdict(VerdictKind::Fork),
        Err(AdmitError::Stale { .. }) => Answer::Verdict(VerdictKind::Stale),
        Err(AdmitError::Refused(Refusal::Commit(CommitError::Failed(_)))) => Answer::FailedBatch,
        Err(AdmitError::Refused(Refusal::Unscheduled(_) | Refusal::Commit(CommitError::Unscheduled))) => {
            Answer::Unscheduled
        }
        Err(error) => Answer::Refused(error.id()),
    }
}

fn abandoned(context: &LifeContext, waiting: &Waiting) {
    let (node, life, message) = (context.node, context.life, waiting.inbound.message);
    context.shared.with(|world| {
        if world.is_alive(node, life) {
            let transaction = &waiting.transaction;
            world.record(&Event::AdmissionAbandoned { message, node, life, transaction });
        }
    });
}

/// Tells the answer; whether the transaction is dispatched.
fn answered(context: &LifeContext, waiting: &Waiting, answer: Answer) -> bool {
    let (node, life) = (context.node, context.life);
    let Waiting { inbound, transaction, passage, record, .. } = waiting;
    let message = inbound.message;
    context.shared.with(|world| {
        if !world.is_alive(node, life) {
            return false;
        }
        let (record, passage) = (*record, *passage);
        world.record(&Event::Answered { message, node, life, transaction, record, passage, answer });
        let Answer::Verdict(verdict) = answer else { return false };
        if !verdict.dispatches() {
            return false;
        }
        if !world.takes_into_mailbox(node, transaction.stream.class) {
            let event = LinkEvent::Dropped { message };
            world.record(&Event::Link { node, life, event });
            return false;
        }
        let (intended_ns, sent_ns) = (inbound.intended.0, inbound.sent.0);
        world.record(&Event::Dispatched { message, node, life, transaction, verdict, intended_ns, sent_ns });
        true
    })
}
