//! Many seeds of one target or several: which there are, running them on all cores, and what came of them.

pub mod check;
pub mod interrupt;
pub mod monitor;
pub mod pool;
pub mod share;
pub mod signals;
pub mod tally;

use crate::simulate::{self, Manner};
use crate::target::Target;
use groundhog_engine::flaws::Flaw;
use groundhog_sim::outcome::{Cut, Outcome};
use groundhog_sim::plan::Plan;
use groundhog_sim::run::RunError;
use monitor::{Monitor, Reason};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};
use tally::Tally;

/// Runs at the same time where nobody says how many: one a core.
pub fn cores() -> usize {
    std::thread::available_parallelism().map_or(1, std::num::NonZero::get)
}

/// Which seeds are run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seeds {
    /// This one.
    One(u64),
    /// So many from one on.
    Many {
        /// The first.
        from: u64,
        /// How many.
        count: u64,
    },
    /// As many from one on as there is real time for.
    For {
        /// The first.
        from: u64,
        /// The time.
        time: Duration,
    },
}

impl Seeds {
    /// Whether one run is asked for, and not a series.
    pub const fn is_one(self) -> bool {
        matches!(self, Self::One(_))
    }

    /// The first of them.
    pub const fn first(self) -> u64 {
        match self {
            Self::One(seed) => seed,
            Self::Many { from, .. } | Self::For { from, .. } => from,
        }
    }

    /// How many seeds of each target there will be, where that is known.
    pub const fn count(self) -> Option<u64> {
        match self {
            Self::One(_) => Some(1),
            Self::Many { count, .. } => Some(count),
            Self::For { .. } => None,
        }
    }

    fn nth(self, place: u64, began: Instant) -> Option<u64> {
        match self {
            Self::One(seed) => (place == 0).then_some(seed),
            Self::Many { from, count } => (place < count).then(|| from.checked_add(place)).flatten(),
            Self::For { from, time } => (began.elapsed() < time).then(|| from.checked_add(place)).flatten(),
        }
    }
}

/// Which plans are run again in another process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Checked {
    /// None.
    Never,
    /// Every one.
    Always,
    /// Those whose seed is divisible by this.
    OneIn(u64),
}

impl Checked {
    const fn takes(self, seed: u64) -> bool {
        match self {
            Self::Never => false,
            Self::Always => true,
            Self::OneIn(every) => seed.is_multiple_of(every),
        }
    }
}

/// What is run, and how.
pub struct Campaign {
    /// What plans come from.
    pub targets: Vec<Target>,
    /// Which seeds of each.
    pub seeds: Seeds,
    /// Flaws switched on.
    pub flaws: Vec<Flaw>,
    /// Threads.
    pub jobs: usize,
    /// How each plan is run.
    pub manner: Manner,
    /// Which plans are run again in another process.
    pub check: Checked,
    /// No run begins after this, not even to make a seed's round over all targets whole.
    pub hard_end: Option<Instant>,
}

/// One run to do.
struct Job {
    target: usize,
    plan: Plan,
}

/// What came of one run.
pub enum Ended {
    /// An outcome, and where a second run of the plan parted from it.
    Outcome(Box<Outcome>, Option<check::Difference>),
    /// The plan cannot be run, and what it was drawn from is not as the catalogue has it.
    Wrong(String),
    /// Groundhog failed.
    Failed(String),
    /// The command was interrupted before the run began.
    NotBegun,
}

/// A run knows only that it was told to stop; the monitor knows why.
fn told_by(monitor: &Monitor, cut: Cut) -> Cut {
    match (cut, monitor.reason()) {
        (Cut::Interrupted, Some(Reason::Memory { bound_bytes, .. })) => {
            Cut::Memory { limit_bytes: bound_bytes }
        }
        (Cut::Interrupted, Some(Reason::RunTime { bound, .. })) => {
            Cut::Watchdog { limit_ms: u64::try_from(bound.as_millis()).unwrap_or(u64::MAX) }
        }
        (cut, _) => cut,
    }
}

impl Campaign {
    /// Runs everything, and says whether the monitor cut any of it short: a bound that is hit once all runs are done
    /// cuts nothing. `progress` is told after each run. The tally is behind a lock so that the monitor can print what was
    /// done when it has to end the process.
    #[must_use]
    pub fn run(&self, tally: &Mutex<Tally>, monitor: &Monitor, progress: impl Fn() + Sync) -> bool {
        let began = Instant::now();
        let cut_short = AtomicBool::new(false);
        let stopped = || self.manner.stop.load(Ordering::Relaxed);
        // Seed by seed over all targets, so that a time budget is shared evenly.
        let shares = self.shares();
        let next = |number: u64| {
            let (seed, target) = shares.run(number)?;
            let place = seed - self.seeds.first();
            let seed = self.seeds.nth(place, began);
            // A budget of time ends between two seeds, never between two targets of one.
            let seed = if target == 0 { seed } else { seed.or_else(|| self.late_seed(place)) };
            let seed = seed.filter(|_| self.hard_end.is_none_or(|end| Instant::now() < end));
            if seed.is_some() && stopped() {
                cut_short.store(true, Ordering::Relaxed);
                return None;
            }
            seed.map(|seed| Job { target, plan: self.targets[target].plan(seed, &self.flaws) })
        };
        let work = |worker: usize, job: &Job| {
            if stopped() {
                cut_short.store(true, Ordering::Relaxed);
                return Ended::NotBegun;
            }
            let _watched = monitor.watch(worker, job.target, job.plan.seed);
            match self.one(job.target, &job.plan) {
                Ended::Outcome(mut outcome, difference) => {
                    if outcome.cut == Some(Cut::Interrupted) {
                        cut_short.store(true, Ordering::Relaxed);
                    }
                    outcome.cut = outcome.cut.map(|cut| told_by(monitor, cut));
                    Ended::Outcome(outcome, difference)
                }
                ended => ended,
            }
        };
        pool::run(self.jobs, next, work, |job, ended| {
            tally.lock().expect("the tally's holders do not panic").add(job.target, job.plan, ended);
            progress();
        });
        cut_short.into_inner()
    }

