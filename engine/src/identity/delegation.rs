//! Expiring delegations: an account lends its name to a key for a while.
//!
//! Promise: what a delegatee signs counts as its delegator's while the delegation lasts and not a moment longer, and a
//! delegation's own signature is verified once, not for each message.

use super::Did;
use super::signing::{Crypto, KeyPair, PublicKey, Purpose, Signature, Statement};
use crate::streams::key::NetworkId;
use crate::units::WallMs;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::hash::{Hash, Hasher};

/// How far apart two honest clocks may be, in milliseconds: the seed's sigma (decision 5).
pub const CLOCK_TOLERANCE_MS: u64 = 3_000;

/// How many verified delegations a node remembers; the oldest is forgotten first and costs one verification more.
pub const VERIFIED_DELEGATIONS_MAX: usize = 1_024;

/// An account's word that a key may sign for it, from one instant to another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Delegation {
    /// The account.
    pub delegator: PublicKey,
    /// The key that may sign for it.
    pub delegatee: PublicKey,
    /// First instant, by the delegator's clock.
    pub issued: WallMs,
    /// Last instant.
    pub expires: WallMs,
    /// The account's signature over the other fields and the network.
    pub signature: Signature,
}

/// Equal delegations have equal signatures, and an unequal one with the same signature costs a comparison.
impl Hash for Delegation {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(u64::from_le_bytes(self.signature.0[..8].try_into().expect("eight bytes")));
    }
}

/// Why a delegation does not count now.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum DelegationError {
    /// Its last instant is past.
    #[error("the delegation expired at {expires}, and it is {now}")]
    Expired {
        /// Its last instant.
        expires: WallMs,
        /// This node's clock.
        now: WallMs,
    },
    /// Its first instant is further ahead than clocks may differ.
    #[error("the delegation begins at {issued}, more than {CLOCK_TOLERANCE_MS} ms after {now}")]
    NotYet {
        /// Its first instant.
        issued: WallMs,
        /// This node's clock.
        now: WallMs,
    },
    /// Its signature is not the delegator's over it for this network.
    #[error("the delegation is not signed by its delegator for this network")]
    BadSignature,
}

impl Delegation {
    /// `account` lets `delegatee` sign for it on one network from `issued` to `expires`.
    #[must_use]
    pub fn sign(
        account: &KeyPair,
        delegatee: PublicKey,
        (issued, expires): (WallMs, WallMs),
        network_id: NetworkId,
        crypto: Crypto,
    ) -> Self {
        let statement = statement(&delegatee, issued, expires, network_id);
        let signature = account.sign(crypto, &statement);
        Self { delegator: *account.public(), delegatee, issued, expires, signature }
    }

    /// Whether `now` lies in its time, with the tolerance on its beginning only.
    ///
    /// # Errors
    /// [`DelegationError::Expired`] or [`DelegationError::NotYet`].
    pub const fn covers(&self, now: WallMs) -> Result<(), DelegationError> {
        if now.0 > self.expires.0 {
            Err(DelegationError::Expired { expires: self.expires, now })
        } else if self.issued.0 > now.plus_ms(CLOCK_TOLERANCE_MS).0 {
            Err(DelegationError::NotYet { issued: self.issued, now })
        } else {
            Ok(())
        }
    }

    /// Whether the delegator signed it for this network. One verification.
    #[must_use]
    pub fn is_signed(&self, network_id: NetworkId, crypto: Crypto) -> bool {
        let statement = statement(&self.delegatee, self.issued, self.expires, network_id);
        self.delegator.verifies(crypto, &statement, &self.signature)
    }
}

fn statement(delegatee: &PublicKey, issued: WallMs, expires: WallMs, network_id: NetworkId) -> Statement {
    Statement::new(Purpose::Delegation, network_id, &delegatee.0, [issued.0, expires.0])
}

/// Who signs on a node: a delegatee's key pair and the delegation that it acts under.
#[derive(Clone, Debug)]
pub struct Signer {
    key: KeyPair,
    delegation: Delegation,
    account: Did,
}

impl Signer {
    /// A signer of its delegator's transactions.
    ///
    /// # Panics
    /// When the delegation names another key: keys come from the node's own configuration.
    #[must_use]
    pub fn new(key: KeyPair, delegation: Delegation) -> Self {
        assert_eq!(*key.public(), delegation.delegatee, "the delegation names another key");
        let account = delegation.delegator.did();
        Self { key, delegation, account }
    }

    /// The delegation.
    #[must_use]
    pub const fn delegation(&self) -> &Delegation {
        &self.delegation
    }

    /// The delegator's DID: the origin of what this signer signs.
    #[must_use]
    pub const fn account(&self) -> Did {
        self.account
    }

    /// The delegatee's key pair.
    #[must_use]
    pub const fn key(&self) -> &KeyPair {
        &self.key
    }
}

/// The delegations whose signature was verified, and whose DID each delegator has.
///
/// Bounded by [`VERIFIED_DELEGATIONS_MAX`]; the places are reused in turn.
#[derive(Debug, Default)]
pub struct VerifiedDelegations {
    known: IndexMap<Delegation, Did, FxBuildHasher>,
    turn: usize,
}

