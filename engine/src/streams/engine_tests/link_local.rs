//! Link-local admissions: what is written of them, what they cost, and what becomes of their windows.

use super::*;
use crate::host::disk::DiskErrorKind;
use crate::streams::fixtures::{CRYPTO, NETWORK, NOW};
use crate::streams::link_local::{Epoch, Namespaces, ReferenceNamespace, ReferenceSender};
use crate::streams::quota::{LaneQuota, QuotaConfig};
use crate::streams::slots::SlotLease;
use crate::streams::transaction::{DEFAULT_LIFETIME_MS, Draft, TransactionId};

const EPOCH: Epoch = Epoch([5; 16]);

fn namespaces() -> Namespaces {
    let mut namespaces = Namespaces::default();
    namespaces.declare(ReferenceNamespace::open("onion", EPOCH).unwrap().namespace().clone()).unwrap();
    namespaces
}

async fn start(config: StreamsConfig) -> Node {
    let mut node = Node::start_with(config).await;
    node.streams = node.streams.declaring(namespaces());
    node
}

fn cell(origin: &Signer, sequence: u64, data: &[u8]) -> Transaction {
    let draft = Draft {
        destination: receiver().account(),
        id: TransactionId([8; 16]),
        sequence: Sequence(sequence),
        reply_via: None,
        data,
        issued: NOW,
        lifetime_ms: DEFAULT_LIFETIME_MS,
    };
    Transaction::sign(&draft, origin, NETWORK, CRYPTO).unwrap()
}

fn over(node: &Node, lease: &SlotLease, transaction: Transaction) -> Admitting {
    node.admit_over(Some(lease.link()), Introducer::Slot(lease.slot()), transaction)
}

#[tokio::test]
async fn a_link_local_transaction_is_judged_by_its_link_alone_and_never_written() {
    let node = start(fixtures::config(Flaws::NONE)).await;
    let (alice, mut sender) = (signer(1, 2), ReferenceSender::open("onion", 0).unwrap());
    let lease = node.streams.connected(alice.account()).unwrap();
    let cell = cell(&alice, 7, &sender.payload(EPOCH, b"cell"));
    node.machine.take_log();
    let admitting = over(&node, &lease, cell.clone());
    assert_eq!(admitting.record(), None);
    assert_eq!(word(admitting.await), "first");
    assert_eq!(word(over(&node, &lease, cell.clone()).await), "replay");
    settle().await;
    assert!(node.machine.take_log().is_empty());
    assert_eq!(node.streams.streams(Table::Receiver), 0);
    assert_eq!(node.streams.charges().of(Introducer::Slot(lease.slot())), 0, "it is charged to no slot");
    let seen = node.machine.take_seen();
    assert_eq!(seen.iter().filter(|seen| matches!(seen, Seen::LinkLocal(..))).count(), 2);
    assert!(!seen.iter().any(|seen| matches!(seen, Seen::Transition(..))));

    drop(lease);
    let next_generation = node.streams.connected(alice.account()).unwrap();
    assert_eq!(word(over(&node, &next_generation, cell.clone()).await), "first");
    assert_eq!(word(node.admit(cell.clone()).await), "first", "its stream's durable window is another");
    assert_eq!(word(node.admit(cell).await), "replay");
}

#[tokio::test]
async fn relayed_copies_other_namespaces_and_other_classes_keep_the_durable_window() {
    let mut node = start(fixtures::config(Flaws::NONE)).await;
    let (alice, carrier) = (signer(1, 2), signer(3, 4));
    let payload = ReferenceSender::open("onion", 0).unwrap().payload(EPOCH, b"cell");
    let relay = node.streams.connected(carrier.account()).unwrap();
    let own = node.streams.connected(alice.account()).unwrap();
    assert_eq!(word(over(&node, &relay, cell(&alice, 1, &payload)).await), "first");
    assert_eq!(word(over(&node, &own, transaction(&alice, 2, 0)).await), "advance", "no namespace is named");
    assert!(!own.link().has_window() && !relay.link().has_window());
    node.restart().await;
    node.streams = node.streams.clone().declaring(namespaces());
    assert_eq!(word(node.admit(transaction(&alice, 2, 0)).await), "replay");
    assert_eq!(word(node.admit(cell(&alice, 1, &payload)).await), "replay");
}

#[tokio::test]
async fn a_namespace_acts_once_on_a_payload_that_both_windows_and_two_generations_let_through() {
    let mut node = start(fixtures::config(Flaws::NONE)).await;
    let alice = signer(1, 2);
    let mut namespace = ReferenceNamespace::open("onion", EPOCH).unwrap();
    let payload = ReferenceSender::open("onion", 0).unwrap().payload(EPOCH, b"cell");
    let mut acted = 0;
    let mut dispatched = 0;
    let mut deliver = |namespace: &mut ReferenceNamespace, result: Result<VerdictKind, AdmitError>| {
        dispatched += u32::from(result.is_ok());
        let data = bytes::Bytes::copy_from_slice(&payload);
        acted += u32::from(result.is_ok() && namespace.act(alice.account(), &data).is_ok());
    };
    for _ in 0..2 {
        let lease = node.streams.connected(alice.account()).unwrap();
        let (one, another) = (cell(&alice, 1, &payload), cell(&alice, 2, &payload));
        deliver(&mut namespace, over(&node, &lease, one.clone()).await);
        deliver(&mut namespace, over(&node, &lease, another).await);
        deliver(&mut namespace, node.admit(one).await);
    }
    node.restart().await;
    node.streams = node.streams.clone().declaring(namespaces());
    let mut after = ReferenceNamespace::open("onion", Epoch([6; 16])).unwrap();
    let lease = node.streams.connected(alice.account()).unwrap();
    deliver(&mut after, over(&node, &lease, cell(&alice, 1, &payload)).await);
    assert_eq!((dispatched, acted), (6, 1));
}

