//! Records that do not restore: their streams alone are refused (seed 000, Bad records).

use super::*;
use crate::host::observe::BatchNumber;
use crate::store::name::{marker_path, record_name, record_path};
use crate::store::{BadReason, Record, frame};
use crate::streams::fixtures::NOW;
use crate::streams::key::StreamKey;
use crate::streams::record;
use crate::streams::window::Window;

fn stream(origin: &Signer) -> StreamKey {
    *fixtures::verified(transaction(origin, 0, 0), Flaws::NONE).stream()
}

fn name(origin: &Signer) -> RecordName {
    record_name(&record::storage_key(Table::Receiver, &stream(origin)))
}

async fn node_with_two_streams() -> Node {
    let node = Node::start().await;
    assert_eq!(node.verdict(transaction(&signer(1, 2), 5, 0)).await, "first");
    assert_eq!(node.verdict(transaction(&signer(3, 2), 5, 0)).await, "first");
    tokio::task::yield_now().await;
    node
}

/// `next` is a sequence that the other stream has not seen.
async fn assert_only_alice_is_refused(node: &Node, reason: Unrestorable, next: u64) {
    let alice = name(&signer(1, 2));
    assert_eq!(node.streams.unrestorable(), [(alice, reason)]);
    for _ in 0..2 {
        let refused = node.admit(transaction(&signer(1, 2), 6, 0)).await;
        let expected = Refusal::StreamUnavailable { stream: stream(&signer(1, 2)), record: alice };
        assert_eq!(refused, Err(AdmitError::Refused(expected)));
    }
    assert_eq!(node.verdict(transaction(&signer(3, 2), 5, 0)).await, "replay");
    assert_eq!(node.verdict(transaction(&signer(3, 2), next, 0)).await, "advance");
    let counters = node.streams.counters();
    assert_eq!((counters.unrestorable_record, counters.unavailable_stream), (1, 2));
}

#[tokio::test]
async fn a_corrupt_record_refuses_its_own_stream_and_is_kept() {
    let mut node = node_with_two_streams().await;
    let path = record_path(&root(), name(&signer(1, 2)));
    let mut content = node.machine.content(&path).expect("a record").to_vec();
    content[100] ^= 1;
    node.machine.put(&path, &content);
    node.restart().await;
    let reason = Unrestorable::File(BadReason::Undecodable(frame::FrameError::Checksum));
    assert_only_alice_is_refused(&node, reason, 6).await;
    node.restart().await;
    assert_only_alice_is_refused(&node, reason, 7).await;
    assert_eq!(node.machine.content(&path).expect("kept"), content);
}

#[tokio::test]
async fn a_lost_record_is_missing_and_never_first() {
    let mut node = node_with_two_streams().await;
    node.machine.take_away(&record_path(&root(), name(&signer(1, 2))));
    node.restart().await;
    assert_only_alice_is_refused(&node, Unrestorable::File(BadReason::Missing), 6).await;
}

#[tokio::test]
async fn an_operator_clears_one_stream_and_only_that_one() {
    let mut node = node_with_two_streams().await;
    let alice = name(&signer(1, 2));
    node.machine.take_away(&record_path(&root(), alice));
    node.machine.take_away(&marker_path(&root(), alice));
    node.restart().await;
    assert_eq!(node.verdict(transaction(&signer(1, 2), 5, 0)).await, "first");
    assert_eq!(node.verdict(transaction(&signer(3, 2), 5, 0)).await, "replay");
}

#[tokio::test]
async fn two_swapped_records_are_both_refused() {
    let mut node = node_with_two_streams().await;
    let (alice, bob) = (record_path(&root(), name(&signer(1, 2))), record_path(&root(), name(&signer(3, 2))));
    let contents = (node.machine.content(&alice).unwrap(), node.machine.content(&bob).unwrap());
    node.machine.put(&alice, &contents.1);
    node.machine.put(&bob, &contents.0);
    node.restart().await;
    for origin in [signer(1, 2), signer(3, 2)] {
        assert_eq!(node.verdict(transaction(&origin, 6, 0)).await, "stream-unavailable");
    }
    assert!(
        node.streams.unrestorable().iter().all(|(_, why)| *why == Unrestorable::File(BadReason::Misfiled))
    );
}

