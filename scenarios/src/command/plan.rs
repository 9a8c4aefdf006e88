//! `groundhog plan`: the plan of one seed, as text.

use super::CallError;
use crate::exit::Exit;
use crate::fitness;
use crate::print::text;
use crate::target;
use clap::Args;

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
    /// Have each kind of fault off, light or heavy.
    #[arg(long)]
    swarm: bool,
}

/// Prints it.
pub fn main(arguments: &Arguments) -> Result<Exit, CallError> {
    let settings = target::settings(&arguments.set)?;
    let flaws = target::flaws(&arguments.flaw)?;
    match &target::swarmed(target::find(&arguments.scenario, &settings)?, arguments.swarm)?[..] {
        [target] => {
            fitness::check(target, arguments.seed, &flaws, &settings)?;
            text::out(&target.plan(arguments.seed, &flaws).to_json());
        }
        several => {
            let what = format!(
                "a plan is drawn from one scenario, and `{}` is {}",
                arguments.scenario,
                several.len()
            );
            return Err(target::TargetError::Call(what).into());
        }
    }
    Ok(Exit::Held)
}
