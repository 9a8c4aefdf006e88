//! The plans that come along for `groundhog sweep` do what they are for, and hold at every crash point.

use serde_json::Value;
use std::process::Command;

fn json(arguments: &[&str]) -> Value {
    let folder = tempfile::tempdir().expect("a folder");
    let output = Command::new(env!("CARGO_BIN_EXE_groundhog"))
        .args(arguments)
        .arg("--json")
        .current_dir(folder.path())
        .output()
        .expect("the command runs");
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {text}");
    serde_json::from_str(&text).unwrap_or_else(|error| panic!("{error}: {text}"))
}

#[test]
fn a_retirement_batch_retires_three_streams_and_they_begin_again() {
    let run = json(&["run", "retirement-batch"]);
    let text = run.to_string();
    for part in ["\"stream/retired\":3", "\"retirement/began-again\":3"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_custody_take_takes_one_mail_and_leaves_two() {
    let text = json(&["run", "custody-take"]).to_string();
    for part in ["\"taken\":1", "\"held\":3"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn both_hold_at_every_crash_point_of_the_node_that_admits() {
    for (plan, node) in [("retirement-batch", "1"), ("custody-take", "0")] {
        json(&["sweep", plan, "--depth", "0", "--node", node]);
    }
}
