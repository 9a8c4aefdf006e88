//! The page of many seeds.

use super::frame::{alarm, cut_alarm, flaws, page, real, signatures, simulated, verdict_line, verdict_word};
use super::tables;
use crate::facts::{CampaignFacts, ScenarioFacts};
use crate::folder::ReportError;
use crate::format::{count, counted};
use crate::summary::{campaign_verdict, scenario_verdict};
use maud::{Markup, html};

/// The page of many seeds, as HTML.
pub(crate) fn of_campaign(facts: &CampaignFacts<'_>) -> Result<String, ReportError> {
    let seeds: u64 = facts.scenarios.iter().map(|scenario| scenario.totals.seeds).sum();
    let held: u64 = facts.scenarios.iter().map(|scenario| scenario.totals.held).sum();
    let title = match facts.scenarios {
        [one] => format!("{}, {}", one.totals.scenario, counted(seeds, "seed")),
        many => format!("{}, {}", counted(many.len() as u64, "scenario"), counted(seeds, "seed")),
    };
    let words = format!("{} of {} held", count(held), counted(seeds, "seed"));
    let mut sections = Vec::with_capacity(facts.scenarios.len());
    for scenario in facts.scenarios {
        sections.push(section(scenario, facts.scenarios.len() > 1)?);
    }
    let body = html! {
        header {
            h1 { (title) }
            (verdict_line(campaign_verdict(facts), &words))
            @for scenario in facts.scenarios { (alarms(scenario, facts)) }
            dl.facts {
                dt { "Command" } dd { code { (facts.command) } }
                dt { "Version" } dd { "Groundhog " (facts.version) }
                dt { "Real time" } dd { (real(facts.real)) " for all seeds, on the machine that ran them" }
            }
            @if facts.scenarios.len() > 1 { (overview(facts)) }
        }
        main { @for section in sections { (section) } }
    };
    Ok(page(&title, &body))
}

fn alarms(scenario: &ScenarioFacts, facts: &CampaignFacts<'_>) -> Markup {
    let totals = &scenario.totals;
    let name = (facts.scenarios.len() > 1).then_some(totals.scenario.as_str());
    html! {
        @for broken in totals.broken.values() {
            @let words = format!(
                "{} in {} of {}, first in seed {}",
                counted(broken.violations, "violation"),
                count(broken.seeds),
                counted(totals.seeds, "seed"),
                broken.first_seed
            );
            (alarm(&broken.first, name, &words, &(facts.repeat)(&totals.scenario, broken.first_seed)))
        }
        @for cut in totals.cuts.values() {
            @let words = format!("{}, first seed {}.", counted(cut.seeds, "seed"), cut.first_seed);
            (cut_alarm(&cut.first, name, &words, &(facts.repeat)(&totals.scenario, cut.first_seed)))
        }
    }
}

fn overview(facts: &CampaignFacts<'_>) -> Markup {
    html! {
        h2 { "Scenarios" }
        div.scroll { table {
            thead { tr { th { "scenario" } th { "verdict" } th.n { "seeds" } th.n { "held" } th.n { "laws broken" } th.n { "marks missed" } } }
            tbody { @for scenario in facts.scenarios {
                @let verdict = scenario_verdict(scenario);
                tr {
                    td.name { (scenario.totals.scenario) } td { span.(verdict) { (verdict_word(verdict)) } }
                    td.n { (count(scenario.totals.seeds)) } td.n { (count(scenario.totals.held)) }
                    td.n { (scenario.totals.broken.len()) } td.n { (scenario.missed().len()) }
                }
            } }
        } }
    }
}

fn section(scenario: &ScenarioFacts, titled: bool) -> Result<Markup, ReportError> {
    let totals = &scenario.totals;
    let seeds = counted(totals.seeds, "seed");
    let over = match scenario.marks_judged.why_not() {
        None => format!("Counted over {seeds}."),
        Some(why) => format!("Counted over {seeds}; {why}."),
    };
    Ok(html! {
        @if titled { h1 style="margin-top:4rem" { (totals.scenario) } }
        (flaws(totals))
        dl.facts {
            dt { "Simulated" }
            dd {
                (simulated(totals.covered_ns)) " in all, up to " (counted(totals.nodes, "node")) ", "
                (counted(totals.events, "event"))
            }
            dt { "Signatures" } dd { (signatures(totals)) }
        }
        (tables::marks(&scenario.mark_rates(), &over))
        (tables::swarm(totals))
        (tables::latency(totals)?)
        (tables::messages(totals))
        (tables::limits(totals))
        (tables::bounds(totals))
        (tables::batches(totals)?)
    })
}
