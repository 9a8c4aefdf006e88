//! What stands in the folder that a run or a campaign leaves.

mod samples;

use groundhog_reports::{
    CampaignFacts, FORMAT, MarksJudged, ReportError, RunFacts, ScenarioFacts, Totals, write_campaign,
    write_run,
};
use groundhog_sim::outcome::{Cut, Outcome};
use groundhog_sim::plan::Plan;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::time::Duration;

fn facts() -> RunFacts {
    RunFacts {
        version: "0.1.0".to_owned(),
        repeat: "groundhog run crash-mid-batch --seed 7 --set 'nodes=32'".to_owned(),
        real: Duration::from_millis(412),
        differs: false,
    }
}

fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).unwrap();
    let mut names: Vec<_> = entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
    // The note of what was written is no part of a report.
    names.retain(|name| name != ".groundhog.sha256");
    names.sort();
    names
}

fn summary(folder: &Path) -> Value {
    serde_json::from_str(&fs::read_to_string(folder.join("summary.json")).unwrap()).unwrap()
}

fn refers_to_nothing_outside(page: &str) {
    for reference in
        ["http:", "https:", "src=", "href=", "url(", "@import", "<script", "<link", "<iframe", "data:"]
    {
        assert!(!page.contains(reference), "the page has {reference}");
    }
}

#[test]
fn a_run_leaves_page_summary_plan_and_latencies() {
    let folder = tempfile::tempdir().unwrap();
    let (plan, outcome) = (samples::plan("crash-mid-batch", 7), samples::failed(7));
    let written = write_run(folder.path(), &plan, &outcome, &facts()).unwrap();
    let mut listed: Vec<_> =
        written.files.iter().map(|path| path.file_name().unwrap().to_str().unwrap().to_owned()).collect();
    listed.sort();
    assert_eq!(names(folder.path()), listed);
    assert_eq!(listed.iter().filter(|name| name.ends_with(".hgrm")).count(), 8);

    let loaded: Plan = serde_json::from_slice(&fs::read(folder.path().join("plan.json")).unwrap()).unwrap();
    assert_eq!(loaded, plan);

    let summary = summary(folder.path());
    assert_eq!(summary["format"], FORMAT);
    assert_eq!(summary["verdict"], "failed");
    assert_eq!(summary["fingerprint"].as_str().unwrap().len(), 64);
    assert_eq!(summary["intended"], outcome.intended);
    assert_eq!(summary["laws_broken"][1]["law"], "streams/at-most-once");
    assert_eq!(summary["laws_broken"][1]["violations"], 2);
    assert_eq!(summary["violations_listed"].as_array().unwrap().len(), 3);
    let application = &summary["latency"][6];
    assert_eq!((&application["class"], &application["from"]), (&"application".into(), &"intended".into()));
    assert_eq!((application["samples"].as_u64(), &application["p50_ns"]), (Some(15), &Value::Null));
    assert!(summary["latency"][0]["p99_9_ns"].is_u64());

    let table = fs::read_to_string(folder.path().join("latency-control.hgrm")).unwrap();
    assert!(table.contains(&format!("Total count    = {:12}]", outcome.latencies[0].from_intended.len())));
}

#[test]
fn every_number_of_a_summary_is_an_integer() {
    fn check(value: &Value, path: &str) {
        match value {
            Value::Number(number) => assert!(!number.is_f64(), "{path} is {number}"),
            Value::Array(items) => items.iter().for_each(|item| check(item, path)),
            Value::Object(fields) => {
                fields.iter().for_each(|(name, field)| check(field, &format!("{path}/{name}")));
            }
            _ => {}
        }
    }
    let folder = tempfile::tempdir().unwrap();
    write_run(folder.path(), &samples::plan("a", 1), &samples::held(1), &facts()).unwrap();
    check(&summary(folder.path()), "");
}

