//! Verification of a payload: the step before admission.
//!
//! Promise: a [`Verified`] exists only after both signatures, both delegations and the transaction's lifetime were checked
//! by this node's clock and network; admission asks for nothing else.

use super::inbox::{HeldMail, WitnessError};
use super::key::{NetworkId, StreamKey};
use super::payload::Payload;
use super::transaction::{LIFETIME_MAX_MS, Transaction, bytes_of};
use super::window::Digest;
use crate::flaws::{Flaw, Flaws};
use crate::host::Work;
use crate::identity::Did;
use crate::identity::delegation::{CLOCK_TOLERANCE_MS, Delegation, DelegationError, VerifiedDelegations};
use crate::identity::signing::{Crypto, Purpose, Statement};
use crate::streams::key::Class;
use crate::units::WallMs;

/// Which of a payload's two proofs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Proof {
    /// The origin's over the transaction.
    Transaction,
    /// The hop's over the payload.
    Payload,
}

impl std::fmt::Display for Proof {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(match self {
            Proof::Transaction => "transaction",
            Proof::Payload => "payload",
        })
    }
}

/// Why a payload does not verify.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum VerifyError {
    /// The transaction's lifetime is past.
    #[error("the transaction expired at {expires}, and it is {now}")]
    Expired {
        /// Its last instant.
        expires: WallMs,
        /// This node's clock.
        now: WallMs,
    },
    /// The transaction was issued further ahead than clocks may differ.
    #[error("the transaction was issued at {issued}, more than {CLOCK_TOLERANCE_MS} ms after {now}")]
    FromTheFuture {
        /// Its first instant.
        issued: WallMs,
        /// This node's clock.
        now: WallMs,
    },
    /// The lifetime is beyond its limit.
    #[error("a lifetime of {lifetime_ms} ms is longer than {LIFETIME_MAX_MS} ms")]
    LifetimeTooLong {
        /// The lifetime.
        lifetime_ms: u64,
    },
    /// A delegation does not count now.
    #[error("{proof}: {error}")]
    Delegation {
        /// Whose.
        proof: Proof,
        /// Why.
        error: DelegationError,
    },
    /// A signature is not the delegatee's over it for this network.
    #[error("the {proof}'s signature is not its delegatee's for this network")]
    BadSignature {
        /// Which.
        proof: Proof,
    },
}

impl VerifyError {
    /// The error's name in kebab case, as reports spell it.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        match self {
            VerifyError::Expired { .. } => "expired",
            VerifyError::FromTheFuture { .. } => "from-the-future",
            VerifyError::LifetimeTooLong { .. } => "lifetime-too-long",
            VerifyError::Delegation { error: DelegationError::Expired { .. }, .. } => "delegation-expired",
            VerifyError::Delegation { error: DelegationError::NotYet { .. }, .. } => "delegation-not-yet",
            VerifyError::Delegation { error: DelegationError::BadSignature, .. } => "delegation-forged",
            VerifyError::BadSignature { .. } => "bad-signature",
        }
    }
}

/// A payload that verified here, with what verification found out about it.
#[derive(Clone, Debug)]
pub struct Verified {
    payload: Payload,
    stream: StreamKey,
    digest: Digest,
    at: WallMs,
}

impl Verified {
    /// The payload.
    #[must_use]
    pub const fn payload(&self) -> &Payload {
        &self.payload
    }

    /// Its transaction.
    #[must_use]
    pub const fn transaction(&self) -> &Transaction {
        &self.payload.transaction
    }

    /// The transaction's stream.
    #[must_use]
    pub const fn stream(&self) -> &StreamKey {
        &self.stream
    }

    /// The transaction's digest.
    #[must_use]
    pub const fn digest(&self) -> &Digest {
        &self.digest
    }

    /// The instant that it verified at, by this node's clock.
    #[must_use]
    pub const fn at(&self) -> WallMs {
        self.at
    }

    /// The payload itself, to be sent on.
    #[must_use]
    pub fn into_payload(self) -> Payload {
        self.payload
    }
}

/// One node's verification: its network, its way of signing, and the delegations that it knows.
#[derive(Debug)]
pub struct Verifier {
    network_id: NetworkId,
    crypto: Crypto,
    flaws: Flaws,
    delegations: VerifiedDelegations,
    work: Work,
}

impl Verifier {
    /// A verifier that knows no delegation yet.
    #[must_use]
    pub fn new(network_id: NetworkId, crypto: Crypto, flaws: Flaws) -> Self {
        Self { network_id, crypto, flaws, delegations: VerifiedDelegations::default(), work: Work::default() }
    }

