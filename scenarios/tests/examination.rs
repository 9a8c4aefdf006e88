//! The testbed examines itself: every flaw is convicted by the laws named for it, and a scenario goes where it must.

use serde_json::Value;
use std::process::{Command, Output};

fn groundhog(arguments: &[&str]) -> Output {
    Command::new(env!("CARGO_BIN_EXE_groundhog")).args(arguments).output().expect("the command runs")
}

fn json(output: &Output) -> Value {
    let text = String::from_utf8_lossy(&output.stdout);
    serde_json::from_slice(&output.stdout).unwrap_or_else(|error| panic!("{error} in {text}"))
}

#[test]
fn every_flaw_is_convicted_from_five_starts_by_the_laws_named_for_it_and_shrinks_to_a_small_case() {
    let output = groundhog(&["convict", "--json"]);
    let cases = json(&output);
    let cases = cases.as_array().expect("a list of cases");
    assert_eq!(cases.len(), groundhog_engine::flaws::Flaw::ALL.len());
    let mut small = 0;
    for case in cases {
        let convicts = |trial: &Value| {
            let seeds = trial["seeds"].as_array().expect("seeds of each start");
            seeds.len() == 5 && seeds.iter().all(|seeds| (1..=200).contains(&seeds.as_u64().unwrap_or(0)))
        };
        let convicted =
            convicts(&case["outcome"]) && (case["mechanism"].is_null() || convicts(&case["mechanism"]));
        assert!(convicted && case["broken_without"].is_null(), "{case:#}");
        let size = |what: &str| case["shrunk"][what].as_u64().expect("it was shrunk");
        small += usize::from(size("actions") + size("faults") <= 10);
    }
    assert!(small * 100 >= cases.len() * 95, "{small} of {} shrink to 10 actions and faults", cases.len());
    assert_eq!(output.status.code(), Some(0), "{}", String::from_utf8_lossy(&output.stderr));
}

#[test]
fn a_flaw_that_no_seed_can_show_survives_and_says_so() {
    // One seed is not enough for a marker to be lost.
    let output = groundhog(&["convict", "mark-before-flush-at-open", "--seeds", "1", "--from", "1"]);
    let text = String::from_utf8_lossy(&output.stdout);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let block = text.lines().rev().take(2).collect::<Vec<_>>();
    assert!(block[1].starts_with("FAILED   flaw mark-before-flush-at-open"), "{text}");
    let repeat = block[0].trim().strip_prefix("repeat   ").unwrap_or_else(|| panic!("{text}"));
    let pasted = Command::new("sh").args(["-c", repeat]).output().expect("there is a shell");
    assert_eq!(pasted.status.code(), Some(1), "{repeat}");
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
