//! A reservation: the next sequences of a stream, under its lease.

use super::{Count, Decided, RecordKey, SenderStream, Tables, Undo, refused};
use crate::commit::Staging;
use crate::flaws::Flaw;
use crate::host::observe::{BatchNumber, Decision};
use crate::reserve::{Counter, Exhausted, Reserved};
use crate::streams::error::Refusal;
use crate::streams::key::{StreamKey, Table};
use crate::units::Sequence;
use std::num::NonZeroU64;

/// Why nothing was reserved under the lock.
#[derive(Debug)]
pub(in crate::streams) enum NotReserved {
    Exhausted(Exhausted),
    Refused(Refusal),
}

impl Tables {
    /// Reserves `count` sequences of a stream.
    pub(in crate::streams) fn reserve(
        &mut self,
        stream: &StreamKey,
        count: NonZeroU64,
        staging: &mut Staging<'_, Self>,
    ) -> Decided<Result<Reserved, NotReserved>> {
        if self.flaws.has(Flaw::LeaseWrittenAfterExposure) {
            staging.release_early();
        }
        if let Some((record, refusal)) = self.all_unavailable(Table::Sender, stream, staging) {
            return refused(record, refusal.id(), Err(NotReserved::Refused(refusal)));
        }
        let Some(sender) = self.senders.get_mut(stream) else {
            return self.reserve_first(stream, count, staging);
        };
        let (key, before) = (sender.filed.key, sender.counter);
        match sender.counter.reserve(count, self.bounds.lease_block) {
            Ok(reserved) => {
                let undo = Undo::Reserved { stream: *stream, counter: before };
                if reserved.writes {
                    staging.stage(key, undo);
                } else {
                    staging.depend_on(key);
                    staging.stage_unwritten(undo);
                }
                reservation(key, reserved, staging.batch())
            }
            Err(exhausted) => {
                staging.depend_on(key);
                self.count(Count::SequenceExhausted, staging);
                refused(key.name, "sequence-exhausted", Err(NotReserved::Exhausted(exhausted)))
            }
        }
    }

    fn reserve_first(
        &mut self,
        stream: &StreamKey,
        count: NonZeroU64,
        staging: &mut Staging<'_, Self>,
    ) -> Decided<Result<Reserved, NotReserved>> {
        let filed = match self.begin(Table::Sender, stream, staging) {
            Ok(filed) if self.has_room(Table::Sender) => filed,
            Ok(filed) => {
                self.count(Count::SenderTable, staging);
                self.depend_on_count(Table::Sender, staging);
                let refusal = Refusal::SenderTableFull { stream: *stream, capacity: self.bounds.capacity };
                return refused(filed.key.name, refusal.id(), Err(NotReserved::Refused(refusal)));
            }
            Err((record, refusal)) => {
                return refused(record, refusal.id(), Err(NotReserved::Refused(refusal)));
            }
        };
        let key = filed.key;
        let mut counter = Counter::new();
        // A first reservation ends at count - 1, so it always fits.
        let reserved =
            counter.reserve(count, self.bounds.lease_block).expect("u64::MAX numbers fit from zero on");
        self.senders.insert(key.stream, SenderStream { filed, counter });
        self.joined(key, staging);
        reservation(key, reserved, staging.batch())
    }
}

fn reservation(
    key: RecordKey,
    reserved: Reserved,
    batch: BatchNumber,
) -> Decided<Result<Reserved, NotReserved>> {
    let Reserved { first, last, lease, writes } = reserved;
    let decision =
        Decision::Reserved { first: Sequence(first), last: Sequence(last), lease: Sequence(lease) };
    Decided { record: key.name, decision, staged: writes.then_some(batch), result: Ok(reserved) }
}
