use super::*;
use crate::streams::fixtures::{CRYPTO, NETWORK, NOW, receiver, signer, verified};
use crate::streams::transaction::{DEFAULT_LIFETIME_MS, Draft, LIFETIME_MAX_MS};
use crate::streams::window::Window;
use crate::{flaws::Flaws, identity::delegation::Signer};
use proptest::prelude::*;

const PEER: Did = Did([7; 20]);

fn draft<'a>(id: u8, sequence: u64, data: &'a [u8]) -> Draft<'a> {
    Draft {
        destination: receiver().account(),
        id: TransactionId([id; 16]),
        sequence: Sequence(sequence),
        reply_via: None,
        data,
        issued: NOW,
        lifetime_ms: DEFAULT_LIFETIME_MS,
    }
}

fn payload(origin: &Signer, draft: &Draft<'_>) -> Payload {
    Payload::sign(Transaction::sign(draft, origin, NETWORK, CRYPTO).unwrap(), origin, NETWORK, CRYPTO)
}

fn envelope_of(payload: &Payload) -> Result<Envelope, NoEnvelope> {
    Envelope::of(&verified(payload.transaction.clone(), Flaws::NONE))
}

/// A logical message of so many bytes of data, and the envelopes that its origin sends instead.
fn cut_up(id: u8, bytes: usize, chunk_bytes: usize) -> (Payload, Vec<Envelope>) {
    let origin = signer(1, 2);
    let data: Vec<u8> = std::iter::once(MessageKind::Custom as u8)
        .chain((0..bytes).map(|n| (n * 31 + usize::from(id)) as u8))
        .collect();
    let logical = payload(&origin, &draft(id, 40, &data));
    let envelopes = cut(&logical, chunk_bytes).unwrap().map(|chunk| {
        let encoded = chunk.encode();
        envelope_of(&payload(&origin, &draft(id, 40, &encoded))).unwrap()
    });
    let envelopes = envelopes.collect();
    (logical, envelopes)
}

fn envelope(id: u8, position: u32, total: u32, bytes: usize) -> Envelope {
    Envelope {
        origin: Did([1; 20]),
        id: TransactionId([id; 16]),
        sequence: Sequence(1),
        issued: NOW,
        lifetime_ms: 1_000,
        chunk: Chunk { position, total, data: vec![id; bytes].into() },
    }
}

const SMALL: ReassemblyLimits = ReassemblyLimits {
    pending_messages: 3,
    message_bytes: 1_000,
    chunks: 10,
    chunk_bytes: 300,
    cost_bytes: 2_000,
    peer_cost_bytes: 1_500,
    slot_cost_bytes: 100,
    tombstones: 2,
};

#[test]
fn a_message_is_put_together_from_its_chunks_and_opened_once() {
    let (logical, envelopes) = cut_up(1, 10_000, 1_024);
    assert_eq!(envelopes.len(), logical.encoded().len().div_ceil(1_024));
    let mut reassembly = Reassembly::default();
    let (last, before) = envelopes.split_last().unwrap();
    for envelope in before.iter().rev() {
        assert_eq!(reassembly.take(PEER, envelope, NOW), Ok(Reassembled::Waits));
    }
    assert_eq!(reassembly.take(PEER, &before[3], NOW), Ok(Reassembled::Duplicate));
    let Ok(Reassembled::Complete(message)) = reassembly.take(PEER, last, NOW) else { panic!("not complete") };
    assert_eq!(&message, logical.encoded());
    assert_eq!(last.open(message).unwrap().transaction.digest(), logical.transaction.digest());
    assert_eq!((reassembly.cost_bytes(), reassembly.pending_messages()), (0, 0));
    for envelope in &envelopes {
        assert_eq!(reassembly.take(PEER, envelope, NOW), Ok(Reassembled::AlreadyComplete));
    }
    let expected = ReassemblyCounters {
        completed: 1,
        duplicates: 1,
        after_completion: envelopes.len() as u64,
        ..ReassemblyCounters::default()
    };
    assert_eq!(*reassembly.counters(), expected);
}

