//! The command as a process: what it says, how it ends, and that what it prints works when pasted.

mod common;

use common::{err, fingerprint, groundhog, json, out, pasted, repeat};
use std::path::Path;
use std::process::Output;

/// A scenario so small that a run takes no time.
const SMALL: &[&str] = &["--set", "nodes=4", "--set", "load.bursts=12", "--set", "adversaries.replays=2"];

fn run(target: &str, more: &[&str]) -> Output {
    let arguments: Vec<&str> =
        ["run", target].into_iter().chain(SMALL.iter().copied()).chain(more.iter().copied()).collect();
    groundhog(&arguments)
}

#[test]
fn without_arguments_it_says_what_to_try_first() {
    let output = groundhog(&[]);
    assert_eq!(output.status.code(), Some(0));
    assert!(out(&output).contains("groundhog run crash-mid-batch --seed 7"));
}

#[test]
fn a_wrong_call_ends_with_2_and_names_the_nearest_valid_name() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = |name: &str, text: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, text).expect("a file");
        path.display().to_string()
    };
    let toml = file("wrong.toml", "format = 1\nname = \"x\"\nnodes = 4\n[load]\nburst = 2\n");
    let old = file("old.json", "{\"format\": 7, \"groundhog\": \"9.9.9\"}");
    let no_plan = file("none.json", "{\"nodes\": 3}");
    for (arguments, expected) in [
        (vec!["run", "crash-mid-bach"], "the nearest is `crash-mid-batch`"),
        (vec!["run", "crash-mid-batch", "--flaw", "early-releese"], "the nearest is `early-release`"),
        (vec!["run", "crash-mid-batch", "--set", "load.burst=2"], "the nearest is `load.bursts`"),
        (vec!["run", "crash-mid-batch", "--set", "disk=strickt"], "the nearest is `strict`"),
        (vec!["run", "crash-mid-batch", "--set", "nodes=1"], "expected an integer from 2 to 10000, found 1"),
        (vec!["run", "crash-mid-batch", "--set", "nodes"], "expected key=value"),
        (vec!["run", "crash-mid-batch", "--seeds", "0"], "--seeds"),
        (vec!["run", "crash-mid-batch", "--seed", "1", "--seeds", "2"], "cannot be used with"),
        (vec!["run", "crash-mid-batch", "--for", "10"], "such as 10m"),
        (vec!["run", toml.as_str()], "wrong.toml:5: load.burst: no such key; the nearest is `load.bursts`"),
        (vec!["run", old.as_str()], "the plan has format 7, and this build reads format 1"),
        (vec!["run", no_plan.as_str()], "no number under \"format\""),
        (vec!["run", "/nowhere/at/all.json"], "cannot be read"),
        (vec!["explain", "streams/at-most-onse"], "the nearest is `streams/at-most-once`"),
        (vec!["replay", "crash-mid-batch"], "is no plan"),
        (vec!["list", "marx"], "marks"),
    ] {
        let output = groundhog(&arguments);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", err(&output));
        assert!(err(&output).contains(expected), "{arguments:?}: {}", err(&output));
        assert_eq!(out(&output), "", "{arguments:?}");
    }
}

#[test]
fn an_unwritable_folder_is_found_before_the_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let file = folder.path().join("file");
    std::fs::write(&file, "in the way").expect("a file");
    let below = file.join("out").display().to_string();
    let output = run("crash-mid-batch", &["--seed", "1", "--out", &below]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("--out"), "{}", err(&output));
    assert_eq!(out(&output), "");
    assert_eq!(std::fs::read(&file).expect("it is still there"), b"in the way");
}

#[test]
fn one_seed_has_one_fingerprint_however_it_is_run() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path().display().to_string();
    let first = run("crash-mid-batch", &["--seed", "3", "--out", &at]);
    let again = run("crash-mid-batch", &["--seed", "3", "--jobs", "2", "--check"]);
    assert_eq!(fingerprint(&first), fingerprint(&again));
    let plan = folder.path().join("plan.json").display().to_string();
    let written = groundhog(&["run", &plan]);
    let replayed = groundhog(&["replay", &plan, "--all"]);
    assert_eq!(fingerprint(&first), fingerprint(&written));
    assert_eq!(fingerprint(&first), fingerprint(&replayed));
    assert!(out(&replayed).lines().count() > 100);
    assert_ne!(fingerprint(&first), fingerprint(&run("crash-mid-batch", &["--seed", "4"])));
}

