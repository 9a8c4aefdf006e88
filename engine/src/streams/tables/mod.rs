//! The tables of one node: the leases it signs under and the windows it admits into.
//!
//! Promise: a transition changes memory and stages what it changed, or changes nothing; every staged effect can be taken
//! back exactly. A stream whose record cannot be believed is never served from it.

mod admit;
mod counters;
mod custody;
mod reserve;
mod restore;
mod state;
mod sweep;
mod usage;

pub(super) use admit::{Admitted, Arriving, NotAdmitted};
pub(super) use counters::Count;
pub use counters::{Counters, RefusedByBound};
pub(super) use custody::{LeftCustody, NotInCustody};
pub(super) use reserve::NotReserved;
pub(super) use restore::believed;
pub use restore::{BadStream, Unrestorable};
pub(super) use sweep::Retired;
pub use sweep::SWEPT_AT_A_TIME;
pub use usage::TableUse;

use state::Undo;

use super::custody::CustodyIndex;
use super::error::Refusal;
use super::key::{StreamKey, Table};
use super::quota::{OriginQuota, QuotaConfig};
use super::record::{self, CustodyEntry, Introducer};
use super::slots::{Charges, SlotBounds, SpentIndex};
use super::window::Window;
use crate::commit::Staging;
use crate::flaws::{Flaw, Flaws};
use crate::host::observe::{BatchNumber, Decision, RecordName};
use crate::reserve::Counter;
use crate::store::name::record_name;
use crate::units::{Sequence, WallMs};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::collections::BTreeMap;
use std::hash::{Hash, Hasher};
use std::num::NonZeroU64;
use std::sync::Arc;

/// One record, as group commit names it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct RecordKey {
    pub(super) name: RecordName,
    table: Table,
    stream: StreamKey,
}

impl Hash for RecordKey {
    /// The name is a hash of all the rest.
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.name.hash(state);
    }
}

/// What a stream's record is filed under. The key is kept, since a stream is written again and again.
pub(super) struct Filed {
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

pub(super) struct ReceiverStream {
    filed: Filed,
    window: Window,
    custody: Vec<CustodyEntry>,
    introducer: Introducer,
    spent: WallMs,
    /// Where it stands in the index of spent instants: never later than it is spent.
    stands: WallMs,
}

/// What one transition did, for its caller and for whoever watches.
pub(super) struct Decided<T> {
    pub(super) record: RecordName,
    pub(super) decision: Decision,
    pub(super) staged: Option<BatchNumber>,
    pub(super) result: T,
}

type Streams<T> = IndexMap<StreamKey, T, FxBuildHasher>;

/// The bounds of both tables.
#[derive(Clone, Copy)]
pub(super) struct Bounds {
    /// Streams of each table, the set U counted in both.
    pub(super) capacity: usize,
    /// Streams of each introducer, in the receiver's table.
    pub(super) slots: SlotBounds,
    /// Sequences that a written lease covers at least.
    pub(super) lease_block: NonZeroU64,
}

/// Both tables of one node.
pub(super) struct Tables {
    bounds: Bounds,
    flaws: Flaws,
    senders: Streams<SenderStream>,
    /// Boxed: a table grows in steps, and must not hold room for whole streams that never come.
    receivers: Streams<Box<ReceiverStream>>,
    charges: Charges,
    spent_index: SpentIndex,
    custody: CustodyIndex,
    /// `None` where nothing limits what an origin sends.
    quota: Option<OriginQuota>,
    unrestorable: BTreeMap<RecordName, Unrestorable>,
    /// The stream that joined each table last: a table's count is durable when its record is.
    newest: [Option<RecordKey>; 2],
    counters: Counters,
    /// Changes of what is in use that nobody was told of yet. The first telling is of what was restored.
    changes: u64,
    /// Deliveries in custody as they were told last.
    custody_told: usize,
}

impl Tables {
    pub(super) fn new(bounds: Bounds, quota: Option<&QuotaConfig>, flaws: Flaws) -> Self {
        Self {
            bounds,
            flaws,
            senders: Streams::default(),
            receivers: Streams::default(),
            charges: Charges::new(bounds.slots),
            spent_index: SpentIndex::default(),
            custody: CustodyIndex::default(),
            quota: quota.map(OriginQuota::new),
            unrestorable: BTreeMap::new(),
            newest: [None; 2],
            counters: Counters::default(),
            changes: 1,
            custody_told: 0,
        }
    }

