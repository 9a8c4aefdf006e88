//! A payload: a transaction on its way, signed once more by the hop that sends it.
//!
//! Promise: nothing is read of bytes that do not begin with the marker, and a relay signs the payload anew while the
//! transaction stays as its origin signed it.

use super::key::NetworkId;
use super::transaction::{
    DELEGATION_MAX_BYTES, DecodeError, Transaction, bytes_of, put_delegation, read_delegation,
};
use super::wire::Reader;
use crate::host::Work;
use crate::identity::delegation::{Delegation, Signer};
use crate::identity::signing::{Crypto, Purpose, Signature};
use bytes::Bytes;

/// How the encoding of a payload begins.
pub const PAYLOAD_MARKER: &[u8; 17] = b"GROUNDHOG-PAYLOAD";

/// How a frame begins whose delegations may be references: see [`super::references`].
pub const LINK_FRAME_MARKER: &[u8; 14] = b"GROUNDHOG-LINK";

/// A transaction with the proof of the hop that sent it. Cheap to clone.
#[derive(Clone, Debug)]
pub struct Payload {
    encoded: Bytes,
    /// The transaction.
    pub transaction: Transaction,
    /// In whose name the hop signed.
    pub delegation: Delegation,
    /// The signature of the hop's delegatee over the same hash, in the payload domain.
    pub signature: Signature,
}

impl Payload {
    /// The payload that `hop` sends on: an origin its own transaction, a relay another's.
    #[must_use]
    pub fn sign(transaction: Transaction, hop: &Signer, network_id: NetworkId, crypto: Crypto) -> Self {
        let signature = hop.key().sign(crypto, &transaction.statement(Purpose::Payload, network_id));
        let delegation = *hop.delegation();
        let length = PAYLOAD_MARKER.len() + transaction.encoded().len() + DELEGATION_MAX_BYTES + 64;
        let mut out = Vec::with_capacity(length);
        out.extend_from_slice(PAYLOAD_MARKER);
        out.extend_from_slice(transaction.encoded());
        put_delegation(&mut out, &delegation);
        out.extend_from_slice(&signature.0);
        debug_assert!(out.len() <= length);
        Self { encoded: Bytes::from(out), transaction, delegation, signature }
    }

    /// Reads a payload. The data of its transaction is a view of `bytes`.
    ///
    /// # Errors
    /// [`DecodeError`].
    pub fn decode(bytes: Bytes) -> Result<Self, DecodeError> {
        if bytes.starts_with(LINK_FRAME_MARKER) {
            return Err(DecodeError::OutsideLink);
        }
        if !bytes.starts_with(PAYLOAD_MARKER) {
            return Err(DecodeError::NoMarker);
        }
        let mut reader = Reader::new(&bytes, PAYLOAD_MARKER.len());
        let transaction = Transaction::read(&bytes, &mut reader)?;
        let delegation = read_delegation(&mut reader)?;
        let signature = Signature(reader.array("hop's signature")?);
        reader.end()?;
        Ok(Self { encoded: bytes, transaction, delegation, signature })
    }

    /// What travels.
    #[must_use]
    pub const fn encoded(&self) -> &Bytes {
        &self.encoded
    }

    /// What signing it costs, apart from its transaction.
    #[must_use]
    pub fn signing_work(&self) -> Work {
        Work {
            signatures: 1,
            verifications: 0,
            hashed_bytes: bytes_of(self.transaction.data().len()),
            coded_bytes: bytes_of(self.encoded.len()),
        }
    }

    /// What decoding it cost.
    #[must_use]
    pub fn decoding_work(&self) -> Work {
        Work { coded_bytes: bytes_of(self.encoded.len()), ..Work::default() }
    }
}
