//! Whoever ends the command, a person, a timeout or a terminal that is gone: it says what it found, and how to go on.
#![cfg(target_os = "linux")]

mod common;

use common::{
    HANG_UP, INTERRUPT, TERMINATE, block, command, err, is_ignored, labelled, out, pasted_in, send,
    wait_until_it_listens,
};
use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::time::Duration;

/// A scenario so small that a run takes no time.
const SMALL: &[&str] = &["--set", "nodes=4", "--set", "load.bursts=12", "--set", "crypto=keyed-hash"];

fn started(command: &mut Command) -> Child {
    command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("the command runs")
}

/// Ends the command with a signal as soon as it listens.
fn ended(arguments: &[&str], folder: &Path, signal: u32) -> Output {
    let mut process = started(command(arguments).current_dir(folder));
    wait_until_it_listens(&mut process, signal);
    send(&process, signal);
    process.wait_with_output().expect("it ends")
}

/// A block that says so, last, with the command that does the same again.
fn says_that_it_was_interrupted(output: &Output, text: &str, repeats: &str) {
    assert_eq!(output.status.code(), Some(3), "{}{}", out(output), err(output));
    let block = block(text);
    let last = block.iter().rfind(|line| !line.starts_with(' '));
    assert!(last.is_some_and(|line| line.starts_with("CUT      interrupted   ")), "{text}");
    let repeat = labelled(&block, "repeat");
    assert!(repeat.contains(repeats), "{repeat}");
}

#[test]
fn a_series_says_after_how_many_runs_it_was_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let series = [&["run", "lane-interleaving", "--seeds", "1000000", "--jobs", "1"], SMALL].concat();
    for signal in [TERMINATE, HANG_UP].into_iter().filter(|signal| !is_ignored(*signal)) {
        let output = ended(&series, folder.path(), signal);
        let text = out(&output);
        says_that_it_was_interrupted(&output, &text, "run lane-interleaving --seeds 1000000 ");
        assert!(text.contains("CUT") && text.contains(" runs\n"), "{text}");
        assert!(text.contains("\nfingerprint "), "what was done is told: {text}");
    }
    let machine = ended(&[&series[..], &["--json"]].concat(), folder.path(), TERMINATE);
    says_that_it_was_interrupted(&machine, &err(&machine), "run lane-interleaving");
    let summary = common::json(&machine);
    assert!(summary["scenarios"][0]["seeds"].is_u64(), "{summary}");
}

#[test]
fn a_night_says_what_it_had_no_time_for() {
    let folder = tempfile::tempdir().expect("a folder");
    let night = ["nightly", "--for", "1h", "--from", "5", "--corpus", "none", "--jobs", "1"];
    let output = ended(&night, folder.path(), TERMINATE);
    let text = out(&output);
    says_that_it_was_interrupted(&output, &text, "nightly --for 3600000ms --from 5");
    assert!(text.contains("CUT      convictions   interrupted before"), "{text}");
}

/// Ends a conviction once it has told of its first case.
#[test]
fn a_conviction_keeps_the_cases_that_it_told_and_says_how_many_are_left() {
    // The second flaw takes its time.
    let arguments = ["convict", "early-release", "missed-frame-held", "--no-shrink", "--jobs", "1"];
    let mut process = started(&mut command(&arguments));
    let (mut output, mut told) = (process.stdout.take().expect("it is piped"), Vec::new());
    while !told.contains(&b'\n') {
        let mut bytes = [0; 64];
        let read = output.read(&mut bytes).expect("it can be read");
        assert!(read > 0, "it ended before it told of anything");
        told.extend_from_slice(&bytes[..read]);
    }
    send(&process, TERMINATE);
    output.read_to_end(&mut told).expect("it can be read");
    let text = String::from_utf8(told).expect("text");
    let ended = process.wait_with_output().expect("it ends");
    assert!(text.starts_with("convicted  early-release"), "{text}");
    says_that_it_was_interrupted(&ended, &text, "convict early-release missed-frame-held");
    assert!(text.contains("1 flaws were not examined"), "{text}");
}

