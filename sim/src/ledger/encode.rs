//! Events as bytes, for the fingerprint and for telling two events apart.
//!
//! Promise: two events that differ in anything give different bytes, and no encoding is a prefix of another, so that a
//! sequence of encodings reads back one way only. The one exception is stated here: values that are themselves hashes
//! enter abbreviated, a transaction's digest and a state's digest by their first 16 bytes, a DID and a record's name by
//! their first 8, and a transaction's digest stands for what it was computed from. The fingerprint guards against accident,
//! where 64 bits are plenty.

use super::doer::Task;
use super::event::{Answer, Event, MailStep, Passage, Transaction};
use super::kind::EventKind;
use super::link_event::LinkEvent;
use crate::units::{Life, MessageId, NodeId, SimTime};
use groundhog_engine::host::observe::{
    BatchNumber, CustodyChange, CustodyStall, Decision, EngineEvent, RecordName, Roles,
};
use groundhog_engine::streams::TableUse;
use groundhog_engine::streams::key::StreamKey;
use groundhog_engine::streams::quota::{MessageLimit, QuotaCharge};
use groundhog_engine::streams::record::Introducer;
use groundhog_engine::streams::slots::CapacityBound;

/// Bytes of a digest that enter an encoding.
const DIGEST_BYTES: usize = 16;
/// Bytes of a DID or a record's name that enter an encoding.
const NAME_BYTES: usize = 8;

/// Appends the encoding of `event`, which happened at `at`, to `into`.
pub fn encode(at: SimTime, event: &Event<'_>, into: &mut Vec<u8>) {
    let mut out = Encoder(into);
    out.byte(EventKind::of(event) as u8);
    out.fixed(at.0);
    match *event {
        Event::Booted { .. }
        | Event::Ready { .. }
        | Event::OpenFailed { .. }
        | Event::Died { .. }
        | Event::PowerLost { .. }
        | Event::Panicked { .. }
        | Event::ThreadStarted { .. }
        | Event::ClockSet { .. }
        | Event::DiskAnswered { .. }
        | Event::FaultBegan { .. }
        | Event::FaultEnded { .. }
        | Event::Quiesced => encode_machine(event, &mut out),
        Event::Intended { .. }
        | Event::NotSent { .. }
        | Event::ReserveAnswered { .. }
        | Event::Exposed { .. }
        | Event::FrameSent { .. }
        | Event::FrameLost { .. }
        | Event::FrameDelivered { .. }
        | Event::ReplayMissed { .. }
        | Event::ConnectionAdmitted { .. }
        | Event::ConnectionRetired { .. }
        | Event::Relayed { .. } => encode_journey(event, &mut out),
        Event::Unverified { .. }
        | Event::Arrived { .. }
        | Event::Answered { .. }
        | Event::AdmissionAbandoned { .. }
        | Event::Dispatched { .. }
        | Event::Mail { .. }
        | Event::Handled { .. } => encode_admission(event, &mut out),
        Event::Joined { .. } | Event::Left { .. } | Event::Routed { .. } | Event::HandedOff { .. } => {
            encode_ring(event, &mut out)
        }
        Event::SecondRuntime { node, of } => {
            out.number(node.0.into());
            out.number(of.0.into());
        }
        Event::Engine { node, life, event } => {
            out.place(node, life);
            encode_engine(&event, &mut out);
        }
        Event::Link { node, life, event } => {
            out.place(node, life);
            encode_link(&event, &mut out);
        }
    }
}

/// What happens on the ring.
fn encode_ring(event: &Event<'_>, out: &mut Encoder<'_>) {
    let node_number = |node: NodeId| u64::from(node.0);
    match *event {
        Event::Joined { node } => out.number(node_number(node)),
        Event::Left { node, life, hand_off } => {
            out.place(node, life);
            out.flag(hand_off);
        }
        Event::Routed { message, node, next, hops, stale } => {
            out.message(message);
            out.number(node_number(node));
            out.number(node_number(next));
            out.byte(hops);
            out.flag(stale);
        }
        Event::HandedOff { from, to, mails } => {
            out.number(node_number(from));
            out.number(node_number(to));
            out.number(mails.into());
        }
        _ => unreachable!("encoded elsewhere"),
    }
}

