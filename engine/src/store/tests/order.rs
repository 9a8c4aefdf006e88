//! The order of disk operations, which is what every crash point stands on (decisions 12 and 13).

use super::*;
use crate::flaws::Flaws;
use crate::host::disk::DiskErrorKind;
use crate::host::test_machine::TestMachine;
use std::sync::Arc;

const ROOT: &str = "data/transaction-replay";

async fn open(machine: &Arc<TestMachine>, flaws: Flaws) -> (FileStore, Scan) {
    let config = StoreConfig { flaws, ..StoreConfig::default() };
    FileStore::open(&machine.host(), root(), config).await.expect("the store opens")
}

/// The log with each record's name replaced by its key.
fn log(machine: &TestMachine, keys: &[&str]) -> Vec<String> {
    let lines = machine.take_log().into_iter();
    lines
        .map(|line| {
            let line = line.replace(&format!("{ROOT}/"), "").replace(ROOT, "root");
            keys.iter().fold(line, |line, key| line.replace(&record_name(key).to_string(), key))
        })
        .collect()
}

async fn write(store: &mut FileStore, batch: u64, puts: &[Put], removals: &[Removal]) {
    store.write_batch(BatchNumber(batch), puts, removals).await.expect("durable");
    store.finish_batch().await;
}

/// A store that holds `a` and `b`, both of batch 1, and an empty log.
async fn filled(flaws: Flaws) -> (Arc<TestMachine>, FileStore) {
    let machine = TestMachine::new();
    let (mut store, _) = open(&machine, flaws).await;
    write(&mut store, 1, &[put("a", b"one"), put("b", b"two")], &[]).await;
    machine.take_log();
    (machine, store)
}

#[tokio::test]
async fn a_batch_is_written_in_the_order_of_decision_12() {
    let (machine, mut store) = filled(Flaws::NONE).await;
    let puts = [put("a", b"three"), put("c", b"four")];
    store.write_batch(BatchNumber(2), &puts, &[removal("b"), removal("never there")]).await.expect("durable");
    assert_eq!(
        log(&machine, &["a", "b", "c"]),
        [
            "create a.2.tmp",
            "write a.2.tmp",
            "flush a.2.tmp",
            "create c.2.tmp",
            "write c.2.tmp",
            "flush c.2.tmp",
            "remove b.p",
            "rename a",
            "rename c",
            "flush directory root",
        ]
    );
    store.finish_batch().await;
    assert_eq!(log(&machine, &["a", "b", "c"]), ["create c.p", "remove b"]);
    write(&mut store, 3, &[], &[removal("never there")]).await;
    assert_eq!(machine.take_log(), Vec::<String>::new(), "nothing to write, nothing to flush");
}

#[tokio::test]
async fn an_open_flushes_before_it_believes_and_reads_once() {
    let (machine, mut store) = filled(Flaws::NONE).await;
    write(&mut store, 2, &[put("a", b"three")], &[]).await;
    write(&mut store, 3, &[put("c", b"four")], &[]).await;
    store.close();
    machine.take_away(&marker_path(&root(), record_name("b")));
    machine.put(&root().join(&format!("{}.9.tmp", record_name("c"))), b"stale");
    machine.take_log();
    let (mut store, scan) = open(&machine, Flaws::NONE).await;
    assert_eq!(contents(&scan), expected(&[("a", b"three"), ("b", b"two"), ("c", b"four")]));
    let mut log_of_open = log(&machine, &["a", "b", "c"]);
    let reads =
        log_of_open.extract_if(.., |line| line.starts_with("open ") || line.starts_with("read ")).count();
    assert_eq!(reads, 6);
    assert_eq!(
        log_of_open,
        [
            "lock directory root",
            "list root",
            "flush directory root",
            "flush directory data",
            "flush directory .",
            "remove c.9.tmp",
            // The last batch, of which nobody has said that it was durable, is written anew.
            "create c.4.tmp",
            "write c.4.tmp",
            "flush c.4.tmp",
            "rename c",
            "flush directory root",
        ]
        .into_iter()
        // Markers of its generation and later are renewed, and never gone meanwhile; the missing one is created.
        .chain(if record_name("a") < record_name("c") {
            ["create a.p.tmp", "rename a.p", "create c.p.tmp", "rename c.p"]
        } else {
            ["create c.p.tmp", "rename c.p", "create a.p.tmp", "rename a.p"]
        })
        .chain(["create b.p", "flush directory root"])
        .collect::<Vec<_>>()
    );
    write(&mut store, 4, &[put("a", b"five")], &[removal("b")]).await;
    let log = machine.take_log();
    assert!(log.iter().all(|line| !line.starts_with("read") && !line.starts_with("list")), "{log:?}");
}

