//! Reservations: leases, restarts, bounds.

use super::*;

#[tokio::test]
async fn a_sender_writes_once_for_64_sequences_and_resumes_after_its_lease() {
    let mut node = Node::start().await;
    for sequence in 0..130 {
        assert_eq!(node.reserved(1).await, (sequence, sequence));
    }
    let written = |node: &Node| {
        let seen = node.machine.take_seen();
        seen.iter().filter(|seen| matches!(seen, Seen::Closed(..))).count()
    };
    assert_eq!(written(&node), 3);
    node.restart().await;
    assert_eq!(node.reserved(1).await, (192, 192));
    assert_eq!(node.reserved(100).await, (193, 292));
    node.restart().await;
    assert_eq!(node.reserved(1).await, (293, 293));
}

#[tokio::test]
async fn a_reservation_inside_a_durable_lease_is_released_at_once_when_nothing_is_pending() {
    let node = Node::start().await;
    assert!(node.reserve(1).now_or_never().is_none(), "the first one writes");
    assert_eq!(node.reserved(1).await, (1, 1));
    let at_once = node.reserve(1).now_or_never().expect("released at once").unwrap();
    assert_eq!(at_once.first, Sequence(2));
}

#[tokio::test]
async fn a_reservation_inside_a_lease_that_is_not_durable_waits_and_depends_on_it() {
    let node = Node::start().await;
    node.machine.hold("flush directory");
    let mut writing = node.reserve(1);
    let mut inside = node.reserve(1);
    tokio::task::yield_now().await;
    assert!((&mut writing).now_or_never().is_none());
    assert!((&mut inside).now_or_never().is_none());
    node.machine.let_go();
    assert_eq!(inside.await.unwrap().first, Sequence(1));
    assert_eq!(writing.await.unwrap().first, Sequence(0));
    let depends: Vec<_> = node
        .machine
        .take_seen()
        .into_iter()
        .filter_map(|seen| match seen {
            Seen::Released(_, depends) => Some(depends),
            _ => None,
        })
        .collect();
    assert_eq!(depends.len(), 2);
    assert_eq!(depends[0], depends[1]);
    assert_eq!(depends[0].len(), 1, "the lease's record and the batch that wrote it");
}

#[tokio::test]
async fn a_reservation_that_would_wrap_fails_closed_and_writes_nothing() {
    let mut node = Node::start().await;
    assert_eq!(node.reserved(u64::MAX).await, (0, u64::MAX - 1));
    assert_eq!(node.reserved(1).await, (u64::MAX, u64::MAX));
    node.machine.take_log();
    node.machine.take_seen();
    for count in [1, 2, u64::MAX] {
        let refused = node.reserve(count).await.unwrap_err();
        assert!(matches!(refused, ReserveError::SequenceExhausted { count: named, .. } if named == count));
    }
    tokio::task::yield_now().await;
    assert!(!node.machine.take_seen().iter().any(|seen| matches!(seen, Seen::Closed(..))));
    assert!(!node.machine.take_log().iter().any(|operation| operation.starts_with("create")));
    assert_eq!(node.streams.counters().sequence_exhausted, 3);
    node.restart().await;
    assert_eq!(node.reserve(1).await.unwrap_err().id(), "sequence-exhausted");
}

#[tokio::test]
async fn a_full_sender_table_refuses_new_streams_while_old_ones_go_on() {
    let node = Node::start().await;
    assert_eq!(STREAM_CAPACITY, 16_384);
    let destination = |number: usize| {
        let mut did = [0; 20];
        did[..8].copy_from_slice(&(number as u64).to_be_bytes());
        Did(did)
    };
    let origin = signer(1, 2);
    let reserve = |number| node.streams.reserve(&origin, destination(number), Class::E2e, NonZeroU64::MIN);
    let waiting: Vec<_> = (0..STREAM_CAPACITY).map(reserve).collect();
    let mut refused = reserve(STREAM_CAPACITY);
    assert!((&mut refused).now_or_never().is_none(), "a refusal waits for what it was computed from");
    for reserving in waiting {
        assert_eq!(reserving.await.unwrap().first, Sequence(0));
    }
    let refused = refused.await.unwrap_err();
    assert!(matches!(refused, ReserveError::Refused(Refusal::SenderTableFull { capacity: 16_384, .. })));
    assert_eq!(reserve(0).await.unwrap().first, Sequence(1), "an old stream goes on");
    assert_eq!(node.streams.streams(Table::Sender), STREAM_CAPACITY);
    assert_eq!(node.streams.counters().stream_capacity_exceeded.sender_table, 1);
}

#[tokio::test]
async fn another_delegatee_goes_on_where_the_one_before_it_stopped() {
    let node = Node::start().await;
    let reserve =
        async |delegatee, class| node.reserve_of(&signer(1, delegatee), class, 1).await.unwrap().first.0;
    assert_eq!(reserve(2, Class::Application).await, 0);
    assert_eq!(reserve(3, Class::Application).await, 1);
    assert_eq!(reserve(3, Class::Control).await, 0, "another class is another stream");
    let elsewhere = node.streams.reserve(&signer(1, 3), Did([8; 20]), Class::Application, NonZeroU64::MIN);
    assert_eq!(elsewhere.await.unwrap().first, Sequence(0), "another destination is another stream");
}

#[tokio::test]
async fn without_an_authoritative_store_everything_is_refused_and_nothing_touches_the_disk() {
    let config = StreamsConfig { storage: Storage::Unavailable, ..fixtures::config(Flaws::NONE) };
    let node = Node::start_with(config).await;
    assert_eq!(node.reserve(1).await, Err(ReserveError::Refused(Refusal::StorageUnavailable)));
    let refused = node.admit(transaction(&signer(1, 2), 0, 0)).await;
    assert_eq!(refused, Err(AdmitError::Refused(Refusal::StorageUnavailable)));
    assert!(node.machine.take_log().is_empty());
    assert_eq!(node.streams.state_digest(), [0; 32]);
}

#[tokio::test]
async fn a_machine_that_goes_down_starts_nothing() {
    let machine = TestMachine::new();
    machine.shutdown();
    let opened = Streams::open(&machine.host(), root(), fixtures::config(Flaws::NONE)).await;
    assert!(matches!(opened, Err(OpenError::Unscheduled(_))));
}
