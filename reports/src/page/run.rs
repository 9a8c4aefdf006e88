//! The page of one run.

use super::frame::{alarm, cut_alarm, flaws, page, real, signatures, simulated, verdict_line};
use super::tables;
use crate::facts::RunFacts;
use crate::folder::ReportError;
use crate::format::{count, counted, duration, hex, swarm_words};
use crate::marks::rates;
use crate::plot::{self, TimePlot};
use crate::summary::verdict;
use crate::totals::Totals;
use groundhog_sim::outcome::Outcome;
use groundhog_sim::plan::Plan;
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Violations listed on the page; `summary.json` lists more.
const MOST_VIOLATIONS: usize = 50;

/// Fault spans listed on the page; the plan has all of them.
const MOST_FAULTS: usize = 500;

/// The page of one run, as HTML.
pub(crate) fn of_run(
    plan: &Plan,
    outcome: &Outcome,
    totals: &Totals,
    facts: &RunFacts,
) -> Result<String, ReportError> {
    let title = format!("{}, seed {}", plan.scenario, plan.seed);
    let body = html! {
        header {
            h1 { (title) }
            (verdict_line(verdict(totals), &verdict_words(outcome, totals)))
            (flaws(totals))
            @if let Some(first) = outcome.violations.first() {
                (alarm(first, None, &first_of(outcome), &facts.repeat))
            }
            @if let Some(cut) = &outcome.cut { (cut_alarm(cut, None, "", &facts.repeat)) }
            (run_facts(plan, outcome, totals, facts))
        }
        main {
            (violations(outcome))
            (tables::latency(totals)?)
            (over_time(outcome)?)
            (crate::floods::table(&totals.floods))
            (tables::messages(totals))
            (tables::limits(totals))
            (tables::marks(
                &rates(&totals.marks, &BTreeMap::new(), totals.seeds),
                "They are due over many seeds; one run reaches some of them.",
            ))
            (tables::bounds(totals))
            (tables::batches(totals)?)
            (stalls(outcome))
            (faults(outcome))
        }
    };
    Ok(page(&title, &body))
}

fn verdict_words(outcome: &Outcome, totals: &Totals) -> String {
    if totals.differ > 0 {
        "a second run of the same plan was not the same".to_owned()
    } else if !outcome.violations.is_empty() {
        violations_in_words(outcome, totals)
    } else if outcome.cut.is_some() {
        "every law held as far as the run went".to_owned()
    } else {
        "every law held".to_owned()
    }
}

fn first_of(outcome: &Outcome) -> String {
    match outcome.violations.len() {
        1 => "the only violation".to_owned(),
        many => format!("the first of {}", counted(many as u64, "violation")),
    }
}

fn violations_in_words(outcome: &Outcome, totals: &Totals) -> String {
    let violations = counted(outcome.violations.len() as u64, "violation");
    format!("{violations} of {}", counted(totals.broken.len() as u64, "law"))
}

fn run_facts(plan: &Plan, outcome: &Outcome, totals: &Totals, facts: &RunFacts) -> Markup {
    let took_effect: u64 = totals.faults.values().sum();
    html! {
        dl.facts {
            dt { "Simulated" }
            dd { (simulated(totals.covered_ns)) ", " (counted(totals.nodes, "node")) ", " (counted(outcome.events, "event")) }
            dt { "Plan" }
            dd {
                (counted(plan.actions.len() as u64, "action")) ", " (counted(plan.faults.len() as u64, "fault")) ", "
                (count(took_effect)) " took effect; schedule seed " (plan.schedule_seed)
            }
            @if !plan.swarm.is_empty() { dt { "Swarm" } dd { (swarm_words(&plan.swarm)) } }
            dt { "Signatures" } dd { (signatures(totals)) }
            dt { "Fingerprint" } dd { code { (hex(&outcome.fingerprint)) } }
            // A failure shows the command beside what failed.
            @if outcome.held() { dt { "Repeat" } dd { code { (facts.repeat) } } }
            dt { "Version" } dd { "Groundhog " (facts.version) }
            dt { "Real time" } dd { (real(facts.real)) " on the machine that ran it" }
        }
    }
}

