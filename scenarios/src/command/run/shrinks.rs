//! The first failing seed of each law, shrunk, and written beside the plan that it came from.

use super::arguments::{Arguments, joined, program};
use super::failures::Pointers;
use crate::campaign::Campaign;
use crate::campaign::tally::Tally;
use crate::print::block::{Failure, FailureKind};
use crate::shrinking::{self, Small, Watch};
use groundhog_sim::explore::shrink::ShrinkError;
use groundhog_sim::laws::catalogue::LAWS;
use groundhog_sim::plan::Plan;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::atomic::{AtomicU8, Ordering};

/// Failures that are shrunk after one command, at most.
const MOST: usize = 5;

/// Who shrinks what failed.
pub struct Shrinks<'a> {
    /// What was asked.
    pub arguments: &'a Arguments,
    /// What was run.
    pub campaign: &'a Campaign,
}

/// One failure to shrink: of which target, which seed, which law.
#[derive(Clone, Copy)]
struct Found {
    target: usize,
    seed: u64,
    law: &'static str,
}

/// What the failures were shrunk to.
#[derive(Default)]
pub struct Smaller {
    lines: BTreeMap<(usize, &'static str), String>,
    differing: Vec<(usize, u64, String)>,
}

impl Smaller {
    /// What the first failure of a law of one target was shrunk to.
    pub fn line(&self, target: usize, law: &str) -> Option<String> {
        let mut lines = self.lines.iter().filter(|((of, _), _)| *of == target);
        lines.find(|((_, id), _)| *id == law).map(|(_, line)| line.clone())
    }

    /// Plans that did not give the same run again.
    pub fn differing(&self, pointers: &Pointers<'_>) -> Vec<Failure> {
        let failure = |(target, seed, saw): &(usize, u64, String)| Failure {
            kind: FailureKind::Differs,
            what: "not deterministic".to_owned(),
            saw: saw.clone(),
            shrunk: None,
            see: (pointers.see)(*target, *seed),
            repeat: Some((pointers.repeat)(*target, *seed)),
        };
        self.differing.iter().map(failure).collect()
    }
}

impl Shrinks<'_> {
    /// Shrinks the first failure of each law, the laws in their order, until there are [`MOST`] or Ctrl-C comes; says of
    /// the others why they are not, and how it is done.
    pub fn of(&self, tally: &Tally, interrupts: &AtomicU8, give_up: &(dyn Fn() + Sync)) -> Smaller {
        let mut smaller = Smaller::default();
        let mut written = BTreeSet::new();
        for (place, found) in self.found(tally).into_iter().enumerate() {
            let interrupted = interrupts.load(Ordering::Relaxed) > 0;
            if place >= MOST || interrupted {
                smaller.lines.insert((found.target, found.law), self.not_yet(&found, interrupted));
                continue;
            }
            let plan = self.campaign.targets[found.target].plan(found.seed, &self.campaign.flaws);
            let known = tally.only.as_ref().map(|(_, outcome)| outcome.fingerprint);
            let watch = Watch { interrupts, give_up };
            match shrinking::shrink(&plan, found.law, known, &self.arguments.shrinking(), &watch) {
                Ok(small) => {
                    small.tell_of_defect();
                    let line = self.line(&plan, &found, &small, &mut written);
                    smaller.lines.insert((found.target, found.law), line);
                }
                Err(ShrinkError::Flaky(flaky)) => {
                    let saw = ShrinkError::Flaky(flaky).to_string();
                    let saw = saw.strip_prefix("not deterministic: ").unwrap_or(&saw).to_owned();
                    smaller.differing.push((found.target, found.seed, saw));
                }
                Err(error) => {
                    smaller.lines.insert((found.target, found.law), format!("not at all: {error}"));
                }
            }
        }
        smaller
    }

    fn found(&self, tally: &Tally) -> Vec<Found> {
        let of_law = |law: &'static str| {
            tally.lanes.iter().enumerate().filter_map(move |(target, lane)| {
                let seed = lane.totals.broken.get(law)?.first_seed;
                Some(Found { target, seed, law })
            })
        };
        LAWS.iter().flat_map(|law| of_law(law.id)).collect()
    }

    /// Why a failure was not shrunk, and how it can be: only a plan that was written can be named.
    fn not_yet(&self, found: &Found, interrupted: bool) -> String {
        let plan = self.campaign.targets[found.target].plan(found.seed, &self.campaign.flaws);
        let path = self.folder(&plan).join("plan.json");
        let is_there = std::fs::read_to_string(&path).is_ok_and(|text| text == plan.to_json());
        if is_there {
            let path = path.display().to_string();
            let words = [program(), "shrink".to_owned(), path, "--law".to_owned(), found.law.to_owned()];
            return format!("not yet: {}", joined(&words));
        }
        if interrupted {
            "not yet: it was interrupted".to_owned()
        } else {
            format!("not yet: no more than {MOST} failures are, after one command")
        }
    }

    /// Writes the small plan and says what and where it is.
    fn line(
        &self,
        plan: &Plan,
        found: &Found,
        small: &Small,
        written: &mut BTreeSet<(usize, u64)>,
    ) -> String {
        let line = small.line(plan);
        if !small.is_smaller_than(plan) {
            return line;
        }
        // The first law of a seed has the plain name.
        let stem = if written.insert((found.target, found.seed)) {
            "shrunk".to_owned()
        } else {
            format!("shrunk-{}", groundhog_reports::file_stem(found.law))
        };
        let original = vec![("plan.json".to_owned(), plan.to_json())];
        match small.write(&self.folder(plan), &stem, original) {
            Ok(path) => format!("{line:<39}  {}", path.display()),
            Err(error) => format!("{line}, not written: {error}"),
        }
    }

    /// Where the report of this plan lies, or would.
    fn folder(&self, plan: &Plan) -> PathBuf {
        let own = format!("{}-{}", groundhog_reports::file_stem(&plan.scenario), plan.seed);
        let one = self.campaign.seeds.is_one() && self.campaign.targets.len() == 1;
        match &self.arguments.out {
            Some(folder) if one => folder.clone(),
            Some(folder) => folder.join(own),
            None => PathBuf::from("out").join(own),
        }
    }
}
