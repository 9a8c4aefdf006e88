//! A signed transaction: what an origin sends to a destination, at one sequence of one stream.
//!
//! Promise: destination, id, sequence, reply path, data and lifetime are covered by the origin's signature, and the digest
//! covers the whole transaction, so nobody on the way can make one transaction into another.

use super::key::{Class, NetworkId};
use super::message::{InvalidMessage, MessageKind};
use super::window::Digest;
use super::wire::{Reader, WireError, put_number, put_slice};
use crate::host::Work;
use crate::identity::Did;
use crate::identity::delegation::{Delegation, Signer};
use crate::identity::signing::{Crypto, PublicKey, Purpose, Signature, Statement, sha256};
use crate::units::{Sequence, WallMs};
use bytes::Bytes;

/// A transaction's lifetime where nothing else is asked for, in milliseconds (decision 5).
pub const DEFAULT_LIFETIME_MS: u64 = 600_000;

/// The longest lifetime of a transaction, in milliseconds (decision 5).
pub const LIFETIME_MAX_MS: u64 = 6_000_000;

/// The most data that a transaction carries, in bytes (facts 11.2: the longest message).
pub const DATA_MAX_BYTES: usize = 60_000_000;

/// What tells two transactions of equal content apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransactionId(pub [u8; 16]);

/// What an origin is about to sign.
#[derive(Clone, Copy, Debug)]
pub struct Draft<'a> {
    /// The final destination.
    pub destination: Did,
    /// The id, brought by the caller.
    pub id: TransactionId,
    /// A sequence that the stream's durable lease covers.
    pub sequence: Sequence,
    /// Through whom an answer should come.
    pub reply_via: Option<Did>,
    /// The message; its first byte is its [`MessageKind`].
    pub data: &'a [u8],
    /// When, by the origin's clock.
    pub issued: WallMs,
    /// For how long, at most [`LIFETIME_MAX_MS`].
    pub lifetime_ms: u64,
}

/// Why a transaction cannot be signed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DraftError {
    /// See [`InvalidMessage`].
    #[error(transparent)]
    InvalidMessage(#[from] InvalidMessage),
    /// The lifetime is beyond its limit.
    #[error("a lifetime of {lifetime_ms} ms is longer than {LIFETIME_MAX_MS} ms")]
    LifetimeTooLong {
        /// The lifetime.
        lifetime_ms: u64,
    },
    /// The data is beyond its limit.
    #[error("{bytes} bytes of data are more than {DATA_MAX_BYTES}")]
    DataTooLong {
        /// Its length.
        bytes: usize,
    },
}

/// A transaction with its proof. Cheap to clone: encoding and data are shared.
#[derive(Clone, Debug)]
pub struct Transaction {
    encoded: Bytes,
    data: Bytes,
    kind: MessageKind,
    /// The final destination.
    pub destination: Did,
    /// The id.
    pub id: TransactionId,
    /// The place in its stream.
    pub sequence: Sequence,
    /// Through whom an answer should come.
    pub reply_via: Option<Did>,
    /// When, by the origin's clock.
    pub issued: WallMs,
    /// For how long.
    pub lifetime_ms: u64,
    /// In whose name it is signed.
    pub delegation: Delegation,
    /// The delegatee's signature.
    pub signature: Signature,
}

impl Transaction {
    /// Signs a transaction. Costs [`Transaction::signing_work`].
    ///
    /// # Errors
    /// [`DraftError`].
    pub fn sign(
        draft: &Draft<'_>,
        signer: &Signer,
        network_id: NetworkId,
        crypto: Crypto,
    ) -> Result<Self, DraftError> {
        let kind = MessageKind::of(draft.data)?;
        if draft.lifetime_ms > LIFETIME_MAX_MS {
            return Err(DraftError::LifetimeTooLong { lifetime_ms: draft.lifetime_ms });
        }
        if draft.data.len() > DATA_MAX_BYTES {
            return Err(DraftError::DataTooLong { bytes: draft.data.len() });
        }
        let Draft { destination, id, sequence, reply_via, data, issued, lifetime_ms } = *draft;
        let hash = signed_hash(destination, id, sequence, reply_via, data);
        let statement = Statement::new(Purpose::Transaction, network_id, &hash, [issued.0, lifetime_ms]);
        let signature = signer.key().sign(crypto, &statement);
        let delegation = *signer.delegation();

        let mut out = Vec::with_capacity(ENCODED_AROUND_DATA_MAX_BYTES + data.len());
        out.extend_from_slice(&destination.0);
        out.extend_from_slice(&id.0);
        put_number(&mut out, sequence.0);
        match reply_via {
            None => out.push(0),
            Some(via) => {
                out.push(1);
                out.extend_from_slice(&via.0);
            }
        }
        let length = data.len();
        put_slice(&mut out, data);
        let data_end = out.len();
        put_number(&mut out, issued.0);
        put_number(&mut out, lifetime_ms);
        put_delegation(&mut out, &delegation);
        out.extend_from_slice(&signature.0);
        debug_assert!(out.len() <= ENCODED_AROUND_DATA_MAX_BYTES + length);
        let encoded = Bytes::from(out);
        let data = encoded.slice(data_end - length..data_end);
        Ok(Self {
            encoded,
            data,
            destination,
            id,
            sequence,
            reply_via,
            kind,
            issued,
            lifetime_ms,
            delegation,
            signature,
        })
    }