#[tokio::test]
async fn a_delegated_limit_is_for_the_origins_own_link_and_skips_messages_alone() {
    let limits = LaneQuota { message_burst: 2, byte_burst: 5 * 512, ..LaneQuota::SEED };
    let quota = Some(QuotaConfig::new([limits; 4]).unwrap());
    let node = start(StreamsConfig { quota, ..fixtures::config(Flaws::NONE) }).await;
    let (alice, bob, carrier) = (signer(1, 2), signer(3, 2), signer(5, 6));
    let mut sender = ReferenceSender::open("onion", 0).unwrap();
    let (own, relay) = (
        node.streams.connected(alice.account()).unwrap(),
        node.streams.connected(carrier.account()).unwrap(),
    );
    for sequence in 0..5 {
        let cell = cell(&alice, sequence, &sender.payload(EPOCH, b"cell"));
        assert!(over(&node, &own, cell).await.is_ok(), "cell {sequence}");
    }
    let sixth = cell(&alice, 5, &sender.payload(EPOCH, b"cell"));
    assert_eq!(word(over(&node, &own, sixth).await), "byte-rate-exhausted", "each paid 512 bytes");
    for (sequence, expected) in [(0, "first"), (1, "advance"), (2, "message-rate-exhausted")] {
        let cell = cell(&bob, sequence, &sender.payload(EPOCH, b"cell"));
        assert_eq!(word(over(&node, &relay, cell).await), expected, "relayed cell {sequence}");
    }
}

#[tokio::test]
async fn a_refusal_leaves_a_links_window_as_it_was() {
    let limits = LaneQuota { byte_burst: 512, bytes_per_s: 512, ..LaneQuota::SEED };
    let quota = Some(QuotaConfig::new([limits; 4]).unwrap());
    let node = start(StreamsConfig { quota, ..fixtures::config(Flaws::NONE) }).await;
    let (alice, mut sender) = (signer(1, 2), ReferenceSender::open("onion", 0).unwrap());
    let lease = node.streams.connected(alice.account()).unwrap();
    let first = cell(&alice, 1, &sender.payload(EPOCH, b"cell"));
    let second = cell(&alice, 2, &sender.payload(EPOCH, b"cell"));
    assert_eq!(word(over(&node, &lease, first).await), "first");
    assert_eq!(word(over(&node, &lease, second.clone()).await), "byte-rate-exhausted");
    node.machine.set_monotonic(crate::units::MonotonicNs(1_000_000_000));
    assert_eq!(word(over(&node, &lease, second).await), "advance");
}

#[tokio::test]
async fn a_failed_batch_takes_back_what_waited_for_it_in_a_links_window() {
    let quota = Some(QuotaConfig::SEED);
    let node = start(StreamsConfig { quota, ..fixtures::config(Flaws::NONE) }).await;
    let (alice, mut sender) = (signer(1, 2), ReferenceSender::open("onion", 0).unwrap());
    let lease = node.streams.connected(alice.account()).unwrap();
    let cells: Vec<_> = (0..3).map(|n| cell(&alice, n, &sender.payload(EPOCH, b"cell"))).collect();
    assert_eq!(word(over(&node, &lease, cells[0].clone()).await), "first");
    let digest = node.streams.state_digest();
    node.machine.hold("flush directory");
    node.machine.fail("flush directory", "", DiskErrorKind::Io);
    let mut waiting = vec![node.admit(transaction(&alice, 50, 0)), over(&node, &lease, cells[1].clone())];
    settle().await;
    waiting.push(over(&node, &lease, cells[2].clone()));
    node.machine.let_go();
    for admitting in waiting {
        assert_eq!(word(admitting.await), "persistence");
    }
    assert_eq!(node.streams.state_digest(), digest);
    for cell in &cells[1..] {
        assert_eq!(word(over(&node, &lease, cell.clone()).await), "advance", "nothing of it was accepted");
    }
}

#[tokio::test]
async fn a_stream_of_the_set_u_is_refused_on_its_link_too() {
    let mut node = start(fixtures::config(Flaws::NONE)).await;
    let alice = signer(1, 2);
    assert_eq!(node.verdict(transaction(&alice, 1, 0)).await, "first");
    settle().await;
    for name in node.machine.names(&root()).into_iter().filter(|name| name.len() == 40) {
        node.machine.put(&root().join(&name), b"torn");
    }
    node.restart().await;
    node.streams = node.streams.clone().declaring(namespaces());
    let lease = node.streams.connected(alice.account()).unwrap();
    let payload = ReferenceSender::open("onion", 0).unwrap().payload(EPOCH, b"cell");
    assert_eq!(word(over(&node, &lease, cell(&alice, 1, &payload)).await), "stream-unavailable");
    assert!(!lease.link().has_window());
    let bob = signer(3, 2);
    let lease = node.streams.connected(bob.account()).unwrap();
    assert_eq!(word(over(&node, &lease, cell(&bob, 1, &payload)).await), "first");
}
