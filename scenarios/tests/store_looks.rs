//! Looking into a store changes nothing and waits for nobody: as a process.

use std::path::Path;
use std::process::{Command, Output};

/// The name of a record.
const RECORD: &str = "abababababababababababababababababababab";

fn store(verb: &str, directory: &Path) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groundhog"));
    command.args(["store", verb]).arg(directory).output().expect("the command runs")
}

fn names(directory: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(directory).expect("a directory");
    entries.map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned()).collect()
}

#[test]
fn a_look_leaves_nothing_behind() {
    let directory = tempfile::tempdir().expect("a directory");
    std::fs::write(directory.path().join(RECORD), "no record").expect("a file");
    for (verb, code) in [("list", 0), ("check", 1)] {
        let output = store(verb, directory.path());
        assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
        assert_eq!(names(directory.path()), [RECORD], "not even the file of a lock is made");
    }
}

#[test]
fn a_pipe_in_the_place_of_a_record_is_a_bad_record_and_is_not_waited_for() {
    let directory = tempfile::tempdir().expect("a directory");
    let pipe = Command::new("mkfifo").arg(directory.path().join(RECORD)).status();
    assert!(pipe.is_ok_and(|status| status.success()));
    for (verb, code) in [("list", 0), ("check", 1)] {
        let output = store(verb, directory.path());
        assert_eq!(output.status.code(), Some(code), "{}", String::from_utf8_lossy(&output.stderr));
        assert!(String::from_utf8_lossy(&output.stdout).contains("unreadable"), "{output:?}");
    }
}

#[test]
fn a_directory_that_may_not_be_read_is_not_said_to_hold_no_store() {
    use std::os::unix::fs::PermissionsExt;
    let directory = tempfile::tempdir().expect("a directory");
    let closed = directory.path().join("closed");
    std::fs::create_dir(&closed).expect("a directory");
    std::fs::set_permissions(&closed, std::fs::Permissions::from_mode(0o000)).expect("it is ours");
    // Whoever may read everything has nothing to be told.
    if std::fs::read_dir(&closed).is_ok() {
        return;
    }
    let output = store("list", &closed);
    let error = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(2), "{error}");
    assert!(error.contains("cannot be looked into") && !error.contains("holds no store"), "{error}");
}
