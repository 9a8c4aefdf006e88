//! `groundhog plan`: the plan of one seed, as text.

use crate::target::{self, TargetError};
use clap::Args;
use std::process::ExitCode;

#[derive(Args)]
pub struct Arguments {
    /// A scenario of the catalogue, or a scenario file.
    scenario: String,
    /// The seed.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Change one key of the scenario.
    #[arg(long, value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Switch a known-bad behaviour on.
    #[arg(long, value_name = "ID")]
    flaw: Vec<String>,
}

/// Prints it.
pub fn main(arguments: &Arguments) -> ExitCode {
    match plans(arguments) {
        Ok(text) => {
            print!("{text}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprintln!("error: {error}");
            ExitCode::from(2)
        }
    }
}

fn plans(arguments: &Arguments) -> Result<String, TargetError> {
    let settings = arguments.set.iter().map(|text| target::setting(text)).collect::<Result<Vec<_>, _>>()?;
    let flaws = arguments.flaw.iter().map(|id| target::flaw(id)).collect::<Result<Vec<_>, _>>()?;
    let targets = target::find(&arguments.scenario, &settings)?;
    Ok(targets.iter().map(|target| target.plan(arguments.seed, &flaws).to_json()).collect())
}