    /// How the seeds are shared among the targets. Who asks for one target, or for one seed, asks for all of it.
    pub fn shares(&self) -> share::Shares {
        let whole = self.targets.len() == 1 || self.seeds.is_one();
        let share = |target: &Target| if whole { 1_000 } else { target.seeds_per_thousand() };
        let shares = share::Shares::new(self.targets.iter().map(share), self.seeds.first());
        match self.seeds.count() {
            Some(count) => shares.with_each(self.seeds.first(), count),
            None => shares,
        }
    }

    fn late_seed(&self, place: u64) -> Option<u64> {
        match self.seeds {
            Seeds::For { from, .. } => from.checked_add(place),
            _ => None,
        }
    }

    fn one(&self, target: usize, plan: &Plan) -> Ended {
        match simulate::simulate(plan, &self.manner) {
            Ok(outcome) => {
                let difference = if self.check.takes(plan.seed) && check::is_repeatable(&outcome) {
                    match check::against_another_process(plan, &outcome, &self.manner) {
                        Ok(difference) => difference,
                        // Whoever ends the command may have ended the other process too.
                        Err(_) if self.manner.stop.load(Ordering::Relaxed) => None,
                        Err(error) => return Ended::Failed(format!("--check: {error}")),
                    }
                } else {
                    None
                };
                Ended::Outcome(Box::new(outcome), difference)
            }
            Err(RunError::Plan(why)) if !self.targets[target].pristine => Ended::Wrong(why),
            Err(error @ (RunError::Plan(_) | RunError::Thread(_) | RunError::Simulator(_))) => {
                Ended::Failed(error.to_string())
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::campaign::monitor::Bounds;
    use crate::target;
    use std::sync::Arc;

    /// Runs two small seeds under a monitor that tells everything to stop at this moment: before all of it, or after.
    fn runs_stopped(before: bool) -> (bool, u64) {
        let settings = ["nodes=2", "load.bursts=2", "crypto=keyed-hash"].map(str::to_owned);
        let settings = target::settings(&settings).expect("they are settings");
        let stop = Arc::new(AtomicBool::new(before));
        let manner = Manner::plain(Arc::clone(&stop));
        let targets = target::find("lane-interleaving", &settings).expect("it is in the catalogue");
        let seeds = Seeds::Many { from: 0, count: 2 };
        let campaign = Campaign {
            targets,
            seeds,
            flaws: Vec::new(),
            jobs: 1,
            manner,
            check: Checked::Never,
            hard_end: None,
        };
        let tally = Mutex::new(Tally::new(std::iter::once("lane-interleaving"), false));
        let bounds = Bounds { run_time: Duration::MAX, memory_bytes: u64::MAX };
        let monitor = Monitor::new(bounds, stop, Arc::default());
        let done = std::sync::atomic::AtomicU64::new(0);
        let cut_short = campaign.run(&tally, &monitor, || {
            if done.fetch_add(1, Ordering::Relaxed) == 1 {
                campaign.manner.stop.store(true, Ordering::Relaxed);
            }
        });
        (cut_short, done.into_inner())
    }

    #[test]
    fn what_is_told_to_stop_once_all_runs_are_done_was_not_cut_short() {
        assert_eq!(runs_stopped(false), (false, 2));
        assert_eq!(runs_stopped(true), (true, 0));
    }

    #[test]
    fn a_series_has_the_seeds_that_were_asked_for() {
        let began = Instant::now();
        let all = |seeds: Seeds| (0..).map_while(|place| seeds.nth(place, began)).take(5).collect::<Vec<_>>();
        assert_eq!(all(Seeds::One(7)), [7]);
        assert_eq!(all(Seeds::Many { from: 3, count: 2 }), [3, 4]);
        assert_eq!(all(Seeds::Many { from: u64::MAX, count: 9 }), [u64::MAX]);
        assert_eq!(all(Seeds::For { from: 2, time: Duration::from_secs(3_600) }), [2, 3, 4, 5, 6]);
        assert!(all(Seeds::For { from: 2, time: Duration::ZERO }).is_empty());
    }
}
