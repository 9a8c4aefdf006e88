//! How many slots a node has, and the bounds that new streams are held against.
//!
//! Promise: pure arithmetic of the seed's figures; a refusal names the bound that it met.

use serde::{Deserialize, Serialize};
use std::fmt;

/// Successors that a node keeps where nothing else is asked for (seed 000, Receiver streams by connection slot).
pub const DEFAULT_SUCCESSORS: u8 = 3;

/// Bits of a ring identifier: a node has a finger for each.
const RING_BITS: u16 = 160;

/// One connection slot of a node, from 0. Given by [`super::SlotLease`] alone: nobody else says which slot a peer has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct SlotIndex(u16);

impl SlotIndex {
    pub(crate) const fn new(index: u16) -> Self {
        Self(index)
    }

    /// The slot's number.
    #[must_use]
    pub const fn get(self) -> u16 {
        self.0
    }
}

impl fmt::Display for SlotIndex {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "slot {}", self.0)
    }
}

/// How many connection slots there are, and how many streams each introducer may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotBounds {
    /// Connection slots.
    pub slots: u16,
    /// Streams that each slot may have whatever the others have.
    pub floor: u32,
    /// Streams that all slots together may have above their floors.
    pub pool: u32,
    /// Streams that mail out of the node's own relay inbox may have.
    pub inbox: u32,
    /// Streams that out-of-band connection signalling of the node itself may have.
    pub self_share: u32,
}

impl SlotBounds {
    /// The seed's bounds for a node that keeps so many successors: 2 (160 + s + 1) slots.
    #[must_use]
    pub const fn for_successors(successors: u8) -> Self {
        let slots = 2 * (RING_BITS + successors as u16 + 1);
        Self { slots, floor: 32, pool: 3_328, inbox: 768, self_share: 1_024 }
    }

    /// The most streams that these bounds admit together.
    #[must_use]
    pub const fn most_streams(&self) -> u64 {
        let floors = self.slots as u64 * self.floor as u64;
        floors + self.pool as u64 + self.inbox as u64 + self.self_share as u64
    }

    /// How much of the pool one of `over_floor` slots above their floors may have: its even share, rounded up (decision
    /// 2). Rounded up, the shares may be more than the pool, which is a bound of its own.
    ///
    /// # Panics
    /// When `over_floor` is zero: who asks is one of them.
    #[must_use]
    pub const fn fair_claim(&self, over_floor: u32) -> u32 {
        self.pool.div_ceil(over_floor)
    }
}

/// Which bound refuses a new stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, thiserror::Error)]
pub enum CapacityBound {
    /// The slot has its floor, and there is no pool to go beyond it. A floor of 0: there is no such slot.
    #[error("the floor of {floor} streams")]
    Floor {
        /// Streams of the floor.
        floor: u32,
    },
    /// The slot has its floor and its fair claim on the pool.
    #[error("the fair claim of {claim} streams above the floor, one of {over_floor} slots")]
    Claim {
        /// Streams above the floor.
        claim: u32,
        /// Slots above their floors, this one included.
        over_floor: u32,
    },
    /// The slot has its floor, and the others have all of the pool.
    #[error("the pool of {pool} streams")]
    Pool {
        /// Streams of the pool.
        pool: u32,
    },
    /// The inbox has its share.
    #[error("the inbox's share of {share} streams")]
    Inbox {
        /// Streams of the share.
        share: u32,
    },
    /// The node itself has its share.
    #[error("the node's own share of {share} streams")]
    SelfShare {
        /// Streams of the share.
        share: u32,
    },
    /// The table is full, the set U counted in it.
    #[error("the table's {capacity} streams")]
    Table {
        /// Streams of the table.
        capacity: usize,
    },
}

impl CapacityBound {
    /// The bound's name in kebab case.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            CapacityBound::Floor { .. } => "floor",
            CapacityBound::Claim { .. } => "claim",
            CapacityBound::Pool { .. } => "pool",
            CapacityBound::Inbox { .. } => "inbox",
            CapacityBound::SelfShare { .. } => "self",
            CapacityBound::Table { .. } => "table",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_figures_are_the_seeds() {
        for (successors, slots, most_streams) in
            [(0, 322, 15_424), (3, 328, 15_616), (4, 330, 15_680), (15, 352, 16_384), (16, 354, 16_448)]
        {
            let bounds = SlotBounds::for_successors(successors);
            assert_eq!((bounds.slots, bounds.most_streams()), (slots, most_streams), "{successors}");
        }
        assert_eq!(SlotBounds::for_successors(u8::MAX).slots, 832);
        assert_eq!(328 * 32 + 3_328 + 1_024 + 768, 15_616);
    }

    #[test]
    fn a_fair_claim_is_the_even_share_rounded_up() {
        let bounds = SlotBounds::for_successors(DEFAULT_SUCCESSORS);
        for (over_floor, claim, together) in
            [(1, 3_328, 3_328), (2, 1_664, 3_328), (3, 1_110, 3_330), (100, 34, 3_400), (328, 11, 3_608)]
        {
            assert_eq!(bounds.fair_claim(over_floor), claim, "one of {over_floor}");
            assert_eq!(claim * over_floor, together, "more than the pool where it does not divide");
        }
    }
}
