//! What a command does with files and an output that it cannot write, and with files that are not its own: as a process.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Output, Stdio};

/// A scenario so small that a run takes no time.
const SMALL: &[&str] = &["--set", "nodes=4", "--set", "load.bursts=12", "--no-shrink"];

fn run(folder: &Path, more: &[&str]) -> Output {
    groundhog(folder, &[&["run", "crash-mid-batch"], SMALL, more].concat())
}

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

fn text(path: &Path) -> String {
    std::fs::read_to_string(path).expect("a file")
}

/// A seed that a flaw shows in, and the flaw.
const BROKEN: &[&str] = &["--seed", "0", "--flaw", "early-release"];

#[test]
fn files_that_cannot_be_written_take_no_verdict_away() {
    for (series, code) in
        [(BROKEN, 1), (&["--seeds", "3", "--flaw", "early-release"], 1), (&["--seed", "0"], 2)]
    {
        let folder = tempfile::tempdir().expect("a folder");
        // Found only when the report is written: which latencies there are is not known before.
        for name in ["latency-control.hgrm", "crash-mid-batch-latency-control.hgrm"] {
            std::fs::create_dir_all(folder.path().join("out").join(name)).expect("a folder");
        }
        let output = run(folder.path(), &[series, &["--out", "out"]].concat());
        assert_eq!(output.status.code(), Some(code), "{}{}", out(&output), err(&output));
        assert!(err(&output).contains("not written: "), "{}", err(&output));
        let verdict = if code == 1 { "FAILED" } else { "HELD" };
        assert!(out(&output).starts_with(verdict), "{}", out(&output));
        assert!(!folder.path().join("out/summary.json").exists(), "all of a report or nothing");
        let output = run(folder.path(), &[series, &["--out", "out", "--json"]].concat());
        assert_eq!(output.status.code(), Some(code), "{}", err(&output));
        serde_json::from_slice::<serde_json::Value>(&output.stdout).expect("JSON");
    }
}

#[test]
fn an_output_that_is_full_hides_no_broken_law_and_is_no_success() {
    let folder = tempfile::tempdir().expect("a folder");
    for (series, code) in [(BROKEN, 1), (&["--seed", "0"], 3)] {
        let Ok(full) = File::options().write(true).open("/dev/full") else { return };
        let mut command = Command::new(env!("CARGO_BIN_EXE_groundhog"));
        command.current_dir(folder.path()).args(["run", "crash-mid-batch"]).args(SMALL).args(series);
        let output = command.stdout(Stdio::from(full)).output().expect("the command runs");
        assert_eq!(output.status.code(), Some(code), "{}", err(&output));
        assert!(err(&output).starts_with("error: the output cannot be written"), "{}", err(&output));
        assert_eq!(
            err(&output).contains("FAILED   "),
            code == 1,
            "the block is told all the same: {}",
            err(&output)
        );
    }
}

#[test]
fn files_of_somebody_else_are_neither_replaced_nor_removed() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = folder.path().join("plan.json");
    std::fs::write(&plan, "mine").expect("a file");
    let many = run(folder.path(), &["--seeds", "2", "--out", "."]);
    assert_eq!((many.status.code(), text(&plan).as_str()), (Some(0), "mine"), "{}", err(&many));
    let one = run(folder.path(), &["--seed", "0", "--out", "."]);
    assert_eq!((one.status.code(), text(&plan).as_str()), (Some(2), "mine"));
    assert!(err(&one).contains("plan.json was not written by groundhog"), "{}", err(&one));
    assert_eq!(out(&one), "", "it is found before the run");
    std::fs::remove_file(&plan).expect("it was there");
    assert_eq!(run(folder.path(), &["--seed", "0", "--out", "."]).status.code(), Some(0));
    assert_eq!(
        run(folder.path(), &["--seed", "1", "--out", "."]).status.code(),
        Some(0),
        "its own it replaces"
    );
}

#[test]
fn two_commands_do_not_write_into_one_folder_at_a_time() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path().join("out");
    std::fs::create_dir(&at).expect("a folder");
    let held = File::open(&at).expect("a folder");
    held.try_lock().expect("nobody else holds it");
    let refused = run(folder.path(), &["--seed", "0", "--out", "out"]);
    assert_eq!(refused.status.code(), Some(2), "{}", err(&refused));
    assert!(err(&refused).contains("another groundhog is writing into out"), "{}", err(&refused));
    drop(held);
    assert_eq!(run(folder.path(), &["--seed", "0", "--out", "out"]).status.code(), Some(0));
}

#[test]
fn a_plan_is_shrunk_for_the_law_that_it_was_shrunk_for_and_never_onto_itself() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = groundhog(
        folder.path(),
        &[&["plan", "crash-mid-batch", "--seed", "0", "--flaw", "early-release"], &SMALL[..4]].concat(),
    );
    std::fs::write(folder.path().join("plan.json"), &plan.stdout).expect("a file");
    let itself = groundhog(folder.path(), &["shrink", "plan.json", "--out", "./plan.json"]);
    assert_eq!(itself.status.code(), Some(2), "{}", out(&itself));
    assert!(err(&itself).contains("is the plan itself"), "{}", err(&itself));
    assert_eq!(std::fs::read(folder.path().join("plan.json")).expect("it is there"), plan.stdout);
    // The law that stands beside it, and not the first that breaks.
    let all = groundhog(folder.path(), &["run", "plan.json", "--json", "--no-shrink"]);
    let summary: serde_json::Value = serde_json::from_slice(&all.stdout).expect("JSON");
    let listed = summary["violations_listed"].as_array().expect("violations");
    let laws: Vec<&str> = listed.iter().filter_map(|broken| broken["law"].as_str()).collect();
    let other = laws.iter().find(|law| **law != laws[0]).expect("the flaw breaks two laws");
    std::fs::write(folder.path().join("plan.txt"), format!("{other}\n  said before\n")).expect("a file");
    let small = groundhog(folder.path(), &["shrink", "plan.json", "--for", "1ms", "--json"]);
    let small: serde_json::Value = serde_json::from_slice(&small.stdout).expect("JSON");
    assert_eq!(small["law"], **other);
}
