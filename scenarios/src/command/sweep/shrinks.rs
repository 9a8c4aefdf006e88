//! The first failing point of each law, cut down for as long as the same law breaks.
//!
//! Promise: the small plan is written beside the failing one, and breaks the law when it is run; what was not cut down says
//! why.

use crate::command::run::{joined, program};
use crate::shrinking::{self, Budget, Watch};
use groundhog_sim::explore::shrink::ShrinkError;
use groundhog_sim::plan::Plan;
use groundhog_sim::run::POLL_BUDGET;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU8, Ordering};
use std::time::Duration;

/// Failures that are shrunk after one sweep, at most.
const MOST: usize = 5;

/// Who shrinks what failed, and with what.
pub struct Shrinks<'a> {
    /// Real time for each.
    pub time: Duration,
    /// Runs at the same time.
    pub jobs: usize,
    /// Counts requests to end.
    pub interrupts: &'a AtomicU8,
}

/// What became of one failing point.
#[derive(Clone, Debug, Default)]
pub struct Became {
    /// In the words of the block.
    pub line: String,
    /// The small plan, where there is one.
    pub plan: Option<PathBuf>,
    /// What differed, where the failing plan did not give the same run again.
    pub flaky: Option<String>,
}

impl Shrinks<'_> {
    /// Shrinks the `number`-th failing plan, which lies at `path`. Who asks to end meanwhile gets what there is so far.
    pub fn of(
        &self,
        number: usize,
        law: &str,
        plan: &Plan,
        path: &Path,
        give_up: &(dyn Fn() + Sync),
    ) -> Became {
        if number > MOST || self.interrupts.load(Ordering::Relaxed) > 0 {
            let words = [program(), "shrink".to_owned(), path.display().to_string()];
            let words: Vec<String> = words.into_iter().chain(["--law".to_owned(), law.to_owned()]).collect();
            let line = format!("not yet: {}", joined(&words));
            return Became { line, ..Became::default() };
        }
        let budget = Budget { time: self.time, jobs: self.jobs, max_polls: POLL_BUDGET, shown: true };
        let watch = Watch { interrupts: self.interrupts, give_up };
        match shrinking::shrink(plan, law, None, &budget, &watch) {
            Ok(small) => written(&small, plan, path),
            Err(ShrinkError::Flaky(flaky)) => {
                let flaky = Some(ShrinkError::Flaky(flaky).to_string());
                Became { line: "not at all".to_owned(), flaky, ..Became::default() }
            }
            Err(error) => Became { line: format!("not at all: {error}"), ..Became::default() },
        }
    }
}

fn written(small: &shrinking::Small, plan: &Plan, path: &Path) -> Became {
    small.tell_of_defect();
    let line = small.line(plan);
    if !small.is_smaller_than(plan) {
        return Became { line, ..Became::default() };
    }
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    let folder = path.parent().unwrap_or(Path::new("."));
    match small.write(folder, &format!("{stem}-shrunk"), Vec::new()) {
        Ok(path) => Became { line: format!("{line:<39}  {}", path.display()), plan: Some(path), flaky: None },
        Err(error) => Became { line: format!("{line}, not written: {error}"), ..Became::default() },
    }
}
