//! `groundhog size`: which bound holds which load.
//!
//! Promise: each question is answered in one sentence, with the closed-form figure beside the simulated one, and simulated
//! figures are exact: the same command gives the same answer.

mod custody;
mod ramp;
mod slot_floor;
mod trouble;

use super::CallError;
use super::at_once::end_at_once;
use crate::exit::Exit;
use crate::print::block::{Failure, FailureKind};
use crate::print::text;
use crate::print::unwritten::Unwritten;
use clap::{Args, Subcommand};
use groundhog_reports::{Claim, Sizing};
use serde::Serialize;
use std::path::PathBuf;

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    question: Question,
}

#[derive(Subcommand)]
enum Question {
    SlotFloor(slot_floor::Arguments),
    Custody(custody::Arguments),
}

/// How an answer is handed over.
#[derive(Args)]
struct Output {
    /// Write the answer as a page with a plot, and as JSON, into this folder.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

/// Answers it.
pub fn main(arguments: &Arguments) -> Result<Exit, CallError> {
    end_at_once()?;
    match &arguments.question {
        Question::SlotFloor(arguments) => slot_floor::main(arguments),
        Question::Custody(arguments) => custody::main(arguments),
    }
}

/// The block of a ramp that Ctrl-C ended.
fn interrupted(question: &str, done: usize, of: usize, repeat: &str) -> Failure {
    Failure {
        kind: FailureKind::Cut,
        what: "interrupted".to_owned(),
        saw: format!("size {question} had made {done} of its {of} runs"),
        shrunk: None,
        see: None,
        repeat: Some(repeat.to_owned()),
    }
}

/// An answer of which runs are missing says so first.
fn as_far(sentence: String, done: usize, of: usize) -> String {
    if done < of { format!("So far, after {done} of {of} runs: {sentence}") } else { sentence }
}

impl Output {
    /// Makes sure that the answer can be written, before it is looked for.
    fn claim(&self) -> Result<Option<Claim>, CallError> {
        let names = groundhog_reports::FILES_OF_A_CAMPAIGN;
        let claim = |folder: &PathBuf| groundhog_reports::claim(folder, names).map_err(CallError::Out);
        self.out.as_ref().map(claim).transpose()
    }

    /// Prints an answer, and writes it where it is asked for.
    fn hand_over(
        &self,
        text: &str,
        answer: &impl Serialize,
        sizing: &Sizing<'_>,
    ) -> Result<Unwritten, CallError> {
        let mut json = serde_json::to_string_pretty(answer)?;
        json.push('\n');
        text::out(if self.json { &json } else { text });
        let mut unwritten = Unwritten::default();
        if let Some(folder) = &self.out {
            let page = groundhog_reports::sizing_page(sizing)?;
            let files = vec![("report.html".to_owned(), page), ("summary.json".to_owned(), json)];
            unwritten.take(groundhog_reports::write_files(folder, files));
        }
        unwritten.tell();
        Ok(unwritten)
    }
}
