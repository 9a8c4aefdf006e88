//! What verifies, when, for which network, and what it costs.

use super::*;
use crate::identity::delegation::Signer;
use crate::identity::signing::KeyPair;
use crate::streams::fixtures::{CRYPTO, NETWORK, NOW, signer, signer_until};
use crate::streams::transaction::{DEFAULT_LIFETIME_MS, Draft, TransactionId};
use crate::units::Sequence;

fn draft() -> Draft<'static> {
    Draft {
        destination: Did([7; 20]),
        id: TransactionId([8; 16]),
        sequence: Sequence(3),
        reply_via: None,
        data: &[12, 1, 2, 3],
        issued: NOW,
        lifetime_ms: DEFAULT_LIFETIME_MS,
    }
}

fn payload(
    draft: &Draft<'_>,
    origin: &Signer,
    hop: &Signer,
    network_id: NetworkId,
    crypto: Crypto,
) -> Payload {
    let transaction = Transaction::sign(draft, origin, network_id, crypto).unwrap();
    Payload::sign(transaction, hop, network_id, crypto)
}

fn verify(payload: Payload, now: WallMs) -> Result<Verified, VerifyError> {
    Verifier::new(NETWORK, CRYPTO, Flaws::NONE).verify(payload, now)
}

#[test]
fn a_payload_verifies_for_its_own_network_only() {
    for crypto in [Crypto::Ed25519, Crypto::KeyedHash] {
        let end = WallMs(u64::MAX);
        let signer = |account, key| signer_until(account, key, end, NETWORK, crypto);
        let (origin, hop) = (signer(1, 2), signer(3, 4));
        let payload = payload(&draft(), &origin, &hop, NETWORK, crypto);
        let here = Verifier::new(NETWORK, crypto, Flaws::NONE).verify(payload.clone(), NOW).unwrap();
        let expected = StreamKey {
            network_id: NETWORK,
            origin: origin.account(),
            destination: Did([7; 20]),
            class: Class::Application,
        };
        assert_eq!(*here.stream(), expected);
        assert_eq!(*here.digest(), payload.transaction.digest());
        let elsewhere = Verifier::new(NetworkId(2), crypto, Flaws::NONE).verify(payload, NOW).unwrap_err();
        assert_eq!(elsewhere.id(), "delegation-forged");
    }
}

#[test]
fn a_transaction_is_live_from_sigma_before_its_issue_to_its_last_instant() {
    let end = NOW.0 + DEFAULT_LIFETIME_MS;
    let cases = [
        (NOW.0 - 3_001, Err("from-the-future")),
        (NOW.0 - 3_000, Ok(())),
        (NOW.0, Ok(())),
        (end, Ok(())),
        (end + 1, Err("expired")),
        (end + 3_001, Err("expired")),
    ];
    for (now, expected) in cases {
        let verdict = verify(payload(&draft(), &signer(1, 2), &signer(3, 4), NETWORK, CRYPTO), WallMs(now));
        assert_eq!(verdict.map(|_| ()).map_err(|error| error.id()), expected, "at {now}");
    }
}

#[test]
fn both_delegations_must_last() {
    let until = |end| signer_until(1, 2, WallMs(end), NETWORK, CRYPTO);
    let lasting = signer(3, 4);
    let cases = [
        (payload(&draft(), &until(NOW.0 - 1), &lasting, NETWORK, CRYPTO), Some(Proof::Transaction)),
        (payload(&draft(), &lasting, &until(NOW.0 - 1), NETWORK, CRYPTO), Some(Proof::Payload)),
        (payload(&draft(), &until(NOW.0), &until(NOW.0), NETWORK, CRYPTO), None),
    ];
    for (payload, refused) in cases {
        let error = verify(payload, NOW).err();
        let expired = DelegationError::Expired { expires: WallMs(NOW.0 - 1), now: NOW };
        assert_eq!(error, refused.map(|proof| VerifyError::Delegation { proof, error: expired }));
    }
}

