//! What is counted is what callers are told.

use super::*;
use crate::host::disk::DiskErrorKind;

#[tokio::test]
async fn what_fails_with_its_batch_is_counted_as_a_failure_and_nothing_else() {
    let node = Node::start().await;
    let alice = signer(1, 2);
    assert_eq!(node.verdict(transaction(&alice, 40, 0)).await, "first");
    assert_eq!(node.verdict(transaction(&alice, 40, 0)).await, "replay");
    assert_eq!(node.verdict(transaction(&alice, 1, 0)).await, "stale");
    let before = node.streams.counters();
    assert_eq!((before.replay, before.fork, before.stale), (1, 0, 1));

    node.machine.hold("flush directory");
    node.machine.fail("flush directory", "", DiskErrorKind::Io);
    let mut waiting = vec![node.admit(transaction(&alice, 41, 0))];
    tokio::task::yield_now().await;
    // These were computed from what is being written, or gathers on top of it.
    waiting.push(node.admit(transaction(&alice, 41, 0)));
    waiting.push(node.admit(transaction(&alice, 41, 1)));
    waiting.push(node.admit(transaction(&alice, 42, 0)));
    waiting.push(node.admit(transaction(&alice, 42, 0)));
    waiting.push(node.admit(transaction(&alice, 2, 0)));
    node.machine.let_go();
    for admitting in waiting {
        assert_eq!(word(admitting.await), "persistence");
    }
    assert_eq!(node.streams.counters(), Counters { persistence_failure: 1, ..before });

    assert_eq!(node.verdict(transaction(&alice, 41, 0)).await, "advance");
    assert_eq!(node.verdict(transaction(&alice, 41, 0)).await, "replay");
    assert_eq!(node.streams.counters(), Counters { replay: 2, persistence_failure: 1, ..before });
}

#[tokio::test]
async fn who_looks_on_sees_the_same_and_keeps_nothing_alive() {
    let node = Node::start().await;
    let watch = node.streams.watch_counters();
    assert_eq!(node.verdict(transaction(&signer(1, 2), 1, 0)).await, "first");
    assert_eq!(node.verdict(transaction(&signer(1, 2), 1, 0)).await, "replay");
    assert_eq!(watch.look(), Some(Counters { replay: 1, ..Counters::default() }));
    drop(node);
    settle().await;
    assert_eq!(watch.look(), None);
}

#[tokio::test]
async fn a_scan_that_fails_as_a_whole_is_a_persistence_failure_of_its_own() {
    let node = Node::start().await;
    node.machine.crash();
    node.machine.fail("list", "", DiskErrorKind::Io);
    let host = node.machine.host();
    let open = || Streams::open(&host, root(), node.config);
    let failed = open().await.expect_err("the directory cannot be listed");
    assert_eq!(failed.counters(), Counters { persistence_failure: 1, ..Counters::default() });
    let opened = open().await.expect("the fault is over");
    assert_eq!(opened.counters(), Counters::default(), "an open begins at zero");
}
