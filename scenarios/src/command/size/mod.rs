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
use crate::print::text;
use clap::{Args, Subcommand};
use groundhog_reports::Sizing;
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

impl Output {
    /// Prints an answer and writes it where it is asked for.
    fn hand_over(&self, text: &str, answer: &impl Serialize, sizing: &Sizing<'_>) -> Result<(), CallError> {
        let mut json = serde_json::to_string_pretty(answer)?;
        json.push('\n');
        if let Some(folder) = &self.out {
            let page = groundhog_reports::sizing_page(sizing)?;
            let files = vec![("report.html".to_owned(), page), ("summary.json".to_owned(), json.clone())];
            groundhog_reports::write_files(folder, files)?;
        }
        text::out(if self.json { &json } else { text });
        Ok(())
    }
}
