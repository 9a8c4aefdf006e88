//! `groundhog explain`: what one name stands for.

use super::CallError;
use crate::exit::Exit;
use crate::names::{self, Kind, Named};
use crate::print::text;
use crate::scenario_file::nearest;
use crate::target::TargetError;
use clap::Args;
use std::fmt::Write;

#[derive(Args)]
pub struct Arguments {
    /// A scenario, law, flaw, recorded behaviour, mark, limit or kind of fault, as `groundhog list` names it.
    name: String,
}

/// Explains it.
pub fn main(arguments: &Arguments) -> Result<Exit, CallError> {
    let named: Vec<Named> = Kind::WITH_HIDDEN.into_iter().flat_map(names::all).collect();
    let Some(found) = named.iter().find(|named| named.name == arguments.name) else {
        return Err(CallError::Target(TargetError::Name {
            kind: "scenario, law, flaw, behaviour, mark, limit or fault",
            name: arguments.name.clone(),
            nearest: nearest(&arguments.name, named.iter().map(|named| named.name)).map(str::to_owned),
        }));
    };
    text::out(&explained(found, usize::from(text::width())));
    Ok(Exit::Held)
}

fn explained(named: &Named, width: usize) -> String {
    let mut lines =
        format!("{} {}\n\n{}\n", named.kind.one(), named.name, text::wrapped(&named.about, width, 0));
    if !named.more.is_empty() {
        lines.push('\n');
    }
    for (what, which) in &named.more {
        let _ = writeln!(lines, "{what:<12} {}", text::wrapped(which, width - 13, 13));
    }
    lines
}
