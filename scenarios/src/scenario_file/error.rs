//! What is wrong in a scenario file, and the nearest valid name.

use std::fmt;

/// An error at one place of a scenario file or of the command line's `--set`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The file, or `--set`.
    pub file: String,
    /// The line, from 1.
    pub line: Option<usize>,
    /// The key with its section; empty where the text is no TOML at all.
    pub key: String,
    /// What was expected, what was found, what was probably meant.
    pub what: String,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        if let Some(line) = self.line {
            write!(f, ":{line}")?;
        }
        if !self.key.is_empty() {
            write!(f, ": {}", self.key)?;
        }
        write!(f, ": {}", self.what)
    }
}

impl std::error::Error for ScenarioError {}

/// The candidate that `name` was probably meant to be. A key without its section is near its full name.
pub fn nearest<'n>(name: &str, candidates: impl Iterator<Item = &'n str>) -> Option<&'n str> {
    let name = name.to_lowercase();
    candidates
        .map(|candidate| {
            let last = candidate.rsplit(['.', '/']).next().unwrap_or(candidate);
            let likeness = strsim::jaro_winkler(&name, candidate).max(strsim::jaro_winkler(&name, last));
            // Likeness only picks a word for a message; in thousandths, so that equal ones keep their order.
            ((likeness * 1_000.0) as u32, candidate)
        })
        .filter(|(likeness, _)| *likeness > 700)
        .reduce(|best, next| if next.0 > best.0 { next } else { best })
        .map(|(_, candidate)| candidate)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_name_is_found_with_and_without_its_section() {
        let names = ["nodes", "links.channels", "load.bursts", "crash-mid-batch"];
        for (typed, meant) in [
            ("node", Some("nodes")),
            ("links.chanels", Some("links.channels")),
            ("channels", Some("links.channels")),
            ("BURST", Some("load.bursts")),
            ("crash-midbatch", Some("crash-mid-batch")),
            ("zzz", None),
        ] {
            assert_eq!(nearest(typed, names.into_iter()), meant, "{typed}");
        }
    }
}
