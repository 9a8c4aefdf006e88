//! A night as a process: it finds what is planted, shrinks and keeps it, and says what it had no time for.

use serde_json::Value;
use std::path::Path;
use std::process::{Command, Output};

fn groundhog(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new(env!("CARGO_BIN_EXE_groundhog"));
    command.args(arguments).current_dir(folder).output().expect("the command runs")
}

fn out(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned()
}

#[test]
fn a_night_with_a_flaw_names_the_law_and_keeps_a_small_plan_that_breaks_it_apart_from_the_corpus() {
    let folder = tempfile::tempdir().expect("a folder");
    let night = ["nightly", "--for", "12s", "--from", "5", "--flaw", "early-release", "--corpus", "corpus"];
    let output = groundhog(folder.path(), &night);
    let text = out(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("FAILED   commit/release   "), "{text}");
    assert!(text.contains("\n  shrunk   ") && text.contains(" -> "), "{text}");
    let repeat =
        text.lines().last().and_then(|line| line.trim().strip_prefix("repeat   ")).expect("a command");
    assert!(repeat.contains(" --swarm --flaw early-release"), "{repeat}");
    let shell = Command::new("sh").args(["-c", &format!("{repeat} --no-shrink")]).output();
    assert_eq!(shell.expect("there is a shell").status.code(), Some(1), "{repeat}");
    assert!(!folder.path().join("corpus").exists(), "what was planted is no business of the corpus");
    let kept = groundhog(folder.path(), &["corpus", "--corpus", "out/nightly/kept"]);
    assert_eq!(kept.status.code(), Some(0), "{}", out(&kept));
    assert!(out(&kept).starts_with("HELD"), "{}", out(&kept));
}

#[test]
fn a_night_without_time_says_which_flaws_it_did_not_examine() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = groundhog(folder.path(), &["nightly", "--for", "50ms", "--from", "5", "--json"]);
    let document: Value = serde_json::from_slice(&output.stdout).expect("JSON");
    assert_eq!(document["first_seed"], 5);
    let said = String::from_utf8_lossy(&output.stderr);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("CUT      convictions   no time for") && said.contains("partial-undo"), "{said}");
    assert!(said.contains("--for 50ms --from 5"), "{said}");
}