#[test]
fn every_part_of_both_proofs_is_checked() {
    let good = payload(&draft(), &signer(1, 2), &signer(3, 4), NETWORK, CRYPTO);
    assert!(verify(good.clone(), NOW).is_ok());
    type Change = fn(&mut Payload);
    let changes: [(&str, Change, &str); 9] = [
        ("destination", |payload| payload.transaction.destination = Did([1; 20]), "bad-signature"),
        ("id", |payload| payload.transaction.id = TransactionId([1; 16]), "bad-signature"),
        ("sequence", |payload| payload.transaction.sequence = Sequence(4), "bad-signature"),
        ("reply path", |payload| payload.transaction.reply_via = Some(Did([1; 20])), "bad-signature"),
        ("issued", |payload| payload.transaction.issued = WallMs(NOW.0 + 1), "bad-signature"),
        ("lifetime", |payload| payload.transaction.lifetime_ms += 1, "bad-signature"),
        ("signature", |payload| payload.transaction.signature.0[0] ^= 1, "bad-signature"),
        ("hop's signature", |payload| payload.signature.0[0] ^= 1, "bad-signature"),
        (
            "delegator",
            |payload| payload.transaction.delegation.delegator = *KeyPair::from_seed(&[9; 32]).public(),
            "delegation-forged",
        ),
    ];
    for (name, change, expected) in changes {
        let mut changed = good.clone();
        change(&mut changed);
        assert_eq!(verify(changed, NOW).unwrap_err().id(), expected, "{name}");
    }
    let mut swapped = good.clone();
    swapped.signature = swapped.transaction.signature;
    swapped.delegation = swapped.transaction.delegation;
    let refused = verify(swapped, NOW).unwrap_err();
    assert_eq!(refused, VerifyError::BadSignature { proof: Proof::Payload }, "a transaction's is no hop's");
}

#[test]
fn a_relay_signs_the_payload_anew_and_the_transaction_stays() {
    let first = payload(&draft(), &signer(1, 2), &signer(1, 2), NETWORK, CRYPTO);
    let arrived = verify(first.clone(), NOW).unwrap();
    let relayed = Payload::sign(arrived.into_payload().transaction, &signer(5, 6), NETWORK, CRYPTO);
    let verified = verify(relayed.clone(), NOW).unwrap();
    assert_eq!(*verified.digest(), first.transaction.digest());
    assert_eq!(verified.stream().origin, signer(1, 2).account());
    assert_ne!(relayed.encoded(), first.encoded());
}

#[test]
fn another_delegatee_keeps_the_stream() {
    let of = |delegatee| {
        verify(payload(&draft(), &signer(1, delegatee), &signer(3, 4), NETWORK, CRYPTO), NOW).unwrap()
    };
    assert_eq!(of(2).stream(), of(9).stream());
    assert_ne!(of(2).digest(), of(9).digest());
}

#[test]
fn a_known_delegation_saves_its_verification() {
    let mut verifier = Verifier::new(NETWORK, CRYPTO, Flaws::NONE);
    let payload = payload(&draft(), &signer(1, 2), &signer(3, 4), NETWORK, CRYPTO);
    let hashed_bytes = bytes_of(payload.transaction.data().len() + payload.transaction.encoded().len());
    verifier.verify(payload.clone(), NOW).unwrap();
    assert_eq!(verifier.take_work(), Work { verifications: 4, hashed_bytes, ..Work::default() });
    verifier.verify(payload, NOW).unwrap();
    assert_eq!(verifier.take_work(), Work { verifications: 2, hashed_bytes, ..Work::default() });
}

#[cfg(feature = "flaws")]
#[test]
fn the_flawed_keys_are_what_they_say() {
    let key = |flaws| {
        let mut verifier = Verifier::new(NETWORK, CRYPTO, flaws);
        let payload = payload(&draft(), &signer(1, 2), &signer(3, 4), NETWORK, CRYPTO);
        *verifier.verify(payload, NOW).unwrap().stream()
    };
    let plain_key = key(Flaws::NONE);
    let delegatee = KeyPair::from_seed(&[2; 32]).public().did();
    let keyed = key(Flaws::NONE.with(Flaw::KeyedByDelegatee));
    assert_eq!(keyed, StreamKey { origin: delegatee, ..plain_key });
    let shared = key(Flaws::NONE.with(Flaw::OneStreamForAllClasses));
    assert_eq!(shared, StreamKey { class: Class::Control, ..plain_key });
}
