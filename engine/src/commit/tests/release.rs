//! Release, order, two batches, cancellation: what a batch that succeeds promises.

use super::*;

#[tokio::test]
async fn no_result_is_returned_before_its_batch_is_durable() {
    let life = Life::begin().await;
    life.machine.hold("flush directory");
    let mut ticket = life.set(1, 10);
    settle().await;
    assert_eq!(life.on_disk(1), Some((10, BatchNumber(1))), "renamed, and not yet durable");
    assert!(pending(&mut ticket));
    life.machine.let_go();
    assert_eq!(ticket.await, Ok(BatchNumber(1)));
    let seen = life.machine.take_seen();
    let at = |seen_event: &Seen| seen.iter().position(|one| one == seen_event).expect("reported");
    let released = at(&Seen::Released(TransitionNumber(0), vec![(name(1), BatchNumber(1))]));
    assert!(
        at(&Seen::Closed(BatchNumber(1), vec![(name(1), Some(8))], 1)) < at(&Seen::Durable(BatchNumber(1)))
    );
    assert!(at(&Seen::Step(Step::DirectoryFlushed, BatchNumber(1))) < at(&Seen::Durable(BatchNumber(1))));
    assert!(at(&Seen::Durable(BatchNumber(1))) < at(&Seen::Step(Step::BeforeRelease, BatchNumber(1))));
    assert!(at(&Seen::Step(Step::BeforeRelease, BatchNumber(1))) < released);
}

#[tokio::test]
async fn a_refusal_waits_for_what_it_was_computed_from() {
    let life = Life::begin().await;
    assert_eq!(life.look(1).now_or_never(), Some(Ok(None)), "nothing is pending");
    life.machine.hold("flush directory");
    let _first = life.set(1, 10);
    settle().await;
    let mut on_flight = life.look(1);
    let _second = life.set(2, 20);
    let mut on_gathering = life.look(1);
    settle().await;
    assert!(pending(&mut on_flight) && pending(&mut on_gathering));
    life.machine.take_seen();
    life.machine.let_go();
    assert_eq!(on_flight.await, Ok(Some(10)));
    assert_eq!(on_gathering.await, Ok(Some(10)));
    let seen = life.machine.take_seen();
    let at = |wanted: &Seen| seen.iter().position(|one| one == wanted).expect("reported");
    let depends = vec![(name(1), BatchNumber(1))];
    assert!(at(&Seen::Durable(BatchNumber(1))) < at(&Seen::Released(TransitionNumber(2), depends.clone())));
    assert!(at(&Seen::Durable(BatchNumber(2))) < at(&Seen::Released(TransitionNumber(4), depends)));
    assert_eq!(life.look(1).now_or_never(), Some(Ok(Some(10))), "nothing is pending any more");
}

#[tokio::test]
async fn a_batch_writes_a_record_once_as_it_is_last() {
    let life = Life::begin().await;
    let tickets = [life.set(1, 10), life.set(1, 11), life.set(1, 12)];
    for ticket in tickets {
        assert_eq!(ticket.await, Ok(BatchNumber(1)));
    }
    assert_eq!(life.on_disk(1), Some((12, BatchNumber(1))));
    let seen = life.machine.take_seen();
    assert!(seen.contains(&Seen::Closed(BatchNumber(1), vec![(name(1), Some(8))], 3)), "{seen:?}");
    assert_eq!(seen.iter().filter(|one| matches!(one, Seen::Step(Step::Gathering, _))).count(), 3);
}

#[tokio::test]
async fn at_most_one_batch_is_written_and_one_gathers() {
    let life = Life::begin().await;
    life.machine.hold("flush directory");
    let first = life.set(1, 10);
    settle().await;
    let others: Vec<_> = (2..=100).map(|key| life.set(key, 20)).collect();
    settle().await;
    assert_eq!(life.on_disk(2), None, "the second batch is not begun");
    life.machine.let_go();
    assert_eq!(first.await, Ok(BatchNumber(1)));
    for other in others {
        assert_eq!(other.await, Ok(BatchNumber(2)));
    }
    let seen = life.machine.take_seen();
    let batches: Vec<_> =
        seen.iter().filter(|one| matches!(one, Seen::Closed(..) | Seen::Durable(_))).collect();
    assert!(
        matches!(
            batches[..],
            [
                Seen::Closed(BatchNumber(1), ..),
                Seen::Durable(BatchNumber(1)),
                Seen::Closed(BatchNumber(2), _, 99),
                Seen::Durable(BatchNumber(2))
            ]
        ),
        "{batches:?}"
    );
}

#[tokio::test]
async fn results_of_a_batch_are_returned_in_lock_order() {
    let life = Life::begin().await;
    let order = Arc::new(Mutex::new(Vec::new()));
    for key in 0..20u64 {
        let (ticket, order) = (life.set(1, key), Arc::clone(&order));
        tokio::spawn(async move {
            ticket.await.expect("durable");
            order.lock().expect("not poisoned").push(key);
        });
    }
    settle().await;
    assert_eq!(*order.lock().expect("not poisoned"), (0..20).collect::<Vec<_>>());
}

#[tokio::test]
async fn a_cancelled_caller_abandons_only_the_wait() {
    let life = Life::begin().await;
    life.machine.hold("flush directory");
    let gone = life.set(1, 10);
    settle().await;
    let (also_gone, stays) = (life.set(1, 11), life.set(2, 20));
    drop(gone);
    drop(also_gone);
    life.machine.let_go();
    stays.await.expect("durable");
    assert_eq!(life.on_disk(1), Some((11, BatchNumber(2))));
    let seen = life.machine.take_seen();
    let gone: Vec<_> = seen.iter().filter(|one| matches!(one, Seen::CallerGone(_))).collect();
    assert_eq!(gone, [&Seen::CallerGone(TransitionNumber(0)), &Seen::CallerGone(TransitionNumber(1))]);
}

#[tokio::test]
async fn a_ticket_that_gave_its_result_has_a_caller() {
    let life = Life::begin().await;
    life.set(1, 10).await.expect("durable");
    let seen = life.machine.take_seen();
    assert!(!seen.iter().any(|one| matches!(one, Seen::CallerGone(_))), "{seen:?}");
}

#[tokio::test]
async fn batch_numbers_rise_over_all_lives() {
    let machine = TestMachine::new();
    for number in 1..=5 {
        let life = Life::of(&machine, Flaws::NONE).await;
        assert_eq!(life.set(number as u8 % 2, number).await, Ok(BatchNumber(number)));
        settle().await;
        machine.crash();
        settle().await;
    }
}

#[tokio::test]
async fn a_removed_record_is_gone_and_can_begin_anew() {
    let life = Life::begin().await;
    life.set(1, 10).await.expect("durable");
    life.machine.take_seen();
    life.remove(1).await.expect("durable");
    let seen = life.machine.take_seen();
    assert_eq!(seen.last(), Some(&Seen::Released(TransitionNumber(1), vec![])), "an absence is no state");
    settle().await;
    assert_eq!(life.machine.names(&root()), Vec::<String>::new());
    life.set(1, 11).await.expect("durable");
    settle().await;
    assert_eq!(life.machine.names(&root()).len(), 2, "the record and its marker");
    let (set, removed) = (life.set(2, 20), life.remove(2));
    set.await.expect("durable");
    removed.await.expect("durable");
    settle().await;
    assert_eq!(life.on_disk(2), None, "never written");
}
