//! A payload as it travels over a link, with references in place of its delegations.
//!
//! Promise: what the receiver makes of a frame is the payload that was sent, byte for byte, so that no digest and no
//! signature depends on how a delegation travelled.

use super::{Answer, DelegationDigest, Miss, ReceivedReferences, SentReferences, Slot};
use crate::identity::delegation::Delegation;
use crate::streams::payload::{LINK_FRAME_MARKER, PAYLOAD_MARKER, Payload};
use crate::streams::transaction::{
    DATA_MAX_BYTES, DELEGATION_MAX_BYTES, DecodeError, put_delegation, read_delegation,
};
use crate::streams::verify::Proof;
use crate::streams::wire::{Reader, WireError, put_number, put_slice};
use crate::units::MonotonicNs;
use bytes::Bytes;
use smallvec::SmallVec;

/// Everything of a transaction before its delegation, at its longest.
const HEAD_MAX_BYTES: usize = DATA_MAX_BYTES + 128;

const SIGNATURE_BYTES: usize = 64;

/// Why a frame gives no payload. It is dropped.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FrameError {
    /// Its bytes are none of a frame.
    #[error(transparent)]
    Undecodable(#[from] DecodeError),
    /// It refers to a delegation that is not kept.
    #[error("{proof}: {miss}")]
    ReferenceMiss {
        /// Whose delegation.
        proof: Proof,
        /// Which.
        miss: Miss,
    },
}

impl FrameError {
    /// The name in kebab case.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        match self {
            FrameError::Undecodable(_) => "undecodable",
            FrameError::ReferenceMiss { .. } => "reference-miss",
        }
    }
}

impl SentReferences {
    /// The frame that carries `payload` when it is sent at `now`.
    pub fn frame(&mut self, payload: &Payload, now: MonotonicNs) -> Bytes {
        let origin = self.slot(&payload.transaction.delegation, now);
        let hop = self.slot(&payload.delegation, now);
        let encoded = payload.transaction.encoded();
        let proof_bytes = encoded_delegation(&payload.transaction.delegation).len() + SIGNATURE_BYTES;
        let (head, _) = encoded.split_at(encoded.len() - proof_bytes);
        let mut out = Vec::with_capacity(head.len() + 2 * DELEGATION_MAX_BYTES + 256);
        out.extend_from_slice(LINK_FRAME_MARKER);
        put_slot(&mut out, &origin);
        put_slot(&mut out, &hop);
        put_slice(&mut out, head);
        out.extend_from_slice(&payload.transaction.signature.0);
        out.extend_from_slice(&payload.signature.0);
        out.into()
    }
}

impl ReceivedReferences {
    /// The payload of a frame that arrives at `now`, with or without references; and what the sender is to be told, whether
    /// or not there is a payload.
    pub fn receive(
        &mut self,
        frame: Bytes,
        now: MonotonicNs,
    ) -> (Result<Payload, FrameError>, SmallVec<[Answer; 2]>) {
        let mut answers = SmallVec::new();
        if !frame.starts_with(LINK_FRAME_MARKER) {
            return (Payload::decode(frame).map_err(FrameError::from), answers);
        }
        let payload = match read(&frame) {
            Ok(parts) => self.assemble(&parts, now, &mut answers),
            Err(error) => Err(FrameError::Undecodable(error.into())),
        };
        (payload, answers)
    }

    fn assemble(
        &mut self,
        parts: &Parts,
        now: MonotonicNs,
        answers: &mut SmallVec<[Answer; 2]>,
    ) -> Result<Payload, FrameError> {
        let mut resolve = |proof, slot| {
            let resolved = self.resolve(slot, now);
            let (delegation, answer) = resolved.map_err(|miss| FrameError::ReferenceMiss { proof, miss })?;
            answers.extend(answer);
            Ok::<Delegation, FrameError>(delegation)
        };
        // Both are looked at, so that a miss of one does not keep the other from being learned.
        let origin = resolve(Proof::Transaction, &parts.origin);
        let hop = resolve(Proof::Payload, &parts.hop);
        let (origin, hop) = (origin?, hop?);
        let length = PAYLOAD_MARKER.len() + parts.head.len() + 2 * (DELEGATION_MAX_BYTES + SIGNATURE_BYTES);
        let mut out = Vec::with_capacity(length);
        out.extend_from_slice(PAYLOAD_MARKER);
        out.extend_from_slice(&parts.head);
        put_delegation(&mut out, &origin);
        out.extend_from_slice(&parts.signatures[0]);
        put_delegation(&mut out, &hop);
        out.extend_from_slice(&parts.signatures[1]);
        Ok(Payload::decode(out.into())?)
    }
}

struct Parts {
    origin: Slot,
    hop: Slot,
    head: Bytes,
    /// The origin's and the hop's.
    signatures: [[u8; SIGNATURE_BYTES]; 2],
}

fn read(frame: &Bytes) -> Result<Parts, WireError> {
    let mut reader = Reader::new(frame, LINK_FRAME_MARKER.len());
    let parts = Parts {
        origin: read_slot(&mut reader)?,
        hop: read_slot(&mut reader)?,
        head: reader.slice("transaction", HEAD_MAX_BYTES)?,
        signatures: [reader.array("signature")?, reader.array("hop's signature")?],
    };
    reader.end()?;
    Ok(parts)
}

fn put_slot(out: &mut Vec<u8>, slot: &Slot) {
    match slot {
        Slot::Inline { delegation, stamp } => {
            out.push(0);
            put_number(out, stamp.0);
            put_delegation(out, delegation);
        }
        Slot::Reference(digest) => {
            out.push(1);
            out.extend_from_slice(&digest.0);
        }
    }
}

fn read_slot(reader: &mut Reader<'_>) -> Result<Slot, WireError> {
    if reader.is_some("reference")? {
        return Ok(Slot::Reference(DelegationDigest(reader.array("reference")?)));
    }
    let stamp = MonotonicNs(reader.number("stamp")?);
    Ok(Slot::Inline { delegation: read_delegation(reader)?, stamp })
}

fn encoded_delegation(delegation: &Delegation) -> Vec<u8> {
    let mut encoded = Vec::with_capacity(DELEGATION_MAX_BYTES);
    put_delegation(&mut encoded, delegation);
    encoded
}
