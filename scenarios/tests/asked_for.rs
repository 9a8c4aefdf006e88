//! What a user asks for and cannot be, or comes to nothing, is told as that: as a process.

use std::path::Path;
use std::process::{Command, Output};

fn groundhog(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groundhog"));
    command.current_dir(folder).args(arguments).output().expect("the command runs")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

fn err(output: &Output) -> String {
    String::from_utf8_lossy(&output.stderr).into_owned()
}

/// The call ends with 2, says this, and prints nothing else.
fn refused(folder: &Path, arguments: &[&str], expected: &str) {
    let output = groundhog(folder, arguments);
    assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}{}", out(&output), err(&output));
    assert!(err(&output).contains(expected), "{arguments:?}: {}", err(&output));
    assert_eq!(out(&output), "", "{arguments:?}");
}

#[test]
fn a_setting_that_makes_a_plan_impossible_is_named_by_every_command() {
    let folder = tempfile::tempdir().expect("a folder");
    let latency = ["chunked-transfers", "--set", "links.latency_us=1000000000"];
    for command in ["run", "plan", "sweep"] {
        refused(
            folder.path(),
            &[&[command], &latency[..]].concat(),
            "--set links.latency_us=1000000000 gives",
        );
    }
    refused(
        folder.path(),
        &[&["run"], &latency[..], &["--seeds", "4", "--json"]].concat(),
        "gives a plan that",
    );
}

#[test]
fn what_comes_to_nothing_is_refused_and_never_held() {
    let folder = tempfile::tempdir().expect("a folder");
    for (arguments, expected) in [
        (vec!["sweep", "group-commit", "--depth", "0", "--from", "100"], "has no crash point from 100"),
        (vec!["sweep", "group-commit", "--from", "1", "--until", "0"], "has no crash point"),
        (vec!["run", "crash-mid-batch", "--from", "18446744073709551614", "--seeds", "5"], "there are 2"),
        (vec!["convict", "early-release", "--from", "18446744073709551614"], "from there on there are 2"),
        (vec!["nightly", "--corpus", "/proc/zz"], "--corpus: "),
    ] {
        refused(folder.path(), &arguments, expected);
    }
}

#[test]
fn a_pipe_or_a_device_is_no_plan() {
    let folder = tempfile::tempdir().expect("a folder");
    let pipe = folder.path().join("pipe.json");
    assert!(Command::new("mkfifo").arg(&pipe).status().is_ok_and(|status| status.success()));
    refused(folder.path(), &["run", "pipe.json"], "it is no regular file");
    std::os::unix::fs::symlink("/dev/zero", folder.path().join("zero.toml")).expect("a link");
    refused(folder.path(), &["run", "zero.toml"], "it is no regular file");
    refused(folder.path(), &["run", "/dev/zero"], "neither a scenario");
}

#[test]
fn a_kept_plan_that_vanished_is_missed() {
    let folder = tempfile::tempdir().expect("a folder");
    let kept = folder.path().join("kept");
    std::fs::create_dir(&kept).expect("a folder");
    std::fs::write(kept.join("two.toml"), "format = 1\n").expect("a file");
    refused(folder.path(), &["corpus", "--corpus", "kept"], "put kept/two.json back");
}

#[test]
fn every_scenario_gets_a_seed_and_missing_kept_plans_are_told() {
    let folder = tempfile::tempdir().expect("a folder");
    // Few polls cut every run short: what counts here is which there are.
    let output = groundhog(folder.path(), &["run", "all", "--seeds", "1", "--max-polls", "2000", "--json"]);
    let summary: serde_json::Value = serde_json::from_slice(&output.stdout).expect("JSON");
    let scenarios = summary["scenarios"].as_array().expect("scenarios");
    assert!(scenarios.len() > 20 && scenarios.iter().all(|scenario| scenario["seeds"] == 1), "{summary:#}");
    let output = groundhog(folder.path(), &["run", "all", "--seeds", "1", "--max-polls", "2000"]);
    assert!(out(&output).starts_with("NONE         no plan is kept in scenarios/corpus"), "{}", out(&output));
    assert!(out(&output).contains("takes 100 of 1,000 seeds, and at least one,"), "{}", out(&output));
    assert!(out(&output).contains("(unexplained: under way when a run was cut short"), "{}", out(&output));
}

#[test]
fn a_flaw_is_explained_with_its_law_and_a_command_that_a_run_elsewhere_hints_at() {
    let folder = tempfile::tempdir().expect("a folder");
    let explained = groundhog(folder.path(), &["explain", "keyed-by-delegatee"]);
    let command = "groundhog run skewed-clocks --flaw keyed-by-delegatee --seeds 200";
    for expected in ["law          streams/one-digest", "scenario     skewed-clocks", command] {
        assert!(out(&explained).contains(expected), "{}", out(&explained));
    }
    let small = ["--set", "nodes=4", "--set", "load.bursts=4", "--seed", "0"];
    let other = [&["run", "lane-interleaving", "--flaw", "never-retired"], &small[..]].concat();
    let held = groundhog(folder.path(), &other);
    assert_eq!(held.status.code(), Some(0), "{}", out(&held));
    assert!(out(&held).contains("run retirement --flaw never-retired --seeds 200"), "{}", out(&held));
}

#[test]
fn words_of_a_summary_are_explained_and_a_part_of_a_name_finds_it() {
    let folder = tempfile::tempdir().expect("a folder");
    for (word, expected) in [
        ("power-failure", "death power-failure"),
        ("receiver-crash", "cause of loss receiver-crash"),
        ("advance", "verdict advance"),
        ("persistence", "refusal persistence"),
        ("partition", "fault partition"),
        ("no-space", "Times in which a disk has no space."),
    ] {
        let output = groundhog(folder.path(), &["explain", word]);
        assert_eq!(output.status.code(), Some(0), "{word}: {}", err(&output));
        assert!(out(&output).contains(expected), "{word}: {}", out(&output));
    }
    for (typed, nearest) in [("custody", "custody-stall"), ("conservation", "streams/conservation")] {
        let output = groundhog(folder.path(), &["explain", typed]);
        if output.status.code() != Some(0) {
            assert!(err(&output).contains(nearest) || err(&output).contains("custody"), "{}", err(&output));
        }
    }
}
