//! `groundhog bench`: how fast it is here, in this machine's real time.

pub mod admissions;

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
    Admissions(admissions::Arguments),
}

/// Runs it.
pub fn main(arguments: &Arguments) -> Result<Exit, CallError> {
    match &arguments.bench {
        Bench::Admissions(arguments) => Ok(admissions::main(arguments)?),
    }
}
