//! What is printed and written once the runs are done.

use super::arguments::Arguments;
use super::failures::{self, Pointers};
use super::print_failures;
use super::shrinks::{Shrinks, Smaller};
use crate::campaign::Campaign;
use crate::campaign::monitor::Reason;
use crate::campaign::tally::{Lane, Tally, hex};
use crate::command::CallError;
use crate::corpus::{self, Account};
use crate::exit::Exit;
use crate::names;
use crate::print::block::{Failure, FailureKind};
use crate::print::text;
use crate::print::unwritten::Unwritten;
use crate::simulate;
use crate::target::Target;
use groundhog_engine::flaws::Flaw;
use groundhog_reports::{CampaignFacts, MarksJudged, RunFacts, ScenarioFacts};
use groundhog_sim::outcome::Outcome;
use groundhog_sim::plan::Plan;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Mutex;
use std::sync::atomic::AtomicU8;
use std::time::Instant;

/// From so many seeds on an unreached mark is a finding and not chance.
const SEEDS_FOR_MARKS: u64 = 200;

/// Failing seeds whose reports are written, at most.
const MOST_PAGES: usize = 20;

const VERSION: &str = env!("CARGO_PKG_VERSION");

/// Everything that a report is made of, but the tally.
pub struct Report<'a> {
    /// What was asked.
    pub arguments: &'a Arguments,
    /// What was run.
    pub campaign: &'a Campaign,
    /// What came of the kept plans, where they were run.
    pub kept: Mutex<Account>,
    /// When it began.
    pub began: Instant,
}

/// What is told of one scenario's seeds, and whether its marks are judged. Shares are stated for scenarios as they stand.
pub fn scenario_facts(lane: &Lane, target: &Target, flaws: &[Flaw], stopped: bool) -> ScenarioFacts {
    let marks_judged = if !target.pristine {
        MarksJudged::Not { because: "the scenario is not as it stands in the catalogue" }
    } else if !flaws.is_empty() {
        MarksJudged::Not { because: "a flaw is on" }
    } else if stopped {
        MarksJudged::Not { because: "the runs were stopped" }
    } else if lane.totals.seeds < SEEDS_FOR_MARKS {
        MarksJudged::TooFewSeeds { needed: SEEDS_FOR_MARKS }
    } else {
        MarksJudged::Judged
    };
    ScenarioFacts {
        totals: lane.totals.clone(),
        marks: names::marks_due(&lane.totals.scenario),
        marks_judged,
    }
}

type Pages = BTreeMap<(usize, u64), PathBuf>;

