//! Each flaw of the streams does what it says, and the plain engine does not.

use super::*;

async fn start(flaw: Flaw) -> Node {
    Node::start_with(fixtures::config(Flaws::NONE.with(flaw))).await
}

#[tokio::test]
async fn resumed_at_last_used_signs_a_sequence_twice() {
    let mut node = start(Flaw::ResumedAtLastUsed).await;
    for sequence in 0..10 {
        assert_eq!(node.reserved(1).await, (sequence, sequence));
    }
    node.restart().await;
    assert!(node.reserved(1).await.0 < 10);
}

#[tokio::test]
async fn a_lease_written_after_exposure_is_lost_by_a_crash() {
    let mut node = start(Flaw::LeaseWrittenAfterExposure).await;
    node.machine.hold("rename");
    let exposed = node.reserve(1).now_or_never().expect("handed out at once").unwrap();
    assert_eq!(exposed.first, Sequence(0));
    node.machine.let_go();
    node.restart().await;
    assert_eq!(node.reserved(1).await, (0, 0));
}

#[tokio::test]
async fn a_memory_store_forgets_windows_and_leases() {
    let mut node = start(Flaw::MemoryStoreAfterRestart).await;
    assert_eq!(node.verdict(transaction(&signer(1, 2), 5, 0)).await, "first");
    assert_eq!(node.reserved(1).await, (0, 0));
    node.restart().await;
    assert_eq!(node.verdict(transaction(&signer(1, 2), 5, 0)).await, "first");
    assert_eq!(node.reserved(1).await, (0, 0));
}

#[tokio::test]
async fn keyed_by_delegatee_begins_anew_with_each_one() {
    let node = start(Flaw::KeyedByDelegatee).await;
    let reserve =
        async |delegatee| node.reserve_of(&signer(1, delegatee), Class::Control, 1).await.unwrap().first.0;
    assert_eq!((reserve(2).await, reserve(3).await), (0, 0));
    assert_eq!(node.verdict(transaction(&signer(1, 2), 5, 0)).await, "first");
    assert_eq!(node.verdict(transaction(&signer(1, 3), 5, 0)).await, "first");
}

#[tokio::test]
async fn one_stream_for_all_classes_shares_sequences() {
    let node = start(Flaw::OneStreamForAllClasses).await;
    let reserve = async |class| node.reserve_of(&signer(1, 2), class, 1).await.unwrap().first.0;
    assert_eq!((reserve(Class::Control).await, reserve(Class::Application).await), (0, 1));
}

#[tokio::test]
async fn early_release_of_refusals_returns_them_before_they_are_durable() {
    let node = start(Flaw::EarlyReleaseOfRefusals).await;
    node.machine.hold("flush directory");
    let mut admitted = node.admit(transaction(&signer(1, 2), 5, 0));
    let replay = node.admit(transaction(&signer(1, 2), 5, 0)).now_or_never();
    assert_eq!(replay.map(word), Some("replay"));
    assert!((&mut admitted).now_or_never().is_none());
    node.machine.let_go();
    assert_eq!(word(admitted.await), "first");
}
