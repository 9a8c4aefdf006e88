//! The tables and plots that a run's page and a campaign's page share.

use crate::folder::ReportError;
use crate::format::{count, counted, duration, per_mille, share};
use crate::latency::{LADDER, percentile};
use crate::marks::{MarkRate, Standing};
use crate::plot::{self, CLASS_COLOURS, From};
use crate::totals::Totals;
use groundhog_sim::outcome::Latency;
use hdrhistogram::Histogram;
use maud::{Markup, html};
use std::collections::BTreeMap;

/// Latency: for each beginning a plot and a table.
pub(super) fn latency(totals: &Totals) -> Result<Markup, ReportError> {
    let shown: Vec<&Latency> =
        totals.latencies.values().filter(|latency| !latency.from_intended.is_empty()).collect();
    let mut parts = Vec::with_capacity(2);
    for (from, caption) in [
        (From::Intended, "From the intended time of sending (corrected)"),
        (From::Sent, "From the actual time of sending (uncorrected)"),
    ] {
        if let Some(plot) = plot::latency(&totals.latencies, from)? {
            parts.push(latency_part(&shown, from, caption, &plot));
        }
    }
    Ok(html! {
        h2 { "Latency" }
        @if parts.is_empty() { p.none { "Nothing was dispatched." } } @else {
            p {
                "Simulated time from sending a message to its dispatch: the protocol, the modelled disk, network and processors. "
                "It is not real processor time."
            }
            p.note {
                "Both axes of the plots are logarithmic; the horizontal one shows 1 / (1 \u{2212} percentile). "
                "A line ends, and a percentile is left out, where fewer than ten samples lie above it; "
                "the lone mark to the right of a line is its maximum."
            }
            @for part in parts { (part) }
        }
    })
}

fn latency_part(shown: &[&Latency], from: From, caption: &str, plot: &Markup) -> Markup {
    let key = plot::key(
        shown.iter().map(|latency| (latency.class.id(), CLASS_COLOURS[latency.class.index()])),
        false,
    );
    html! {
        h3 { (caption) }
        figure { (key) (plot) }
        div.scroll { table {
            thead { tr {
                th { "class" } th.n { "samples" }
                @for step in LADDER { th.n { (step.label) } }
                th.n { "max" }
            } }
            tbody { @for latency in shown { (latency_row(latency.class.id(), from.of(latency))) } }
        } }
    }
}

fn latency_row(name: &str, histogram: &Histogram<u64>) -> Markup {
    html! {
        tr {
            td { (name) } td.n { (count(histogram.len())) }
            @for step in LADDER {
                @match percentile(histogram, step) {
                    Some(ns) => td.n { (duration(ns)) },
                    None => td.n.none title="fewer than ten samples above" { "\u{2013}" },
                }
            }
            td.n { (duration(histogram.max())) }
        }
    }
}

/// Where messages went: conservation, verdicts, refusals, faults, deaths.
pub(super) fn messages(totals: &Totals) -> Markup {
    html! {
        h2 { "Messages" }
        p {
            (count(totals.intended)) " intended, " (count(totals.dispatched)) " dispatched, "
            (count(totals.lost())) " lost for a named cause"
            @if totals.unexplained() > 0 { ", " strong.failed { (count(totals.unexplained())) " unexplained" } }
            "."
        }
        div.columns {
            (counts("Lost, by cause", "cause", &totals.losses, "No message was lost."))
            (counts("Verdicts on admissions", "verdict", &totals.verdicts, "No admission was classified."))
            (counts("Refusals, by reason", "reason", &totals.refusals, "Nothing was refused."))
            (counts("Mail, by what became of it", "what", &totals.mail, "No mail was held."))
            (counts("Faults that took effect", "fault", &totals.faults, "No fault took effect."))
            (counts("Deaths", "kind", &totals.deaths, "No life ended early."))
        }
    }
}

/// One table of counts, the most frequent first.
fn counts(title: &str, what: &str, counts: &BTreeMap<&'static str, u64>, none: &str) -> Markup {
    let sum: u64 = counts.values().sum();
    let mut rows: Vec<(&str, u64)> = counts.iter().map(|(name, count)| (*name, *count)).collect();
    rows.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    let most = rows.first().map_or(0, |(_, count)| *count);
    html! {
        div {
            h3 { (title) }
            @if rows.is_empty() { p.none { (none) } } @else {
                table {
                    thead { tr { th { (what) } th.n { "count" } th.n { "share" } th.bar {} } }
                    tbody { @for (name, number) in rows { tr {
                        td.name { (name) } td.n { (count(number)) } td.n { (share(number, sum)) }
                        td.bar { (bar(number, most)) }
                    } } }
                }
            }
        }
    }
}

