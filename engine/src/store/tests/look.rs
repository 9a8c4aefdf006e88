//! A look changes nothing, and a clear takes one record away and nothing else.

use super::*;
use crate::host::native::NativeMachine;
use crate::store::BadReason;
use crate::store::look::{Cleared, clear, look};
use std::fs;

const RECORDS: &[(&str, &[u8])] = &[("a", b"one"), ("b", b"two"), ("c", b"three")];

/// Every file of the store with its content; the file that carries the lock is not the store's.
fn files(disk: &RealDisk) -> BTreeMap<String, Vec<u8>> {
    let entries = fs::read_dir(disk.real(&root())).expect("there").map(|entry| entry.expect("listed").path());
    let name = |path: &PathBuf| path.file_name().expect("named").to_string_lossy().into_owned();
    entries
        .map(|path| (name(&path), fs::read(path).expect("read")))
        .filter(|(name, _)| name != ".lock")
        .collect()
}

#[tokio::test]
async fn a_look_tells_what_an_open_would_and_changes_nothing() {
    let disk = RealDisk::filled(RECORDS).await;
    fs::remove_file(disk.record("a")).expect("lost");
    fs::remove_file(disk.marker("b")).expect("unmarked");
    let temporary = disk.real(&root()).join(format!("{}.9.tmp", record_name("c")));
    fs::write(&temporary, b"cut short").expect("written");
    let before = files(&disk);
    let seen = look(&disk.host, &root()).await.expect("looked");
    assert_eq!(files(&disk), before);
    assert_eq!(contents(&seen.scan), expected(&[("b", b"two"), ("c", b"three")]));
    assert_eq!(bad(&seen.scan), BTreeMap::from([(record_name("a"), BadReason::Missing)]));
    assert_eq!((seen.unmarked.len(), seen.temporaries, seen.file_bytes.len()), (1, 1, 2));
    assert!(seen.unmarked.contains(&record_name("b")));
}

#[tokio::test]
async fn a_clear_removes_the_record_and_its_marker_and_leaves_the_others() {
    let disk = RealDisk::filled(RECORDS).await;
    let cleared = clear(&disk.host, &root(), record_name("b")).await.expect("cleared");
    assert_eq!(cleared, Cleared { record: true, marker: true });
    fs::remove_file(disk.record("a")).expect("lost");
    let cleared = clear(&disk.host, &root(), record_name("a")).await.expect("cleared");
    assert_eq!(cleared, Cleared { record: false, marker: true });
    let cleared = clear(&disk.host, &root(), record_name("a")).await.expect("nothing to do");
    assert_eq!(cleared, Cleared { record: false, marker: false });
    let (_, scan) = disk.open().await;
    assert_eq!((contents(&scan), scan.bad.len()), (expected(&[("c", b"three")]), 0));
}

#[tokio::test]
async fn a_directory_in_a_record_s_place_is_cleared_where_it_is_empty() {
    let disk = RealDisk::filled(RECORDS).await;
    fs::remove_file(disk.record("b")).expect("removed");
    fs::create_dir(disk.record("b")).expect("a directory in its place");
    clear(&disk.host, &root(), record_name("b")).await.expect("cleared");
    assert!(disk.open().await.1.bad.is_empty());
}

#[tokio::test]
async fn a_store_that_is_held_or_not_there_is_left_alone() {
    let disk = RealDisk::filled(RECORDS).await;
    let other = NativeMachine::new(disk.directory.path()).expect("a machine").host();
    let (store, _) = disk.open().await;
    let locked = OpenError::Locked { root: root() };
    assert_eq!(look(&other, &root()).await.expect_err("held"), locked);
    assert_eq!(clear(&other, &root(), record_name("a")).await.expect_err("held"), locked);
    store.close();
    let nowhere = DiskPath::new("nowhere");
    let missing = OpenError::RootMissing { root: nowhere.clone() };
    assert_eq!(look(&other, &nowhere).await.expect_err("not there"), missing);
    assert!(!disk.real(&nowhere).exists());
}
