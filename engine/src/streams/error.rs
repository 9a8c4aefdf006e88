//! Why the streams refuse.
//!
//! Promise: every refusal names its stream and the limit or finding behind it, and has one name in kebab case.

use super::evidence::ForkEvidence;
use super::key::StreamKey;
use super::quota::QuotaError;
use super::record::Introducer;
use super::slots::CapacityBound;
use super::tables::Counters;
use crate::commit::CommitError;
use crate::host::Unscheduled;
use crate::host::observe::RecordName;
use crate::identity::Did;
use crate::store;
use crate::units::{Sequence, WallMs};

/// Why neither a reservation nor an admission can be judged or kept.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Refusal {
    /// No authoritative store was supplied: what is kept in memory alone is lost at the next restart.
    #[error("there is no authoritative store: every reservation and admission is refused")]
    StorageUnavailable,
    /// The stream's record is in the set U, until an operator clears it.
    #[error(
        "the record {record} of stream {stream} does not restore: the stream is refused until it is cleared"
    )]
    StreamUnavailable {
        /// The stream.
        stream: StreamKey,
        /// Its record.
        record: RecordName,
    },
    /// The stream is new, and who introduced it is at a bound. Streams in the table go on.
    #[error("{stream} is new, and {introducer} may bring no more: it has met {bound}")]
    StreamCapacityExceeded {
        /// The new stream.
        stream: StreamKey,
        /// Whom it would be charged to.
        introducer: Introducer,
        /// Which bound.
        bound: CapacityBound,
    },
    /// So much mail is admitted and not taken that no more is let in. The mail stays where it is held.
    #[error(
        "{stream} at {sequence} came out of the relay inbox, and {held} deliveries are in custody of at most {bound}: it waits until one is taken, or {until} is past"
    )]
    RelayCustodyFull {
        /// The stream.
        stream: StreamKey,
        /// The sequence.
        sequence: Sequence,
        /// Deliveries in custody.
        held: usize,
        /// How many may be.
        bound: usize,
        /// The last instant of the one that is spent first.
        until: WallMs,
    },
    /// The origin is over its quota: see [`QuotaError`]. A later transaction may pass.
    #[error(transparent)]
    Quota(#[from] QuotaError),
    /// The stream is new, and this node's own table is full. Streams in it go on.
    #[error("the sender's table is at its bound of {capacity} streams: {stream} is new and refused")]
    SenderTableFull {
        /// The new stream.
        stream: StreamKey,
        /// The table's bound.
        capacity: usize,
    },
    /// The result is not durable: see [`CommitError`].
    #[error(transparent)]
    Commit(#[from] CommitError),
    /// Nothing was started.
    #[error(transparent)]
    Unscheduled(#[from] Unscheduled),
}

impl Refusal {
    /// The id of [`Refusal::StreamUnavailable`].
    pub const UNAVAILABLE: &'static str = "stream-unavailable";

    /// The name in kebab case.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        match self {
            Refusal::StorageUnavailable => "storage-unavailable",
            Refusal::StreamUnavailable { .. } => Self::UNAVAILABLE,
            Refusal::RelayCustodyFull { .. } => "relay-custody-full",
            Refusal::Quota(error) => error.id(),
            Refusal::StreamCapacityExceeded { .. } | Refusal::SenderTableFull { .. } => {
                "stream-capacity-exceeded"
            }
            Refusal::Commit(CommitError::Failed(_)) => "persistence",
            Refusal::Commit(CommitError::Overloaded { .. }) => "overloaded",
            Refusal::Commit(CommitError::Unscheduled) | Refusal::Unscheduled(_) => "unscheduled",
        }
    }
}

/// Why no sequence was reserved.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ReserveError {
    /// The stream's sequences would wrap. Nothing was written.
    #[error("stream {stream} has no {count} sequences left")]
    SequenceExhausted {
        /// The stream.
        stream: StreamKey,
        /// How many were asked for.
        count: u64,
    },
    /// See [`Refusal`].
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl ReserveError {
    /// The name in kebab case.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        match self {
            ReserveError::SequenceExhausted { .. } => "sequence-exhausted",
            ReserveError::Refused(refusal) => refusal.id(),
        }
    }
}

