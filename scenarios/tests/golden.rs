//! Ten runs whose fingerprints are kept: a change that moves one is seen here, and must be explained in its message.
//!
//! The values were written by a release build; the tests run a debug build, so the two agree as well.

mod common;

use common::{fingerprint, groundhog};
use std::fmt::Write;

const KEPT: &str = include_str!("../baselines/fingerprints.txt");

#[test]
fn ten_runs_have_the_fingerprints_that_are_kept() {
    let mut now = String::new();
    let lines: Vec<&str> = KEPT.lines().filter(|line| !line.starts_with('#')).collect();
    for line in &lines {
        let mut words = line.split(' ');
        let (scenario, seed) = (words.next().expect("a scenario"), words.next().expect("a seed"));
        let _ = writeln!(
            now,
            "{scenario} {seed} {}",
            fingerprint(&groundhog(&["run", scenario, "--seed", seed]))
        );
    }
    assert_eq!(lines.len(), 10);
    let kept: String = lines.iter().map(|line| format!("{line}\n")).collect();
    assert!(
        kept == now,
        "fingerprints moved. If the change is meant to change what happens, say so and keep these instead:\n{now}"
    );
}
