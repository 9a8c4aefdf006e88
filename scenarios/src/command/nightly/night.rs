//! The parts of a night and the time that each may take.
//!
//! Promise: no run begins after the time is over, whichever part it is of; what there was no time for is told as that, and
//! neither as held nor as failed. Fresh seeds take what the others leave.

use super::arguments::Arguments;
use super::report::{self, Report};
use super::shrinks::Shrinks;
use crate::campaign::monitor::{Monitor, Reason};
use crate::campaign::tally::Tally;
use crate::campaign::{Campaign, Checked, Seeds};
use crate::command::CallError;
use crate::command::convict::{self, SEEDS};
use crate::conviction::{Case, Terms};
use crate::corpus::{self, Account, Entry};
use crate::exit::Exit;
use crate::print::block::{Failure, FailureKind};
use crate::print::progress::Progress;
use crate::shrinking::Watch;
use crate::simulate::Manner;
use crate::target::Target;
use groundhog_engine::flaws::Flaw;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// One fresh seed in so many is run again in another process.
pub const CHECKED_EVERY: u64 = 20;

/// Fresh seeds stop when so much of the time is left, in thousandths: for the last runs, and for what is written.
const LEFT_PER_MILLE: u32 = 30;

/// The most of the time that convictions may take, in thousandths.
const CONVICTIONS_PER_MILLE: u32 = 400;

/// How often it is seen whether the time of a part is over.
const LOOK_EVERY: Duration = Duration::from_millis(50);

/// How long fresh seeds go on at most before somebody looks whether they broke a law.
const LOOK_AFTER: Duration = Duration::from_secs(20);

/// How long they go on at least, while there is time.
const LEAST_STRETCH: Duration = Duration::from_secs(1);

/// One night.
pub struct Night<'a> {
    /// What was asked.
    pub arguments: &'a Arguments,
    /// When it began.
    pub began: Instant,
    /// The first fresh seed.
    pub first_seed: u64,
    /// Flaws that fresh seeds have on.
    pub flaws: Vec<Flaw>,
    /// Every scenario, under swarm.
    pub targets: Vec<Target>,
    /// Bounds of time and memory, and requests to end.
    pub monitor: Monitor,
    /// Counts requests to end.
    pub interrupts: Arc<AtomicU8>,
    /// Set to stop every run.
    pub stop: Arc<AtomicBool>,
    /// What came of fresh seeds.
    pub tally: Mutex<Tally>,
    /// What came of the other parts so far.
    pub done: Mutex<Done>,
}

/// What came of the parts of a night so far.
#[derive(Default)]
pub struct Done {
    /// Of the kept plans.
    pub corpus: Option<Account>,
    /// Of the flaws.
    pub cases: Vec<Case>,
    /// Of what failed.
    pub shrinks: Shrinks,
}

