//! Errors of scenario files: where, what was expected, what was probably meant.

use super::{Setting, read};
use crate::catalogue::CATALOGUE;
use groundhog_sim::plan::{Draw, Key, KeySource, Sections, generate, generate_swarm};

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
fn a_scenario_that_contradicts_itself_or_sends_nothing_names_the_key() {
    for (body, expected) in [
        (
            "[links]\nhubs = { min = 1, max = 5 }",
            "test.toml:5: links.hubs: expected at most as many hubs as nodes, for a hub is one of them, found up to 5 and 4",
        ),
        (
            "[load]\nbursts = 0\nafter_quiesce_bursts = 0",
            "test.toml:5: load.bursts: expected something that is sent: no burst here, none in load.after_quiesce_bursts and no scene",
        ),
    ] {
        assert_eq!(error(&format!("{HEAD}{body}\n")), expected);
    }
    let head = |nodes: u32, body: &str| format!("format = 1\nname = \"test\"\nnodes = {nodes}\n{body}\n");
    for text in [
        head(2, ""),
        head(4, "[links]\nhubs = 4"),
        head(4, "[load]\nbursts = 0"),
        head(4, "[load]\nbursts = 0\nafter_quiesce_bursts = 0\n[scenes]\nfloods = 1"),
    ] {
        read("test.toml", &text, &[], LIMITS).expect(&text);
    }
    let setting = |key: &str, value: &str| Setting { key: key.to_owned(), value: value.to_owned() };
    let fewer = [setting("nodes", "2")];
    read("test.toml", &head(8, "[links]\nhubs = 8"), &fewer, LIMITS).expect("counts are scaled to the nodes");
    assert!(error_with("links.hubs", "5").starts_with("--set: links.hubs: expected at most as many hubs"));
}

/// Every key, as its section defines it.
struct Keys(Vec<Key>);

impl KeySource for Keys {
    type Error = std::convert::Infallible;

    fn draw(&mut self, key: &Key) -> Result<Draw, Self::Error> {
        self.0.push(key.clone());
        Ok(Draw::Fixed(key.default))
    }
}

#[test]
fn every_value_can_be_a_distribution_that_a_setting_gives() {
    let mut keys = Keys(Vec::new());
    let Ok(_) = Sections::read(&mut keys);
    for key in keys.0 {
        let (least, most) = (key.range.start(), key.range.end());
        let name = format!("{}.{}", key.section, key.name);
        let span =
            Setting { key: name.clone(), value: format!("{{ min = {least}, max = {} }}", key.default) };
        let choice = Setting {
            key: name.clone(),
            value: format!("{{ choices = [{least}, {}], weights = [1, 3] }}", key.default),
        };
        for setting in [span, choice] {
            read("test.toml", HEAD, &[setting], LIMITS).expect(&name);
        }
        let beyond = Setting {
            key: name.clone(),
            value: format!("{{ min = {least}, max = {} }}", i128::from(*most) + 1),
        };
        let refused = read("test.toml", HEAD, &[beyond], LIMITS).expect_err(&name);
        assert_eq!((refused.file.as_str(), refused.key.as_str()), ("--set", name.as_str()));
    }
    for name in ["crypto", "disk"] {
        let first = if name == "disk" { "ordered" } else { "keyed-hash" };
        let value = format!(
            "{{ choices = [\"{first}\", \"{}\"], weights = [2, 1] }}",
            if name == "disk" { "strict" } else { "ed25519" }
        );
        read("test.toml", HEAD, &[Setting { key: name.to_owned(), value }], LIMITS).expect(name);
    }
    // What counts are written for is one number.
    assert_eq!(
        error_with("nodes", "{ min = 2, max = 3 }"),
        "--set: nodes: expected an integer from 2 to 10000, found table"
    );
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
fn every_scenario_of_the_catalogue_gives_valid_plans_as_it_stands_and_of_1000_nodes() {
    for entry in CATALOGUE {
        let scenario = read(entry.name, entry.text, &[], &crate::names::limit_ids()).expect(entry.name);
        assert_eq!(scenario.name, entry.name);
        assert!(scenario.nodes >= 6 && !entry.about().is_empty());
        // The plan of a week is large.
        for seed in 0..u64::from(scenario.seeds_per_thousand / 50) {
            let plan = generate(&scenario, seed);
            plan.check().expect(entry.name);
            generate_swarm(&scenario, seed).check().expect(entry.name);
        }
        let setting = |key: &str, value: &str| Setting { key: key.to_owned(), value: value.to_owned() };
        let mut settings = vec![setting("nodes", "1000")];
        if scenario.seeds_per_thousand < 1_000 {
            // Days of load at so many nodes take a minute to draw, and their plans hold nothing that a part does not.
            settings.push(setting("load.bursts", "1000"));
        }
        let large = read(entry.name, entry.text, &settings, &crate::names::limit_ids()).expect(entry.name);
        generate(&large, 1).check().expect(entry.name);
        generate_swarm(&large, 1).check().expect(entry.name);
    }
}

#[test]
fn slow_machines_get_far_more_time_to_settle_than_the_file_says_and_none_of_the_catalogue_is_that_slow() {
    for entry in CATALOGUE {
        let scenario = read(entry.name, entry.text, &[], &crate::names::limit_ids()).expect(entry.name);
        for seed in 0..u64::from(scenario.seeds_per_thousand / 50) {
            for plan in [generate(&scenario, seed), generate_swarm(&scenario, seed)] {
                let settles_ms = (plan.end_us - plan.quiesce_us) / 1_000;
                let (least_ms, most_ms) = scenario.sections.time.settle_ms.bounds();
                // Bursts against slow verification may need a little more than the file says.
                let says = least_ms.cast_unsigned()..2 * most_ms.cast_unsigned();
                assert!(says.contains(&settles_ms), "{} {seed}: {settles_ms} ms, {says:?}", entry.name);
            }
        }
    }
    let slow = Setting { key: "machines.flush_us".to_owned(), value: "1000000".to_owned() };
    let entry = CATALOGUE[0];
    let scenario = read(entry.name, entry.text, &[slow], &crate::names::limit_ids()).expect(entry.name);
    let plan = generate(&scenario, 1);
    assert!(plan.end_us - plan.quiesce_us > 60_000_000, "{} us", plan.end_us - plan.quiesce_us);
}
