//! The tables of one node: the leases it signs under and the windows it admits into.
//!
//! Promise: a transition changes memory and stages what it changed, or changes nothing; every staged effect can be taken
//! back exactly. A stream whose record cannot be believed is never served from it.

use super::error::Refusal;
use super::key::{StreamKey, Table};
use super::record::{self, CustodyEntry, Introducer, Stored};
use super::state_digest::StateDigest;
use super::window::{Digest, Verdict, Window, WindowUndo};
use crate::commit::{Staging, State};
use crate::flaws::{Flaw, Flaws};
use crate::host::observe::{BatchNumber, Decision, RecordName};
use crate::reserve::{Counter, Exhausted, Reserved};
use crate::store::name::record_name;
use crate::store::{BadReason, Record, Scan, StoredRecord};
use crate::units::{Sequence, WallMs};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::sync::Arc;

/// One record, as group commit names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RecordKey {
    pub(super) name: RecordName,
    table: Table,
    stream: StreamKey,
}

/// Why a record is in the set U (seed 000, Bad records).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Unrestorable {
    /// The store cannot believe its file.
    #[error(transparent)]
    File(BadReason),
    /// Its value is not a record of a stream.
    #[error(transparent)]
    Value(record::RecordError),
    /// It is the record of another stream.
    #[error("misfiled: the record of another stream")]
    Misfiled,
}

/// What happened to the tables' streams, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Replays refused.
    pub replay: u64,
    /// Forks refused.
    pub fork: u64,
    /// Stale transactions refused.
    pub stale: u64,
    /// Batches that failed.
    pub persistence_failure: u64,
    /// Records that did not restore: the size of the set U.
    pub unrestorable_record: u64,
    /// Calls refused because their stream's record did not restore.
    pub unavailable_stream: u64,
    /// Calls refused because their stream was new and its table full.
    pub stream_capacity_exceeded: u64,
    /// Reservations refused because the sequences would wrap.
    pub sequence_exhausted: u64,
}

/// What a stream's record is filed under. The key is kept, since a stream is written again and again.
struct Filed {
    key: RecordKey,
    storage_key: Arc<str>,
}

impl Filed {
    fn new(table: Table, stream: &StreamKey) -> Self {
        let storage_key = record::storage_key(table, stream);
        Self { key: RecordKey { name: record_name(&storage_key), table, stream: *stream }, storage_key }
    }
}

struct SenderStream {
    filed: Filed,
    counter: Counter,
}

struct ReceiverStream {
    filed: Filed,
    window: Window,
    custody: Vec<CustodyEntry>,
    introducer: Introducer,
    spent: WallMs,
}

/// Takes back one effect on the tables.
pub(super) enum Undo {
    /// A stream began.
    Began { key: RecordKey, newest_before: Option<RecordKey> },
    /// A stream reserved.
    Reserved { stream: StreamKey, counter: Counter },
    /// A stream admitted.
    Admitted { stream: StreamKey, window: WindowUndo, spent: WallMs },
}

/// A transaction at admission.
pub(super) struct Arriving<'a> {
    pub(super) stream: &'a StreamKey,
    pub(super) sequence: Sequence,
    pub(super) digest: &'a Digest,
    pub(super) spent: WallMs,
    pub(super) introducer: Introducer,
}

/// What one transition did, for its caller and for whoever watches.
pub(super) struct Decided<T> {
    pub(super) record: RecordName,
    pub(super) decision: Decision,
    pub(super) staged: Option<BatchNumber>,
    pub(super) result: T,
}

/// Why nothing was reserved under the lock.
#[derive(Debug)]
pub(super) enum NotReserved {
    Exhausted(Exhausted),
    Refused(Refusal),
}

type Streams<T> = IndexMap<StreamKey, T, FxBuildHasher>;

/// Both tables of one node.
pub(super) struct Tables {
    capacity: usize,
    lease_block: NonZeroU64,
    flaws: Flaws,
    senders: Streams<SenderStream>,
    receivers: Streams<ReceiverStream>,
    unrestorable: BTreeMap<RecordName, Unrestorable>,
    /// The stream that joined each table last: a table's count is durable when its record is.
    newest: [Option<RecordKey>; 2],
    counters: Counters,
}

impl Tables {
    pub(super) fn new(capacity: usize, lease_block: NonZeroU64, flaws: Flaws) -> Self {
        Self {
            capacity,
            lease_block,
            flaws,
            senders: Streams::default(),
            receivers: Streams::default(),
            unrestorable: BTreeMap::new(),
            newest: [None; 2],
            counters: Counters::default(),
        }
    }

