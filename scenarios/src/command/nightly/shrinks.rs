//! What failed tonight, grouped by law: each law's first failure is shrunk once, and kept.

use super::night::Night;
use crate::corpus;
use crate::shrinking::{self, Budget, Watch};
use groundhog_sim::explore::shrink::ShrinkError;
use groundhog_sim::laws::catalogue::LAWS;
use groundhog_sim::plan::Plan;
use groundhog_sim::run::POLL_BUDGET;
use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// The longest that one failure is shrunk.
const LONGEST: Duration = Duration::from_secs(60);

/// What became of each law's first failure.
#[derive(Clone, Debug, Default)]
pub struct Shrinks {
    by_law: BTreeMap<&'static str, Became>,
}

/// What became of one failure.
#[derive(Clone, Debug)]
pub struct Became {
    /// The target that failed, by its place, and its seed: what was shrunk.
    pub of: (usize, u64),
    /// What it was shrunk to and where that is, or why it was not.
    pub line: String,
    /// The kept plan, which fails in the same way.
    pub kept: Option<PathBuf>,
    /// What differed, if the plan did not give the same run again.
    pub flaky: Option<String>,
}

impl Shrinks {
    /// What became of a law's first failure.
    pub fn of(&self, law: &str) -> Option<&Became> {
        self.by_law.get(law)
    }

    /// Laws whose first failure did not give the same run again.
    pub fn flaky(&self) -> impl Iterator<Item = (&'static str, &Became)> {
        self.by_law.iter().filter(|(_, became)| became.flaky.is_some()).map(|(law, became)| (*law, became))
    }

    /// The plans that were kept tonight.
    pub fn kept(&self) -> impl Iterator<Item = &PathBuf> {
        self.by_law.values().filter_map(|became| became.kept.as_ref())
    }

    /// Shrinks what has failed since the last time, as far as there is time until `end`.
    pub fn go_on(night: &Night<'_>, end: Instant) {
        for law in LAWS.iter().map(|law| law.id) {
            let left = end.saturating_duration_since(Instant::now());
            if night.is_stopped() || left.is_zero() {
                return;
            }
            let known = night.done.lock().expect("nobody panics with it").shrinks.of(law).is_some();
            let first = if known { None } else { first_failure(night, law) };
            if let Some(of) = first {
                // Half of what is left, so that the next law is not left with nothing.
                let became = shrink(night, law, of, LONGEST.min(left / 2));
                night.done.lock().expect("nobody panics with it").shrinks.by_law.insert(law, became);
            }
        }
    }
}

/// The first failing seed of a law, in the first scenario that it broke in.
fn first_failure(night: &Night<'_>, law: &str) -> Option<(usize, u64)> {
    let tally = night.tally.lock().expect("the tally's holders do not panic");
    tally.lanes.iter().enumerate().find_map(|(target, lane)| {
        let broken = lane.totals.broken.get(law)?;
        Some((target, broken.first_seed))
    })
}

fn shrink(night: &Night<'_>, law: &'static str, of: (usize, u64), time: Duration) -> Became {
    let plan = night.targets[of.0].plan(of.1, &night.flaws);
    let budget = Budget { time, jobs: night.arguments.threads(), max_polls: POLL_BUDGET, shown: true };
    let watch = Watch { interrupts: &night.interrupts, give_up: &|| {} };
    match shrinking::shrink(&plan, law, None, &budget, &watch) {
        Ok(small) => keep(night, law, of, &plan, &small),
        Err(ShrinkError::Flaky(flaky)) => {
            let flaky = ShrinkError::Flaky(flaky).to_string();
            Became { of, line: "not at all".to_owned(), kept: None, flaky: Some(flaky) }
        }
        Err(error) => Became { of, line: format!("not at all: {error}"), kept: None, flaky: None },
    }
}

/// Writes the small plan and its timeline, and keeps it: among the kept plans where it shows the engine as it is, and
/// apart from them where a flaw was planted.
fn keep(
    night: &Night<'_>,
    law: &'static str,
    of: (usize, u64),
    plan: &Plan,
    small: &shrinking::Small,
) -> Became {
    let line = small.line(plan);
    let stem = groundhog_reports::file_stem(law);
    let original = vec![(format!("{stem}-whole.json"), plan.to_json())];
    let written = match small.write(&night.arguments.out, &stem, original) {
        Ok(path) => path,
        Err(error) => {
            return Became { of, line: format!("{line}, not written: {error}"), kept: None, flaky: None };
        }
    };
    let folder = if night.flaws.is_empty() {
        night.arguments.corpus.clone()
    } else {
        night.arguments.out.join("kept")
    };
    let name = corpus::name_of(plan, law);
    let reason = format!("Found by a night at seed {} of {}.", plan.seed, plan.scenario);
    let line = format!("{line:<40} {}", written.display());
    match corpus::keep(&folder, &name, &small.shrunk.plan, law, &reason) {
        Ok(kept) => Became { of, line, kept: Some(kept), flaky: None },
        Err(error) => Became { of, line: format!("{line}, not kept: {error}"), kept: None, flaky: None },
    }
}
