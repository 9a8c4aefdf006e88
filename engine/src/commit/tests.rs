//! Each law of group commit, over a disk that can be held and failed.

use super::*;
use crate::host::disk::{DiskErrorKind, DiskPath};
use crate::host::test_machine::{Seen, TestMachine};
use crate::store::name::{record_name, record_path};
use crate::store::{FileStore, Scan, StoreConfig, StoreError, frame};
use bytes::Bytes;
use futures_util::FutureExt;
use proptest::prelude::*;
use std::collections::BTreeMap;

/// Numbers under one-byte keys; a removed key is one without a number.
#[derive(Default, Debug)]
struct Numbers {
    values: BTreeMap<u8, u64>,
    undone: Vec<(u8, Option<u64>)>,
}

fn storage_key(key: u8) -> String {
    format!("number {key}")
}

fn name(key: u8) -> RecordName {
    record_name(&storage_key(key))
}

fn root() -> DiskPath {
    DiskPath::new("data/numbers")
}

impl State for Numbers {
    type Key = u8;
    type Undo = (u8, Option<u64>);

    fn table(&self, key: u8) -> Table {
        if key < 128 { Table::Receiver } else { Table::Sender }
    }

    fn name(&self, key: u8) -> RecordName {
        name(key)
    }

    fn encode(&self, key: u8) -> Option<Record> {
        let value = Bytes::copy_from_slice(&self.values.get(&key)?.to_le_bytes());
        Some(Record { storage_key: storage_key(key).into(), value })
    }

    fn undo(&mut self, (key, before): Self::Undo) {
        self.undone.push((key, before));
        match before {
            Some(before) => self.values.insert(key, before),
            None => self.values.remove(&key),
        };
    }

    fn digest(&self) -> [u8; 32] {
        let mut digest = [0; 32];
        for (key, value) in &self.values {
            digest[usize::from(key % 32)] ^= key.wrapping_add(1) ^ (*value as u8);
        }
        digest
    }
}

struct Life {
    machine: Arc<TestMachine>,
    commit: GroupCommit<Numbers>,
}

async fn open_store(machine: &Arc<TestMachine>, flaws: Flaws) -> (FileStore, Scan) {
    let config = StoreConfig { flaws, ..StoreConfig::default() };
    FileStore::open(&machine.host(), root(), config).await.expect("the store opens")
}

impl Life {
    async fn begin() -> Self {
        Self::of(&TestMachine::new(), Flaws::NONE).await
    }

    async fn of(machine: &Arc<TestMachine>, flaws: Flaws) -> Self {
        let (store, scan) = open_store(machine, flaws).await;
        assert!(scan.bad.is_empty(), "{:?}", scan.bad);
        let mut numbers = Numbers::default();
        let mut restored = Vec::new();
        for stored in scan.records {
            let key: u8 = stored.record.storage_key["number ".len()..].parse().expect("our key");
            let value = u64::from_le_bytes(stored.record.value[..].try_into().expect("our value"));
            numbers.values.insert(key, value);
            restored.push((key, stored.generation));
        }
        let commit = GroupCommit::open(&machine.host(), store, numbers, restored, flaws).expect("running");
        machine.take_seen();
        machine.take_log();
        Self { machine: Arc::clone(machine), commit }
    }

    fn set(&self, key: u8, value: u64) -> Ticket<BatchNumber> {
        let ticket = self.commit.transact(|numbers, staging| {
            let before = numbers.values.insert(key, value);
            staging.stage(key, (key, before));
            staging.batch()
        });
        ticket.expect("running")
    }

    fn remove(&self, key: u8) -> Ticket<()> {
        let ticket = self.commit.transact(|numbers, staging| {
            let before = numbers.values.remove(&key);
            staging.stage(key, (key, before));
        });
        ticket.expect("running")
    }

    fn look(&self, key: u8) -> Ticket<Option<u64>> {
        let ticket = self.commit.transact(|numbers, staging| {
            staging.depend_on(key);
            numbers.values.get(&key).copied()
        });
        ticket.expect("running")
    }

    fn values(&self) -> BTreeMap<u8, u64> {
        self.commit.read(|numbers| numbers.values.clone())
    }

    fn on_disk(&self, key: u8) -> Option<(u64, BatchNumber)> {
        let bytes = self.machine.content(&record_path(&root(), name(key)))?;
        let frame = frame::decode(&bytes).expect("whole");
        let value = u64::from_le_bytes(frame.record.value[..].try_into().expect("our value"));
        Some((value, frame.header.generation))
    }
}

/// Lets every task run until nothing moves any more.
async fn settle() {
    for _ in 0..400 {
        tokio::task::yield_now().await;
    }
}

fn pending<T>(ticket: &mut Ticket<T>) -> bool {
    ticket.now_or_never().is_none()
}

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

