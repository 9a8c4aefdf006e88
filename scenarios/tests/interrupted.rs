//! Ctrl-C ends every command with what there is so far, the block, and 3: as a process.

use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

fn started(arguments: &[&str]) -> Child {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groundhog"));
    command.args(arguments).stdout(Stdio::piped()).stderr(Stdio::piped());
    command.spawn().expect("the command runs")
}

/// Whether somebody listens for Ctrl-C in this process.
fn listens(id: u32) -> bool {
    let status = std::fs::read_to_string(format!("/proc/{id}/status")).unwrap_or_default();
    let caught = status.lines().find_map(|line| line.strip_prefix("SigCgt:")).unwrap_or_default();
    // SIGINT is the second.
    u64::from_str_radix(caught.trim(), 16).is_ok_and(|mask| mask & 0b10 != 0)
}

fn interrupted(arguments: &[&str]) -> Option<Output> {
    if !Path::new("/proc/self/status").exists() {
        return None;
    }
    let mut child = started(arguments);
    while !listens(child.id()) {
        assert!(child.try_wait().expect("it is a child").is_none(), "{arguments:?} ended before it listened");
        std::thread::sleep(Duration::from_millis(5));
    }
    let killed = Command::new("kill").args(["-INT", &child.id().to_string()]).status();
    assert!(killed.expect("there is a kill").success());
    Some(child.wait_with_output().expect("it ends"))
}

#[test]
fn a_ramp_and_a_bench_that_are_interrupted_end_with_3_and_the_block() {
    for arguments in [
        &["size", "slot-floor"][..],
        &["size", "custody"],
        &["bench", "swarm", "early-release", "--seeds", "1000000"],
        &["bench", "retained", "--repeat", "100"],
    ] {
        let Some(output) = interrupted(arguments) else { return };
        let out = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {out}");
        assert!(out.contains("CUT      interrupted   "), "{arguments:?}: {out}");
        assert!(
            out.contains(&format!("groundhog {} {}", arguments[0], arguments[1])),
            "{arguments:?}: {out}"
        );
    }
}

#[test]
fn interrupted_examinations_are_neither_held_nor_failed() {
    for (arguments, word) in [
        (&["corpus", "--corpus", "corpus"][..], "CUT SHORT "),
        (&["convict", "--no-shrink"], "CUT      0 of 0 examined flaws"),
    ] {
        let Some(output) = interrupted(arguments) else { return };
        let out = String::from_utf8_lossy(&output.stdout);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {out}");
        assert!(
            out.contains(word) && !out.contains("FAILED") && !out.contains("HELD"),
            "{arguments:?}: {out}"
        );
    }
}
