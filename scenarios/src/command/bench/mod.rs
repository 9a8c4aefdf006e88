//! `groundhog bench`: how fast it is here, in this machine's real time.

pub mod admissions;
mod retained;
mod swarm;
pub mod world;

use crate::command::CallError;
use crate::command::at_once::end_at_once;
use crate::exit::Exit;
use clap::{Args, Subcommand};

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    bench: Bench,
}

#[derive(Subcommand)]
enum Bench {
    Admissions(admissions::Arguments),
    /// How fast the simulated world is on one core of this machine, and where its time goes.
    World(world::Arguments),
    Swarm(swarm::Arguments),
    Retained(retained::Arguments),
}

/// Runs it.
pub fn main(arguments: &Arguments) -> Result<Exit, CallError> {
    match &arguments.bench {
        Bench::Admissions(arguments) => Ok(admissions::main(arguments)?),
        Bench::World(arguments) => Ok(world::main(arguments)?),
        Bench::Swarm(arguments) => end_at_once().and_then(|()| swarm::main(arguments)),
        Bench::Retained(arguments) => end_at_once().and_then(|()| retained::main(arguments)),
    }
}
