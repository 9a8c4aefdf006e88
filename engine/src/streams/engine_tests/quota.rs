//! The quota at admission: what pays, what does not, and what a refusal or a failed batch leaves behind.

use super::*;
use crate::host::disk::DiskErrorKind;
use crate::streams::fixtures::{CRYPTO, NETWORK, NOW, sign};
use crate::streams::message::MessageKind;
use crate::streams::quota::{LaneQuota, MessageLimit, OriginQuota, QuotaCharge, QuotaConfig, QuotaError};
use crate::streams::slots::SlotBounds;
use crate::streams::transaction::{DEFAULT_LIFETIME_MS, Draft, TransactionId};
use crate::units::MonotonicNs;
use proptest::prelude::*;

/// Two messages and 100 bytes at once, one message and 10 bytes a second, two origins.
const SMALL: LaneQuota =
    LaneQuota { messages_per_s: 1, message_burst: 2, bytes_per_s: 10, byte_burst: 100, records: 2 };

fn config(limits: LaneQuota) -> StreamsConfig {
    let quota = Some(QuotaConfig::new([limits; 4]).unwrap());
    StreamsConfig { quota, ..fixtures::config(Flaws::NONE) }
}

fn at(node: &Node, ms: u64) {
    node.machine.set_monotonic(MonotonicNs(ms * 1_000_000));
}

fn of_length(origin: &Signer, sequence: u64, bytes: usize) -> Transaction {
    let data = [vec![MessageKind::Custom as u8], vec![7; bytes - 1]].concat();
    let draft = Draft {
        destination: receiver().account(),
        id: TransactionId([8; 16]),
        sequence: Sequence(sequence),
        reply_via: None,
        data: &data,
        issued: NOW,
        lifetime_ms: DEFAULT_LIFETIME_MS,
    };
    Transaction::sign(&draft, origin, NETWORK, CRYPTO).unwrap()
}

#[tokio::test]
async fn a_node_as_the_seed_describes_it_has_the_seeds_quota() {
    assert_eq!(StreamsConfig::new(NETWORK, receiver().account()).quota, Some(QuotaConfig::SEED));
    let node = Node::start_with(config(LaneQuota::SEED)).await;
    let alice = signer(1, 2);
    for sequence in 0..32 {
        assert!(matches!(node.verdict(transaction(&alice, sequence, 0)).await, "first" | "advance"));
    }
    assert_eq!(node.verdict(transaction(&alice, 32, 0)).await, "message-rate-exhausted");
    at(&node, 125);
    assert_eq!(node.verdict(transaction(&alice, 32, 0)).await, "advance");
}

#[tokio::test]
async fn replay_fork_and_stale_cost_nothing_and_come_before_the_quota() {
    let node = Node::start_with(config(SMALL)).await;
    let alice = signer(1, 2);
    assert_eq!(node.verdict(transaction(&alice, 100, 0)).await, "first");
    for _ in 0..5 {
        assert_eq!(node.verdict(transaction(&alice, 100, 0)).await, "replay");
        assert_eq!(node.verdict(transaction(&alice, 100, 1)).await, "fork");
        assert_eq!(node.verdict(transaction(&alice, 1, 0)).await, "stale");
    }
    assert_eq!(node.verdict(transaction(&alice, 101, 0)).await, "advance");
    assert_eq!(node.verdict(transaction(&alice, 102, 0)).await, "message-rate-exhausted");
    assert_eq!(node.verdict(transaction(&alice, 101, 0)).await, "replay");
}

#[tokio::test]
async fn a_refusal_by_the_quota_leaves_window_and_disk_as_they_were_and_is_counted() {
    let node = Node::start_with(config(SMALL)).await;
    let alice = signer(1, 2);
    assert_eq!(node.verdict(of_length(&alice, 7, 60)).await, "first");
    at(&node, 1_000);
    node.machine.take_log();
    let refused = node.admit(of_length(&alice, 8, 60)).await.unwrap_err();
    let AdmitError::Refused(Refusal::Quota(QuotaError::ByteRateExhausted {
        cost_bytes,
        available_bytes,
        ..
    })) = refused
    else {
        panic!("{refused}");
    };
    assert_eq!((cost_bytes, available_bytes), (60, 50), "40 are left and 10 gained");
    settle().await;
    assert!(node.machine.take_log().is_empty(), "nothing is written");
    assert_eq!(node.verdict(of_length(&alice, 8, 50)).await, "advance", "sequence 8 was not accepted");
    assert_eq!(node.verdict(of_length(&alice, 9, 2)).await, "byte-rate-exhausted");
    let counters = node.streams.counters().quota;
    assert_eq!((counters.byte_rate_exhausted, counters.total()), ([0, 0, 0, 2], 2));
}

