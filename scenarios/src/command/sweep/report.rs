//! What a sweep prints and leaves behind.

use super::arguments::Arguments;
use super::shrinks::Shrinks;
use super::{Progress, Swept, reason_words};
use crate::campaign::monitor::Reason;
use crate::command::CallError;
use crate::command::run::{print_failures, saw};
use crate::exit::Exit;
use crate::print::block::{Failure, FailureKind, exit};
use crate::print::text;
use crate::print::unwritten::Unwritten;
use crate::target::Source;
use groundhog_reports::{ReportError, count, duration};
use groundhog_sim::explore::sweep::{Broken, Stopped, struck};
use groundhog_sim::plan::Plan;
use std::collections::BTreeMap;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Instant;

/// Everything that a report is made of, but what was done.
pub struct Report<'a> {
    /// What was asked.
    pub arguments: &'a Arguments,
    /// What was swept.
    pub swept: &'a Swept,
    /// When it began.
    pub began: Instant,
}

/// The file of a failing point's plan.
fn file_of(number: usize) -> String {
    format!("sweep-{number}.json")
}

impl Report<'_> {
    /// Writes the failing plans and prints everything. With `shrinks`, what failed is shrunk.
    pub fn finish(
        &self,
        progress: &Progress,
        reason: Option<&Reason>,
        shrinks: Option<&Shrinks<'_>>,
    ) -> Result<Exit, CallError> {
        let mut unwritten = Unwritten::default();
        let mut failures = self.failures(progress, reason, &mut unwritten);
        let whole = progress.stopped.is_none() && progress.points == progress.of();
        let verdict = match exit(&failures) {
            Exit::Held if whole => "held",
            Exit::Held | Exit::Cut => "cut",
            _ => "failed",
        };
        let json = self.arguments.json;
        if !json {
            text::out(&self.lines(progress, verdict));
        }
        let small = shrinks.map(|shrinks| self.shrunk(progress, shrinks, &mut failures)).unwrap_or_default();
        if json {
            text::out(&format!("{:#}\n", self.json(progress, verdict, &failures, &small)));
        }
        unwritten.tell();
        Ok(unwritten.ending(print_failures(&failures, json)))
    }

    /// Shrinks the first failing point of each law, and says in the failures what came of it.
    fn shrunk(
        &self,
        progress: &Progress,
        shrinks: &Shrinks<'_>,
        failures: &mut Vec<Failure>,
    ) -> BTreeMap<String, PathBuf> {
        let known = failures.clone();
        let give_up = || {
            let exit = print_failures(&known, self.arguments.json);
            std::process::exit(i32::from(exit.code()));
        };
        let mut small = BTreeMap::new();
        for ((law, broken), number) in progress.tally.broken.iter().zip(1..) {
            let plan = self.failing(broken);
            let became = shrinks.of(number, law, &plan, &self.path_of(number), &give_up);
            small.extend(became.plan.map(|path| (law.clone(), path)));
            let Some(failure) = failures.iter_mut().find(|failure| failure.what == *law) else { continue };
            failure.shrunk = Some(became.line);
            let repeat = failure.repeat.clone();
            failures.extend(became.flaky.map(|flaky| Failure {
                kind: FailureKind::Differs,
                what: "not deterministic".to_owned(),
                saw: format!("{law}: {}", flaky.strip_prefix("not deterministic: ").unwrap_or(&flaky)),
                shrunk: None,
                see: None,
                repeat,
            }));
        }
        small
    }

    fn failures(
        &self,
        progress: &Progress,
        reason: Option<&Reason>,
        unwritten: &mut Unwritten,
    ) -> Vec<Failure> {
        let mut failures = Vec::new();
        let failure = |kind, what: &str, saw: String, repeat: String| Failure {
            kind,
            what: what.to_owned(),
            saw,
            shrunk: None,
            see: None,
            repeat: Some(repeat),
        };
        for violation in &progress.survey.broken {
            let what = format!("without a death: {}", saw(violation));
            let run = self.arguments.run(&self.swept.target, self.swept.plan.seed);
            failures.push(failure(FailureKind::Broken, violation.law, what, run));
        }
        for ((law, broken), number) in progress.tally.broken.iter().zip(1..) {
            let path = unwritten.take(self.write_plan(broken, number));
            let repeat = path.map_or_else(|| self.arguments.repeat(), |path| self.arguments.run_plan(&path));
            failures.push(failure(FailureKind::Broken, law, first_of(broken), repeat));
        }
        if let Some(broken) = &progress.tally.failed {
            failures.push(failure(
                FailureKind::Defect,
                "groundhog itself",
                first_of(broken),
                self.arguments.repeat(),
            ));
        }
        if let Some(broken) = &progress.tally.cut {
            failures.push(failure(FailureKind::Cut, "polls", first_of(broken), self.arguments.repeat()));
        }
        let beyond: u64 = progress.tally.levels.iter().map(|level| level.beyond).sum();
        if beyond > 0 {
            let most = count(self.arguments.most_images);
            let what = format!("NOT complete: {} deaths could leave more than {most} images", count(beyond));
            failures.push(failure(FailureKind::Cut, "images", what, self.arguments.repeat()));
        }
        failures.extend(self.stopped(progress, reason));
        failures
    }

    /// Why it did not come to its end.
    fn stopped(&self, progress: &Progress, reason: Option<&Reason>) -> Option<Failure> {
        let run = || self.arguments.run(&self.swept.target, self.swept.plan.seed);
        let (kind, what, saw, repeat) = match progress.stopped.as_ref() {
            Some(Stopped::Cut(cut)) => {
                (FailureKind::Cut, "the plan itself", format!("it does not run to its end: {cut:?}"), run())
            }
            Some(Stopped::Run(error)) => (FailureKind::Defect, "groundhog itself", error.to_string(), run()),
            Some(Stopped::NoNode(node)) => (
                FailureKind::Defect,
                "groundhog itself",
                format!("no {node} to sweep"),
                self.arguments.repeat(),
            ),
            Some(Stopped::Interrupted) | None => {
                if self.arguments.first && !progress.tally.broken.is_empty() && reason.is_none() {
                    return None;
                }
                let (what, why) = reason_words(reason)?;
                let done = format!(
                    "{why}after {} of {} points; it goes on from there",
                    count(progress.points),
                    count(progress.of())
                );
                (FailureKind::Cut, what, done, self.arguments.repeat())
            }
        };
        Some(Failure { kind, what: what.to_owned(), saw, shrunk: None, see: None, repeat: Some(repeat) })
    }

    /// The first failing point of a law, as a plan of its own.
    fn failing(&self, broken: &Broken) -> Plan {
        struck(&self.swept.plan, &broken.first.deaths, self.swept.settings.down_us)
    }

    fn path_of(&self, number: usize) -> PathBuf {
        self.swept.folder.join(file_of(number))
    }

    fn write_plan(&self, broken: &Broken, number: usize) -> Result<String, ReportError> {
        let plan = self.failing(broken);
        let name = file_of(number);
        groundhog_reports::write_files(&self.swept.folder, vec![(name.clone(), plan.to_json())])?;
        Ok(self.swept.folder.join(name).display().to_string())
    }

    fn lines(&self, progress: &Progress, verdict: &str) -> String {
        let mut lines = String::new();
        let (word, code) = match verdict {
            "held" => ("HELD", 32),
            "failed" => ("FAILED", 31),
            _ => ("CUT", 33),
        };
        let word = format!("{word:<12} ");
        let word = if text::colour() { format!("\x1b[1;{code}m{word}\x1b[0m") } else { word };
        let seed = match &self.swept.target.source {
            Source::Scenario(_) => format!("   seed {}", self.swept.plan.seed),
            Source::Plan(_) => String::new(),
        };
        let every = if progress.points == progress.of() { "every crash point" } else { "crash points" };
        let (done, of) = (count(progress.points), count(progress.of()));
        let _ = writeln!(lines, "{word}{}{seed}   {every}: {done} of {of}", self.swept.target.scenario());
        let mut item = |label: &str, text: &str| {
            let _ = writeln!(lines, "  {label:<10} {}", text::wrapped(text, usize::from(text::width()), 13));
        };
        if !self.swept.plan.flaws.is_empty() {
            item("flaws", &self.swept.plan.flaws.join(", "));
        }
        for node in &progress.survey.nodes {
            let (operations, phases) = (count(node.operations), count(node.at_operations));
            let text = format!("operations {operations} in {phases} phases, steps {}", count(node.at_steps));
            item(&format!("node {}", node.node.0), &text);
        }
        item("deaths", &format!("process {done}, power {done}"));
        self.levels(progress, &mut item);
        let real = duration(u64::try_from(self.began.elapsed().as_nanos()).unwrap_or(u64::MAX));
        let mut runs = format!("{} in all, real time {real}", count(progress.tally.runs()));
        if progress.resumed > 0 {
            let _ = write!(runs, ", {} points done by an earlier command", count(progress.resumed));
        }
        item("runs", &runs);
        let repeat = self.arguments.repeat();
        lines.push_str(&groundhog_reports::labelled_command("repeat", &repeat, usize::from(text::width())));
        lines
    }

    fn levels(&self, progress: &Progress, item: &mut dyn FnMut(&str, &str)) {
        for (depth, level) in progress.tally.levels.iter().enumerate() {
            let (images, runs) = (count(level.images), count(level.runs));
            let mut text = if depth == 0 {
                format!("{images} distinct at their deaths, each run to the end of the plan")
            } else {
                format!(
                    "{depth} deep: {} points, {images} images, {runs} of them new and run",
                    count(level.points)
                )
            };
            if level.beyond > 0 {
                let _ = write!(text, "; NOT complete at {} deaths", count(level.beyond));
            }
            if level.late > 0 {
                let _ = write!(text, "; {} recoveries went on beyond quiescence", count(level.late));
            }
            item(["images", "recovery"][depth.min(1)], &text);
        }
    }

    fn json(
        &self,
        progress: &Progress,
        verdict: &str,
        failures: &[Failure],
        small: &BTreeMap<String, PathBuf>,
    ) -> serde_json::Value {
        let broken: BTreeMap<&String, serde_json::Value> = progress
            .tally
            .broken
            .iter()
            .zip(1_usize..)
            .map(|((law, broken), number)| {
                let (plan, shrunk) = (self.path_of(number), small.get(law));
                let (runs, saw) = (broken.runs, &broken.first.saw);
                (law, serde_json::json!({ "runs": runs, "saw": saw, "plan": plan, "shrunk": shrunk }))
            })
            .collect();
        let kind = |failure: &Failure| format!("{} {}", failure.what, failure.saw);
        serde_json::json!({
            "scenario": self.swept.target.scenario(),
            "seed": self.swept.plan.seed,
            "flaws": self.swept.plan.flaws,
            "verdict": verdict,
            "points": { "done": progress.points, "of": progress.of(), "resumed": progress.resumed },
            "nodes": progress.survey.nodes,
            "depths": progress.tally.levels,
            "runs": progress.tally.runs(),
            "complete": progress.tally.is_complete() && progress.points == progress.of(),
            "broken": broken,
            "failures": failures.iter().map(kind).collect::<Vec<_>>(),
            "real_time_ms": u64::try_from(self.began.elapsed().as_millis()).unwrap_or(u64::MAX),
        })
    }
}

/// What was found first, where, and how often in all.
fn first_of(broken: &Broken) -> String {
    let deaths: Vec<String> = broken.first.deaths.iter().map(ToString::to_string).collect();
    let runs = if broken.runs == 1 { "1 run".to_owned() } else { format!("{} runs", count(broken.runs)) };
    format!("{} ({}; {runs})", broken.first.saw, deaths.join(", then "))
}
