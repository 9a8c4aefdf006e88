//! What a night says: part by part, and the worst last.

use super::night::Night;
use super::shrinks::Shrinks;
use crate::campaign::monitor::Reason;
use crate::campaign::tally::Tally;
use crate::command::CallError;
use crate::command::run::{Pointers, failures_of, joined, print_failures, program, scenario_facts};
use crate::conviction::Case;
use crate::exit::Exit;
use crate::print::block::{Failure, FailureKind};
use crate::print::text;
use crate::print::unwritten::Unwritten;
use groundhog_engine::flaws::Flaw;
use groundhog_reports::{CampaignFacts, ScenarioFacts};
use groundhog_sim::laws::catalogue::LAWS;
use std::collections::BTreeSet;
use std::fmt::Write;

/// Prints and writes what came of a night.
pub struct Report<'a> {
    /// The night.
    pub night: &'a Night<'a>,
}

impl Report<'_> {
    /// Writes and prints everything.
    pub fn finish(&self) -> Result<Exit, CallError> {
        let night = self.night;
        let facts = facts(night);
        let command = night.arguments.repeat(night.first_seed);
        let repeat = |scenario: &str, seed| self.repeat(scenario, seed);
        let campaign = CampaignFacts {
            version: env!("CARGO_PKG_VERSION"),
            command: &command,
            real: night.began.elapsed(),
            scenarios: &facts,
            repeat: &repeat,
        };
        let mut unwritten = Unwritten::default();
        unwritten.take(groundhog_reports::write_campaign(&night.arguments.out, &campaign));
        if night.arguments.json {
            text::out(&self.json(&campaign)?);
        } else {
            text::out(&self.heading());
            text::out(&groundhog_reports::terminal_campaign(&campaign, text::width(), text::colour()));
        }
        unwritten.tell();
        let failures = night.failures(night.monitor.reason().as_ref());
        Ok(unwritten.ending(print_failures(&failures, night.arguments.json)))
    }

    /// Prints what is known when a run has to be given up; gives the exit code.
    pub fn give_up(&self) -> i32 {
        let night = self.night;
        let failures = night.failures(night.monitor.reason().as_ref());
        let exit = print_failures(&failures, night.arguments.json).worse(Exit::Cut);
        i32::from(exit.code())
    }

    fn repeat(&self, scenario: &str, seed: u64) -> String {
        let night = self.night;
        let target = night.targets.iter().position(|target| target.scenario() == scenario);
        target.map_or_else(|| night.arguments.repeat(night.first_seed), |target| repeat(night, target, seed))
    }

    /// The parts before the fresh seeds, a line each.
    fn heading(&self) -> String {
        let night = self.night;
        let done = night.done.lock().expect("nobody panics with it");
        let mut heading = format!(
            "NIGHT        {} s, fresh seeds from {}, one in {} checked in another process\n",
            night.began.elapsed().as_secs(),
            night.first_seed,
            super::night::CHECKED_EVERY,
        );
        match &done.corpus {
            Some(account) if account.plans > 0 => heading.push_str(&account.line(&night.arguments.corpus)),
            _ => {
                let folder = night.arguments.corpus.display();
                let _ = writeln!(heading, "NONE         no plan is kept in {folder}");
            }
        }
        heading.push_str(&self.convictions(&done.cases));
        for kept in done.shrinks.kept() {
            let _ = writeln!(heading, "KEPT         {}", kept.display());
        }
        heading.push('\n');
        heading
    }

    /// What came of the flaws: those that were not examined are neither convicted nor not convicted.
    fn convictions(&self, cases: &[Case]) -> String {
        let (of, well) = (Flaw::ALL.len(), cases.iter().filter(|case| case.is_well()).count());
        let (word, left) = match (cases.len() - well, of - cases.len()) {
            (0, 0) => ("HELD", String::new()),
            (0, left) => ("CUT SHORT", format!(", {} {left}", self.night.why_not())),
            (_, 0) => ("FAILED", String::new()),
            (_, left) => ("FAILED", format!(", {} {left}", self.night.why_not())),
        };
        let line = format!(
            "{well} of {} flaws convicted on tonight's seeds by the laws named for them{left}",
            cases.len()
        );
        format!("{word:<12} {}\n", text::wrapped(&line, usize::from(text::width()), 13))
    }

    /// All parts as one JSON document.
    fn json(&self, campaign: &CampaignFacts<'_>) -> Result<String, CallError> {
        let night = self.night;
        let seeds: serde_json::Value =
            serde_json::from_slice(&groundhog_reports::campaign_summary(campaign)?)?;
        let done = night.done.lock().expect("nobody panics with it");
        let corpus = done.corpus.as_ref().map(|account| {
            serde_json::json!({
                "plans": account.plans,
                "runs": account.runs,
                "left": account.left,
                "failed": account.findings.iter().map(|(entry, _)| &entry.name).collect::<Vec<_>>(),
            })
        });
        let kept: Vec<String> = done.shrinks.kept().map(|path| path.display().to_string()).collect();
        let document = serde_json::json!({
            "first_seed": night.first_seed,
            "checked_one_in": super::night::CHECKED_EVERY,
            "corpus": corpus,
            "convictions": &done.cases,
            "flaws_not_examined": Flaw::ALL.len() - done.cases.len(),
            "fresh_seeds": seeds,
            "kept": kept,
        });
        Ok(format!("{}\n", serde_json::to_string_pretty(&document)?))
    }
}

