//! Relay custody: deliveries out of the node's own relay inbox that are admitted and not taken (seed 000, Receiver streams by
//! connection slot; decision 4).
//!
//! Promise: a delivery leaves custody when the application takes its mail or when it is spent, and for nothing else. At most
//! [`CUSTODY_MAX_ENTRIES`](super::record::CUSTODY_MAX_ENTRIES) are in custody, of the whole store; then a new one is refused
//! and nothing changes. Each entry stands in its stream's record; what is here is counted from there.

mod index;
mod reports;

pub(super) use index::CustodyIndex;

/// What happened to deliveries out of the relay inbox, counted since the open. What a failed batch took back is not counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CustodyCounters {
    /// Deliveries that entered custody.
    pub taken_in: u64,
    /// Deliveries dispatched again.
    pub redelivered: u64,
    /// Mail that the application took.
    pub taken: u64,
    /// Entries that were spent before their mail was taken.
    pub expired: u64,
    /// Deliveries refused because custody was at its bound.
    pub refused_full: u64,
    /// Calls to take what was not in custody.
    pub not_in_custody: u64,
}
