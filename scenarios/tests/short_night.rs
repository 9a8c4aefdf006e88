//! A night that was too short for its parts says so, and is neither held nor failed: as a process.

use std::process::Command;

#[test]
fn what_a_night_had_no_time_for_is_neither_held_nor_failed() {
    let folder = tempfile::tempdir().expect("a folder");
    let mut command = Command::new(env!("CARGO_BIN_EXE_groundhog"));
    command.current_dir(folder.path()).args(["nightly", "--for", "1ms", "--from", "5", "--corpus", "kept"]);
    let output = command.output().expect("the command runs");
    let out = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(3), "{out}");
    for expected in [
        "CUT SHORT 0 of 0 flaws convicted",
        "by the laws named for them, no time for",
        "CUT      convictions   no time for",
        "CUT      fresh seeds   no time for any",
        "NONE 0 of 0 seeds held",
    ] {
        // Wrapped wherever the width has it.
        let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words(&out).contains(&words(expected)), "{expected}: {out}");
    }
    assert!(!out.contains("FAILED"), "{out}");
}
