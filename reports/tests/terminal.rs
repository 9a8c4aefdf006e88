//! What a terminal shows.

mod samples;

use groundhog_reports::{
    CampaignFacts, MarksJudged, RunFacts, ScenarioFacts, Totals, terminal, terminal_campaign,
};
use groundhog_sim::outcome::Outcome;
use proptest::prelude::*;
use std::collections::BTreeMap;
use std::time::Duration;

const REPEAT: &str = "groundhog run crash-mid-batch --seed 18446744073709551615 --set nodes=1000 --set 'name=a long one' --flaw early-release";

fn facts() -> RunFacts {
    RunFacts {
        version: "0.1.0".to_owned(),
        repeat: REPEAT.to_owned(),
        real: Duration::from_millis(412),
        differs: false,
    }
}

fn fits(text: &str, width: usize) {
    for line in text.lines().filter(|line| !line.starts_with("fingerprint ")) {
        assert!(line.chars().count() <= width, "{} columns of {width}: {line}", line.chars().count());
        assert_eq!(line, line.trim_end());
    }
}

#[test]
fn every_line_fits_eighty_columns() {
    let plan = samples::plan("crash-mid-batch", u64::MAX);
    for outcome in [samples::held(1), samples::failed(2)] {
        let text = terminal(&plan, &outcome, &facts(), 80, false);
        fits(&text, 80);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "the fingerprint fits too");
        assert!(!text.contains('\x1b'));
    }
}

#[test]
fn the_verdict_is_first_and_the_command_can_be_pasted() {
    let mut plan = samples::plan("crash-mid-batch", 7);
    let held = terminal(&plan, &samples::held(7), &facts(), 80, false);
    assert!(held.starts_with("HELD "), "{held}");
    plan.flaws = vec!["early-release".to_owned()];
    let failed = terminal(&plan, &samples::failed(7), &facts(), 80, false);
    let mut lines = failed.lines();
    assert!(lines.next().unwrap().starts_with("FAILED "));
    assert!(lines.next().unwrap().contains("streams/at-most-once"));
    assert!(failed.contains("flaws on   early-release"));
    // As a shell reads it: a backslash at the end of a line joins it with the next.
    let joined = failed.replace("\\\n", " ");
    let words: Vec<&str> = joined.split_whitespace().collect();
    assert!(words.join(" ").contains(REPEAT), "{failed}");
    let fingerprints = failed.lines().filter(|line| line.starts_with("fingerprint ") && line.len() == 76);
    assert_eq!(fingerprints.count(), 1);
}

#[test]
fn a_percentile_without_ten_samples_above_is_a_dash() {
    let text = terminal(&samples::plan("a", 7), &samples::held(7), &facts(), 80, false);
    let row = |class: &str| {
        let line = text.lines().find(|line| line.trim_start().starts_with(class));
        line.unwrap().split_whitespace().map(str::to_owned).collect::<Vec<_>>()
    };
    assert_eq!(row("application")[2..6], ["-", "-", "-", "-"]);
    assert_eq!(row("e2e")[6..8], ["-", "-"]);
    assert!(!row("control").contains(&"-".to_owned()));
}

#[test]
fn lost_messages_without_a_cause_are_cried_out() {
    let outcome = Outcome { losses: BTreeMap::from([("link-loss", 1)]), ..samples::held(7) };
    let text = terminal(&samples::plan("a", 7), &outcome, &facts(), 80, false);
    assert!(text.contains("UNEXPLAINED"), "{text}");
}

#[test]
fn colour_changes_nothing_but_colour() {
    let (plan, outcome) = (samples::plan("a", 7), samples::failed(7));
    let plain = terminal(&plan, &outcome, &facts(), 80, false);
    let coloured = terminal(&plan, &outcome, &facts(), 80, true);
    assert_ne!(plain, coloured);
    let mut stripped = coloured;
    for code in ["\x1b[1;31m", "\x1b[0m"] {
        stripped = stripped.replace(code, "");
    }
    assert_eq!(stripped, plain);
}

fn campaign(width: u16) -> String {
    let mut totals = Totals::new("crash-mid-batch");
    for seed in 0..4 {
        let outcome = if seed == 2 { samples::failed(seed) } else { samples::held(seed) };
        totals.absorb(&samples::plan("crash-mid-batch", seed), &outcome);
    }
    let scenarios = [ScenarioFacts { totals, marks: samples::marks(), marks_judged: MarksJudged::Judged }];
    let facts = CampaignFacts {
        version: "0.1.0",
        command: "groundhog run crash-mid-batch --seeds 4",
        real: Duration::from_secs(1),
        scenarios: &scenarios,
        repeat: &|scenario, seed| format!("groundhog run {scenario} --seed {seed}"),
    };
    terminal_campaign(&facts, width, false)
}

#[test]
fn a_campaign_names_laws_first_seeds_commands_and_missed_marks() {
    let text = campaign(80);
    fits(&text, 80);
    for part in [
        "FAILED       crash-mid-batch   3 of 4 seeds held",
        "streams/at-most-once   2 violations in 1 seed, first in seed 2",
        "repeat     groundhog run crash-mid-batch --seed 2",
        "death/process/sender/directory-flush",
    ] {
        assert!(text.contains(part), "{part} is missing from\n{text}");
    }
    assert!(text.lines().last().unwrap().starts_with("FAILED       3 of 4 seeds held, 1 scenario"));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    #[test]
    fn every_line_fits_any_width(width in 40_u16..140, saw in "\\PC{0,200}", control in "[\\x00-\\x1f]{0,3}") {
        let mut outcome = samples::failed(3);
        outcome.violations[0].saw = format!("{saw}{control}end");
        let facts = RunFacts { repeat: "groundhog run a --seed 3".to_owned(), ..facts() };
        let text = terminal(&samples::plan("a", 3), &outcome, &facts, width, false);
        for line in text.lines().filter(|line| !line.starts_with("fingerprint ")) {
            prop_assert!(line.chars().count() <= usize::from(width), "{}", line);
            prop_assert!(!line.chars().any(char::is_control));
        }
    }
}