#[test]
fn equal_outcomes_leave_equal_bytes() {
    let (one, two) = (tempfile::tempdir().unwrap(), tempfile::tempdir().unwrap());
    for folder in [&one, &two] {
        write_run(folder.path(), &samples::plan("a", 3), &samples::held(3), &facts()).unwrap();
    }
    for name in names(one.path()) {
        let both = [&one, &two].map(|folder| fs::read(folder.path().join(&name)).unwrap());
        assert!(both[0] == both[1], "{name} differs");
    }
}

#[test]
fn the_page_puts_the_failure_first_and_refers_to_nothing_outside() {
    let folder = tempfile::tempdir().unwrap();
    let mut plan = samples::plan("crash-mid-batch", 7);
    plan.flaws = vec!["early-release".to_owned()];
    let written = write_run(folder.path(), &plan, &samples::failed(7), &facts()).unwrap();
    let page = fs::read_to_string(&written.page).unwrap();
    refers_to_nothing_outside(&page);
    let place = |text: &str| page.find(text).unwrap_or_else(|| panic!("{text} is missing"));
    assert!(place("FAILED") < place("A result is returned before its batch is durable."));
    assert!(place("streams/at-most-once") < place("--set 'nodes=32'"));
    assert!(place("--set 'nodes=32'") < place("<h2>Latency</h2>"));
    assert!(page.contains("of &lt;record &amp; name&gt; was"), "what a law saw is escaped");
    assert!(page.contains("412 ms on the machine that ran it"), "real time is said to be real");
    let figures = page.matches("<svg role=\"img\"").count();
    assert_eq!(figures, 2 * 7, "two latency plots, four over time, one of batches, each for two widths");
}

#[test]
fn a_run_without_anything_has_a_page_too() {
    let folder = tempfile::tempdir().unwrap();
    let plan = Plan { actions: Vec::new(), faults: Vec::new(), ..samples::plan("empty", 1) };
    let outcome = Outcome {
        slices: Vec::new(),
        latencies: Vec::new(),
        fault_spans: Vec::new(),
        batch_sizes: BTreeMap::new(),
        floods: Vec::new(),
        bounds: Vec::new(),
        marks: BTreeMap::new(),
        limits: BTreeMap::new(),
        cut: Some(Cut::Polls { limit: 1_000_000, last: None }),
        ..samples::held(1)
    };
    let written = write_run(folder.path(), &plan, &outcome, &facts()).unwrap();
    let page = fs::read_to_string(&written.page).unwrap();
    assert!(page.contains("CUT SHORT") && page.contains("more than 1,000,000 polls"));
    assert!(page.contains("Nothing was dispatched."));
    assert_eq!(summary(folder.path())["verdict"], "cut");
    assert_eq!(names(folder.path()), ["plan.json", "report.html", "summary.json"]);
}

#[test]
fn a_report_leaves_no_file_of_the_one_before() {
    let folder = tempfile::tempdir().unwrap();
    let plan = samples::plan("a", 1);
    write_run(folder.path(), &plan, &samples::held(1), &facts()).unwrap();
    fs::write(folder.path().join("mine-latency.hgrm"), "kept").unwrap();
    fs::write(folder.path().join("other-latency-e2e-uncorrected.hgrm"), "somebody's").unwrap();
    let fewer = Outcome { latencies: Vec::new(), ..samples::held(2) };
    write_run(folder.path(), &plan, &fewer, &facts()).unwrap();
    let left = ["mine-latency.hgrm", "other-latency-e2e-uncorrected.hgrm", "plan.json", "report.html"];
    assert_eq!(names(folder.path()), [&left[..], &["summary.json"]].concat());
}

