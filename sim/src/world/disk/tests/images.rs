//! The distinct images of small situations, counted by hand.

use super::*;

/// Names that end with `.tmp` are deleted unread.
fn unread(path: &DiskPath) -> bool {
    path.name().ends_with(".tmp")
}

fn images(disk: &Disk) -> Images {
    let mut disk = disk.clone();
    disk.process_crash();
    disk.images(&unread, 65_536)
}

fn count(disk: &Disk) -> usize {
    let images = images(disk);
    assert!(images.complete);
    images.images.len()
}

/// A temporary of this record, flushed, under a durable name, beside a durable record.
fn with_temporaries(profile: DiskProfile, names: &[&str]) -> Disk {
    let mut disk = disk(profile);
    disk.durable("d/other", record(9, 600));
    for name in names {
        disk.durable(&format!("d/{name}"), record(1, 600));
        disk.durable(&format!("d/{name}.tmp"), record(2, 600));
    }
    disk
}

#[test]
fn two_pending_renames_leave_four_images_and_a_journal_three() {
    for (profile, expected) in [(DiskProfile::Strict, 4), (DiskProfile::Ordered, 3)] {
        let mut disk = with_temporaries(profile, &["a", "b"]);
        assert_eq!(count(&disk), 1);
        disk.rename("d/a.tmp", "d/a");
        disk.rename("d/b.tmp", "d/b");
        assert_eq!(count(&disk), expected, "{profile:?}");
        disk.flush_directory("d");
        assert_eq!(count(&disk), 1);
    }
}

#[test]
fn a_temporarys_torn_sectors_and_its_name_are_one_image() {
    for profile in BOTH {
        let mut disk = with_temporaries(profile, &["a"]);
        for temporary in 0..40 {
            let file = disk.create(&format!("d/{temporary}.tmp"));
            disk.write(file, record(3, 1_500));
        }
        assert!(disk.pending_choices().len() > 40);
        assert_eq!(count(&disk), 1, "{profile:?}");
    }
}

#[test]
fn that_a_directory_holds_temporaries_alone_is_seen_and_how_many_is_not() {
    let mut disk = disk(DiskProfile::Strict);
    for temporary in 0..40 {
        disk.create(&format!("d/{temporary}.tmp"));
    }
    assert_eq!(count(&disk), 2, "some of them, or none");
    disk.create("d/a");
    assert_eq!(count(&disk), 3, "the record with or without them, some of them, none");
    disk.flush_directory("d");
    assert_eq!(count(&disk), 1);
}

#[test]
fn an_unflushed_file_that_is_renamed_leaves_every_torn_content() {
    let mut disk = with_temporaries(DiskProfile::Strict, &["a"]);
    let file = disk.create("d/new.tmp");
    disk.write(file, record(3, 1_100));
    assert_eq!(count(&disk), 1);
    disk.rename("d/new.tmp", "d/a");
    // The old one; without its size the new one is empty, and with it each of three sectors is there or zeros.
    assert_eq!(count(&disk), 1 + 1 + 8);
    let whole = images(&disk).images.into_iter().map(|image| image.survivors.kept.len()).max();
    assert_eq!(whole, Some(6), "two names, a size and three sectors");
}

#[test]
fn a_name_and_the_name_before_it_survive_only_together() {
    let mut disk = with_temporaries(DiskProfile::Strict, &["a"]);
    disk.flushed("d/new.tmp", record(3, 1_100));
    disk.rename("d/new.tmp", "d/a");
    assert_eq!(count(&disk), 2, "old, or new by two survivors of two");
    let kept: Vec<usize> = images(&disk).images.iter().map(|image| image.survivors.kept.len()).collect();
    assert!(kept.contains(&0) && kept.contains(&2), "{kept:?}");
}

#[test]
fn equal_bytes_under_one_name_are_one_image() {
    let mut disk = with_temporaries(DiskProfile::Strict, &[]);
    disk.durable("d/a.p", Bytes::new());
    disk.create("d/a.p.tmp");
    disk.rename("d/a.p.tmp", "d/a.p");
    assert_eq!(disk.pending_choices().len(), 2);
    assert_eq!(count(&disk), 1);
}

#[test]
fn a_bound_that_is_hit_is_told() {
    let mut disk = disk(DiskProfile::Strict);
    for name in 0..12 {
        disk.create(&format!("d/{name}"));
    }
    assert_eq!(count(&disk), 1 << 12);
    let few = disk.clone().images_of_a_dead_life(100);
    assert!(!few.complete && few.images.len() <= 100);
    for name in 12..30 {
        disk.create(&format!("d/{name}"));
    }
    assert!(!disk.images_of_a_dead_life(65_536).complete);
}

trait Dead {
    fn images_of_a_dead_life(&self, most: usize) -> Images;
}

impl Dead for Disk {
    fn images_of_a_dead_life(&self, most: usize) -> Images {
        let mut disk = self.clone();
        disk.process_crash();
        disk.images(&unread, most)
    }
}

#[test]
fn a_state_names_what_is_pending_and_not_how_it_came_about() {
    let pending = |churn: usize, flush: bool| {
        let mut disk = with_temporaries(DiskProfile::Strict, &["a"]);
        for _ in 0..churn {
            disk.create("d/churn.tmp");
            disk.does(DiskRequest::Remove { path: path("d/churn.tmp") });
        }
        disk.rename("d/a.tmp", "d/a");
        if flush {
            disk.flush_directory("d");
        }
        disk.process_crash();
        disk.state(&unread)
    };
    assert_eq!(
        pending(0, false),
        pending(3, false),
        "numbers of operations and inodes differ, and nothing else"
    );
    assert_ne!(pending(0, false), pending(0, true), "a name that could be lost, and one that could not");
    let states: std::collections::BTreeSet<State> =
        [(0, true), (1, true), (2, true)].map(|(churn, flush)| pending(churn, flush)).into();
    assert_eq!(states.len(), 1);
}
