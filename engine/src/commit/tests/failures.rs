//! Fail closed: what a failed batch, a limit or the end of a life leaves behind.

use super::*;

#[tokio::test]
async fn a_failed_batch_undoes_itself_and_the_one_above_it() {
    let life = Life::begin().await;
    life.set(1, 10).await.expect("durable");
    let digest = life.commit.read(Numbers::digest);
    life.machine.hold("flush directory");
    life.machine.fail("flush directory", "numbers", DiskErrorKind::Io);
    let failing = [life.set(1, 11).map(drop_value).boxed(), life.set(2, 20).map(drop_value).boxed()];
    settle().await;
    let above = [
        life.set(2, 21).map(drop_value).boxed(),
        life.remove(1).boxed(),
        life.look(9).map(|looked| looked.map(|_| ())).boxed(),
    ];
    life.machine.take_seen();
    life.machine.let_go();
    for ticket in failing.into_iter().chain(above) {
        let error = ticket.await.expect_err("undone");
        let CommitError::Failed(source) = error else { panic!("{error}") };
        assert_eq!((source.batch, source.landed), (BatchNumber(2), true));
    }
    assert_eq!(life.values(), BTreeMap::from([(1, 10)]));
    let undone = life.commit.read(|numbers| numbers.undone.clone());
    assert_eq!(undone, [(1, Some(11)), (2, Some(20)), (2, None), (1, Some(10))], "reverse lock order");
    assert_eq!(life.commit.persistence_failures(), 1);
    let failures: Vec<_> =
        life.machine.take_seen().into_iter().filter(|one| matches!(one, Seen::Failed(..))).collect();
    assert_eq!(failures, [Seen::Failed(BatchNumber(2), 5, digest)]);
}

#[tokio::test]
async fn what_a_failed_batch_left_unknown_is_written_anew_before_anything_depends_on_it() {
    let life = Life::begin().await;
    life.set(1, 10).await.expect("durable");
    life.machine.fail("flush directory", "numbers", DiskErrorKind::Io);
    let (old, new) = (life.set(1, 11), life.set(2, 20));
    old.await.expect_err("undone");
    new.await.expect_err("undone");
    assert_eq!(life.on_disk(1), Some((11, BatchNumber(2))), "the failed value has landed");
    assert_eq!(life.on_disk(2), Some((20, BatchNumber(2))), "and the failed new record");
    life.machine.take_seen();

    assert_eq!(life.look(1).await, Ok(Some(10)));
    assert_eq!(life.on_disk(1), Some((10, BatchNumber(3))));
    let seen = life.machine.take_seen();
    let mut rewritten = vec![(name(1), Some(8)), (name(2), None)];
    rewritten.sort_by_key(|(_, length)| length.is_none());
    assert!(seen.contains(&Seen::Closed(BatchNumber(3), rewritten, 1)), "{seen:?}");
    let released = Seen::Released(TransitionNumber(3), vec![(name(1), BatchNumber(3))]);
    assert_eq!(seen.last(), Some(&released));
    settle().await;
    assert_eq!(life.on_disk(2), None, "a new record without an owner leaves");
    assert_eq!(life.look(1).now_or_never(), Some(Ok(Some(10))), "healed once");
}

#[tokio::test]
async fn a_failure_before_the_renames_leaves_nothing_unknown() {
    for (verb, kind) in
        [("create", DiskErrorKind::Io), ("write", DiskErrorKind::NoSpace), ("flush", DiskErrorKind::Io)]
    {
        let life = Life::begin().await;
        life.set(1, 10).await.expect("durable");
        life.machine.fail(verb, "tmp", kind);
        let tickets: Vec<_> = (1..50).map(|key| life.set(key, 11)).collect();
        for ticket in tickets {
            let error = ticket.await.expect_err("undone");
            let CommitError::Failed(source) = error else { panic!("{error}") };
            assert!(!source.landed);
        }
        settle().await;
        assert_eq!(life.on_disk(1), Some((10, BatchNumber(1))));
        assert_eq!(life.machine.names(&root()).len(), 2, "the record and its marker");
        assert_eq!(life.look(1).now_or_never(), Some(Ok(Some(10))));
        life.set(1, 12).await.expect("the next batch has a fresh temporary");
    }
}

#[tokio::test]
async fn the_end_of_a_life_ends_every_wait_and_starts_nothing() {
    let life = Life::begin().await;
    life.machine.hold("flush directory");
    let in_flight = life.set(1, 10);
    settle().await;
    let gathering = life.set(2, 20);
    life.machine.crash();
    assert_eq!(in_flight.await, Err(CommitError::Unscheduled));
    assert_eq!(gathering.await, Err(CommitError::Unscheduled));
    let before = life.values();
    let refused = life.commit.transact(|numbers, _| numbers.values.clear());
    assert_eq!(refused.map(|_| ()), Err(Unscheduled));
    assert_eq!(life.values(), before, "nothing was applied");
}

