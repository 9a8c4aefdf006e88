//! How a life ends, and what the next one finds.

use super::*;

#[test]
fn a_process_crash_keeps_everything_and_a_power_failure_in_a_later_life_may_take_it() {
    for profile in BOTH {
        let mut disk = disk(profile);
        let file = disk.create("d/a");
        disk.write(file, record(1, 1_300));
        disk.process_crash();
        disk.start_life();
        assert_eq!(disk.read("d/a"), Ok(record(1, 1_300)));
        disk.create("d/later");
        disk.process_crash();
        disk.start_life();
        assert_eq!(after(&disk, "d/a", |_| false), None);
        assert_eq!(after(&disk, "d/a", |_| true), Some(record(1, 1_300)));
    }
}

#[test]
fn a_flush_in_a_later_life_makes_an_earlier_life_s_bytes_durable() {
    let mut disk = disk(DiskProfile::Strict);
    let file = disk.create("d/a");
    disk.write(file, record(1, 1_300));
    disk.process_crash();
    disk.start_life();
    let file = disk.open("d/a");
    disk.flush(file).expect("nothing is in its way");
    disk.flush_directory("d");
    assert_eq!(certain(&disk, "d/a"), generation(1));
}

#[test]
fn handles_and_locks_of_a_dead_life_do_nothing() {
    let mut disk = disk(DiskProfile::Strict);
    let file = disk.create("d/a");
    let lock = DiskRequest::LockDirectory { path: path("d") };
    disk.does(lock.clone());
    assert_eq!(disk.ask(lock.clone(), None), Err(DiskErrorKind::Locked));
    disk.process_crash();
    disk.start_life();
    let write = DiskRequest::Write { file, offset: 0, bytes: record(1, 10) };
    assert_eq!(disk.ask(write.clone(), None), Err(DiskErrorKind::BadHandle));
    disk.does(lock.clone());
    disk.close(file);
    disk.apply_partly(&write, &mut |_| true);
    assert_eq!(
        disk.ask(lock, None),
        Err(DiskErrorKind::Locked),
        "the old handle does not close the new lock"
    );
    assert_eq!(disk.read("d/a"), Ok(Bytes::new()));
}

#[test]
fn a_lock_ends_with_its_handle() {
    let mut disk = disk(DiskProfile::Strict);
    let lock = DiskRequest::LockDirectory { path: path("d") };
    let Ok(DiskAnswer::File(held)) = disk.ask(lock.clone(), None) else { panic!("nobody holds it") };
    disk.close(held);
    disk.does(lock);
}

#[test]
fn after_a_power_failure_reader_and_medium_agree() {
    for profile in BOTH {
        let mut disk = disk(profile);
        disk.durable("d/a", record(1, 1_300));
        let file = disk.create("d/a");
        disk.write(file, record(2, 1_300));
        disk.create("d/b");
        let report = disk.power_failure(&mut |choice| matches!(choice, Choice::Sector { sector: 1, .. }));
        assert_eq!((report.kept(), report.lost()), (1, 5));
        assert!(disk.pending_choices().is_empty());
        let seen = disk.visible(&path("d/a"));
        assert_eq!(after(&disk, "d/a", |_| panic!("nothing is left to decide")), seen);
    }
}

#[test]
fn a_write_cut_short_leaves_any_subset_of_its_sectors() {
    let mut disk = disk(DiskProfile::Strict);
    let file = disk.durable("d/a", record(1, 1_536));
    let write = DiskRequest::Write { file, offset: 0, bytes: record(2, 1_536) };
    disk.apply_partly(&write, &mut |choice| matches!(choice, Choice::Sector { sector: 1, .. }));
    let torn = disk.read("d/a").expect("it can be read");
    assert_eq!((torn[0], torn[512], torn[1_023], torn[1_024]), (1, 2, 2, 1));
    assert_eq!(after(&disk, "d/a", |_| false), Some(record(1, 1_536)), "and is still unflushed");
}

#[test]
fn another_operation_cut_short_takes_effect_or_not() {
    let mut disk = disk(DiskProfile::Strict);
    disk.durable("d/a", record(1, 10));
    let rename = DiskRequest::Rename { from: path("d/a"), to: path("d/b") };
    disk.apply_partly(&rename, &mut |_| false);
    assert_eq!(disk.visible(&path("d/b")), None);
    disk.apply_partly(&rename, &mut |choice| matches!(choice, Choice::Effect { .. }));
    assert_eq!(disk.visible(&path("d/b")), Some(record(1, 10)));
}

