//! The examination of determinism, examined: what is planted is seen and named, as a process that a person calls; and
//! what must change nothing changes nothing.

mod common;

use common::{block, command, err, fingerprint, groundhog, json, labelled, out, pasted};
use groundhog_sim::figures::Figure;
use groundhog_sim::outcome::Outcome;
use groundhog_sim::plan::Plan;
use groundhog_sim::run::{RunOptions, run};
use std::io::Write;
use std::process::{Output, Stdio};

/// A scenario so small that a run takes no time.
const SMALL: &[&str] = &["--set", "nodes=6", "--set", "load.bursts=24", "--set", "adversaries.replays=2"];

/// What `run` of a small scenario with these options gives.
fn small(options: &[&str]) -> Output {
    let all = [&["run", "crash-mid-batch", "--seed", "7"], SMALL, options].concat();
    groundhog(&all)
}

/// So many sends wait for each other that a map of another order cannot agree by chance about all of them.
const BUSY: &[&str] = &["--set", "nodes=6", "--set", "load.bursts=240", "--set", "load.streams=4"];

/// What `run` of a busy scenario with these options gives.
fn busy(options: &[&str]) -> Output {
    let all = [&["run", "crash-mid-batch", "--seed", "7"], BUSY, options].concat();
    groundhog(&all)
}

#[test]
fn a_divergence_that_draws_no_random_number_is_named_with_its_event_node_and_task() {
    for plant in ["map-before", "counter-before", "entropy-inside"] {
        let output = busy(&["--plant", plant, "--check"]);
        let text = out(&output);
        assert_eq!(output.status.code(), Some(4), "{plant}: {text}");
        assert!(text.starts_with("DIFFERS      crash-mid-batch   seed 7\n"), "{text}");
        let block = block(&text);
        let first = "DIFFERS  not deterministic   crash-mid-batch seed 7, at event ";
        assert!(block[0].starts_with(first), "{plant}: {block:#?}");
        assert!(labelled(&block, "time").contains(" s"), "{block:#?}");
        let node = labelled(&block, "node");
        assert!(
            node.starts_with(|digit: char| digit.is_ascii_digit()) && node.contains(", life "),
            "{block:#?}"
        );
        assert!(labelled(&block, "task").starts_with("sender of "), "{plant}: {block:#?}");
        let (here, there) = (labelled(&block, "here"), labelled(&block, "there"));
        assert!(here != there || labelled(&block, "bytes").contains(" here, "), "{block:#?}");
        let fits = |line: &&&str| line.chars().count() <= 80 || line.starts_with("  repeat");
        assert_eq!(block.iter().filter(|line| !fits(line)).count(), 0, "{block:#?}");
        let again = pasted(labelled(&block, "repeat"));
        assert_eq!(again.status.code(), Some(4), "{}", out(&again));
        assert!(out(&again).contains("\nDIFFERS  not deterministic"), "{}", out(&again));
    }
}

#[test]
fn of_many_seeds_the_first_that_differs_is_named_and_machines_are_told() {
    let options =
        ["run", "crash-mid-batch", "--seeds", "3", "--jobs", "2", "--plant", "map-before", "--check"];
    let output = groundhog(&[&options, BUSY, &["--json"]].concat());
    assert_eq!(output.status.code(), Some(4));
    let summary = json(&output);
    assert_eq!(summary["verdict"], "differs", "{summary:#}");
    assert_eq!(
        (&summary["scenarios"][0]["seeds_differ"], &summary["scenarios"][0]["seeds_held"]),
        (&3.into(), &0.into())
    );
    let said = err(&output);
    assert!(said.contains("DIFFERS  not deterministic   crash-mid-batch seed 0, at event "), "{said}");
}

#[test]
fn a_figure_that_differs_while_every_event_is_equal_is_a_defect_of_the_ledger_and_named() {
    let output = small(&["--plant", "figure-of-process", "--check"]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(4), "{text}");
    let block = block(&text);
    assert!(
        block[0].starts_with("DIFFERS  defect of the ledger   crash-mid-batch seed 7: equal events"),
        "{text}"
    );
    assert_eq!(labelled(&block, "figure"), "messages intended");
    assert_ne!(labelled(&block, "here"), labelled(&block, "there"));
    assert_eq!(pasted(labelled(&block, "repeat")).status.code(), Some(4));
}

