//! The plans that come along for `groundhog sweep` do what they are for, hold at every crash point, and show at crash
//! points what is wrong with an engine.

mod common;

use common::{err, groundhog_in, json, out};
use serde_json::Value;
use std::path::Path;
use tempfile::TempDir;

fn folder() -> TempDir {
    tempfile::tempdir().expect("a folder")
}

/// What the command says of a plan that holds.
fn held(arguments: &[&str]) -> Value {
    let output = groundhog_in(folder().path(), &[arguments, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(0), "{arguments:?}: {}{}", out(&output), err(&output));
    json(&output)
}

#[test]
fn a_retirement_batch_retires_three_streams_and_they_begin_again() {
    let text = held(&["run", "retirement-batch"]).to_string();
    for part in ["\"stream/retired\":3", "\"retirement/began-again\":3"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn a_custody_take_takes_one_mail_and_leaves_two_after_a_failed_batch_and_a_gap() {
    let text = held(&["run", "custody-take"]).to_string();
    for part in ["\"taken\":1", "\"held\":3", "\"failed-flush\":1", "\"lease/gap-after-crash\":1"] {
        assert!(text.contains(part), "{part} in {text}");
    }
}

#[test]
fn both_hold_at_every_crash_point_of_the_node_that_admits() {
    for (plan, node) in [("retirement-batch", "1"), ("custody-take", "0")] {
        held(&["sweep", plan, "--depth", "0", "--node", node]);
    }
}

/// Which laws the sweep of the node that admits finds broken at crash points from a time on, with this flaw.
fn broken(folder: &Path, plan: &str, node: &str, from: &str, flaw: &str) -> Value {
    let sweep = ["sweep", plan, "--depth", "0", "--node", node, "--from", from, "--flaw", flaw];
    let options = ["--out", "swept", "--no-shrink", "--json"];
    let output = groundhog_in(folder, &[&sweep[..], &options].concat());
    assert_eq!(output.status.code(), Some(1), "{plan} {flaw}: {}", out(&output));
    let told = json(&output);
    assert_eq!(told["points"]["done"], told["points"]["of"], "every point was struck: {told}");
    told["broken"].clone()
}

#[test]
fn each_shows_at_crash_points_what_is_wrong_with_an_engine_and_leaves_a_plan_that_fails_again() {
    // What a batch retires was admitted long before.
    let retiring = ("retirement-batch", "1", "6.4");
    let taking = ("custody-take", "0", "0");
    for ((plan, node, from), flaw, law) in [
        (retiring, "record-removed-before-marker", "store/markers"),
        (retiring, "one-flush-for-marker-and-record", "store/markers"),
        (retiring, "charges-not-rebuilt-at-restart", "streams/slots"),
        (taking, "no-custody", "streams/mail"),
        (taking, "custody-needs-replay", "streams/mail"),
        (taking, "custody-dropped-on-absent-carrier", "streams/mail"),
        (taking, "custody-not-undone", "streams/old-or-new"),
    ] {
        let folder = folder();
        let broken = broken(folder.path(), plan, node, from, flaw);
        let found = &broken[law];
        assert!(found["runs"].as_u64() > Some(0), "{plan} {flaw}: {broken}");
        let path = found["plan"].as_str().expect("a plan is left");
        let again = groundhog_in(folder.path(), &["run", path, "--no-shrink"]);
        assert_eq!(again.status.code(), Some(1), "{plan} {flaw}: {}", out(&again));
        assert!(out(&again).contains(&format!("FAILED   {law} ")), "{plan} {flaw}: {}", out(&again));
    }
}

#[test]
fn a_failing_point_is_shrunk_to_a_small_plan_that_breaks_the_same_law() {
    let folder = folder();
    let flaw = "record-removed-before-marker";
    let sweep = [
        "sweep",
        "retirement-batch",
        "--depth",
        "0",
        "--node",
        "1",
        "--flaw",
        flaw,
        "--first",
        "--out",
        "swept",
    ];
    let output = groundhog_in(folder.path(), &sweep);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(1), "{text}{}", err(&output));
    let block = common::block(&text);
    let shrunk = common::labelled(&block, "shrunk");
    let path = shrunk.split_whitespace().next_back().expect("a path");
    assert!(shrunk.contains(" -> ") && path.ends_with("-shrunk.json"), "{shrunk}");
    let small: Value = serde_json::from_slice(&std::fs::read(folder.path().join(path)).expect("a file"))
        .expect("a plan is JSON");
    let items = |list: &str| small[list].as_array().map_or(0, Vec::len);
    assert!(items("actions") + items("faults") <= 6, "{small}");
    let law = block[0].split_whitespace().nth(1).expect("a law");
    let again = groundhog_in(folder.path(), &["run", path, "--no-shrink"]);
    assert!(out(&again).contains(&format!("FAILED   {law} ")), "{law}: {}", out(&again));
}