#[tokio::test]
async fn a_machine_that_goes_down_opens_nothing_and_keeps_no_lock() {
    let machine = TestMachine::new();
    let (store, _) = open_store(&machine, Flaws::NONE).await;
    machine.shutdown();
    let refused = GroupCommit::open(&machine.host(), store, Numbers::default(), [], Flaws::NONE);
    assert_eq!(refused.map(|_| ()), Err(Unscheduled));
    open_store(&machine, Flaws::NONE).await;
}

#[tokio::test]
async fn a_transition_that_panics_is_never_written() {
    let life = Life::begin().await;
    let commit = life.commit.clone();
    let panicked = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
        let _ticket = commit.transact(|numbers, staging| {
            staging.stage(1, (1, None));
            numbers.values.insert(1, 10);
            panic!("in the middle of a transition");
        });
    }));
    assert!(panicked.is_err());
    assert_eq!(life.commit.transact(|_, _| ()).map(|_| ()), Err(Unscheduled));
    settle().await;
    assert_eq!(life.on_disk(1), None);
}

#[tokio::test]
async fn a_batch_takes_no_more_than_its_limit() {
    let life = Life::begin().await;
    life.machine.hold("flush directory");
    let _first = life.set(1, 0);
    settle().await;
    let mut tickets: Vec<_> = (0..BATCH_LIMIT as u64).map(|value| life.set(2, value)).collect();
    let mut refused = life.set(3, 1);
    assert_eq!((&mut refused).now_or_never(), Some(Err(CommitError::Overloaded { limit: BATCH_LIMIT })));
    assert_eq!(life.values().get(&3), None, "nothing was applied");
    life.machine.let_go();
    tickets.pop().expect("the last one").await.expect("durable");
    assert_eq!(life.on_disk(2).map(|(value, _)| value), Some(BATCH_LIMIT as u64 - 1));
    life.set(3, 1).await.expect("there is room again");
}

#[tokio::test]
async fn the_last_owner_leaves_and_what_is_pending_is_written() {
    let Life { machine, commit } = Life::begin().await;
    let life = Life { machine: Arc::clone(&machine), commit };
    let ticket = life.set(1, 10);
    drop(life);
    assert_eq!(ticket.await, Ok(BatchNumber(1)));
    settle().await;
    let next = Life::of(&machine, Flaws::NONE).await;
    assert_eq!(next.values(), BTreeMap::from([(1, 10)]));
}

#[tokio::test]
async fn a_vanished_directory_fails_every_batch_and_is_not_created_again() {
    let life = Life::begin().await;
    life.set(1, 10).await.expect("durable");
    settle().await;
    life.machine.take_directory_away(&root());
    for _ in 0..2 {
        let CommitError::Failed(error) = life.set(1, 11).await.expect_err("the directory is gone") else {
            panic!("another error")
        };
        assert_eq!(error.source, StoreError::StorageRootMissing { root: root() });
    }
    assert_eq!(life.machine.names(&root()), Vec::<String>::new());
    assert_eq!(life.commit.persistence_failures(), 2);
}

#[tokio::test]
async fn effects_that_are_not_written_are_taken_back_in_order_with_those_that_are() {
    let life = Life::begin().await;
    life.set(1, 10).await.unwrap();
    life.machine.fail("flush directory", "", DiskErrorKind::Io);
    let memory = |key| (key, Some(0));
    let ticket = life.commit.transact(|numbers, staging| {
        staging.stage_unwritten(memory(200));
        let before = numbers.values.insert(1, 11);
        staging.stage(1, (1, before));
        staging.stage_unwritten(memory(201));
        let before = numbers.values.insert(2, 20);
        staging.stage(2, (2, before));
        staging.stage_unwritten(memory(202));
    });
    assert!(matches!(ticket.unwrap().await, Err(CommitError::Failed(_))));
    let undone = life.commit.read(|numbers| numbers.undone.clone());
    assert_eq!(undone, [memory(202), (2, None), memory(201), (1, Some(10)), memory(200)]);
}

#[tokio::test]
async fn effects_that_are_not_written_stand_where_nothing_is_pending() {
    let life = Life::begin().await;
    let unwritten = life.commit.transact(|numbers, staging| {
        let before = numbers.values.insert(7, 70);
        staging.stage_unwritten((7, before));
        let before = numbers.values.insert(8, 80);
        staging.stage_unwritten((8, before));
    });
    unwritten.unwrap().await.unwrap();
    life.machine.fail("flush directory", "", DiskErrorKind::Io);
    assert!(life.set(1, 10).await.is_err());
    assert_eq!(life.values(), BTreeMap::from([(7, 70), (8, 80)]));
}
