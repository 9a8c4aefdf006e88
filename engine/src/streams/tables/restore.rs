//! What the one scan of the store found, taken into the tables.

use super::{Filed, ReceiverStream, RecordKey, SenderStream, Tables};
use crate::flaws::Flaw;
use crate::host::observe::{BatchNumber, RecordName};
use crate::reserve::Counter;
use crate::store::name::record_name;
use crate::store::{BadReason, BadRecord, Record, Scan, StoredRecord};
use crate::streams::key::{StreamKey, Table};
use crate::streams::record::{self, Introducer, RecordError, Stored};
use crate::streams::slots::SlotIndex;

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
    /// It is what earlier builds kept of all streams together. It is not converted.
    #[error("one snapshot of all streams, of an older build: it is not converted")]
    SharedSnapshot,
}

impl Unrestorable {
    /// The name in kebab case.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Unrestorable::File(reason) => reason.id(),
            Unrestorable::Value(RecordError::Undecodable | RecordError::CustodyTooLong { .. }) => {
                "undecodable"
            }
            Unrestorable::Value(RecordError::WithoutCharge) => "without-charge",
            Unrestorable::Value(RecordError::InvalidWindow(_)) => "invalid-window",
            Unrestorable::Misfiled => "misfiled",
            Unrestorable::SharedSnapshot => "shared-snapshot",
        }
    }
}

/// A record of the set U.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadStream {
    /// The name in whose place it lies.
    pub record: RecordName,
    /// What is wrong with it.
    pub why: Unrestorable,
    /// The table and the stream that its intact start spells; of another name, where it is misfiled.
    pub spells: Option<(Table, StreamKey)>,
}

impl From<BadRecord> for BadStream {
    fn from(bad: BadRecord) -> Self {
        let spells = bad.storage_key.as_deref().and_then(record::parse_storage_key);
        Self { record: bad.name, why: Unrestorable::File(bad.reason), spells }
    }
}

/// What a whole file of this name holds of a stream.
///
/// # Errors
/// Why it does not restore.
pub fn believed(name: RecordName, record: &Record) -> Result<Stored, Unrestorable> {
    let stored = decoded(record)?;
    let key = record::storage_key(stored.table(), stored.key());
    let in_place = record_name(&key) == name && key == record.storage_key;
    if in_place { Ok(stored) } else { Err(Unrestorable::Misfiled) }
}

fn decoded(record: &Record) -> Result<Stored, Unrestorable> {
    if *record.storage_key == *record::SHARED_SNAPSHOT_KEY {
        return Err(Unrestorable::SharedSnapshot);
    }
    record::decode(&record.value).map_err(Unrestorable::Value)
}

impl Tables {
    /// Takes in the scan; whom each stream is charged to, and when it is spent, stand in its record. Gives each restored
    /// record with the batch that wrote it, and each that does not restore.
    pub(in crate::streams) fn restore(
        &mut self,
        scan: Scan,
    ) -> (Vec<(RecordKey, BatchNumber)>, Vec<BadStream>) {
        let mut bad: Vec<BadStream> = Vec::with_capacity(scan.bad.len());
        let spells = |key: &str| record::parse_storage_key(key);
        bad.extend(scan.bad.into_iter().map(BadStream::from));
        let mut restored = Vec::with_capacity(scan.records.len());
        for StoredRecord { name, record, generation } in scan.records {
            match self.restore_record(name, &record) {
                Ok(key) => restored.push((key, generation)),
                Err(why) if self.is_overlooked(why) => {}
                Err(why) => bad.push(BadStream { record: name, why, spells: spells(&record.storage_key) }),
            }
        }
        bad.sort_unstable_by_key(|bad| bad.record);
        self.unrestorable = bad.iter().map(|bad| (bad.record, bad.why)).collect();
        self.counters.unrestorable_record = self.unrestorable.len() as u64;
        (restored, bad)
    }

    /// What a known-bad engine does not see.
    fn is_overlooked(&self, why: Unrestorable) -> bool {
        matches!(why, Unrestorable::Value(_)) && self.flaws.has(Flaw::UndecodableRecordDiscarded)
    }

    /// Whom a restored stream is charged to: whom its record names.
    fn charged_to(&self, introducer: Introducer) -> Introducer {
        match self.flaws.has(Flaw::ChargesNotRebuilt) {
            true => Introducer::Slot(SlotIndex::new(u16::MAX)),
            false => introducer,
        }
    }

    fn restore_record(&mut self, name: RecordName, record: &Record) -> Result<RecordKey, Unrestorable> {
        let stored = decoded(record)?;
        let filed = Filed::new(stored.table(), stored.key());
        let in_place = filed.key.name == name && filed.storage_key == record.storage_key;
        let key = filed.key;
        if !in_place && (!self.flaws.has(Flaw::MisfiledRecordServed) || self.holds(key)) {
            return Err(Unrestorable::Misfiled);
        }
        match stored {
            Stored::Sender { leased, .. } => {
                let counter = Counter::resume(leased.0);
                self.senders.insert(key.stream, SenderStream { filed, counter });
            }
            Stored::Receiver { window, custody, introducer, spent, .. } => {
                let introducer = self.charged_to(introducer);
                self.take_in(ReceiverStream::new(filed, (window, custody), introducer, spent));
            }
        }
        Ok(key)
    }

    fn holds(&self, RecordKey { table, stream, .. }: RecordKey) -> bool {
        match table {
            Table::Sender => self.senders.contains_key(&stream),
            Table::Receiver => self.receivers.contains_key(&stream),
        }
    }
}