fn drop_value(result: Result<BatchNumber, CommitError>) -> Result<(), CommitError> {
    result.map(|_| ())
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

/// One step of a caller.
#[derive(Clone, Debug)]
enum Act {
    Set(u8, u64),
    Remove(u8),
    Look(u8),
    Cancel,
    Fail(usize, bool),
    Run(u8),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => (0u8..6, any::<u64>()).prop_map(|(key, value)| Act::Set(key, value)),
        2 => (0u8..6).prop_map(Act::Remove),
        2 => (0u8..6).prop_map(Act::Look),
        1 => Just(Act::Cancel),
        2 => (0usize..6, any::<bool>()).prop_map(|(verb, after)| Act::Fail(verb, after)),
        3 => (0u8..60).prop_map(Act::Run),
    ];
    proptest::collection::vec(act, 1..60)
}

/// Runs the acts, then one batch without a failure; the disk must hold exactly what is in memory, in this life and
/// after a restart.
async fn disk_follows_memory(acts: Vec<Act>) {
    const VERBS: [&str; 6] = ["create", "write", "flush", "rename", "remove", "flush directory"];
    let life = Life::begin().await;
    let mut tickets = Vec::new();
    for act in acts {
        match act {
            Act::Set(key, value) => tickets.push(life.set(key, value).map(drop_value).boxed()),
            Act::Remove(key) => tickets.push(life.remove(key).boxed()),
            Act::Look(key) => tickets.push(life.look(key).map(|looked| looked.map(|_| ())).boxed()),
            Act::Cancel => drop(tickets.pop()),
            Act::Fail(verb, false) => life.machine.fail(VERBS[verb], "", DiskErrorKind::Io),
            Act::Fail(verb, true) => {
                if VERBS[verb] != "remove" {
                    life.machine.fail_after_effect(VERBS[verb], "", DiskErrorKind::Io);
                }
            }
            Act::Run(yields) => {
                for _ in 0..yields {
                    tokio::task::yield_now().await;
                }
            }
        }
    }
    while life.set(7, 7).await.is_err() {}
    for ticket in tickets {
        let _either = ticket.await;
    }
    while life.machine.take_failure() {}
    life.set(7, 8).await.expect("nothing fails any more");
    settle().await;
    let values = life.values();
    for key in 0..8 {
        assert_eq!(life.on_disk(key).map(|(value, _)| value), values.get(&key).copied(), "key {key}");
    }
    life.machine.crash();
    settle().await;
    let next = Life::of(&life.machine, Flaws::NONE).await;
    assert_eq!(next.values(), values);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn after_any_failures_the_disk_follows_memory(acts in acts()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(disk_follows_memory(acts));
    }
}

#[cfg(feature = "flaws")]
mod flawed {
    use super::*;

    async fn flawed(flaw: Flaw) -> Life {
        Life::of(&TestMachine::new(), Flaws::NONE.with(flaw)).await
    }

    #[tokio::test]
    async fn early_release_returns_what_is_not_durable() {
        let life = flawed(Flaw::EarlyRelease).await;
        life.machine.hold("flush directory");
        assert_eq!(life.set(1, 10).now_or_never(), Some(Ok(BatchNumber(1))));
    }

    #[tokio::test]
    async fn early_release_of_refusals_keeps_writes_waiting() {
        let life = flawed(Flaw::EarlyReleaseOfRefusals).await;
        life.machine.hold("flush directory");
        let mut written = life.set(1, 10);
        assert!(pending(&mut written));
        assert_eq!(life.look(1).now_or_never(), Some(Ok(Some(10))));
    }

    #[tokio::test]
    async fn partial_undo_keeps_the_batch_above() {
        let life = flawed(Flaw::PartialUndo).await;
        life.machine.hold("flush directory");
        life.machine.fail("flush directory", "numbers", DiskErrorKind::Io);
        let failing = life.set(1, 10);
        settle().await;
        let above = life.set(2, 20);
        life.machine.let_go();
        failing.await.expect_err("undone");
        above.await.expect("kept");
        assert_eq!(life.values(), BTreeMap::from([(2, 20)]));
    }

    #[tokio::test]
    async fn a_cancelled_caller_lets_a_stale_write_land_last() {
        let life = flawed(Flaw::CancelledCallerBreaksOrder).await;
        life.set(1, 1).await.expect("durable");
        settle().await;
        life.machine.hold("flush");
        let gone = life.set(1, 10);
        settle().await;
        drop(gone);
        settle().await;
        assert_eq!(life.values(), BTreeMap::from([(1, 1)]), "taken back, though its write goes on");
        let later = life.set(2, 20);
        settle().await;
        life.machine.let_go();
        later.await.expect("durable");
        settle().await;
        assert_eq!(life.on_disk(1).map(|(value, _)| value), Some(10), "the disk holds what memory does not");
    }
}
