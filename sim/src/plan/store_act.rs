//! Acts on a node's store that no engine does: an operator's, and damage that came from outside.
//!
//! Promise: a record is named by its stream and its table, never by its file; what an act did is durable when it is done.

use crate::units::NodeId;
use groundhog_engine::streams::key::{Class, Table};
use serde::{Deserialize, Serialize};

/// One record: its stream, by whose accounts it is between, and its table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RecordOf {
    /// Who signs in the stream.
    pub origin: NodeId,
    /// Who admits it.
    pub destination: NodeId,
    /// Its class.
    pub class: Class,
    /// The sender's lease, or the receiver's window.
    pub table: Table,
}

impl RecordOf {
    /// The node whose store holds it.
    #[must_use]
    pub const fn holder(&self) -> NodeId {
        match self.table {
            Table::Sender => self.origin,
            Table::Receiver => self.destination,
        }
    }
}

/// What is done to a store. An act on a record that is not there does nothing, and so does one that would take away or
/// rename a record that has no marker yet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum StoreAct {
    /// The record's file is removed, and its marker stays.
    RemoveRecord {
        /// Which record.
        of: RecordOf,
    },
    /// The presence marker is removed, and the record stays.
    RemoveMarker {
        /// Of which record.
        of: RecordOf,
    },
    /// The record's file takes the name of another record of the same store, and that one's content is gone.
    Rename {
        /// Which record.
        of: RecordOf,
        /// Whose name it takes.
        to: RecordOf,
    },
    /// The record's file takes its own name in upper case.
    UpperCase {
        /// Which record.
        of: RecordOf,
    },
    /// The files of two records of one store change places.
    Swap {
        /// One of them.
        of: RecordOf,
        /// The other.
        with: RecordOf,
    },
    /// The record's file is cut short.
    Truncate {
        /// Which record.
        of: RecordOf,
        /// What is left of it, in bytes; one that is no longer loses its last byte.
        to_bytes: u32,
    },
    /// One bit of the record's file is flipped where it lies.
    FlipBit {
        /// Of which record.
        of: RecordOf,
        /// Which bit, modulo the file's number of bits.
        bit: u32,
    },
    /// One sector of the record's file can no longer be read, until every fault ends.
    Unreadable {
        /// Of which record.
        of: RecordOf,
        /// Which sector, modulo the file's number of sectors.
        sector: u32,
    },
    /// The store's directory is removed with everything in it.
    RemoveStore,
    /// The store is opened with this budget for as long as the act lasts; a life that was so opened ends with it.
    LowerBudget {
        /// The budget in bytes.
        to_bytes: u64,
    },
    /// An operator clears one stream: marker and record are removed, in this order.
    Clear {
        /// Which record.
        of: RecordOf,
    },
    /// The receiver's record is as a build wrote it that did not charge streams to anybody.
    WithoutCharge {
        /// Which record.
        of: RecordOf,
    },
    /// What an older build kept of all streams together lies in the store.
    SharedSnapshot,
}

impl StoreAct {
    /// The kind of act, as counted.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        match self {
            StoreAct::RemoveRecord { .. } => "record-removed",
            StoreAct::RemoveMarker { .. } => "marker-removed",
            StoreAct::Rename { .. } => "record-renamed",
            StoreAct::UpperCase { .. } => "record-in-upper-case",
            StoreAct::Swap { .. } => "records-swapped",
            StoreAct::Truncate { .. } => "record-truncated",
            StoreAct::FlipBit { .. } => "record-bit-flipped",
            StoreAct::Unreadable { .. } => "record-unreadable",
            StoreAct::RemoveStore => "store-removed",
            StoreAct::LowerBudget { .. } => "budget-lowered",
            StoreAct::Clear { .. } => "stream-cleared",
            StoreAct::WithoutCharge { .. } => "record-without-charge",
            StoreAct::SharedSnapshot => "shared-snapshot",
        }
    }

    /// The records that it names.
    #[must_use]
    pub fn records(&self) -> Vec<RecordOf> {
        let mut copy = *self;
        let mut records = Vec::new();
        copy.each_record(&mut |record| records.push(*record));
        records
    }

    /// Visits the records that it names.
    pub fn each_record(&mut self, visit: &mut dyn FnMut(&mut RecordOf)) {
        match self {
            StoreAct::RemoveRecord { of }
            | StoreAct::RemoveMarker { of }
            | StoreAct::UpperCase { of }
            | StoreAct::Truncate { of, .. }
            | StoreAct::FlipBit { of, .. }
            | StoreAct::Unreadable { of, .. }
            | StoreAct::Clear { of }
            | StoreAct::WithoutCharge { of } => visit(of),
            StoreAct::Rename { of, to: other } | StoreAct::Swap { of, with: other } => {
                visit(of);
                visit(other);
            }
            StoreAct::RemoveStore | StoreAct::LowerBudget { .. } | StoreAct::SharedSnapshot => {}
        }
    }

    /// Whether what it touches is forgotten, so that the streams begin again.
    #[must_use]
    pub const fn forgets(&self) -> bool {
        matches!(self, StoreAct::Clear { .. } | StoreAct::RemoveStore)
    }
}