#[test]
fn a_thread_started_inside_a_run_is_a_named_finding_and_no_divergence() {
    let output = small(&["--plant", "thread-inside", "--check"]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let block = block(&text);
    let found =
        block[0].strip_prefix("FAILED   engine/no-thread   a thread was started inside the run by sender of");
    assert!(found.is_some() && block[1].contains("(node "), "{block:#?}");
    let again = pasted(labelled(&block, "repeat"));
    assert_eq!((again.status.code(), fingerprint(&again)), (Some(1), fingerprint(&output)));
}

#[test]
fn a_task_that_never_ends_is_ended_by_the_bound_on_polls_and_named() {
    let output = small(&["--plant", "task-without-end"]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    let block = block(&text);
    assert!(block[0].starts_with("CUT      livelock   crash-mid-batch: 4,000,000 polls"), "{block:#?}");
    assert!(
        labelled(&block, "node").contains(", life ") && labelled(&block, "task").starts_with("sender of ")
    );
    let budget = small(&["--plant", "task-without-end", "--max-polls", "50000", "--check"]);
    let text = out(&budget);
    let block = common::block(&text);
    assert_eq!(budget.status.code(), Some(3), "{text}");
    assert!(block[0].starts_with("CUT      polls   crash-mid-batch: more than 50,000 polls"), "{block:#?}");
    assert!(labelled(&block, "task").starts_with("sender of "));
    let again = pasted(labelled(&block, "repeat"));
    assert_eq!((again.status.code(), fingerprint(&again)), (Some(3), fingerprint(&budget)));
}

#[test]
fn a_task_that_never_gives_way_is_ended_with_its_process() {
    let output = small(&["--plant", "loop-without-end", "--watchdog", "200ms"]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(3), "{text}");
    assert!(
        block(&text)[0].starts_with("CUT      real time   seed 7 of crash-mid-batch took more than 200 ms"),
        "{text}"
    );
}

#[test]
fn clocks_and_maps_of_the_standard_library_are_simulated_inside_a_run() {
    for plant in ["clock-inside", "map-inside"] {
        let output = small(&["--plant", plant, "--check"]);
        assert_eq!(output.status.code(), Some(0), "{plant}: {}", out(&output));
        assert_eq!(fingerprint(&output), fingerprint(&small(&["--plant", plant])), "{plant}");
        assert_ne!(fingerprint(&output), fingerprint(&small(&[])), "{plant} does something");
    }
}

#[test]
fn an_unknown_plant_is_a_wrong_call_and_help_says_nothing_of_plants() {
    let output = small(&["--plant", "map"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("the nearest is `map-before`"));
    assert!(!out(&groundhog(&["run", "--help"])).contains("plant "));
    assert!(out(&groundhog(&["list", "plants"])).contains("map-before"));
    assert!(!out(&groundhog(&["list"])).contains("map-before"));
    assert!(out(&groundhog(&["explain", "thread-inside"])).contains("engine/no-thread"));
}

#[test]
fn neither_the_environment_nor_an_option_that_is_only_a_view_changes_an_event() {
    let plain = fingerprint(&small(&[]));
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path().display().to_string();
    for view in
        [&["--jobs", "2"][..], &["--laws", "outcome"], &["--laws", "mechanism", "--check"], &["--out", &at]]
    {
        assert_eq!(fingerprint(&small(view)), plain, "{view:?}");
    }
    assert_eq!(json(&small(&["--json"]))["fingerprint"], plain.as_str());
    let variables = [
        ("RUST_LOG", "trace"),
        ("RUST_BACKTRACE", "full"),
        ("MADSIM_TEST_SEED", "5"),
        ("MADSIM_TEST_CHECK_DETERMINISM", "1"),
        ("MADSIM_ALLOW_SYSTEM_THREAD", "1"),
        ("TZ", "Pacific/Kiritimati"),
        ("LC_ALL", "tr_TR.UTF-8"),
        ("COLUMNS", "40"),
    ];
    let arguments = [&["run", "crash-mid-batch", "--seed", "7"], SMALL].concat();
    let output = command(&arguments).envs(variables).output().expect("the command runs");
    assert_eq!(fingerprint(&output), plain);
}

/// Days of the same are cut down to two hours of it: these tests run each plan several times in a debug build. Counts that
/// are meant for the whole time shrink with it.
const SHORTENED: &[(&str, &[&str])] = &[(
    "week-of-churn",
    &[
        "time.chaos_ms=7200000",
        "load.bursts=800",
        "ring.leaves=12",
        "crashes.at_time=8",
        "network.partitions=10",
    ],
)];

fn plan(scenario: &str, seed: &str) -> Plan {
    let shortened =
        SHORTENED.iter().filter(|(name, _)| *name == scenario).flat_map(|(_, settings)| *settings);
    let settings: Vec<&str> = shortened.flat_map(|setting| ["--set", setting]).collect();
    let output = groundhog(&[&["plan", scenario, "--seed", seed], &settings[..]].concat());
    Plan::from_json(&out(&output)).expect("the command prints a plan")
}

fn scenarios() -> Vec<String> {
    let listed = json(&groundhog(&["list", "scenarios", "--json"]));
    let names =
        listed["scenarios"].as_array().expect("a list").iter().map(|scenario| scenario["name"].as_str());
    names.map(|name| name.expect("a name").to_owned()).collect()
}

fn outcome(plan: &Plan) -> Outcome {
    run(plan, RunOptions::default()).expect("the plan runs")
}

/// What a process that runs this plan alone says of it.
fn alone(plan: &Plan) -> (String, Vec<Figure>) {
    let mut process = command(&["say-checkpoints", "--max-polls", "200000000", "--laws", "all"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .expect("the command runs");
    let mut input = process.stdin.take().expect("its input is piped");
    writeln!(input, "{}", serde_json::to_string(plan).expect("JSON")).expect("it reads its plan");
    let output = process.wait_with_output().expect("it ends");
    drop(input);
    let said = &json(&output)["outcome"];
    let figures = serde_json::from_value(said["figures"].clone()).expect("figures");
    (said["fingerprint"].as_str().expect("a fingerprint").to_owned(), figures)
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

#[test]
fn seeds_a_b_a_in_one_process_and_a_alone_in_another_agree_in_every_scenario() {
    let scenarios = scenarios();
    assert!(scenarios.len() >= 3, "{scenarios:?}");
    assert!(SHORTENED.iter().all(|(name, _)| scenarios.iter().any(|known| known == name)), "{scenarios:?}");
    for scenario in &scenarios {
        let (a, b) = (plan(scenario, "11"), plan(scenario, "12"));
        let [first, between, again] = [&a, &b, &a].map(outcome);
        assert!(first == again, "{scenario}: what ran between shows");
        // A plan that has a name is the same for every seed.
        assert_eq!(first.fingerprint == between.fingerprint, a == b, "{scenario}");
        let (fingerprint, figures) = alone(&a);
        assert_eq!(fingerprint, hex(&first.fingerprint), "{scenario}");
        assert_eq!(figures, first.figures(), "{scenario}");
    }
}

#[test]
fn every_scenario_beside_every_other_on_many_threads_is_as_alone() {
    let plans: Vec<Plan> =
        scenarios().iter().flat_map(|name| ["11", "12"].map(|seed| plan(name, seed))).collect();
    let alone: Vec<Outcome> = plans.iter().map(outcome).collect();
    std::thread::scope(|scope| {
        let running: Vec<_> =
            plans.iter().chain(&plans).map(|plan| scope.spawn(move || outcome(plan))).collect();
        for (beside, alone) in running.into_iter().zip(alone.iter().chain(&alone)) {
            assert!(beside.join().expect("the run ends") == *alone);
        }
    });
}