    /// Takes in what the one scan of the store found. Gives each restored record with the batch that wrote it.
    pub(super) fn restore(&mut self, scan: Scan) -> Vec<(RecordKey, BatchNumber)> {
        self.unrestorable.extend(scan.bad.into_iter().map(|bad| (bad.name, Unrestorable::File(bad.reason))));
        let mut restored = Vec::with_capacity(scan.records.len());
        for StoredRecord { name, record, generation } in scan.records {
            match self.restore_record(name, &record) {
                Ok(key) => restored.push((key, generation)),
                Err(why) => {
                    self.unrestorable.insert(name, why);
                }
            }
        }
        self.counters.unrestorable_record = self.unrestorable.len() as u64;
        restored
    }

    fn restore_record(&mut self, name: RecordName, record: &Record) -> Result<RecordKey, Unrestorable> {
        let stored = record::decode(&record.value).map_err(Unrestorable::Value)?;
        let filed = Filed::new(stored.table(), stored.key());
        if filed.key.name != name || filed.storage_key != record.storage_key {
            return Err(Unrestorable::Misfiled);
        }
        let key = filed.key;
        match stored {
            Stored::Sender { leased, .. } => {
                let counter = Counter::resume(leased.0);
                self.senders.insert(key.stream, SenderStream { filed, counter });
            }
            Stored::Receiver { window, custody, introducer, spent, .. } => {
                let stream = ReceiverStream { filed, window, custody, introducer, spent };
                self.receivers.insert(key.stream, stream);
            }
        }
        Ok(key)
    }

    /// Reserves `count` sequences of a stream.
    pub(super) fn reserve(
        &mut self,
        stream: &StreamKey,
        count: NonZeroU64,
        staging: &mut Staging<'_, Self>,
    ) -> Decided<Result<Reserved, NotReserved>> {
        if self.flaws.has(Flaw::LeaseWrittenAfterExposure) {
            staging.release_early();
        }
        let Some(sender) = self.senders.get_mut(stream) else {
            return match self.begin(Table::Sender, stream, staging) {
                Ok(filed) => self.reserve_first(filed, count, staging),
                Err((record, refusal)) => refused(record, refusal.id(), Err(NotReserved::Refused(refusal))),
            };
        };
        let (key, before) = (sender.filed.key, sender.counter);
        match sender.counter.reserve(count, self.lease_block) {
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
                self.counters.sequence_exhausted += 1;
                refused(key.name, "sequence-exhausted", Err(NotReserved::Exhausted(exhausted)))
            }
        }
    }

    fn reserve_first(
        &mut self,
        filed: Filed,
        count: NonZeroU64,
        staging: &mut Staging<'_, Self>,
    ) -> Decided<Result<Reserved, NotReserved>> {
        let key = filed.key;
        let mut counter = Counter::new();
        // A first reservation ends at count - 1, so it always fits.
        let reserved = counter.reserve(count, self.lease_block).expect("u64::MAX numbers fit from zero on");
        self.senders.insert(key.stream, SenderStream { filed, counter });
        self.joined(key, staging);
        reservation(key, reserved, staging.batch())
    }

    /// Judges a transaction, and admits it where the verdict dispatches.
    pub(super) fn admit(
        &mut self,
        arriving: &Arriving<'_>,
        staging: &mut Staging<'_, Self>,
    ) -> Decided<Result<Verdict, Refusal>> {
        let Arriving { stream, sequence, digest, spent, introducer } = *arriving;
        let Some(receiver) = self.receivers.get_mut(stream) else {
            return match self.begin(Table::Receiver, stream, staging) {
                Ok(filed) => {
                    let key = filed.key;
                    let window = Window::first(sequence, *digest);
                    let begun = ReceiverStream { filed, window, custody: Vec::new(), introducer, spent };
                    self.receivers.insert(*stream, begun);
                    self.joined(key, staging);
                    judged(key, arriving, Verdict::First, Some(staging.batch()))
                }
                Err((record, refusal)) => refused(record, refusal.id(), Err(refusal)),
            };
        };
        let key = receiver.filed.key;
        let (verdict, undo) = receiver.window.observe(sequence, digest);
        let Some(window) = undo else {
            staging.depend_on(key);
            self.count(verdict);
            return judged(key, arriving, verdict, None);
        };
        staging.stage(key, Undo::Admitted { stream: *stream, window, spent: receiver.spent });
        receiver.spent = receiver.spent.max(spent);
        judged(key, arriving, verdict, Some(staging.batch()))
    }

    /// Whether a stream that is not in `table` may join it. Each record of the set U holds a place in both tables' bound
    /// (decision 8).
    fn begin(
        &mut self,
        table: Table,
        stream: &StreamKey,
        staging: &mut Staging<'_, Self>,
    ) -> Result<Filed, (RecordName, Refusal)> {
        let filed = Filed::new(table, stream);
        let key = filed.key;
        if self.unrestorable.contains_key(&key.name) {
            self.counters.unavailable_stream += 1;
            let refusal = Refusal::StreamUnavailable { stream: *stream, record: key.name };
            return Err((key.name, refusal));
        }
        if self.streams(table) + self.unrestorable.len() >= self.capacity {
            self.counters.stream_capacity_exceeded += 1;
            if let Some(newest) = self.newest[table as usize] {
                staging.depend_on(newest);
            }
            let refusal = Refusal::StreamCapacityExceeded { table, capacity: self.capacity, stream: *stream };
            return Err((key.name, refusal));
        }
        Ok(filed)
    }

    fn joined(&mut self, key: RecordKey, staging: &mut Staging<'_, Self>) {
        let newest = &mut self.newest[key.table as usize];
        let newest_before = newest.replace(key);
        staging.stage(key, Undo::Began { key, newest_before });
        assert!(self.streams(key.table) <= self.capacity, "a table stays within its bound");
    }

    fn count(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Replay => self.counters.replay += 1,
            Verdict::Fork { .. } => self.counters.fork += 1,
            Verdict::Stale { .. } => self.counters.stale += 1,
            Verdict::First | Verdict::Advance | Verdict::Late => {}
        }
    }

    /// How many streams a table holds, the set U not counted.
    pub(super) fn streams(&self, table: Table) -> usize {
        match table {
            Table::Sender => self.senders.len(),
            Table::Receiver => self.receivers.len(),
        }
    }

    pub(super) const fn counters(&self) -> &Counters {
        &self.counters
    }

    pub(super) const fn unrestorable(&self) -> &BTreeMap<RecordName, Unrestorable> {
        &self.unrestorable
    }

    /// When nothing that a stream admitted can be delivered any more.
    pub(super) fn spent(&self, stream: &StreamKey) -> Option<WallMs> {
        self.receivers.get(stream).map(|receiver| receiver.spent)
    }

    fn sender_value(&self, sender: &SenderStream) -> bytes::Bytes {
        let counter = &sender.counter;
        let last =
            if self.flaws.has(Flaw::ResumedAtLastUsed) { counter.last_used() } else { counter.lease() };
        let last = last.expect("a sender stream begins with a reservation");
        record::encode_sender(&sender.filed.key.stream, Sequence(last))
    }
}

