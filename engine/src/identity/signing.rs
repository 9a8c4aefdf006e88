//! Keys, signatures and signing domains.
//!
//! Promise: a signature made for one network or one purpose verifies for no other.

use super::Did;
use crate::streams::key::NetworkId;
use ed25519_dalek::{Signer as _, SigningKey, VerifyingKey};
use sha2::{Digest as _, Sha256};
use std::fmt;

/// How a node signs and verifies. Keys, DIDs and their order are the same under both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Crypto {
    /// Ed25519, as a real node runs it (decision 11).
    #[default]
    Ed25519,
    /// SHA-256 over domain, public key and message stands in for the signature: nothing is secret, but whatever is not
    /// exactly what the holder of the key signed still fails. For simulations only, since it is some hundred times faster.
    KeyedHash,
}

impl Crypto {
    /// The name as plans spell it.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Crypto::Ed25519 => "ed25519",
            Crypto::KeyedHash => "keyed-hash",
        }
    }
}

/// What a signature is for. Part of the signing domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Purpose {
    /// An origin's signature over its transaction.
    Transaction,
    /// A hop's signature over the payload that carries a transaction.
    Payload,
    /// A delegator's signature over its delegatee's key.
    Delegation,
    /// A destination's signature over the two digests of a fork.
    ForkEvidence,
    /// A holder's signature over mail and the instant at which it began to hold it.
    HeldMail,
}

impl Purpose {
    const fn tag(self) -> &'static [u8] {
        match self {
            Purpose::Transaction => b"groundhog:transaction",
            Purpose::Payload => b"groundhog:payload",
            Purpose::Delegation => b"groundhog:delegation",
            Purpose::ForkEvidence => b"groundhog:fork-evidence",
            Purpose::HeldMail => b"groundhog:held-mail",
        }
    }
}

/// Length of what is signed inside a domain: a digest or key, and two numbers.
pub const STATEMENT_BYTES: usize = 48;

/// The longest tag, with its length before it and the network after it.
const DOMAIN_MAX_BYTES: usize = 1 + 23 + 4;

/// What a signature is over: a purpose, a network, and 32 bytes with two numbers.
///
/// The tag is preceded by its length and everything after it has a fixed one, so two different statements never share
/// their bytes.
#[derive(Clone, Copy)]
pub struct Statement {
    bytes: [u8; DOMAIN_MAX_BYTES + STATEMENT_BYTES],
    length: usize,
}

impl Statement {
    /// The statement of `body` and two numbers in the domain of `purpose` and `network_id`.
    #[must_use]
    pub fn new(purpose: Purpose, network_id: NetworkId, body: &[u8; 32], numbers: [u64; 2]) -> Self {
        let tag = purpose.tag();
        let mut bytes = [0; DOMAIN_MAX_BYTES + STATEMENT_BYTES];
        bytes[0] = u8::try_from(tag.len()).expect("a tag is short");
        let mut length = 1;
        for part in
            [tag, &network_id.0.to_be_bytes(), body, &numbers[0].to_be_bytes(), &numbers[1].to_be_bytes()]
        {
            bytes[length..length + part.len()].copy_from_slice(part);
            length += part.len();
        }
        Self { bytes, length }
    }

    /// The signed bytes.
    #[must_use]
    pub fn as_bytes(&self) -> &[u8] {
        &self.bytes[..self.length]
    }
}

/// A public key: an account's or a delegatee's.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct PublicKey(pub [u8; 32]);

impl PublicKey {
    /// The DID: the last 20 bytes of SHA-256 of the key (decision 11). One hash; keep the result.
    #[must_use]
    pub fn did(&self) -> Did {
        let digest = sha256(&[&self.0]);
        let mut did = [0; 20];
        did.copy_from_slice(&digest[12..]);
        Did(did)
    }

