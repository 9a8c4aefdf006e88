//! Shrinking as a process: what a failure is cut down to, by which law it fails, and what is written where.

mod common;

use common::{
    INTERRUPT, command, err, groundhog_in, json, out, pasted_in, repeat, send, wait_until_it_listens,
};
use serde_json::Value;
use std::path::Path;
use std::process::Stdio;

/// A scenario small enough to be shrunk in no time, and a flaw that breaks a law in its first seed.
const FAILING: &[&str] = &[
    "crash-mid-batch",
    "--seed",
    "0",
    "--flaw",
    "early-release",
    "--set",
    "nodes=8",
    "--set",
    "crypto=keyed-hash",
];

fn plan_of(path: &Path) -> Value {
    let text = std::fs::read_to_string(path).unwrap_or_else(|error| panic!("{}: {error}", path.display()));
    serde_json::from_str(&text).expect("a plan is JSON")
}

fn items(plan: &Value) -> usize {
    ["actions", "faults"].iter().map(|list| plan[list].as_array().map_or(0, Vec::len)).sum()
}

/// Writes the failing plan into a folder, changed by `more` settings.
fn failing_plan(folder: &Path, more: &[&str]) {
    let output = groundhog_in(folder, &[&["plan"], FAILING, more].concat());
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    std::fs::write(folder.join("plan.json"), output.stdout).expect("a file");
}

/// The laws of a failure block, each with what it was shrunk to.
fn shrunk_lines(text: &str) -> Vec<(String, String)> {
    let mut law = "";
    let mut pairs = Vec::new();
    for line in text.lines() {
        if let Some(failed) = line.strip_prefix("FAILED   ") {
            law = failed.split_whitespace().next().unwrap_or_default();
        } else if let Some(shrunk) = line.strip_prefix("  shrunk   ") {
            pairs.push((law.to_owned(), shrunk.to_owned()));
        }
    }
    pairs
}

#[test]
fn every_law_that_a_run_broke_is_shrunk_to_a_small_plan_that_breaks_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = groundhog_in(folder.path(), &[&["run"], FAILING, &["--laws", "outcome"]].concat());
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    let text = out(&output);
    let shrunk = shrunk_lines(&text);
    let done = shrunk.iter().filter(|(_, line)| line.contains(" -> ")).count();
    assert_eq!(done, 5.min(shrunk.len()), "the first five laws: {text}");
    assert!(done >= 1, "{text}");
    assert_eq!(output.stderr, b"", "no progress without a terminal");
    let last = text.lines().next_back().unwrap_or_default();
    assert!(last.starts_with("  repeat   ") && last.contains("run crash-mid-batch --seed 0"), "{last}");
    let written = folder.path().join("out/crash-mid-batch-0");
    assert!(items(&plan_of(&written.join("plan.json"))) > 20, "the plan that failed lies beside it");
    for (law, line) in shrunk {
        if let Some(how) = line.strip_prefix("not yet: ") {
            let expected = format!("shrink out/crash-mid-batch-0/plan.json --law {law}");
            assert!(how.ends_with(&expected), "{how}");
            continue;
        }
        let path = line.split_whitespace().next_back().unwrap_or_default();
        assert!(path.starts_with("out/crash-mid-batch-0/shrunk") && line.contains(" -> "), "{line}");
        let path = folder.path().join(path);
        let small = plan_of(&path);
        assert!(items(&small) <= 5 && small["nodes"].as_array().is_some_and(|nodes| nodes.len() <= 3));
        let told = std::fs::read_to_string(path.with_extension("txt")).expect("its timeline");
        assert!(told.starts_with(&format!("{law}\n")) && told.contains("What is left of"), "{told}");
        let again = groundhog_in(folder.path(), &["run", &path.display().to_string(), "--no-shrink"]);
        assert_eq!(again.status.code(), Some(1));
        assert!(out(&again).contains(&format!("FAILED   {law} ")), "{law}: {}", out(&again));
    }
}

#[test]
fn nothing_is_shrunk_or_written_where_nobody_wants_it() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = groundhog_in(folder.path(), &[&["run"], FAILING, &["--no-shrink"]].concat());
    assert_eq!(output.status.code(), Some(1));
    let text = out(&output);
    assert_eq!(shrunk_lines(&text), []);
    assert!(text.lines().next_back().is_some_and(|last| last.ends_with("--no-shrink")), "{text}");
    assert_eq!(std::fs::read_dir(folder.path()).expect("a folder").count(), 0);
}

