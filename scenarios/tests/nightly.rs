//! A night as a process: it finds what is planted, shrinks and keeps it, and says what it had no time for.

mod common;

use common::{err, groundhog_in, json, out, pasted_in, repeat};

#[test]
fn a_night_with_a_flaw_names_the_law_and_keeps_a_small_plan_that_breaks_it_apart_from_the_corpus() {
    let folder = tempfile::tempdir().expect("a folder");
    let night = |time: &&str| {
        let night =
            ["nightly", "--for", time, "--from", "5", "--flaw", "early-release", "--corpus", "corpus"];
        groundhog_in(folder.path(), &night)
    };
    // A machine that does other things as well needs more of its time before anything is shrunk.
    let output =
        ["12s", "50s", "200s"].iter().map(night).find(|output| out(output).contains("\n  shrunk   "));
    let output = output.expect("a night long enough to shrink something");
    let text = out(&output);
    assert_eq!(output.status.code(), Some(1), "{text}");
    assert!(text.contains("FAILED   commit/release   "), "{text}");
    assert!(text.contains("\n  shrunk   ") && text.contains(" -> "), "{text}");
    let line = repeat(&text);
    assert!(line.contains(" --swarm --flaw early-release"), "{line}");
    let again = pasted_in(folder.path(), &format!("{line} --no-shrink"));
    assert_eq!(again.status.code(), Some(1), "{line}");
    assert!(!folder.path().join("corpus").exists(), "what was planted is no business of the corpus");
    let kept = groundhog_in(folder.path(), &["corpus", "--corpus", "out/nightly/kept"]);
    assert_eq!(kept.status.code(), Some(0), "{}", out(&kept));
    assert!(out(&kept).starts_with("HELD"), "{}", out(&kept));
}

#[test]
fn a_night_without_time_says_which_flaws_it_did_not_examine() {
    let folder = tempfile::tempdir().expect("a folder");
    let output = groundhog_in(folder.path(), &["nightly", "--for", "50ms", "--from", "5", "--json"]);
    assert_eq!(json(&output)["first_seed"], 5);
    let said = err(&output);
    assert_eq!(output.status.code(), Some(3), "{said}");
    assert!(said.contains("CUT      convictions   no time for") && said.contains("partial-undo"), "{said}");
    assert!(said.contains("--for 50ms --from 5"), "{said}");
}
