//! `groundhog list`: everything that has a name.

use crate::exit::Exit;
use crate::names::{self, Kind, Named};
use crate::print::text;
use clap::Args;
use std::fmt::Write;

#[derive(Args)]
pub struct Arguments {
    /// One kind only.
    kind: Option<Kind>,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

/// Lists it.
pub fn main(arguments: &Arguments) -> Exit {
    let kinds = match arguments.kind {
        None => Kind::ALL.to_vec(),
        // What is recorded and is no flaw stands beside the flaws.
        Some(Kind::Flaws) => vec![Kind::Flaws, Kind::Behaviours],
        Some(kind) => vec![kind],
    };
    let listed = if arguments.json { json(&kinds) } else { lines(&kinds, usize::from(text::width())) };
    text::out(&listed);
    Exit::Held
}

fn lines(kinds: &[Kind], width: usize) -> String {
    let mut listed = String::new();
    for (place, kind) in kinds.iter().enumerate() {
        if place > 0 {
            listed.push('\n');
        }
        let _ = writeln!(listed, "{}s", kind.one());
        if let Some(note) = note(*kind) {
            let _ = writeln!(listed, "  {}", text::wrapped(note, width - 2, 2));
        }
        for named in names::all(*kind) {
            let _ = writeln!(listed, "  {}\n      {}", named.name, text::wrapped(&named.about, width - 6, 6));
            for (what, which) in shown(&named) {
                let more = format!("{what} {which}");
                let _ = writeln!(listed, "      {}", text::wrapped(&more, width - 6, 6));
            }
        }
    }
    listed
}

/// What a reader of a whole list is told once.
const fn note(kind: Kind) -> Option<&'static str> {
    match kind {
        Kind::Flaws => {
            Some("(groundhog explain FLAW: the law that convicts it, where, and the command that shows it)")
        }
        Kind::Behaviours => {
            Some("(B-R and a number: an entry of the record of behaviours that were found in the field)")
        }
        Kind::Marks => Some(
            "(states that many seeds must reach; due: how many times in 1,000 seeds, of which one may count several)",
        ),
        _ => None,
    }
}

/// What is read together with a name's sentence: a mark says little without how often it is due.
fn shown(named: &Named) -> impl Iterator<Item = &(&'static str, String)> {
    named.more.iter().filter(|(what, _)| {
        let told_once = named.kind == Kind::Behaviours && *what == "recorded as";
        matches!(named.kind, Kind::Marks | Kind::Faults | Kind::Behaviours) && !told_once
    })
}

fn json(kinds: &[Kind]) -> String {
    let mut all = serde_json::Map::new();
    for kind in kinds {
        all.insert(format!("{}s", kind.one()), names::all(*kind).iter().map(one_as_json).collect());
    }
    format!("{:#}\n", serde_json::Value::Object(all))
}

fn one_as_json(named: &Named) -> serde_json::Value {
    let mut one = serde_json::json!({ "name": named.name, "about": named.about });
    if let Some(mark) = groundhog_sim::ledger::marks::mark(named.name).filter(|_| named.kind == Kind::Marks) {
        one["due_in_1000_seeds"] = mark.per_thousand_seeds.into();
        one["scenarios"] = mark.scenarios.into();
    }
    one
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_list_fits_80_columns_and_names_everything() {
        let listed = lines(&Kind::ALL, 80);
        assert!(listed.lines().all(|line| line.chars().count() <= 80), "{listed}");
        for named in Kind::ALL.into_iter().flat_map(names::all) {
            assert!(listed.contains(named.name) && json(&Kind::ALL).contains(named.name), "{}", named.name);
        }
    }
}