#[test]
fn choices_keep_their_names_whatever_happens_beside_them() {
    let mut disk = disk(DiskProfile::Strict);
    let file = disk.create("d/a");
    disk.write(file, record(1, 600));
    let before = disk.pending_choices();
    disk.create("d/b");
    disk.process_crash();
    let now = disk.pending_choices();
    assert_eq!(before.len(), 4);
    assert!(before.iter().all(|choice| now.contains(choice)));
    disk.power_failure(&mut |_| true);
    disk.start_life();
    let file = disk.create("d/a");
    disk.write(file, record(1, 600));
    assert!(disk.pending_choices().iter().all(|choice| !now.contains(choice)), "and none is used again");
}

fn create_directory(disk: &mut Disk, name: &str) {
    disk.does(DiskRequest::CreateDirectory { path: path(name) });
}

fn remove_directory(disk: &mut Disk, name: &str) {
    disk.does(DiskRequest::RemoveDirectory { path: path(name) });
}

/// A disk with the durable file `d/e/a`, removed, and its directory removed: both visibly, neither durably.
fn removed(profile: DiskProfile) -> Disk {
    let mut disk = disk(profile);
    create_directory(&mut disk, "d/e");
    disk.flush_directory("d");
    let file = disk.durable("d/e/a", record(1, 10));
    disk.close(file);
    disk.does(DiskRequest::Remove { path: path("d/e/a") });
    remove_directory(&mut disk, "d/e");
    disk
}

#[test]
fn a_removed_directory_comes_back_with_its_names_unless_its_parent_was_flushed() {
    for profile in BOTH {
        let mut disk = removed(profile);
        assert_eq!(after(&disk, "d/e/a", |_| false), Some(record(1, 10)));
        assert_eq!(after(&disk, "d/e/a", |_| true), None);
        disk.flush_directory("d");
        assert_eq!(certain(&disk, "d/e/a"), Certainty::Certain(Found::Absent));
        assert_eq!((disk.pending_names(), disk.inode_count()), (0, 2), "the root and `d`");
    }
}

#[test]
fn a_directory_created_anew_has_none_of_the_old_one_s_names() {
    for profile in BOTH {
        let mut disk = removed(profile);
        create_directory(&mut disk, "d/e");
        let list = DiskRequest::List { path: path("d/e") };
        assert_eq!(disk.ask(list.clone(), None), Ok(DiskAnswer::Entries(Vec::new())));
        disk.flushed("d/e/b", record(2, 10));
        if profile == DiskProfile::Strict {
            // The old directory may come back, with the old names, and the new one is then lost with the new ones.
            let old_or_absent =
                Certainty::from_found([Found::Generation(1), Found::Absent].into_iter().collect());
            assert_eq!(certain(&disk, "d/e/a"), old_or_absent);
            assert_eq!(after(&disk, "d/e/b", |_| false), None);
        }
        disk.flush_directory("d/e");
        disk.flush_directory("d");
        assert_eq!(certain(&disk, "d/e/a"), Certainty::Certain(Found::Absent));
        assert_eq!(certain(&disk, "d/e/b"), generation(2));
    }
}

#[test]
fn a_lock_on_a_removed_directory_is_none_on_the_new_one() {
    let mut disk = disk(DiskProfile::Strict);
    let lock = DiskRequest::LockDirectory { path: path("d/e") };
    create_directory(&mut disk, "d/e");
    let Ok(DiskAnswer::File(old)) = disk.ask(lock.clone(), None) else { panic!("nobody holds it") };
    remove_directory(&mut disk, "d/e");
    assert_eq!(disk.ask(lock.clone(), None), Err(DiskErrorKind::NotFound));
    create_directory(&mut disk, "d/e");
    disk.does(lock.clone());
    disk.close(old);
    assert_eq!(
        disk.ask(lock, None),
        Err(DiskErrorKind::Locked),
        "the old handle does not close the new lock"
    );
}

#[test]
fn a_directory_whose_flush_failed_is_durable_only_once_it_was_removed_and_created_anew() {
    for profile in BOTH {
        let mut disk = disk(profile);
        create_directory(&mut disk, "d/e");
        let flush = DiskRequest::FlushDirectory { path: path("d") };
        let fault = OpFault::FailedDirectoryFlush { read_only: false };
        assert_eq!(disk.ask(flush, Some(fault)), Err(DiskErrorKind::Io));
        let believed = {
            let mut disk = disk.clone();
            disk.durable("d/e/a", record(1, 10));
            disk.flush_directory("d");
            certain(&disk, "d/e/a")
        };
        assert!(
            matches!(believed, Certainty::Uncertain(_)),
            "{profile:?}: a later flush writes nothing of it"
        );
        remove_directory(&mut disk, "d/e");
        create_directory(&mut disk, "d/e");
        disk.durable("d/e/a", record(1, 10));
        disk.flush_directory("d");
        assert_eq!(certain(&disk, "d/e/a"), generation(1), "{profile:?}");
    }
}