#[test]
fn a_message_is_cut_within_its_limits_only() {
    let (logical, envelopes) = cut_up(1, 100, CHUNK_DATA_MAX_BYTES);
    assert_eq!(envelopes.len(), 1, "one chunk is enough for what fits it");
    for bytes in [0, CHUNK_DATA_MIN_BYTES - 1, CHUNK_DATA_MAX_BYTES + 1] {
        assert_eq!(cut(&logical, bytes).map(|_| ()), Err(CutError::ChunkSize { bytes }));
    }
    let nested = payload(&signer(1, 2), &draft(1, 1, &envelopes[0].chunk.encode()));
    assert_eq!(cut(&nested, 1_024).map(|_| ()), Err(CutError::Nested));
    let longest = payload(&signer(1, 2), &draft(1, 1, &vec![MessageKind::Custom as u8; MESSAGE_MAX_BYTES]));
    let bytes = longest.encoded().len();
    assert_eq!(cut(&longest, 1_024).map(|_| ()), Err(CutError::MessageTooLong { bytes }));
    assert_eq!(MESSAGE_MAX_BYTES.div_ceil(CHUNK_DATA_MIN_BYTES), 58_594);
    assert_eq!(CHUNKS_MAX, 58_594);
}

#[test]
fn a_full_chunk_in_its_envelope_fits_a_frame() {
    let chunk = Chunk { position: 58_000, total: 58_001, data: vec![1; CHUNK_DATA_MAX_BYTES].into() };
    let envelope = payload(&signer(1, 2), &draft(1, u64::MAX, &chunk.encode()));
    assert!(envelope.encoded().len() <= 64 * 1_024);
    assert_eq!(envelope_of(&envelope).unwrap().chunk, chunk);
}

#[test]
fn what_is_no_chunk_is_no_envelope() {
    let read = |data: &[u8]| envelope_of(&payload(&signer(1, 2), &draft(1, 1, data)));
    assert_eq!(read(&[MessageKind::Custom as u8]).unwrap_err(), NoEnvelope::OtherKind);
    let whole = envelope(1, 0, 1, 5).chunk.encode();
    for cut in 1..whole.len() {
        assert!(matches!(read(&whole[..cut]), Err(NoEnvelope::Wire(_))), "{cut} bytes");
    }
    let too_long = [whole.as_slice(), &[0]].concat();
    assert!(read(&too_long).is_err());
}

#[test]
fn a_chunk_inside_chunks_and_a_transaction_that_its_envelopes_do_not_speak_for_are_refused() {
    let inner = payload(&signer(1, 2), &draft(1, 1, &envelope(1, 0, 1, 5).chunk.encode()));
    let (logical, envelopes) = cut_up(1, 100, 1_024);
    let speaks = &envelopes[0];
    assert_eq!(speaks.open(inner.encoded().clone()).unwrap_err(), NotLogical::Nested);
    for other in [draft(2, 40, &[12]), draft(1, 41, &[12]), Draft { lifetime_ms: 5, ..draft(1, 40, &[12]) }] {
        let refused = speaks.open(payload(&signer(1, 2), &other).encoded().clone());
        assert_eq!(refused.unwrap_err().id(), "other-transaction");
    }
    assert_eq!(speaks.open(Bytes::from_static(b"nothing")).unwrap_err().id(), "undecodable");
    assert!(speaks.open(logical.encoded().clone()).is_ok());
}

#[test]
fn what_breaks_a_limit_is_rejected_and_named() {
    let plain = envelope(1, 0, 3, 100);
    let late = WallMs(NOW.0 + 1_001);
    let early = WallMs(NOW.0 - 3_001);
    let cases = [
        (Envelope { lifetime_ms: LIFETIME_MAX_MS + 1, ..plain.clone() }, NOW, "lifetime-too-long"),
        (plain.clone(), early, "from-the-future"),
        (plain.clone(), late, "expired"),
        (envelope(1, 3, 3, 100), NOW, "no-such-position"),
        (envelope(1, 0, 0, 100), NOW, "no-such-position"),
        (envelope(1, 0, 11, 100), NOW, "too-many-chunks"),
        (envelope(1, 0, 3, 301), NOW, "chunk-length"),
        (envelope(1, 0, 3, 0), NOW, "chunk-length"),
    ];
    let mut reassembly = Reassembly::new(SMALL);
    for (envelope, now, expected) in cases {
        assert_eq!(reassembly.take(PEER, &envelope, now).unwrap_err().id(), expected);
    }
    assert_eq!((reassembly.pending_messages(), reassembly.counters().rejected), (0, 8));
    let edges = [(plain.clone(), WallMs(NOW.0 - 3_000)), (envelope(1, 1, 3, 300), WallMs(NOW.0 + 1_000))];
    for (envelope, now) in edges {
        assert_eq!(reassembly.take(PEER, &envelope, now), Ok(Reassembled::Waits));
    }
}

