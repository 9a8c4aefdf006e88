//! Scenario files: TOML in, [`Scenario`] out.
//!
//! Promise: a file is read whole or refused with its file, line and key, what was expected and the nearest valid name.

mod error;
mod reader;
mod sense;
#[cfg(test)]
mod tests;

pub use error::{ScenarioError, nearest};
pub use reader::Setting;

use groundhog_sim::plan::{Crypto, DiskProfile, MAX_NODES, Scenario, Sections};
use reader::Reader;
use std::collections::BTreeMap;
use toml::de::{DeTable, DeValue};

/// The format of scenario files that this build reads.
const FORMAT: i64 = 1;

/// The scenario in `text`, with `settings` on top. `file` names it in errors; `limits` are the ids of known limits.
///
/// # Errors
/// [`ScenarioError`] at the first place that is wrong.
pub fn read(
    file: &str,
    text: &str,
    settings: &[Setting],
    limits: &[&str],
) -> Result<Scenario, ScenarioError> {
    let document = DeTable::parse(text).map_err(|error| {
        let line = error.span().map(|span| {
            text.as_bytes()[..span.start.min(text.len())].iter().filter(|byte| **byte == b'\n').count() + 1
        });
        ScenarioError { file: file.to_owned(), line, key: String::new(), what: error.message().to_owned() }
    })?;
    let table = document.get_ref();
    let mut reader = Reader::new(file, text, table, settings);
    let missing = |name: &str| ScenarioError {
        file: file.to_owned(),
        line: None,
        key: name.to_owned(),
        what: "it is missing".to_owned(),
    };
    let format = reader.integer("format", i64::MIN..=i64::MAX)?.ok_or_else(|| missing("format"))?;
    if format != FORMAT {
        let what = format!("expected {FORMAT}, the format that this build reads, found {format}");
        return Err(reader.error("format", table.get("format").map(|value| value.span()), what));
    }
    let name = reader.string("name")?.ok_or_else(|| missing("name"))?;
    let about = reader.string("about")?.unwrap_or_default();
    let nodes = reader.integer("nodes", 2..=MAX_NODES as i64)?.ok_or_else(|| missing("nodes"))?;
    let counts_for =
        Reader::new(file, text, table, &[]).integer("nodes", 2..=MAX_NODES as i64)?.unwrap_or(nodes);
    let crypto = reader.names("crypto", &["ed25519", "keyed-hash"])?;
    let disk = reader.names("disk", &["strict", "ordered"])?.unwrap_or_else(|| vec![(0, 1)]);
    let share = reader.integer("seeds_per_thousand", 100..=1_000)?.unwrap_or(1_000);
    let sections = Sections::read(&mut reader)?;
    reader.finish("limits")?;
    let scenario = Scenario {
        name,
        about,
        nodes: nodes as u32,
        counts_for: counts_for as u32,
        crypto: crypto.map_or_else(
            || vec![(Crypto::Ed25519, 1)],
            |picked| weighted(&[Crypto::Ed25519, Crypto::KeyedHash], &picked),
        ),
        disk: weighted(&[DiskProfile::Strict, DiskProfile::Ordered], &disk),
        sections,
        seeds_per_thousand: share as u32,
        limits: ceilings(&reader, table, settings, limits)?,
    };
    sense::check(&scenario, &mut reader)?;
    Ok(scenario)
}

fn weighted<T: Copy>(values: &[T], picked: &[(usize, u32)]) -> Vec<(T, u32)> {
    picked.iter().map(|(place, weight)| (values[*place], *weight)).collect()
}

/// The ceilings of known limits: a table whose keys are the limits' ids.
fn ceilings(
    reader: &Reader<'_>,
    table: &DeTable<'_>,
    settings: &[Setting],
    limits: &[&str],
) -> Result<BTreeMap<String, u64>, ScenarioError> {
    let mut ceilings = BTreeMap::new();
    let unknown = |id: &str| match nearest(id, limits.iter().copied()) {
        Some(near) => format!("no such limit; the nearest is `{near}`"),
        None => "no such limit".to_owned(),
    };
    if reader.section("limits")?.is_some() {
        for (name, value) in table["limits"].get_ref().as_table().into_iter().flatten() {
            let id = name.get_ref().as_ref();
            let key = format!("limits.{id}");
            if !limits.contains(&id) {
                return Err(reader.error(&key, Some(name.span()), unknown(id)));
            }
            let ceiling = match value.get_ref() {
                DeValue::Integer(digits) => u64::from_str_radix(digits.as_str(), digits.radix()).ok(),
                _ => None,
            };
            let Some(ceiling) = ceiling else {
                let what = "expected how often the limit may be met in one run, an integer from 0".to_owned();
                return Err(reader.error(&key, Some(value.span()), what));
            };
            ceilings.insert(id.to_owned(), ceiling);
        }
    }
    for setting in settings {
        let Some(id) = setting.key.strip_prefix("limits.") else { continue };
        let error =
            |what| ScenarioError { file: "--set".to_owned(), line: None, key: setting.key.clone(), what };
        if !limits.contains(&id) {
            return Err(error(unknown(id)));
        }
        let ceiling = setting.value.parse().map_err(|_| error("expected an integer from 0".to_owned()))?;
        ceilings.insert(id.to_owned(), ceiling);
    }
    Ok(ceilings)
}