#[tokio::test]
async fn a_refusal_that_comes_after_the_quota_gives_it_back() {
    let slots = SlotBounds { slots: 1, floor: 1, pool: 0, inbox: 1, self_share: 1 };
    let node = Node::start_with(StreamsConfig { slots, ..config(SMALL) }).await;
    let (alice, bob) = (signer(1, 2), signer(3, 2));
    let by = |introducer, transaction| node.admit_by(introducer, transaction);
    let slot = Introducer::Slot(SlotIndex::new(0));
    assert_eq!(word(by(slot, transaction(&alice, 1, 0)).await), "first");
    let digest = node.streams.state_digest();
    for _ in 0..5 {
        assert_eq!(word(by(slot, transaction(&bob, 1, 0)).await), "stream-capacity-exceeded");
    }
    assert_eq!(node.streams.state_digest(), digest);
    assert_eq!(word(by(Introducer::Inbox, transaction(&bob, 1, 0)).await), "first", "a token is there");
}

#[tokio::test]
async fn an_origin_beyond_the_table_is_refused_until_another_is_replenished() {
    let node = Node::start_with(config(SMALL)).await;
    for origin in [1, 3] {
        assert_eq!(node.verdict(transaction(&signer(origin, 2), 1, 0)).await, "first");
    }
    let carol = transaction(&signer(5, 2), 1, 0);
    assert_eq!(node.verdict(carol.clone()).await, "quota-table-capacity-exhausted");
    at(&node, 1_000);
    assert_eq!(node.verdict(carol).await, "first");
    assert_eq!(node.streams.counters().quota.table_capacity_exhausted, [0, 0, 0, 1]);
}

#[tokio::test]
async fn the_clock_is_read_inside_the_boundary_and_one_that_goes_back_lets_nothing_pass() {
    let node = Node::start_with(config(SMALL)).await;
    let alice = signer(1, 2);
    at(&node, 2_000);
    let late = fixtures::verified(transaction(&alice, 1, 0), Flaws::NONE);
    let arrival = Arrival { introducer: Introducer::Inbox, link: None, witness: &receiver() };
    at(&node, 3_000);
    assert_eq!(node.verdict(transaction(&alice, 2, 0)).await, "first");
    assert_eq!(word(node.streams.admit(&late, arrival).await), "late", "verified before, admitted after");
    assert_eq!(node.streams.counters().quota.arithmetic_failure, [0; 4]);
    at(&node, 2_999);
    assert_eq!(node.verdict(transaction(&alice, 3, 0)).await, "quota-clock-regressed");
    assert_eq!(node.streams.counters().quota.arithmetic_failure, [0, 0, 0, 1]);
}

#[tokio::test]
async fn a_restart_forgets_the_quota() {
    let mut node = Node::start_with(config(SMALL)).await;
    let alice = signer(1, 2);
    for (sequence, expected) in [(1, "first"), (2, "advance"), (3, "message-rate-exhausted")] {
        assert_eq!(node.verdict(transaction(&alice, sequence, 0)).await, expected);
    }
    node.restart().await;
    assert_eq!(node.verdict(transaction(&alice, 3, 0)).await, "advance");
}

#[tokio::test]
async fn a_failed_batch_gives_back_what_its_transitions_were_charged() {
    let node = Node::start_with(config(SMALL)).await;
    let (alice, bob, carol) = (signer(1, 2), signer(3, 2), signer(5, 2));
    assert_eq!(node.verdict(transaction(&alice, 1, 0)).await, "first");
    assert_eq!(node.verdict(transaction(&bob, 1, 0)).await, "first");
    let digest = node.streams.state_digest();
    at(&node, 60_000);
    node.machine.hold("flush directory");
    node.machine.fail("flush directory", "", DiskErrorKind::Io);
    let mut waiting = vec![node.admit(transaction(&carol, 1, 0))];
    settle().await;
    for sequence in 2..5 {
        waiting.push(node.admit(transaction(&alice, sequence, 0)));
    }
    node.machine.let_go();
    for admitting in waiting {
        assert_eq!(word(admitting.await), "persistence");
    }
    assert_eq!(
        node.streams.state_digest(),
        digest,
        "carol's record is gone, and who made room for her is back"
    );
    for (sequence, expected) in [(2, "advance"), (3, "advance"), (4, "message-rate-exhausted")] {
        assert_eq!(node.verdict(transaction(&alice, sequence, 0)).await, expected);
    }
}

