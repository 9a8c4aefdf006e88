//! The summary for machines: integers only, fields in a fixed order, a format number in front.
//!
//! Promise: equal outcomes give equal bytes but for `real_ms`. A percentile with too few samples above it is `null`.

use crate::facts::{CampaignFacts, RunFacts, ScenarioFacts};
use crate::floods::FloodSummary;
use crate::format::hex;
use crate::latency::{LADDER, percentile};
use crate::marks::{MarkRate, Standing};
use crate::totals::{LevelSeeds, Totals, cut_id};
use groundhog_sim::outcome::{Latency, Outcome, Violation};
use groundhog_sim::plan::Plan;
use groundhog_sim::plan::swarm::{Kind, Levels};
use hdrhistogram::Histogram;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// The format that this build writes.
pub const FORMAT: u32 = 1;

/// Violations listed one by one; the laws' counts cover the rest.
const MOST_VIOLATIONS: usize = 1_000;

#[derive(Serialize)]
struct RunSummary<'a> {
    format: u32,
    kind: &'static str,
    groundhog: &'a str,
    scenario: &'a str,
    seed: u64,
    schedule_seed: u64,
    repeat: &'a str,
    /// What the seed had of each kind of fault, under swarm.
    #[serde(skip_serializing_if = "Levels::is_empty")]
    swarm: &'a Levels,
    fingerprint: String,
    real_ms: u64,
    #[serde(flatten)]
    figures: Figures<'a>,
    violations_listed: Vec<ViolationSummary<'a>>,
}

#[derive(Serialize)]
struct CampaignSummary<'a> {
    format: u32,
    kind: &'static str,
    groundhog: &'a str,
    command: &'a str,
    real_ms: u64,
    verdict: &'static str,
    scenarios: Vec<ScenarioSummary<'a>>,
}

#[derive(Serialize)]
struct ScenarioSummary<'a> {
    scenario: &'a str,
    /// In how many seeds each kind of fault had which level, under swarm.
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    swarm: &'a BTreeMap<Kind, LevelSeeds>,
    #[serde(flatten)]
    figures: Figures<'a>,
    mark_rates: Vec<MarkSummary<'a>>,
    /// `null` where they are judged.
    marks_not_judged: Option<String>,
    /// What is judged a failure.
    marks_missed: Vec<MissedSummary<'a>>,
}

#[derive(Serialize)]
struct MarkSummary<'a> {
    mark: &'a str,
    reached: u64,
    per_1000_seeds: u64,
    due_in_1000_seeds: Option<u64>,
    standing: Standing,
}

#[derive(Serialize)]
struct MissedSummary<'a> {
    mark: &'a str,
    reached: u64,
    at_least: u64,
}

/// What one run and many have in common.
#[derive(Serialize)]
struct Figures<'a> {
    verdict: &'static str,
    seeds: u64,
    seeds_held: u64,
    seeds_differ: u64,
    flaws: &'a BTreeSet<String>,
    signatures: &'static str,
    nodes: u64,
    events: u64,
    simulated_ns: u128,
    intended: u64,
    dispatched: u64,
    lost: u64,
    unexplained: u64,
    laws_broken: Vec<LawSummary<'a>>,
    cut: Vec<CutSummary>,
    limits: Vec<LimitSummary<'a>>,
    marks: &'a BTreeMap<&'static str, u64>,
    losses: &'a BTreeMap<&'static str, u64>,
    verdicts: &'a BTreeMap<&'static str, u64>,
    refusals: &'a BTreeMap<&'static str, u64>,
    #[serde(skip_serializing_if = "BTreeMap::is_empty")]
    mail: &'a BTreeMap<&'static str, u64>,
    faults: &'a BTreeMap<&'static str, u64>,
    deaths: &'a BTreeMap<&'static str, u64>,
    latency: Vec<LatencySummary>,
    bounds: Vec<BoundSummary<'a>>,
    batch_sizes: Vec<BatchSummary>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    floods: Vec<FloodSummary<'a>>,
}

#[derive(Serialize)]
struct ViolationSummary<'a> {
    law: &'static str,
    at_ns: u64,
    node: Option<u16>,
    saw: &'a str,
}

#[derive(Serialize)]
struct LawSummary<'a> {
    law: &'static str,
    violations: u64,
    seeds: u64,
    first_seed: u64,
    first: ViolationSummary<'a>,
    repeat: String,
}

#[derive(Serialize)]
struct CutSummary {
    bound: &'static str,
    seeds: u64,
    first_seed: u64,
    repeat: String,
}

