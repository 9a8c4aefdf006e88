//! The set U: each kind of record that cannot be believed is named, kept and never served; the others are untouched.

use super::*;
use crate::host::disk::DiskErrorKind;
use crate::store::frame::FrameError;
use crate::store::{BadReason, StoreError};
use std::fs;

const RECORDS: &[(&str, &[u8])] = &[("a", b"one"), ("b", b"two"), ("c", b"three")];

/// The kept store, its scan, and the refusal to overwrite the bad record.
async fn reopened(disk: &RealDisk, damaged: &str) -> Scan {
    let (mut store, scan) = disk.open().await;
    let undamaged: Vec<_> = RECORDS.iter().filter(|(key, _)| *key != damaged).copied().collect();
    assert_eq!(contents(&scan), expected(&undamaged), "the others restore");
    assert_eq!(scan.bad.len(), 1);
    assert_eq!(scan.bad[0].name, record_name(damaged));
    let refused = store.write_batch(BatchNumber(9), &[put(damaged, b"new"), put("d", b"new")], &[]).await;
    let record = record_name(damaged);
    let refused = refused.expect_err("kept as it is");
    assert_eq!((refused.source, refused.landed), (StoreError::RecordUnavailable { record }, false));
    store
        .write_batch(BatchNumber(10), &[put("a", b"one"), put("c", b"three")], &[])
        .await
        .expect("others go on");
    store.finish_batch().await;
    store.close();
    scan
}

#[tokio::test]
async fn a_torn_record_is_undecodable_and_names_its_key() {
    let disk = RealDisk::filled(RECORDS).await;
    let whole = fs::read(disk.record("b")).expect("there");
    fs::write(disk.record("b"), &whole[..whole.len() - 1]).expect("torn");
    let scan = reopened(&disk, "b").await;
    assert!(matches!(scan.bad[0].reason, BadReason::Undecodable(FrameError::Length { .. })));
    assert_eq!(scan.bad[0].storage_key.as_deref(), Some("b"));
    assert_eq!(fs::read(disk.record("b")).expect("kept").len(), whole.len() - 1);
    let again = disk.open().await.1;
    assert_eq!(bad(&again), bad(&scan), "and is bad for ever");
}

#[tokio::test]
async fn a_flipped_bit_is_undecodable() {
    let disk = RealDisk::filled(RECORDS).await;
    let mut bytes = fs::read(disk.record("b")).expect("there");
    *bytes.last_mut().expect("not empty") ^= 1;
    fs::write(disk.record("b"), &bytes).expect("flipped");
    let scan = reopened(&disk, "b").await;
    assert_eq!(scan.bad[0].reason, BadReason::Undecodable(FrameError::Checksum));
}

#[tokio::test]
async fn an_empty_record_is_undecodable_and_names_nothing() {
    let disk = RealDisk::filled(RECORDS).await;
    fs::write(disk.record("b"), b"").expect("emptied");
    let scan = reopened(&disk, "b").await;
    assert_eq!(scan.bad[0].reason, BadReason::Undecodable(FrameError::NotARecord));
    assert_eq!(scan.bad[0].storage_key, None);
}

#[tokio::test]
async fn damage_is_never_taken_for_a_move() {
    let disk = RealDisk::filled(RECORDS).await;
    let mut other = fs::read(disk.record("a")).expect("there");
    other.pop();
    fs::write(disk.record("b"), other).expect("another record, torn");
    let scan = reopened(&disk, "b").await;
    assert!(matches!(scan.bad[0].reason, BadReason::Undecodable(_)));
    assert_eq!(scan.bad[0].storage_key, None, "the key that it spells is not filed here");
}

#[tokio::test]
async fn two_swapped_records_are_both_misfiled() {
    let disk = RealDisk::filled(RECORDS).await;
    let (a, b) = (fs::read(disk.record("a")).expect("there"), fs::read(disk.record("b")).expect("there"));
    fs::write(disk.record("a"), b).expect("swapped");
    fs::write(disk.record("b"), a).expect("swapped");
    let (_, scan) = disk.open().await;
    assert_eq!(contents(&scan), expected(&[("c", b"three")]));
    let both = [(record_name("a"), BadReason::Misfiled), (record_name("b"), BadReason::Misfiled)];
    assert_eq!(bad(&scan), BTreeMap::from(both));
    let keys: Vec<_> = scan.bad.iter().map(|bad| bad.storage_key.as_deref()).collect();
    assert!(keys.contains(&Some("a")) && keys.contains(&Some("b")));
}

#[tokio::test]
async fn a_lost_record_is_missing() {
    let disk = RealDisk::filled(RECORDS).await;
    fs::remove_file(disk.record("b")).expect("lost");
    let scan = reopened(&disk, "b").await;
    assert_eq!(scan.bad[0].reason, BadReason::Missing);
    assert!(disk.marker("b").exists(), "for ever, until an operator clears it");
}

#[tokio::test]
async fn a_bad_record_that_is_lost_is_missing() {
    let disk = RealDisk::filled(RECORDS).await;
    fs::remove_file(disk.marker("b")).expect("unmarked");
    fs::write(disk.record("b"), b"garbage").expect("damaged");
    reopened(&disk, "b").await;
    fs::remove_file(disk.record("b")).expect("lost");
    assert_eq!(reopened(&disk, "b").await.bad[0].reason, BadReason::Missing);
}

#[tokio::test]
async fn a_cleared_record_was_never_there() {
    let disk = RealDisk::filled(RECORDS).await;
    fs::remove_file(disk.record("b")).expect("cleared");
    fs::remove_file(disk.marker("b")).expect("cleared");
    let (_, scan) = disk.open().await;
    assert_eq!(contents(&scan), expected(&[("a", b"one"), ("c", b"three")]));
    assert!(scan.bad.is_empty());
}

#[tokio::test]
async fn an_upper_case_name_is_not_the_record() {
    let disk = RealDisk::filled(RECORDS).await;
    let upper = disk.real(&root()).join(record_name("b").to_string().to_uppercase());
    fs::rename(disk.record("b"), upper).expect("renamed");
    let case_matters = !disk.record("b").exists();
    if case_matters {
        assert_eq!(reopened(&disk, "b").await.bad[0].reason, BadReason::Missing);
    } else {
        assert_eq!(contents(&disk.open().await.1), expected(RECORDS));
    }
}

#[tokio::test]
async fn what_is_no_readable_file_is_unreadable() {
    let disk = RealDisk::filled(RECORDS).await;
    fs::remove_file(disk.record("b")).expect("removed");
    fs::create_dir(disk.record("b")).expect("a directory in its place");
    let scan = reopened(&disk, "b").await;
    assert_eq!(scan.bad[0].reason, BadReason::Unreadable(DiskErrorKind::WrongKind));

    let disk = RealDisk::filled(RECORDS).await;
    fs::remove_file(disk.record("b")).expect("removed");
    std::os::unix::fs::symlink("nowhere", disk.record("b")).expect("a link that leads nowhere");
    let scan = reopened(&disk, "b").await;
    assert_eq!(scan.bad[0].reason, BadReason::Unreadable(DiskErrorKind::NotFound));

    let disk = RealDisk::filled(RECORDS).await;
    fs::remove_file(disk.record("b")).expect("removed");
    std::os::unix::fs::symlink(disk.record("b"), disk.record("b")).expect("a link that leads to itself");
    let scan = reopened(&disk, "b").await;
    assert!(matches!(scan.bad[0].reason, BadReason::Unreadable(_)));
}
