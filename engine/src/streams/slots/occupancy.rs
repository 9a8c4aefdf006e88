//! Which slots have a connection.
//!
//! Promise: an admitted connection takes the cleanest free slot, the one with the fewest streams and of those the lowest
//! (decision 2), and frees it when it is retired. At a restart all slots are free, and charged as they were.

use super::bounds::SlotIndex;
use crate::identity::Did;
use crate::streams::link_local::Link;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// No slot is free: the connection is not admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("all {slots} connection slots are taken: no further connection is admitted")]
pub struct NoFreeSlot {
    /// How many there are.
    pub slots: u16,
}

/// The slots of one life, each taken or free.
#[derive(Clone, Debug)]
pub(in crate::streams) struct Occupancy(Arc<Mutex<Vec<bool>>>);

impl Occupancy {
    pub(in crate::streams) fn new(slots: u16) -> Self {
        Self(Arc::new(Mutex::new(vec![false; usize::from(slots)])))
    }

    /// Takes the cleanest free slot; `charged` says how many streams each slot has.
    pub(in crate::streams) fn take(
        &self,
        peer: Did,
        charged: impl FnOnce() -> Vec<u32>,
    ) -> Result<SlotLease, NoFreeSlot> {
        let mut taken = self.locked();
        let slots = u16::try_from(taken.len()).expect("slots are numbered in 16 bits");
        let free = (0..slots).zip(charged()).filter(|(slot, _)| !taken[usize::from(*slot)]);
        let (slot, _) = free.min_by_key(|(slot, charged)| (*charged, *slot)).ok_or(NoFreeSlot { slots })?;
        taken[usize::from(slot)] = true;
        let link = Arc::new(Link::authenticated(peer));
        Ok(SlotLease { slot: SlotIndex::new(slot), link, occupancy: self.clone() })
    }

    /// No panic can happen while this lock is held.
    fn locked(&self) -> MutexGuard<'_, Vec<bool>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The slot of one admitted connection. Dropping it retires the connection: the slot is free for another, and what is
/// charged to it stays charged until it is spent.
#[must_use = "dropping a lease retires its connection"]
#[derive(Debug)]
pub struct SlotLease {
    slot: SlotIndex,
    link: Arc<Link>,
    occupancy: Occupancy,
}

impl SlotLease {
    /// The slot, for [`crate::streams::record::Introducer::Slot`]. What the connection delivered stays this slot's, also
    /// where it is admitted after the connection was retired.
    #[must_use]
    pub const fn slot(&self) -> SlotIndex {
        self.slot
    }

    /// Who is at the other end.
    #[must_use]
    pub fn peer(&self) -> Did {
        self.link.peer()
    }

    /// The connection, for what arrives on it while it lasts. Nothing may keep it longer than the lease: its volatile window
    /// ends with it.
    #[must_use]
    pub const fn link(&self) -> &Arc<Link> {
        &self.link
    }
}

impl Drop for SlotLease {
    fn drop(&mut self) {
        self.occupancy.locked()[usize::from(self.slot.get())] = false;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn take(occupancy: &Occupancy, charged: &[u32]) -> Result<SlotLease, NoFreeSlot> {
        occupancy.take(Did([7; 20]), || charged.to_vec())
    }

    #[test]
    fn a_connection_takes_the_cleanest_free_slot_and_of_those_the_lowest() {
        let occupancy = Occupancy::new(5);
        let charged = [3, 1, 40, 1, 2];
        let leases: Vec<_> = (0..5).map(|_| take(&occupancy, &charged).unwrap()).collect();
        let slots: Vec<_> = leases.iter().map(|lease| lease.slot().get()).collect();
        assert_eq!(slots, [1, 3, 4, 0, 2]);
        assert_eq!(leases[0].peer(), Did([7; 20]));
        assert_eq!(take(&occupancy, &charged).unwrap_err(), NoFreeSlot { slots: 5 });
    }

    #[test]
    fn a_retired_connection_frees_its_slot_and_no_other() {
        let occupancy = Occupancy::new(2);
        let (first, second) = (take(&occupancy, &[0, 0]).unwrap(), take(&occupancy, &[9, 0]).unwrap());
        assert_eq!((first.slot().get(), second.slot().get()), (0, 1));
        drop(first);
        assert_eq!(
            take(&occupancy, &[9, 0]).unwrap().slot().get(),
            0,
            "charged, and the only one that is free"
        );
        drop(second);
        assert_eq!(take(&occupancy, &[9, 0]).unwrap().slot().get(), 1);
    }

    #[test]
    fn a_node_without_slots_admits_no_connection() {
        assert_eq!(take(&Occupancy::new(0), &[]).unwrap_err(), NoFreeSlot { slots: 0 });
    }
}
