//! The figures of a run or of many, as lines.

use super::lines::Lines;
use crate::facts::ScenarioFacts;
use crate::format::{count, duration, share};
use crate::latency::{LADDER, percentile};
use crate::marks::{MarkRate, Standing};
use crate::totals::{LevelSeeds, Totals};
use groundhog_sim::plan::swarm::Kind;
use std::collections::BTreeMap;

/// Columns of a class's name, of its samples and of each figure in the latency table.
const CLASS: usize = 13;
const SAMPLES: usize = 11;
const FIGURE: usize = 10;

/// The percentiles of [`LADDER`] that are shown where there is room, the most wanted first.
const WANTED: [&str; 7] = ["p50", "p99", "p99.9", "p90", "p99.99", "p75", "p99.999"];

/// What makes these figures other than those of a plain engine.
pub(super) fn conditions(lines: &mut Lines, totals: &Totals) {
    if !totals.flaws.is_empty() {
        let flaws: Vec<&str> = totals.flaws.iter().map(String::as_str).collect();
        lines.item("flaws on", &flaws.join(", "));
    }
    if totals.keyed_hash {
        lines.item("signatures", "replaced by a keyed hash");
    }
}

/// In how many seeds each kind of fault had which level; nothing without swarm.
pub(super) fn swarm(lines: &mut Lines, totals: &Totals) {
    let one = |(kind, seeds): (&Kind, &LevelSeeds)| {
        format!("{kind} {}/{}/{}", count(seeds.off), count(seeds.light), count(seeds.heavy))
    };
    let kinds: Vec<String> = totals.swarm.iter().map(one).collect();
    if !kinds.is_empty() {
        lines.item("swarm", &format!("seeds with each kind off/light/heavy: {}", kinds.join(", ")));
    }
}

/// Counts, latency, bounds.
pub(super) fn figures(lines: &mut Lines, totals: &Totals) {
    let mut messages = format!(
        "{} intended, {} dispatched, {} lost",
        count(totals.intended),
        count(totals.dispatched),
        count(totals.lost())
    );
    if totals.unexplained() > 0 {
        messages.push_str(&format!(", {} UNEXPLAINED", count(totals.unexplained())));
    }
    lines.item("messages", &messages);
    counts(lines, "lost", &totals.losses);
    if !totals.cuts.is_empty() && totals.losses.contains_key("unexplained") {
        lines.item("", "(unexplained: under way when a run was cut short, which is why)");
    }
    counts(lines, "verdicts", &totals.verdicts);
    counts(lines, "refusals", &totals.refusals);
    if !totals.mail.is_empty() {
        counts(lines, "mail", &totals.mail);
        lines.item("", "(mail as its carriers saw it: what was dispatched may still be lost there)");
    }
    counts(lines, "faults", &totals.faults);
    counts(lines, "deaths", &totals.deaths);
    limits(lines, totals);
    for (name, seen) in totals.bounds.iter().filter(|(_, seen)| seen.most > 0) {
        let used = share(seen.most, seen.bound);
        lines.item("bound", &format!("{name}: {} of {} ({used})", count(seen.most), count(seen.bound)));
    }
    let floods = crate::floods::lines(&totals.floods);
    if !floods.is_empty() {
        lines.blank();
        floods.iter().for_each(|line| lines.line(line));
        lines.paragraph(crate::floods::NOTE);
        lines.blank();
    }
    let batches: u64 = totals.batch_sizes.values().sum();
    if batches > 0 {
        let records: u128 =
            totals.batch_sizes.iter().map(|(size, batches)| u128::from(*size) * u128::from(*batches)).sum();
        let records = u64::try_from(records).unwrap_or(u64::MAX);
        let largest = totals.batch_sizes.keys().last().copied().unwrap_or(0);
        let words = format!("{} records, largest {}", count(records), count(u64::from(largest)));
        lines.item("batches", &format!("{} with {words}", count(batches)));
    }
    latency(lines, totals);
}

fn counts(lines: &mut Lines, label: &str, counts: &BTreeMap<&'static str, u64>) {
    let mut rows: Vec<(&str, u64)> = counts.iter().map(|(name, count)| (*name, *count)).collect();
    rows.retain(|(_, count)| *count > 0);
    rows.sort_by_key(|(name, count)| (std::cmp::Reverse(*count), *name));
    let words: Vec<String> = rows.iter().map(|(name, number)| format!("{name} {}", count(*number))).collect();
    let words = if words.is_empty() { "none".to_owned() } else { words.join(", ") };
    lines.item(label, &words);
}

