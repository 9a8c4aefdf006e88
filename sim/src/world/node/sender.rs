//! The sending task of one class: reserves, signs and pushes, in the order in which messages were intended.
//!
//! Promise: a class's transactions reach the lanes in signing order, as from one sending task (seed 000); a caller that
//! gives up abandons only its wait.

use super::{LifeContext, chunks, lane};
use crate::ledger::event::{Event, LossCause, Transaction as Named};
use crate::units::SimTime;
use crate::world::World;
use crate::world::workload::{Job, SignedMessage};
use groundhog_engine::commit::CommitError;
use groundhog_engine::streams::key::{Class, StreamKey};
use groundhog_engine::streams::link_local::Epoch;
use groundhog_engine::streams::message::MessageKind;
use groundhog_engine::streams::payload::Payload;
use groundhog_engine::streams::transaction::{Draft, Transaction, TransactionId};
use groundhog_engine::streams::{Refusal, ReserveError, Reserving};
use groundhog_engine::units::Sequence;
use std::collections::VecDeque;
use std::num::NonZeroU64;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

struct Waiting {
    job: Job,
    reservation: Reserving,
}

/// The callers that wait for their reservations, in the order of their messages.
#[derive(Default)]
struct Callers {
    waiting: VecDeque<Waiting>,
    /// Nobody gives up before: the callers are looked through only from then on.
    nobody_leaves_before: Option<SimTime>,
}

impl Callers {
    fn join(&mut self, job: Job, reservation: Reserving) {
        self.nobody_leaves_before = soonest(self.nobody_leaves_before, job.give_up_at);
        self.waiting.push_back(Waiting { job, reservation });
    }

    fn let_go(&mut self, context: &LifeContext, now: SimTime) {
        if self.nobody_leaves_before.is_none_or(|at| now < at) {
            return;
        }
        self.waiting.retain(|caller| !gave_up(context, &caller.job, now));
        self.nobody_leaves_before =
            self.waiting.iter().fold(None, |at, caller| soonest(at, caller.job.give_up_at));
    }
}

fn soonest(one: Option<SimTime>, other: Option<SimTime>) -> Option<SimTime> {
    one.into_iter().chain(other).min()
}

/// Sends a class's messages for as long as the life goes on.
pub async fn run(context: Arc<LifeContext>, class: Class) {
    let mut callers = Callers::default();
    loop {
        let (job, answer) =
            std::future::poll_fn(|task| next_reserved(&context, class, &mut callers, task)).await;
        match answer {
            Ok(sequence) => sign_and_push(&context, &job, sequence).await,
            Err(error) => refused(&context, &job, &error),
        }
    }
}

/// Takes new jobs, lets go of callers that gave up, and completes with the first message whose sequence is released.
fn next_reserved(
    context: &LifeContext,
    class: Class,
    callers: &mut Callers,
    task: &mut Context<'_>,
) -> Poll<(Job, Result<Sequence, ReserveError>)> {
    let (node, life) = (context.node, context.life);
    let take = |world: &mut World| {
        let job = world.take_job(node, life, class, task.waker())?;
        world.node(node).in_hand.insert(job.message);
        let signer = world.nodes[node.index()].identity.signer();
        Some((job, signer, world.nodes[job.to.index()].identity.did()))
    };
    while let Some((job, signer, destination)) = context.shared.with(take) {
        callers.join(job, context.streams.reserve(&signer, destination, class, NonZeroU64::MIN));
    }
    callers.let_go(context, context.shared.with(|world| world.now()));
    let Some(first) = callers.waiting.front_mut() else { return Poll::Pending };
    match Pin::new(&mut first.reservation).poll(task) {
        Poll::Pending => Poll::Pending,
        Poll::Ready(answer) => {
            let entry = callers.waiting.pop_front().expect("it was the first");
            Poll::Ready((entry.job, answer.map(|range| range.first)))
        }
    }
}

fn gave_up(context: &LifeContext, job: &Job, now: SimTime) -> bool {
    if job.give_up_at.is_none_or(|at| now < at) {
        return false;
    }
    not_sent(context, job, LossCause::CallerGone);
    true
}