    /// Checks both proofs of `payload` by the clock `now`. What is cheap comes first.
    ///
    /// # Errors
    /// [`VerifyError`].
    pub fn verify(&mut self, payload: Payload, now: WallMs) -> Result<Verified, VerifyError> {
        let transaction = &payload.transaction;
        live(transaction, now)?;
        let hash = transaction.signed_hash();
        self.work.hashed_bytes += bytes_of(transaction.data().len());
        let origin = self.check(Proof::Transaction, &payload, &hash, now)?;
        self.check(Proof::Payload, &payload, &hash, now)?;

        let digest = transaction.digest();
        self.work.hashed_bytes += bytes_of(transaction.encoded().len());
        let stream = stream_key(
            self.network_id,
            (origin, &transaction.delegation),
            transaction.destination,
            transaction.class(),
            self.flaws,
        );
        Ok(Verified { payload, stream, digest, at: now })
    }

    /// One proof of a payload, which signs `hash`. Gives the delegator.
    fn check(
        &mut self,
        proof: Proof,
        payload: &Payload,
        hash: &[u8; 32],
        now: WallMs,
    ) -> Result<Did, VerifyError> {
        let (purpose, delegation, signature) = match proof {
            Proof::Transaction => {
                (Purpose::Transaction, &payload.transaction.delegation, &payload.transaction.signature)
            }
            Proof::Payload => (Purpose::Payload, &payload.delegation, &payload.signature),
        };
        let (verified, delegator) = self.delegations.check(delegation, now, self.network_id, self.crypto);
        self.work.verifications += u32::from(verified);
        let delegator = delegator.map_err(|error| VerifyError::Delegation { proof, error })?;
        let numbers = [payload.transaction.issued.0, payload.transaction.lifetime_ms];
        let statement = Statement::new(purpose, self.network_id, hash, numbers);
        self.work.verifications += 1;
        if delegation.delegatee.verifies(self.crypto, &statement, signature) {
            Ok(delegator)
        } else {
            Err(VerifyError::BadSignature { proof })
        }
    }

    /// Whether the holder's proof over held mail counted when it began to hold it.
    pub(super) fn check_holder(&mut self, mail: &HeldMail) -> Result<(), WitnessError> {
        let (verified, holder) =
            self.delegations.check(&mail.delegation, mail.held, self.network_id, self.crypto);
        self.work.verifications += 1 + u32::from(verified);
        self.work.hashed_bytes += bytes_of(mail.encoded().len());
        holder.map_err(WitnessError::Delegation)?;
        let statement = mail.statement(self.network_id);
        let counts = mail.delegation.delegatee.verifies(self.crypto, &statement, &mail.signature);
        if counts { Ok(()) } else { Err(WitnessError::BadSignature) }
    }

    /// The work done since this was last asked, for the caller to charge.
    pub fn take_work(&mut self) -> Work {
        std::mem::take(&mut self.work)
    }
}

/// Whether the origin's proof over `transaction` counts at `now`; then the origin.
pub(super) fn verify_transaction(
    transaction: &Transaction,
    now: WallMs,
    network_id: NetworkId,
    crypto: Crypto,
    delegations: &mut VerifiedDelegations,
) -> Result<Did, VerifyError> {
    live(transaction, now)?;
    let proof = Proof::Transaction;
    let (_, origin) = delegations.check(&transaction.delegation, now, network_id, crypto);
    let origin = origin.map_err(|error| VerifyError::Delegation { proof, error })?;
    let statement = transaction.statement(Purpose::Transaction, network_id);
    if transaction.delegation.delegatee.verifies(crypto, &statement, &transaction.signature) {
        Ok(origin)
    } else {
        Err(VerifyError::BadSignature { proof })
    }
}

/// Whether a transaction may be delivered at `now`: the tolerance counts at its beginning, never at its end, for what a
/// stream forgets rests on the end (decision 5).
const fn live(transaction: &Transaction, now: WallMs) -> Result<(), VerifyError> {
    let lifetime_ms = transaction.lifetime_ms;
    if lifetime_ms > LIFETIME_MAX_MS {
        return Err(VerifyError::LifetimeTooLong { lifetime_ms });
    }
    let issued = transaction.issued;
    if issued.0 > now.plus_ms(CLOCK_TOLERANCE_MS).0 {
        return Err(VerifyError::FromTheFuture { issued, now });
    }
    let expires = transaction.expires();
    if now.0 > expires.0 { Err(VerifyError::Expired { expires, now }) } else { Ok(()) }
}

/// The stream of what is signed under `delegation`, on the sending and on the receiving side alike. `origin` is the
/// delegator's DID.
pub(super) fn stream_key(
    network_id: NetworkId,
    (origin, delegation): (Did, &Delegation),
    destination: Did,
    class: Class,
    flaws: Flaws,
) -> StreamKey {
    let origin = if flaws.has(Flaw::KeyedByDelegatee) { delegation.delegatee.did() } else { origin };
    let class = if flaws.has(Flaw::OneStreamForAllClasses) { Class::Control } else { class };
    StreamKey { network_id, origin, destination, class }
}

#[cfg(test)]
#[path = "verify_tests.rs"]
mod tests;
