//! What a sweep has done, on the real disk, so that one that was interrupted goes on where it was.
//!
//! Promise: a journal is believed only line by line, each whole by its checksum, and only for the same sweep by the same
//! build. One line is one part of the sweep, counted once.

use crate::simulate::Laws;
use groundhog_sim::explore::sweep::{Settings, Tally};
use groundhog_sim::plan::Plan;
use groundhog_sim::units::NodeId;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::ops::Range;
use std::path::{Path, PathBuf};
use std::time::UNIX_EPOCH;

/// The journal's file.
const NAME: &str = "sweep.journal";

/// Hex digits of a line's checksum.
const CHECKSUM_DIGITS: usize = 16;

/// One part that is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Part {
    /// Whose life.
    pub node: NodeId,
    /// Its points, by number.
    pub points: Range<u64>,
    /// What came of them.
    pub tally: Tally,
}

/// A journal that is being written.
#[derive(Debug)]
pub struct Journal {
    path: PathBuf,
    file: File,
}

/// Names a sweep: its plan, what of it is swept, which laws are asked, and the program that does it.
pub fn key(plan: &Plan, settings: &Settings, laws: Laws) -> String {
    let mut hash = Sha256::new_with_prefix(b"groundhog sweep\0");
    hash.update(plan.to_json());
    hash.update(format!("{settings:?} {laws:?}"));
    // Another build may do other things; where the system does not say what the program is, its version has to do.
    let program = std::env::current_exe().and_then(fs::metadata);
    let built = program.and_then(|program| Ok((program.len(), program.modified()?)));
    if let Ok((length, modified)) = built {
        let age = modified.duration_since(UNIX_EPOCH).unwrap_or_default();
        hash.update(format!("{length} {}", age.as_nanos()));
    }
    hash.update(env!("CARGO_PKG_VERSION"));
    crate::campaign::tally::hex(&hash.finalize())
}

fn checksum(text: &str) -> String {
    crate::campaign::tally::hex(&Sha256::digest(text)[..CHECKSUM_DIGITS / 2])
}

fn line(text: &str) -> String {
    format!("{} {text}\n", checksum(text))
}

/// The text of a whole line.
fn whole(line: &str) -> Option<&str> {
    let (sum, text) = line.strip_suffix('\n')?.split_once(' ')?;
    (sum == checksum(text)).then_some(text)
}

impl Journal {
    /// Opens the journal of a sweep in a folder, or begins one. Gives what was done already: nothing where the folder's
    /// journal is of another sweep or of another build.
    ///
    /// # Errors
    /// When it cannot be read or written.
    pub fn open(folder: &Path, key: &str) -> io::Result<(Self, Vec<Part>)> {
        let path = folder.join(NAME);
        let text = match fs::read(&path) {
            Ok(bytes) => String::from_utf8_lossy(&bytes).into_owned(),
            Err(error) if error.kind() == io::ErrorKind::NotFound => String::new(),
            Err(error) => return Err(error),
        };
        let mut lines = text.split_inclusive('\n');
        let mut parts = Vec::new();
        let mut length = 0;
        if let Some(first) = lines.next().filter(|first| whole(first) == Some(key)) {
            length = first.len();
            for next in lines {
                let part = whole(next).and_then(|text| serde_json::from_str::<Part>(text).ok());
                let Some(part) = part else { break };
                parts.push(part);
                length += next.len();
            }
        }
        let file = OpenOptions::new().create(true).append(true).open(&path)?;
        file.set_len(length as u64)?;
        let mut journal = Self { path, file };
        if length == 0 {
            journal.file.write_all(line(key).as_bytes())?;
        }
        Ok((journal, parts))
    }

    /// Writes one part down.
    ///
    /// # Errors
    /// When it cannot be written.
    pub fn add(&mut self, part: &Part) -> io::Result<()> {
        let text = serde_json::to_string(part).map_err(io::Error::other)?;
        self.file.write_all(line(&text).as_bytes())
    }

    /// The sweep is done: nothing is left to go on with.
    pub fn end(self) {
        // What cannot be removed is only gone on with, to the same result.
        let _ = fs::remove_file(&self.path);
        if let Some(folder) = self.path.parent() {
            // Refused where something lies in it.
            let _ = fs::remove_dir(folder);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn part(from: u64) -> Part {
        Part { node: NodeId(3), points: from..from + 4, tally: Tally::default() }
    }

    fn journal(folder: &Path, key: &str) -> (Journal, Vec<Part>) {
        Journal::open(folder, key).expect("a journal")
    }

    #[test]
    fn what_was_written_is_read_back_and_gone_on_with() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut first, none) = journal(folder.path(), "key");
        assert!(none.is_empty());
        first.add(&part(0)).expect("written");
        first.add(&part(4)).expect("written");
        drop(first);
        let (mut second, parts) = journal(folder.path(), "key");
        assert_eq!(parts, [part(0), part(4)]);
        second.add(&part(8)).expect("written");
        drop(second);
        assert_eq!(journal(folder.path(), "key").1.len(), 3);
    }

    #[test]
    fn a_torn_or_changed_line_ends_what_is_believed_and_is_written_over() {
        let folder = tempfile::tempdir().expect("a folder");
        let (mut first, _) = journal(folder.path(), "key");
        for from in [0, 4, 8] {
            first.add(&part(from)).expect("written");
        }
        let path = folder.path().join(NAME);
        let text = fs::read_to_string(&path).expect("text");
        for broken in [text[..text.len() - 3].to_owned(), text.replace("\"start\":8", "\"start\":9")] {
            fs::write(&path, broken).expect("written");
            let (mut again, parts) = journal(folder.path(), "key");
            assert_eq!(parts, [part(0), part(4)]);
            again.add(&part(8)).expect("written");
            assert_eq!(fs::read_to_string(&path).expect("text"), text);
        }
    }

    #[test]
    fn another_sweeps_journal_is_begun_anew_and_the_end_leaves_nothing() {
        let folder = tempfile::tempdir().expect("a folder");
        let inside = folder.path().join("out");
        fs::create_dir(&inside).expect("a folder");
        let (mut first, _) = journal(&inside, "key");
        first.add(&part(0)).expect("written");
        let (other, parts) = journal(&inside, "other");
        assert!(parts.is_empty());
        other.end();
        assert!(!inside.exists());
    }
}
