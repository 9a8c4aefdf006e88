//! Each fault changes an outcome while it strikes, and ends.

use super::*;

#[test]
fn an_error_strikes_one_operation_and_has_no_effect() {
    let mut disk = disk(DiskProfile::Strict);
    let written = disk.durable("d/a", record(1, 10));
    let file = disk.open("d/a");
    let requests = [
        DiskRequest::Create { path: path("d/n") },
        DiskRequest::Create { path: path("d/a") },
        DiskRequest::Open { path: path("d/a") },
        DiskRequest::Read { file },
        DiskRequest::Write { file: written, offset: 0, bytes: record(2, 10) },
        DiskRequest::Rename { from: path("d/a"), to: path("d/b") },
        DiskRequest::Remove { path: path("d/a") },
        DiskRequest::List { path: path("d") },
        DiskRequest::CreateDirectory { path: path("d/e") },
    ];
    for request in &requests {
        assert_eq!(disk.ask(request.clone(), Some(OpFault::Error)), Err(DiskErrorKind::Io), "{request:?}");
        assert!(disk.pending_choices().is_empty(), "{request:?} has no effect");
    }
    assert_eq!(disk.read("d/a"), Ok(record(1, 10)));
    let error = disk.apply(&requests[5], Some(&OpFault::Error)).expect_err("it is struck");
    assert_eq!((error.operation, error.path), ("rename", path("d/a")));
    for request in &requests[..5] {
        disk.does(request.clone());
    }
}

#[test]
fn no_space_strikes_create_write_flush_and_rename() {
    let mut disk = disk(DiskProfile::Strict);
    let file = disk.durable("d/a", record(1, 10));
    for request in [
        DiskRequest::Create { path: path("d/n") },
        DiskRequest::Write { file, offset: 0, bytes: record(2, 10) },
        DiskRequest::Rename { from: path("d/a"), to: path("d/b") },
    ] {
        assert_eq!(disk.ask(request, Some(OpFault::NoSpace)), Err(DiskErrorKind::NoSpace));
        assert!(disk.pending_choices().is_empty());
    }
    disk.write(file, record(2, 10));
    let failed = disk.ask(DiskRequest::Flush { file }, Some(OpFault::NoSpace));
    assert_eq!(failed, Err(DiskErrorKind::NoSpace));
    disk.flush(file).expect("it is believed");
    assert_eq!(after(&disk, "d/a", |_| false), Some(record(1, 10)), "as after any failed flush");
}

#[test]
fn after_a_failed_flush_later_flushes_succeed_without_writing() {
    for profile in BOTH {
        let mut disk = disk(profile);
        let file = disk.durable("d/a", record(1, 600));
        disk.write(file, record(2, 600));
        let failed = disk.ask(DiskRequest::Flush { file }, Some(OpFault::FailedFlush));
        assert_eq!(failed, Err(DiskErrorKind::Io));
        assert_eq!(disk.read("d/a"), Ok(record(2, 600)), "reads give the new bytes");
        disk.flush(file).expect("it is believed");
        disk.write_back(&mut |_| true);
        disk.flush_directory("d");
        assert!(matches!(certain(&disk, "d/a"), Certainty::Uncertain(_)), "{profile:?}");
        assert_eq!(after(&disk, "d/a", |_| false), Some(record(1, 600)));
        assert_eq!(after(&disk, "d/a", |_| true), Some(record(2, 600)));
        disk.write(file, record(3, 600));
        disk.flush(file).expect("nothing is in its way");
        assert_eq!(certain(&disk, "d/a"), generation(3), "written anew, it is written");
    }
}

#[test]
fn a_failed_flush_is_told_once_to_each_handle_then_open() {
    let mut disk = disk(DiskProfile::Strict);
    let first = disk.durable("d/a", record(1, 600));
    let (second, other) = (disk.open("d/a"), disk.durable("d/b", record(1, 600)));
    disk.write(first, record(2, 600));
    disk.ask(DiskRequest::Flush { file: first }, Some(OpFault::FailedFlush)).expect_err("it is struck");
    let later = disk.open("d/a");
    let told: Vec<_> =
        [first, second, second, later, other].map(|file| disk.flush(file).err()).into_iter().collect();
    assert_eq!(told, [None, Some(DiskErrorKind::Io), None, None, None]);
}

