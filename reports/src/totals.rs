//! Outcomes of many seeds as one: sums, first failures, merged latencies.
//!
//! Promise: what is kept does not grow with the number of seeds, and does not depend on the order in which they finish.

use crate::floods::FloodTotal;
use groundhog_engine::streams::key::Class;
use groundhog_sim::outcome::{Cut, Latency, Outcome, Violation};
use groundhog_sim::plan::swarm::{Kind, Level};
use groundhog_sim::plan::{Crypto, Plan};
use hdrhistogram::Histogram;
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// How one law was broken over many seeds.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Broken {
    /// Violations in all.
    pub violations: u64,
    /// Seeds with at least one.
    pub seeds: u64,
    /// The lowest such seed.
    pub first_seed: u64,
    /// The first violation of that seed.
    pub first: Violation,
}

/// How runs were cut short by one bound.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CutTotal {
    /// Seeds that it cut.
    pub seeds: u64,
    /// The lowest of them.
    pub first_seed: u64,
    /// The bound as that seed met it.
    pub first: Cut,
}

/// How often a known limit was met.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct LimitUse {
    /// Times in all.
    pub times: u64,
    /// Seeds that met it.
    pub seeds: u64,
    /// The most in one seed.
    pub most: u64,
    /// The ceiling of one seed; `None` where plans state none.
    pub ceiling: Option<u64>,
}

/// The nearest that any seed came to a bound.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BoundTotal {
    /// The most that was seen.
    pub most: u64,
    /// The bound.
    pub bound: u64,
    /// The lowest seed that saw it.
    pub seed: u64,
}

impl BoundTotal {
    /// Compares by nearness to the bound, then prefers the lower seed.
    fn nearer(&self, other: &Self) -> bool {
        let mine = u128::from(self.most) * u128::from(other.bound.max(1));
        let theirs = u128::from(other.most) * u128::from(self.bound.max(1));
        mine > theirs || (mine == theirs && self.seed < other.seed)
    }
}

/// In how many seeds a kind of fault had each level, under swarm.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct LevelSeeds {
    /// Seeds without it.
    pub off: u64,
    /// Seeds with as much as the scenario says.
    pub light: u64,
    /// Seeds with several times as much.
    pub heavy: u64,
}

impl LevelSeeds {
    fn merge(&mut self, other: Self) {
        self.off += other.off;
        self.light += other.light;
        self.heavy += other.heavy;
    }
}

impl From<Level> for LevelSeeds {
    fn from(level: Level) -> Self {
        let one = |this| u64::from(level == this);
        Self { off: one(Level::Off), light: one(Level::Light), heavy: one(Level::Heavy) }
    }
}

/// Many outcomes of one scenario.
#[derive(Clone, Debug, Default)]
pub struct Totals {
    /// The scenario, as its plans name it.
    pub scenario: String,
    /// Flaws that were on.
    pub flaws: BTreeSet<String>,
    /// Kinds of fault under swarm; empty without it.
    pub swarm: BTreeMap<Kind, LevelSeeds>,
    /// Whether signatures were replaced in any of the runs.
    pub keyed_hash: bool,
    /// The most nodes of a run.
    pub nodes: u64,
    /// Seeds run.
    pub seeds: u64,
    /// Seeds that held.
    pub held: u64,
    /// Seeds of which a second run was not the same; none of them held.
    pub differ: u64,
    /// Events in all ledgers.
    pub events: u64,
    /// Simulated time, summed.
    pub covered_ns: u128,
    /// Messages intended.
    pub intended: u64,
    /// Messages dispatched at least once.
    pub dispatched: u64,
    /// Laws broken.
    pub broken: BTreeMap<&'static str, Broken>,
    /// Runs cut short, by [`cut_id`].
    pub cuts: BTreeMap<&'static str, CutTotal>,
    /// Known limits met.
    pub limits: BTreeMap<&'static str, LimitUse>,
    /// Marks reached.
    pub marks: BTreeMap<&'static str, u64>,
    /// Messages lost, by cause.
    pub losses: BTreeMap<&'static str, u64>,
    /// Verdicts on admissions, by kind.
    pub verdicts: BTreeMap<&'static str, u64>,
    /// Refusals, by reason.
    pub refusals: BTreeMap<&'static str, u64>,
    /// What became of mail, and how long custody stalled at most.
    pub mail: BTreeMap<&'static str, u64>,
    /// Faults that took effect, by kind.
    pub faults: BTreeMap<&'static str, u64>,
    /// Deaths, by kind.
    pub deaths: BTreeMap<&'static str, u64>,
    /// Latencies by class.
    pub latencies: BTreeMap<Class, Latency>,
    /// Bounds by name.
    pub bounds: BTreeMap<String, BoundTotal>,
    /// Batch sizes in records: size -> how many batches.
    pub batch_sizes: BTreeMap<u32, u64>,
    /// What floods took, by the slots that they came through.
    pub floods: BTreeMap<u64, FloodTotal>,
}

