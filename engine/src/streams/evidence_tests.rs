//! What evidence shows, and what it does not.

use super::*;
use crate::streams::fixtures::{self, CRYPTO, NETWORK, NOW, signer};
use crate::streams::key::Class;
use crate::streams::transaction::DEFAULT_LIFETIME_MS;
use bytes::Bytes;

fn transaction(destination: &Signer, sequence: u64, content: u8) -> Transaction {
    let lifetime = (NOW, DEFAULT_LIFETIME_MS);
    fixtures::sign(&signer(1, 2), destination.account(), Class::Application, sequence, content, lifetime)
}

struct Case {
    destination: Signer,
    accepted: Transaction,
    incoming: Transaction,
}

impl Case {
    fn new() -> Self {
        let destination = signer(3, 4);
        let accepted = transaction(&destination, 7, 1);
        let incoming = transaction(&destination, 7, 2);
        Self { destination, accepted, incoming }
    }

    fn evidence(&self) -> ForkEvidence {
        let (accepted, incoming) = (self.accepted.digest(), self.incoming.clone());
        ForkEvidence::sign(accepted, incoming, NOW, &self.destination, NETWORK, CRYPTO)
    }
}

#[test]
fn anybody_verifies_evidence_and_the_accepted_transaction_completes_it() {
    let case = Case::new();
    let evidence = ForkEvidence::decode(&case.evidence().encode()).unwrap();
    assert_eq!(evidence, case.evidence());
    let fork = evidence.verify(NETWORK, CRYPTO).unwrap();
    assert_eq!(fork.accepted, case.accepted.digest());
    assert_eq!(fork.incoming, case.incoming.digest());
    assert_eq!(fork.sequence, Sequence(7));
    assert_eq!(fork.stream.origin, signer(1, 2).account());
    assert_eq!(fork.stream.destination, case.destination.account());
    assert_eq!(evidence.complete(&case.accepted, NETWORK, CRYPTO), Ok(fork));
    assert_eq!(evidence.complete(&case.incoming, NETWORK, CRYPTO), Err(EvidenceError::NotAccepted));
}

#[test]
fn evidence_of_another_network_witness_digest_or_instant_shows_nothing() {
    let case = Case::new();
    let good = case.evidence();
    let elsewhere = good.verify(NetworkId(2), CRYPTO).unwrap_err();
    assert!(matches!(elsewhere, EvidenceError::Incoming(_)));

    let stranger = ForkEvidence::sign(
        case.accepted.digest(),
        case.incoming.clone(),
        NOW,
        &signer(5, 6),
        NETWORK,
        CRYPTO,
    );
    assert_eq!(stranger.verify(NETWORK, CRYPTO), Err(EvidenceError::NotDestination));

    let replay = ForkEvidence::sign(
        case.incoming.digest(),
        case.incoming.clone(),
        NOW,
        &case.destination,
        NETWORK,
        CRYPTO,
    );
    assert_eq!(replay.verify(NETWORK, CRYPTO), Err(EvidenceError::SameDigest));

    let forged = ForkEvidence { accepted: [9; 32], ..good.clone() };
    assert_eq!(forged.verify(NETWORK, CRYPTO), Err(EvidenceError::BadSignature));

    let later = ForkEvidence { witnessed: NOW.plus_ms(1), ..good.clone() };
    assert_eq!(later.verify(NETWORK, CRYPTO), Err(EvidenceError::BadSignature));

    let too_late = ForkEvidence { witnessed: NOW.plus_ms(DEFAULT_LIFETIME_MS + 1), ..good };
    assert!(matches!(
        too_late.verify(NETWORK, CRYPTO),
        Err(EvidenceError::Incoming(VerifyError::Expired { .. }))
    ));
}

#[test]
fn a_transaction_of_another_sequence_or_class_does_not_complete_evidence() {
    let case = Case::new();
    let other = transaction(&case.destination, 8, 1);
    let evidence =
        ForkEvidence::sign(other.digest(), case.incoming.clone(), NOW, &case.destination, NETWORK, CRYPTO);
    assert!(evidence.verify(NETWORK, CRYPTO).is_ok(), "the destination's word alone");
    assert_eq!(evidence.complete(&other, NETWORK, CRYPTO), Err(EvidenceError::NotAccepted));
}

#[test]
fn evidence_without_its_marker_or_with_more_behind_it_is_not_read() {
    let encoded = Case::new().evidence().encode();
    assert_eq!(ForkEvidence::decode(&encoded.slice(1..)).unwrap_err(), DecodeError::NoMarker);
    let longer = Bytes::from([&encoded[..], &[0]].concat());
    assert!(matches!(ForkEvidence::decode(&longer).unwrap_err(), DecodeError::Wire(_)));
}
