//! What a flush makes durable, and what it does not.

use super::*;

#[test]
fn a_file_flush_makes_bytes_and_size_durable_but_not_the_name() {
    let mut disk = disk(DiskProfile::Strict);
    disk.flushed("d/a", record(1, 1_300));
    assert_eq!(after(&disk, "d/a", is_name), Some(record(1, 1_300)));
    assert_eq!(after(&disk, "d/a", |_| false), None);
}

#[test]
fn a_directory_flush_makes_the_name_durable_but_not_the_bytes() {
    for profile in BOTH {
        let mut disk = disk(profile);
        let file = disk.create("d/a");
        disk.write(file, record(1, 1_300));
        disk.flush_directory("d");
        assert_eq!(after(&disk, "d/a", |_| false), Some(Bytes::new()), "{profile:?}: often empty");
        assert_eq!(after(&disk, "d/a", |_| true), Some(record(1, 1_300)));
    }
}

#[test]
fn any_flush_commits_earlier_names_in_ordered_alone() {
    let survives = |profile| {
        let mut disk = disk(profile);
        disk.create("d/a");
        disk.flushed("d/b", record(2, 10));
        after(&disk, "d/a", |_| false).is_some()
    };
    assert!(!survives(DiskProfile::Strict));
    assert!(survives(DiskProfile::Ordered));
}

#[test]
fn a_flush_of_one_directory_leaves_another_s_names_to_chance_in_strict_alone() {
    for profile in BOTH {
        let mut disk = disk(profile);
        disk.durable("a", record(1, 10));
        disk.create("d/b");
        disk.flush_directory("");
        assert_eq!(after(&disk, "d/b", |_| false).is_some(), profile == DiskProfile::Ordered);
    }
}

#[test]
fn a_size_without_its_data_reads_as_zeros_or_old_bytes_in_strict_alone() {
    let mut disk = disk(DiskProfile::Strict);
    let file = disk.durable("d/a", record(1, 600));
    disk.does(DiskRequest::Write { file, offset: 0, bytes: record(2, 1_200) });
    let only_size = after(&disk, "d/a", |choice| matches!(choice, Choice::Size { .. })).expect("it is there");
    assert_eq!((&only_size[..600], &only_size[600..]), (&record(1, 600)[..], &[0; 600][..]));

    let mut disk = super::disk(DiskProfile::Ordered);
    let file = disk.durable("d/a", record(1, 600));
    disk.does(DiskRequest::Write { file, offset: 0, bytes: record(2, 1_200) });
    assert_eq!(
        after(&disk, "d/a", |choice| matches!(choice, Choice::Size { .. })),
        Some(record(2, 1_200)),
        "a size never precedes its data"
    );
}

#[test]
fn each_sector_survives_by_itself() {
    for profile in BOTH {
        let mut disk = disk(profile);
        let file = disk.durable("d/a", record(1, 1_024));
        disk.write(file, record(2, 1_024));
        let torn = after(&disk, "d/a", |choice| matches!(choice, Choice::Sector { sector: 1, .. }));
        let torn = torn.expect("it is there");
        assert_eq!((torn[0], torn[511], torn[512], torn[1_023]), (1, 1, 2, 2));
    }
}

#[test]
fn a_truncated_file_may_be_empty_old_or_new() {
    let mut disk = disk(DiskProfile::Strict);
    disk.durable("d/a", record(1, 20));
    let file = disk.create("d/a");
    disk.write(file, record(2, 20));
    let contents = disk.surviving(&path("d/a"));
    for expected in [Bytes::new(), record(1, 20), record(2, 20), Bytes::from_static(&[0; 20])] {
        assert!(contents.contains(&Some(Some(expected.clone()))), "{expected:?} survives");
    }
}

#[test]
fn a_rename_over_a_name_leaves_the_old_or_the_new_file_and_never_neither() {
    for profile in BOTH {
        let mut disk = disk(profile);
        disk.durable("d/a", record(1, 600));
        disk.flushed("d/t", record(2, 600));
        disk.rename("d/t", "d/a");
        let mut survivors = disk.surviving(&path("d/a"));
        survivors.sort();
        assert_eq!(survivors, [Some(Some(record(1, 600))), Some(Some(record(2, 600)))]);
        disk.flush_directory("d");
        assert_eq!(certain(&disk, "d/a"), generation(2));
        assert_eq!(certain(&disk, "d/t"), Certainty::Certain(Found::Absent));
    }
}

#[test]
fn a_rename_over_a_file_writes_its_data_first_in_ordered_and_one_onto_a_free_name_does_not() {
    let unflushed = |profile, over: bool| {
        let mut disk = disk(profile);
        if over {
            disk.durable("d/a", record(1, 600));
        }
        let file = disk.create("d/t");
        disk.write(file, record(2, 600));
        disk.rename("d/t", "d/a");
        after(&disk, "d/a", is_name).expect("the rename survives")
    };
    assert_eq!(unflushed(DiskProfile::Ordered, true), record(2, 600));
    assert_eq!(unflushed(DiskProfile::Ordered, false), Bytes::new());
    assert_eq!(unflushed(DiskProfile::Strict, true), Bytes::new());
}