/// The name of a cut in reports.
#[must_use]
pub const fn cut_id(cut: &Cut) -> &'static str {
    match cut {
        Cut::Polls { .. } => "polls",
        Cut::Livelock { .. } => "livelock",
        Cut::Memory { .. } => "memory",
        Cut::Watchdog { .. } => "watchdog",
        Cut::Interrupted => "interrupted",
    }
}

impl Totals {
    /// No seed yet of `scenario`.
    #[must_use]
    pub fn new(scenario: &str) -> Self {
        Self { scenario: scenario.to_owned(), ..Self::default() }
    }

    /// Whether every law held in every seed and every run was whole.
    #[must_use]
    pub fn all_held(&self) -> bool {
        self.held == self.seeds
    }

    /// Messages lost, over all causes.
    #[must_use]
    pub fn lost(&self) -> u64 {
        self.losses.values().sum()
    }

    /// Messages intended that were neither dispatched nor lost for a named cause.
    #[must_use]
    pub fn unexplained(&self) -> u64 {
        self.intended.saturating_sub(self.dispatched).saturating_sub(self.lost())
    }

    /// Adds one run.
    pub fn absorb(&mut self, plan: &Plan, outcome: &Outcome) {
        self.flaws.extend(plan.flaws.iter().cloned());
        for (kind, level) in &plan.swarm {
            self.swarm.entry(*kind).or_default().merge((*level).into());
        }
        self.keyed_hash |= plan.crypto == Crypto::KeyedHash;
        self.nodes = self.nodes.max(plan.nodes.len() as u64);
        self.seeds += 1;
        self.held += u64::from(outcome.held());
        self.events += outcome.events;
        self.covered_ns += u128::from(outcome.covered.0);
        self.intended += outcome.intended;
        self.dispatched += outcome.dispatched;
        outcome.floods.iter().for_each(|flood| self.floods.entry(flood.slots).or_default().absorb(flood));
        self.absorb_failures(plan.seed, outcome);
        for (id, times) in &outcome.limits {
            let ceiling = plan.limits.get(*id).copied();
            let met = LimitUse { times: *times, seeds: 1, most: *times, ceiling };
            self.limits.entry(*id).or_default().merge(&met);
        }
        sum(&mut self.marks, &outcome.marks);
        sum(&mut self.losses, &outcome.losses);
        sum(&mut self.verdicts, &outcome.verdicts);
        sum(&mut self.refusals, &outcome.refusals);
        add_mail(&mut self.mail, &outcome.mail);
        sum(&mut self.faults, &outcome.faults);
        sum(&mut self.deaths, &outcome.deaths);
        sum(&mut self.batch_sizes, &outcome.batch_sizes);
        for latency in &outcome.latencies {
            add_latency(&mut self.latencies, latency);
        }
        for bound in &outcome.bounds {
            let seen = BoundTotal { most: bound.most, bound: bound.bound, seed: plan.seed };
            add_bound(&mut self.bounds, &bound.name, seen);
        }
    }

    /// A second run of an absorbed one was not the same.
    pub fn absorb_difference(&mut self, outcome: &Outcome) {
        self.differ += 1;
        self.held -= u64::from(outcome.held());
    }

    fn absorb_failures(&mut self, seed: u64, outcome: &Outcome) {
        let mut laws: BTreeMap<&'static str, Broken> = BTreeMap::new();
        for violation in &outcome.violations {
            laws.entry(violation.law).and_modify(|broken| broken.violations += 1).or_insert_with(|| Broken {
                violations: 1,
                seeds: 1,
                first_seed: seed,
                first: violation.clone(),
            });
        }
        for (law, broken) in laws {
            add_broken(&mut self.broken, law, broken);
        }
        if let Some(cut) = &outcome.cut {
            let total = CutTotal { seeds: 1, first_seed: seed, first: cut.clone() };
            add_cut(&mut self.cuts, cut_id(cut), total);
        }
    }

