//! Where the bench writes: a fresh directory inside the one that was given, gone afterwards.

use super::BenchError;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};
use tempfile::TempDir;

/// Threads that remove files.
const REMOVERS: usize = 16;

/// A fresh directory, removed when dropped.
pub struct Directory {
    fresh: TempDir,
    inside: PathBuf,
}

impl Directory {
    /// A fresh directory inside `given`, or inside the system's for temporary files. A file is written in it, so that one
    /// which cannot be used is found before anything is measured.
    ///
    /// # Errors
    /// [`BenchError::Directory`].
    pub fn fresh(given: Option<&Path>) -> Result<Self, BenchError> {
        let inside = given.map_or_else(std::env::temp_dir, Path::to_path_buf);
        let usable = || {
            let fresh = tempfile::Builder::new().prefix("groundhog-bench-").tempdir_in(&inside)?;
            let probe = fresh.path().join("probe");
            std::fs::write(&probe, "groundhog")?;
            std::fs::remove_file(&probe)?;
            Ok(fresh)
        };
        match usable() {
            Ok(fresh) => Ok(Self { fresh, inside }),
            Err(source) => Err(BenchError::Directory { path: inside, source }),
        }
    }

    /// The fresh directory.
    pub fn path(&self) -> &Path {
        self.fresh.path()
    }

    /// The directory that it is in.
    pub fn inside(&self) -> &Path {
        &self.inside
    }

    /// Removes it. Several threads at once, for a file system may let each removal of a flushed file wait.
    pub fn remove(self) {
        let files = Mutex::new(files_below(self.path()).unwrap_or_default());
        std::thread::scope(|scope| {
            for _ in 0..REMOVERS {
                scope.spawn(|| {
                    let next = || files.lock().unwrap_or_else(PoisonError::into_inner).pop();
                    while let Some(file) = next() {
                        // What stays is removed, or told, with the directory.
                        let _ = std::fs::remove_file(file);
                    }
                });
            }
        });
        let path = self.path().to_owned();
        if let Err(error) = self.fresh.close() {
            eprintln!("warning: {} is left behind: {error}", path.display());
        }
    }

    /// Leaves it there, for whoever looks into what went wrong.
    pub fn keep(self) -> PathBuf {
        self.fresh.keep()
    }
}

/// Every file in the directories of `directory`.
fn files_below(directory: &Path) -> std::io::Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in std::fs::read_dir(directory)? {
        let entry = entry?;
        if entry.file_type()?.is_dir() {
            files.extend(files_below(&entry.path())?);
        } else {
            files.push(entry.path());
        }
    }
    Ok(files)
}

/// The kind of file system that holds `path`, such as `ext4`; `None` where the system does not say.
pub fn file_system(path: &Path) -> Option<String> {
    let path = path.canonicalize().ok()?;
    let mounts = std::fs::read_to_string("/proc/self/mounts").ok()?;
    kind_at(&mounts, &path)
}

/// Among lines of `device mount-point kind ...`, the kind of the deepest mount above `path`; of two at one point the later.
fn kind_at(mounts: &str, path: &Path) -> Option<String> {
    let mounts = mounts.lines().filter_map(|line| {
        let mut words = line.split(' ').skip(1);
        Some((Path::new(words.next()?), words.next()?))
    });
    let above = mounts.filter(|(point, _)| path.starts_with(point));
    above.max_by_key(|(point, _)| point.components().count()).map(|(_, kind)| kind.to_owned())
}

/// Whether nothing of that kind of file system ever reaches a disk.
pub fn in_memory(kind: &str) -> bool {
    matches!(kind, "tmpfs" | "ramfs")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deepest_and_latest_mount_above_a_path_holds_it() {
        let mounts = "a / ext4 rw 0 0\nb /tmp tmpfs rw 0 0\nc /tmp/disk xfs rw 0 0\nd /tmp btrfs rw 0 0\n";
        for (path, kind) in
            [("/home/x", "ext4"), ("/tmp/y", "btrfs"), ("/tmp/disk/z", "xfs"), ("/tmpfile", "ext4")]
        {
            assert_eq!(kind_at(mounts, Path::new(path)).as_deref(), Some(kind), "{path}");
        }
        assert_eq!(kind_at("", Path::new("/")), None);
    }

    #[test]
    fn a_fresh_directory_goes_and_one_that_cannot_be_is_named() {
        let outer = tempfile::tempdir().expect("a directory");
        let fresh = Directory::fresh(Some(outer.path())).expect("it can be written");
        assert!(fresh.path().is_dir());
        std::fs::create_dir(fresh.path().join("store")).expect("it can be written");
        std::fs::write(fresh.path().join("store/record"), "x").expect("it can be written");
        fresh.remove();
        assert_eq!(std::fs::read_dir(outer.path()).expect("it is there").count(), 0);
        let nowhere = outer.path().join("nowhere");
        let refused = Directory::fresh(Some(&nowhere)).err().expect("it is not there").to_string();
        assert!(refused.contains("nowhere"), "{refused}");
    }
}
