//! Evidence of a fork: two transactions of one origin at one sequence of one stream.
//!
//! Promise: anybody can verify that the origin signed the incoming transaction and that the destination, by its own
//! signature, says which digest it had accepted at that sequence. A window keeps digests only, so the accepted transaction
//! is not part of it; whoever holds it completes the evidence, and then no word of the destination is needed.
//!
//! A digest covers the delegation. The same content under another valid delegation is a fork too (facts 1.2).

use super::key::{NetworkId, StreamKey};
use super::transaction::{DecodeError, Transaction, put_delegation, read_delegation};
use super::verify::{VerifyError, verify_transaction};
use super::window::Digest;
use super::wire::{Reader, put_number};
use crate::host::Work;
use crate::identity::delegation::{Delegation, DelegationError, Signer, VerifiedDelegations};
use crate::identity::signing::{Crypto, Purpose, Signature, Statement, sha256};
use crate::units::{Sequence, WallMs};
use bytes::Bytes;

/// How the encoding of evidence begins.
pub const EVIDENCE_MARKER: &[u8; 14] = b"GROUNDHOG-FORK";

/// What signing evidence costs its node.
pub const EVIDENCE_WORK: Work = Work { signatures: 1, verifications: 0, hashed_bytes: 64, coded_bytes: 0 };

/// A destination's signed word on a fork, with the transaction that came second.
#[derive(Clone, Debug)]
pub struct ForkEvidence {
    accepted: Digest,
    incoming: Transaction,
    witnessed: WallMs,
    delegation: Delegation,
    signature: Signature,
}

/// What verified evidence says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Fork {
    /// The stream.
    pub stream: StreamKey,
    /// The sequence.
    pub sequence: Sequence,
    /// The digest that the destination had accepted.
    pub accepted: Digest,
    /// The digest that came second.
    pub incoming: Digest,
}

/// Why evidence shows nothing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvidenceError {
    /// Both digests are the same.
    #[error("both digests are the same: that is a replay")]
    SameDigest,
    /// The incoming transaction did not verify when it was witnessed.
    #[error("the incoming transaction does not verify: {0}")]
    Incoming(VerifyError),
    /// The witness's delegation did not count when it signed.
    #[error("the witness: {0}")]
    Witness(DelegationError),
    /// The witness is not the destination, which alone can say what it accepted.
    #[error("the witness is not the destination")]
    NotDestination,
    /// The witness did not sign these digests.
    #[error("the witness's signature does not fit")]
    BadSignature,
    /// The transaction offered as the accepted one is another, or does not prove a fork.
    #[error("the transaction is not the accepted one of this stream and sequence")]
    NotAccepted,
}

/// Equal evidence has equal bytes.
impl PartialEq for ForkEvidence {
    fn eq(&self, other: &Self) -> bool {
        self.accepted == other.accepted
            && self.incoming.encoded() == other.incoming.encoded()
            && (self.witnessed, self.delegation, self.signature)
                == (other.witnessed, other.delegation, other.signature)
    }
}

impl Eq for ForkEvidence {}

impl ForkEvidence {
    /// The destination's word that `incoming` came where `accepted` was accepted. Costs [`EVIDENCE_WORK`].
    #[must_use]
    pub fn sign(
        accepted: Digest,
        incoming: Transaction,
        witnessed: WallMs,
        witness: &Signer,
        network_id: NetworkId,
        crypto: Crypto,
    ) -> Self {
        let statement = statement(&accepted, &incoming, &incoming.digest(), witnessed, network_id);
        let signature = witness.key().sign(crypto, &statement);
        Self { accepted, incoming, witnessed, delegation: *witness.delegation(), signature }
    }

    /// The digest that the destination had accepted.
    #[must_use]
    pub const fn accepted(&self) -> &Digest {
        &self.accepted
    }

    /// The transaction that came second.
    #[must_use]
    pub const fn incoming(&self) -> &Transaction {
        &self.incoming
    }

