//! Directories that no open has made durable yet are created anew before anything is built on them.

use super::*;
use crate::host::disk::{DiskError, DiskErrorKind};
use crate::host::test_machine::TestMachine;
use std::sync::Arc;

async fn try_open(machine: &Arc<TestMachine>) -> Result<(FileStore, Scan), OpenError> {
    FileStore::open(&machine.host(), root(), StoreConfig::default()).await
}

/// An open that fails at this operation.
async fn fail_open(machine: &Arc<TestMachine>, verb: &'static str, path: &DiskPath, kind: DiskErrorKind) {
    machine.fail_at(verb, path, kind);
    let failed = try_open(machine).await.expect_err("it fails");
    assert!(
        matches!(&failed, OpenError::Disk(DiskError { kind: of, path: at, .. }) if *of == kind && at == path),
        "{failed:?}"
    );
    machine.take_log();
}

/// The log of an open that finds no record.
async fn open_empty(machine: &Arc<TestMachine>) -> Vec<String> {
    let (store, scan) = try_open(machine).await.expect("the store opens");
    assert!(scan.records.is_empty() && scan.bad.is_empty());
    store.close();
    machine.take_log().into_iter().map(|line| line.replace(root().as_str(), "root")).collect()
}

fn data() -> DiskPath {
    root().parent().expect("the store lies below the host's root")
}

const FIND: &[&str] = &["lock directory root", "list root"];
const REMOVE: &[&str] = &["remove directory root", "remove directory data"];
const CREATE: &[&str] = &["create directory data", "create directory root"];
const FLUSH: &[&str] =
    &["flush directory root", "flush directory data", "flush directory .", "flush directory root"];

#[tokio::test]
async fn a_first_open_creates_what_is_not_there() {
    let machine = TestMachine::new();
    let expected = [&["lock directory root", "remove directory data"], CREATE, FIND, FLUSH].concat();
    assert_eq!(open_empty(&machine).await, expected);
}

#[tokio::test]
async fn after_a_failed_flush_of_any_directory_every_name_is_created_anew() {
    for flushed in [root(), data(), DiskPath::root()] {
        let machine = TestMachine::new();
        fail_open(&machine, "flush directory", &flushed, DiskErrorKind::Io).await;
        let expected = [FIND, REMOVE, CREATE, FIND, FLUSH].concat();
        assert_eq!(open_empty(&machine).await, expected, "after a failed flush of {flushed}");
    }
}

#[tokio::test]
async fn an_ancestor_left_empty_by_an_open_that_died_is_created_anew() {
    let machine = TestMachine::new();
    fail_open(&machine, "create directory", &root(), DiskErrorKind::NoSpace).await;
    let expected = [&["lock directory root", "remove directory data"], CREATE, FIND, FLUSH].concat();
    assert_eq!(open_empty(&machine).await, expected);
}

#[tokio::test]
async fn a_directory_that_cannot_be_created_anew_is_not_believed() {
    for (verb, path) in
        [("remove directory", root()), ("remove directory", data()), ("create directory", data())]
    {
        let machine = TestMachine::new();
        fail_open(&machine, "flush directory", &DiskPath::root(), DiskErrorKind::Io).await;
        fail_open(&machine, verb, &path, DiskErrorKind::PermissionDenied).await;
        let log = open_empty(&machine).await;
        assert!(
            log.iter().map(String::as_str).collect::<Vec<_>>().ends_with(&[CREATE, FIND, FLUSH].concat()),
            "{verb} {path}: {log:?}"
        );
    }
}

#[tokio::test]
async fn a_name_of_the_stores_is_a_birth() {
    let name = record_name("a");
    for left in
        [record_path(&root(), name), marker_path(&root(), name), root().join(&format!("{name}.3.tmp"))]
    {
        let machine = TestMachine::new();
        open_empty(&machine).await;
        machine.put(&left, b"left");
        let (_, scan) = try_open(&machine).await.expect("the store opens");
        let log = machine.take_log();
        assert!(!log.iter().any(|line| line.contains("remove directory")), "{left}: {log:?}");
        assert_eq!(scan.bad.len(), usize::from(!left.name().ends_with("tmp")), "{left}");
    }
}

#[tokio::test]
async fn a_strangers_name_is_never_removed() {
    let machine = TestMachine::new();
    open_empty(&machine).await;
    machine.put(&root().join("readme"), b"mine");
    let expected = [FIND, &REMOVE[..1], FLUSH].concat();
    assert_eq!(open_empty(&machine).await, expected, "the directory that holds it stays");

    let machine = TestMachine::new();
    open_empty(&machine).await;
    machine.put(&data().join("readme"), b"mine");
    let expected = [FIND, REMOVE, CREATE, FIND, FLUSH].concat();
    assert_eq!(open_empty(&machine).await, expected, "the store's own directory holds nothing");
    assert_eq!(machine.names(&data()), ["readme"]);
}

#[tokio::test]
async fn an_open_that_fails_lets_go_of_the_directory() {
    let machine = TestMachine::new();
    open_empty(&machine).await;
    for (verb, path) in [("list", root()), ("remove directory", root()), ("flush directory", data())] {
        fail_open(&machine, verb, &path, DiskErrorKind::Io).await;
        open_empty(&machine).await;
    }
}

#[tokio::test]
async fn an_empty_store_in_real_files_opens_again_and_again() {
    let disk = RealDisk::new();
    for _ in 0..3 {
        let (store, scan) = disk.open().await;
        assert!(scan.records.is_empty());
        assert!(matches!(disk.try_open(super::super::CAPACITY_BYTES).await, Err(OpenError::Locked { .. })));
        store.close();
    }
}