#[test]
fn a_plan_is_shrunk_beside_itself_and_what_comes_out_depends_on_no_core() {
    let folder = tempfile::tempdir().expect("a folder");
    failing_plan(folder.path(), &[]);
    let law = "streams/old-or-new";
    let shrink =
        |more: &[&str]| groundhog_in(folder.path(), &[&["shrink", "plan.json", "--law", law], more].concat());
    let output = shrink(&["--jobs", "1"]);
    assert_eq!(output.status.code(), Some(1), "{}", err(&output));
    let text = out(&output);
    assert!(text.contains("Nothing more can be left out"), "{text}");
    assert!(text.contains("The same plan without early-release holds."), "{text}");
    let sentences = text.lines().filter(|line| line.starts_with("  at ")).count();
    assert!(sentences >= 1, "{text}");
    assert!(common::block(&text)[0].starts_with(&format!("FAILED   {law} ")), "{text}");
    let line = repeat(&text);
    assert!(line.ends_with("run plan-shrunk.json"), "{line}");
    let again = pasted_in(folder.path(), &format!("{line} --no-shrink"));
    assert_eq!(again.status.code(), Some(1), "{line}: {}", err(&again));
    assert!(out(&again).contains(&format!("FAILED   {law} ")), "{}", out(&again));

    let as_json = shrink(&["--jobs", "3", "--out", "other/small.json", "--json"]);
    assert_eq!(as_json.status.code(), Some(1), "{}", err(&as_json));
    let read = |name: &str| std::fs::read_to_string(folder.path().join(name)).expect("a file");
    assert_eq!(read("plan-shrunk.json"), read("other/small.json"));
    assert_eq!(read("plan-shrunk.txt"), read("other/small.txt"));
    let told = json(&as_json);
    assert_eq!((&told["law"], &told["plan"]), (&law.into(), &"other/small.json".into()));
    assert_eq!((&told["one_minimal"], &told["holds_without_flaws"]), (&true.into(), &true.into()));
    assert!(told["from"]["actions"].as_u64() > told["to"]["actions"].as_u64(), "{told}");
    assert_eq!(
        told["words"].as_array().map(Vec::len),
        Some(items(&plan_of(&folder.path().join("other/small.json"))))
    );

    let again = groundhog_in(folder.path(), &["shrink", "plan-shrunk.json", "--law", law]);
    assert_eq!(again.status.code(), Some(1));
    assert!(out(&again).starts_with("nothing can be left out"), "{}", out(&again));
}

#[test]
fn a_deadline_and_an_interrupt_leave_a_plan_that_still_fails() {
    let folder = tempfile::tempdir().expect("a folder");
    failing_plan(folder.path(), &[]);
    let law = ["--law", "streams/old-or-new"];
    let cut = groundhog_in(folder.path(), &[&["shrink", "plan.json", "--for", "1ms"], &law[..]].concat());
    assert_eq!(cut.status.code(), Some(1), "{}", err(&cut));
    assert!(out(&cut).contains("The time was over"), "{}", out(&cut));

    failing_plan(folder.path(), &["--set", "nodes=400"]);
    let mut shrink =
        command(&["shrink", "plan.json", "--for", "1h", "--out", "interrupted.json", "--law", law[1]])
            .current_dir(folder.path())
            .stdout(Stdio::piped())
            .spawn()
            .expect("the command runs");
    // However far it has come, it ends in the same way.
    wait_until_it_listens(&mut shrink, INTERRUPT);
    std::thread::sleep(std::time::Duration::from_millis(1_500));
    send(&shrink, INTERRUPT);
    let output = shrink.wait_with_output().expect("it ends");
    assert_eq!(output.status.code(), Some(1), "{}", out(&output));
    let again = groundhog_in(folder.path(), &["run", "interrupted.json", "--no-shrink"]);
    assert!(out(&again).contains("FAILED   streams/old-or-new "), "{}", out(&again));
}

#[test]
fn what_cannot_be_shrunk_ends_with_2_and_says_why() {
    let folder = tempfile::tempdir().expect("a folder");
    failing_plan(folder.path(), &[]);
    let mut holding = plan_of(&folder.path().join("plan.json"));
    holding["flaws"] = Value::Array(Vec::new());
    std::fs::write(folder.path().join("holding.json"), holding.to_string()).expect("a file");
    for (arguments, expected) in [
        (vec!["holding.json"], "holding.json breaks no law in this build: there is nothing to shrink"),
        (vec!["plan.json", "--law", "streams/old-or-mew"], "the nearest is `streams/old-or-new`"),
        (vec!["plan.json", "--law", "streams/stalled-class"], "does not break streams/stalled-class"),
        (vec!["plan.json", "--out", "small.txt"], "expected a file that ends with .json"),
        (vec!["crash-mid-batch"], "is no plan"),
        (vec!["nowhere.json"], "cannot be read"),
        (vec!["plan.json", "--for", "0s"], "such as 10m"),
    ] {
        let output = groundhog_in(folder.path(), &[&["shrink"], &arguments[..]].concat());
        assert_eq!(output.status.code(), Some(2), "{arguments:?}: {}", err(&output));
        assert!(err(&output).contains(expected), "{arguments:?}: {}", err(&output));
        assert_eq!(out(&output), "", "{arguments:?}");
    }
    let held: Vec<_> = std::fs::read_dir(folder.path()).expect("a folder").collect();
    assert_eq!(held.len(), 2, "nothing was written");
    let polls = groundhog_in(folder.path(), &["shrink", "plan.json", "--max-polls", "50"]);
    assert_eq!(polls.status.code(), Some(3), "{}", err(&polls));
    assert!(out(&polls).starts_with("CUT      plan.json"), "{}", out(&polls));
}
