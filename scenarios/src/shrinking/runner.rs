//! Runs the shrinker's candidates on all cores, until a deadline.
//!
//! Promise: which candidate wins does not depend on the number of cores; a run that the deadline meets is stopped.

use crate::campaign::pool;
use groundhog_sim::explore::shrink::{Batch, Over, Progress, Runner, Seen};
use groundhog_sim::ledger::{LawSelection, LedgerOptions};
use groundhog_sim::outcome::{Cut, Outcome};
use groundhog_sim::plan::Plan;
use groundhog_sim::run::{RunError, RunOptions, run};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

/// Polls that a candidate may use for each event of the original's run; some orders beyond what any run needs.
const POLLS_AN_EVENT: u64 = 100;

/// Polls that any candidate may use.
const LEAST_POLLS: u64 = 1_000_000;

/// Runs candidates.
pub struct Cores<'a> {
    jobs: usize,
    deadline: Instant,
    stop: Arc<AtomicBool>,
    max_polls: u64,
    /// Polls that a candidate may use; known once the original has run.
    candidate_polls: u64,
    slowest_ms: Arc<AtomicU64>,
    progress: &'a (dyn Fn(&Progress) + Sync),
    /// What the simulator said when it failed at a candidate: a defect of Groundhog, which ends no search.
    pub defect: Option<String>,
}

/// What came of one candidate.
enum Ended {
    Seen(Seen),
    Failed(RunError),
}

impl<'a> Cores<'a> {
    /// A runner with `jobs` workers, which runs no candidate after `deadline`, stops those that run when `stop` is set,
    /// and tells `progress` where the shrinker stands.
    pub fn new(
        jobs: usize,
        deadline: Instant,
        stop: Arc<AtomicBool>,
        max_polls: u64,
        progress: &'a (dyn Fn(&Progress) + Sync),
    ) -> Self {
        let (candidate_polls, slowest_ms) = (max_polls, Arc::default());
        Self { jobs, deadline, stop, max_polls, candidate_polls, slowest_ms, progress, defect: None }
    }

    /// What the longest whole run took, in milliseconds.
    pub fn slowest(&self) -> Arc<AtomicU64> {
        Arc::clone(&self.slowest_ms)
    }

    fn is_over(&self) -> bool {
        self.stop.load(Ordering::Relaxed) || Instant::now() >= self.deadline
    }

    /// One candidate, of which only the law's verdict counts.
    fn candidate(&self, law: &str, plan: &Plan) -> Ended {
        let ledger = LedgerOptions { laws: only(law), unhashed: true, ..LedgerOptions::default() };
        let stop = Arc::clone(&self.stop);
        match run(plan, RunOptions { ledger, poll_budget: self.candidate_polls, stop, plant: None }) {
            Ok(outcome) => Ended::Seen(Seen::of(&outcome, law)),
            Err(error) => Ended::Failed(error),
        }
    }

    /// Takes the candidates' results in their order.
    fn take(&mut self, ended: Ended, first: &mut First) {
        let number = first.taken;
        first.taken += 1;
        if first.found.is_some() || first.over {
            return;
        }
        match ended {
            Ended::Seen(seen) if seen.breaks() => first.found = Some((number, seen)),
            Ended::Seen(seen) if seen.cut == Some(Cut::Interrupted) => first.over = true,
            Ended::Seen(_) | Ended::Failed(RunError::Plan(_)) => {}
            Ended::Failed(error) => {
                self.defect.get_or_insert(error.to_string());
            }
        }
    }
}

/// The first candidate that broke the law, as far as results were taken.
#[derive(Default)]
struct First {
    taken: usize,
    found: Option<(usize, Seen)>,
    over: bool,
}

fn only(law: &str) -> LawSelection {
    LawSelection::Ids([law.to_owned()].into())
}

