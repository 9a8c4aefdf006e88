//! The smallest plan so far, and the one way to a smaller one: candidates are run, and the first that breaks the same law
//! takes its place.
//!
//! Promise: every accepted candidate is lighter than the plan before it, keeps to the original's premises, and, where the
//! original held without its flaws, holds without them too. Nothing is run twice.

use super::premises::Premises;
use super::size::{Size, Weight};
use super::{Over, Progress, Runner, Seen};
use crate::plan::Plan;
use crate::units::SimTime;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};

/// Plans to run, in order: each as it stands and under further schedule seeds.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    plans: &'a [Plan],
    /// Which plan, under which schedule seed.
    runs: &'a [(usize, u64)],
}

impl<'a> Batch<'a> {
    /// Runs of some of these plans, each by its place, under a schedule seed.
    #[must_use]
    pub const fn new(plans: &'a [Plan], runs: &'a [(usize, u64)]) -> Self {
        Self { plans, runs }
    }

    /// The `number`th plan to run; `None` beyond the last.
    #[must_use]
    pub fn plan(&self, number: usize) -> Option<Plan> {
        let (place, schedule_seed) = *self.runs.get(number)?;
        Some(Plan { schedule_seed, ..self.plans[place].clone() })
    }
}

/// A search for a smaller plan.
pub(super) struct Search<'r> {
    law: &'r str,
    runner: &'r mut dyn Runner,
    best: Plan,
    weight: Weight,
    /// What the run of the best plan showed.
    seen: Seen,
    premises: Premises,
    /// Whether the original held without its flaws; `None` when it has none.
    held_without_flaws: Option<bool>,
    schedule_seeds: usize,
    /// Schedule seeds that are tried now.
    breadth: usize,
    /// How many schedule seeds a plan held under, by its digest.
    held: BTreeMap<[u8; 32], usize>,
    runs: u64,
    steps: u64,
}

impl<'r> Search<'r> {
    /// A search that begins at a plan whose run was seen to break the law.
    pub(super) fn new(
        plan: &Plan,
        law: &'r str,
        seen: Seen,
        runner: &'r mut dyn Runner,
        schedule_seeds: usize,
    ) -> Self {
        let mut search = Self {
            law,
            runner,
            best: plan.clone(),
            weight: Weight::of(plan),
            premises: Premises::of(plan, false),
            held_without_flaws: None,
            schedule_seeds,
            breadth: 1,
            held: BTreeMap::new(),
            runs: 2,
            steps: 0,
            seen,
        };
        search.held_without_flaws = search.without_flaws(plan).map(|broke| broke == Ok(false));
        let at_the_end = search
            .seen
            .broken
            .as_ref()
            .is_some_and(|broken| broken.at >= search.seen.covered.min(SimTime::from_us(plan.end_us)));
        // A plan that must hold without its flaws needs no other proof that it gave messages time enough.
        let judged_at_the_end = at_the_end && search.held_without_flaws != Some(true);
        search.premises = Premises::of(plan, judged_at_the_end);
        search
    }

    pub(super) fn best(&self) -> &Plan {
        &self.best
    }

    pub(super) fn seen(&self) -> &Seen {
        &self.seen
    }

    pub(super) fn runs(&self) -> u64 {
        self.runs
    }

    /// How many candidates were accepted.
    pub(super) fn steps(&self) -> u64 {
        self.steps
    }

    pub(super) fn schedule_seeds(&self) -> usize {
        self.schedule_seeds
    }

    pub(super) fn holds_without_flaws(&self) -> Option<bool> {
        self.held_without_flaws.filter(|held| *held && !self.best.flaws.is_empty())
    }

    /// From now on candidates are tried under so many schedule seeds.
    pub(super) fn try_schedule_seeds(&mut self, breadth: usize) {
        self.breadth = breadth;
    }

    /// Tries one candidate.
    pub(super) fn try_one(&mut self, candidate: Plan) -> Result<bool, Over> {
        Ok(self.try_any(vec![candidate])?.is_some())
    }