fn violations(outcome: &Outcome) -> Markup {
    let all = outcome.violations.len();
    html! {
        @if all > 1 {
            h2 { "Violations" }
            table {
                thead { tr { th { "time" } th { "law, and what it saw" } } }
                tbody { @for violation in outcome.violations.iter().take(MOST_VIOLATIONS) { tr {
                    td.time { (violation.at) }
                    td.saw {
                        code { (violation.law) }
                        @if let Some(node) = violation.node { span.soft { " at " (node) } }
                        br; (violation.saw)
                    }
                } } }
            }
            @if all > MOST_VIOLATIONS {
                p.note { "The first " (MOST_VIOLATIONS) " of " (count(all as u64)) "." }
            }
        }
    }
}

fn over_time(outcome: &Outcome) -> Result<Markup, ReportError> {
    let plots = [
        plot::dispatched(&outcome.slices),
        plot::refused(&outcome.slices),
        plot::written(&outcome.slices),
        plot::bounds_in_use(outcome),
    ];
    let mut figures = Vec::with_capacity(plots.len());
    for plot in &plots {
        if let Some(drawn) = plot::over_time(plot, outcome)? {
            figures.push(time_figure(plot, outcome, &drawn));
        }
    }
    Ok(html! {
        h2 { "Over simulated time" }
        @if figures.is_empty() { p.none { "Nothing happened." } }
        @for figure in figures { (figure) }
    })
}

fn time_figure(plot: &TimePlot, outcome: &Outcome, drawn: &Markup) -> Markup {
    let shaded = !outcome.fault_spans.is_empty();
    html! {
        h3 { (plot.title) }
        figure {
            (plot::key(
                plot.series
                    .iter()
                    .map(|series| (series.name, series.colour))
                    .chain((!plot.spans.is_empty()).then_some(("custody refuses mail", plot::STALLED))),
                shaded,
            ))
            (drawn)
        }
    }
}

fn stalls(outcome: &Outcome) -> Markup {
    let all = outcome.stalls.len();
    html! {
        @if all > 0 {
            h2 { "Custody stalls" }
            table {
                thead { tr { th.n { "from" } th.n { "for" } th { "node" } th.n { "refused" } th { "ended" } } }
                tbody { @for stall in outcome.stalls.iter().take(MOST_FAULTS) { tr {
                    td.n { (stall.from) }
                    td.n { (duration(stall.until.0.saturating_sub(stall.from.0))) }
                    td { (stall.node) }
                    td.n { (count(stall.refused)) }
                    td { @if stall.over { "by the next delivery that was admitted" } @else { "not before the run did" } }
                } } }
            }
            @if all > MOST_FAULTS { p.note { "The first " (MOST_FAULTS) " of " (count(all as u64)) "." } }
        }
    }
}

fn faults(outcome: &Outcome) -> Markup {
    let all = outcome.fault_spans.len();
    html! {
        h2 { "Faults in order" }
        @if all == 0 { p.none { "None." } } @else {
            details {
                summary { (counted(all as u64, "fault")) }
                table {
                    thead { tr { th.n { "from" } th.n { "for" } th { "fault" } } }
                    tbody { @for span in outcome.fault_spans.iter().take(MOST_FAULTS) { tr {
                        td.n { (span.from) }
                        td.n { @match span.until.0.saturating_sub(span.from.0) { 0 => "at once", ns => (duration(ns)) } }
                        td.name { (span.label) }
                    } } }
                }
                @if all > MOST_FAULTS { p.note { "The first " (MOST_FAULTS) " of " (count(all as u64)) "; plan.json has all." } }
            }
        }
    }
}
