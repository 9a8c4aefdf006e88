//! The encoding against postcard, and what a signature covers.

use super::*;
use crate::streams::fixtures::{CRYPTO, NETWORK, signer};
use crate::streams::payload::{PAYLOAD_MARKER, Payload};
use proptest::prelude::*;
use serde::Serialize;

fn draft(data: &[u8]) -> Draft<'_> {
    Draft {
        destination: Did([7; 20]),
        id: TransactionId([8; 16]),
        sequence: Sequence(300),
        reply_via: None,
        data,
        issued: WallMs(1_000_000),
        lifetime_ms: DEFAULT_LIFETIME_MS,
    }
}

/// A payload after its marker, as postcard would lay it out.
#[derive(Serialize)]
struct Mirror<'a> {
    destination: [u8; 20],
    id: [u8; 16],
    sequence: u64,
    reply_via: Option<[u8; 20]>,
    data: &'a [u8],
    issued: u64,
    lifetime_ms: u64,
    delegation: MirrorProof,
    hop: Option<MirrorProof>,
}

#[derive(Serialize)]
struct MirrorProof {
    delegator: [u8; 32],
    delegatee: [u8; 32],
    issued: u64,
    expires: u64,
    delegated: ([u8; 32], [u8; 32]),
    signed: ([u8; 32], [u8; 32]),
}

fn mirror_proof(delegation: &Delegation, signature: &Signature) -> MirrorProof {
    let halves = |signature: &Signature| {
        (signature.0[..32].try_into().unwrap(), signature.0[32..].try_into().unwrap())
    };
    MirrorProof {
        delegator: delegation.delegator.0,
        delegatee: delegation.delegatee.0,
        issued: delegation.issued.0,
        expires: delegation.expires.0,
        delegated: halves(&delegation.signature),
        signed: halves(signature),
    }
}

proptest! {
    #[test]
    fn the_encoding_is_postcards_and_decodes_to_itself(
        sequence in any::<u64>(),
        issued in any::<u64>(),
        lifetime_ms in 0..=LIFETIME_MAX_MS,
        reply_via in proptest::option::of(any::<[u8; 20]>()),
        tail in proptest::collection::vec(any::<u8>(), 0..300),
    ) {
        let mut data = vec![12];
        data.extend(tail);
        let draft = Draft {
            sequence: Sequence(sequence), issued: WallMs(issued), lifetime_ms, reply_via: reply_via.map(Did), ..draft(&data)
        };
        let transaction = Transaction::sign(&draft, &signer(1, 101), NETWORK, CRYPTO).unwrap();
        let payload = Payload::sign(transaction.clone(), &signer(2, 102), NETWORK, CRYPTO);
        let mirror = Mirror {
            destination: [7; 20],
            id: [8; 16],
            sequence,
            reply_via,
            data: &data,
            issued,
            lifetime_ms,
            delegation: mirror_proof(&transaction.delegation, &transaction.signature),
            hop: None,
        };
        let expected = postcard::to_allocvec(&mirror).unwrap();
        prop_assert_eq!(transaction.encoded(), &expected[..expected.len() - 1]);
        prop_assert_eq!(transaction.digest(), sha256(&[&expected[..expected.len() - 1]]));

        let decoded = Payload::decode(payload.encoded().clone()).unwrap();
        prop_assert_eq!(decoded.transaction.encoded(), transaction.encoded());
        prop_assert_eq!(decoded.transaction.data(), &data);
        prop_assert_eq!(decoded.transaction.sequence, Sequence(sequence));
        prop_assert_eq!(decoded.transaction.reply_via, reply_via.map(Did));
        prop_assert_eq!(decoded.transaction.issued, WallMs(issued));
        prop_assert_eq!(decoded.transaction.lifetime_ms, lifetime_ms);
        prop_assert_eq!(decoded.transaction.delegation, transaction.delegation);
        prop_assert_eq!(decoded.transaction.signature, transaction.signature);
        prop_assert_eq!((decoded.delegation, decoded.signature), (payload.delegation, payload.signature));
        prop_assert_eq!(decoded.encoded(), payload.encoded());
    }

    #[test]
    fn a_damaged_payload_is_never_another_encoding_of_the_same(at in 0usize..600, bit in 0u8..8) {
        let transaction = Transaction::sign(&draft(&[12; 40]), &signer(1, 101), NETWORK, CRYPTO).unwrap();
        let payload = Payload::sign(transaction, &signer(2, 102), NETWORK, CRYPTO);
        let mut bytes = payload.encoded().to_vec();
        let at = at % bytes.len();
        bytes[at] ^= 1 << bit;
        if let Ok(decoded) = Payload::decode(Bytes::from(bytes.clone())) {
            prop_assert_eq!(decoded.encoded(), &bytes);
            let same = (decoded.transaction.encoded(), decoded.delegation, decoded.signature)
                == (payload.transaction.encoded(), payload.delegation, payload.signature);
            prop_assert!(!same);
        }
    }
}

#[test]
fn payloads_without_the_marker_are_refused_before_they_are_read() {
    let transaction = Transaction::sign(&draft(&[12]), &signer(1, 101), NETWORK, CRYPTO).unwrap();
    let payload = Payload::sign(transaction, &signer(2, 102), NETWORK, CRYPTO);
    let whole = payload.encoded();
    assert_eq!(Payload::decode(whole.slice(1..)).unwrap_err(), DecodeError::NoMarker);
    assert_eq!(Payload::decode(Bytes::new()).unwrap_err(), DecodeError::NoMarker);
    let short = Payload::decode(whole.slice(..whole.len() - 1)).unwrap_err();
    assert!(matches!(short, DecodeError::Wire(WireError::Short { .. })));
    let mut long = whole.to_vec();
    long.push(0);
    let long = Payload::decode(Bytes::from(long)).unwrap_err();
    assert_eq!(long, DecodeError::Wire(WireError::Trailing { bytes: 1 }));
    let marker_alone = Payload::decode(Bytes::from_static(PAYLOAD_MARKER)).unwrap_err();
    assert!(matches!(marker_alone, DecodeError::Wire(_)));
}

#[test]
fn what_cannot_be_delivered_is_not_signed() {
    let sign = |draft: &Draft<'_>| Transaction::sign(draft, &signer(1, 101), NETWORK, CRYPTO).err();
    let unknown = DraftError::InvalidMessage(InvalidMessage { first: Some(200) });
    assert_eq!(sign(&draft(&[200])), Some(unknown));
    assert_eq!(sign(&draft(&[])), Some(DraftError::InvalidMessage(InvalidMessage { first: None })));
    let long = Draft { lifetime_ms: LIFETIME_MAX_MS + 1, ..draft(&[12]) };
    assert_eq!(sign(&long), Some(DraftError::LifetimeTooLong { lifetime_ms: LIFETIME_MAX_MS + 1 }));
    assert_eq!(sign(&Draft { lifetime_ms: LIFETIME_MAX_MS, ..draft(&[12]) }), None);
}

#[test]
fn the_signed_hash_is_the_one_of_the_facts() {
    let via = Did([9; 20]);
    let draft = Draft { reply_via: Some(via), ..draft(&[12, 34]) };
    let transaction = Transaction::sign(&draft, &signer(1, 101), NETWORK, CRYPTO).unwrap();
    let mut bytes = Vec::new();
    bytes.extend([7; 20]);
    bytes.extend([8; 16]);
    bytes.extend(300u64.to_be_bytes());
    bytes.push(1);
    bytes.extend([9; 20]);
    bytes.extend([12, 34]);
    assert_eq!(transaction.signed_hash(), sha256(&[&bytes]));
}