    /// Reads a transaction from `bytes` at the reader's place. Nothing is copied but the fixed fields.
    pub(super) fn read(bytes: &Bytes, reader: &mut Reader<'_>) -> Result<Self, DecodeError> {
        let start = reader.position();
        let destination = Did(reader.array("destination")?);
        let id = TransactionId(reader.array("transaction id")?);
        let sequence = Sequence(reader.number("sequence")?);
        let reply_via = match reader.is_some("reply path")? {
            true => Some(Did(reader.array("reply path")?)),
            false => None,
        };
        let data = reader.slice("data", DATA_MAX_BYTES)?;
        let issued = WallMs(reader.number("issued")?);
        let lifetime_ms = reader.number("lifetime")?;
        let delegation = read_delegation(reader)?;
        let signature = Signature(reader.array("signature")?);
        let kind = MessageKind::of(&data)?;
        let encoded = bytes.slice(start..reader.position());
        Ok(Self {
            encoded,
            data,
            destination,
            id,
            sequence,
            reply_via,
            kind,
            issued,
            lifetime_ms,
            delegation,
            signature,
        })
    }

    /// The canonical encoding: delegation and signature included.
    #[must_use]
    pub const fn encoded(&self) -> &Bytes {
        &self.encoded
    }

    /// The message.
    #[must_use]
    pub const fn data(&self) -> &Bytes {
        &self.data
    }

    /// The kind of message, from the first byte of the data.
    #[must_use]
    pub const fn kind(&self) -> MessageKind {
        self.kind
    }

    /// The traffic class, from the signed data.
    #[must_use]
    pub const fn class(&self) -> Class {
        self.kind.class()
    }

    /// SHA-256 of the whole transaction. One hash of its length; keep the result.
    #[must_use]
    pub fn digest(&self) -> Digest {
        sha256(&[&self.encoded])
    }

    /// The hash that origin and hops sign.
    #[must_use]
    pub fn signed_hash(&self) -> [u8; 32] {
        signed_hash(self.destination, self.id, self.sequence, self.reply_via, &self.data)
    }

    /// The last instant at which it may be delivered.
    #[must_use]
    pub const fn expires(&self) -> WallMs {
        self.issued.plus_ms(self.lifetime_ms)
    }

    /// What `purpose` signs of it: its hash, and its lifetime.
    #[must_use]
    pub fn statement(&self, purpose: Purpose, network_id: NetworkId) -> Statement {
        Statement::new(purpose, network_id, &self.signed_hash(), [self.issued.0, self.lifetime_ms])
    }

    /// What signing it costs.
    #[must_use]
    pub fn signing_work(&self) -> Work {
        Work {
            signatures: 1,
            verifications: 0,
            hashed_bytes: bytes_of(self.data.len()),
            coded_bytes: bytes_of(self.encoded.len()),
        }
    }
}

/// Why bytes are not a payload, or not evidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DecodeError {
    /// They do not begin with the marker; nothing more was read.
    #[error("the bytes do not begin with the marker")]
    NoMarker,
    /// They are a frame of a link, whose references mean nothing outside it; nothing more was read.
    #[error("the frame belongs to a link: outside it, its delegation references cannot be resolved")]
    OutsideLink,
    /// See [`WireError`].
    #[error(transparent)]
    Wire(#[from] WireError),
    /// See [`InvalidMessage`].
    #[error(transparent)]
    InvalidMessage(#[from] InvalidMessage),
}

/// All of an encoding but the data: fixed fields, and numbers at their longest.
const ENCODED_AROUND_DATA_MAX_BYTES: usize = 20 + 16 + 10 + 21 + 5 + 10 + 10 + DELEGATION_MAX_BYTES + 64;

/// An encoded delegation at its longest.
pub(super) const DELEGATION_MAX_BYTES: usize = 32 + 32 + 10 + 10 + 64;

pub(super) fn put_delegation(out: &mut Vec<u8>, delegation: &Delegation) {
    out.extend_from_slice(&delegation.delegator.0);
    out.extend_from_slice(&delegation.delegatee.0);
    put_number(out, delegation.issued.0);
    put_number(out, delegation.expires.0);
    out.extend_from_slice(&delegation.signature.0);
}

pub(super) fn read_delegation(reader: &mut Reader<'_>) -> Result<Delegation, WireError> {
    Ok(Delegation {
        delegator: PublicKey(reader.array("delegator")?),
        delegatee: PublicKey(reader.array("delegatee")?),
        issued: WallMs(reader.number("delegation's beginning")?),
        expires: WallMs(reader.number("delegation's end")?),
        signature: Signature(reader.array("delegation's signature")?),
    })
}

/// A length as work counts it.
pub(super) fn bytes_of(length: usize) -> u32 {
    u32::try_from(length).unwrap_or(u32::MAX)
}

/// SHA-256 of destination, id, sequence (big endian), reply path (behind its presence byte) and data (facts 1.2).
fn signed_hash(
    destination: Did,
    id: TransactionId,
    sequence: Sequence,
    reply_via: Option<Did>,
    data: &[u8],
) -> [u8; 32] {
    let mut head = [0; 20 + 16 + 8 + 1 + 20];
    head[..20].copy_from_slice(&destination.0);
    head[20..36].copy_from_slice(&id.0);
    head[36..44].copy_from_slice(&sequence.0.to_be_bytes());
    let mut length = 45;
    if let Some(via) = reply_via {
        head[44] = 1;
        head[45..].copy_from_slice(&via.0);
        length = head.len();
    }
    sha256(&[&head[..length], data])
}

#[cfg(test)]
#[path = "transaction_tests.rs"]
mod tests;
