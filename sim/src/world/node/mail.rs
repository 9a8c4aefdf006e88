//! A node's own mail: drain passes over its relay inbox, and the application that takes what was dispatched.
//!
//! Promise: a pass delivers what it reads in order, through the same admission as everything else, and ends where custody
//! is full; mail is the application's only once the take is durable.

use super::LifeContext;
use super::lane::answer_to;
use crate::laws::stall_ends::CUSTODY_FULL;
use crate::ledger::collector::NO_LATENCY;
use crate::ledger::event::{Answer, Event, MailStep, Passage};
use crate::world::mail::{Delivery, Untaken};
use groundhog_engine::store::name::record_name;
use groundhog_engine::streams::Arrival;
use groundhog_engine::streams::inbox::HeldMail;
use groundhog_engine::streams::key::Table;
use groundhog_engine::streams::record::{Introducer, storage_key};
use groundhog_engine::streams::verify::Verified;
use groundhog_engine::streams::window::VerdictKind;
use std::sync::Arc;
use std::task::Context;
use std::time::Duration;

/// Why mail is left where it is: a later pass may deliver it.
const HELD_AHEAD: &str = "held-ahead";

/// Drains the inbox again and again: a member of a ring at its maintenance passes, any other node at times of its own.
pub async fn drain(context: Arc<LifeContext>, every_us: u64) {
    let (node, life) = (context.node, context.life);
    let is_member = context.shared.with(|world| world.plan.ring.is_some());
    loop {
        if is_member {
            let next = |task: &mut Context<'_>| {
                context.shared.with(|world| world.next_drain(node, life, task.waker()))
            };
            std::future::poll_fn(next).await;
        } else {
            context.host.sleep(Duration::from_micros(every_us)).await;
        }
        pass(&context).await;
    }
}

async fn pass(context: &LifeContext) {
    let (node, life) = (context.node, context.life);
    let read = context.shared.with(|world| world.read_inbox(node, life));
    let named: Vec<_> = read
        .iter()
        .map(|Delivery { transaction, .. }| (transaction.stream, transaction.sequence, transaction.digest))
        .collect();
    context.streams.drained(&named);
    for delivery in read {
        let digest = delivery.transaction.digest;
        if context.shared.with(|world| world.has_mail(node, &digest)) {
            continue;
        }
        if !deliver(context, &delivery).await {
            return;
        }
    }
}

/// Delivers one mail; whether the pass goes on.
async fn deliver(context: &LifeContext, delivery: &Delivery) -> bool {
    let (node, life, message) = (context.node, context.life, delivery.message);
    let digest = delivery.transaction.digest;
    let verified = match witness(context, delivery).await {
        Ok(verified) => verified,
        Err(reason) => {
            context.shared.with(|world| {
                if world.is_alive(node, life) && reason != HELD_AHEAD {
                    world.record(&Event::Unverified { message, node, life, reason });
                    let step = MailStep::NotTaken { reason };
                    world.tell_of_mail(message, node, &delivery.transaction, step);
                    world.fetched(node, &digest);
                }
            });
            return true;
        }
    };
    match admit(context, delivery, &verified).await {
        Answer::Verdict(verdict) if verdict.dispatches() => {
            dispatched(context, delivery, verdict);
            true
        }
        // For good: it was admitted another way, or never can be.
        Answer::Verdict(_) => {
            context.shared.with(|world| {
                if world.is_alive(node, life) {
                    world.fetched(node, &digest);
                }
            });
            true
        }
        Answer::Refused(CUSTODY_FULL) | Answer::Unscheduled => false,
        Answer::Refused(_) | Answer::FailedBatch => true,
    }
}

/// The mail as it verifies; or why it does not, in kebab case.
async fn witness(context: &LifeContext, delivery: &Delivery) -> Result<Verified, &'static str> {
    let held = HeldMail::decode(delivery.mail.clone()).map_err(|_| "undecodable")?;
    let mut work = held.work(0);
    let now = context.host.wall_now();
    let verified = {
        let mut verifier = context.verifier.lock().expect("one task at a time uses this lock");
        let verified = held.witness(context.did, now, &mut verifier);
        super::lane::add(&mut work, verifier.take_work());
        verified
    };
    context.host.charge(work).await;
    verified.map_err(|error| error.id())
}

async fn admit(context: &LifeContext, delivery: &Delivery, verified: &Verified) -> Answer {
    let (node, life, message) = (context.node, context.life, delivery.message);
    let (transaction, passage) = (&delivery.transaction, Passage::FROM_INBOX);
    let signer = context.shared.with(|world| {
        let wall = world.wall_now(node);
        world.record(&Event::Arrived {
            message,
            node,
            life,
            wall,
            transaction,
            passage,
            introducer: Introducer::Inbox,
        });
        world.nodes[node.index()].identity.signer()
    });
    let arrival = Arrival { introducer: Introducer::Inbox, link: None, witness: &signer };
    let mut admission = context.streams.admit(verified, arrival);
    let record =
        admission.record().unwrap_or_else(|| record_name(&storage_key(Table::Receiver, verified.stream())));
    let answer = answer_to((&mut admission).await);
    context.shared.with(|world| {
        if world.is_alive(node, life) {
            world.record(&Event::Answered { message, node, life, transaction, record, passage, answer });
        }
    });
    answer
}

fn dispatched(context: &LifeContext, delivery: &Delivery, verdict: VerdictKind) {
    let (node, life, message) = (context.node, context.life, delivery.message);
    let transaction = &delivery.transaction;
    let (intended_ns, sent_ns) = (NO_LATENCY, NO_LATENCY);
    context.shared.with(|world| {
        if world.is_alive(node, life) {
            world.record(&Event::Dispatched {
                message,
                node,
                life,
                transaction,
                verdict,
                intended_ns,
                sent_ns,
            });
            world.mail_dispatched(node, delivery);
            world.record(&Event::Handled { message, node, life, class: transaction.stream.class });
        }
    });
}

/// Takes mail as the application's policy has it, one after the other.
pub async fn take(context: Arc<LifeContext>) {
    let (node, life) = (context.node, context.life);
    loop {
        let next = std::future::poll_fn(|task| {
            context.shared.with(|world| world.next_to_take(node, life, task.waker()))
        });
        match next.await {
            Err(wait_ns) => context.host.sleep(Duration::from_nanos(wait_ns)).await,
            Ok(mail) => take_one(&context, &mail).await,
        }
    }
}

async fn take_one(context: &LifeContext, mail: &Untaken) {
    let (node, life) = (context.node, context.life);
    let Untaken { message, transaction, .. } = mail;
    context.shared.with(|world| {
        if world.is_alive(node, life) {
            world.tell_of_mail(*message, node, transaction, MailStep::Taking);
        }
    });
    let taken = context.streams.taken(&transaction.stream, transaction.sequence, &transaction.digest).await;
    let refused = taken.err().map(|error| error.id());
    context.shared.with(|world| {
        if world.is_alive(node, life) {
            world.take_ended(node, mail, refused);
        }
    });
}