/// What happens to a node, its clocks and its disk, and to the plan's faults.
fn encode_machine(event: &Event<'_>, out: &mut Encoder<'_>) {
    match *event {
        Event::Booted { node, life, wall } => {
            out.place(node, life);
            out.number(wall.0);
        }
        Event::Ready { node, life } => out.place(node, life),
        Event::Panicked { node, life, message } => {
            out.place(node, life);
            out.text(message);
        }
        Event::ThreadStarted { node, life, task } => {
            out.place(node, life);
            out.task(task);
        }
        Event::OpenFailed { node, life, reason } => {
            out.place(node, life);
            out.text(reason);
        }
        Event::Died { node, life, death, during, gathering, fault } => {
            out.place(node, life);
            out.byte(death as u8);
            out.flag(gathering);
            out.option(fault.map(|fault| u64::from(fault.0)));
            match during {
                None => out.byte(0),
                Some((step, batch, roles)) => {
                    out.byte(1 + step as u8);
                    out.number(batch.0);
                    out.roles(roles);
                }
            }
        }
        Event::PowerLost { node, kept, lost } => {
            out.number(u64::from(node.0));
            out.number(u64::from(kept));
            out.number(u64::from(lost));
        }
        Event::ClockSet { node, from, to } => {
            out.number(u64::from(node.0));
            out.number(from.0);
            out.number(to.0);
        }
        Event::DiskAnswered { node, life, number, operation, bytes, error, injected } => {
            out.place(node, life);
            out.number(number);
            out.byte(operation as u8);
            out.number(u64::from(bytes));
            out.byte(error.map_or(0, |kind| 1 + kind as u8));
            out.flag(injected);
        }
        Event::FaultBegan { fault } | Event::FaultEnded { fault } => out.number(u64::from(fault.0)),
        Event::Quiesced => {}
        _ => unreachable!("encoded elsewhere"),
    }
}

/// A message's way from the intention to send it to the receiver's transport.
fn encode_journey(event: &Event<'_>, out: &mut Encoder<'_>) {
    match *event {
        Event::Intended { message, node, to, class } => {
            out.message(Some(message));
            out.number(u64::from(node.0));
            out.number(u64::from(to.0));
            out.byte(class as u8);
        }
        Event::NotSent { message, node, cause } => {
            out.message(Some(message));
            out.number(u64::from(node.0));
            out.byte(cause as u8);
        }
        Event::ReserveAnswered { message, node, life, answer, refusal } => {
            out.message(Some(message));
            out.place(node, life);
            out.option(answer.map(|sequence| sequence.0));
            out.optional_text(refusal);
        }
        Event::Exposed { message, node, life, transaction } => {
            out.message(Some(message));
            out.place(node, life);
            out.transaction(transaction);
        }
        Event::FrameSent { frame, message, copy, from, to, class, channel, bytes } => {
            out.number(frame.0);
            out.message(message);
            out.number(u64::from(copy));
            out.number(u64::from(from.0));
            out.number(u64::from(to.0));
            out.byte(class as u8);
            out.byte(channel);
            out.number(u64::from(bytes));
        }
        Event::FrameLost { frame, message, cause } => {
            out.number(frame.0);
            out.message(message);
            out.byte(cause as u8);
        }
        Event::FrameDelivered { frame, message, to, duplicate } => {
            out.number(frame.0);
            out.message(message);
            out.number(u64::from(to.0));
            out.flag(duplicate);
        }
        Event::ReplayMissed { node } => out.number(u64::from(node.0)),
        Event::ConnectionAdmitted { node, life, peer, slot } => {
            out.place(node, life);
            out.number(u64::from(peer.0));
            out.number(u64::from(slot.get()));
        }
        Event::ConnectionRetired { node, life, peer, slot, under_way } => {
            out.place(node, life);
            out.number(u64::from(peer.0));
            out.number(u64::from(under_way) << 16 | u64::from(slot.get()));
        }
        Event::Relayed { message, node, life } => {
            out.message(message);
            out.place(node, life);
        }
        _ => unreachable!("encoded elsewhere"),
    }
}