fn not_sent(context: &LifeContext, job: &Job, cause: LossCause) {
    let (node, message) = (context.node, job.message);
    context.shared.with(|world| {
        if world.is_alive(node, context.life) {
            world.node(node).in_hand.swap_remove(&message);
            world.record(&Event::NotSent { message, node, cause });
        }
    });
}

fn refused(context: &LifeContext, job: &Job, error: &ReserveError) {
    let (node, life, message) = (context.node, context.life, job.message);
    context.shared.with(|world| {
        if world.is_alive(node, life) {
            let refusal = Some(error.id());
            world.record(&Event::ReserveAnswered { message, node, life, answer: None, refusal });
        }
    });
    let cause = match error {
        ReserveError::Refused(Refusal::Commit(CommitError::Failed(_))) => LossCause::FailedBatch,
        _ => LossCause::Refused,
    };
    not_sent(context, job, cause);
}

async fn sign_and_push(context: &LifeContext, job: &Job, sequence: Sequence) {
    let (node, life, message) = (context.node, context.life, job.message);
    if let Some(planted) = &context.planted {
        planted.before_signing().await;
    }
    let (destination, origin, signer) = context.shared.with(|world| {
        if world.is_alive(node, life) {
            let answer = Some(sequence);
            world.record(&Event::ReserveAnswered { message, node, life, answer, refusal: None });
        }
        let signer = world.nodes[node.index()].identity.signer();
        (world.nodes[job.to.index()].identity.did(), context.did, signer)
    });
    let data = data_of(context, job);
    let draft = Draft {
        destination,
        id: transaction_id(job),
        sequence,
        reply_via: None,
        data: &data,
        issued: context.host.wall_now(),
        lifetime_ms: context.lifetime_ms,
    };
    let transaction = Transaction::sign(&draft, &signer, context.network_id, context.crypto)
        .expect("the workload's messages are within the limits of a transaction");
    let mut work = transaction.signing_work();
    let (digest, expires) = (transaction.digest(), transaction.expires());
    let payload = Payload::sign(transaction, &signer, context.network_id, context.crypto);
    let second = payload.signing_work();
    work.signatures += second.signatures;
    work.hashed_bytes += second.hashed_bytes;
    work.coded_bytes += second.coded_bytes;
    let (frames, cutting) = chunks::frames(context, &payload, &draft, &signer);
    lane::add(&mut work, cutting);
    context.host.charge(work).await;
    let stream = StreamKey { network_id: context.network_id, origin, destination, class: job.class };
    let signed = SignedMessage {
        from: node,
        to: job.to,
        via: job.via,
        route: job.route,
        transaction: Named { stream, sequence, digest, expires },
        frames,
        intended: job.intended,
        exposed: false,
    };
    context.shared.with(|world| {
        if world.is_alive(node, life) {
            world.node(node).in_hand.swap_remove(&message);
            world.send_signed(life, message, signed);
        }
    });
}

/// The message's data: a payload of the namespace, or its kind, then what tells it apart, then zeros.
fn data_of(context: &LifeContext, job: &Job) -> Vec<u8> {
    let plain = plain_data_of(job);
    match &context.application {
        Some(application) if job.envelopes > 0 => {
            let epoch = context.shared.with(|world| world.nodes[job.to.index()].epoch);
            application.payload(job.message, job.envelopes, epoch.unwrap_or(Epoch([0; 16])), &plain)
        }
        _ => plain,
    }
}

fn plain_data_of(job: &Job) -> Vec<u8> {
    let mut data = vec![0; usize::try_from(job.bytes).expect("a length fits").max(1)];
    data[0] = MessageKind::plain(job.class) as u8;
    let name = transaction_id(job).0;
    let length = name.len().min(data.len() - 1);
    data[1..=length].copy_from_slice(&name[..length]);
    data
}

fn transaction_id(job: &Job) -> TransactionId {
    let mut id = [0; 16];
    id[..4].copy_from_slice(&job.message.action.0.to_le_bytes());
    id[4..8].copy_from_slice(&job.message.ordinal.to_le_bytes());
    TransactionId(id)
}
