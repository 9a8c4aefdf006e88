//! Runs of a sweep on all cores.

use crate::campaign::monitor::Monitor;
use crate::campaign::pool;
use crate::simulate::Laws;
use groundhog_sim::explore::sweep::{Done, Job, Runner};
use groundhog_sim::ledger::LedgerOptions;
use groundhog_sim::run::{RunError, RunOptions};
use indicatif::ProgressBar;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

/// Threads, and what watches them.
pub struct Threads<'a> {
    /// How many.
    pub jobs: usize,
    /// Which laws are asked.
    pub laws: Laws,
    /// Who stops them.
    pub monitor: &'a Monitor,
    /// Set to stop.
    pub stop: Arc<AtomicBool>,
    /// Stops by itself once a law is broken.
    pub first: bool,
    /// Told of every run.
    pub bar: &'a ProgressBar,
    /// When the sweep began.
    pub began: Instant,
    /// Runs made.
    pub runs: u64,
    /// Runs that broke a law.
    pub broken: u64,
}

impl Threads<'_> {
    fn options(&self) -> RunOptions {
        // Nobody asks for the fingerprint of one of thousands of runs.
        let ledger =
            LedgerOptions { laws: self.laws.selection(), unhashed: true, ..LedgerOptions::default() };
        RunOptions { ledger, stop: Arc::clone(&self.stop), ..RunOptions::default() }
    }

    fn tell(&self) {
        let rate = self.runs as f64 / self.began.elapsed().as_secs_f64().max(0.001);
        let broken = if self.broken == 0 { String::new() } else { format!(", {} broke a law", self.broken) };
        self.bar.set_message(format!("{} runs, {rate:.0}/s{broken}", groundhog_reports::count(self.runs)));
        self.bar.tick();
    }
}

impl Runner for Threads<'_> {
    fn run(&mut self, jobs: Vec<Job>) -> Option<Vec<Result<Done, RunError>>> {
        if self.first && self.broken > 0 {
            return None;
        }
        let mut all = Vec::with_capacity(jobs.len());
        let (stop, monitor, this) = (Arc::clone(&self.stop), self.monitor, &*self);
        pool::run(
            self.jobs,
            |number| jobs.get(usize::try_from(number).ok()?).filter(|_| !stop.load(Ordering::Relaxed)),
            |worker, job| {
                let _watched = monitor.watch(worker, 0, job.plan.seed);
                job.run(this.options())
            },
            |_, done| all.push(done),
        );
        if self.stop.load(Ordering::Relaxed) {
            return None;
        }
        self.runs += all.len() as u64;
        self.broken +=
            all.iter().filter(|done| done.as_ref().is_ok_and(|done| !done.violations.is_empty())).count()
                as u64;
        self.tell();
        Some(all)
    }
}