/// Ends a sweep once its first part is written down.
#[test]
fn a_sweep_goes_on_where_it_was_ended() {
    let folder = tempfile::tempdir().expect("a folder");
    let sweep = ["sweep", "custody-take", "--node", "1", "--depth", "1", "--jobs", "1", "--out", "swept"];
    let mut process = started(command(&sweep).current_dir(folder.path()));
    let journal = folder.path().join("swept/sweep.journal");
    let parts = || std::fs::read_to_string(&journal).unwrap_or_default().lines().count();
    while parts() < 2 {
        assert!(process.try_wait().expect("it can be asked").is_none(), "it was done before a part was");
        std::thread::sleep(Duration::from_millis(5));
    }
    send(&process, TERMINATE);
    let output = process.wait_with_output().expect("it ends");
    let text = out(&output);
    says_that_it_was_interrupted(&output, &text, "sweep custody-take");
    assert!(text.contains(" points; it goes on from"), "{text}");
    let again = pasted_in(folder.path(), labelled(&block(&text), "repeat"));
    let text = out(&again);
    assert_eq!(again.status.code(), Some(0), "{text}");
    assert!(text.contains("points done by an earlier") && !journal.exists(), "{text}");
}

/// `timeout` sends its signal to the process, and again to the group that the process is in.
#[test]
fn the_two_signals_of_a_timeout_are_one_request_and_nothing_is_told_twice() {
    let folder = tempfile::tempdir().expect("a folder");
    let series = [&["run", "lane-interleaving", "--seeds", "1000000", "--check"], SMALL].concat();
    let mut process = started(command(&series).current_dir(folder.path()));
    wait_until_it_listens(&mut process, TERMINATE);
    send(&process, TERMINATE);
    send(&process, TERMINATE);
    let output = process.wait_with_output().expect("it ends");
    let text = out(&output);
    says_that_it_was_interrupted(&output, &text, "--check");
    assert_eq!(text.matches("CUT      interrupted").count(), 1, "{text}");
    assert!(text.contains("\nfingerprint "), "it ended in good order: {text}");
}

#[test]
fn what_was_told_to_outlive_its_terminal_does() {
    let series = [&["run", "lane-interleaving", "--seeds", "1000000", "--jobs", "1"], SMALL].concat();
    let groundhog = env!("CARGO_BIN_EXE_groundhog");
    let mut shell = Command::new("sh");
    shell.args(["-c", "trap '' HUP; exec \"$0\" \"$@\"", groundhog]).args(&series);
    let mut process = started(&mut shell);
    wait_until_it_listens(&mut process, TERMINATE);
    send(&process, HANG_UP);
    std::thread::sleep(Duration::from_millis(300));
    assert!(process.try_wait().expect("it can be asked").is_none(), "it goes on");
    send(&process, TERMINATE);
    let output = process.wait_with_output().expect("it ends");
    says_that_it_was_interrupted(&output, &out(&output), "run lane-interleaving");
}

#[test]
fn what_has_nothing_to_tell_before_it_is_done_ends_at_once_and_says_so() {
    let folder = tempfile::tempdir().expect("a folder");
    let bench = ["bench", "swarm", "--seeds", "1000000", "--jobs", "1"];
    let output = ended(&bench, folder.path(), TERMINATE);
    says_that_it_was_interrupted(&output, &out(&output), "bench swarm --seeds 1000000 --jobs 1");
    let machine = ended(&[&bench[..], &["--json"]].concat(), folder.path(), TERMINATE);
    says_that_it_was_interrupted(&machine, &err(&machine), "--json");
    assert_eq!(out(&machine), "");
}

#[test]
fn a_ramp_and_a_bench_that_are_interrupted_end_with_3_and_the_block() {
    let folder = tempfile::tempdir().expect("a folder");
    for arguments in [
        &["size", "slot-floor"][..],
        &["size", "custody"],
        &["bench", "swarm", "early-release", "--seeds", "1000000"],
        &["bench", "retained", "--repeat", "100"],
    ] {
        let output = ended(arguments, folder.path(), INTERRUPT);
        says_that_it_was_interrupted(&output, &out(&output), &arguments[..2].join(" "));
    }
}

#[test]
fn interrupted_examinations_are_neither_held_nor_failed() {
    for (arguments, word) in [
        (&["corpus", "--corpus", "corpus"][..], "CUT SHORT "),
        (&["convict", "--no-shrink"], "CUT      0 of 0 examined flaws"),
    ] {
        let output = ended(arguments, Path::new(env!("CARGO_MANIFEST_DIR")), INTERRUPT);
        let text = out(&output);
        assert_eq!(output.status.code(), Some(3), "{arguments:?}: {text}");
        assert!(
            text.contains(word) && !text.contains("FAILED") && !text.contains("HELD"),
            "{arguments:?}: {text}"
        );
    }
}
