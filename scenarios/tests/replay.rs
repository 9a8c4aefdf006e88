//! `groundhog replay` as a process: what it shows of a run, how it fits, and how it ends.

mod common;

#[cfg(target_os = "linux")]
use common::{INTERRUPT, send, wait_until_it_listens};
use common::{err, out, pasted, repeat};
use serde_json::Value;
use std::path::PathBuf;
use std::process::{Command, Output, Stdio};

/// A scenario so small that a run takes no time.
const SMALL: &[&str] = &["--set", "nodes=4", "--set", "load.bursts=12", "--set", "crypto=keyed-hash"];

/// A law that this flaw breaks with the first message of any run.
const FLAW: (&str, &str) = ("early-release", "commit/release");

fn command(arguments: &[&str]) -> Command {
    let mut command = common::command(arguments);
    command.env_remove("COLUMNS").env_remove("NO_COLOR");
    command
}

fn groundhog(arguments: &[&str]) -> Output {
    command(arguments).output().expect("the command runs")
}

/// A plan in a file of its own, which goes with the folder.
struct Written {
    folder: tempfile::TempDir,
}

impl Written {
    fn new(scenario: &str, more: &[&str]) -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let plan = groundhog(&[&["plan", scenario], more].concat());
        assert_eq!(plan.status.code(), Some(0), "{}", err(&plan));
        std::fs::write(folder.path().join("plan.json"), plan.stdout).expect("a file");
        Self { folder }
    }

    fn breaking() -> Self {
        Self::new("crash-mid-batch", &[SMALL, &["--flaw", FLAW.0]].concat())
    }

    fn holding() -> Self {
        Self::new("lane-interleaving", &[SMALL, &["--seed", "2"]].concat())
    }

    fn path(&self) -> PathBuf {
        self.folder.path().join("plan.json")
    }

    fn replay(&self, more: &[&str]) -> Output {
        self.replay_at(None, more)
    }

    fn replay_at(&self, width: Option<usize>, more: &[&str]) -> Output {
        let path = self.path().display().to_string();
        let mut command = command(&[&["replay", &path], more].concat());
        if let Some(width) = width {
            command.env("COLUMNS", width.to_string());
        }
        command.output().expect("the command runs")
    }
}

/// Lines that begin with a time, which are events.
fn events(text: &str) -> Vec<&str> {
    let is_time = |word: &str| {
        word.split_once('.').is_some_and(|(whole, decimals)| {
            decimals.len() == 6 && format!("{whole}{decimals}").bytes().all(|digit| digit.is_ascii_digit())
        })
    };
    text.lines()
        .filter(|line| {
            let mut words = line.split_whitespace();
            words.next().is_some_and(is_time) && words.next() == Some("s")
        })
        .collect()
}

/// How many events it says that it does not show.
fn left_out(text: &str) -> u64 {
    let gaps = text.lines().filter_map(|line| {
        let events = line.trim().strip_prefix("... ")?;
        events.split(' ').next()?.replace(',', "").parse::<u64>().ok()
    });
    gaps.sum()
}

fn all(text: &str) -> u64 {
    let line = text.lines().find_map(|line| line.strip_suffix(" events"));
    line.and_then(|events| events.parse().ok()).unwrap_or_else(|| panic!("{text}"))
}

#[test]
fn by_default_the_last_events_before_the_first_broken_law_are_shown_with_the_law_in_its_place() {
    let output = Written::breaking().replay(&[]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(1), "{text}{}", err(&output));
    let shown = events(&text);
    assert_eq!(shown.len(), 40, "{text}");
    assert_eq!(left_out(&text) + shown.len() as u64, all(&text), "{text}");
    let last = text.lines().position(|line| line == shown[39]).expect("it is a line");
    let broken = text.lines().nth(last + 1).expect("a line");
    assert!(broken.starts_with(&format!("!!! {}: ", FLAW.1)), "{text}");
    assert!(text.contains("The last 40 of ") && text.contains("--all"), "{text}");
    assert!(text.contains(&format!("\nFAILED   {}", FLAW.1)), "{text}");
}

#[test]
fn where_no_law_is_broken_the_last_events_are_shown_and_it_says_so() {
    let output = Written::holding().replay(&["--last", "7"]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(0), "{text}{}", err(&output));
    assert_eq!(events(&text).len(), 7, "{text}");
    assert!(text.contains("No law was broken. The last 7 of ") && text.contains("--around"), "{text}");
    assert!(text.starts_with("... ") && !text.contains("!!!") && !text.contains("FAILED"), "{text}");
}