impl Night<'_> {
    /// Runs all parts, prints and writes what came of them.
    pub fn run(&self, entries: &[Entry]) -> Result<Exit, CallError> {
        let report = Report { night: self };
        let ended = std::thread::scope(|scope| {
            let looking = scope.spawn(|| self.monitor.look(|| std::process::exit(report.give_up())));
            let ended = self.parts(entries);
            self.monitor.over();
            looking.thread().unpark();
            ended
        });
        ended?;
        report.finish()
    }

    fn parts(&self, entries: &[Entry]) -> Result<(), CallError> {
        self.corpus(entries);
        self.convictions()?;
        self.fresh_seeds();
        Ok(())
    }

    /// Kept plans come first and may take all of the time.
    fn corpus(&self, entries: &[Entry]) {
        let progress = Progress::new(Some(entries.len() as u64), "kept plans");
        let manner = Manner::plain(Arc::default());
        let threads = self.arguments.threads();
        let account = self.until(self.end(), &manner.stop, || {
            corpus::examine_all(entries, threads, &manner, || progress.step(|| 0))
        });
        progress.finish();
        self.done.lock().expect("nobody panics with it").corpus = Some(account);
    }

    /// Each flaw from one start, on tonight's seeds, without shrinking: the examination that a night has time for.
    fn convictions(&self) -> Result<(), CallError> {
        let terms = Terms {
            seeds: SEEDS,
            from: self.first_seed,
            starts: 1,
            swarm: false,
            shrink_for: None,
            out: None,
            stop: Arc::default(),
        };
        let until = self.began + self.arguments.time * CONVICTIONS_PER_MILLE / 1_000;
        let watch = Watch { interrupts: &self.interrupts, give_up: &|| {} };
        let cases = self.until(until, &terms.stop, || {
            convict::examine_all(Flaw::ALL, &terms, self.arguments.threads(), &watch, |_| {})
        });
        self.done.lock().expect("nobody panics with it").cases = cases?;
        Ok(())
    }

    /// Does `work`, and sets `stop` when the time is over or everything is told to stop.
    fn until<T>(&self, time: Instant, stop: &AtomicBool, work: impl FnOnce() -> T) -> T {
        let over = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let looking = scope.spawn(|| {
                while !over.load(Ordering::Relaxed) {
                    if Instant::now() >= time || self.is_stopped() {
                        stop.store(true, Ordering::Relaxed);
                    }
                    std::thread::park_timeout(LOOK_EVERY);
                }
            });
            let done = work();
            over.store(true, Ordering::Relaxed);
            looking.thread().unpark();
            done
        })
    }

    /// When the night is to be over.
    fn end(&self) -> Instant {
        self.began + self.arguments.time
    }

    /// Fresh seeds of every scenario until the time is nearly over; what fails is shrunk between two stretches of them.
    fn fresh_seeds(&self) {
        let progress = Progress::new(None, "runs");
        let failed = || self.tally.lock().expect("the tally's holders do not panic").failed();
        let end = self.began + self.arguments.time * (1_000 - LEFT_PER_MILLE) / 1_000;
        let mut from = self.first_seed;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            if left.is_zero() || self.is_stopped() {
                break;
            }
            let campaign = Campaign {
                targets: self.targets.clone(),
                // Most of a short night is left for what its first seeds break.
                seeds: Seeds::For { from, time: (left / 4).clamp(LEAST_STRETCH.min(left), LOOK_AFTER) },
                flaws: self.flaws.clone(),
                jobs: self.arguments.threads(),
                manner: self.manner(),
                check: Checked::OneIn(CHECKED_EVERY),
                hard_end: Some(self.end()),
            };
            // What was cut short is told by the monitor's reason.
            let _ = campaign.run(&self.tally, &self.monitor, || progress.step(failed));
            from = self.first_seed + self.seeds();
            if !self.is_stopped() {
                Shrinks::go_on(self, end);
            }
        }
        progress.finish();
    }

    /// Seeds of each scenario that were run.
    pub fn seeds(&self) -> u64 {
        let tally = self.tally.lock().expect("the tally's holders do not panic");
        tally.lanes.iter().map(|lane| lane.totals.seeds).max().unwrap_or(0)
    }

    /// Whether everything was told to stop.
    pub fn is_stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    fn manner(&self) -> Manner {
        Manner::plain(Arc::clone(&self.stop))
    }

    /// Everything that failed or was left out.
    pub fn failures(&self, reason: Option<&Reason>) -> Vec<Failure> {
        let done = self.done.lock().expect("nobody panics with it");
        let tally = self.tally.lock().expect("the tally's holders do not panic");
        let mut failures = Vec::new();
        if let Some(account) = &done.corpus {
            let folder = &self.arguments.corpus;
            failures.extend(account.failures(&|entry| crate::command::corpus::repeat(folder, &entry.name)));
            let why = self.why_not();
            failures.extend((account.left > 0).then(|| corpus::left(account.left, folder, why, None)));
        }
        failures.extend(convict::failures(&done.cases, &|case| {
            convict::repeat_quick(case.flaw, self.first_seed)
        }));
        failures.extend(self.not_examined(&done.cases));
        failures.extend(tally.lanes.iter().all(|lane| lane.totals.seeds == 0).then(|| self.no_fresh_seed()));
        failures.extend(report::of_seeds(self, &tally, &done.shrinks, reason));
        failures
    }

    fn no_fresh_seed(&self) -> Failure {
        Failure {
            kind: FailureKind::Cut,
            what: "fresh seeds".to_owned(),
            saw: format!("{} any", self.why_not()),
            shrunk: None,
            see: None,
            repeat: Some(self.arguments.repeat(self.first_seed)),
        }
    }

    /// Why something was not examined.
    pub fn why_not(&self) -> &'static str {
        if self.is_stopped() { "interrupted before" } else { "no time for" }
    }

    /// The flaws that there was no time for: what they would have shown is not known.
    fn not_examined(&self, cases: &[Case]) -> Option<Failure> {
        let left: Vec<&str> = Flaw::ALL
            .iter()
            .map(|flaw| flaw.id())
            .filter(|id| cases.iter().all(|case| case.flaw != *id))
            .collect();
        let why = self.why_not();
        (!left.is_empty()).then(|| Failure {
            kind: FailureKind::Cut,
            what: "convictions".to_owned(),
            saw: format!("{why} {} of {} flaws: {}", left.len(), Flaw::ALL.len(), left.join(", ")),
            shrunk: None,
            see: None,
            repeat: Some(self.arguments.repeat(self.first_seed)),
        })
    }
}