    /// Whether `signature` is this key's over `statement`. Ed25519 is checked strictly: a third party cannot turn a
    /// valid signature into another valid one.
    #[must_use]
    pub fn verifies(&self, crypto: Crypto, statement: &Statement, signature: &Signature) -> bool {
        match crypto {
            Crypto::Ed25519 => VerifyingKey::from_bytes(&self.0).is_ok_and(|key| {
                key.verify_strict(statement.as_bytes(), &ed25519_dalek::Signature::from_bytes(&signature.0))
                    .is_ok()
            }),
            Crypto::KeyedHash => keyed_hash(self, statement) == *signature,
        }
    }
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A signature.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Signature(pub [u8; 64]);

impl fmt::Debug for Signature {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0[..8].iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

/// A key pair: an account's or a delegatee's.
#[derive(Clone)]
pub struct KeyPair {
    signing: SigningKey,
    public: PublicKey,
}

impl KeyPair {
    /// The key pair of a seed. The same seed gives the same keys on every machine.
    #[must_use]
    pub fn from_seed(seed: &[u8; 32]) -> Self {
        let signing = SigningKey::from_bytes(seed);
        let public = PublicKey(signing.verifying_key().to_bytes());
        Self { signing, public }
    }

    /// The public key.
    #[must_use]
    pub const fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Signs `statement`. The same statement gives the same signature each time.
    #[must_use]
    pub fn sign(&self, crypto: Crypto, statement: &Statement) -> Signature {
        match crypto {
            Crypto::Ed25519 => Signature(self.signing.sign(statement.as_bytes()).to_bytes()),
            Crypto::KeyedHash => keyed_hash(&self.public, statement),
        }
    }
}

impl fmt::Debug for KeyPair {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "KeyPair({:?})", self.public)
    }
}

/// SHA-256 of the parts, one after the other.
#[must_use]
pub fn sha256(parts: &[&[u8]]) -> [u8; 32] {
    let mut hash = Sha256::new();
    for part in parts {
        hash.update(part);
    }
    hash.finalize().into()
}

fn keyed_hash(key: &PublicKey, statement: &Statement) -> Signature {
    let digest = sha256(&[&key.0, statement.as_bytes()]);
    let mut signature = [0; 64];
    for (at, byte) in digest.iter().enumerate() {
        signature[at] = *byte;
        signature[32 + at] = !byte;
    }
    Signature(signature)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PURPOSES: [Purpose; 5] = [
        Purpose::Transaction,
        Purpose::Payload,
        Purpose::Delegation,
        Purpose::ForkEvidence,
        Purpose::HeldMail,
    ];

    #[test]
    fn a_signature_counts_for_its_own_key_network_purpose_and_statement_only() {
        let (alice, bob) = (KeyPair::from_seed(&[1; 32]), KeyPair::from_seed(&[2; 32]));
        for crypto in [Crypto::Ed25519, Crypto::KeyedHash] {
            for purpose in PURPOSES {
                let statement = Statement::new(purpose, NetworkId(7), &[9; 32], [5, 6]);
                let signature = alice.sign(crypto, &statement);
                assert!(alice.public().verifies(crypto, &statement, &signature));
                assert!(!bob.public().verifies(crypto, &statement, &signature));
                let others = PURPOSES
                    .iter()
                    .filter(|other| **other != purpose)
                    .map(|other| Statement::new(*other, NetworkId(7), &[9; 32], [5, 6]))
                    .chain([
                        Statement::new(purpose, NetworkId(8), &[9; 32], [5, 6]),
                        Statement::new(purpose, NetworkId(7), &[8; 32], [5, 6]),
                        Statement::new(purpose, NetworkId(7), &[9; 32], [4, 6]),
                        Statement::new(purpose, NetworkId(7), &[9; 32], [5, 7]),
                    ]);
                for other in others {
                    assert!(!alice.public().verifies(crypto, &other, &signature));
                }
                for at in [0, 31, 32, 63] {
                    let mut changed = signature;
                    changed.0[at] ^= 1;
                    assert!(!alice.public().verifies(crypto, &statement, &changed), "byte {at}");
                }
            }
        }
    }

    #[test]
    fn keys_and_dids_come_from_the_seed_alone() {
        let key = KeyPair::from_seed(&[0; 32]);
        assert_eq!(
            format!("{:?}", key.public()),
            "3b6a27bcceb6a42d62a3a8d02a6f0d73653215771de243a63ac048a18b59da29",
            "the Ed25519 public key of the all-zero seed"
        );
        let digest = sha256(&[&key.public().0]);
        assert_eq!(key.public().did().0, digest[12..]);
    }

    #[test]
    fn every_tag_fits_the_domain() {
        let longest = PURPOSES.iter().map(|purpose| purpose.tag().len()).max();
        assert_eq!(longest, Some(DOMAIN_MAX_BYTES - 5));
    }
}