    /// Tries candidates, all under the plan's own schedule seed first and then under others, and takes the first that
    /// breaks the law; gives its place.
    pub(super) fn try_any(&mut self, candidates: Vec<Plan>) -> Result<Option<usize>, Over> {
        let mut plans = Vec::with_capacity(candidates.len());
        let mut places = Vec::with_capacity(candidates.len());
        let mut digests = BTreeSet::new();
        for (place, plan) in candidates.into_iter().enumerate() {
            let digest = digest(&plan);
            if self.may_be(&plan) && digests.insert(digest) {
                plans.push(plan);
                places.push((place, digest));
            }
        }
        let tried: Vec<usize> =
            places.iter().map(|(_, digest)| self.held.get(digest).copied().unwrap_or(0)).collect();
        let mut runs: Vec<(usize, u64)> = self
            .seeds()
            .take(self.breadth)
            .enumerate()
            .flat_map(|(nth, seed)| (0..plans.len()).map(move |plan| (nth, plan, seed)))
            .filter(|(nth, plan, _)| tried[*plan] <= *nth)
            .map(|(_, plan, seed)| (plan, seed))
            .collect();
        while let Some((number, seen)) = self.first_broken(&plans, &runs)? {
            let (plan, schedule_seed) = runs[number];
            let candidate = Plan { schedule_seed, ..plans[plan].clone() };
            if self.is_of_its_flaws(&candidate)? {
                self.accept(candidate, seen);
                return Ok(Some(places[plan].0));
            }
            self.held.insert(places[plan].1, usize::MAX);
            runs.drain(..=number);
            runs.retain(|(of, _)| *of != plan);
        }
        for (_, digest) in places {
            let held = self.held.entry(digest).or_default();
            *held = self.breadth.max(*held);
        }
        Ok(None)
    }

    /// A schedule seed that is a small number, where the law breaks under one.
    pub(super) fn small_schedule_seed(&mut self) -> Result<(), Over> {
        let small = u64::try_from(self.schedule_seeds).expect("a few");
        if self.best.schedule_seed < small {
            return Ok(());
        }
        let plans = [self.best.clone()];
        let runs: Vec<(usize, u64)> = (0..small).map(|seed| (0, seed)).collect();
        if let Some((number, seen)) = self.first_broken(&plans, &runs)? {
            let candidate = Plan { schedule_seed: runs[number].1, ..self.best.clone() };
            if self.is_of_its_flaws(&candidate)? {
                self.accept(candidate, seen);
            }
        }
        Ok(())
    }

    fn seeds(&self) -> impl Iterator<Item = u64> + use<> {
        super::schedule_seeds(self.best.schedule_seed)
    }

    fn may_be(&self, candidate: &Plan) -> bool {
        candidate.check().is_ok() && Weight::of(candidate) < self.weight && self.premises.hold(candidate)
    }

    fn first_broken(&mut self, plans: &[Plan], runs: &[(usize, u64)]) -> Result<Option<(usize, Seen)>, Over> {
        if runs.is_empty() {
            return Ok(None);
        }
        let found = self.runner.first_broken(self.law, &Batch::new(plans, runs))?;
        let done = found.as_ref().map_or(runs.len(), |(number, _)| number + 1);
        self.runs += done as u64;
        Ok(found)
    }

    /// Whether the plan breaks the law without its flaws; `None` when it has none.
    fn without_flaws(&mut self, plan: &Plan) -> Option<Result<bool, Over>> {
        if plan.flaws.is_empty() {
            return None;
        }
        let plans = [Plan { flaws: Vec::new(), ..plan.clone() }];
        let broke = self.first_broken(&plans, &[(0, plan.schedule_seed)]);
        Some(broke.map(|found| found.is_some()))
    }

    /// Whether a candidate that breaks the law does so because of its flaws, where the original did.
    fn is_of_its_flaws(&mut self, candidate: &Plan) -> Result<bool, Over> {
        if self.held_without_flaws != Some(true) {
            return Ok(true);
        }
        match self.without_flaws(candidate) {
            // It has none, and breaks the law all the same: that is not what the original showed.
            None => Ok(false),
            Some(broke) => broke.map(|broke| !broke),
        }
    }

    fn accept(&mut self, candidate: Plan, seen: Seen) {
        self.weight = Weight::of(&candidate);
        self.best = candidate;
        self.seen = seen;
        self.steps += 1;
        self.runner.at(&Progress { now: Size::of(&self.best), runs: self.runs });
    }
}

fn digest(plan: &Plan) -> [u8; 32] {
    Sha256::digest(serde_json::to_vec(plan).expect("a plan has a form in JSON")).into()
}
