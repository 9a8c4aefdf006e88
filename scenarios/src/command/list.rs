//! `groundhog list`: everything that has a name.

use crate::exit::Exit;
use crate::names::{self, Kind};
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
    let kinds = arguments.kind.map_or_else(|| Kind::ALL.to_vec(), |kind| vec![kind]);
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
        for named in names::all(*kind) {
            let _ = writeln!(listed, "  {}\n      {}", named.name, text::wrapped(&named.about, width - 6, 6));
        }
    }
    listed
}

fn json(kinds: &[Kind]) -> String {
    let mut all = serde_json::Map::new();
    for kind in kinds {
        let of_kind = names::all(*kind)
            .into_iter()
            .map(|named| serde_json::json!({ "name": named.name, "about": named.about }));
        all.insert(format!("{}s", kind.one()), of_kind.collect());
    }
    format!("{:#}\n", serde_json::Value::Object(all))
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