#[test]
fn a_law_that_is_named_is_replayed_up_to_whatever_else_was_broken_before() {
    let plan = Written::breaking();
    let text = out(&plan.replay(&["--law", "streams/lease", "--last", "3"]));
    assert!(text.contains("!!! streams/lease: ") && text.contains("until streams/lease was first"), "{text}");
    let text = out(&plan.replay(&["--law", "streams/relay-unchanged"]));
    assert!(text.contains("streams/relay-unchanged was not broken."), "{text}");
}

#[test]
fn every_event_is_shown_when_all_are_asked_for() {
    let text = out(&Written::breaking().replay(&["--all"]));
    assert_eq!(events(&text).len() as u64, all(&text), "{text}");
    assert_eq!(left_out(&text), 0);
    assert!(text.contains(&format!("!!! {}: ", FLAW.1)), "{text}");
}

#[test]
fn lines_fit_any_terminal_but_for_what_is_pasted() {
    let plan = Written::breaking();
    for width in [40, 80, 132] {
        for more in [&[][..], &["--all"], &["--columns"], &["--columns", "--all"]] {
            let text = out(&plan.replay_at(Some(width), more));
            let fits = |line: &&str| {
                line.starts_with("fingerprint ")
                    || line.starts_with("  repeat ")
                    || line.chars().count() <= width
            };
            let wide: Vec<&str> = text.lines().filter(|line| !fits(line)).collect();
            assert!(wide.is_empty(), "{width} {more:?}: {wide:#?}");
        }
    }
}

#[test]
fn events_are_filtered_by_node_by_stream_and_by_time() {
    let plan = Written::breaking();
    let json: Value =
        serde_json::from_slice(&std::fs::read(plan.path()).expect("the plan")).expect("it is JSON");
    let action =
        json["actions"].as_array().expect("actions").iter().find(|action| action["do"]["send"].is_object());
    let action = action.expect("somebody sends something");
    let (from, send) = (&action["node"], &action["do"]["send"]);
    let stream = format!("n{from}->n{}/{}", send["to"], send["class"].as_str().expect("a class"));

    let of_node = out(&plan.replay(&["--all", "--node", "1"]));
    // A broken law is shown wherever it broke, with the event that it broke at.
    let lines: Vec<&str> = of_node.lines().collect();
    let breaks = |line: &str| {
        let place = lines.iter().position(|other| *other == line).unwrap_or_default();
        lines.get(place + 1).is_some_and(|next| next.starts_with("!!! "))
    };
    let expected = |line: &&str| {
        let at = line.split_whitespace().nth(2).unwrap_or_default();
        at == "n1"
            || at.starts_with("n1.")
            || line.contains(" fault")
            || line.contains("lost")
            || breaks(line)
    };
    let shown = events(&of_node);
    let strange: Vec<&&str> = shown.iter().filter(|line| !expected(line)).collect();
    assert!(shown.len() > 20 && strange.is_empty(), "{strange:#?}");

    let of_stream = out(&plan.replay(&["--all", "--stream", &stream]));
    assert!(events(&of_stream).iter().any(|line| line.contains(&format!("{stream}#0"))), "{of_stream}");
    // As people write it, and as laws do.
    let short = format!("{from}->{}/{}", send["to"], &send["class"].as_str().expect("a class")[..2]);
    let long = format!("node {from}->node {}/{}#0", send["to"], send["class"].as_str().expect("a class"));
    for written in [short, long] {
        assert_eq!(out(&plan.replay(&["--all", "--stream", &written])), of_stream, "{written}");
    }

    let around = out(&plan.replay(&["--around", "0.5", "--within", "0.25"]));
    let seconds = |line: &&str| line.split_whitespace().next().and_then(|time| time.parse::<f64>().ok());
    let shown = events(&around);
    assert!(
        !shown.is_empty() && shown.iter().filter_map(seconds).all(|at| (0.25..=0.75).contains(&at)),
        "{around}"
    );
}

#[test]
fn json_is_one_object_a_line_and_the_last_one_has_the_verdict() {
    let plan = Written::breaking();
    let output = plan.replay(&["--json"]);
    let lines: Vec<Value> =
        out(&output).lines().map(|line| serde_json::from_str(line).expect(line)).collect();
    let (last, events) = lines.split_last().expect("there are lines");
    assert_eq!(events.len(), 40);
    for event in events {
        assert!(event["index"].is_u64() && event["at_us"].is_u64() && event["kind"].is_string(), "{event}");
        let streams = event["streams"].as_array().expect("streams");
        assert_eq!(event["stream"].is_string(), streams.len() == 1, "{event}");
    }
    let broken = &events[39];
    assert_eq!(broken["broken"][0], FLAW.1, "{broken}");
    assert_eq!(last["fingerprint"].as_str().map(str::len), Some(64));
    assert!(last["violations"].as_array().is_some_and(|violations| violations[0]["law"] == FLAW.1), "{last}");
    assert!(last["events"].as_u64() > broken["index"].as_u64());
    // The block goes where a machine does not read it.
    assert!(err(&output).contains(&format!("FAILED   {}", FLAW.1)), "{}", err(&output));
    let whole = out(&plan.replay(&["--json", "--all"]));
    assert_eq!(whole.lines().count() as u64, last["events"].as_u64().expect("a number") + 1);
}