impl VerifiedDelegations {
    /// The delegator's DID, if `delegation` counts at `now`; and whether its signature had to be verified for that.
    /// Time is checked always, the signature only of a delegation that is not remembered.
    ///
    /// # Errors
    /// [`DelegationError`].
    pub fn check(
        &mut self,
        delegation: &Delegation,
        now: WallMs,
        network_id: NetworkId,
        crypto: Crypto,
    ) -> (bool, Result<Did, DelegationError>) {
        if let Err(error) = delegation.covers(now) {
            return (false, Err(error));
        }
        if let Some(delegator) = self.known.get(delegation) {
            return (false, Ok(*delegator));
        }
        if !delegation.is_signed(network_id, crypto) {
            return (true, Err(DelegationError::BadSignature));
        }
        let delegator = delegation.delegator.did();
        self.remember(*delegation, delegator);
        (true, Ok(delegator))
    }

    fn remember(&mut self, delegation: Delegation, delegator: Did) {
        if self.known.len() == VERIFIED_DELEGATIONS_MAX {
            // The last one takes the freed place, so a cursor that moves on by one visits every place in turn.
            self.known.swap_remove_index(self.turn);
            self.turn = (self.turn + 1) % VERIFIED_DELEGATIONS_MAX;
        }
        self.known.insert(delegation, delegator);
        assert!(self.known.len() <= VERIFIED_DELEGATIONS_MAX);
    }

    /// How many are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.known.len()
    }

    /// Whether none is remembered.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.known.is_empty()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NETWORK: NetworkId = NetworkId(1);

    fn delegation(seed: u8, issued: u64, expires: u64) -> Delegation {
        let (account, delegatee) = (KeyPair::from_seed(&[1; 32]), KeyPair::from_seed(&[seed; 32]));
        Delegation::sign(
            &account,
            *delegatee.public(),
            (WallMs(issued), WallMs(expires)),
            NETWORK,
            Crypto::KeyedHash,
        )
    }

    #[test]
    fn a_delegation_counts_from_sigma_before_its_beginning_to_its_end() {
        let delegation = delegation(2, 10_000, 20_000);
        let cases = [(6_999, false), (7_000, true), (10_000, true), (20_000, true), (20_001, false)];
        for (now, counts) in cases {
            assert_eq!(delegation.covers(WallMs(now)).is_ok(), counts, "at {now}");
        }
    }

    #[test]
    fn a_delegation_of_another_network_or_with_a_changed_end_is_not_signed() {
        for crypto in [Crypto::Ed25519, Crypto::KeyedHash] {
            let account = KeyPair::from_seed(&[1; 32]);
            let delegatee = *KeyPair::from_seed(&[2; 32]).public();
            let times = (WallMs(0), WallMs(100));
            let signed = Delegation::sign(&account, delegatee, times, NETWORK, crypto);
            assert!(signed.is_signed(NETWORK, crypto));
            assert!(!signed.is_signed(NetworkId(2), crypto));
            assert!(!Delegation { expires: WallMs(101), ..signed }.is_signed(NETWORK, crypto));
        }
    }

    #[test]
    fn a_remembered_delegation_is_not_verified_again_but_still_expires() {
        let delegation = delegation(2, 0, 100);
        let mut known = VerifiedDelegations::default();
        let mut check = |now| known.check(&delegation, WallMs(now), NETWORK, Crypto::KeyedHash);
        let account = delegation.delegator.did();
        assert_eq!(check(1), (true, Ok(account)));
        assert_eq!(check(100), (false, Ok(account)));
        let expired = DelegationError::Expired { expires: WallMs(100), now: WallMs(101) };
        assert_eq!(check(101), (false, Err(expired)));
    }

    #[test]
    fn a_forged_copy_of_a_remembered_delegation_is_verified_and_refused() {
        let genuine = delegation(2, 0, 100);
        let mut known = VerifiedDelegations::default();
        assert!(known.check(&genuine, WallMs(1), NETWORK, Crypto::KeyedHash).1.is_ok());
        let forged = Delegation { expires: WallMs(1_000), ..genuine };
        let verdict = known.check(&forged, WallMs(1), NETWORK, Crypto::KeyedHash);
        assert_eq!(verdict, (true, Err(DelegationError::BadSignature)));
        assert_eq!(known.len(), 1);
    }

    #[test]
    fn the_memory_of_delegations_is_bounded_and_forgets_the_oldest_first() {
        let mut known = VerifiedDelegations::default();
        let nth = |n: usize| delegation(2, 0, 100 + n as u64);
        let mut check = |n| known.check(&nth(n), WallMs(1), NETWORK, Crypto::KeyedHash).0;
        for n in 0..=VERIFIED_DELEGATIONS_MAX {
            assert!(check(n), "number {n} is new");
        }
        assert!(!check(1), "the second oldest is still remembered");
        assert!(check(0), "the oldest was forgotten");
        assert_eq!(known.len(), VERIFIED_DELEGATIONS_MAX);
    }
}
