//! Which introducer has how many streams, and whether it may have one more.
//!
//! Promise: counted up and down one stream at a time, whatever the number of streams and slots; equal streams give equal
//! charges, in whatever order they came and went.

use super::bounds::{CapacityBound, SlotBounds, SlotIndex};
use crate::streams::record::Introducer;

/// Streams by introducer. A stream whose slot does not exist, since the node keeps fewer successors than it did, is
/// charged to no slot and holds a place in the table alone (decision 9).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Charges {
    bounds: SlotBounds,
    slots: Vec<u32>,
    inbox: u32,
    own: u32,
    no_slot: u32,
    /// Slots with more streams than their floor.
    over_floor: u32,
    /// Streams above their slots' floors.
    pooled: u32,
}

impl Charges {
    /// Nothing is charged yet.
    #[must_use]
    pub fn new(bounds: SlotBounds) -> Self {
        let slots = vec![0; usize::from(bounds.slots)];
        Self { bounds, slots, inbox: 0, own: 0, no_slot: 0, over_floor: 0, pooled: 0 }
    }

    /// The bounds that are held.
    #[must_use]
    pub const fn bounds(&self) -> &SlotBounds {
        &self.bounds
    }

    /// Streams of each slot, in the order of slots.
    #[must_use]
    pub fn slots(&self) -> &[u32] {
        &self.slots
    }

    /// Streams of an introducer. Those whose slot does not exist are counted together.
    #[must_use]
    pub fn of(&self, introducer: Introducer) -> u32 {
        match introducer {
            Introducer::Slot(slot) => self.slot(slot).unwrap_or(self.no_slot),
            Introducer::Inbox => self.inbox,
            Introducer::Own => self.own,
        }
    }

    /// Streams whose slot does not exist.
    #[must_use]
    pub const fn no_slot(&self) -> u32 {
        self.no_slot
    }

    /// Streams above their slots' floors.
    #[must_use]
    pub const fn pooled(&self) -> u32 {
        self.pooled
    }

    /// Slots with more streams than their floor.
    #[must_use]
    pub const fn over_floor(&self) -> u32 {
        self.over_floor
    }

    /// Whether the introducer's share has room for one more stream; else the bound that it has met.
    ///
    /// # Errors
    /// [`CapacityBound`], never that of the table.
    pub fn room_for(&self, introducer: Introducer) -> Result<(), CapacityBound> {
        let SlotBounds { inbox, self_share, .. } = self.bounds;
        match introducer {
            Introducer::Slot(slot) => self.room_in(slot),
            Introducer::Inbox if self.inbox < inbox => Ok(()),
            Introducer::Inbox => Err(CapacityBound::Inbox { share: inbox }),
            Introducer::Own if self.own < self_share => Ok(()),
            Introducer::Own => Err(CapacityBound::SelfShare { share: self_share }),
        }
    }

    fn room_in(&self, slot: SlotIndex) -> Result<(), CapacityBound> {
        let SlotBounds { floor, pool, .. } = self.bounds;
        let Some(charged) = self.slot(slot) else { return Err(CapacityBound::Floor { floor: 0 }) };
        if charged < floor {
            return Ok(());
        }
        if pool == 0 {
            return Err(CapacityBound::Floor { floor });
        }
        let over_floor = self.over_floor + u32::from(charged == floor);
        let claim = self.bounds.fair_claim(over_floor);
        if charged - floor >= claim {
            Err(CapacityBound::Claim { claim, over_floor })
        } else if self.pooled >= pool {
            Err(CapacityBound::Pool { pool })
        } else {
            Ok(())
        }
    }

    /// Charges a stream.
    pub(in crate::streams) fn add(&mut self, introducer: Introducer) {
        let floor = self.bounds.floor;
        let charged = self.count(introducer);
        *charged += 1;
        let now = *charged;
        if self.is_pooled(introducer) && now > floor {
            self.pooled += 1;
            self.over_floor += u32::from(now == floor + 1);
        }
    }

    /// Takes a stream's charge back.
    pub(in crate::streams) fn remove(&mut self, introducer: Introducer) {
        let floor = self.bounds.floor;
        let charged = self.count(introducer);
        let before = *charged;
        assert!(before > 0, "a charge that is taken back was made");
        *charged = before - 1;
        if self.is_pooled(introducer) && before > floor {
            self.pooled -= 1;
            self.over_floor -= u32::from(before == floor + 1);
        }
    }

    fn slot(&self, slot: SlotIndex) -> Option<u32> {
        self.slots.get(usize::from(slot.get())).copied()
    }

    /// Whether the introducer has a floor of the pool's.
    fn is_pooled(&self, introducer: Introducer) -> bool {
        matches!(introducer, Introducer::Slot(slot) if self.slot(slot).is_some())
    }

    fn count(&mut self, introducer: Introducer) -> &mut u32 {
        match introducer {
            Introducer::Slot(slot) => {
                self.slots.get_mut(usize::from(slot.get())).unwrap_or(&mut self.no_slot)
            }
            Introducer::Inbox => &mut self.inbox,
            Introducer::Own => &mut self.own,
        }
    }
}

#[cfg(test)]
#[path = "charges_tests.rs"]
mod tests;
