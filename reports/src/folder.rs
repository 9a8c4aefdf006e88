//! Files of a report onto the disk.
//!
//! Promise: a file is whole or absent. Everything is written under temporary names first, and only then renamed; a
//! folder that cannot be written to is found before anything is; what Groundhog did not write is neither replaced nor
//! removed.

use crate::owned::Owned;
use std::fs::{self, File};
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// Why a report could not be written.
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    /// The folder cannot be created or written to. Nothing was written.
    #[error("cannot write to folder {}: {source}", path.display())]
    Folder {
        /// The folder.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Something that is no file stands where a file of the report belongs. Nothing was written.
    #[error("{} is in the way: it is not a file", path.display())]
    InTheWay {
        /// What stands there.
        path: PathBuf,
    },
    /// Something that Groundhog did not write stands where a file of the report belongs. Nothing was written.
    #[error(
        "{} was not written by groundhog, or was changed since: it is left as it is; name another folder, or move it away",
        path.display()
    )]
    Foreign {
        /// What stands there.
        path: PathBuf,
    },
    /// Another command writes into the folder. Nothing was written.
    #[error("another groundhog is writing into {}; wait for it, or name another folder", path.display())]
    Busy {
        /// The folder.
        path: PathBuf,
    },
    /// A file could not be written; those that stood before it still stand.
    #[error("cannot write {}: {source}", path.display())]
    File {
        /// The file.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Data could not be put into JSON. Nothing was written.
    #[error("cannot encode {file}: {source}")]
    Encode {
        /// The file.
        file: &'static str,
        /// Why.
        source: serde_json::Error,
    },
    /// A plot could not be drawn. Nothing was written.
    #[error("cannot draw the plot of {plot}: {reason}")]
    Plot {
        /// Which.
        plot: &'static str,
        /// Why.
        reason: String,
    },
}

/// One file of a report, whole in memory.
pub(crate) struct ReportFile {
    pub name: String,
    pub content: Vec<u8>,
}

const PROBE: &str = ".groundhog-probe";

/// Creates `folder` where it is missing and makes sure that files can be written in it. Called before a run, so that a
/// wrong folder costs no run.
///
/// # Errors
/// [`ReportError::Folder`] when it cannot.
pub fn probe(folder: &Path) -> Result<(), ReportError> {
    let failed = |source| ReportError::Folder { path: folder.to_owned(), source };
    fs::create_dir_all(folder).map_err(failed)?;
    let probe = folder.join(format!("{PROBE}-{}", std::process::id()));
    let written = File::create(&probe).and_then(|mut file| file.write_all(b"probe"));
    // Removed even after a failed write: a full disk leaves an empty file.
    let removed = fs::remove_file(&probe);
    written.and(removed).map_err(failed)
}

/// Writes all of `files`, then removes those of `stale` that an earlier report left and this one does not have.
pub(crate) fn write_all(
    folder: &Path,
    files: &[ReportFile],
    stale: &[String],
) -> Result<Vec<PathBuf>, ReportError> {
    probe(folder)?;
    let owned = Owned::read(folder);
    for file in files {
        owned.check(folder, &file.name, Some(&file.content))?;
    }
    let mut temporaries = Temporaries { paths: Vec::with_capacity(files.len()) };
    for file in files {
        let path = folder.join(format!(".{}.{}.partial", file.name, std::process::id()));
        temporaries.paths.push(path.clone());
        write_whole(&path, &file.content).map_err(|source| ReportError::File { path, source })?;
    }
    // Before the files: one that stands there without its note could never be replaced.
    let note = files.iter().filter(|file| !owned.equals(folder, &file.name, &file.content));
    crate::owned::note(folder, note.map(|file| (file.name.as_str(), file.content.as_slice())))?;
    let mut written = Vec::with_capacity(files.len());
    for (file, temporary) in files.iter().zip(&temporaries.paths) {
        let path = folder.join(&file.name);
        fs::rename(temporary, &path).map_err(|source| ReportError::File { path: path.clone(), source })?;
        written.push(path);
    }
    let is_stale = |name: &&String| files.iter().all(|file| file.name != **name);
    for name in stale.iter().filter(is_stale).filter(|name| owned.is_ours(folder, name)) {
        let path = folder.join(name);
        match fs::remove_file(&path) {
            Err(source) if source.kind() != io::ErrorKind::NotFound => {
                return Err(ReportError::File { path, source });
            }
            _ => {}
        }
    }
    Ok(written)
}