/// The command that runs one fresh seed again.
fn repeat(night: &Night<'_>, target: usize, seed: u64) -> String {
    let mut words = vec![program(), "run".to_owned(), night.targets[target].spelled.clone()];
    words.extend(["--seed".to_owned(), seed.to_string(), "--swarm".to_owned()]);
    words.extend(night.arguments.flaw.iter().flat_map(|flaw| ["--flaw".to_owned(), flaw.clone()]));
    joined(&words)
}

/// The totals of each scenario.
fn facts(night: &Night<'_>) -> Vec<ScenarioFacts> {
    let tally = night.tally.lock().expect("the tally's holders do not panic");
    facts_of(night, &tally, night.monitor.reason().is_some())
}

fn facts_of(night: &Night<'_>, tally: &Tally, stopped: bool) -> Vec<ScenarioFacts> {
    let lanes = tally.lanes.iter().zip(&night.targets);
    lanes.map(|(lane, target)| scenario_facts(lane, target, &night.flaws, stopped)).collect()
}

/// What failed in fresh seeds: each law once, whatever scenarios it broke in.
pub fn of_seeds(
    night: &Night<'_>,
    tally: &Tally,
    shrinks: &Shrinks,
    reason: Option<&Reason>,
) -> Vec<Failure> {
    let whole = || night.arguments.repeat(night.first_seed);
    let pointers = Pointers {
        repeat: &|target, seed| repeat(night, target, seed),
        whole: &whole,
        see: &|_, _| None,
        shrunk: &|_, law| {
            let is_law = LAWS.iter().any(|known| known.id == law);
            let not_yet = || is_law.then(|| "not yet: the time was over".to_owned());
            shrinks.of(law).map(|became| became.line.clone()).or_else(not_yet)
        },
    };
    let facts = facts_of(night, tally, reason.is_some());
    let mut laws = BTreeSet::new();
    let mut failures = failures_of(tally, reason, &facts, &pointers);
    failures.retain(|failure| failure.kind != FailureKind::Broken || laws.insert(failure.what.clone()));
    failures.extend(shrinks.flaky().map(|(law, became)| Failure {
        kind: FailureKind::Differs,
        what: "not deterministic".to_owned(),
        saw: format!("{law}: {}", became.flaky.as_deref().unwrap_or_default()),
        shrunk: None,
        see: None,
        repeat: Some(repeat(night, became.of.0, became.of.1)),
    }));
    failures
}
