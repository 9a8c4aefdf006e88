//! The bounds of connection slots, where a plan does not keep the seed's.
//!
//! Promise: small bounds are reached by small runs, and mean the same.

use groundhog_engine::streams::slots::{DEFAULT_SUCCESSORS, SlotBounds};
use serde::{Deserialize, Serialize};

/// How many slots a node has, and how many streams may be charged to each introducer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Slots {
    /// Connection slots.
    pub slots: u16,
    /// Streams that each slot may have whatever the others have.
    pub floor: u32,
    /// Streams that all slots together may have above their floors.
    pub pool: u32,
    /// Streams that mail out of the node's own relay inbox may have.
    pub inbox: u32,
    /// Streams that out-of-band signalling of the node itself may have.
    pub self_share: u32,
}

impl Slots {
    /// The seed's figures for a node that keeps so many successors.
    #[must_use]
    pub const fn of_successors(successors: u8) -> Self {
        let SlotBounds { slots, floor, pool, inbox, self_share } = SlotBounds::for_successors(successors);
        Self { slots, floor, pool, inbox, self_share }
    }

    /// As the engine takes them.
    #[must_use]
    pub const fn bounds(&self) -> SlotBounds {
        let Self { slots, floor, pool, inbox, self_share } = *self;
        SlotBounds { slots, floor, pool, inbox, self_share }
    }
}

impl super::Engines {
    /// The bounds of every node's slots: the seed's where the plan says nothing.
    #[must_use]
    pub fn slot_bounds(&self) -> SlotBounds {
        self.slots.map_or(SlotBounds::for_successors(DEFAULT_SUCCESSORS), |slots| slots.bounds())
    }
}