#[test]
fn many_seeds_give_one_combined_fingerprint_for_any_number_of_jobs() {
    let series = |jobs| run("lane-interleaving", &["--seeds", "6", "--from", "2", "--jobs", jobs]);
    let (one, three) = (series("1"), series("3"));
    assert_eq!(fingerprint(&one), fingerprint(&three));
    assert_eq!(one.status.code(), three.status.code());
}

#[test]
fn a_report_is_whole_and_nothing_else_is_left() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path().display().to_string();
    run("skewed-clocks", &["--seed", "1", "--out", &at]);
    let mut names: Vec<String> = std::fs::read_dir(folder.path())
        .expect("a folder")
        .map(|entry| entry.expect("an entry").file_name().to_string_lossy().into_owned())
        .collect();
    names.sort();
    for name in ["plan.json", "report.html", "summary.json"] {
        assert!(names.iter().any(|found| found == name), "{names:?}");
    }
    assert!(
        names.iter().all(|name| Path::new(name).extension().is_some_and(|kind| kind != "tmp")),
        "{names:?}"
    );
}

#[test]
fn json_is_one_document_and_lists_name_everything() {
    let output = run("crash-mid-batch", &["--seed", "2", "--json"]);
    assert_eq!(json(&output)["scenario"], "crash-mid-batch");
    let listed = json(&groundhog(&["list", "--json"]));
    assert!(listed["scenarios"].as_array().is_some_and(|scenarios| scenarios.len() >= 3));
}

/// Switches on what breaks a law in every seed that restarts a sender, and pastes what is printed.
#[test]
fn the_command_of_the_failure_block_repeats_the_failure_when_pasted() {
    let first = groundhog(&[
        "run",
        "crash-mid-batch",
        "--seeds",
        "6",
        "--flaw",
        "early-release",
        "--set",
        "load.copies={ min = 1, max = 2 }",
        "--no-shrink",
    ]);
    assert_eq!(first.status.code(), Some(1), "{}", out(&first));
    let text = out(&first);
    assert!(!text.contains("shrunk"), "{text}");
    let failed = common::block(&text).into_iter().rfind(|line| line.starts_with("FAILED   "));
    let law = failed.and_then(|line| line.split_whitespace().nth(1)).unwrap_or_else(|| panic!("{text}"));
    let again = pasted(repeat(&text));
    assert_eq!(again.status.code(), Some(1), "{}: {}", repeat(&text), err(&again));
    assert!(out(&again).contains(&format!("FAILED   {law}")), "{}", out(&again));
}

#[test]
fn a_poll_budget_ends_a_run_with_3_and_the_block() {
    let output = run("crash-mid-batch", &["--seed", "1", "--max-polls", "50"]);
    assert_eq!(output.status.code(), Some(3), "{}{}", out(&output), err(&output));
    let text = out(&output);
    assert!(text.contains("CUT      polls") && text.contains("--max-polls 50"), "{text}");
}

#[test]
fn a_watchdog_and_a_memory_bound_end_the_command_with_3_and_the_block() {
    for (bound, word) in
        [(["--watchdog", "1ms"], "CUT      real time"), (["--max-memory", "1"], "CUT      memory")]
    {
        let more = [&["--seeds", "100000", "--jobs", "1"], &bound[..]].concat();
        let output = run("lane-interleaving", &more);
        assert_eq!(output.status.code(), Some(3), "{}{}", out(&output), err(&output));
        assert!(out(&output).contains(word), "{}", out(&output));
    }
}

#[test]
fn a_time_budget_runs_seeds_until_it_is_over() {
    let output = run("crash-mid-batch", &["--for", "300ms"]);
    assert!(matches!(output.status.code(), Some(0 | 1)), "{}", err(&output));
    fingerprint(&output);
}
