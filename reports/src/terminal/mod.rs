//! What a terminal shows: the verdict first, then figures that fit.
//!
//! Promise: no line is longer than the width, down to [`LEAST_WIDTH`], but for the fingerprint, which tools look for on a
//! line of its own, and a single word of a command; nothing depends on the terminal, and a command can be pasted.

mod figures;
mod lines;

pub use lines::labelled_command;

use crate::facts::{CampaignFacts, RunFacts, ScenarioFacts};
use crate::format::{count, counted, hex, swarm_words};
use crate::page::{cut_words, real, simulated, whereabouts};
use crate::summary::{campaign_verdict, scenario_verdict, verdict};
use crate::totals::{Broken, Totals};
use groundhog_sim::outcome::Outcome;
use groundhog_sim::plan::Plan;
use lines::Lines;

/// The narrowest width that lines are fitted to; a narrower terminal gets lines of this width.
pub const LEAST_WIDTH: u16 = 40;

/// Broken laws of one run that are listed, each with its first violation.
const MOST_LAWS: usize = 5;

/// The summary of one run, lines of at most `width` columns, the last one ended.
#[must_use]
pub fn terminal(plan: &Plan, outcome: &Outcome, facts: &RunFacts, width: u16, colour: bool) -> String {
    let totals = facts.totals(plan, outcome);
    let mut lines = Lines::new(width, colour);
    lines.verdict(verdict(&totals), &format!("{}   seed {}", plan.scenario, plan.seed));
    broken_laws(&mut lines, &totals);
    if let Some(cut) = &outcome.cut {
        lines.item("cut", &format!("{}; what came after is not covered", cut_words(cut)));
    }
    figures::conditions(&mut lines, &totals);
    if !plan.swarm.is_empty() {
        lines.item("swarm", &swarm_words(&plan.swarm));
    }
    lines.item(
        "simulated",
        &format!(
            "{}, {}, {}",
            simulated(totals.covered_ns),
            counted(totals.nodes, "node"),
            counted(totals.events, "event")
        ),
    );
    lines.item("real time", &real(facts.real));
    figures::figures(&mut lines, &totals);
    figures::marks_of_one(&mut lines, &totals);
    lines.command("repeat", &facts.repeat);
    lines.fingerprint(&hex(&outcome.fingerprint));
    lines.into_text()
}

/// The summary of many seeds, lines of at most `width` columns, the last one ended.
#[must_use]
pub fn terminal_campaign(facts: &CampaignFacts<'_>, width: u16, colour: bool) -> String {
    let mut lines = Lines::new(width, colour);
    for scenario in facts.scenarios {
        scenario_lines(&mut lines, scenario, facts);
        lines.blank();
    }
    let seeds: u64 = facts.scenarios.iter().map(|scenario| scenario.totals.seeds).sum();
    let held: u64 = facts.scenarios.iter().map(|scenario| scenario.totals.held).sum();
    let run = facts.scenarios.iter().filter(|scenario| scenario.totals.seeds > 0).count();
    lines.verdict(
        campaign_verdict(facts),
        &format!(
            "{} of {} held, {}, real time {}",
            count(held),
            counted(seeds, "seed"),
            counted(run as u64, "scenario"),
            real(facts.real)
        ),
    );
    lines.into_text()
}

/// Every law that one run broke, in the order of their first violations.
fn broken_laws(lines: &mut Lines, totals: &Totals) {
    let mut laws: Vec<&Broken> = totals.broken.values().collect();
    laws.sort_by_key(|broken| (broken.first.at, broken.first.law));
    for broken in laws.iter().take(MOST_LAWS) {
        let more = match broken.violations - 1 {
            0 => String::new(),
            more => format!("; and {} later", count(more)),
        };
        lines.item("law", &format!("{}   {}{more}", broken.first.law, whereabouts(&broken.first)));
        lines.item("", &broken.first.saw);
    }
    if laws.len() > MOST_LAWS {
        lines.item("", &format!("and {}", counted((laws.len() - MOST_LAWS) as u64, "more law")));
    }
}

fn scenario_lines(lines: &mut Lines, scenario: &ScenarioFacts, facts: &CampaignFacts<'_>) {
    let totals = &scenario.totals;
    if totals.seeds == 0 {
        lines.verdict(scenario_verdict(scenario), &format!("{}   no seed was run", totals.scenario));
        return;
    }
    let held =
        format!("{}   {} of {} held", totals.scenario, count(totals.held), counted(totals.seeds, "seed"));
    lines.verdict(scenario_verdict(scenario), &held);
    for (law, broken) in &totals.broken {
        let seeds =
            format!("{} in {}", counted(broken.violations, "violation"), counted(broken.seeds, "seed"));
        lines.item("law", &format!("{law}   {seeds}, first in seed {}", broken.first_seed));
        lines.item("", &format!("{} ({})", broken.first.saw, whereabouts(&broken.first)));
        lines.command("repeat", &(facts.repeat)(&totals.scenario, broken.first_seed));
    }
    for cut in totals.cuts.values() {
        let seeds = counted(cut.seeds, "seed");
        lines.item("cut", &format!("{}: {seeds}, first seed {}", cut_words(&cut.first), cut.first_seed));
        lines.command("repeat", &(facts.repeat)(&totals.scenario, cut.first_seed));
    }
    figures::conditions(lines, totals);
    figures::swarm(lines, totals);
    let size = format!("up to {}, {}", counted(totals.nodes, "node"), counted(totals.events, "event"));
    lines.item("simulated", &format!("{} in all, {size}", simulated(totals.covered_ns)));
    figures::figures(lines, totals);
    figures::marks(lines, scenario);
}