impl Report<'_> {
    /// Writes and prints everything, and shrinks what failed where nothing stopped the runs.
    pub fn finish(
        &self,
        tally: &Tally,
        reason: Option<&Reason>,
        interrupts: &AtomicU8,
    ) -> Result<Exit, CallError> {
        let facts = self.facts(tally, reason);
        let mut unwritten = Unwritten::default();
        let (summary, pages) = match &tally.only {
            Some((plan, outcome)) => self.of_one(tally, plan, outcome, &mut unwritten)?,
            None => self.of_many(tally, &facts, &mut unwritten)?,
        };
        text::out(&summary);
        unwritten.tell();
        let smaller = if reason.is_none() && !self.arguments.no_shrink && self.arguments.plant.is_none() {
            let give_up = || {
                let exit = self.failures(tally, reason, &facts, &pages, &Smaller::default());
                std::process::exit(i32::from(exit.code()));
            };
            Shrinks { arguments: self.arguments, campaign: self.campaign }.of(tally, interrupts, &give_up)
        } else {
            Smaller::default()
        };
        let exit = self.failures(tally, reason, &facts, &pages, &smaller);
        if exit == Exit::Held && !self.arguments.json {
            text::out(&super::hints::of(self.campaign));
        }
        Ok(unwritten.ending(exit))
    }

    /// Prints what is known when a run has to be given up.
    pub fn give_up(&self, tally: &Tally, reason: Option<&Reason>) -> Exit {
        self.failures(tally, reason, &[], &Pages::new(), &Smaller::default()).worse(Exit::Cut)
    }

    fn failures(
        &self,
        tally: &Tally,
        reason: Option<&Reason>,
        facts: &[ScenarioFacts],
        pages: &Pages,
        smaller: &Smaller,
    ) -> Exit {
        let pointers = Pointers {
            repeat: &|target, seed| self.arguments.repeat(&self.campaign.targets[target], seed),
            whole: &|| self.arguments.whole(),
            see: &|target, seed| pages.get(&(target, seed)).map(|page| page.display().to_string()),
            shrunk: &|target, law| smaller.line(target, law),
        };
        let mut failures = failures::of(tally, reason, facts, &pointers);
        failures.extend(smaller.differing(&pointers));
        failures.extend((failures.is_empty() && reason.is_none()).then(|| self.nothing_ran(tally)).flatten());
        let folder = corpus::default_folder();
        let kept = self.kept.lock().expect("nobody panics with it");
        failures.extend(kept.failures(&|entry| crate::command::corpus::repeat(&folder, &entry.name)));
        failures.extend(
            (kept.left > 0).then(|| corpus::left(kept.left, &folder, "the series ended before", None)),
        );
        print_failures(&failures, self.arguments.json)
    }

    /// A series of no seed holds nothing.
    fn nothing_ran(&self, tally: &Tally) -> Option<Failure> {
        tally.lanes.iter().all(|lane| lane.totals.seeds == 0).then(|| Failure {
            kind: FailureKind::Cut,
            what: "real time".to_owned(),
            saw: "no seed was run in the time that --for gave".to_owned(),
            shrunk: None,
            see: None,
            repeat: Some(self.arguments.whole()),
        })
    }

    /// The totals of each scenario, and the marks that its seeds owe.
    fn facts(&self, tally: &Tally, reason: Option<&Reason>) -> Vec<ScenarioFacts> {
        let lanes = tally.lanes.iter().zip(&self.campaign.targets);
        lanes
            .map(|(lane, target)| {
                let stopped = reason.is_some();
                scenario_facts(lane, target, &self.campaign.flaws, stopped)
            })
            .collect()
    }

    fn of_one(
        &self,
        tally: &Tally,
        plan: &Plan,
        outcome: &Outcome,
        unwritten: &mut Unwritten,
    ) -> Result<(String, Pages), CallError> {
        let facts = self.run_facts(tally, 0, plan);
        let mut pages = Pages::new();
        if let Some(folder) = &self.arguments.out {
            let written = unwritten.take(groundhog_reports::write_run(folder, plan, outcome, &facts));
            pages.extend(written.map(|written| ((0, plan.seed), written.page)));
        }
        let summary = if self.arguments.json {
            utf8(groundhog_reports::run_summary(plan, outcome, &facts.totals(plan, outcome), &facts)?)
        } else {
            groundhog_reports::terminal(plan, outcome, &facts, text::width(), text::colour())
        };
        Ok((summary, pages))
    }

    fn of_many(
        &self,
        tally: &Tally,
        facts: &[ScenarioFacts],
        unwritten: &mut Unwritten,
    ) -> Result<(String, Pages), CallError> {
        let command = self.arguments.whole();
        let targets = &self.campaign.targets;
        let repeat = |scenario: &str, seed| {
            let target = targets.iter().find(|target| target.scenario() == scenario);
            target.map_or_else(|| command.clone(), |target| self.arguments.repeat(target, seed))
        };
        let campaign = CampaignFacts {
            version: VERSION,
            command: &command,
            real: self.began.elapsed(),
            scenarios: facts,
            repeat: &repeat,
        };
        let mut pages = Pages::new();
        if let Some(folder) = &self.arguments.out {
            unwritten.take(groundhog_reports::write_campaign(folder, &campaign));
            pages = self.failing_pages(tally, folder, unwritten)?;
        }
        let summary = if self.arguments.json {
            utf8(groundhog_reports::campaign_summary(&campaign)?)
        } else {
            let mut summary = groundhog_reports::terminal_campaign(&campaign, text::width(), text::colour());
            summary.push_str(&fingerprints(tally));
            summary
        };
        Ok((summary, pages))
    }

    /// The reports of the first failing seeds, each in a folder of its own. Their runs are made again: they are the same.
    fn failing_pages(
        &self,
        tally: &Tally,
        folder: &std::path::Path,
        unwritten: &mut Unwritten,
    ) -> Result<Pages, CallError> {
        let mut pages = Pages::new();
        for (target, lane) in tally.lanes.iter().enumerate() {
            let seeds: BTreeSet<u64> = lane.totals.broken.values().map(|broken| broken.first_seed).collect();
            for seed in seeds {
                if pages.len() >= MOST_PAGES {
                    return Ok(pages);
                }
                let plan = self.campaign.targets[target].plan(seed, &self.campaign.flaws);
                let outcome = simulate::simulate(&plan, &self.campaign.manner)?;
                let own = folder.join(format!("{}-{seed}", plan.scenario));
                let written = groundhog_reports::write_run(
                    &own,
                    &plan,
                    &outcome,
                    &self.run_facts(tally, target, &plan),
                );
                let written = unwritten.take(written);
                pages.extend(written.map(|written| ((target, seed), written.page)));
            }
        }
        Ok(pages)
    }

    fn run_facts(&self, tally: &Tally, target: usize, plan: &Plan) -> RunFacts {
        let differs = tally.lanes[target].differs.as_ref();
        RunFacts {
            differs: differs.is_some_and(|(seed, _)| *seed == plan.seed),
            version: VERSION.to_owned(),
            repeat: self.arguments.repeat(&self.campaign.targets[target], plan.seed),
            real: self.began.elapsed(),
        }
    }
}

fn utf8(text: Vec<u8>) -> String {
    String::from_utf8_lossy(&text).into_owned()
}

/// One fingerprint over all runs, and one for each scenario where there are several.
fn fingerprints(tally: &Tally) -> String {
    let mut text = String::new();
    if let [lane] = &tally.lanes[..] {
        return format!("fingerprint {}\n", hex(&lane.fingerprint()));
    }
    let mut all = Sha256::new_with_prefix(b"groundhog campaigns\0");
    for lane in &tally.lanes {
        all.update(lane.fingerprint());
        text.push_str(&format!("  {:<20} {}\n", lane.totals.scenario, hex(&lane.fingerprint())));
    }
    text.push_str(&format!("fingerprint {}\n", hex(&all.finalize())));
    text
}
