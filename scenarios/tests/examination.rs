//! The testbed examines itself: every flaw is convicted by the laws named for it, and a scenario goes where it must.

mod common;

use common::{err, groundhog, json, out, pasted, repeat};
use groundhog_engine::flaws::Flaw;
use serde_json::Value;
use std::path::Path;

/// Flaws that the first seed of a long flood shows, and that a debug build takes a minute to cut down: their smallest cases
/// are among the kept plans.
const FLOODS: [&str; 4] = [
    "bound-per-table-only",
    "inbox-and-self-share-merged",
    "pool-total-not-enforced",
    "existing-stream-recharged",
];

/// Examines flaws; each was convicted from every start, by each of the laws named for it.
fn convicted(flaws: &[&str], starts: usize, more: &[&str]) -> Vec<Value> {
    let many = starts.to_string();
    let output = groundhog(&[&["convict", "--json", "--starts", &many], flaws, more].concat());
    let cases = json(&output).as_array().expect("a list of cases").clone();
    assert_eq!(cases.len(), flaws.len());
    for case in &cases {
        let convicts = |trial: &Value| {
            let seeds = trial["seeds"].as_array().expect("seeds of each start");
            let few = |seeds: &Value| (1..=200).contains(&seeds.as_u64().unwrap_or(0));
            seeds.len() == starts && seeds.iter().all(few)
        };
        let convicted =
            convicts(&case["outcome"]) && (case["mechanism"].is_null() || convicts(&case["mechanism"]));
        assert!(convicted && case["broken_without"].is_null(), "{case:#}");
    }
    assert_eq!(output.status.code(), Some(0), "{}", err(&output));
    cases
}

#[test]
fn every_flaw_is_convicted_from_every_start_by_the_laws_named_for_it_and_shrinks_to_a_small_case() {
    let flaws: Vec<&str> = Flaw::ALL.iter().map(|flaw| flaw.id()).filter(|id| !FLOODS.contains(id)).collect();
    assert_eq!(flaws.len() + FLOODS.len(), Flaw::ALL.len());
    let cases = convicted(&flaws, 5, &[]);
    let size = |case: &Value, what: &str| case["shrunk"][what].as_u64().expect("it was shrunk");
    let small = cases.iter().filter(|case| size(case, "actions") + size(case, "faults") <= 10).count();
    assert!(small * 100 >= cases.len() * 95, "{small} of {} shrink to 10 actions and faults", cases.len());
    convicted(&FLOODS, 2, &["--no-shrink"]);
    for flaw in FLOODS {
        let kept = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("corpus/{flaw}.json"));
        let kept: Value = serde_json::from_slice(&std::fs::read(kept).expect("it is kept")).expect("a plan");
        let size = ["actions", "faults"].map(|list| kept[list].as_array().map_or(0, Vec::len));
        assert!(size.iter().sum::<usize>() <= 10 && kept["flaws"] == serde_json::json!([flaw]), "{flaw}");
    }
}

#[test]
fn a_flaw_that_no_seed_can_show_survives_and_says_so() {
    // One seed is not enough for a marker to be lost.
    let output = groundhog(&["convict", "mark-before-flush-at-open", "--seeds", "1", "--from", "1"]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(common::block(&text)[0].starts_with("FAILED   flaw mark-before-flush-at-open"), "{text}");
    let line = repeat(&text);
    assert_eq!(pasted(line).status.code(), Some(1), "{line}");
}

#[test]
fn crashes_strike_every_phase_of_group_commit_at_both_roles_and_batches_fail_with_another_on_top() {
    const SEEDS: u64 = 200;
    const PER_THOUSAND_SEEDS: u64 = 50;
    let seeds = SEEDS.to_string();
    let output =
        groundhog(&["run", "crash-mid-batch", "--seeds", &seeds, "--set", "crypto=keyed-hash", "--json"]);
    let summary = json(&output);
    let marks = &summary["scenarios"][0]["marks"];
    let reached = |id: &str| marks[id].as_u64().unwrap_or(0);
    let share = PER_THOUSAND_SEEDS * SEEDS / 1_000;
    for death in ["process", "power"] {
        for role in ["sender", "receiver"] {
            for phase in ["gathering", "temporaries", "renames", "directory-flush", "before-release"] {
                let id = format!("death/{death}/{role}/{phase}");
                assert!(reached(&id) >= share, "{id} was reached {} times, {share} are due", reached(&id));
            }
        }
    }
    let id = "batch/failed-with-another-gathering";
    assert!(reached(id) >= share, "{id} was reached {} times, {share} are due", reached(id));
    assert_eq!(output.status.code(), Some(0), "{summary:#}");
}
