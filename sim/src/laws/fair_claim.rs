//! Fair claims on the pool, as far as they can be judged from outside.
//!
//! Promise: a claim is called passed only by what was surely charged before the transaction arrived, and a refusal wrong only
//! where everything that may have been charged leaves the slot within its claim, and the pool and the table with room.

use super::reference_slots::{ReferenceSlots, RefusedNew};
use groundhog_engine::streams::key::StreamKey;
use groundhog_engine::streams::record::Introducer;
use groundhog_engine::streams::slots::{SlotBounds, SlotIndex};
use std::fmt;

/// A slot that had its claim when a new stream arrived through it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OverClaim {
    slot: SlotIndex,
    /// Streams that were surely charged to it.
    charged: u64,
    /// Slots that surely were above their floors, this one included.
    over_floor: u32,
    /// What each of them may have above its floor at most.
    claim: u32,
}

impl fmt::Display for OverClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { slot, charged, over_floor, claim } = self;
        write!(
            f,
            "{slot}, which had {charged} that were not spent: {over_floor} slots were above their floors, and {claim} is the claim of each"
        )
    }
}

/// A slot that was refused a new stream within its claim.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct WithinClaim {
    slot: SlotIndex,
    most: u64,
    claim: u32,
    pooled: u64,
}

impl fmt::Display for WithinClaim {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { slot, most, claim, pooled } = self;
        write!(
            f,
            "{slot}, which had at most {most}, with a claim of at least {claim} above its floor and at most {pooled} of the pool in use"
        )
    }
}

/// The slot, if the introducer is one that exists.
fn slot_of(introducer: Introducer, bounds: &SlotBounds) -> Option<SlotIndex> {
    match introducer {
        Introducer::Slot(slot) if slot.get() < bounds.slots => Some(slot),
        Introducer::Slot(_) | Introducer::Inbox | Introducer::Own => None,
    }
}

impl ReferenceSlots {
    /// Whether the slot through which a stream arrives has its claim already: then no stream that is new may be admitted.
    pub(super) fn over_claim(&mut self, stream: &StreamKey, introducer: Introducer) -> Option<OverClaim> {
        let bounds = self.bounds()?;
        let slot = slot_of(introducer, &bounds)?;
        if self.spent_of(stream).is_some_and(|spent| spent >= self.latest()) {
            return None;
        }
        let floor = u64::from(bounds.floor);
        let surely = self.surely();
        let charged = surely.get(&introducer).copied().unwrap_or(0);
        if charged < floor {
            return None;
        }
        let above = |(introducer, charged): &(&Introducer, &u64)| {
            slot_of(**introducer, &bounds).is_some() && **charged > floor
        };
        let over_floor = surely.iter().filter(above).count() + usize::from(charged == floor);
        let over_floor = u32::try_from(over_floor).expect("slots have 16 bits");
        let claim = bounds.fair_claim(over_floor);
        (charged - floor >= claim.into()).then_some(OverClaim { slot, charged, over_floor, claim })
    }

    /// Whether a refusal was wrong although the slot may have been above its floor: it was within its claim for sure, and
    /// neither the pool nor a table of this capacity can have been full.
    pub(super) fn refused_within_claim(
        &self,
        refused: &RefusedNew,
        capacity: u64,
        bounds: &SlotBounds,
    ) -> Option<WithinClaim> {
        let slot = slot_of(refused.introducer, bounds)?;
        let floor = u64::from(bounds.floor);
        let above = refused.most.saturating_sub(floor);
        // Alone it would have all of the pool. Who had what when it was refused is not known where streams have moved since.
        if above >= bounds.pool.into() || capacity < bounds.most_streams() || refused.moved > 0 {
            return None;
        }
        let (mut over_floor, mut pooled, mut total) = (0, 0, 0);
        for (introducer, most) in self.at_most() {
            total += most;
            if slot_of(introducer, bounds).is_some() && most > floor {
                over_floor += 1;
                pooled += most - floor;
            }
        }
        let claim = bounds.fair_claim(over_floor + u32::from(refused.most <= floor));
        let is_wrong = above < claim.into() && pooled < bounds.pool.into() && total < capacity;
        is_wrong.then_some(WithinClaim { slot, most: refused.most, claim, pooled })
    }
}
