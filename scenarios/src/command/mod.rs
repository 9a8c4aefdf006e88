//! What the command line can say.

mod plan;

use clap::{Parser, Subcommand};
use std::process::ExitCode;

#[derive(Parser)]
#[command(name = "groundhog", version)]
struct Cli {
    #[command(subcommand)]
    command: Option<Command>,
}

#[derive(Subcommand)]
enum Command {
    /// Print the plan of one seed, and run nothing.
    Plan(plan::Arguments),
}

/// Does what the command line says.
pub fn main() -> ExitCode {
    match Cli::parse().command {
        Some(Command::Plan(arguments)) => plan::main(&arguments),
        None => ExitCode::SUCCESS,
    }
}