#[derive(Serialize)]
struct LimitSummary<'a> {
    limit: &'a str,
    times: u64,
    seeds: u64,
    most_in_a_seed: u64,
    ceiling_of_a_seed: Option<u64>,
}

/// Simulated latencies in nanoseconds.
#[derive(Serialize)]
struct LatencySummary {
    class: &'static str,
    from: &'static str,
    samples: u64,
    min_ns: u64,
    p50_ns: Option<u64>,
    p75_ns: Option<u64>,
    p90_ns: Option<u64>,
    p99_ns: Option<u64>,
    p99_9_ns: Option<u64>,
    p99_99_ns: Option<u64>,
    p99_999_ns: Option<u64>,
    max_ns: u64,
}

#[derive(Serialize)]
struct BoundSummary<'a> {
    bounded: &'a str,
    most: u64,
    bound: u64,
    seed: u64,
}

#[derive(Serialize)]
struct BatchSummary {
    records: u32,
    batches: u64,
}

/// The summary of one run, whose totals are `totals`.
///
/// # Errors
/// Never in practice: every part of a summary has a form in JSON.
pub fn of_run(
    plan: &Plan,
    outcome: &Outcome,
    totals: &Totals,
    facts: &RunFacts,
) -> serde_json::Result<Vec<u8>> {
    let repeat = |_: &str, _: u64| facts.repeat.clone();
    lines(&RunSummary {
        format: FORMAT,
        kind: "run",
        groundhog: &facts.version,
        scenario: &plan.scenario,
        seed: plan.seed,
        schedule_seed: plan.schedule_seed,
        repeat: &facts.repeat,
        swarm: &plan.swarm,
        fingerprint: hex(&outcome.fingerprint),
        real_ms: ms(facts.real),
        figures: figures(totals, verdict(totals), &repeat),
        violations_listed: outcome.violations.iter().take(MOST_VIOLATIONS).map(violation).collect(),
    })
}

/// The summary of many seeds.
///
/// # Errors
/// Never in practice: every part of a summary has a form in JSON.
pub fn of_campaign(facts: &CampaignFacts<'_>) -> serde_json::Result<Vec<u8>> {
    lines(&CampaignSummary {
        format: FORMAT,
        kind: "campaign",
        groundhog: facts.version,
        command: facts.command,
        real_ms: ms(facts.real),
        verdict: campaign_verdict(facts),
        scenarios: facts.scenarios.iter().map(|scenario| scenario_summary(scenario, facts)).collect(),
    })
}

fn scenario_summary<'a>(scenario: &'a ScenarioFacts, facts: &CampaignFacts<'_>) -> ScenarioSummary<'a> {
    ScenarioSummary {
        scenario: &scenario.totals.scenario,
        swarm: &scenario.totals.swarm,
        figures: figures(&scenario.totals, scenario_verdict(scenario), facts.repeat),
        mark_rates: scenario.mark_rates().iter().map(mark_summary).collect(),
        marks_not_judged: scenario.marks_judged.why_not(),
        marks_missed: scenario
            .missed()
            .iter()
            .map(|mark| MissedSummary { mark: mark.id, reached: mark.reached, at_least: mark.due() })
            .collect(),
    }
}

fn mark_summary<'a>(mark: &MarkRate<'a>) -> MarkSummary<'a> {
    MarkSummary {
        mark: mark.id,
        reached: mark.reached,
        per_1000_seeds: mark.per_thousand(),
        due_in_1000_seeds: mark.due_per_thousand,
        standing: mark.standing,
    }
}

/// `held`, `failed`, `cut` or `differs`, and `none` where nothing ran; what is not deterministic outweighs a broken law, and that a cut.
pub(crate) fn verdict(totals: &Totals) -> &'static str {
    if totals.seeds == 0 {
        "none"
    } else if totals.differ > 0 {
        "differs"
    } else if !totals.broken.is_empty() {
        "failed"
    } else if totals.cuts.is_empty() {
        "held"
    } else {
        "cut"
    }
}

/// As [`verdict`], and `marks-missed` where all held but a mark was not reached.
pub(crate) fn scenario_verdict(scenario: &ScenarioFacts) -> &'static str {
    match verdict(&scenario.totals) {
        "held" if !scenario.missed().is_empty() => "marks-missed",
        verdict => verdict,
    }
}

