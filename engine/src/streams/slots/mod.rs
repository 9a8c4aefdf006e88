//! Connection slots: whom new streams are charged to, and how many each may have (seed 000, Receiver streams by connection
//! slot).
//!
//! Promise: a stream is charged to its introducer from its first transaction until it is retired, whoever brings the later
//! ones. A slot with fewer streams than its floor is never refused because of streams that came through others.

mod bounds;
mod charges;
mod occupancy;
mod spent_index;

pub use bounds::{CapacityBound, DEFAULT_SUCCESSORS, SlotBounds, SlotIndex};
pub use charges::Charges;
pub(super) use occupancy::Occupancy;
pub use occupancy::{NoFreeSlot, SlotLease};
pub(super) use spent_index::SpentIndex;