impl Runner for Cores<'_> {
    fn first_broken(&mut self, law: &str, batch: &Batch<'_>) -> Result<Option<(usize, Seen)>, Over> {
        let mut first = First::default();
        if self.jobs == 1 || batch.plan(1).is_none() {
            while let (None, Some(plan)) = (&first.found, batch.plan(first.taken)) {
                if first.over || self.is_over() {
                    return Err(Over);
                }
                let ended = self.candidate(law, &plan);
                self.take(ended, &mut first);
            }
            return if first.over { Err(Over) } else { Ok(first.found) };
        }
        let (found, over) = (AtomicUsize::new(usize::MAX), AtomicBool::new(false));
        let mut results = Vec::new();
        {
            let this = &*self;
            pool::run(
                self.jobs,
                |number| {
                    let number = usize::try_from(number).ok()?;
                    let plan = batch.plan(number).filter(|_| number < found.load(Ordering::Relaxed))?;
                    if this.is_over() {
                        over.store(true, Ordering::Relaxed);
                        return None;
                    }
                    Some(plan)
                },
                |_, plan| this.candidate(law, plan),
                |_, ended| {
                    if matches!(&ended, Ended::Seen(seen) if seen.breaks()) {
                        found.fetch_min(results.len(), Ordering::Relaxed);
                    }
                    results.push(ended);
                },
            );
        }
        for ended in results {
            self.take(ended, &mut first);
        }
        match first.found {
            Some(found) => Ok(Some(found)),
            None if first.over || over.load(Ordering::Relaxed) => Err(Over),
            None => Ok(None),
        }
    }

    fn run(&mut self, law: &str, plan: &Plan) -> Result<Seen, RunError> {
        let begun = Instant::now();
        let outcome = whole(plan, only(law), self.max_polls)?;
        let took_ms = u64::try_from(begun.elapsed().as_millis()).unwrap_or(u64::MAX);
        self.slowest_ms.fetch_max(took_ms, Ordering::Relaxed);
        let polls = outcome.events.saturating_mul(POLLS_AN_EVENT).saturating_add(LEAST_POLLS);
        self.candidate_polls = polls.min(self.max_polls);
        Ok(Seen::of(&outcome, law))
    }

    fn at(&mut self, progress: &Progress) {
        (self.progress)(progress);
    }
}

/// One whole run that no deadline stops.
pub fn whole(plan: &Plan, laws: LawSelection, max_polls: u64) -> Result<Outcome, RunError> {
    let ledger = LedgerOptions { laws, ..LedgerOptions::default() };
    run(plan, RunOptions { ledger, poll_budget: max_polls, ..RunOptions::default() })
}

#[cfg(test)]
mod tests {
    use super::*;
    use groundhog_sim::plan::{Crypto, yardstick};
    use std::time::Duration;

    #[test]
    fn the_first_candidate_in_order_wins_on_any_number_of_cores_and_none_after_the_deadline() {
        let mut sound = yardstick::admissions(9, 1, Crypto::KeyedHash);
        sound.actions.truncate(2);
        let mut flawed = sound.clone();
        flawed.flaws.push("early-release".to_owned());
        let plans = [sound, flawed];
        let runs = [(0, 1), (0, 2), (1, 3), (0, 4), (1, 5), (1, 6)];
        let batch = Batch::new(&plans, &runs);
        for jobs in [1, 2, 5] {
            let runner = |time| Cores::new(jobs, Instant::now() + time, Arc::default(), 1_000_000, &|_| ());
            let mut in_time = runner(Duration::from_secs(600));
            let found = in_time.first_broken("commit/release", &batch).expect("there is time");
            let (number, seen) = found.expect("the flaw shows");
            assert_eq!((number, seen.broken.map(|broken| broken.law)), (2, Some("commit/release")));
            assert_eq!(in_time.first_broken("streams/one-digest", &batch), Ok(None));
            assert_eq!(runner(Duration::ZERO).first_broken("commit/release", &batch), Err(Over));
        }
    }
}