/// The worst verdict of all scenarios.
pub(crate) fn campaign_verdict(facts: &CampaignFacts<'_>) -> &'static str {
    let verdicts: BTreeSet<_> = facts.scenarios.iter().map(scenario_verdict).collect();
    ["differs", "failed", "cut", "marks-missed", "held"]
        .into_iter()
        .find(|verdict| verdicts.contains(verdict))
        .unwrap_or("none")
}

fn figures<'a>(
    totals: &'a Totals,
    verdict: &'static str,
    repeat: &dyn Fn(&str, u64) -> String,
) -> Figures<'a> {
    let repeat = |seed| repeat(&totals.scenario, seed);
    Figures {
        verdict,
        seeds: totals.seeds,
        seeds_held: totals.held,
        seeds_differ: totals.differ,
        flaws: &totals.flaws,
        signatures: if totals.keyed_hash { "keyed-hash" } else { "ed25519" },
        nodes: totals.nodes,
        events: totals.events,
        simulated_ns: totals.covered_ns,
        intended: totals.intended,
        dispatched: totals.dispatched,
        lost: totals.lost(),
        unexplained: totals.unexplained(),
        laws_broken: laws(totals, &repeat),
        cut: cuts(totals, &repeat),
        limits: limits(totals),
        marks: &totals.marks,
        losses: &totals.losses,
        verdicts: &totals.verdicts,
        refusals: &totals.refusals,
        mail: &totals.mail,
        faults: &totals.faults,
        deaths: &totals.deaths,
        latency: totals.latencies.values().flat_map(both_latencies).collect(),
        bounds: bounds(totals),
        batch_sizes: totals
            .batch_sizes
            .iter()
            .map(|(records, batches)| BatchSummary { records: *records, batches: *batches })
            .collect(),
        floods: crate::floods::summary(&totals.floods),
    }
}

fn laws<'a>(totals: &'a Totals, repeat: &dyn Fn(u64) -> String) -> Vec<LawSummary<'a>> {
    let laws = totals.broken.iter().map(|(law, broken)| LawSummary {
        law,
        violations: broken.violations,
        seeds: broken.seeds,
        first_seed: broken.first_seed,
        first: violation(&broken.first),
        repeat: repeat(broken.first_seed),
    });
    laws.collect()
}

fn cuts(totals: &Totals, repeat: &dyn Fn(u64) -> String) -> Vec<CutSummary> {
    let cuts = totals.cuts.values().map(|cut| CutSummary {
        bound: cut_id(&cut.first),
        seeds: cut.seeds,
        first_seed: cut.first_seed,
        repeat: repeat(cut.first_seed),
    });
    cuts.collect()
}

fn limits(totals: &Totals) -> Vec<LimitSummary<'_>> {
    let limits = totals.limits.iter().map(|(limit, met)| LimitSummary {
        limit,
        times: met.times,
        seeds: met.seeds,
        most_in_a_seed: met.most,
        ceiling_of_a_seed: met.ceiling,
    });
    limits.collect()
}

fn bounds(totals: &Totals) -> Vec<BoundSummary<'_>> {
    let bounds = totals.bounds.iter().map(|(bounded, seen)| BoundSummary {
        bounded,
        most: seen.most,
        bound: seen.bound,
        seed: seen.seed,
    });
    bounds.collect()
}

fn violation(violation: &Violation) -> ViolationSummary<'_> {
    ViolationSummary {
        law: violation.law,
        at_ns: violation.at.0,
        node: violation.node.map(|node| node.0),
        saw: &violation.saw,
    }
}

fn both_latencies(latency: &Latency) -> [LatencySummary; 2] {
    let one = |from, histogram: &Histogram<u64>| {
        let [p50, p75, p90, p99, p99_9, p99_99, p99_999] = LADDER.map(|step| percentile(histogram, step));
        LatencySummary {
            class: latency.class.id(),
            from,
            samples: histogram.len(),
            min_ns: histogram.min(),
            p50_ns: p50,
            p75_ns: p75,
            p90_ns: p90,
            p99_ns: p99,
            p99_9_ns: p99_9,
            p99_99_ns: p99_99,
            p99_999_ns: p99_999,
            max_ns: histogram.max(),
        }
    };
    [one("intended", &latency.from_intended), one("sent", &latency.from_sent)]
}

fn ms(real: std::time::Duration) -> u64 {
    u64::try_from(real.as_millis()).unwrap_or(u64::MAX)
}

fn lines<T: Serialize>(summary: &T) -> serde_json::Result<Vec<u8>> {
    let mut text = serde_json::to_vec_pretty(summary)?;
    text.push(b'\n');
    Ok(text)
}
