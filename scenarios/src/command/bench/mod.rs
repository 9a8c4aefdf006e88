//! `groundhog bench`: how fast it is here, in this machine's real time.

pub mod admissions;
pub mod world;

use crate::command::CallError;
use crate::exit::Exit;
use clap::{Args, Subcommand};

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Subcommand)]
enum Bench {
    /// Admissions a second by the engine on this machine's real disk, and what a killed process leaves.
    Admissions(admissions::Arguments),
    /// How fast the simulated world is on one core of this machine, and where its time goes.
    World(world::Arguments),
}

/// Runs it.
pub fn main(arguments: &Arguments) -> Result<Exit, CallError> {
    match &arguments.bench {
        Bench::Admissions(arguments) => Ok(admissions::main(arguments)?),
        Bench::World(arguments) => Ok(world::main(arguments)?),
    }
}
