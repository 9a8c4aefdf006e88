//! Durable records: one file a record, in one directory that this store owns alone.
//!
//! Promise: after any crash every record is whole, at its previous or its new value (decisions 10, 12, 13). Nothing is
//! ever evicted: a write beyond the budget fails and changes nothing. The directory is read once, at open. A record
//! that cannot be believed is kept, named and never served.
//!
//! The store knows record names and bytes; what a value means is its engine's.

mod bounded;
mod claim;
mod error;
pub mod frame;
pub mod look;
pub mod name;
mod open;
#[cfg(test)]
mod tests;
mod write;

pub use error::{BatchError, OpenError, StoreError};

use crate::flaws::Flaws;
use crate::host::Host;
use crate::host::disk::{DiskErrorKind, DiskPath, FileHandle};
use crate::host::observe::{BatchNumber, RecordName, Roles};
use crate::streams::key::Table;
use bytes::Bytes;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::collections::BTreeSet;
use std::sync::Arc;

/// The budget of a store: 40 MiB of record files (seed 000, Persistence and bounds).
pub const CAPACITY_BYTES: u64 = 40 * 1024 * 1024;

/// How many files of one batch, or of the scan, are worked on at a time.
pub const CONCURRENT_FILES: usize = 32;

/// One record: what it is filed under, and its value.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Record {
    /// The whole storage key; the record's name is the start of its hash. At most 65,535 bytes.
    pub storage_key: Arc<str>,
    /// The value, opaque to the store.
    pub value: Bytes,
}

/// A record to write. `name` must be [`name::record_name`] of the record's storage key.
#[derive(Clone, Debug)]
pub struct Put {
    /// The record's name.
    pub name: RecordName,
    /// Whose record, for an onlooker.
    pub table: Table,
    /// What to write.
    pub record: Record,
}

/// A record to remove.
#[derive(Clone, Copy, Debug)]
pub struct Removal {
    /// The record's name.
    pub name: RecordName,
    /// Whose record, for an onlooker.
    pub table: Table,
}

/// How a store is opened.
#[derive(Clone, Copy, Debug)]
pub struct StoreConfig {
    /// The budget: sum of the record files' lengths in bytes.
    pub capacity_bytes: u64,
    /// Known-bad behaviours; none in a real node.
    pub flaws: Flaws,
}

impl Default for StoreConfig {
    fn default() -> Self {
        Self { capacity_bytes: CAPACITY_BYTES, flaws: Flaws::NONE }
    }
}

/// What the one scan at open found, each list in the order of names.
#[derive(Clone, Debug, Default)]
pub struct Scan {
    /// Whole records, each filed under its own name.
    pub records: Vec<StoredRecord>,
    /// The store's part of the set U: names that must not be served (seed 000, Bad records).
    pub bad: Vec<BadRecord>,
}

/// A whole record and the batch that wrote it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRecord {
    /// Its name.
    pub name: RecordName,
    /// Storage key and value.
    pub record: Record,
    /// The batch that wrote this value.
    pub generation: BatchNumber,
}

/// A record that cannot be believed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadRecord {
    /// The name in whose place it lies.
    pub name: RecordName,
    /// What is wrong with it.
    pub reason: BadReason,
    /// The storage key of this name, where the bytes still spell it; of another name, where the record is misfiled.
    pub storage_key: Option<Arc<str>>,
}

/// What is wrong with a record that cannot be believed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum BadReason {
    /// Its bytes are not one whole record: torn, corrupt, or of another build.
    #[error("undecodable: {0}")]
    Undecodable(frame::FrameError),
    /// It could not be read: any error but the absence of the entry.
    #[error("unreadable: {0}")]
    Unreadable(DiskErrorKind),
    /// It is whole, and is the record of another name.
    #[error("misfiled: a whole record of another key")]
    Misfiled,
    /// Its presence marker is there and it is gone.
    #[error("missing: its presence marker has no record")]
    Missing,
}

impl BadReason {
    /// The name in kebab case.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            BadReason::Undecodable(_) => "undecodable",
            BadReason::Unreadable(_) => "unreadable",
            BadReason::Misfiled => "misfiled",
            BadReason::Missing => "missing",
        }
    }
}

/// An open store. Owned by one writer; it gives no reads, because its owner holds everything in memory.
#[derive(Debug)]
pub struct FileStore {
    host: Host,
    root: DiskPath,
    capacity_bytes: u64,
    flaws: Flaws,
    lock: FileHandle,
    /// Length of every record file that the owner knows of, as of the last durable batch.
    index: IndexMap<RecordName, u64, FxBuildHasher>,
    /// Names of the set U: kept, never overwritten, never removed.
    unavailable: BTreeSet<RecordName>,
    /// Sum of the lengths in `index` and of the bad records' files.
    used_bytes: u64,
    /// The last durable batch.
    durable: BatchNumber,
    /// The number of the first batch of this life.
    next_batch: BatchNumber,
    /// Records that became durable without a marker: `finish_batch` marks them.
    unmarked: Vec<(RecordName, Roles)>,
    /// Names without a record in `index` whose file may be there: `finish_batch` unlinks them.
    unremoved: BTreeSet<RecordName>,
    /// Markers created since the last directory flush that succeeded.
    fresh_markers: Vec<RecordName>,
    /// Markers of which nobody knows what a power failure would leave: the next batch writes each of them anew.
    unknown_markers: BTreeSet<RecordName>,
}

impl FileStore {
    /// The number of the next batch when the store was opened: one above the highest generation that the scan found.
    #[must_use]
    pub const fn next_batch(&self) -> BatchNumber {
        self.next_batch
    }

    /// Bytes of all record files, as of the last durable batch.
    #[must_use]
    pub const fn used_bytes(&self) -> u64 {
        self.used_bytes
    }

    /// Records in the store, as of the last durable batch; the set U is not among them.
    #[must_use]
    pub fn records(&self) -> usize {
        self.index.len()
    }

    /// Gives the directory up, for another owner to open.
    pub fn close(self) {
        self.host.close(self.lock);
    }

    /// A second writer of the same directory, as no correct engine may have one.
    #[cfg(feature = "flaws")]
    pub(crate) fn twin(&self) -> FileStore {
        FileStore {
            host: self.host.clone(),
            root: self.root.clone(),
            index: self.index.clone(),
            unavailable: self.unavailable.clone(),
            unmarked: self.unmarked.clone(),
            unremoved: self.unremoved.clone(),
            fresh_markers: self.fresh_markers.clone(),
            unknown_markers: self.unknown_markers.clone(),
            ..*self
        }
    }
}