#[test]
fn a_chunk_that_does_not_go_with_those_before_it_is_rejected_and_they_stay() {
    let mut reassembly = Reassembly::new(SMALL);
    let plain = envelope(1, 1, 2, 10);
    assert_eq!(reassembly.take(PEER, &envelope(1, 0, 2, 10), NOW), Ok(Reassembled::Waits));
    for other in [
        envelope(1, 1, 3, 10),
        Envelope { sequence: Sequence(2), ..plain.clone() },
        Envelope { issued: WallMs(NOW.0 - 1), ..plain.clone() },
        Envelope { lifetime_ms: 999, ..plain.clone() },
    ] {
        assert_eq!(reassembly.take(PEER, &other, NOW), Err(Rejected::Mismatch));
    }
    let stranger = Envelope { origin: Did([2; 20]), ..plain.clone() };
    assert_eq!(
        reassembly.take(PEER, &stranger, NOW),
        Ok(Reassembled::Waits),
        "another origin's message is another"
    );
    assert_eq!(
        reassembly.take(Did([8; 20]), &plain, NOW),
        Ok(Reassembled::Waits),
        "and so is what another peer sent"
    );
    assert_eq!(reassembly.take(PEER, &plain, NOW), Ok(Reassembled::Complete(vec![1; 20].into())));
}

#[test]
fn memory_is_bounded_for_each_peer_and_for_all_and_expired_messages_make_room() {
    let mut reassembly = Reassembly::new(SMALL);
    let mut take = |peer: u8, envelope: &Envelope, now_ms: u64| {
        let taken = reassembly.take(Did([peer; 20]), envelope, WallMs(NOW.0 + now_ms));
        (taken.map_or_else(|rejected| rejected.id(), |_| "taken"), reassembly.cost_bytes())
    };
    for id in 0..3 {
        assert_eq!(take(1, &envelope(id, 0, 9, 200), 0).0, "taken");
    }
    assert_eq!(take(1, &envelope(3, 0, 9, 1), 0), ("too-many-messages", 900));
    assert_eq!(take(1, &envelope(0, 1, 9, 300), 0).0, "taken");
    assert_eq!(take(1, &envelope(0, 2, 9, 300), 0), ("peer-full", 1_300));
    assert_eq!(take(2, &envelope(0, 0, 9, 300), 0).0, "taken");
    assert_eq!(take(2, &envelope(0, 1, 9, 201), 0), ("reassembly-full", 1_700));
    assert_eq!(take(2, &envelope(0, 1, 9, 200), 0), ("taken", 2_000));
    let later = Envelope { issued: WallMs(NOW.0 + 1_001), ..envelope(0, 0, 9, 200) };
    assert_eq!(take(3, &later, 1_001), ("taken", 300), "what the others had is expired");
    reassembly.sweep(WallMs(NOW.0 + 2_001));
    assert_eq!((reassembly.cost_bytes(), reassembly.counters().expired), (300, 4), "its last instant");
    reassembly.sweep(WallMs(NOW.0 + 2_002));
    assert_eq!((reassembly.cost_bytes(), reassembly.counters().expired), (0, 5));
    assert!(reassembly.peers.is_empty(), "a peer of whom nothing waits costs nothing");
}

#[test]
fn a_message_that_grows_too_long_is_rejected_at_the_chunk_that_would_do_it() {
    let mut reassembly = Reassembly::new(ReassemblyLimits { peer_cost_bytes: 2_000, ..SMALL });
    for position in 0..3 {
        assert!(reassembly.take(PEER, &envelope(1, position, 5, 300), NOW).is_ok());
    }
    let rejected = reassembly.take(PEER, &envelope(1, 3, 5, 101), NOW);
    assert_eq!(rejected, Err(Rejected::MessageTooLong { limit: 1_000 }));
}

#[test]
fn tombstones_expire_and_of_too_many_the_oldest_is_dropped() {
    let mut reassembly = Reassembly::new(SMALL);
    let mut take = |id, now_ms| match reassembly.take(PEER, &envelope(id, 0, 1, 5), WallMs(NOW.0 + now_ms)) {
        Ok(Reassembled::Complete(_)) => "complete",
        Ok(Reassembled::AlreadyComplete) => "already complete",
        other => panic!("{other:?}"),
    };
    assert_eq!([take(1, 0), take(2, 0)], ["complete"; 2]);
    assert_eq!([take(1, 1_000), take(2, 1_000)], ["already complete"; 2]);
    assert_eq!(take(3, 1_000), "complete");
    assert_eq!(take(2, 1_000), "already complete");
    assert_eq!(take(1, 1_000), "complete", "its tombstone was the oldest of three");
    assert_eq!(reassembly.counters().tombstones_overflowed, 2);
    let expired = reassembly.take(PEER, &envelope(1, 0, 1, 5), WallMs(NOW.0 + 1_001));
    assert_eq!(expired.unwrap_err().id(), "expired");
    reassembly.sweep(WallMs(NOW.0 + 1_001));
    assert!(reassembly.peers.is_empty(), "nothing is remembered of what can no longer arrive");
}