#[test]
fn a_file_flushed_anew_is_whole_after_a_failed_flush_of_its_size() {
    for profile in BOTH {
        let mut disk = disk(profile);
        let file = disk.create("d/a");
        disk.flush_directory("d");
        disk.write(file, record(1, 1_300));
        disk.ask(DiskRequest::Flush { file }, Some(OpFault::FailedFlush)).expect_err("it is struck");
        disk.write(file, record(2, 1_300));
        disk.flush(file).expect("nothing is in its way");
        assert_eq!(certain(&disk, "d/a"), generation(2));
    }
}

#[test]
fn after_a_failed_directory_flush_its_names_survive_or_not_and_no_later_flush_writes_them() {
    for profile in BOTH {
        let mut disk = disk(profile);
        disk.flushed("d/a", record(1, 10));
        let mut disk = if profile == DiskProfile::Ordered {
            // A file flush commits names there: this one has nothing to flush.
            let mut disk = super::disk(profile);
            disk.create("d/a");
            disk
        } else {
            disk
        };
        let flush = DiskRequest::FlushDirectory { path: path("d") };
        let failed = disk.ask(flush, Some(OpFault::FailedDirectoryFlush { read_only: false }));
        assert_eq!(failed, Err(DiskErrorKind::Io));
        disk.create("d/b");
        disk.flush_directory("d");
        disk.write_back(&mut |_| true);
        assert_eq!(certain(&disk, "d/b"), Certainty::Certain(Found::Torn));
        assert!(matches!(certain(&disk, "d/a"), Certainty::Uncertain(_)), "{profile:?}");
        assert_eq!(after(&disk, "d/a", |_| false), None);
        disk.create("d/t");
        disk.rename("d/t", "d/a");
        disk.flush_directory("d");
        assert_eq!(certain(&disk, "d/a"), Certainty::Certain(Found::Torn), "written anew, it is written");
    }
}

#[test]
fn a_failed_directory_flush_may_turn_the_file_system_read_only_until_the_next_life() {
    let mut disk = disk(DiskProfile::Strict);
    let file = disk.durable("d/a", record(1, 10));
    let flush = DiskRequest::FlushDirectory { path: path("d") };
    disk.ask(flush.clone(), Some(OpFault::FailedDirectoryFlush { read_only: true }))
        .expect_err("it is struck");
    for request in [
        DiskRequest::Create { path: path("d/b") },
        DiskRequest::Create { path: path("d/a") },
        DiskRequest::Write { file, offset: 0, bytes: record(2, 10) },
        DiskRequest::Flush { file },
        DiskRequest::Rename { from: path("d/a"), to: path("d/b") },
        DiskRequest::Remove { path: path("d/a") },
        DiskRequest::CreateDirectory { path: path("d/e") },
        flush.clone(),
    ] {
        assert_eq!(disk.ask(request.clone(), None), Err(DiskErrorKind::ReadOnly), "{request:?}");
    }
    assert_eq!(disk.read("d/a"), Ok(record(1, 10)));
    disk.process_crash();
    disk.start_life();
    disk.does(flush);
    disk.create("d/b");
}

#[test]
fn a_lying_flush_makes_nothing_durable_and_a_later_truthful_one_does() {
    for profile in BOTH {
        let mut disk = disk(profile);
        let file = disk.create("d/a");
        disk.write(file, record(1, 600));
        let flushes = [DiskRequest::Flush { file }, DiskRequest::FlushDirectory { path: path("d") }];
        for request in flushes.clone() {
            assert_eq!(disk.ask(request, Some(OpFault::LyingFlush)), Ok(DiskAnswer::Done));
        }
        assert_eq!(after(&disk, "d/a", |_| false), None);
        flushes.into_iter().for_each(|request| disk.does(request));
        assert_eq!(certain(&disk, "d/a"), generation(1));
    }
}

