//! Ten runs whose fingerprints are kept: a change that moves one is seen here, and must be explained in its message.
//!
//! The values were written by a release build; the tests run a debug build, so the two agree as well.

use std::fmt::Write;
use std::process::Command;

const KEPT: &str = include_str!("../baselines/fingerprints.txt");

fn fingerprint(scenario: &str, seed: &str) -> String {
    let output = Command::new(env!("CARGO_BIN_EXE_groundhog"))
        .args(["run", scenario, "--seed", seed])
        .output()
        .expect("the command runs");
    let text = String::from_utf8(output.stdout).expect("output is UTF-8");
    let line = text.lines().find_map(|line| line.strip_prefix("fingerprint "));
    line.unwrap_or_else(|| panic!("{scenario} {seed} printed no fingerprint:\n{text}")).to_owned()
}

#[test]
fn ten_runs_have_the_fingerprints_that_are_kept() {
    let mut now = String::new();
    let lines: Vec<&str> = KEPT.lines().filter(|line| !line.starts_with('#')).collect();
    for line in &lines {
        let mut words = line.split(' ');
        let (scenario, seed) = (words.next().expect("a scenario"), words.next().expect("a seed"));
        let _ = writeln!(now, "{scenario} {seed} {}", fingerprint(scenario, seed));
    }
    assert_eq!(lines.len(), 10);
    let kept: String = lines.iter().map(|line| format!("{line}\n")).collect();
    assert!(
        kept == now,
        "fingerprints moved. If the change is meant to change what happens, say so and keep these instead:\n{now}"
    );
}