impl ReceiverStream {
    fn value(&self) -> bytes::Bytes {
        let ReceiverStream { filed, window, custody, introducer, spent } = self;
        record::encode_receiver(&filed.key.stream, window, custody, *introducer, *spent)
    }
}

impl State for Tables {
    type Key = RecordKey;
    type Undo = Undo;

    fn table(&self, key: RecordKey) -> Table {
        key.table
    }

    fn name(&self, key: RecordKey) -> RecordName {
        key.name
    }

    fn encode(&self, key: RecordKey) -> Option<Record> {
        let (filed, value) = match key.table {
            Table::Sender => {
                let sender = self.senders.get(&key.stream)?;
                (&sender.filed, self.sender_value(sender))
            }
            Table::Receiver => {
                let receiver = self.receivers.get(&key.stream)?;
                (&receiver.filed, receiver.value())
            }
        };
        Some(Record { storage_key: Arc::clone(&filed.storage_key), value })
    }

    fn undo(&mut self, undo: Undo) {
        const IN_ORDER: &str = "effects are taken back in reverse order";
        match undo {
            Undo::Began { key, newest_before } => {
                let was_there = match key.table {
                    Table::Sender => self.senders.swap_remove(&key.stream).is_some(),
                    Table::Receiver => self.receivers.swap_remove(&key.stream).is_some(),
                };
                assert!(was_there, "{IN_ORDER}");
                self.newest[key.table as usize] = newest_before;
            }
            Undo::Reserved { stream, counter } => {
                self.senders.get_mut(&stream).expect(IN_ORDER).counter = counter;
            }
            Undo::Admitted { stream, window, spent } => {
                let receiver = self.receivers.get_mut(&stream).expect(IN_ORDER);
                receiver.window.undo(&window);
                receiver.spent = spent;
            }
        }
    }

    fn digest(&self) -> [u8; 32] {
        let mut digest = StateDigest::default();
        self.senders.values().for_each(|sender| digest.add(&self.sender_value(sender)));
        self.receivers.values().for_each(|receiver| digest.add(&receiver.value()));
        digest.to_bytes()
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

fn judged(
    key: RecordKey,
    arriving: &Arriving<'_>,
    verdict: Verdict,
    staged: Option<BatchNumber>,
) -> Decided<Result<Verdict, Refusal>> {
    let decision =
        Decision::Verdict { verdict: verdict.kind(), sequence: arriving.sequence, digest: *arriving.digest };
    Decided { record: key.name, decision, staged, result: Ok(verdict) }
}

fn refused<T>(record: RecordName, reason: &'static str, result: T) -> Decided<T> {
    Decided { record, decision: Decision::Refused { reason }, staged: None, result }
}