/// A transaction at its destination.
fn encode_admission(event: &Event<'_>, out: &mut Encoder<'_>) {
    match *event {
        Event::Unverified { message, node, life, reason } => {
            out.message(message);
            out.place(node, life);
            out.text(reason);
        }
        Event::Arrived { message, node, life, wall, transaction, passage, introducer } => {
            out.message(message);
            out.place(node, life);
            out.number(wall.0);
            out.transaction(transaction);
            out.passage(passage);
            out.introducer(introducer);
        }
        Event::Answered { message, node, life, transaction, record, passage, answer } => {
            out.message(message);
            out.place(node, life);
            out.transaction(transaction);
            out.record(record);
            out.passage(passage);
            match answer {
                Answer::Verdict(verdict) => out.byte(4 + verdict as u8),
                Answer::Refused(reason) => {
                    out.byte(0);
                    out.text(reason);
                }
                Answer::FailedBatch => out.byte(1),
                Answer::Unscheduled => out.byte(2),
            }
        }
        Event::AdmissionAbandoned { message, node, life, transaction } => {
            out.message(message);
            out.place(node, life);
            out.transaction(transaction);
        }
        Event::Dispatched { message, node, life, transaction, verdict, intended_ns, sent_ns } => {
            out.message(message);
            out.place(node, life);
            out.transaction(transaction);
            out.byte(verdict as u8);
            out.number(intended_ns);
            out.number(sent_ns);
        }
        Event::Mail { message, node, life, transaction, step } => {
            out.message(message);
            out.place(node, life);
            out.transaction(transaction);
            out.mail(step);
        }
        Event::Handled { message, node, life, class } => {
            out.message(message);
            out.place(node, life);
            out.byte(class as u8);
        }
        _ => unreachable!("encoded elsewhere"),
    }
}

/// What a transport or an application did beside admissions.
fn encode_link(event: &LinkEvent, out: &mut Encoder<'_>) {
    let (tag, numbers, text, digest) = event.fields();
    out.byte(tag);
    out.message(event.message());
    numbers.into_iter().for_each(|number| out.number(number));
    out.text(text);
    digest.into_iter().for_each(|digest| out.bytes(&digest[..DIGEST_BYTES]));
}

