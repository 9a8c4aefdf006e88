//! Delegation references: on a link a delegation travels once, and then as its digest (decision 6).
//!
//! Promise: a reference of an honest sender resolves whenever its frame was under way for less than two delivery bounds,
//! in whatever order frames, and the answers to them, arrive or are lost. A reference that misses drops its frame, which is
//! never delivered late, so the frames of a lane reach admission in the order in which they arrived (seed 000, Stream and
//! transcript).
//!
//! How: an inline delegation carries the sender's own clock as a *stamp*, and the receiver, once the delegation is in its
//! table, gives the stamp back. The stamp begins a *lease*: so long after it, and no longer, the sender may put the digest
//! in the delegation's place. The receiver keeps a delegation for a lease and two delivery bounds after its last use. A
//! use that began the lease came no earlier than its stamp; a reference leaves no later than a lease after the stamp, and is
//! under way for less than two delivery bounds; so it finds the delegation. Where the table is full of delegations that are
//! still to be kept, the receiver *disclaims* the new one, and the sender goes on sending it inline.
//!
//! A table belongs to one direction of one generation of a connection, and ends with it. Frames are to be resolved on
//! arrival, before they wait in their lane: one that waits there after that has what it needs, however long it waits.
//!
//! Contexts without a link carry both delegations inline and know no references: out-of-band handshakes, payloads that
//! are cut into chunks, payloads in a relay inbox, frames of a peer other than the handshake's. They use
//! [`Payload::encoded`](super::payload::Payload::encoded).

mod frame;
mod received;
mod sent;
#[cfg(test)]
mod tests;

pub use frame::FrameError;
pub use received::{Miss, ReceivedReferences, ReceiverCounters};
pub use sent::{SenderCounters, SentReferences};

use super::transaction::{DELEGATION_MAX_BYTES, put_delegation};
use crate::identity::delegation::Delegation;
use crate::identity::signing::sha256;
use crate::units::MonotonicNs;
use std::fmt;

/// Delegations that a sender refers to, a link and direction.
pub const SENT_MAX: usize = 64;

/// Delegations that a receiver keeps, a link and direction.
pub const RECEIVED_MAX: usize = 128;

/// The longest that the transport takes over the delivery of a frame, in milliseconds (facts 9).
pub const DELIVERY_BOUND_MS: u64 = 25_000;

/// How long after its stamp a delegation may be referred to, in nanoseconds of the sender's clock.
pub const LEASE_NS: u64 = DELIVERY_BOUND_MS * 1_000_000;

/// How long after its last use a delegation is kept at least, in nanoseconds of the receiver's clock: the lease that the
/// use may have begun, and the two delivery bounds of decision 6 after it.
pub const RETENTION_NS: u64 = LEASE_NS + 2 * DELIVERY_BOUND_MS * 1_000_000;

/// The last 20 bytes of SHA-256 of an encoded delegation. A receiver files a delegation under the digest of what arrived,
/// so that a reference resolves to the very delegation or to nothing.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DelegationDigest(pub [u8; 20]);

impl DelegationDigest {
    /// The digest of a delegation.
    #[must_use]
    pub fn of(delegation: &Delegation) -> Self {
        let mut encoded = Vec::with_capacity(DELEGATION_MAX_BYTES);
        put_delegation(&mut encoded, delegation);
        let hash = sha256(&[&encoded]);
        Self(*hash.last_chunk().expect("a hash has 32 bytes"))
    }
}

impl fmt::Display for DelegationDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for DelegationDigest {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// What stands in a frame where a delegation belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Slot {
    /// The delegation.
    Inline {
        /// It.
        delegation: Delegation,
        /// The sender's clock when it was sent; the receiver only gives it back.
        stamp: MonotonicNs,
    },
    /// The digest of one that the receiver keeps.
    Reference(DelegationDigest),
}

/// What a receiver says to an inline delegation, over the same connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is kept.
    Known {
        /// Which.
        digest: DelegationDigest,
        /// The stamp that came with it.
        stamp: MonotonicNs,
    },
    /// It is not, for there is no room.
    Disclaimed {
        /// Which.
        digest: DelegationDigest,
    },
}
