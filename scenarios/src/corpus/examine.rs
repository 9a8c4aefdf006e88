//! Whether a kept plan still shows what it was kept for, under 16 schedule seeds.

use super::Entry;
use crate::simulate::{self, Manner};
use groundhog_sim::explore::schedules::{SCHEDULE_SEEDS, schedule_seeds};
use groundhog_sim::outcome::{Outcome, Violation};
use groundhog_sim::plan::Plan;
use groundhog_sim::run::RunError;

/// What is wrong with a kept plan.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Finding {
    /// It breaks a law under this schedule seed, and has no flaw that would excuse it.
    Breaks {
        /// The schedule seed.
        schedule_seed: u64,
        /// The violation.
        violation: Violation,
    },
    /// Its flaws are no longer seen by its law under any schedule seed.
    Survives,
    /// A run of it did not come to its end.
    Cut {
        /// The schedule seed.
        schedule_seed: u64,
        /// Why.
        why: String,
    },
}

/// One kept plan, examined.
#[derive(Clone, Debug)]
pub struct Examined {
    /// Runs that it took.
    pub runs: u64,
    /// What is wrong, if anything.
    pub finding: Option<Finding>,
}

/// Runs a kept plan under its schedule seeds: with its flaws until its law breaks, and without them under all. It is judged
/// by its law alone: a plan that was cut down to what breaks one law may end before others could hold.
pub fn examine(entry: &Entry, manner: &Manner) -> Result<Examined, RunError> {
    let seeds: Vec<u64> = schedule_seeds(entry.plan.schedule_seed).take(SCHEDULE_SEEDS).collect();
    let mut examination = Examination { runs: 0, manner };
    let mut finding = None;
    if !entry.plan.flaws.is_empty() {
        finding = examination.convict(entry, &seeds)?;
    }
    if finding.is_none() {
        let honest = Plan { flaws: Vec::new(), ..entry.plan.clone() };
        finding = examination.hold(&honest, &entry.why.law, &seeds)?;
    }
    Ok(Examined { runs: examination.runs, finding })
}

struct Examination<'m> {
    runs: u64,
    manner: &'m Manner,
}

impl Examination<'_> {
    fn convict(&mut self, entry: &Entry, seeds: &[u64]) -> Result<Option<Finding>, RunError> {
        for seed in seeds {
            let outcome = self.run(&entry.plan, *seed)?;
            if let Some(cut) = cut_of(&outcome, *seed) {
                return Ok(Some(cut));
            }
            if outcome.violations.iter().any(|violation| violation.law == entry.why.law) {
                return Ok(None);
            }
        }
        Ok(Some(Finding::Survives))
    }

    fn hold(&mut self, plan: &Plan, law: &str, seeds: &[u64]) -> Result<Option<Finding>, RunError> {
        for seed in seeds {
            let outcome = self.run(plan, *seed)?;
            if let Some(violation) = outcome.violations.iter().find(|violation| violation.law == law) {
                let violation = violation.clone();
                return Ok(Some(Finding::Breaks { schedule_seed: *seed, violation }));
            }
            if let Some(cut) = cut_of(&outcome, *seed) {
                return Ok(Some(cut));
            }
        }
        Ok(None)
    }

    fn run(&mut self, plan: &Plan, schedule_seed: u64) -> Result<Outcome, RunError> {
        self.runs += 1;
        simulate::simulate(&Plan { schedule_seed, ..plan.clone() }, self.manner)
    }
}

fn cut_of(outcome: &Outcome, schedule_seed: u64) -> Option<Finding> {
    let why = format!("{:?}", outcome.cut.as_ref()?);
    Some(Finding::Cut { schedule_seed, why })
}
