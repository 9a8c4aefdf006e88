//! Fields as bytes.

use super::{DIGEST_BYTES, NAME_BYTES};
use crate::ledger::doer::Task;
use crate::ledger::event::{MailStep, Passage, Transaction};
use crate::units::{Life, MessageId, NodeId};
use groundhog_engine::host::observe::{CustodyChange, Decision, RecordName, Roles};
use groundhog_engine::streams::key::StreamKey;
use groundhog_engine::streams::record::Introducer;
use groundhog_engine::streams::slots::CapacityBound;

/// Writes fields one after another. Every field either has a fixed length or says where it ends.
pub(super) struct Encoder<'a>(pub(super) &'a mut Vec<u8>);

impl Encoder<'_> {
    #[inline]
    pub(super) fn byte(&mut self, byte: u8) {
        self.0.push(byte);
    }

    #[inline]
    pub(super) fn flag(&mut self, flag: bool) {
        self.byte(u8::from(flag));
    }

    #[inline]
    pub(super) fn bytes(&mut self, bytes: &[u8]) {
        self.0.extend_from_slice(bytes);
    }

    /// Eight bytes, the lowest first.
    #[inline]
    pub(super) fn fixed(&mut self, number: u64) {
        self.bytes(&number.to_le_bytes());
    }

    /// Seven bits a byte, the lowest first; the last byte has its top bit clear.
    #[inline]
    pub(super) fn number(&mut self, mut number: u64) {
        while number >= 0x80 {
            self.byte(number as u8 | 0x80);
            number >>= 7;
        }
        self.byte(number as u8);
    }

    #[inline]
    pub(super) fn option(&mut self, number: Option<u64>) {
        match number {
            None => self.byte(0),
            Some(number) => {
                self.byte(1);
                self.number(number);
            }
        }
    }

    #[inline]
    pub(super) fn text(&mut self, text: &str) {
        self.number(text.len() as u64);
        self.bytes(text.as_bytes());
    }

    #[inline]
    pub(super) fn optional_text(&mut self, text: Option<&str>) {
        self.flag(text.is_some());
        if let Some(text) = text {
            self.text(text);
        }
    }

    #[inline]
    pub(super) fn place(&mut self, node: NodeId, life: Life) {
        self.number(u64::from(node.0));
        self.number(u64::from(life.0));
    }

    #[inline]
    pub(super) fn message(&mut self, message: Option<MessageId>) {
        match message {
            None => self.byte(0),
            Some(MessageId { action, ordinal }) => {
                self.number(1 + u64::from(action.0));
                self.number(u64::from(ordinal));
            }
        }
    }

    #[inline]
    pub(super) fn roles(&mut self, roles: Roles) {
        self.number(u64::from(roles.leases));
        self.number(u64::from(roles.windows));
    }

    pub(super) fn decision(&mut self, decision: Decision) {
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

    pub(super) fn introducer(&mut self, introducer: Introducer) {
        match introducer {
            Introducer::Slot(slot) => {
                self.byte(0);
                self.number(u64::from(slot.get()));
            }
            Introducer::Inbox => self.byte(1),
            Introducer::Own => self.byte(2),
        }
    }

    pub(super) fn bound(&mut self, bound: CapacityBound) {
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
    pub(super) fn passage(&mut self, passage: Passage) {
        self.byte(u8::from(passage.honest) | u8::from(passage.link.is_some()) << 1);
        self.number(u64::from(passage.copy));
        passage.link.into_iter().for_each(|link| self.number(u64::from(link)));
    }

    #[inline]
    pub(super) fn task(&mut self, task: Task) {
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

    pub(super) fn mail(&mut self, step: MailStep) {
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

    pub(super) fn custody(&mut self, change: CustodyChange) {
        self.text(change.id());
        if let CustodyChange::TakenIn { spent } | CustodyChange::Expired { spent } = change {
            self.number(spent.0);
        }
    }

    pub(super) fn record(&mut self, record: RecordName) {
        self.bytes(&record.0[..NAME_BYTES]);
    }

    #[inline]
    pub(super) fn stream(&mut self, stream: &StreamKey) {
        self.number(u64::from(stream.network_id.0));
        self.bytes(&stream.origin.0[..NAME_BYTES]);
        self.bytes(&stream.destination.0[..NAME_BYTES]);
        self.byte(stream.class as u8);
    }

    #[inline]
    pub(super) fn transaction(&mut self, transaction: &Transaction) {
        self.stream(&transaction.stream);
        self.number(transaction.sequence.0);
        self.bytes(&transaction.digest[..DIGEST_BYTES]);
    }
}