#[tokio::test]
async fn an_open_that_cannot_see_everything_fails_and_lets_go() {
    let (machine, store) = filled(Flaws::NONE).await;
    store.close();
    for verb in ["list", "flush directory", "lock directory"] {
        machine.fail(verb, "data", DiskErrorKind::Io);
        let config = StoreConfig::default();
        let failed = FileStore::open(&machine.host(), root(), config).await.expect_err("it fails");
        assert!(matches!(failed, OpenError::Disk(error) if error.kind == DiskErrorKind::Io), "{verb}");
    }
    let (_, scan) = open(&machine, Flaws::NONE).await;
    assert_eq!(contents(&scan), expected(&[("a", b"one"), ("b", b"two")]));
}

#[tokio::test]
async fn a_record_that_cannot_be_read_is_kept_and_named() {
    let (machine, store) = filled(Flaws::NONE).await;
    store.close();
    machine.fail("read", &record_name("a").to_string(), DiskErrorKind::Io);
    let (_, scan) = open(&machine, Flaws::NONE).await;
    assert_eq!(contents(&scan), expected(&[("b", b"two")]));
    let reason = crate::store::BadReason::Unreadable(DiskErrorKind::Io);
    assert_eq!(bad(&scan), BTreeMap::from([(record_name("a"), reason)]));
}

#[tokio::test]
async fn after_a_failed_directory_flush_fresh_markers_are_written_anew() {
    let (machine, mut store) = filled(Flaws::NONE).await;
    machine.fail("flush directory", "", DiskErrorKind::Io);
    let failed = store.write_batch(BatchNumber(2), &[put("a", b"three")], &[]).await.expect_err("it fails");
    assert!(failed.landed);
    machine.take_log();
    store.write_batch(BatchNumber(3), &[put("a", b"four")], &[]).await.expect("durable");
    let log_of_heal = log(&machine, &["a", "b"]);
    let at = |line: &str| log_of_heal.iter().position(|one| one == line).expect("done");
    for key in ["a", "b"] {
        assert!(at(&format!("create {key}.p.tmp")) < at(&format!("rename {key}.p")));
        assert!(at(&format!("rename {key}.p")) < at("flush directory root"));
    }
    assert!(
        !log_of_heal.iter().any(|line| line.starts_with("remove")),
        "a record is never without its marker"
    );
    write(&mut store, 4, &[put("a", b"five")], &[]).await;
    assert!(!log(&machine, &["a", "b"]).iter().any(|line| line.contains(".p")), "once");
}

#[tokio::test]
async fn a_marker_of_unknown_state_is_gone_for_certain_before_its_record_goes() {
    let (machine, mut store) = filled(Flaws::NONE).await;
    write(&mut store, 2, &[put("a", b"three")], &[]).await;
    machine.fail("flush directory", "", DiskErrorKind::Io);
    store.write_batch(BatchNumber(3), &[], &[removal("b")]).await.expect_err("it fails");
    machine.take_log();
    write(&mut store, 4, &[], &[removal("b")]).await;
    assert_eq!(
        log(&machine, &["a", "b"]),
        ["create b.p", "remove b.p", "remove b.p", "flush directory root", "remove b"]
    );
}

#[tokio::test]
async fn an_error_with_a_marker_fails_nothing_and_is_made_good() {
    let (machine, mut store) = filled(Flaws::NONE).await;
    machine.fail("create", ".p", DiskErrorKind::NoSpace);
    write(&mut store, 2, &[put("c", b"three")], &[]).await;
    assert!(machine.content(&marker_path(&root(), record_name("c"))).is_none());
    write(&mut store, 3, &[put("a", b"four")], &[]).await;
    assert!(machine.content(&marker_path(&root(), record_name("c"))).is_some());
}

#[tokio::test]
async fn a_failed_flush_gets_a_fresh_temporary() {
    let (machine, mut store) = filled(Flaws::NONE).await;
    machine.fail("flush", "tmp", DiskErrorKind::Io);
    let failed = store.write_batch(BatchNumber(2), &[put("a", b"three")], &[]).await.expect_err("it fails");
    assert!(!failed.landed);
    assert_eq!(log(&machine, &["a"]), ["create a.2.tmp", "write a.2.tmp", "flush a.2.tmp", "remove a.2.tmp"]);
    write(&mut store, 3, &[put("a", b"three")], &[]).await;
    assert_eq!(log(&machine, &["a"])[..3], ["create a.3.tmp", "write a.3.tmp", "flush a.3.tmp"]);
}

