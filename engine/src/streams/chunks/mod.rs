//! Messages too long for one frame: cut into chunks, and put together again in bounded memory.
//!
//! Promise: whatever chunks arrive, in whatever order, more than once or not at all, what is put together is exactly the
//! message that was cut, or nothing. A chunk's envelope is a signed transaction that repeats the sequence, id and lifetime
//! of the transaction it carries a piece of; it has no sequence of its own, moves no replay window and pays no quota
//! ([`super::Streams::admit`] refuses it). The transaction that was put together is verified and admitted like any other,
//! once (seed 000, Receiver state machine).
//!
//! What waits belongs to a peer and not to one connection with it: envelopes name their message and are signed, and the peer
//! may bring the rest over its next connection. What never becomes whole goes when it expires, within the bounds of its peer
//! until then; neither seed 000 nor facts 11.2 let it go sooner.
//!
//! What was put together leaves a tombstone until it expires, so that a whole retransmission is dropped here. Tombstones
//! are bounded, so this is a saving and no guarantee: the replay window is what rejects the transaction again.

mod reassembly;
#[cfg(test)]
mod tests;

pub use reassembly::{Reassembled, Reassembly, ReassemblyCounters, ReassemblyLimits, Rejected};

use super::message::MessageKind;
use super::payload::Payload;
use super::transaction::{DecodeError, Transaction, TransactionId};
use super::verify::Verified;
use super::wire::{Reader, WireError, put_number, put_slice};
use crate::identity::Did;
use crate::units::{Sequence, WallMs};
use bytes::Bytes;

/// The longest message that is cut, in bytes: a payload, encoded (facts 11.2).
pub const MESSAGE_MAX_BYTES: usize = 60_000_000;

/// The least that a chunk carries, the last one excepted, in bytes.
pub const CHUNK_DATA_MIN_BYTES: usize = 1_024;

/// The most that a chunk carries, in bytes: with its envelope it fits a frame of 64 KiB.
pub const CHUNK_DATA_MAX_BYTES: usize = 64 * 1_024 - 1_024;

/// The most chunks that a message has.
pub const CHUNKS_MAX: u32 = (MESSAGE_MAX_BYTES / CHUNK_DATA_MIN_BYTES + 1) as u32;

/// One piece of a message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Chunk {
    /// Which piece, from 0.
    pub position: u32,
    /// How many there are.
    pub total: u32,
    /// The piece.
    pub data: Bytes,
}

/// Why a message cannot be cut.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CutError {
    /// It is too long.
    #[error("a message of {bytes} bytes is longer than {MESSAGE_MAX_BYTES}")]
    MessageTooLong {
        /// Its length.
        bytes: usize,
    },
    /// Pieces of that size are not allowed.
    #[error("{bytes} bytes a chunk are not between {CHUNK_DATA_MIN_BYTES} and {CHUNK_DATA_MAX_BYTES}")]
    ChunkSize {
        /// The size asked for.
        bytes: usize,
    },
    /// A piece is not cut again.
    #[error("the message is a chunk's envelope, which is not cut again")]
    Nested,
}

/// The pieces of a payload, each of `chunk_bytes` but the last, none of them copied. The payload carries both delegations
/// inline, for it is decoded outside the order of its link.
///
/// # Errors
/// [`CutError`].
pub fn cut(payload: &Payload, chunk_bytes: usize) -> Result<impl ExactSizeIterator<Item = Chunk>, CutError> {
    let message = payload.encoded().clone();
    let bytes = message.len();
    if payload.transaction.kind() == MessageKind::Chunk {
        return Err(CutError::Nested);
    }
    if bytes > MESSAGE_MAX_BYTES {
        return Err(CutError::MessageTooLong { bytes });
    }
    if !(CHUNK_DATA_MIN_BYTES..=CHUNK_DATA_MAX_BYTES).contains(&chunk_bytes) {
        return Err(CutError::ChunkSize { bytes: chunk_bytes });
    }
    let total = u32::try_from(bytes.div_ceil(chunk_bytes)).expect("at most CHUNKS_MAX");
    Ok((0..total).map(move |position| {
        let start = position as usize * chunk_bytes;
        let data = message.slice(start..bytes.min(start + chunk_bytes));
        Chunk { position, total, data }
    }))
}

