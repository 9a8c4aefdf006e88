//! `groundhog bench admissions` as a process, for the shortest of times: what it says, how it ends, what it leaves.

mod common;

use common::{command, err, json, out};
use serde_json::Value;
use std::path::Path;
use std::process::Output;

fn bench(directory: &Path, more: &[&str]) -> Output {
    command(&["bench", "admissions", "--dir"]).arg(directory).args(more).output().expect("the command runs")
}

fn number(value: &Value) -> u64 {
    value.as_u64().unwrap_or_else(|| panic!("{value} is no number"))
}

fn is_empty(directory: &Path) -> bool {
    std::fs::read_dir(directory).expect("the directory is there").next().is_none()
}

#[test]
fn a_table_has_a_row_for_each_number_in_flight_and_nothing_is_left() {
    let directory = tempfile::tempdir().expect("a directory");
    let output = bench(directory.path(), &["--seconds", "0.05", "--in-flight", "1,4"]);
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    let text = out(&output);
    assert!(text.contains("real time") && text.contains("raw/s"), "{text}");
    let rows: Vec<Vec<&str>> = text
        .lines()
        .map(|line| line.split_whitespace().collect::<Vec<_>>())
        .filter(|cells| cells.first().is_some_and(|first| first.parse::<u32>().is_ok()))
        .collect();
    assert_eq!(rows.iter().map(|row| row[0]).collect::<Vec<_>>(), ["1", "4"], "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert_eq!(output.stderr, b"", "no progress without a terminal");
    assert!(is_empty(directory.path()));
}

#[test]
fn json_holds_what_was_counted_and_it_adds_up() {
    let directory = tempfile::tempdir().expect("a directory");
    let more = ["--seconds", "0.1", "--in-flight", "16", "--json"];
    let fresh = json(&bench(directory.path(), &more));
    let going_on = json(&bench(directory.path(), &[&more[..], &["--streams", "2"]].concat()));
    for (measured, streams) in [(&fresh, None), (&going_on, Some(2))] {
        assert_eq!(measured["streams"].as_u64(), streams);
        assert_eq!(measured["time"], "this machine's real time");
        let row = &measured["rows"][0];
        let (admissions, batches) = (number(&row["admissions"]), number(&row["batches"]));
        assert!(admissions > 0 && batches > 0, "{row}");
        assert_eq!(number(&row["transitions"]), admissions, "each admission waits for one batch: {row}");
        assert!(number(&row["latency_ns"]["max"]) > 1_000, "{row}");
        assert!(number(&row["elapsed_ns"]) > 0 && number(&row["raw"]["records"]) > 0, "{row}");
        assert_eq!(row["latency_ns"]["p99"].is_null(), admissions < 1_000, "ten samples: {row}");
        let records = number(&row["records"]);
        match streams {
            None => assert_eq!(records, admissions, "each admission writes a record of its own: {row}"),
            Some(streams) => assert!(records <= streams * batches, "streams share records: {row}"),
        }
    }
}

#[test]
fn a_killed_process_admits_nothing_twice_and_signs_no_sequence_twice() {
    let directory = tempfile::tempdir().expect("a directory");
    let output = bench(directory.path(), &["--kill", "--rounds", "3"]);
    assert_eq!(output.status.code(), Some(0), "{}", out(&output));
    let text = out(&output);
    for expected in ["admitted twice  never", "signed twice    never", "does not show   a power loss"] {
        assert!(text.contains(expected), "{text}");
    }
    assert!(is_empty(directory.path()));
}

#[test]
fn kills_are_told_as_json_and_transactions_of_all_lives_are_handed_in_again() {
    let directory = tempfile::tempdir().expect("a directory");
    let output = bench(directory.path(), &["--kill", "--rounds", "4", "--seed", "9", "--json"]);
    assert_eq!(output.status.code(), Some(0), "{}", out(&output));
    let seen = json(&output);
    assert_eq!(seen["rounds"].as_array().map(Vec::len), Some(4));
    assert_eq!((number(&seen["admitted_twice"]), number(&seen["signed_twice"])), (0, 0));
    let new_at_the_end = 16 * 4;
    let signed = number(&seen["sequences_signed"]);
    assert_eq!(number(&seen["handed_in_at_the_end"]) + new_at_the_end, signed, "{seen}");
    assert!(number(&seen["admitted"]) >= new_at_the_end, "{seen}");
    assert!(number(&seen["most_skipped_by_a_kill"]) <= 64, "{seen}");
}

#[test]
fn an_engine_that_forgets_is_convicted() {
    let directory = tempfile::tempdir().expect("a directory");
    let more = ["--kill", "--rounds", "6", "--flaw", "memory-store-after-restart"];
    let output = bench(directory.path(), &more);
    assert_eq!(output.status.code(), Some(1), "{}", out(&output));
    let text = out(&output);
    for law in ["streams/at-most-once", "streams/one-digest"] {
        assert!(text.contains(&format!("FAILED   {law}")), "{text}");
    }
    let last = text.lines().next_back().unwrap_or_default();
    let repeat = last.trim().strip_prefix("repeat   ").unwrap_or_else(|| panic!("{text}"));
    assert!(repeat.contains("--kill --rounds 6") && repeat.contains("--flaw memory-store"), "{repeat}");
    assert!(is_empty(directory.path()), "a flaw that was asked for leaves nothing behind");
}

#[test]
fn a_wrong_call_ends_with_2_before_anything_is_measured() {
    let directory = tempfile::tempdir().expect("a directory");
    let file = directory.path().join("file");
    std::fs::write(&file, "in the way").expect("a file");
    let wrong: [(&Path, &[&str], &str); 6] = [
        (&file, &[], "cannot be written"),
        (&directory.path().join("nowhere"), &["--kill"], "cannot be written"),
        (directory.path(), &["--kill", "--flaw", "early-releese"], "the nearest is `early-release`"),
        (directory.path(), &["--flaw", "early-release"], "--kill"),
        (directory.path(), &["--kill", "--streams", "3"], "cannot be used with"),
        (directory.path(), &["--seconds", "0"], "from 0.01 to 600 seconds"),
    ];
    for (place, more, expected) in wrong {
        let output = bench(place, more);
        let error = err(&output);
        assert_eq!(output.status.code(), Some(2), "{more:?}: {error}");
        assert!(error.contains(expected), "{more:?}: {error}");
        assert_eq!(out(&output), "", "{more:?}");
    }
}