#[test]
fn a_call_that_cannot_be_ends_with_2_and_says_what_there_is() {
    let plan = Written::breaking();
    for (more, expected) in [
        (&["--stream", "n0->n0/control"][..], "the plan has no such stream; it has n"),
        (&["--stream", "alice/application"], "such as n3->n1/control"),
        (&["--stream", "3/mail"], "control, storage, e2e, application"),
        (&["--node", "4"], "the plan has nodes 0 to 3"),
        (&["--node", "x"], "expected a node's number"),
        (&["--law", "streams/leese"], "the nearest is `streams/lease`"),
        (&["--last", "0"], "from 1 to 1000000"),
        (&["--last", "4", "--all"], "cannot be used with"),
        (&["--all", "--around", "1"], "cannot be used with"),
        (&["--columns", "--json"], "cannot be used with"),
        (&["--within", "1"], "--around"),
    ] {
        let output = plan.replay(more);
        assert_eq!(output.status.code(), Some(2), "{more:?}: {}", err(&output));
        assert!(err(&output).contains(expected), "{more:?}: {}", err(&output));
        assert_eq!(out(&output), "", "{more:?}");
    }
}

#[test]
fn the_command_of_the_block_fails_again_in_the_same_way() {
    let plan = Written::breaking();
    for (more, code, word) in [
        (&[][..], 1, format!("FAILED   {}", FLAW.1)),
        (&["--max-polls", "50"], 3, "CUT      polls".to_owned()),
    ] {
        let output = plan.replay(more);
        let text = out(&output);
        assert_eq!(output.status.code(), Some(code), "{text}{}", err(&output));
        let repeat = repeat(&text);
        let pasted = pasted(repeat);
        assert_eq!(pasted.status.code(), Some(code), "{repeat}: {}", err(&pasted));
        assert!(text.contains(&word) && out(&pasted).contains(&word), "{}", out(&pasted));
    }
}

#[test]
fn columns_show_the_nodes_that_take_part_and_end_with_the_law() {
    let plan = Written::breaking();
    let output = plan.replay(&["--columns", "--law", "streams/lease"]);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    let header = text.lines().next().unwrap_or_default();
    let nodes: Vec<&str> = header.split_whitespace().collect();
    assert!((1..=3).contains(&nodes.len()) && nodes.iter().all(|node| node.starts_with('n')), "{text}");
    assert!(text.contains("!!! streams/lease: ") && text.contains("\nfingerprint "), "{text}");
    let asked = out(&plan.replay(&["--columns", "--node", "2", "--node", "0", "--all"]));
    assert_eq!(asked.split_whitespace().take(2).collect::<Vec<_>>(), ["n0", "n2"], "{asked}");
}

#[cfg(target_os = "linux")]
#[test]
fn ctrl_c_ends_long_work_with_3_and_the_block() {
    let long = Written::new("crash-mid-batch", &["--set", "nodes=2000", "--set", "crypto=keyed-hash"]);
    let path = long.path().display().to_string();
    for (arguments, repeats) in [
        (vec!["replay", &path, "--all"], format!("replay {path} --all")),
        (vec!["convict", "--seeds", "100000"], "convict --seeds 100000".to_owned()),
        (
            vec!["bench", "world", "--messages", "50000000"],
            "bench world --repeat 3 --messages 50000000".to_owned(),
        ),
    ] {
        let mut process = command(&arguments);
        let mut process = process.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("it runs");
        wait_until_it_listens(&mut process, INTERRUPT);
        send(&process, INTERRUPT);
        // Whoever writes into a full pipe waits here until it was told to stop.
        std::thread::sleep(std::time::Duration::from_millis(300));
        let output = process.wait_with_output().expect("it ends");
        let text = out(&output);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {}", err(&output));
        let block: Vec<&str> = text.lines().rev().take(2).collect();
        assert!(block[1].starts_with("CUT      interrupted"), "{block:?}");
        assert!(block[0].starts_with("  repeat ") && block[0].contains(&repeats), "{block:?}");
    }
}
