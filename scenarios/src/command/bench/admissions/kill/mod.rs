//! `groundhog bench admissions --kill`: the process ends with SIGKILL again and again, over one store on a real disk.
//!
//! Promise: what is judged was seen from outside: transactions that left the process, and those that were acted on.

mod judge;
mod lines;
mod report;
mod rounds;
pub mod worker;

use super::directory::{self, Directory};
use super::{Arguments, BenchError, Interrupts, failed, interrupted, spinner};
use crate::exit::Exit;
use crate::print::block::{Failure, FailureKind};
use crate::print::text;
use crate::target;
use groundhog_sim::draw::Draws;
use judge::Judge;
use report::Report;
use rounds::{RoundError, Rounds};

fn defect(error: &RoundError) -> Failure {
    Failure {
        kind: FailureKind::Defect,
        what: "bench".to_owned(),
        saw: error.to_string(),
        shrunk: None,
        see: None,
        repeat: None,
    }
}

/// Kills, and prints what was seen.
pub fn main(arguments: &Arguments, interrupts: &Interrupts) -> Result<Exit, BenchError> {
    let flaws = target::flaws(&arguments.flaw)?;
    let directory = Directory::fresh(arguments.dir.as_deref())?;
    let rounds = Rounds { base: directory.path(), draws: Draws::new(arguments.seed), flaws: &flaws };
    let mut judge = Judge::new();
    let progress = spinner();
    let mut seen = Vec::new();
    let mut all = || -> Result<_, RoundError> {
        for number in 1..=arguments.rounds {
            progress.set_message(format!("round {number} of {}", arguments.rounds));
            seen.push(rounds.round(&mut judge, number)?);
            if interrupts.any() {
                return Err(RoundError::Interrupted);
            }
        }
        progress.set_message("everything is handed in once more");
        rounds.last(&mut judge, arguments.rounds + 1)
    };
    let last = all();
    progress.finish_and_clear();
    let file_system = directory::file_system(directory.path());
    let mut failures: Vec<Failure> = report::broken(&judge);
    failures.extend(last.as_ref().err().map(|error| {
        // Ctrl-C at a terminal ends the worker as well, which is then no defect.
        if interrupts.any() { interrupted(arguments) } else { defect(error) }
    }));
    let report = Report {
        inside: directory.inside(),
        file_system: file_system.as_deref(),
        seed: arguments.seed,
        flaws: &flaws,
        rounds: &seen,
        last: last.ok(),
        judge: &judge,
    };
    let printed = if arguments.json { report.json() } else { report.text(usize::from(text::width())) };
    text::out(&printed);
    // A directory in which something went wrong that nobody asked for is left for whoever looks into it.
    let wrong = failures.iter().any(|failure| failure.kind != FailureKind::Cut);
    let kept = (wrong && flaws.is_empty()).then(|| directory.path().display().to_string());
    if kept.is_some() {
        _ = directory.keep()
    } else {
        directory.remove()
    }
    for failure in &mut failures {
        failure.see.clone_from(&kept);
        failure.repeat = Some(super::repeat(arguments));
    }
    Ok(failed(&failures, arguments.json))
}
