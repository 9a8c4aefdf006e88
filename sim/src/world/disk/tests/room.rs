//! Space on the medium, and the memory that the model itself takes.

use super::*;
use crate::world::disk::{FILE_BYTES_MAX, INODE_BYTES, PENDING_NAMES_MAX};

fn small(capacity_bytes: u64) -> Disk {
    Disk::new(DiskConfig { capacity_bytes: Some(capacity_bytes), ..config(DiskProfile::Strict) })
}

#[test]
fn a_write_that_runs_out_of_space_keeps_what_fits() {
    let mut disk = small(INODE_BYTES * 3 + 1_024);
    let file = disk.create("d/a");
    let write = |length| DiskRequest::Write { file, offset: 0, bytes: record(1, length) };
    assert_eq!(disk.ask(write(1_025), None), Err(DiskErrorKind::NoSpace));
    assert_eq!(disk.read("d/a").map(|bytes| bytes.len()), Ok(1_024));
    disk.does(write(1_024));
    assert_eq!(disk.ask(DiskRequest::Create { path: path("d/b") }, None), Err(DiskErrorKind::NoSpace));
    let directory = DiskRequest::CreateDirectory { path: path("d/e") };
    assert_eq!(disk.ask(directory.clone(), None), Err(DiskErrorKind::NoSpace));
    disk.does(DiskRequest::Remove { path: path("d/a") });
    disk.close(file);
    assert_eq!(disk.ask(directory.clone(), None), Err(DiskErrorKind::NoSpace), "the removal could be lost");
    disk.process_crash();
    disk.flush_directory("d");
    disk.does(directory);
}

#[test]
fn a_file_has_a_longest_length() {
    let mut disk = disk(DiskProfile::Strict);
    let file = disk.create("d/a");
    let beyond = DiskRequest::Write { file, offset: FILE_BYTES_MAX, bytes: record(1, 3) };
    assert_eq!(disk.ask(beyond, None), Err(DiskErrorKind::NoSpace));
    assert_eq!(disk.read("d/a"), Ok(Bytes::new()));
}

#[test]
fn what_no_name_leads_to_is_freed() {
    for profile in BOTH {
        let mut disk = disk(profile);
        let mut after_first = None;
        for round in 0..200_u8 {
            let file = disk.flushed("d/t", record(round, 600));
            disk.close(file);
            disk.rename("d/t", "d/a");
            let marker = disk.create("d/m");
            disk.close(marker);
            disk.does(DiskRequest::Remove { path: path("d/m") });
            disk.flush_directory("d");
            let now = (disk.inode_count(), disk.used_bytes(), disk.pending_names());
            assert_eq!(*after_first.get_or_insert(now), now, "{profile:?}, round {round}");
        }
    }
}

#[test]
fn an_open_file_outlives_its_name() {
    let mut disk = disk(DiskProfile::Strict);
    let file = disk.durable("d/a", record(1, 600));
    disk.close(file);
    let file = disk.open("d/a");
    disk.does(DiskRequest::Remove { path: path("d/a") });
    disk.flush_directory("d");
    assert_eq!(disk.ask(DiskRequest::Read { file }, None), Ok(DiskAnswer::Bytes(record(1, 600))));
    let count = disk.inode_count();
    disk.close(file);
    assert_eq!(disk.inode_count(), count - 1);
}

#[test]
fn changes_that_nobody_flushes_do_not_pile_up() {
    for profile in BOTH {
        let mut disk = disk(profile);
        for round in 0..PENDING_NAMES_MAX / 2 + 100 {
            let file = disk.create("d/t");
            disk.write(file, record(1, 10));
            disk.close(file);
            disk.rename("d/t", "d/a");
            assert!(disk.pending_names() <= PENDING_NAMES_MAX, "{profile:?}, round {round}");
        }
        assert!(disk.inode_count() < PENDING_NAMES_MAX);
        let file = disk.create("d/b");
        for round in 0..1_500 {
            disk.does(DiskRequest::Write { file, offset: round * 512, bytes: record(1, 512) });
        }
        assert!(disk.pending_choices().len() < PENDING_NAMES_MAX + 3 * 2_048);
    }
}