    /// Whether the origin signed the incoming transaction and the destination the two digests, both as of the instant at
    /// which it was witnessed.
    ///
    /// # Errors
    /// [`EvidenceError`].
    pub fn verify(&self, network_id: NetworkId, crypto: Crypto) -> Result<Fork, EvidenceError> {
        let mut delegations = VerifiedDelegations::default();
        let origin = verify_transaction(&self.incoming, self.witnessed, network_id, crypto, &mut delegations)
            .map_err(EvidenceError::Incoming)?;
        let (_, witness) = delegations.check(&self.delegation, self.witnessed, network_id, crypto);
        if witness.map_err(EvidenceError::Witness)? != self.incoming.destination {
            return Err(EvidenceError::NotDestination);
        }
        let incoming = self.incoming.digest();
        if incoming == self.accepted {
            return Err(EvidenceError::SameDigest);
        }
        let statement = statement(&self.accepted, &self.incoming, &incoming, self.witnessed, network_id);
        if !self.delegation.delegatee.verifies(crypto, &statement, &self.signature) {
            return Err(EvidenceError::BadSignature);
        }
        let Transaction { destination, sequence, .. } = self.incoming;
        let stream = StreamKey { network_id, origin, destination, class: self.incoming.class() };
        Ok(Fork { stream, sequence, accepted: self.accepted, incoming })
    }

    /// [`ForkEvidence::verify`], and that `accepted` is the accepted transaction, signed by the same origin in the same
    /// stream at the same sequence: then the origin's own two signatures prove the fork.
    ///
    /// # Errors
    /// [`EvidenceError`].
    pub fn complete(
        &self,
        accepted: &Transaction,
        network_id: NetworkId,
        crypto: Crypto,
    ) -> Result<Fork, EvidenceError> {
        let fork = self.verify(network_id, crypto)?;
        let delegation = &accepted.delegation;
        let statement = accepted.statement(Purpose::Transaction, network_id);
        let proven = accepted.digest() == self.accepted
            && delegation.is_signed(network_id, crypto)
            && delegation.delegatee.verifies(crypto, &statement, &accepted.signature)
            && delegation.delegator.did() == fork.stream.origin
            && accepted.destination == fork.stream.destination
            && accepted.class() == fork.stream.class
            && accepted.sequence == fork.sequence;
        if proven { Ok(fork) } else { Err(EvidenceError::NotAccepted) }
    }

    /// The bytes that travel.
    #[must_use]
    pub fn encode(&self) -> Bytes {
        let mut out = Vec::with_capacity(self.incoming.encoded().len() + 300);
        out.extend_from_slice(EVIDENCE_MARKER);
        out.extend_from_slice(&self.accepted);
        out.extend_from_slice(self.incoming.encoded());
        put_number(&mut out, self.witnessed.0);
        put_delegation(&mut out, &self.delegation);
        out.extend_from_slice(&self.signature.0);
        out.into()
    }

    /// Reads evidence; it is not verified by that.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn decode(bytes: &Bytes) -> Result<Self, DecodeError> {
        if !bytes.starts_with(EVIDENCE_MARKER) {
            return Err(DecodeError::NoMarker);
        }
        let mut reader = Reader::new(bytes, EVIDENCE_MARKER.len());
        let accepted = reader.array("accepted digest")?;
        let incoming = Transaction::read(bytes, &mut reader)?;
        let witnessed = WallMs(reader.number("witnessed")?);
        let delegation = read_delegation(&mut reader)?;
        let signature = Signature(reader.array("witness's signature")?);
        reader.end()?;
        Ok(Self { accepted, incoming, witnessed, delegation, signature })
    }
}

fn statement(
    accepted: &Digest,
    incoming: &Transaction,
    digest: &Digest,
    witnessed: WallMs,
    network_id: NetworkId,
) -> Statement {
    let both = sha256(&[accepted, digest]);
    Statement::new(Purpose::ForkEvidence, network_id, &both, [incoming.sequence.0, witnessed.0])
}

#[cfg(test)]
#[path = "evidence_tests.rs"]
mod tests;
