//! Why a store does not open, and why a batch fails.

use crate::host::disk::{DiskError, DiskPath};
use crate::host::observe::{BatchNumber, RecordName};

/// Why a batch could not be written.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StoreError {
    /// The batch would pass the store's budget. Nothing was changed.
    #[error("the store holds {used} bytes, the batch needs {required}, the budget is {capacity}")]
    StorageBudgetExhausted {
        /// Bytes of record files before the batch.
        used: u64,
        /// Bytes of record files after it.
        required: u64,
        /// The budget in bytes.
        capacity: u64,
    },
    /// One record alone is larger than the store's budget. Nothing was changed.
    #[error("record {record} is {length} bytes long, the whole budget is {capacity}")]
    StorageValueExceedsCapacity {
        /// The record.
        record: RecordName,
        /// Its file's length in bytes.
        length: u64,
        /// The budget in bytes.
        capacity: u64,
    },
    /// The directory is gone. It is never created again: an empty one would forget every record.
    #[error("the store's directory {root} is gone")]
    StorageRootMissing {
        /// The directory.
        root: DiskPath,
    },
    /// The record is in the set U: it is kept as it is until an operator clears it. Nothing was changed.
    #[error("record {record} cannot be believed and is kept as it is")]
    RecordUnavailable {
        /// The record.
        record: RecordName,
    },
    /// A disk operation failed.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

/// A failed batch.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("batch {} failed: {source}", batch.0)]
pub struct BatchError {
    /// The batch.
    pub batch: BatchNumber,
    /// Whether a record of the batch may already stand in its place: its old and its new value are then both possible
    /// after a power failure, until it is written again (decision 13).
    pub landed: bool,
    /// What went wrong.
    pub source: StoreError,
}

/// Why a store does not open.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// Another process owns the directory.
    #[error("the store's directory {root} is owned by another process")]
    Locked {
        /// The directory.
        root: DiskPath,
    },
    /// The store holds more than the budget that it was opened with.
    #[error("the store in {root} holds {used} bytes, its budget was lowered to {capacity}")]
    BudgetLowered {
        /// The directory.
        root: DiskPath,
        /// Bytes of record files.
        used: u64,
        /// The budget in bytes.
        capacity: u64,
    },
    /// A record carries the last batch number there is.
    #[error("record {record} carries the last batch number there is")]
    BatchesExhausted {
        /// The record.
        record: RecordName,
    },
    /// The directory vanished while it was opened.
    #[error("the store's directory {root} is gone")]
    RootMissing {
        /// The directory.
        root: DiskPath,
    },
    /// A disk operation failed: no half-read directory is ever believed.
    #[error(transparent)]
    Disk(#[from] DiskError),
}

impl OpenError {
    /// The name in kebab case.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        match self {
            OpenError::Locked { .. } => "locked",
            OpenError::BudgetLowered { .. } => "budget-lowered",
            OpenError::BatchesExhausted { .. } => "batches-exhausted",
            OpenError::RootMissing { .. } => "root-missing",
            OpenError::Disk(_) => "disk",
        }
    }
}
