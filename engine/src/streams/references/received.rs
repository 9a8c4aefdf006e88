//! What a receiver keeps.

use super::{Answer, DelegationDigest, RECEIVED_MAX, RETENTION_NS, Slot};
use crate::flaws::{Flaw, Flaws};
use crate::identity::delegation::Delegation;
use crate::units::MonotonicNs;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

#[derive(Clone, Copy, Debug)]
struct Received {
    delegation: Delegation,
    last_use: MonotonicNs,
}

/// A reference to what is not kept. Its frame is dropped; nothing waits for it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("no delegation of this link has the digest {digest}: the frame is dropped")]
pub struct Miss {
    /// What was referred to.
    pub digest: DelegationDigest,
}

/// How delegations arrived.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReceiverCounters {
    /// As digests of what was kept.
    pub resolved: u64,
    /// As digests of what was not: each dropped its frame.
    pub missed: u64,
    /// Inline, and new to the table.
    pub learned: u64,
    /// Kept no longer, to make room.
    pub evicted: u64,
    /// Inline, and there was no room.
    pub disclaimed: u64,
}

/// The receiver's side of one direction of one connection.
#[derive(Debug)]
pub struct ReceivedReferences {
    table: IndexMap<DelegationDigest, Received, FxBuildHasher>,
    capacity: usize,
    retention_ns: u64,
    counters: ReceiverCounters,
}

impl Default for ReceivedReferences {
    fn default() -> Self {
        Self::with_retention(RETENTION_NS)
    }
}

impl ReceivedReferences {
    /// A receiver that keeps so many delegations at most.
    #[must_use]
    pub fn new(capacity: usize, flaws: Flaws) -> Self {
        let retention_ns = if flaws.has(Flaw::ReferenceTableLru) { 0 } else { RETENTION_NS };
        Self { capacity, ..Self::with_retention(retention_ns) }
    }

    /// A receiver that gives a place away so long after its last use.
    pub(super) fn with_retention(retention_ns: u64) -> Self {
        let (table, counters) = Default::default();
        Self { table, capacity: RECEIVED_MAX, retention_ns, counters }
    }

    /// The delegation that a slot of a frame stands for, when the frame arrives at `now`; and for an inline one what the
    /// sender is to be told.
    ///
    /// # Errors
    /// [`Miss`]: the frame is to be dropped.
    pub fn resolve(&mut self, slot: &Slot, now: MonotonicNs) -> Result<(Delegation, Option<Answer>), Miss> {
        match slot {
            Slot::Inline { delegation, stamp } => {
                let digest = DelegationDigest::of(delegation);
                let answer = match self.keep(digest, delegation, now) {
                    true => Answer::Known { digest, stamp: *stamp },
                    false => Answer::Disclaimed { digest },
                };
                Ok((*delegation, Some(answer)))
            }
            Slot::Reference(digest) => match self.table.get_mut(digest) {
                Some(received) => {
                    received.last_use = received.last_use.max(now);
                    self.counters.resolved += 1;
                    Ok((received.delegation, None))
                }
                None => {
                    self.counters.missed += 1;
                    Err(Miss { digest: *digest })
                }
            },
        }
    }

    /// Whether the delegation is kept from now on.
    fn keep(&mut self, digest: DelegationDigest, delegation: &Delegation, now: MonotonicNs) -> bool {
        if let Some(received) = self.table.get_mut(&digest) {
            received.last_use = received.last_use.max(now);
            return true;
        }
        if self.table.len() == self.capacity && !self.evict(now) {
            self.counters.disclaimed += 1;
            return false;
        }
        self.table.insert(digest, Received { delegation: *delegation, last_use: now });
        self.counters.learned += 1;
        true
    }

    /// Whether a place was freed: that of the delegation used longest ago, if no reference to it can be under way for less
    /// than two delivery bounds.
    fn evict(&mut self, now: MonotonicNs) -> bool {
        let oldest = self.table.iter().map(|(digest, received)| (received.last_use, *digest)).min();
        let Some((last_use, digest)) = oldest else { return false };
        if now.0.saturating_sub(last_use.0) <= self.retention_ns {
            return false;
        }
        self.table.swap_remove(&digest);
        self.counters.evicted += 1;
        true
    }

    /// What was counted since the connection began.
    #[must_use]
    pub const fn counters(&self) -> &ReceiverCounters {
        &self.counters
    }

    /// How many delegations are kept.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }
}
