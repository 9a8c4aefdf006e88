//! The other process of `run --check`.

use crate::campaign::check;
use crate::exit::Exit;
use crate::print::text;
use crate::simulate::{Laws, Manner};
use clap::Args;
use groundhog_sim::plan::Plan;
use std::io::Read;

#[derive(Args)]
pub struct Arguments {
    #[arg(long)]
    interval: Option<u64>,
    #[arg(long)]
    max_polls: u64,
}

/// Runs the plan on the standard input and says what the other side compares.
pub fn main(arguments: &Arguments) -> Exit {
    match said(arguments) {
        Ok(said) => {
            text::out(&said);
            Exit::Held
        }
        Err(error) => {
            eprintln!("{error}");
            Exit::Wrong
        }
    }
}

fn said(arguments: &Arguments) -> Result<String, Box<dyn std::error::Error>> {
    let mut plan = String::new();
    std::io::stdin().lock().read_to_string(&mut plan)?;
    let plan = Plan::from_json(&plan)?;
    let manner = Manner { laws: Laws::All, max_polls: arguments.max_polls, stop: Default::default() };
    Ok(serde_json::to_string(&check::said(&plan, arguments.interval, &manner)?)?)
}