/// What an engine reports.
fn encode_engine(event: &EngineEvent<'_>, out: &mut Encoder<'_>) {
    match *event {
        EngineEvent::Opened { restored, unrestorable, next_batch } => {
            out.number(u64::from(restored));
            out.number(u64::from(unrestorable));
            out.number(next_batch.0);
        }
        EngineEvent::Transition { transition, stream, table, record, decision, staged } => {
            out.number(transition.0);
            out.stream(stream);
            out.byte(table as u8);
            out.record(record);
            out.option(staged.map(|batch| batch.0));
            out.decision(decision);
        }
        EngineEvent::LinkLocal { transition, stream, decision } => {
            out.number(transition.0);
            out.stream(stream);
            out.decision(decision);
        }
        EngineEvent::Quota { transition, stream, charge } => {
            let QuotaCharge { at, data_bytes, limit, refused } = charge;
            out.number(transition.0);
            out.stream(stream);
            out.number(at.0);
            out.number(data_bytes);
            out.flag(limit == MessageLimit::Delegated);
            // No reason is empty.
            out.text(refused.unwrap_or(""));
        }
        EngineEvent::Released { transition, depends } => {
            out.number(transition.0);
            out.number(depends.len() as u64);
            for &(record, BatchNumber(batch)) in depends {
                out.record(record);
                out.number(batch);
            }
        }
        EngineEvent::BatchClosed { batch, records, transitions } => {
            out.number(batch.0);
            out.number(u64::from(transitions));
            out.number(records.len() as u64);
            for &(record, bytes) in records {
                out.record(record);
                out.option(bytes.map(u64::from));
            }
        }
        EngineEvent::Step { step, batch, roles } => {
            out.byte(step as u8);
            out.number(batch.0);
            out.roles(roles);
        }
        EngineEvent::BatchDurable { batch } => out.number(batch.0),
        EngineEvent::BatchFailed { batch, undone, state_digest } => {
            out.number(batch.0);
            out.number(u64::from(undone));
            out.bytes(&state_digest[..DIGEST_BYTES]);
        }
        EngineEvent::CallerGone { transition } => out.number(transition.0),
        EngineEvent::Retired { transition, stream, record, introducer, spent, staged } => {
            out.number(transition.0);
            out.stream(stream);
            out.record(record);
            out.introducer(introducer);
            out.number(spent.0);
            out.number(staged.0);
        }
        EngineEvent::Custody { transition, stream, sequence, digest, change, held } => {
            out.number(transition.0);
            out.stream(stream);
            out.number(sequence.0);
            out.bytes(&digest[..DIGEST_BYTES]);
            out.custody(change);
            out.number(u64::from(held));
        }
        EngineEvent::CustodyStall { transition, stall, held } => {
            out.number(transition.0);
            out.text(stall.id());
            if let CustodyStall::Full { until } | CustodyStall::Refused { until } = stall {
                out.number(until.0);
            }
            out.number(u64::from(held));
        }
        EngineEvent::BoundMet { transition, introducer, bound } => {
            out.number(transition.0);
            out.introducer(introducer);
            out.bound(bound);
        }
        EngineEvent::TableUse { used } => {
            let TableUse { streams, fullest_slot, pool, inbox, own, custody } = used;
            [streams, fullest_slot, pool, inbox, own, custody]
                .into_iter()
                .for_each(|count| out.number(u64::from(count)));
        }
        EngineEvent::Unrestorable { record, reason, spells } => {
            out.record(record);
            out.text(reason);
            out.flag(spells.is_some());
            if let Some((table, stream)) = spells {
                out.byte(table as u8);
                out.stream(stream);
            }
        }
        EngineEvent::LoadFailed { reason } => out.text(reason),
        EngineEvent::UnavailableRefused { transition, record, refused } => {
            out.number(transition.0);
            out.record(record);
            out.number(refused);
        }
    }
}

/// Writes fields one after another. Every field either has a fixed length or says where it ends.
struct Encoder<'a>(&'a mut Vec<u8>);