    /// A refusal that the known-bad engine gives to every stream as soon as one record does not restore.
    fn all_unavailable(
        &mut self,
        table: Table,
        stream: &StreamKey,
        staging: &mut Staging<'_, Self>,
    ) -> Option<(RecordName, Refusal)> {
        if !self.flaws.has(Flaw::BadRecordFailsTheStore) || self.unrestorable.is_empty() {
            return None;
        }
        self.count(Count::UnavailableStream, staging);
        let record = Filed::new(table, stream).key.name;
        Some((record, Refusal::StreamUnavailable { stream: *stream, record }))
    }

    /// What a new stream is filed under, unless its record is in the set U.
    fn begin(
        &mut self,
        table: Table,
        stream: &StreamKey,
        staging: &mut Staging<'_, Self>,
    ) -> Result<Filed, (RecordName, Refusal)> {
        let filed = Filed::new(table, stream);
        let record = filed.key.name;
        if self.unrestorable.contains_key(&record) {
            self.count(Count::UnavailableStream, staging);
            return Err((record, Refusal::StreamUnavailable { stream: *stream, record }));
        }
        Ok(filed)
    }

    /// Whether a table has a place more. Each record of the set U holds a place in both (decision 8).
    fn has_room(&self, table: Table) -> bool {
        self.streams(table) + self.unrestorable.len() < self.bounds.capacity
    }

    /// A new stream is refused: that rests on the table's count.
    fn depend_on_count(&self, table: Table, staging: &mut Staging<'_, Self>) {
        if let Some(newest) = self.newest[table as usize] {
            staging.depend_on(newest);
        }
    }

    fn joined(&mut self, key: RecordKey, staging: &mut Staging<'_, Self>) {
        let newest = &mut self.newest[key.table as usize];
        let newest_before = newest.replace(key);
        staging.stage(key, Undo::Began { key, newest_before });
        assert!(self.streams(key.table) <= self.bounds.capacity, "a table stays within its bound");
    }

    /// A receiver stream is in the table: it is charged, and will be spent.
    fn take_in(&mut self, mut receiver: Box<ReceiverStream>) {
        let (stream, introducer) = (receiver.filed.key.stream, receiver.introducer);
        receiver.stands = receiver.spent;
        self.changes += 1;
        self.charges.add(introducer);
        self.spent_index.insert(introducer, receiver.spent, stream);
        receiver.custody.iter().for_each(|entry| self.custody.insert(stream, entry));
        let before = self.receivers.insert(stream, receiver);
        assert!(before.is_none(), "a stream joins its table once");
    }

    /// The opposite.
    fn give_up(&mut self, stream: &StreamKey) -> Option<Box<ReceiverStream>> {
        let receiver = self.receivers.swap_remove(stream)?;
        self.changes += 1;
        self.charges.remove(receiver.introducer);
        self.spent_index.remove(receiver.introducer, receiver.stands, *stream);
        receiver.custody.iter().for_each(|entry| self.custody.remove(*stream, entry));
        Some(receiver)
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

    pub(super) const fn custody(&self) -> &CustodyIndex {
        &self.custody
    }

    pub(super) const fn charges(&self) -> &Charges {
        &self.charges
    }

    pub(super) const fn unrestorable(&self) -> &BTreeMap<RecordName, Unrestorable> {
        &self.unrestorable
    }

    #[cfg(test)]
    pub(super) fn quota_records(&self) -> Vec<Vec<u8>> {
        let mut records: Vec<_> = self.quota.iter().flat_map(OriginQuota::encoded).collect();
        records.sort_unstable();
        records
    }

    /// When nothing that a stream admitted can be delivered any more.
    pub(super) fn spent(&self, stream: &StreamKey) -> Option<WallMs> {
        self.receivers.get(stream).map(|receiver| receiver.spent)
    }

    /// Whom a stream is charged to.
    pub(super) fn introducer(&self, stream: &StreamKey) -> Option<Introducer> {
        self.receivers.get(stream).map(|receiver| receiver.introducer)
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
    /// A stream that is about to join the table.
    fn new(
        filed: Filed,
        (window, custody): (Window, Vec<CustodyEntry>),
        introducer: Introducer,
        spent: WallMs,
    ) -> Box<Self> {
        Box::new(Self { filed, window, custody, introducer, spent, stands: spent })
    }

    fn value(&self) -> bytes::Bytes {
        let ReceiverStream { filed, window, custody, introducer, spent, stands: _ } = self;
        record::encode_receiver(&filed.key.stream, window, custody, *introducer, *spent)
    }
}

fn refused<T>(record: RecordName, reason: &'static str, result: T) -> Decided<T> {
    Decided { record, decision: Decision::Refused { reason }, staged: None, result }
}
