//! Errors of scenario files: where, what was expected, what was probably meant.

use super::{Setting, read};
use crate::catalogue::CATALOGUE;
use groundhog_sim::plan::{Draw, generate};

const HEAD: &str = "format = 1\nname = \"test\"\nnodes = 4\n";
const LIMITS: &[&str] = &["failed-batch-landed", "clock-excursion"];

fn error(text: &str) -> String {
    read("test.toml", text, &[], LIMITS).expect_err(text).to_string()
}

fn error_with(key: &str, value: &str) -> String {
    let setting = Setting { key: key.to_owned(), value: value.to_owned() };
    read("test.toml", HEAD, &[setting], LIMITS).expect_err(key).to_string()
}

#[test]
fn every_error_names_file_line_and_key_and_what_was_expected() {
    for (body, expected) in [
        ("[links]\nchanels = 2", "test.toml:5: links.chanels: no such key; the nearest is `links.channels`"),
        ("[link]\nchannels = 2", "test.toml:4: link: no such key; the nearest is `links`"),
        ("[links]\nchannels = 5", "test.toml:5: links.channels: expected an integer from 1 to 4, found 5"),
        (
            "[links]\nchannels = \"two\"",
            "test.toml:5: links.channels: expected an integer from 1 to 4 or a distribution of them, found string",
        ),
        (
            "[links]\nchannels = { min = 1, maks = 2 }",
            "test.toml:5: links.channels: no `maks` in a distribution, expected min, max; the nearest is `max`",
        ),
        (
            "[links]\nchannels = { min = 3, max = 2 }",
            "test.toml:5: links.channels: min 3 is greater than max 2",
        ),
        (
            "[links]\nchannels = { min = 3 }",
            "test.toml:5: links.channels: expected both min and max: max is missing",
        ),
        (
            "[links]\nchannels = { choices = [1, 2], weights = [1] }",
            "test.toml:5: links.channels: 2 choices and 1 weights",
        ),
        (
            "[links]\nchannels = { choices = [1, 2], weights = [0, 0] }",
            "test.toml:5: links.channels: every weight is 0",
        ),
        (
            "[links]\nchannels = {\n  choices = [1,\n   9] }",
            "test.toml:7: links.channels: expected an integer from 1 to 4, found 9",
        ),
        ("links = 3", "test.toml:4: links: expected a table [links], found integer"),
        (
            "disk = \"strickt\"",
            "test.toml:4: disk: expected one of strict, ordered, found \"strickt\"; the nearest is `strict`",
        ),
        ("crypto = 1", "test.toml:4: crypto: expected one of ed25519, keyed-hash, found integer"),
        (
            "[limits]\nfailed-batch-land = 1",
            "test.toml:5: limits.failed-batch-land: no such limit; the nearest is `failed-batch-landed`",
        ),
        (
            "[limits]\nclock-excursion = -1",
            "test.toml:5: limits.clock-excursion: expected how often the limit may be met in one run, an integer from 0",
        ),
    ] {
        assert_eq!(error(&format!("{HEAD}{body}\n")), expected);
    }
}

#[test]
fn a_file_that_is_no_toml_or_has_no_head_says_so() {
    let text = error("format = 1\nname = \"x\nnodes = 4\n");
    assert!(text.starts_with("test.toml:2: "), "{text}");
    assert_eq!(error("name = \"x\"\nnodes = 4\n"), "test.toml: format: it is missing");
    assert_eq!(error("format = 1\nname = \"x\"\n"), "test.toml: nodes: it is missing");
    assert_eq!(
        error("format = 2\nname = \"x\"\nnodes = 4\n"),
        "test.toml:1: format: expected 1, the format that this build reads, found 2"
    );
}

#[test]
fn an_error_of_a_setting_names_the_setting() {
    assert_eq!(error_with("channels", "2"), "--set: channels: no such key; the nearest is `links.channels`");
    assert_eq!(
        error_with("links.channels", "7"),
        "--set: links.channels: expected an integer from 1 to 4, found 7"
    );
    assert_eq!(error_with("nodes", "1"), "--set: nodes: expected an integer from 2 to 10000, found 1");
    assert_eq!(
        error_with("limits.clock", "1"),
        "--set: limits.clock: no such limit; the nearest is `clock-excursion`"
    );
}

#[test]
fn the_last_setting_of_a_key_wins_over_the_file() {
    let settings = [
        ("links.channels", "1"),
        ("links.channels", "{ min = 2, max = 3 }"),
        ("nodes", "6"),
        ("disk", "ordered"),
    ]
    .map(|(key, value)| Setting { key: key.to_owned(), value: value.to_owned() });
    let scenario =
        read("test.toml", &format!("{HEAD}[links]\nchannels = 4\n"), &settings, LIMITS).expect("it is right");
    assert_eq!(scenario.sections.links.channels, Draw::Between(2, 3));
    assert_eq!((scenario.nodes, scenario.counts_for), (6, 4));
}

#[test]
fn every_scenario_of_the_catalogue_gives_valid_plans_of_32_nodes_and_of_1000() {
    for entry in CATALOGUE {
        let scenario = read(entry.name, entry.text, &[], &crate::names::limit_ids()).expect(entry.name);
        assert_eq!(scenario.name, entry.name);
        assert!(scenario.nodes >= 32 && !entry.about().is_empty());
        for seed in 0..20 {
            let plan = generate(&scenario, seed);
            plan.check().expect(entry.name);
        }
        let setting = Setting { key: "nodes".to_owned(), value: "1000".to_owned() };
        let large = read(entry.name, entry.text, &[setting], &crate::names::limit_ids()).expect(entry.name);
        generate(&large, 1).check().expect(entry.name);
    }
}
