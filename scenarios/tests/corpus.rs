//! Kept plans as a person meets them: kept with law, date and reason, run under 16 schedule seeds, and told when they no
//! longer show what they were kept for.

mod common;

use common::{err, groundhog, out, pasted, repeat};
use std::path::Path;

/// A small plan that breaks at most once what its flaw breaks.
fn plan(folder: &Path, flaw: &str) -> String {
    let output = groundhog(&[
        "plan",
        "crash-mid-batch",
        "--seed",
        "3",
        "--set",
        "nodes=4",
        "--set",
        "load.bursts=12",
        "--set",
        "crypto=keyed-hash",
        "--flaw",
        flaw,
    ]);
    let path = folder.join(format!("{flaw}.json"));
    std::fs::write(&path, &output.stdout).expect("a file");
    path.display().to_string()
}

#[test]
fn a_plan_is_kept_once_with_its_law_and_still_breaks_it_and_holds_without_its_flaws() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = plan(folder.path(), "early-release");
    let corpus = folder.path().join("corpus").display().to_string();
    let keep = |more: &[&str]| {
        let arguments = [&["keep", &plan, "--reason", "a test", "--corpus", &corpus], more].concat();
        groundhog(&arguments)
    };
    let several = keep(&[]);
    assert_eq!(several.status.code(), Some(2), "{}", out(&several));
    assert!(err(&several).contains("commit/release") && err(&several).contains("--law"), "{}", err(&several));
    let wrong = keep(&["--law", "streams/markers"]);
    assert_eq!(wrong.status.code(), Some(2), "{}", err(&wrong));
    let kept = keep(&["--law", "commit/release"]);
    assert_eq!(kept.status.code(), Some(0), "{}", err(&kept));
    let listed = groundhog(&["corpus", "--list", "--corpus", &corpus]);
    assert!(out(&listed).contains("commit/release") && out(&listed).contains("a test"), "{}", out(&listed));
    let held = groundhog(&["corpus", "--corpus", &corpus]);
    assert_eq!(held.status.code(), Some(0), "{}", out(&held));
    assert!(out(&held).starts_with("HELD") && out(&held).contains("1 kept plans"), "{}", out(&held));
}

#[test]
fn a_kept_plan_whose_law_no_longer_sees_its_flaw_fails_and_its_command_fails_again() {
    let folder = tempfile::tempdir().expect("a folder");
    let plan = plan(folder.path(), "early-release");
    let corpus = folder.path().join("corpus");
    let at = corpus.display().to_string();
    groundhog(&[
        "keep",
        &plan,
        "--reason",
        "a test",
        "--corpus",
        &at,
        "--law",
        "commit/release",
        "--name",
        "x",
    ]);
    let text = std::fs::read_to_string(corpus.join("x.toml")).expect("it was written");
    std::fs::write(corpus.join("x.toml"), text.replace("commit/release", "streams/one-digest"))
        .expect("a file");
    let failed = groundhog(&["corpus", "--corpus", &at]);
    assert_eq!(failed.status.code(), Some(1), "{}", out(&failed));
    let text = out(&failed);
    assert!(text.contains("FAILED   streams/one-digest") && text.contains("early-release"), "{text}");
    let again = pasted(repeat(&text));
    assert_eq!(again.status.code(), Some(1), "{}", err(&again));
    assert!(out(&again).contains("FAILED   streams/one-digest"), "{}", out(&again));
}

#[test]
fn no_folder_and_an_unknown_name_are_told_with_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let at = folder.path().display().to_string();
    let none = groundhog(&["corpus", "--corpus", "/nowhere/at/all"]);
    assert_eq!(none.status.code(), Some(2));
    assert!(err(&none).contains("groundhog keep"), "{}", err(&none));
    let unknown = groundhog(&["corpus", "x", "--corpus", &at]);
    assert_eq!(unknown.status.code(), Some(2));
    assert!(err(&unknown).contains("no kept plan is called `x`"), "{}", err(&unknown));
}

#[test]
fn what_the_repository_keeps_still_shows_what_it_was_kept_for() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("corpus").display().to_string();
    let output = groundhog(&["corpus", "--corpus", &folder]);
    assert_eq!(output.status.code(), Some(0), "{}{}", out(&output), err(&output));
}