fn write_whole(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut file = File::create(path)?;
    file.write_all(content)?;
    // A rename may survive a power failure that the bytes do not.
    file.sync_all()
}

/// Temporaries that are removed on every way out; a renamed one is no longer there.
struct Temporaries {
    paths: Vec<PathBuf>,
}

impl Drop for Temporaries {
    fn drop(&mut self) {
        for path in &self.paths {
            let _ = fs::remove_file(path);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(name: &str, content: &str) -> ReportFile {
        ReportFile { name: name.to_owned(), content: content.as_bytes().to_vec() }
    }

    fn names(folder: &Path) -> Vec<String> {
        let entries = fs::read_dir(folder).unwrap();
        let mut names: Vec<_> =
            entries.map(|entry| entry.unwrap().file_name().into_string().unwrap()).collect();
        names.retain(|name| name != crate::owned::NOTE);
        names.sort();
        names
    }

    #[test]
    fn a_folder_below_a_file_is_refused() {
        let root = tempfile::tempdir().unwrap();
        let blocker = root.path().join("blocker");
        fs::write(&blocker, "x").unwrap();
        let refused = write_all(&blocker.join("out"), &[file("a", "1")], &[]);
        assert!(matches!(refused, Err(ReportError::Folder { .. })), "{refused:?}");
        assert_eq!(names(root.path()), ["blocker"]);
    }

    #[test]
    fn nothing_is_replaced_when_one_file_cannot_be() {
        let root = tempfile::tempdir().unwrap();
        write_all(root.path(), &[file("a", "old")], &[]).unwrap();
        fs::create_dir(root.path().join("b")).unwrap();
        let refused = write_all(root.path(), &[file("a", "new"), file("b", "new")], &[]);
        assert!(matches!(refused, Err(ReportError::InTheWay { .. })), "{refused:?}");
        assert_eq!(fs::read_to_string(root.path().join("a")).unwrap(), "old");
        assert_eq!(names(root.path()), ["a", "b"]);
    }

    #[test]
    fn a_later_report_replaces_files_and_leaves_no_stale_one() {
        let root = tempfile::tempdir().unwrap();
        let folder = root.path().join("deep/out");
        write_all(&folder, &[file("a", "1"), file("b", "1")], &[]).unwrap();
        let stale = ["a".to_owned(), "b".to_owned(), "c".to_owned()];
        let written = write_all(&folder, &[file("a", "2")], &stale).unwrap();
        assert_eq!(written, [folder.join("a")]);
        assert_eq!(fs::read_to_string(folder.join("a")).unwrap(), "2");
        assert_eq!(names(&folder), ["a"]);
    }

    #[test]
    fn what_somebody_else_wrote_or_changed_is_neither_replaced_nor_removed() {
        let root = tempfile::tempdir().unwrap();
        let text = |name: &str| fs::read_to_string(root.path().join(name)).unwrap();
        fs::write(root.path().join("theirs"), "mine").unwrap();
        let refused = write_all(root.path(), &[file("a", "1"), file("theirs", "2")], &[]);
        assert!(matches!(refused, Err(ReportError::Foreign { .. })), "{refused:?}");
        assert_eq!(names(root.path()), ["theirs"]);
        write_all(root.path(), &[file("a", "1"), file("b", "1")], &[]).unwrap();
        fs::write(root.path().join("a"), "edited").unwrap();
        let refused = write_all(root.path(), &[file("a", "2")], &[]);
        assert!(matches!(refused, Err(ReportError::Foreign { .. })), "{refused:?}");
        let stale = ["a".to_owned(), "b".to_owned(), "theirs".to_owned()];
        write_all(root.path(), &[file("c", "1")], &stale).unwrap();
        assert_eq!(names(root.path()), ["a", "c", "theirs"]);
        assert_eq!((text("a"), text("theirs")), ("edited".to_owned(), "mine".to_owned()));
    }

    #[test]
    fn equal_bytes_of_somebody_else_may_stay_and_stay_theirs() {
        let root = tempfile::tempdir().unwrap();
        fs::write(root.path().join("plan"), "same").unwrap();
        write_all(root.path(), &[file("plan", "same"), file("a", "1")], &[]).unwrap();
        write_all(root.path(), &[file("a", "2")], &["plan".to_owned()]).unwrap();
        assert_eq!(names(root.path()), ["a", "plan"]);
    }
}