impl Encoder<'_> {
    #[inline]
    fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    #[inline]
    fn flag(&mut self, flag: bool) {
        self.byte(u8::from(flag));
    }

    #[inline]
    fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Eight bytes, the lowest first.
    #[inline]
    fn fixed(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    /// Seven bits a byte, the lowest first; the last byte has its top bit clear.
    #[inline]
    fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.byte(number as u8 | 0x80);
            number >>= 7;
        }
        self.byte(number as u8);
    }

    #[inline]
    fn option(&mut self, number: Option<u64>) {
        match number {
            None => self.byte(0),
            Some(number) => {
                self.byte(1);
                self.number(number);
            }
        }
    }

    #[inline]
    fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    #[inline]
    fn optional_text(&mut self, text: Option<&str>) {
        self.flag(text.is_some());
        if let Some(text) = text {
            self.text(text);
        }
    }

    #[inline]
    fn place(&mut self, node: NodeId, life: Life) {
        self.number(u64::from(node.0));
        self.number(u64::from(life.0));
    }

    #[inline]
    fn message(&mut self, message: Option<MessageId>) {
        match message {
            None => self.byte(0),
            Some(MessageId { action, ordinal }) => {
                self.number(1 + u64::from(action.0));
                self.number(u64::from(ordinal));
            }
        }
    }

    #[inline]
    fn roles(&mut self, roles: Roles) {
        self.number(u64::from(roles.leases));
        self.number(u64::from(roles.windows));
    }

    fn decision(&mut self, decision: Decision) {
        match decision {
            Decision::Verdict { verdict, sequence, digest } => {
                self.byte(4 + verdict as u8);
                self.number(sequence.0);
                self.bytes(&digest[..DIGEST_BYTES]);
            }
            Decision::Reserved { first, last, lease } => {
                self.byte(0);
                self.number(first.0);
                self.number(last.0);
                self.number(lease.0);
            }
            Decision::Taken { sequence, digest } => {
                self.byte(2);
                self.number(sequence.0);
                self.bytes(&digest[..DIGEST_BYTES]);
            }
            Decision::Refused { reason } => {
                self.byte(1);
                self.text(reason);
            }
        }
    }

    fn introducer(&mut self, introducer: Introducer) {
        match introducer {
            Introducer::Slot(slot) => {
                self.byte(0);
                self.number(u64::from(slot.get()));
            }
            Introducer::Inbox => self.byte(1),
            Introducer::Own => self.byte(2),
        }
    }

    fn bound(&mut self, bound: CapacityBound) {
        self.text(bound.id());
        let (streams, slots) = match bound {
            CapacityBound::Claim { claim, over_floor } => (u64::from(claim), u64::from(over_floor)),
            CapacityBound::Floor { floor: streams }
            | CapacityBound::Pool { pool: streams }
            | CapacityBound::Inbox { share: streams }
            | CapacityBound::SelfShare { share: streams } => (u64::from(streams), 0),
            CapacityBound::Table { capacity } => (capacity as u64, 0),
        };
        self.number(streams);
        self.number(slots);
    }

    #[inline]
    fn passage(&mut self, passage: Passage) {
        self.byte(u8::from(passage.honest) | u8::from(passage.link.is_some()) << 1);
        self.number(u64::from(passage.copy));
        passage.link.into_iter().for_each(|link| self.number(u64::from(link)));
    }

    #[inline]
    fn task(&mut self, task: Task) {
        match task {
            Task::Open => self.byte(0),
            Task::Sender(class) => {
                self.byte(1);
                self.byte(class as u8);
            }
            Task::Reader { peer, class } => {
                self.byte(2);
                self.number(u64::from(peer.0));
                self.byte(class as u8);
            }
            Task::Engine(name) => {
                self.byte(3);
                self.text(name);
            }
            Task::Mail(name) => {
                self.byte(4);
                self.text(name);
            }
            Task::Connections => self.byte(5),
        }
    }

    fn mail(&mut self, step: MailStep) {
        match step {
            MailStep::Held { owner, copies, asked } => {
                self.byte(0);
                self.number(u64::from(owner.0));
                self.byte(copies);
                self.byte(asked);
            }
            MailStep::HoldRefused { reason } => {
                self.byte(1);
                self.text(reason);
            }
            MailStep::Gone { why } => {
                self.byte(2);
                self.byte(why as u8);
            }
            MailStep::Taking => self.byte(3),
            MailStep::Taken => self.byte(4),
            MailStep::NotTaken { reason } => {
                self.byte(5);
                self.text(reason);
            }
            MailStep::Stored => self.byte(6),
        }
    }

    fn custody(&mut self, change: CustodyChange) {
        self.text(change.id());
        if let CustodyChange::TakenIn { spent } | CustodyChange::Expired { spent } = change {
            self.number(spent.0);
        }
    }

    fn record(&mut self, record: RecordName) {
        self.bytes(&record.0[..NAME_BYTES]);
    }

    #[inline]
    fn stream(&mut self, stream: &StreamKey) {
        self.number(u64::from(stream.network_id.0));
        self.bytes(&stream.origin.0[..NAME_BYTES]);
        self.bytes(&stream.destination.0[..NAME_BYTES]);
        self.byte(stream.class as u8);
    }

    #[inline]
    fn transaction(&mut self, transaction: &Transaction) {
        self.stream(&transaction.stream);
        self.number(transaction.sequence.0);
        self.bytes(&transaction.digest[..DIGEST_BYTES]);
    }
}