impl Chunk {
    /// The data of the envelope that carries it.
    #[must_use]
    pub fn encode(&self) -> Vec<u8> {
        let mut out = Vec::with_capacity(1 + 5 + 5 + 5 + self.data.len());
        out.push(MessageKind::Chunk as u8);
        put_number(&mut out, u64::from(self.position));
        put_number(&mut out, u64::from(self.total));
        put_slice(&mut out, &self.data);
        out
    }

    fn read(data: &Bytes) -> Result<Self, WireError> {
        let mut reader = Reader::new(data, 1);
        let number = |reader: &mut Reader<'_>, field| {
            let number = reader.number(field)?;
            u32::try_from(number).map_err(|_| WireError::Number { field })
        };
        let position = number(&mut reader, "position")?;
        let total = number(&mut reader, "total")?;
        let data = reader.slice("chunk", CHUNK_DATA_MAX_BYTES)?;
        reader.end()?;
        Ok(Self { position, total, data })
    }
}

type MessageKey = (Did, TransactionId);

/// A chunk as it arrives: in an envelope that was verified.
#[derive(Clone, Debug)]
pub struct Envelope {
    /// Who signed the envelope: the transaction's origin, or a relay that cut it up.
    pub origin: Did,
    /// The id of the transaction that it carries a piece of.
    pub id: TransactionId,
    /// The sequence that is reserved for that transaction.
    pub sequence: Sequence,
    /// When that transaction was issued.
    pub issued: WallMs,
    /// For how long, in milliseconds.
    pub lifetime_ms: u64,
    /// The piece.
    pub chunk: Chunk,
}

/// Why a transaction is no envelope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NoEnvelope {
    /// It carries a message of another kind.
    #[error("the transaction carries no chunk")]
    OtherKind,
    /// Its data does not decode.
    #[error(transparent)]
    Wire(#[from] WireError),
}

impl Envelope {
    /// The envelope that a verified transaction is.
    ///
    /// # Errors
    /// [`NoEnvelope`].
    pub fn of(verified: &Verified) -> Result<Self, NoEnvelope> {
        let transaction = verified.transaction();
        if transaction.kind() != MessageKind::Chunk {
            return Err(NoEnvelope::OtherKind);
        }
        let Transaction { id, sequence, issued, lifetime_ms, .. } = *transaction;
        let chunk = Chunk::read(transaction.data())?;
        Ok(Self { origin: verified.stream().origin, id, sequence, issued, lifetime_ms, chunk })
    }

    /// What its message is known by. Nobody can add to another's message.
    const fn key(&self) -> MessageKey {
        (self.origin, self.id)
    }

    /// Whether it goes with the envelopes before it that have its key.
    fn goes_with(&self, sequence: Sequence, total: u32, issued: WallMs, lifetime_ms: u64) -> bool {
        (self.sequence, self.chunk.total, self.issued, self.lifetime_ms)
            == (sequence, total, issued, lifetime_ms)
    }

    /// The payload that was put together with this envelope, to be verified.
    ///
    /// # Errors
    /// [`NotLogical`].
    pub fn open(&self, message: Bytes) -> Result<Payload, NotLogical> {
        let payload = Payload::decode(message)?;
        let transaction = &payload.transaction;
        if transaction.kind() == MessageKind::Chunk {
            return Err(NotLogical::Nested);
        }
        let repeats = (transaction.sequence, transaction.id, transaction.issued, transaction.lifetime_ms);
        if repeats != (self.sequence, self.id, self.issued, self.lifetime_ms) {
            return Err(NotLogical::OtherTransaction {
                sequence: transaction.sequence,
                envelope: self.sequence,
            });
        }
        Ok(payload)
    }
}

/// Why what was put together is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum NotLogical {
    /// It is no payload.
    #[error(transparent)]
    Undecodable(#[from] DecodeError),
    /// It is a chunk's envelope in its turn.
    #[error("a chunk inside chunks is refused")]
    Nested,
    /// Its envelopes speak for another transaction.
    #[error(
        "the envelopes are of sequence {envelope}, and the transaction is of sequence {sequence}, or another"
    )]
    OtherTransaction {
        /// The transaction's.
        sequence: Sequence,
        /// The envelopes'.
        envelope: Sequence,
    },
}

impl NotLogical {
    /// The name in kebab case.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        match self {
            NotLogical::Undecodable(_) => "undecodable",
            NotLogical::Nested => "nested-chunk",
            NotLogical::OtherTransaction { .. } => "other-transaction",
        }
    }
}
