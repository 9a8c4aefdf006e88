//! Which files of a folder Groundhog wrote, and who writes into it now.
//!
//! Promise: a file whose bytes are not those that Groundhog wrote last is nobody's to replace; of two commands that want one
//! folder at a time, the second is refused.

use crate::folder::{ReportError, probe};
use crate::format::hex;
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::Write as _;
use std::path::Path;

/// Lists what was written, a line a file, as `sha256sum` does. It is only ever added to, so that two commands that write
/// different files at one time lose no line.
pub(crate) const NOTE: &str = ".groundhog.sha256";

/// What was written into a folder, by name and hash.
#[derive(Default)]
pub(crate) struct Owned {
    hashes: BTreeMap<String, BTreeSet<String>>,
}

impl Owned {
    /// As the folder's note says; nothing where there is none.
    pub fn read(folder: &Path) -> Self {
        let text = fs::read_to_string(folder.join(NOTE)).unwrap_or_default();
        let mut owned = Self::default();
        for (hash, name) in text.lines().filter_map(|line| line.split_once("  ")) {
            owned.hashes.entry(name.to_owned()).or_default().insert(hash.to_owned());
        }
        owned
    }

    /// Whether this file is there and as Groundhog wrote it.
    pub fn is_ours(&self, folder: &Path, name: &str) -> bool {
        let Some(hashes) = self.hashes.get(name) else { return false };
        fs::read(folder.join(name)).is_ok_and(|bytes| hashes.contains(&hash(&bytes)))
    }

    /// Whether somebody else's file with exactly these bytes stands there.
    pub fn equals(&self, folder: &Path, name: &str, content: &[u8]) -> bool {
        !self.is_ours(folder, name) && is(folder, name, content)
    }

    /// Refuses a file of this name where something stands that may not be replaced. The same bytes may be.
    pub fn check(&self, folder: &Path, name: &str, content: Option<&[u8]>) -> Result<(), ReportError> {
        let path = folder.join(name);
        if path.symlink_metadata().is_err() {
            return Ok(());
        }
        // A pipe is not even read.
        if fs::metadata(&path).is_ok_and(|metadata| !metadata.is_file()) {
            return Err(ReportError::InTheWay { path });
        }
        let same = content.is_some_and(|content| is(folder, name, content));
        if same || self.is_ours(folder, name) { Ok(()) } else { Err(ReportError::Foreign { path }) }
    }
}

fn is(folder: &Path, name: &str, content: &[u8]) -> bool {
    fs::read(folder.join(name)).is_ok_and(|bytes| bytes == content)
}

fn hash(bytes: &[u8]) -> String {
    hex(&Sha256::digest(bytes))
}

/// Notes files that are about to be written.
pub(crate) fn note<'f>(
    folder: &Path,
    files: impl Iterator<Item = (&'f str, &'f [u8])>,
) -> Result<(), ReportError> {
    let lines: String = files.map(|(name, content)| format!("{}  {name}\n", hash(content))).collect();
    if lines.is_empty() {
        return Ok(());
    }
    let path = folder.join(NOTE);
    let added = OpenOptions::new().create(true).append(true).open(&path);
    let added = added.and_then(|mut file| file.write_all(lines.as_bytes()));
    added.map_err(|source| ReportError::File { path, source })
}

/// The right to write into a folder, until it is dropped.
#[derive(Debug)]
pub struct Claim {
    _folder: Option<File>,
}

/// Makes sure, before a run, that the folder can be written to, that nobody else writes into it, and that nothing stands in
/// the way of the files that are known to be written.
///
/// # Errors
/// [`ReportError::Folder`], [`ReportError::Busy`], [`ReportError::Foreign`] or [`ReportError::InTheWay`].
pub fn claim(folder: &Path, names: &[&str]) -> Result<Claim, ReportError> {
    probe(folder)?;
    // Where the system cannot lock a folder, two commands are not told apart.
    let locked = File::open(folder).ok().map(|file| (file.try_lock(), file));
    let folder_lock = match locked {
        Some((Err(TryLockError::WouldBlock), _)) => {
            return Err(ReportError::Busy { path: folder.to_owned() });
        }
        Some((_, file)) => Some(file),
        None => None,
    };
    check(folder, names)?;
    Ok(Claim { _folder: folder_lock })
}

/// Makes sure that nothing stands in the way of files of these names.
///
/// # Errors
/// [`ReportError::Foreign`] or [`ReportError::InTheWay`].
pub fn check(folder: &Path, names: &[&str]) -> Result<(), ReportError> {
    let owned = Owned::read(folder);
    names.iter().try_for_each(|name| owned.check(folder, name, None))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_has_one_writer_at_a_time() {
        let folder = tempfile::tempdir().unwrap();
        let first = claim(folder.path(), &[]).unwrap();
        let refused = claim(folder.path(), &[]).unwrap_err();
        assert!(matches!(refused, ReportError::Busy { .. }), "{refused}");
        drop(first);
        claim(folder.path(), &[]).unwrap();
    }

    #[test]
    fn what_stands_in_the_way_is_found_before_a_run() {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("plan.json"), "mine").unwrap();
        claim(folder.path(), &["report.html"]).unwrap();
        let refused = claim(folder.path(), &["report.html", "plan.json"]).unwrap_err();
        assert!(refused.to_string().contains("plan.json"), "{refused}");
    }
}