fn bar(part: u64, whole: u64) -> Markup {
    let tenths = per_mille(part, whole).min(1_000);
    html! { i style=(format!("width:{}.{}%", tenths / 10, tenths % 10)) {} }
}

/// Known limits that were met.
pub(super) fn limits(totals: &Totals) -> Markup {
    html! {
        h2 { "Known limits" }
        p.note { "What a law excuses because an act of the plan licensed it. One beyond the ceiling breaks the law." }
        @if totals.limits.is_empty() { p.none { "None was met." } } @else {
            div.scroll { table {
                thead { tr { th { "limit" } th.n { "times" } th.n { "seeds" } th.n { "most a seed" } th.n { "ceiling a seed" } } }
                tbody { @for (id, met) in &totals.limits { tr {
                    td.name { (id) } td.n { (count(met.times)) } td.n { (count(met.seeds)) } td.n { (count(met.most)) }
                    td.n { @match met.ceiling { Some(ceiling) => (count(ceiling)), None => "none stated" } }
                } } }
            } }
        }
    }
}

/// How often each mark was reached, with `over` saying over what.
pub(super) fn marks(rates: &[MarkRate<'_>], over: &str) -> Markup {
    html! {
        h2 { "Marks" }
        p.note { "Places and states that the seeds should reach, so that what holds was also tried. " (over) }
        @if rates.is_empty() { p.none { "None was reached and none is expected." } } @else {
            div.scroll { table {
                thead { tr { th { "mark" } th.n { "reached" } th.n { "times in 1,000 seeds" } th.n { "due in 1,000" } th {} } }
                tbody { @for mark in rates { tr {
                    td.name { (mark.id) } td.n { (count(mark.reached)) } td.n { (mark.rate()) }
                    td.n { @match mark.due_per_thousand { Some(due) => (count(due)), None => "\u{2013}" } }
                    td { @match mark.standing {
                        Standing::Unreached => span.cut { "not reached" },
                        Standing::BelowShare => span.cut { "below its share" },
                        Standing::Reached | Standing::NotDue => {}
                    } }
                } } }
            } }
        }
    }
}

/// In how many seeds each kind of fault had which level; nothing without swarm.
pub(super) fn swarm(totals: &Totals) -> Markup {
    html! {
        @if !totals.swarm.is_empty() {
            h2 { "Swarm" }
            p.note { "Seeds in which each kind of fault was off, light (what the scenario says) and heavy (several times that)." }
            div.scroll { table {
                thead { tr { th { "kind" } th.n { "off" } th.n { "light" } th.n { "heavy" } } }
                tbody { @for (kind, seeds) in &totals.swarm { tr {
                    td.name { (kind.id()) }
                    td.n { (count(seeds.off)) } td.n { (count(seeds.light)) } td.n { (count(seeds.heavy)) }
                } } }
            } }
        }
    }
}

/// Bounds against their limit.
pub(super) fn bounds(totals: &Totals) -> Markup {
    html! {
        h2 { "Bounds" }
        @if totals.bounds.is_empty() { p.none { "No bound was watched." } } @else {
            div.scroll { table {
                thead { tr { th { "bounded" } th.n { "most" } th.n { "bound" } th.n { "used" } th.bar {} } }
                tbody { @for (name, seen) in &totals.bounds { tr {
                    td.name { (name) @if totals.seeds > 1 { span.soft { " (seed " (seen.seed) ")" } } }
                    td.n { (count(seen.most)) } td.n { (count(seen.bound)) }
                    td.n { (share(seen.most, seen.bound)) } td.bar { (bar(seen.most, seen.bound)) }
                } } }
            } }
        }
    }
}

/// How large batches were.
pub(super) fn batches(totals: &Totals) -> Result<Markup, ReportError> {
    let plot = plot::batch_sizes(&totals.batch_sizes)?;
    let batches: u64 = totals.batch_sizes.values().sum();
    Ok(html! {
        h2 { "Batches" }
        @match plot {
            None => p.none { "No batch became durable." },
            Some(plot) => {
                p { (counted(batches, "group commit")) ", by their size in records." }
                figure { (plot) }
            }
        }
    })
}