#[tokio::test]
async fn an_onlooker_is_told_what_the_quota_was_asked_for_and_nothing_that_was_given_back() {
    let slots = SlotBounds { slots: 1, floor: 1, pool: 0, inbox: 1, self_share: 1 };
    let node = Node::start_with(StreamsConfig { slots, ..config(SMALL) }).await;
    let (alice, bob) = (signer(1, 2), signer(3, 2));
    let slot = Introducer::Slot(SlotIndex::new(0));
    at(&node, 5);
    for sequence in [1, 1, 2, 3] {
        let _ = node.admit_by(slot, transaction(&alice, sequence, 0)).await;
    }
    let _ = node.admit_by(slot, transaction(&bob, 1, 0)).await;
    let charges: Vec<(u64, bool)> = node
        .machine
        .take_seen()
        .into_iter()
        .filter_map(|seen| match seen {
            Seen::Quota(transition, QuotaCharge { at, data_bytes, limit, refused }) => {
                assert_eq!((at, data_bytes), (MonotonicNs(5_000_000), 2));
                assert_eq!(limit, MessageLimit::Enforced);
                Some((transition.0, refused.is_none()))
            }
            _ => None,
        })
        .collect();
    assert_eq!(charges, [(0, true), (2, true), (3, false)], "the replay asked for nothing");
}

#[tokio::test]
async fn what_carries_a_chunk_is_never_admitted_and_pays_nothing() {
    let node = Node::start_with(config(SMALL)).await;
    let alice = signer(1, 2);
    let chunk = crate::streams::chunks::Chunk { position: 0, total: 2, data: vec![1; 80].into() };
    let draft = Draft {
        destination: receiver().account(),
        id: TransactionId([8; 16]),
        sequence: Sequence(1),
        reply_via: None,
        data: &chunk.encode(),
        issued: NOW,
        lifetime_ms: DEFAULT_LIFETIME_MS,
    };
    let envelope = Transaction::sign(&draft, &alice, NETWORK, CRYPTO).unwrap();
    for _ in 0..5 {
        assert_eq!(node.verdict(envelope.clone()).await, "chunk-envelope");
    }
    assert_eq!((node.streams.streams(Table::Receiver), node.streams.state_digest()), (0, [0; 32]));
    assert_eq!(
        node.verdict(of_length(&alice, 1, 100)).await,
        "first",
        "the sequence is there for the whole message"
    );
}

#[derive(Clone, Debug)]
struct Call {
    origin: u8,
    class: Class,
    sequence: u64,
    pass_ms: u64,
}

fn rounds() -> impl Strategy<Value = Vec<(Vec<Call>, bool)>> {
    let class = proptest::sample::select(&[Class::Storage, Class::Application][..]);
    let call = (1u8..5, class, 0u64..40, 0u64..1_500).prop_map(|(origin, class, sequence, pass_ms)| Call {
        origin,
        class,
        sequence,
        pass_ms,
    });
    proptest::collection::vec((proptest::collection::vec(call, 1..8), proptest::bool::weighted(0.4)), 1..12)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    /// The reference sees only what was released, in the order of the calls.
    #[test]
    fn after_failures_the_quota_is_that_of_a_reference_that_saw_only_what_was_released(rounds in rounds()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let limits = QuotaConfig::new([SMALL; 4]).unwrap();
            let node = Node::start_with(config(SMALL)).await;
            let mut reference = OriginQuota::new(&limits);
            let mut now_ms = 0;
            for (calls, fails) in rounds {
                node.machine.hold("flush directory");
                if fails {
                    node.machine.fail("flush directory", "", DiskErrorKind::Io);
                }
                let mut waiting = Vec::new();
                for Call { origin, class, sequence, pass_ms } in calls {
                    now_ms += pass_ms;
                    at(&node, now_ms);
                    let me = receiver().account();
                    let transaction = sign(&signer(origin, 2), me, class, sequence, 0, (NOW, DEFAULT_LIFETIME_MS));
                    let stream = *fixtures::verified(transaction.clone(), Flaws::NONE).stream();
                    waiting.push((now_ms, stream, node.admit(transaction)));
                    tokio::task::yield_now().await;
                }
                node.machine.let_go();
                for (now_ms, stream, admitting) in waiting {
                    let released = word(admitting.await);
                    let asks = !matches!(released, "persistence" | "replay" | "fork" | "stale");
                    if asks {
                        let now = MonotonicNs(now_ms * 1_000_000);
                        let (expected, _) = reference.reserve(&stream, 2, MessageLimit::Enforced, now);
                        match expected {
                            Ok(()) => prop_assert!(matches!(released, "first" | "advance" | "late"), "{released}"),
                            Err(error) => prop_assert_eq!(released, error.id()),
                        }
                    }
                }
                while node.machine.take_failure() {}
                let sorted = |quota: &OriginQuota| {
                    let mut records: Vec<_> = quota.encoded().collect();
                    records.sort_unstable();
                    records
                };
                let found = node.streams.quota_records().unwrap();
                prop_assert_eq!(found, sorted(&reference));
            }
            Ok(())
        })?;
    }
}
