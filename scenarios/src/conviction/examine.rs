//! One flaw, from several starts, and its smallest case.

use super::case::{Case, Shrunk, Trial};
use super::scenario_of;
use crate::command::CallError;
use crate::shrinking::{self, Budget, Watch};
use crate::target::{self, Target};
use groundhog_engine::flaws::Flaw;
use groundhog_sim::explore::shrink::ShrinkError;
use groundhog_sim::laws::catalogue::convicted_by;
use groundhog_sim::ledger::{LawSelection, LedgerOptions};
use groundhog_sim::outcome::Outcome;
use groundhog_sim::plan::{Crypto, Plan};
use groundhog_sim::run::{POLL_BUDGET, RunError, RunOptions, run};
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

/// Seeds between two starts: none is tried from two of them.
pub const APART: u64 = 1_000_000;

/// How flaws are examined.
pub struct Terms {
    /// Seeds that a flaw may survive from each start.
    pub seeds: u64,
    /// The first seed of the first start; the others begin [`APART`] further on each.
    pub from: u64,
    /// Starts.
    pub starts: u64,
    /// Whether kinds of fault are off, light or heavy by seed.
    pub swarm: bool,
    /// Real time that shrinking one case may take; `None` for no shrinking.
    pub shrink_for: Option<Duration>,
    /// Where small plans are written.
    pub out: Option<PathBuf>,
    /// Set to stop.
    pub stop: Arc<AtomicBool>,
}

/// Examines one flaw; `None` when it was told to stop before it was done.
///
/// # Errors
/// [`CallError`] when a run cannot be made or a plan not be written.
pub fn examine(flaw: Flaw, terms: &Terms, watch: &Watch<'_>) -> Result<Option<Case>, CallError> {
    let begun = Instant::now();
    let scenario = scenario_of(flaw);
    let targets = target::swarmed(target::find(scenario, &[])?, terms.swarm)?;
    let (outcome, mechanism) = convicted_by(flaw);
    let mut examination = Examination {
        flaw,
        target: &targets[0],
        terms,
        first_failing: None,
        case: Case {
            flaw: flaw.id(),
            scenario,
            outcome: Trial::new(outcome),
            mechanism: mechanism.map(Trial::new),
            broken: Default::default(),
            broken_without: None,
            shrunk: None,
            not_shrunk: None,
            not_written: None,
            real_time_ms: 0,
        },
    };
    for start in 0..terms.starts {
        examination.from(terms.from.saturating_add(start * APART))?;
    }
    if let Some(time) = terms.shrink_for {
        examination.shrink(time, watch)?;
    }
    if terms.stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let mut case = examination.case;
    case.real_time_ms = ms(begun.elapsed());
    Ok(Some(case))
}

struct Examination<'t> {
    flaw: Flaw,
    target: &'t Target,
    terms: &'t Terms,
    /// The first plan that broke the outcome law, and its fingerprint.
    first_failing: Option<(Plan, [u8; 32])>,
    case: Case,
}

impl Examination<'_> {
    /// Seed after seed until every law named for the flaw broke; then the same seeds without it.
    fn from(&mut self, first: u64) -> Result<(), RunError> {
        let mut seeds = vec![None; self.case.trials().count()];
        let mut last = first;
        for seed in first..first.saturating_add(self.terms.seeds) {
            if self.terms.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            last = seed;
            let outcome = self.run(seed, &[self.flaw])?;
            self.case.broken.extend(outcome.violations.iter().map(|violation| violation.law));
            let trials = std::iter::once(&mut self.case.outcome).chain(&mut self.case.mechanism);
            for (place, trial) in trials.enumerate() {
                let broken = outcome.violations.iter().find(|violation| violation.law == trial.law);
                if let (None, Some(violation)) = (seeds[place], broken) {
                    seeds[place] = Some(seed - first + 1);
                    trial.saw.get_or_insert_with(|| violation.saw.clone());
                    if place == 0 && self.first_failing.is_none() {
                        self.first_failing =
                            Some((plan_of(self.target, seed, &[self.flaw]), outcome.fingerprint));
                    }
                }
            }
            if seeds.iter().all(Option::is_some) {
                break;
            }
        }
        let trials = std::iter::once(&mut self.case.outcome).chain(&mut self.case.mechanism);
        trials.zip(seeds).for_each(|(trial, seeds)| trial.seeds.push(seeds));
        for seed in first..=last {
            if self.case.broken_without.is_none() && !self.run(seed, &[])?.held() {
                let stopped = self.terms.stop.load(Ordering::Relaxed);
                self.case.broken_without = (!stopped).then_some(seed);
            }
        }
        Ok(())
    }

    fn run(&self, seed: u64, flaws: &[Flaw]) -> Result<Outcome, RunError> {
        let plan = plan_of(self.target, seed, flaws);
        run(&plan, RunOptions { stop: Arc::clone(&self.terms.stop), ..RunOptions::default() })
    }

    fn shrink(&mut self, time: Duration, watch: &Watch<'_>) -> Result<(), CallError> {
        let Some((plan, fingerprint)) = &self.first_failing else { return Ok(()) };
        let budget = Budget { time, jobs: 1, max_polls: POLL_BUDGET, shown: false };
        let law = self.case.outcome.law;
        let small = match shrinking::shrink(plan, law, Some(*fingerprint), &budget, watch) {
            Ok(small) => small,
            Err(ShrinkError::Run(error)) => return Err(error.into()),
            Err(error) => {
                self.case.not_shrunk = Some(error.to_string());
                return Ok(());
            }
        };
        let written = self.terms.out.as_ref().map(|folder| small.write(folder, self.flaw.id(), Vec::new()));
        let path = match written {
            None => None,
            Some(Ok(path)) => Some(path.display().to_string()),
            Some(Err(error)) => {
                self.case.not_written = Some(error.to_string());
                None
            }
        };
        let size = small.shrunk.to;
        self.case.shrunk = Some(Shrunk {
            seed: plan.seed,
            actions: size.actions,
            faults: size.faults,
            nodes: size.nodes,
            one_minimal: small.shrunk.one_minimal,
            real_time_ms: ms(small.took),
            path,
        });
        Ok(())
    }
}

fn ms(time: Duration) -> u64 {
    u64::try_from(time.as_millis()).unwrap_or(u64::MAX)
}

fn plan_of(target: &Target, seed: u64, flaws: &[Flaw]) -> Plan {
    Plan { crypto: Crypto::KeyedHash, ..target.plan(seed, flaws) }
}

/// Runs one seed with a keyed hash for signatures, and checks only these laws, until `stop` is set.
///
/// # Errors
/// [`RunError`].
pub fn run_seed(
    target: &Target,
    seed: u64,
    flaws: &[Flaw],
    laws: LawSelection,
    stop: &Arc<AtomicBool>,
) -> Result<Outcome, RunError> {
    let ledger = LedgerOptions { laws, ..LedgerOptions::default() };
    let stop = Arc::clone(stop);
    run(&plan_of(target, seed, flaws), RunOptions { ledger, stop, ..RunOptions::default() })
}