#[tokio::test]
async fn a_life_after_a_failed_flush_writes_all_that_is_uncertain_anew() {
    let (machine, mut store) = filled(Flaws::NONE).await;
    write(&mut store, 2, &[put("a", b"three")], &[]).await;
    for batch in [3, 4] {
        machine.fail("flush directory", "", DiskErrorKind::Io);
        let key = if batch == 3 { "a" } else { "c" };
        store.write_batch(BatchNumber(batch), &[put(key, b"failed")], &[]).await.expect_err("it fails");
    }
    store.close();
    machine.take_log();
    let (store, scan) = open(&machine, Flaws::NONE).await;
    assert_eq!(contents(&scan), expected(&[("a", b"failed"), ("b", b"two"), ("c", b"failed")]));
    assert_eq!(store.next_batch(), BatchNumber(5));
    let log = log(&machine, &["a", "b", "c"]);
    let records = |line: &&String| line.starts_with("rename") && !line.ends_with(".p");
    let rewritten: Vec<_> = log.iter().filter(records).collect();
    assert_eq!(rewritten.len(), 2, "batches 3 and 4: {log:?}");
}

#[cfg(feature = "flaws")]
mod flawed {
    use super::*;
    use crate::flaws::Flaw;

    /// The log of one batch that replaces `a` and creates `c`, markers included.
    async fn batch(flaw: Flaw) -> Vec<String> {
        let (machine, mut store) = filled(Flaws::NONE.with(flaw)).await;
        write(&mut store, 2, &[put("a", b"three"), put("c", b"four")], &[]).await;
        log(&machine, &["a", "b", "c"])
    }

    /// The log of an open that finds `b` unmarked.
    async fn open_unmarked(flaw: Flaw) -> (Vec<String>, Scan) {
        let (machine, store) = filled(Flaws::NONE).await;
        store.close();
        machine.take_away(&marker_path(&root(), record_name("b")));
        machine.take_log();
        let (_, scan) = open(&machine, Flaws::NONE.with(flaw)).await;
        (log(&machine, &["a", "b"]), scan)
    }

    fn place(log: &[String], line: &str) -> Option<usize> {
        log.iter().position(|one| one == line)
    }

    #[tokio::test]
    async fn each_flaw_of_a_batch_shows_in_its_operations() {
        assert_eq!(place(&batch(Flaw::NoFlushBeforeRename).await, "flush a.2.tmp"), None);
        assert_eq!(place(&batch(Flaw::NoDirectoryFlush).await, "flush directory root"), None);
        let log = batch(Flaw::OneFlushForMarkerAndRecord).await;
        assert!(place(&log, "create c.p") < place(&log, "flush directory root"), "{log:?}");
        assert_eq!(log.iter().filter(|line| *line == "create c.p").count(), 1);
    }

    #[tokio::test]
    async fn a_record_that_goes_before_its_marker_leaves_the_marker_alone_for_a_while() {
        let (machine, mut store) = filled(Flaws::NONE.with(Flaw::RecordRemovedBeforeMarker)).await;
        write(&mut store, 2, &[], &[removal("b")]).await;
        let log = log(&machine, &["b"]);
        assert_eq!(log, ["remove b", "flush directory root", "remove b.p"]);
    }

    #[tokio::test]
    async fn each_flaw_of_an_open_shows_in_its_operations() {
        let (log, _) = open_unmarked(Flaw::AncestorsNotFlushed).await;
        assert_eq!((place(&log, "flush directory data"), place(&log, "flush directory .")), (None, None));
        let (log, _) = open_unmarked(Flaw::MarkBeforeFlushAtOpen).await;
        assert!(place(&log, "create b.p") < place(&log, "flush directory root"), "{log:?}");
        let (_, scan) = open_unmarked(Flaw::MemoryStoreAfterRestart).await;
        assert_eq!(contents(&scan), expected(&[]));
    }

    #[tokio::test]
    async fn a_failed_flush_that_is_retried_is_believed() {
        let (machine, mut store) = filled(Flaws::NONE.with(Flaw::FailedFlushRetried)).await;
        machine.fail("flush", "tmp", DiskErrorKind::Io);
        write(&mut store, 2, &[put("a", b"three")], &[]).await;
    }

    #[tokio::test]
    async fn a_trusted_marker_is_not_written_anew() {
        let (machine, mut store) = filled(Flaws::NONE.with(Flaw::MarkerTrustedAfterFailedFlush)).await;
        machine.fail("flush directory", "", DiskErrorKind::Io);
        store.write_batch(BatchNumber(2), &[put("a", b"three")], &[]).await.expect_err("it fails");
        machine.take_log();
        write(&mut store, 3, &[put("a", b"four")], &[]).await;
        assert!(!log(&machine, &["a", "b"]).iter().any(|line| line.contains(".p")));
    }
}