/// Why a transaction is not dispatched.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum AdmitError {
    /// The same transaction was admitted before.
    #[error("a replay of {stream} at {sequence}")]
    Replay {
        /// The stream.
        stream: StreamKey,
        /// The sequence.
        sequence: Sequence,
    },
    /// Another transaction was admitted at this sequence.
    #[error("a fork of {stream} at {}", evidence.incoming().sequence)]
    Fork {
        /// The stream.
        stream: StreamKey,
        /// Both digests, signed by this node.
        evidence: Box<ForkEvidence>,
    },
    /// The sequence lies below the window.
    #[error("{stream} at {sequence} is stale: the window begins at {retained_min}")]
    Stale {
        /// The stream.
        stream: StreamKey,
        /// The sequence.
        sequence: Sequence,
        /// The lowest sequence that is still judged.
        retained_min: Sequence,
    },
    /// It is too late for the transaction: no clock within the tolerance lets it be delivered any more, and its stream may be
    /// forgotten. Met by what was verified in time and came to its admission long after.
    #[error("{stream} at {sequence} was spent after {spent}, and it is {now}")]
    Spent {
        /// The stream.
        stream: StreamKey,
        /// The sequence.
        sequence: Sequence,
        /// The last instant at which it could be delivered.
        spent: WallMs,
        /// This node's clock.
        now: WallMs,
    },
    /// This node is not the transaction's destination: it relays, and its tables do not change.
    #[error("the transaction is for {destination}, and this node is {account}")]
    NotDestination {
        /// The transaction's destination.
        destination: Did,
        /// This node's account.
        account: Did,
    },
    /// It carries a chunk: what the chunks make together is admitted, never one of them.
    #[error("{stream} at {sequence} carries a chunk: put the chunks together and admit what they make")]
    ChunkEnvelope {
        /// The stream.
        stream: StreamKey,
        /// The sequence, which is that of what the chunks make.
        sequence: Sequence,
    },
    /// See [`Refusal`].
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl AdmitError {
    /// The name in kebab case.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        match self {
            AdmitError::Replay { .. } => "replay",
            AdmitError::Fork { .. } => "fork",
            AdmitError::Stale { .. } => "stale",
            AdmitError::Spent { .. } => "spent",
            AdmitError::NotDestination { .. } => "not-destination",
            AdmitError::ChunkEnvelope { .. } => "chunk-envelope",
            AdmitError::Refused(refusal) => refusal.id(),
        }
    }
}

/// Why mail is not handed over to the application.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum TakeError {
    /// It is not in custody: it was taken before, it is spent, or it never came out of the relay inbox.
    #[error("{stream} at {sequence} is not in custody: taken before, or spent")]
    NotInCustody {
        /// The stream.
        stream: StreamKey,
        /// The sequence.
        sequence: Sequence,
    },
    /// See [`Refusal`].
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl TakeError {
    /// The name in kebab case.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        match self {
            TakeError::NotInCustody { .. } => NOT_IN_CUSTODY,
            TakeError::Refused(refusal) => refusal.id(),
        }
    }
}

/// [`TakeError::NotInCustody`] in kebab case.
pub(super) const NOT_IN_CUSTODY: &str = "not-in-custody";

/// Why the streams do not open.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum OpenError {
    /// The store does not open.
    #[error(transparent)]
    Store(#[from] store::OpenError),
    /// The machine is going down.
    #[error(transparent)]
    Unscheduled(#[from] Unscheduled),
}

impl OpenError {
    /// What an open that failed counted: a scan that fails as a whole is one persistence failure (seed 000, Bad records). The
    /// next open begins at zero: who opens again in the same process adds this up.
    #[must_use]
    pub fn counters(&self) -> Counters {
        let persistence_failure = u64::from(matches!(self, OpenError::Store(_)));
        Counters { persistence_failure, ..Counters::default() }
    }
}
