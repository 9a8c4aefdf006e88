//! `groundhog store`: look into a store's directory, ask what an open would say, clear one stream.
//!
//! Promise: looking changes nothing; only `clear` does, with `--yes`, and never while a node holds the directory.

mod check;
mod clear;
mod directory;
mod list;
mod words;

use super::CallError;
use crate::exit::Exit;
use clap::{Args, Subcommand};

pub use directory::StoreCallError;

#[derive(Args)]
pub struct Arguments {
    #[command(subcommand)]
    what: What,
}

#[derive(Subcommand)]
enum What {
    /// List every record: whose stream it is, what it holds, and what it costs.
    List(list::Arguments),
    /// What would an open say of each record? Exit code 1 where one does not restore.
    Check(check::Arguments),
    /// Clear one stream: remove its record and its presence marker, while its node is stopped.
    Clear(clear::Arguments),
}

/// Does it.
pub fn main(arguments: &Arguments) -> Result<Exit, CallError> {
    Ok(match &arguments.what {
        What::List(arguments) => list::main(arguments)?,
        What::Check(arguments) => check::main(arguments)?,
        What::Clear(arguments) => clear::main(arguments)?,
    })
}
