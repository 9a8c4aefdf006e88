//! Shrinking on this machine: its cores, its clock, its interrupts, and the files that come of it.
//!
//! Promise: the shrinker stops at its deadline and at Ctrl-C with the smallest plan that it has; a candidate that cannot be
//! stopped ends the command, after whoever waits has said what is known.

mod runner;
mod watch;

use crate::print::columns;
use crate::print::plan_words::{counted, sentences};
use crate::print::text;
use crate::simulate::Manner;
use groundhog_reports::ReportError;
use groundhog_sim::explore::shrink::{self, Limits, Progress, ShrinkError, Shrunk, Size};
use groundhog_sim::outcome::Outcome;
use groundhog_sim::plan::Plan;
use groundhog_sim::run::RunError;
use groundhog_sim::units::SimTime;
use indicatif::{ProgressBar, ProgressStyle};
use std::fmt::Write;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};
pub use watch::Watch;

/// How long one failure is shrunk unless something else is asked for.
pub const TIME: &str = "60s";

/// What shrinking may use.
#[derive(Clone, Copy, Debug)]
pub struct Budget {
    /// Real time for one failure.
    pub time: Duration,
    /// Runs at the same time.
    pub jobs: usize,
    /// Polls that one run may use.
    pub max_polls: u64,
    /// Whether a terminal is shown where the shrinker stands; not where several shrink at the same time.
    pub shown: bool,
}

/// A plan that was cut down here.
#[derive(Clone, Debug)]
pub struct Small {
    /// What came out.
    pub shrunk: Shrunk,
    /// The seed that the original was drawn with.
    seed: u64,
    /// Real time that it took.
    pub took: Duration,
    /// What the simulator said when it failed at a candidate, which it should not.
    defect: Option<String>,
}

/// Runs a plan to find out which laws it breaks.
///
/// # Errors
/// [`RunError`].
pub fn judge(plan: &Plan, max_polls: u64) -> Result<Outcome, RunError> {
    runner::whole(plan, groundhog_sim::ledger::LawSelection::All, max_polls)
}

/// Cuts `plan` down for as long as `law` is broken. `fingerprint` is that of the run that was seen to break it, if any.
///
/// # Errors
/// [`ShrinkError`].
pub fn shrink(
    plan: &Plan,
    law: &str,
    fingerprint: Option<[u8; 32]>,
    budget: &Budget,
    watch: &Watch<'_>,
) -> Result<Small, ShrinkError> {
    let begun = Instant::now();
    let bar = if budget.shown { spinner(law) } else { ProgressBar::hidden() };
    let from = Size::of(plan);
    let progress = |progress: &Progress| {
        let Progress { now, runs } = progress;
        bar.set_message(format!("{}, {runs} runs", sizes(from, *now)));
    };
    let (deadline, stop) = (begun + budget.time, Arc::new(AtomicBool::new(false)));
    let mut runner =
        runner::Cores::new(budget.jobs, deadline, Arc::clone(&stop), budget.max_polls, &progress);
    let limits = Limits { fingerprint, ..Limits::default() };
    let shrunk =
        watch.over(deadline, &stop, &runner.slowest(), || shrink::shrink(plan, law, &mut runner, limits));
    bar.finish_and_clear();
    Ok(Small { shrunk: shrunk?, seed: plan.seed, took: begun.elapsed(), defect: runner.defect })
}

/// A line on the standard error; hidden without a terminal.
fn spinner(law: &str) -> ProgressBar {
    let style = ProgressStyle::with_template("{elapsed_precise} shrinking {prefix}: {msg}");
    let bar = ProgressBar::new_spinner().with_prefix(law.to_owned());
    let bar = bar.with_style(style.unwrap_or_else(|_| ProgressStyle::default_spinner()));
    if !bar.is_hidden() {
        bar.enable_steady_tick(Duration::from_millis(100));
    }
    bar
}

fn sizes(from: Size, to: Size) -> String {
    let faults = counted(to.faults as u64, "fault");
    let nodes = counted(to.nodes as u64, "node");
    format!("{} -> {}, {faults}, {nodes}", from.actions, counted(to.actions as u64, "action"))
}

impl Small {
    /// Whether anything could be left out of `original`, or made simpler.
    pub fn is_smaller_than(&self, original: &Plan) -> bool {
        self.shrunk.plan != *original
    }

    /// Says on the standard error that the simulator failed at a candidate, if it did.
    pub fn tell_of_defect(&self) {
        if let Some(defect) = &self.defect {
            eprintln!("note: the simulator failed at a candidate, please report it: {defect}");
        }
    }