#[test]
fn nothing_is_written_where_the_folder_cannot_be() {
    let root = tempfile::tempdir().unwrap();
    let blocker = root.path().join("out");
    fs::write(&blocker, "mine").unwrap();
    let refused = write_run(&blocker, &samples::plan("a", 1), &samples::held(1), &facts()).unwrap_err();
    assert!(matches!(refused, ReportError::Folder { .. }), "{refused}");
    assert!(refused.to_string().contains("out"), "{refused}");
    assert!(groundhog_reports::probe(&blocker).is_err());
    assert_eq!(fs::read_to_string(&blocker).unwrap(), "mine");
    assert_eq!(names(root.path()), ["out"]);
}

#[test]
fn a_campaign_leaves_its_verdicts_and_commands() {
    let folder = tempfile::tempdir().unwrap();
    let mut totals = Totals::new("crash-mid-batch");
    for seed in [9, 4, 7] {
        let outcome = if seed == 9 { samples::held(seed) } else { samples::failed(seed) };
        totals.absorb(&samples::plan("crash-mid-batch", seed), &outcome);
    }
    let mut other = Totals::new("skewed/clocks");
    other.absorb(&samples::plan("skewed/clocks", 1), &samples::held(1));
    // As many as it takes for every share to be due.
    (other.seeds, other.held) = (1_000, 1_000);
    other.marks.remove("death/process/sender/directory-flush");
    let scenarios = [
        ScenarioFacts { totals, marks: BTreeMap::new(), marks_judged: MarksJudged::Judged },
        ScenarioFacts { totals: other, marks: samples::marks(), marks_judged: MarksJudged::Judged },
    ];
    let campaign = CampaignFacts {
        version: "0.1.0",
        command: "groundhog run all --seeds 3",
        real: Duration::from_secs(2),
        scenarios: &scenarios,
        repeat: &|scenario, seed| format!("groundhog run {scenario} --seed {seed} --flaw early-release"),
    };
    let written = write_campaign(folder.path(), &campaign).unwrap();
    let page = fs::read_to_string(&written.page).unwrap();
    refers_to_nothing_outside(&page);
    assert!(page.contains("groundhog run crash-mid-batch --seed 4 --flaw early-release"));
    assert!(page.contains("not reached"));
    let summary = summary(folder.path());
    assert_eq!(summary["verdict"], "failed");
    assert_eq!(summary["scenarios"][0]["seeds_held"], 1);
    assert_eq!(summary["scenarios"][0]["laws_broken"][0]["first_seed"], 4);
    assert_eq!(summary["scenarios"][1]["verdict"], "marks-missed");
    let missed = &summary["scenarios"][1]["marks_missed"];
    assert_eq!(missed[0]["mark"], "death/process/sender/directory-flush");
    let rates = summary["scenarios"][1]["mark_rates"].as_array().unwrap();
    let rate = rates.iter().find(|rate| rate["mark"] == missed[0]["mark"]).unwrap();
    assert_eq!((&rate["standing"], &rate["due_in_1000_seeds"]), (&"unreached".into(), &50.into()));
    assert_eq!(summary["scenarios"][1]["marks_not_judged"], Value::Null);
    assert!(folder.path().join("skewed-clocks-latency-e2e.hgrm").is_file());
}

#[test]
fn scenarios_whose_names_make_one_file_name_keep_their_own_files() {
    let folder = tempfile::tempdir().unwrap();
    let scenarios = ["a/b", "a-b"].map(|name| {
        let mut totals = Totals::new(name);
        totals.absorb(&samples::plan(name, 1), &samples::held(1));
        ScenarioFacts { totals, marks: BTreeMap::new(), marks_judged: MarksJudged::Judged }
    });
    let campaign = CampaignFacts {
        version: "0.1.0",
        command: "groundhog run all",
        real: Duration::ZERO,
        scenarios: &scenarios,
        repeat: &|scenario, seed| format!("groundhog run {scenario} --seed {seed}"),
    };
    let written = write_campaign(folder.path(), &campaign).unwrap();
    assert_eq!(names(folder.path()).len(), written.files.len());
    assert_eq!(written.files.len(), 2 + 2 * 8);
}
