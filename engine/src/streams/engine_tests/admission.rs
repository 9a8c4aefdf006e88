//! Admissions: verdicts, waits, restarts, evidence.

use super::*;
use crate::streams::evidence::EvidenceError;
use crate::streams::fixtures::{NETWORK, NOW, sign};
use proptest::prelude::*;

#[tokio::test]
async fn an_admitted_transaction_is_a_replay_for_ever() {
    let mut node = Node::start().await;
    let alice = signer(1, 2);
    let first = transaction(&alice, 40, 0);
    assert_eq!(node.verdict(first.clone()).await, "first");
    assert_eq!(node.verdict(first.clone()).await, "replay");
    assert_eq!(node.verdict(transaction(&alice, 42, 0)).await, "advance");
    assert_eq!(node.verdict(transaction(&alice, 41, 0)).await, "late");
    assert_eq!(node.verdict(transaction(&alice, 41, 1)).await, "fork");
    assert_eq!(node.verdict(transaction(&alice, 10, 1)).await, "stale");
    node.restart().await;
    assert_eq!(node.machine.take_seen().iter().filter(|seen| **seen == Seen::Opened(1, 0)).count(), 1);
    for sequence in [40, 41, 42] {
        assert_eq!(node.verdict(transaction(&alice, sequence, 0)).await, "replay");
    }
    assert_eq!(node.verdict(transaction(&alice, 10, 1)).await, "stale");
    assert_eq!(node.verdict(transaction(&alice, 43, 0)).await, "advance");
    let counters = node.streams.counters();
    assert_eq!((counters.replay, counters.fork, counters.stale), (3, 0, 1), "since the open");
}

#[tokio::test]
async fn classes_and_origins_have_streams_of_their_own_and_delegatees_do_not() {
    let node = Node::start().await;
    let me = receiver().account();
    let of = |origin: &Signer, class| sign(origin, me, class, 5, 0, (NOW, 1_000));
    for class in Class::ALL {
        assert_eq!(node.verdict(of(&signer(1, 2), class)).await, "first");
        assert_eq!(node.verdict(of(&signer(3, 2), class)).await, "first", "another account, the same key");
        assert_eq!(
            node.verdict(of(&signer(1, 4), class)).await,
            "fork",
            "another delegatee, the same stream"
        );
    }
    assert_eq!(node.streams.streams(Table::Receiver), 8);
}

#[tokio::test]
async fn a_fork_gives_evidence_that_anybody_can_verify() {
    let node = Node::start().await;
    let alice = signer(1, 2);
    let (accepted, incoming) = (transaction(&alice, 7, 0), transaction(&alice, 7, 1));
    assert_eq!(node.verdict(accepted.clone()).await, "first");
    let Err(AdmitError::Fork { stream, evidence }) = node.admit(incoming.clone()).await else {
        panic!("a fork");
    };
    let fork = evidence.verify(NETWORK, fixtures::CRYPTO).unwrap();
    assert_eq!(fork.stream, stream);
    assert_eq!((fork.accepted, fork.incoming), (accepted.digest(), incoming.digest()));
    assert_eq!(evidence.complete(&accepted, NETWORK, fixtures::CRYPTO), Ok(fork));
    let elsewhere = evidence.verify(NetworkId(2), fixtures::CRYPTO);
    assert!(matches!(elsewhere, Err(EvidenceError::Incoming(_))));
}

#[tokio::test]
async fn what_is_for_another_destination_changes_no_table_and_no_disk() {
    let node = Node::start().await;
    node.machine.take_seen();
    node.machine.take_log();
    let elsewhere = sign(&signer(1, 2), Did([5; 20]), Class::Application, 1, 0, (NOW, 1_000));
    assert_eq!(node.verdict(elsewhere).await, "not-destination");
    tokio::task::yield_now().await;
    assert_eq!(node.machine.take_seen(), []);
    assert!(node.machine.take_log().is_empty());
    assert_eq!(node.streams.state_digest(), [0; 32]);
}

#[tokio::test]
async fn nothing_is_released_before_it_is_durable_refusals_included() {
    let node = Node::start().await;
    let alice = signer(1, 2);
    node.machine.hold("flush directory");
    let mut admitted = node.admit(transaction(&alice, 1, 0));
    let mut replay = node.admit(transaction(&alice, 1, 0));
    tokio::task::yield_now().await;
    assert!((&mut admitted).now_or_never().is_none());
    assert!((&mut replay).now_or_never().is_none());
    node.machine.let_go();
    assert_eq!(word(replay.await), "replay");
    assert_eq!(word(admitted.await), "first");
}