    /// In a line: `214 -> 3 actions, 1 fault, 2 nodes, 0.9 s`.
    pub fn line(&self, original: &Plan) -> String {
        let took = self.took.as_secs_f64();
        let sizes = sizes(self.shrunk.from, self.shrunk.to);
        match (self.is_smaller_than(original), self.shrunk.one_minimal) {
            (true, true) => format!("{sizes}, {took:.1} s"),
            (true, false) => format!("{sizes}, stopped after {took:.1} s"),
            (false, true) => format!("nothing can be left out, {took:.1} s"),
            (false, false) => format!("nothing smaller within {took:.1} s"),
        }
    }

    /// The plan in words, a sentence a line, each beginning with `indent`.
    pub fn words(&self, width: usize, indent: &str) -> String {
        let mut words = String::new();
        for sentence in sentences(&self.shrunk.plan) {
            let hanging = indent.len() + 2;
            let _ = writeln!(words, "{indent}{}", text::wrapped(&sentence, width, hanging));
        }
        words
    }

    /// What the law saw, where and when.
    pub fn saw(&self) -> String {
        let violation = &self.shrunk.violation;
        let time = SimTime(violation.at.0);
        match violation.node {
            Some(node) => format!("{} ({node}, t={time})", violation.saw),
            None => format!("{} (t={time})", violation.saw),
        }
    }

    /// The text that lies beside the plan: the law, the plan in words, and what happens in its run.
    fn text(&self) -> String {
        let Shrunk { plan, violation, .. } = &self.shrunk;
        let flaws = match &plan.flaws[..] {
            [] => String::new(),
            flaws => format!(", flaw {}", flaws.join(", ")),
        };
        format!(
            "{}\n  {}\n\nWhat is left of {} seed {}{flaws}:\n\n{}\n{}",
            violation.law,
            text::wrapped(&self.saw(), TEXT_COLUMNS, 2),
            plan.scenario,
            self.seed,
            self.words(TEXT_COLUMNS, "  "),
            self.picture()
        )
    }

    /// What happens in the plan's run until the law breaks, a column a node.
    fn picture(&self) -> String {
        let Shrunk { plan, violation, .. } = &self.shrunk;
        columns::of_plan_breaking(plan, &Manner::plain(Arc::default()), violation.law, TEXT_COLUMNS)
            .unwrap_or_else(|error| format!("{error}\n"))
    }

    /// Writes `<stem>.json`, `<stem>.txt` and whatever else goes into the folder; gives the plan's path.
    ///
    /// # Errors
    /// [`ReportError`] when the folder cannot be written; nothing is half-written.
    pub fn write(
        &self,
        folder: &Path,
        stem: &str,
        more: Vec<(String, String)>,
    ) -> Result<PathBuf, ReportError> {
        let mut files =
            vec![(format!("{stem}.json"), self.shrunk.plan.to_json()), (format!("{stem}.txt"), self.text())];
        files.extend(more);
        groundhog_reports::write_files(folder, files)?;
        Ok(folder.join(format!("{stem}.json")))
    }
}

/// How wide a text file is.
const TEXT_COLUMNS: usize = 80;

#[cfg(test)]
mod tests {
    use super::*;
    use groundhog_sim::plan::{Crypto, yardstick};
    use std::sync::atomic::AtomicU8;

    const LAW: &str = "commit/release";

    fn shrunk(fingerprint: Option<[u8; 32]>, time: Duration) -> Result<Small, ShrinkError> {
        let mut plan = yardstick::admissions(9, 1, Crypto::KeyedHash);
        plan.actions.truncate(6);
        plan.flaws.push("early-release".to_owned());
        let budget = Budget { time, jobs: 2, max_polls: 10_000_000, shown: false };
        let watch = Watch { interrupts: &AtomicU8::new(0), give_up: &|| unreachable!("every run ends") };
        shrink(&plan, LAW, fingerprint, &budget, &watch)
    }

    #[test]
    fn a_plan_is_cut_down_to_what_the_law_needs_and_a_deadline_leaves_it_whole() {
        let small = shrunk(None, Duration::from_secs(600)).expect("it shrinks");
        assert!(small.shrunk.one_minimal && small.defect.is_none());
        assert_eq!((small.shrunk.to.actions, small.shrunk.to.nodes), (1, 2), "{:?}", small.shrunk.plan);
        let whole = shrunk(None, Duration::ZERO).expect("it breaks the law");
        assert_eq!((whole.shrunk.to, whole.shrunk.one_minimal), (whole.shrunk.from, false));
    }

    #[test]
    fn another_fingerprint_than_before_is_a_defect_of_determinism() {
        let error = shrunk(Some([9; 32]), Duration::from_secs(600)).expect_err("no run has it");
        let ShrinkError::Flaky(flaky) = &error else { panic!("{error}") };
        assert!(flaky.broke_again && flaky.first == [9; 32], "{error}");
        assert!(error.to_string().starts_with("not deterministic"), "{error}");
    }
}
