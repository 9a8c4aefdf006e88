//! People and transactions for the tests of the streams.

use super::engine::StreamsConfig;
use super::key::{Class, NetworkId};
use super::message::MessageKind;
use super::payload::Payload;
use super::transaction::{DEFAULT_LIFETIME_MS, Draft, Transaction, TransactionId};
use super::verify::{Verified, Verifier};
use crate::flaws::Flaws;
use crate::identity::Did;
use crate::identity::delegation::{Delegation, Signer};
use crate::identity::signing::{Crypto, KeyPair};
use crate::units::{Sequence, WallMs};
use std::sync::Arc;

pub(super) const NETWORK: NetworkId = NetworkId(1);
pub(super) const NOW: WallMs = WallMs(10_000_000);
pub(super) const CRYPTO: Crypto = Crypto::KeyedHash;

/// A signer of account `account` under delegatee `delegatee`, for ever.
pub(super) fn signer(account: u8, delegatee: u8) -> Signer {
    signer_until(account, delegatee, WallMs(u64::MAX), NETWORK, CRYPTO)
}

pub(super) fn signer_until(
    account: u8,
    delegatee: u8,
    until: WallMs,
    network_id: NetworkId,
    crypto: Crypto,
) -> Signer {
    let (account, key) = (KeyPair::from_seed(&[account; 32]), KeyPair::from_seed(&[delegatee; 32]));
    let delegation = Delegation::sign(&account, *key.public(), (WallMs(0), until), network_id, crypto);
    Signer::new(key, delegation)
}

/// The receiving node's account, and who signs its evidence.
pub(super) fn receiver() -> Arc<Signer> {
    Arc::new(signer(200, 201))
}

pub(super) fn config(flaws: Flaws) -> StreamsConfig {
    StreamsConfig { crypto: CRYPTO, quota: None, flaws, ..StreamsConfig::new(NETWORK, receiver().account()) }
}

/// A transaction of application traffic to the receiver; `content` tells two of one sequence apart.
pub(super) fn transaction(origin: &Signer, sequence: u64, content: u8) -> Transaction {
    sign(origin, receiver().account(), Class::Application, sequence, content, (NOW, DEFAULT_LIFETIME_MS))
}

pub(super) fn sign(
    origin: &Signer,
    destination: Did,
    class: Class,
    sequence: u64,
    content: u8,
    (issued, lifetime_ms): (WallMs, u64),
) -> Transaction {
    let draft = Draft {
        destination,
        id: TransactionId([8; 16]),
        sequence: Sequence(sequence),
        reply_via: None,
        data: &[MessageKind::plain(class) as u8, content],
        issued,
        lifetime_ms,
    };
    Transaction::sign(&draft, origin, NETWORK, CRYPTO).unwrap()
}

/// A transaction as it verifies at the receiver when its origin sends it directly.
pub(super) fn verified(transaction: Transaction, flaws: Flaws) -> Verified {
    let payload = Payload::sign(transaction, &signer(1, 2), NETWORK, CRYPTO);
    Verifier::new(NETWORK, CRYPTO, flaws).verify(payload, NOW).unwrap()
}
