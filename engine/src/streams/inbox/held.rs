//! Held mail: a payload, and the word of who holds it since when.
//!
//! Promise: the holder's signature binds the whole payload and the instant; mail is delivered only where both proofs of its
//! payload, and the holder's, count as of that instant.

use crate::host::Work;
use crate::identity::Did;
use crate::identity::delegation::{CLOCK_TOLERANCE_MS, Delegation, DelegationError, Signer};
use crate::identity::signing::{Crypto, Purpose, Signature, Statement, sha256};
use crate::streams::key::NetworkId;
use crate::streams::message::MessageKind;
use crate::streams::payload::Payload;
use crate::streams::transaction::{
    DELEGATION_MAX_BYTES, DecodeError, bytes_of, put_delegation, read_delegation,
};
use crate::streams::verify::{Verified, Verifier, VerifyError};
use crate::streams::wire::{Reader, put_number, put_slice};
use crate::units::WallMs;
use bytes::Bytes;

/// How the encoding of held mail begins.
pub const HELD_MAIL_MARKER: &[u8; 19] = b"GROUNDHOG-HELD-MAIL";

/// The longest encoding of a payload that is held, in bytes.
const PAYLOAD_MAX_BYTES: usize = 60_001_024;

/// One mail as a carrier has it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct HeldMail {
    encoded: Bytes,
    /// The mail as its last hop signed it.
    pub payload: Payload,
    /// Since when it is held, by the holder's clock.
    pub held: WallMs,
    /// In whose name the holder signed.
    pub delegation: Delegation,
    /// The signature of the holder's delegatee.
    pub signature: Signature,
}

/// Why held mail is not delivered.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum WitnessError {
    /// It is no message of an application.
    #[error("held mail carries {kind:?}, and only messages of applications are held")]
    NotMail {
        /// What it carries.
        kind: MessageKind,
    },
    /// It is for another node.
    #[error("the mail is for {destination}")]
    NotDestination {
        /// For whom.
        destination: Did,
    },
    /// It is held from a later instant on than clocks may differ. It may be delivered later.
    #[error("the mail is held since {held}, more than {CLOCK_TOLERANCE_MS} ms after {now}")]
    HeldAhead {
        /// Since when.
        held: WallMs,
        /// This node's clock.
        now: WallMs,
    },
    /// The holder's delegation did not count when it began to hold it.
    #[error("the holder: {0}")]
    Delegation(DelegationError),
    /// The signature is not the holder's over it.
    #[error("the holder's signature is not its delegatee's over this mail and instant")]
    BadSignature,
    /// A proof of the payload did not count when it began to be held.
    #[error(transparent)]
    Payload(VerifyError),
}

impl WitnessError {
    /// The error's name in kebab case.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        match self {
            WitnessError::NotMail { .. } => "not-mail",
            WitnessError::NotDestination { .. } => "not-destination",
            WitnessError::HeldAhead { .. } => "held-ahead",
            WitnessError::Delegation(_) => "holder-delegation",
            WitnessError::BadSignature => "holder-signature",
            WitnessError::Payload(error) => error.id(),
        }
    }

    /// Whether it never can be delivered: a carrier need not keep it.
    #[must_use]
    pub const fn is_final(&self) -> bool {
        !matches!(self, WitnessError::HeldAhead { .. })
    }
}

impl HeldMail {
    /// The mail that `holder` holds from `held` on.
    #[must_use]
    pub fn sign(
        payload: Payload,
        held: WallMs,
        holder: &Signer,
        network_id: NetworkId,
        crypto: Crypto,
    ) -> Self {
        let signature = holder.key().sign(crypto, &statement(&payload, held, network_id));
        let delegation = *holder.delegation();
        let length = HELD_MAIL_MARKER.len() + payload.encoded().len() + 20 + DELEGATION_MAX_BYTES + 64;
        let mut out = Vec::with_capacity(length);
        out.extend_from_slice(HELD_MAIL_MARKER);
        put_slice(&mut out, payload.encoded());
        put_number(&mut out, held.0);
        put_delegation(&mut out, &delegation);
        out.extend_from_slice(&signature.0);
        Self { encoded: Bytes::from(out), payload, held, delegation, signature }
    }

    /// Reads held mail; it is not verified by that.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn decode(bytes: Bytes) -> Result<Self, DecodeError> {
        if !bytes.starts_with(HELD_MAIL_MARKER) {
            return Err(DecodeError::NoMarker);
        }
        let mut reader = Reader::new(&bytes, HELD_MAIL_MARKER.len());
        let payload = reader.slice("payload", PAYLOAD_MAX_BYTES)?;
        let held = WallMs(reader.number("hold instant")?);
        let delegation = read_delegation(&mut reader)?;
        let signature = Signature(reader.array("holder's signature")?);
        reader.end()?;
        let payload = Payload::decode(payload)?;
        Ok(Self { encoded: bytes, payload, held, delegation, signature })
    }

    /// What a carrier keeps.
    #[must_use]
    pub const fn encoded(&self) -> &Bytes {
        &self.encoded
    }

    /// Checks mail for `destination` at its clock `now`: what it is, that it is held since no later than clocks may differ,
    /// and the three proofs as of the instant at which it began to be held. What verifies goes to an admission by
    /// [`Introducer::Inbox`](crate::streams::record::Introducer::Inbox).
    ///
    /// # Errors
    /// [`WitnessError`].
    pub fn witness(
        self,
        destination: Did,
        now: WallMs,
        verifier: &mut Verifier,
    ) -> Result<Verified, WitnessError> {
        let transaction = &self.payload.transaction;
        if transaction.kind() != MessageKind::Custom {
            return Err(WitnessError::NotMail { kind: transaction.kind() });
        }
        if transaction.destination != destination {
            return Err(WitnessError::NotDestination { destination: transaction.destination });
        }
        let held = self.held;
        if held > now.plus_ms(CLOCK_TOLERANCE_MS) {
            return Err(WitnessError::HeldAhead { held, now });
        }
        verifier.check_holder(&self)?;
        verifier.verify(self.payload, held).map_err(WitnessError::Payload)
    }

    /// What signing, or decoding, it costs.
    #[must_use]
    pub fn work(&self, signatures: u32) -> Work {
        let bytes = bytes_of(self.encoded.len());
        Work { signatures, verifications: 0, hashed_bytes: bytes, coded_bytes: bytes }
    }

    /// What the holder signed.
    pub(in crate::streams) fn statement(&self, network_id: NetworkId) -> Statement {
        statement(&self.payload, self.held, network_id)
    }
}

fn statement(payload: &Payload, held: WallMs, network_id: NetworkId) -> Statement {
    Statement::new(Purpose::HeldMail, network_id, &sha256(&[payload.encoded()]), [held.0, 0])
}

#[cfg(test)]
#[path = "held_tests.rs"]
mod tests;