#[test]
fn a_missing_directory_flush_can_lose_the_name() {
    for profile in BOTH {
        let mut disk = disk(profile);
        disk.flushed("d/t", record(1, 600));
        disk.rename("d/t", "d/a");
        let Certainty::Uncertain(found) = certain(&disk, "d/a") else { panic!("the name is unflushed") };
        assert_eq!(found[..], [Found::Absent, Found::Generation(1)]);
    }
}

#[test]
fn an_unflushed_ancestor_takes_everything_below_it_along() {
    let mut disk = disk(DiskProfile::Strict);
    disk.does(DiskRequest::CreateDirectory { path: path("d/e") });
    disk.does(DiskRequest::CreateDirectory { path: path("d/e/f") });
    disk.durable("d/e/f/a", record(1, 600));
    let count = disk.inode_count();
    assert!(matches!(certain(&disk, "d/e/f/a"), Certainty::Uncertain(_)));
    disk.flush_directory("d/e");
    assert!(matches!(certain(&disk, "d/e/f/a"), Certainty::Uncertain(_)));
    let mut lost = disk.clone();
    lost.power_failure(&mut |_| false);
    assert_eq!((lost.visible(&path("d/e/f/a")), lost.inode_count()), (None, count - 3));
    lost.start_life();
    lost.does(DiskRequest::CreateDirectory { path: path("d/e") });
    disk.flush_directory("d");
    assert_eq!(certain(&disk, "d/e/f/a"), generation(1));
    assert_eq!(after(&disk, "d/e/f/a", |_| false), Some(record(1, 600)));
}

#[test]
fn ordered_never_keeps_a_later_name_change_after_losing_an_earlier_one() {
    let mut disk = disk(DiskProfile::Ordered);
    disk.create("d/a");
    let first = disk.operations();
    disk.create("d/b");
    let not_the_first = |choice| choice != Choice::Name { operation: first };
    assert_eq!(after(&disk, "d/b", not_the_first), None);
    let mut disk = super::disk(DiskProfile::Strict);
    disk.create("d/a");
    disk.create("d/b");
    assert_eq!(after(&disk, "d/b", not_the_first), Some(Bytes::new()));
}

#[test]
fn a_change_whose_premise_was_lost_does_nothing() {
    let mut disk = disk(DiskProfile::Strict);
    disk.durable("d/a", record(1, 10));
    disk.flushed("d/t", record(2, 10));
    let creation = disk.operations() - 2;
    disk.rename("d/t", "d/a");
    let survivor = after(&disk, "d/a", |choice| choice != Choice::Name { operation: creation });
    assert_eq!(survivor, Some(record(1, 10)));
}

#[test]
fn a_rename_between_directories_is_durable_once_either_is_flushed() {
    for flushed in ["", "d"] {
        let mut disk = disk(DiskProfile::Strict);
        disk.flushed("d/t", record(1, 10));
        disk.rename("d/t", "a");
        disk.flush_directory(flushed);
        assert_eq!(certain(&disk, "a"), generation(1));
        assert_eq!(certain(&disk, "d/t"), Certainty::Certain(Found::Absent));
        assert_eq!(disk.pending_names(), 0);
    }
}

#[test]
fn a_file_that_moved_on_has_one_name_once_its_last_is_durable() {
    let mut disk = disk(DiskProfile::Strict);
    disk.does(DiskRequest::CreateDirectory { path: path("e") });
    disk.flush_directory("");
    disk.durable("d/a", record(1, 10));
    for (from, to) in [("d/a", "d/b"), ("d/b", "e/x"), ("e/x", "d/b")] {
        disk.rename(from, to);
    }
    disk.flush_directory("e");
    assert_eq!(certain(&disk, "d/b"), generation(1));
    assert_eq!(certain(&disk, "d/a"), Certainty::Certain(Found::Absent));
}

#[test]
fn write_back_brings_along_what_it_depends_on() {
    let mut disk = disk(DiskProfile::Strict);
    disk.durable("d/a", record(1, 10));
    disk.does(DiskRequest::Remove { path: path("d/a") });
    disk.create("d/a");
    let creation = disk.operations();
    disk.write_back(&mut |choice| choice == Choice::Name { operation: creation });
    assert_eq!(certain(&disk, "d/a"), Certainty::Certain(Found::Torn));
}

#[test]
fn write_back_makes_durable_what_it_names_and_nothing_else() {
    for profile in BOTH {
        let mut disk = disk(profile);
        disk.create("d/a");
        let first = disk.operations();
        disk.create("d/b");
        disk.write_back(&mut |choice| choice == Choice::Name { operation: first });
        assert_eq!(certain(&disk, "d/a"), Certainty::Certain(Found::Torn));
        assert!(matches!(certain(&disk, "d/b"), Certainty::Uncertain(_)));
        disk.write_back(&mut |_| true);
        assert!(disk.pending_choices().is_empty());
        assert_eq!(after(&disk, "d/b", |_| false), Some(Bytes::new()));
    }
}
