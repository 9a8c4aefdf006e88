//! All kept plans, examined on all cores.

use super::{Entry, Examined, Finding, examine};
use crate::campaign::pool;
use crate::print::block::{Failure, FailureKind};
use crate::simulate::Manner;
use groundhog_sim::outcome::Violation;
use groundhog_sim::run::RunError;
use std::path::Path;
use std::sync::atomic::Ordering;

/// What came of the kept plans.
#[derive(Debug, Default)]
pub struct Account {
    /// Plans examined.
    pub plans: u64,
    /// Runs that it took.
    pub runs: u64,
    /// What is wrong, plan by plan.
    pub findings: Vec<(Entry, Finding)>,
    /// Plans that Groundhog itself failed at.
    pub defects: Vec<(Entry, RunError)>,
    /// Plans that were not examined, because the command was told to stop.
    pub left: u64,
}

/// Examines every entry; `progress` is told after each.
pub fn examine_all(entries: &[Entry], jobs: usize, manner: &Manner, progress: impl Fn() + Sync) -> Account {
    let mut account = Account::default();
    pool::run(
        jobs,
        |number| entries.get(usize::try_from(number).ok()?),
        |_, entry| {
            let stopped = || manner.stop.load(Ordering::Relaxed);
            // A run that was told to stop says nothing of its plan.
            let told = |examined: &Result<Examined, RunError>| {
                !stopped() || !matches!(examined, Ok(Examined { finding: Some(Finding::Cut { .. }), .. }))
            };
            (!stopped()).then(|| examine(entry, manner)).filter(told)
        },
        |entry, examined| {
            account.add(entry, examined, manner.stop.load(Ordering::Relaxed));
            progress();
        },
    );
    account
}

impl Account {
    fn add(&mut self, entry: &Entry, examined: Option<Result<Examined, RunError>>, stopped: bool) {
        match examined {
            None => self.left += 1,
            Some(Err(error)) => self.defects.push((entry.clone(), error)),
            // What was cut because everything was told to stop is not examined.
            Some(Ok(Examined { finding: Some(Finding::Cut { .. }), .. })) if stopped => self.left += 1,
            Some(Ok(Examined { runs, finding })) => {
                self.plans += 1;
                self.runs += runs;
                self.findings.extend(finding.map(|finding| (entry.clone(), finding)));
            }
        }
    }

    /// Everything that is wrong; `repeat` gives the command that examines one entry again.
    pub fn failures(&self, repeat: &dyn Fn(&Entry) -> String) -> Vec<Failure> {
        let found = self.findings.iter().map(|(entry, finding)| failure(entry, finding, repeat(entry)));
        let defects = self.defects.iter().map(|(entry, error)| Failure {
            kind: FailureKind::Defect,
            what: "groundhog itself".to_owned(),
            saw: format!("kept plan {}: {error}", entry.name),
            shrunk: None,
            see: None,
            repeat: Some(repeat(entry)),
        });
        found.chain(defects).collect()
    }

    /// In one line.
    pub fn line(&self, folder: &Path) -> String {
        let word = match (self.findings.is_empty() && self.defects.is_empty(), self.left) {
            (false, _) => "FAILED",
            (true, 0) => "HELD",
            (true, _) => "CUT SHORT",
        };
        let of = match self.left {
            0 => String::new(),
            left => format!(" of {}", self.plans + left + self.defects.len() as u64),
        };
        format!(
            "{word:<12} {}{of} kept plans of {}, {} runs under 16 schedule seeds\n",
            self.plans,
            folder.display(),
            self.runs
        )
    }
}

fn failure(entry: &Entry, finding: &Finding, repeat: String) -> Failure {
    let (kind, what, saw) = match finding {
        Finding::Breaks { schedule_seed, violation: Violation { law, saw, .. } } => (
            FailureKind::Broken,
            (*law).to_owned(),
            format!("kept plan {} under schedule seed {schedule_seed}: {saw}", entry.name),
        ),
        Finding::Survives => (
            FailureKind::Broken,
            entry.why.law.clone(),
            format!(
                "no longer sees {} in kept plan {}, under any of 16 schedule seeds",
                entry.plan.flaws.join(", "),
                entry.name
            ),
        ),
        Finding::Cut { schedule_seed, why } => (
            FailureKind::Cut,
            "kept plan".to_owned(),
            format!("{} under schedule seed {schedule_seed}: {why}", entry.name),
        ),
    };
    Failure { kind, what, saw, shrunk: None, see: None, repeat: Some(repeat) }
}

/// What was not examined, and why: the command was told to stop, or its time was over; `repeat` examines it.
pub fn left(plans: u64, folder: &Path, why: &str, repeat: Option<String>) -> Failure {
    Failure {
        kind: FailureKind::Cut,
        what: "kept plans".to_owned(),
        saw: format!("{why} {plans} kept plans of {}, which were not examined", folder.display()),
        shrunk: None,
        see: None,
        repeat,
    }
}