    /// Adds the totals of other seeds of the same scenario, as each of several workers keeps its own.
    ///
    /// # Panics
    /// When `other` is of another scenario.
    pub fn merge(&mut self, other: Totals) {
        assert_eq!(self.scenario, other.scenario, "totals of two scenarios are never added up");
        self.flaws.extend(other.flaws);
        for (kind, seeds) in other.swarm {
            self.swarm.entry(kind).or_default().merge(seeds);
        }
        self.keyed_hash |= other.keyed_hash;
        self.nodes = self.nodes.max(other.nodes);
        self.seeds += other.seeds;
        self.held += other.held;
        self.differ += other.differ;
        self.events += other.events;
        self.covered_ns += other.covered_ns;
        self.intended += other.intended;
        self.dispatched += other.dispatched;
        for (law, broken) in other.broken {
            add_broken(&mut self.broken, law, broken);
        }
        for (id, cut) in other.cuts {
            add_cut(&mut self.cuts, id, cut);
        }
        for (id, met) in &other.limits {
            self.limits.entry(*id).or_default().merge(met);
        }
        sum(&mut self.marks, &other.marks);
        sum(&mut self.losses, &other.losses);
        sum(&mut self.verdicts, &other.verdicts);
        sum(&mut self.refusals, &other.refusals);
        add_mail(&mut self.mail, &other.mail);
        sum(&mut self.faults, &other.faults);
        sum(&mut self.deaths, &other.deaths);
        sum(&mut self.batch_sizes, &other.batch_sizes);
        for (slots, flood) in &other.floods {
            self.floods.entry(*slots).or_default().merge(flood);
        }
        for latency in other.latencies.values() {
            add_latency(&mut self.latencies, latency);
        }
        for (name, bound) in other.bounds {
            add_bound(&mut self.bounds, &name, bound);
        }
    }
}

impl LimitUse {
    fn merge(&mut self, other: &Self) {
        self.times += other.times;
        self.seeds += other.seeds;
        self.most = self.most.max(other.most);
        // The lowest ceiling is the one that a seed met first.
        self.ceiling = match (self.ceiling, other.ceiling) {
            (Some(one), Some(two)) => Some(one.min(two)),
            (one, two) => one.or(two),
        };
    }
}

/// Counts add up; the longest of several stalls is the longest.
fn add_mail(into: &mut BTreeMap<&'static str, u64>, from: &BTreeMap<&'static str, u64>) {
    for (what, count) in from {
        let total = into.entry(*what).or_default();
        *total = if what.starts_with("longest") { (*total).max(*count) } else { *total + count };
    }
}

fn sum<K: Copy + Ord>(into: &mut BTreeMap<K, u64>, from: &BTreeMap<K, u64>) {
    for (key, count) in from {
        *into.entry(*key).or_default() += count;
    }
}

fn add_broken(into: &mut BTreeMap<&'static str, Broken>, law: &'static str, new: Broken) {
    let Some(known) = into.get_mut(law) else {
        into.insert(law, new);
        return;
    };
    known.violations += new.violations;
    known.seeds += new.seeds;
    if new.first_seed < known.first_seed {
        (known.first_seed, known.first) = (new.first_seed, new.first);
    }
}

fn add_cut(into: &mut BTreeMap<&'static str, CutTotal>, id: &'static str, new: CutTotal) {
    let Some(known) = into.get_mut(id) else {
        into.insert(id, new);
        return;
    };
    known.seeds += new.seeds;
    if new.first_seed < known.first_seed {
        (known.first_seed, known.first) = (new.first_seed, new.first);
    }
}

fn add_bound(into: &mut BTreeMap<String, BoundTotal>, name: &str, new: BoundTotal) {
    match into.get_mut(name) {
        None => {
            into.insert(name.to_owned(), new);
        }
        Some(known) if new.nearer(known) => *known = new,
        Some(_) => {}
    }
}

fn add_latency(into: &mut BTreeMap<Class, Latency>, new: &Latency) {
    let total = into.entry(new.class).or_insert_with(|| Latency {
        class: new.class,
        from_intended: empty_like(&new.from_intended),
        from_sent: empty_like(&new.from_sent),
    });
    add_histogram(&mut total.from_intended, &new.from_intended);
    add_histogram(&mut total.from_sent, &new.from_sent);
}

fn empty_like(histogram: &Histogram<u64>) -> Histogram<u64> {
    let mut empty = Histogram::new_from(histogram);
    empty.auto(true);
    empty
}

fn add_histogram(into: &mut Histogram<u64>, from: &Histogram<u64>) {
    let before = into.len();
    into.add(from).expect("a histogram that resizes itself takes every value");
    debug_assert_eq!(into.len(), before + from.len());
}