#[tokio::test]
async fn a_whole_file_with_a_wrong_value_is_refused_for_its_own_reason() {
    let alice = signer(1, 2);
    let (storage_key, path) =
        (record::storage_key(Table::Receiver, &stream(&alice)), record_path(&root(), name(&alice)));
    let window = Window::first(Sequence(5), [1; 32]);
    let value = |stream: &StreamKey| record::encode_receiver(stream, &window, &[], Introducer::Own, NOW);
    let another = record::RecordError::Undecodable;
    let cases = [
        (value(&stream(&signer(3, 2))), Unrestorable::Misfiled),
        (record::encode_sender(&stream(&alice), Sequence(5)), Unrestorable::Misfiled),
        (value(&stream(&alice)).slice(..50), Unrestorable::Value(another)),
        (
            value(&stream(&alice)).slice(..value(&stream(&alice)).len() - 5),
            Unrestorable::Value(record::RecordError::WithoutCharge),
        ),
    ];
    for (value, reason) in cases {
        let mut node = node_with_two_streams().await;
        let record = Record { storage_key: Arc::clone(&storage_key), value };
        let content = frame::encode(BatchNumber(1), BatchNumber(0), &record);
        node.machine.put(&path, &content);
        node.restart().await;
        assert_only_alice_is_refused(&node, reason, 6).await;
    }
}

#[tokio::test]
async fn each_bad_record_holds_a_place_in_both_tables() {
    let mut node = node_with_two_streams().await;
    node.machine.take_away(&record_path(&root(), name(&signer(1, 2))));
    node.config.capacity = 2;
    node.restart().await;
    assert_eq!(node.verdict(transaction(&signer(5, 2), 1, 0)).await, "stream-capacity-exceeded");
    assert_eq!(node.verdict(transaction(&signer(3, 2), 6, 0)).await, "advance");
    assert_eq!(node.reserved(1).await, (0, 0), "one of two places is free");
    let refused = node.reserve_of(&signer(1, 2), Class::Control, 1).await.unwrap_err();
    assert_eq!(refused.id(), "stream-capacity-exceeded");
}

#[tokio::test]
async fn a_snapshot_of_all_streams_is_kept_named_and_refuses_nobody() {
    let mut node = node_with_two_streams().await;
    let name = record_name(record::SHARED_SNAPSHOT_KEY);
    let record = Record {
        storage_key: record::SHARED_SNAPSHOT_KEY.into(),
        value: bytes::Bytes::from_static(b"all streams"),
    };
    let content = frame::encode(BatchNumber(1), BatchNumber(0), &record);
    node.machine.put(&record_path(&root(), name), &content);
    node.restart().await;
    assert_eq!(node.streams.unrestorable(), [(name, Unrestorable::SharedSnapshot)]);
    assert_eq!(node.verdict(transaction(&signer(1, 2), 5, 0)).await, "replay");
    assert_eq!(node.verdict(transaction(&signer(3, 2), 6, 0)).await, "advance");
    assert_eq!(node.machine.content(&record_path(&root(), name)).expect("kept"), content);
}

#[tokio::test]
async fn each_bad_record_is_told_once_at_open_with_its_stream_and_each_refusal_is_counted() {
    use crate::host::test_machine::Seen;
    let mut node = node_with_two_streams().await;
    let (alice, bob) = (name(&signer(1, 2)), name(&signer(3, 2)));
    let path = record_path(&root(), alice);
    let mut torn = node.machine.content(&path).expect("a record").to_vec();
    torn.pop();
    node.machine.put(&path, &torn);
    node.machine.take_away(&record_path(&root(), bob));
    node.machine.take_seen();
    node.restart().await;
    for _ in 0..2 {
        assert_eq!(node.verdict(transaction(&signer(1, 2), 6, 0)).await, "stream-unavailable");
    }
    let told: Vec<Seen> = node
        .machine
        .take_seen()
        .into_iter()
        .filter(|seen| matches!(seen, Seen::Unrestorable(..) | Seen::UnavailableRefused(..)))
        .collect();
    let spelled = Some((Table::Receiver, stream(&signer(1, 2))));
    let mut expected =
        vec![Seen::Unrestorable(alice, "undecodable", spelled), Seen::Unrestorable(bob, "missing", None)];
    expected.sort_by_key(|seen| if let Seen::Unrestorable(record, ..) = seen { *record } else { alice });
    expected.extend([Seen::UnavailableRefused(alice, 1), Seen::UnavailableRefused(alice, 2)]);
    assert_eq!(told, expected);
}