#[tokio::test]
async fn a_cancelled_caller_s_transaction_is_admitted_all_the_same() {
    let mut node = Node::start().await;
    let alice = signer(1, 2);
    drop(node.admit(transaction(&alice, 1, 0)));
    assert_eq!(node.verdict(transaction(&alice, 1, 0)).await, "replay");
    node.restart().await;
    assert_eq!(node.verdict(transaction(&alice, 1, 0)).await, "replay");
}

#[tokio::test]
async fn transitions_are_reported_in_lock_order_with_what_they_staged() {
    let node = Node::start().await;
    let alice = signer(1, 2);
    node.machine.take_seen();
    let waiting = [node.admit(transaction(&alice, 1, 0)), node.admit(transaction(&alice, 1, 0))];
    let reserving = node.reserve(2);
    for admitting in waiting {
        let _: Result<_, _> = admitting.await;
    }
    reserving.await.unwrap();
    let reported: Vec<_> = node
        .machine
        .take_seen()
        .into_iter()
        .filter_map(|seen| match seen {
            Seen::Transition(transition, _, decision, staged) => {
                Some((transition.0, decision, staged.is_some()))
            }
            _ => None,
        })
        .collect();
    let digest = transaction(&alice, 1, 0).digest();
    let verdict = |verdict| Decision::Verdict { verdict, sequence: Sequence(1), digest };
    let reserved = Decision::Reserved { first: Sequence(0), last: Sequence(1), lease: Sequence(63) };
    let expected = [
        (0, verdict(VerdictKind::First), true),
        (1, verdict(VerdictKind::Replay), false),
        (2, reserved, true),
    ];
    assert_eq!(reported, expected);
}

#[tokio::test]
async fn a_stream_is_spent_when_its_longest_lived_transaction_is() {
    let mut node = Node::start().await;
    let (alice, me) = (signer(1, 2), receiver().account());
    let cases = [
        (Class::Control, 3_000),
        (Class::Storage, 3_000),
        (Class::E2e, 3_000),
        (Class::Application, 604_800_000 + 2 * 3_000),
    ];
    for (class, after_expiry_ms) in cases {
        let longest = sign(&alice, me, class, 1, 0, (NOW, 5_000));
        let shorter = sign(&alice, me, class, 2, 0, (NOW, 4_000));
        let refused = sign(&alice, me, class, 2, 1, (NOW, 6_000_000));
        let stream = *fixtures::verified(longest.clone(), Flaws::NONE).stream();
        assert_eq!(node.streams.spent(&stream), None);
        assert_eq!(node.verdict(longest).await, "first");
        assert_eq!(node.verdict(shorter).await, "advance");
        assert_eq!(node.verdict(refused).await, "fork");
        let expected = Some(NOW.plus_ms(5_000 + after_expiry_ms));
        assert_eq!(node.streams.spent(&stream), expected, "{class}");
        node.restart().await;
        assert_eq!(node.streams.spent(&stream), expected, "{class}, restored");
    }
}

#[tokio::test]
async fn a_full_receiver_table_refuses_new_streams_while_old_ones_go_on() {
    let node = Node::start_with(StreamsConfig { capacity: 2, ..fixtures::config(Flaws::NONE) }).await;
    assert_eq!(node.verdict(transaction(&signer(1, 2), 1, 0)).await, "first");
    assert_eq!(node.verdict(transaction(&signer(2, 2), 1, 0)).await, "first");
    let digest = node.streams.state_digest();
    assert_eq!(node.verdict(transaction(&signer(3, 2), 1, 0)).await, "stream-capacity-exceeded");
    assert_eq!(node.streams.state_digest(), digest, "a refusal changes nothing");
    assert_eq!(node.verdict(transaction(&signer(1, 2), 2, 0)).await, "advance");
    assert_eq!(node.reserved(1).await, (0, 0), "the other table has its own bound");
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(32))]
    #[test]
    fn verdicts_do_not_depend_on_timestamps(
        arrivals in proptest::collection::vec((0u64..80, 0u8..2, 0u64..3_000, 1_000u64..6_000_000), 1..40),
    ) {
        // One instant a content, for a digest covers the instant: what varies is the instants' order against the sequences'.
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let (stamped, plain) = (Node::start().await, Node::start().await);
            let (alice, me) = (signer(1, 2), receiver().account());
            let mut stamps = std::collections::BTreeMap::new();
            for (sequence, content, ahead_ms, lifetime_ms) in arrivals {
                let stamp = *stamps.entry((sequence, content)).or_insert((NOW.plus_ms(ahead_ms), lifetime_ms));
                let of = |stamp| sign(&alice, me, Class::E2e, sequence, content, stamp);
                let verdicts = (stamped.verdict(of(stamp)).await, plain.verdict(of((NOW, 1_000))).await);
                prop_assert_eq!(verdicts.0, verdicts.1);
            }
            Ok(())
        })?;
    }
}