fn limits(lines: &mut Lines, totals: &Totals) {
    let one = |(id, met): (&&'static str, &crate::totals::LimitUse)| match met.ceiling {
        Some(ceiling) if totals.seeds > 1 => {
            format!("{id} {} (at most {} of {} in a seed)", count(met.times), count(met.most), count(ceiling))
        }
        Some(ceiling) => format!("{id} {} of at most {}", count(met.times), count(ceiling)),
        None => format!("{id} {}", count(met.times)),
    };
    let words: Vec<String> = totals.limits.iter().map(one).collect();
    lines.item("limits", &if words.is_empty() { "none met".to_owned() } else { words.join(", ") });
}

/// Marks that one run reached.
pub(super) fn marks_of_one(lines: &mut Lines, totals: &Totals) {
    counts(lines, "marks", &totals.marks);
}

/// Columns of the table of marks after the mark's name.
const TIMES: usize = 10;
const RATE: usize = 11;
const DUE: usize = 9;

/// How often many seeds reached each mark, and by name those that they did not, or not as often as is due.
pub(super) fn marks(lines: &mut Lines, scenario: &ScenarioFacts) {
    let rates = scenario.mark_rates();
    let due = rates.iter().filter(|mark| mark.standing != Standing::NotDue).count();
    let of = |standing| rates.iter().filter(move |mark| mark.standing == standing);
    let unreached: Vec<&str> = of(Standing::Unreached).map(|mark| mark.id).collect();
    let mut words = match due {
        0 => "none is due".to_owned(),
        _ => format!("{} of {due} due were reached", due - unreached.len()),
    };
    if let Some(why) = scenario.marks_judged.why_not().filter(|_| due > 0) {
        words.push_str(&format!(" ({why})"));
    }
    lines.item("marks", &words);
    mark_table(lines, &rates);
    if !unreached.is_empty() {
        lines.item("unreached", &unreached.join(", "));
    }
    let below: Vec<String> = of(Standing::BelowShare)
        .map(|mark| format!("{} {} of {}", mark.id, count(mark.reached), count(mark.due())))
        .collect();
    if !below.is_empty() {
        lines.item("below due", &below.join(", "));
    }
}

fn mark_table(lines: &mut Lines, rates: &[MarkRate<'_>]) {
    let name = lines.width().saturating_sub(TIMES + RATE + DUE + 2);
    let fits = rates.iter().all(|mark| mark.id.chars().count() <= name);
    let due = |mark: &MarkRate<'_>| mark.due_per_thousand.map_or_else(|| "-".to_owned(), count);
    if !fits {
        let one = |mark: &MarkRate<'_>| {
            format!(
                "{} {} ({} times a 1,000 seeds, due {})",
                mark.id,
                count(mark.reached),
                mark.rate(),
                due(mark)
            )
        };
        lines.item("", &rates.iter().map(one).collect::<Vec<_>>().join(", "));
        return;
    }
    if rates.is_empty() {
        return;
    }
    lines.paragraph("times in all, and times a 1,000 seeds (one seed may reach a mark often)");
    lines.line(&format!("  {:<name$}{:>TIMES$}{:>RATE$}{:>DUE$}", "mark", "times", "a 1,000", "due"));
    for mark in rates {
        let (times, rate, due) = (count(mark.reached), mark.rate(), due(mark));
        lines.line(&format!("  {:<name$}{times:>TIMES$}{rate:>RATE$}{due:>DUE$}", mark.id));
    }
}

fn latency(lines: &mut Lines, totals: &Totals) {
    let shown: Vec<_> =
        totals.latencies.values().filter(|latency| !latency.from_intended.is_empty()).collect();
    if shown.is_empty() {
        return;
    }
    let room = (lines.width() - CLASS - SAMPLES) / FIGURE;
    let wanted = &WANTED[..WANTED.len().min(room.saturating_sub(1))];
    let steps: Vec<_> = LADDER.into_iter().filter(|step| wanted.contains(&step.label)).collect();
    lines.blank();
    lines.paragraph("Latency in simulated time, from the intended time of sending to dispatch");
    let mut head = format!("  {:<width$}{:>SAMPLES$}", "class", "samples", width = CLASS - 2);
    for step in &steps {
        head.push_str(&format!("{:>FIGURE$}", step.label));
    }
    lines.line(&format!("{head}{:>FIGURE$}", "max"));
    for latency in &shown {
        let histogram = &latency.from_intended;
        let name = latency.class.id();
        let mut row = format!("  {name:<width$}{:>SAMPLES$}", count(histogram.len()), width = CLASS - 2);
        for step in &steps {
            let figure = percentile(histogram, *step).map_or("-".to_owned(), duration);
            row.push_str(&format!("{figure:>FIGURE$}"));
        }
        lines.line(&format!("{row}{:>FIGURE$}", duration(histogram.max())));
    }
    if shown
        .iter()
        .any(|latency| steps.iter().any(|step| percentile(&latency.from_intended, *step).is_none()))
    {
        lines.paragraph("- stands where fewer than ten samples lie above");
    }
    lines.blank();
}