#[test]
fn a_bad_sector_cannot_be_read_until_it_is_written_again() {
    let mut disk = disk(DiskProfile::Strict);
    let file = disk.create("d/a");
    let write = |generation| DiskRequest::Write { file, offset: 0, bytes: record(generation, 1_300) };
    disk.ask(write(1), Some(OpFault::BadSector { sector: 4 })).expect("a write does not notice");
    assert_eq!(disk.read("d/a"), Ok(record(1, 1_300)), "the page cache has it");
    disk.flush(file).expect("a flush does not notice");
    disk.flush_directory("d");
    assert_eq!(disk.read("d/a"), Err(DiskErrorKind::Io));
    assert_eq!(certain(&disk, "d/a"), Certainty::Certain(Found::Torn));
    disk.power_failure(&mut |_| false);
    disk.start_life();
    assert_eq!(disk.read("d/a"), Err(DiskErrorKind::Io), "it outlives a power failure");
    let file = disk.create("d/a");
    disk.write(file, record(2, 1_300));
    assert_eq!(disk.read("d/a"), Ok(record(2, 1_300)));
    disk.flush(file).expect("nothing is in its way");
    assert_eq!((disk.read("d/a"), certain(&disk, "d/a")), (Ok(record(2, 1_300)), generation(2)));
}

#[test]
fn bad_sectors_can_be_mended() {
    let mut disk = disk(DiskProfile::Strict);
    disk.durable("d/a", record(1, 1_300));
    assert!(disk.break_sector(&path("d/a"), 1) && !disk.break_sector(&path("d/b"), 1));
    assert_eq!(disk.read("d/a"), Err(DiskErrorKind::Io));
    disk.mend_sectors();
    assert_eq!((disk.read("d/a"), certain(&disk, "d/a")), (Ok(record(1, 1_300)), generation(1)));
}

#[test]
fn a_flipped_bit_is_durable_and_ends_when_written_again() {
    let mut disk = disk(DiskProfile::Strict);
    let file = disk.create("d/a");
    let write = |generation| DiskRequest::Write { file, offset: 0, bytes: record(generation, 600) };
    disk.ask(write(1), Some(OpFault::FlippedBit { bit: 8 * 599 })).expect("a write does not notice");
    disk.flush(file).expect("a flush does not notice");
    disk.flush_directory("d");
    let flipped = after(&disk, "d/a", |_| true).expect("it is there");
    assert_eq!((flipped[598], flipped[599]), (1, 0));
    assert_eq!(certain(&disk, "d/a"), Certainty::Certain(Found::Torn));
    disk.does(write(2));
    disk.flush(file).expect("nothing is in its way");
    assert_eq!(certain(&disk, "d/a"), generation(2));
}

#[test]
fn a_bit_flips_at_rest_where_the_page_cache_has_nothing_newer() {
    let mut disk = disk(DiskProfile::Strict);
    let file = disk.durable("d/a", record(1, 1_024));
    disk.does(DiskRequest::Write { file, offset: 512, bytes: Bytes::from_static(&[1; 512]) });
    assert!(disk.flip_bit(&path("d/a"), 0) && disk.flip_bit(&path("d/a"), 8 * 512));
    let (seen, lost) = (disk.read("d/a").expect("it can be read"), after(&disk, "d/a", |_| false));
    assert_eq!((seen[0], seen[512]), (0, 1));
    assert_eq!(lost.map(|bytes| (bytes[0], bytes[512])), Some((0, 0)));
    disk.flush(file).expect("nothing is in its way");
    assert_eq!(disk.read("d/a").map(|bytes| (bytes[0], bytes[512])), Ok((0, 1)));
    assert!(!disk.flip_bit(&path("d/none"), 0));
}
