//! How much of each bound of the receiver's table is in use.
//!
//! Promise: told once for each change and computed for nothing else, so that admissions that change nothing pay nothing.

use super::Tables;
use crate::streams::key::Table;
use crate::streams::record::Introducer;

/// Streams of the receiver's table against each of its bounds, staged ones included.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableUse {
    /// Streams in the table, the set U not counted.
    pub streams: u32,
    /// Streams of the slot that has the most.
    pub fullest_slot: u32,
    /// Streams above their slots' floors.
    pub pool: u32,
    /// Streams of mail out of the node's relay inbox.
    pub inbox: u32,
    /// Streams of the node's own signalling.
    pub own: u32,
    /// Deliveries in relay custody.
    pub custody: u32,
}

impl Tables {
    /// What is in use, if that changed since this was asked last.
    pub(in crate::streams) fn changed_use(&mut self) -> Option<TableUse> {
        let custody = std::mem::replace(&mut self.custody_told, self.custody.len());
        let changes = std::mem::take(&mut self.changes);
        (changes > 0 || custody != self.custody_told).then(|| self.table_use())
    }

    fn table_use(&self) -> TableUse {
        let charges = &self.charges;
        TableUse {
            streams: u32::try_from(self.streams(Table::Receiver)).unwrap_or(u32::MAX),
            fullest_slot: charges.slots().iter().copied().max().unwrap_or(0),
            pool: charges.pooled(),
            inbox: charges.of(Introducer::Inbox),
            own: charges.of(Introducer::Own),
            custody: u32::try_from(self.custody.len()).unwrap_or(u32::MAX),
        }
    }
}
