//! `groundhog explain`: what one name stands for.

use super::CallError;
use crate::exit::Exit;
use crate::glossary::{self, Word};
use crate::names::{self, Kind, Named};
use crate::print::text;
use crate::scenario_file::nearest;
use crate::target::TargetError;
use clap::Args;
use std::fmt::Write;

#[derive(Args)]
pub struct Arguments {
    /// A scenario, law, flaw, recorded behaviour, mark, limit or kind of fault, as `groundhog list` names it, or a word of a
    /// summary: a verdict, a cause of loss, a refusal, a fault.
    name: String,
}

/// Explains it.
pub fn main(arguments: &Arguments) -> Result<Exit, CallError> {
    let named: Vec<Named> = Kind::WITH_HIDDEN.into_iter().flat_map(names::all).collect();
    let width = usize::from(text::width());
    let listed = named.iter().filter(|named| named.name == arguments.name);
    let mut told: Vec<String> = listed.map(|named| explained(named, width)).collect();
    told.extend(glossary::senses(&arguments.name).map(|word| sense(word, width)));
    if told.is_empty() {
        return Err(unknown(&arguments.name, &named).into());
    }
    text::out(&told.join("\n"));
    Ok(Exit::Held)
}

/// Names that hold what was typed stand before those that only look like it.
fn unknown(name: &str, named: &[Named]) -> TargetError {
    let names = || named.iter().map(|named| named.name).chain(glossary::WORDS.iter().map(|word| word.word));
    let typed = name.to_lowercase();
    let holds = names().find(|known| typed.len() > 2 && known.split(['/', '-']).any(|part| part == typed));
    let begins = || {
        names().find(|known| {
            typed.len() > 3 && known.rsplit('/').next().is_some_and(|last| last.starts_with(&typed))
        })
    };
    TargetError::Name {
        kind: "scenario, law, flaw, behaviour, mark, limit, fault or word of a summary",
        name: name.to_owned(),
        nearest: holds.or_else(begins).or_else(|| nearest(name, names())).map(str::to_owned),
    }
}

fn sense(word: &Word, width: usize) -> String {
    format!("{} {}\n\n{}\n", word.sense, word.word, text::wrapped(word.means, width, 0))
}

fn explained(named: &Named, width: usize) -> String {
    let mut lines =
        format!("{} {}\n\n{}\n", named.kind.one(), named.name, text::wrapped(&named.about, width, 0));
    if !named.more.is_empty() {
        lines.push('\n');
    }
    for (what, which) in &named.more {
        let which = if *what == "shown by" { which.clone() } else { text::wrapped(which, width, 13) };
        let _ = writeln!(lines, "{what:<12} {which}");
    }
    lines
}
