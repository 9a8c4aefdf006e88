//! What the one scan of the store found, taken into the tables.

use super::{Filed, ReceiverStream, RecordKey, SenderStream, Tables};
use crate::flaws::Flaw;
use crate::host::observe::{BatchNumber, RecordName};
use crate::reserve::Counter;
use crate::store::{BadReason, Record, Scan, StoredRecord};
use crate::streams::record::{self, Introducer, Stored};
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
}

impl Tables {
    /// Takes in the scan; whom each stream is charged to, and when it is spent, stand in its record. Gives each restored
    /// record with the batch that wrote it.
    pub(in crate::streams) fn restore(&mut self, scan: Scan) -> Vec<(RecordKey, BatchNumber)> {
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

    /// Whom a restored stream is charged to: whom its record names.
    fn charged_to(&self, introducer: Introducer) -> Introducer {
        match self.flaws.has(Flaw::ChargesNotRebuilt) {
            true => Introducer::Slot(SlotIndex::new(u16::MAX)),
            false => introducer,
        }
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
                let introducer = self.charged_to(introducer);
                self.take_in(Box::new(ReceiverStream { filed, window, custody, introducer, spent }));
            }
        }
        Ok(key)
    }
}