/// Past its tombstone a message is put together again, and its stream's window is what rejects it.
#[test]
fn a_retransmission_past_its_tombstone_meets_the_replay_window() {
    let mut reassembly = Reassembly::new(ReassemblyLimits { tombstones: 1, ..ReassemblyLimits::SEED });
    let mut window: Option<Window> = None;
    let mut verdicts = Vec::new();
    for id in [1, 2, 1] {
        let (_, envelopes) = cut_up(id, 3_000, 1_024);
        for envelope in &envelopes {
            if let Reassembled::Complete(message) = reassembly.take(PEER, envelope, NOW).unwrap() {
                let logical = verified(envelope.open(message).unwrap().transaction, Flaws::NONE);
                // Messages of one test share a sequence; the second goes to another stream.
                if id == 1 {
                    let sequence = logical.transaction().sequence;
                    verdicts.push(
                        crate::streams::window::observe(&mut window, sequence, logical.digest())
                            .0
                            .kind()
                            .id(),
                    );
                }
            }
        }
    }
    assert_eq!(verdicts, ["first", "replay"]);
    assert_eq!(reassembly.counters().completed, 3);
}

#[derive(Clone, Debug)]
enum Act {
    Chunk { message: usize, chunk: prop::sample::Index, times: u8 },
    Later { ms: u64 },
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn any_order_duplication_and_loss_of_chunks_gives_exactly_the_messages_or_nothing(
        sizes in proptest::collection::vec(1usize..6_000, 1..4),
        acts in proptest::collection::vec(
            prop_oneof![
                30 => (0usize..4, any::<prop::sample::Index>(), 1u8..3)
                    .prop_map(|(message, chunk, times)| Act::Chunk { message, chunk, times }),
                1 => (0u64..300_000).prop_map(|ms| Act::Later { ms }),
            ],
            1..120,
        ),
    ) {
        let messages: Vec<_> = sizes.iter().zip(0u8..).map(|(bytes, id)| cut_up(id, *bytes, 1_024)).collect();
        let limits = ReassemblyLimits { pending_messages: 2, cost_bytes: 9_000, peer_cost_bytes: 9_000, ..ReassemblyLimits::SEED };
        let mut reassembly = Reassembly::new(limits);
        let mut now = NOW;
        for act in acts {
            match act {
                Act::Later { ms } => now = now.plus_ms(ms),
                Act::Chunk { message, chunk, times } => {
                    let (logical, envelopes) = &messages[message % messages.len()];
                    let envelope = chunk.get(envelopes);
                    for _ in 0..times {
                        if let Ok(Reassembled::Complete(message)) = reassembly.take(PEER, envelope, now) {
                            prop_assert_eq!(&message, logical.encoded());
                            prop_assert!(envelope.open(message).is_ok());
                        }
                    }
                }
            }
            let waiting = reassembly.peers.values().flat_map(|peer| peer.pending.values());
            let cost: usize = waiting.map(|pending| {
                pending.chunks.values().map(|chunk| chunk.len() + 128).sum::<usize>()
            }).sum();
            prop_assert_eq!(reassembly.cost_bytes(), cost);
            prop_assert!(cost <= limits.cost_bytes && reassembly.pending_messages() <= 2);
        }
    }

    #[test]
    fn every_message_whose_chunks_all_arrive_is_put_together_once(
        order in Just((0..18usize).collect::<Vec<_>>()).prop_shuffle(),
        again in proptest::collection::vec(0..18usize, 0..30),
    ) {
        let messages = [cut_up(1, 5_500, 1_024), cut_up(2, 5_500, 1_024), cut_up(3, 5_500, 1_024)];
        let chunks: Vec<_> = messages.iter().flat_map(|(_, envelopes)| envelopes).collect();
        prop_assert_eq!(chunks.len(), 18);
        let mut reassembly = Reassembly::default();
        let mut complete = 0;
        for at in order.iter().chain(&again) {
            if let Reassembled::Complete(_) = reassembly.take(PEER, chunks[*at], NOW).unwrap() {
                complete += 1;
            }
        }
        prop_assert_eq!(complete, 3);
    }
}
