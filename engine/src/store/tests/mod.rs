//! The store over real files, and the order of its operations over a disk that logs and fails them.

mod bad_records;
mod birth;
mod budget;
mod look;
mod order;

use super::name::{marker_path, record_name, record_path};
use super::{FileStore, OpenError, Put, Record, Removal, Scan, StoreConfig};
use crate::host::disk::DiskPath;
use crate::host::native::NativeMachine;
use crate::host::observe::{BatchNumber, RecordName};
use crate::host::{Host, disk};
use crate::streams::key::Table;
use bytes::Bytes;
use std::collections::BTreeMap;
use std::path::PathBuf;
use tempfile::TempDir;

fn root() -> DiskPath {
    DiskPath::new("data/transaction-replay")
}

fn record(key: &str, value: &[u8]) -> Record {
    Record { storage_key: key.into(), value: Bytes::copy_from_slice(value) }
}

fn put(key: &str, value: &[u8]) -> Put {
    Put { name: record_name(key), table: Table::Receiver, record: record(key, value) }
}

fn removal(key: &str) -> Removal {
    Removal { name: record_name(key), table: Table::Receiver }
}

/// A store in real files, opened as often as a test likes.
struct RealDisk {
    directory: TempDir,
    host: Host,
}

impl RealDisk {
    fn new() -> Self {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let host = NativeMachine::new(directory.path()).expect("a machine").host();
        Self { directory, host }
    }

    async fn try_open(&self, capacity_bytes: u64) -> Result<(FileStore, Scan), OpenError> {
        FileStore::open(&self.host, root(), StoreConfig { capacity_bytes, ..StoreConfig::default() }).await
    }

    async fn open(&self) -> (FileStore, Scan) {
        self.try_open(super::CAPACITY_BYTES).await.expect("the store opens")
    }

    /// A store that holds these records, closed again.
    async fn filled(records: &[(&str, &[u8])]) -> Self {
        let disk = Self::new();
        let (mut store, scan) = disk.open().await;
        assert!(scan.records.is_empty() && scan.bad.is_empty());
        let puts: Vec<Put> = records.iter().map(|(key, value)| put(key, value)).collect();
        store.write_batch(BatchNumber(1), &puts, &[]).await.expect("durable");
        store.finish_batch().await;
        store.close();
        disk
    }

    fn real(&self, path: &disk::DiskPath) -> PathBuf {
        self.directory.path().join(path.as_str())
    }

    fn record(&self, key: &str) -> PathBuf {
        self.real(&record_path(&root(), record_name(key)))
    }

    fn marker(&self, key: &str) -> PathBuf {
        self.real(&marker_path(&root(), record_name(key)))
    }
}

fn contents(scan: &Scan) -> BTreeMap<String, Vec<u8>> {
    let records = scan.records.iter();
    records.map(|stored| (stored.record.storage_key.to_string(), stored.record.value.to_vec())).collect()
}

fn expected(records: &[(&str, &[u8])]) -> BTreeMap<String, Vec<u8>> {
    records.iter().map(|(key, value)| ((*key).to_owned(), value.to_vec())).collect()
}

#[tokio::test]
async fn what_was_written_is_restored() {
    let disk = RealDisk::filled(&[("a", b"one"), ("b", b"two"), ("c", b"three")]).await;
    let (mut store, scan) = disk.open().await;
    assert_eq!(contents(&scan), expected(&[("a", b"one"), ("b", b"two"), ("c", b"three")]));
    assert!(scan.records.iter().all(|stored| stored.generation == BatchNumber(1)));
    assert!(scan.records.is_sorted_by_key(|stored| stored.name));
    assert_eq!((store.next_batch(), store.records()), (BatchNumber(2), 3));

    store.write_batch(BatchNumber(2), &[put("a", b"four")], &[removal("b")]).await.expect("durable");
    store.finish_batch().await;
    assert!(!disk.record("b").exists() && !disk.marker("b").exists());
    store.close();
    let (store, scan) = disk.open().await;
    assert_eq!(contents(&scan), expected(&[("a", b"four"), ("c", b"three")]));
    assert_eq!(store.next_batch(), BatchNumber(3));
    let files: u64 =
        ["a", "c"].iter().map(|key| std::fs::metadata(disk.record(key)).expect("there").len()).sum();
    assert_eq!(store.used_bytes(), files);
}

#[tokio::test]
async fn more_records_than_are_written_at_a_time_make_one_batch() {
    let keys: Vec<String> = (0..5 * super::CONCURRENT_FILES).map(|number| format!("key {number}")).collect();
    let records: Vec<(&str, &[u8])> = keys.iter().map(|key| (key.as_str(), key.as_bytes())).collect();
    let disk = RealDisk::filled(&records).await;
    let (_, scan) = disk.open().await;
    assert_eq!(contents(&scan), expected(&records));
}

#[tokio::test]
async fn a_directory_has_one_owner() {
    let disk = RealDisk::filled(&[("a", b"one")]).await;
    let (store, _) = disk.open().await;
    let refused = disk.try_open(super::CAPACITY_BYTES).await.expect_err("owned");
    assert_eq!(refused, OpenError::Locked { root: root() });
    store.close();
    disk.open().await;
}

#[tokio::test]
async fn an_unmarked_record_is_marked_at_open() {
    let disk = RealDisk::filled(&[("a", b"one"), ("b", b"two")]).await;
    std::fs::remove_file(disk.marker("a")).expect("it was marked");
    let (_, scan) = disk.open().await;
    assert_eq!(contents(&scan), expected(&[("a", b"one"), ("b", b"two")]));
    assert!(disk.marker("a").exists());
}

#[tokio::test]
async fn stale_temporaries_are_removed_and_strangers_stay() {
    let disk = RealDisk::filled(&[("a", b"one")]).await;
    let directory = disk.real(&root());
    let name = record_name("a");
    let stale = [format!("{name}.tmp"), format!("{name}.17.tmp")].map(|file| directory.join(file));
    let strangers = ["notes.tmp", "readme", &format!("{name}.old")].map(|file| directory.join(file));
    for file in stale.iter().chain(&strangers) {
        std::fs::write(file, b"left over").expect("written");
    }
    let (_, scan) = disk.open().await;
    assert_eq!(contents(&scan), expected(&[("a", b"one")]));
    assert!(scan.bad.is_empty());
    assert!(stale.iter().all(|file| !file.exists()));
    assert!(strangers.iter().all(|file| file.exists()));
}

#[tokio::test]
async fn a_vanished_directory_is_not_created_again() {
    let disk = RealDisk::filled(&[("a", b"one")]).await;
    let (mut store, _) = disk.open().await;
    std::fs::remove_dir_all(disk.real(&root())).expect("removed");
    for (puts, removals) in [(vec![put("a", b"two")], vec![]), (vec![], vec![removal("a")])] {
        let failed = store.write_batch(BatchNumber(2), &puts, &removals).await.expect_err("gone");
        assert_eq!(failed.source, super::StoreError::StorageRootMissing { root: root() });
    }
    assert!(!disk.real(&root()).exists());
}

/// Names of bad records with their reasons.
fn bad(scan: &Scan) -> BTreeMap<RecordName, super::BadReason> {
    scan.bad.iter().map(|bad| (bad.name, bad.reason)).collect()
}
