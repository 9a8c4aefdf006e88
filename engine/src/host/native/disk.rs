//! Requests of the disk, answered by the operating system. Every function here blocks.

use super::super::disk::{DirectoryEntry, DiskAnswer, DiskError, DiskErrorKind, DiskPath, DiskRequest};
use super::super::disk::{EntryKind, FileHandle};
use bytes::Bytes;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::fs::{self, File, TryLockError};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom};
use std::os::unix::fs::{FileExt, MetadataExt};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// The file that carries a directory's lock; no listing shows it.
const LOCK_FILE: &str = ".lock";

/// The real disk below one directory, and its open files.
#[derive(Debug)]
pub(super) struct Files {
    base: PathBuf,
    open: Mutex<Handles>,
    /// Whether nothing may be created, not even a lock's file.
    only_looks: bool,
}

#[derive(Debug, Default)]
struct Handles {
    last: u64,
    files: IndexMap<u64, OpenFile, FxBuildHasher>,
}

#[derive(Clone, Debug)]
struct OpenFile {
    file: Arc<File>,
    path: DiskPath,
}

/// Creates `base`, and flushes it and its ancestors, deepest first, up to the first that this process may not open.
///
/// A base that is there is the operator's and is never created anew, not even where an earlier call created it and could
/// not flush it: a name that such a failure left unwritten would then be believed.
pub(super) fn prepare_base(base: &Path) -> Result<(), (PathBuf, io::Error)> {
    fs::create_dir_all(base).map_err(|error| (base.to_owned(), error))?;
    let base = base.canonicalize().map_err(|error| (base.to_owned(), error))?;
    for directory in base.ancestors() {
        match File::open(directory).and_then(|directory| directory.sync_all()) {
            Ok(()) => {}
            Err(error) if error.kind() == ErrorKind::PermissionDenied => return Ok(()),
            Err(error) => return Err((directory.to_owned(), error)),
        }
    }
    Ok(())
}

impl Files {
    pub(super) fn new(base: &Path) -> Self {
        Self { base: base.to_owned(), open: Mutex::default(), only_looks: false }
    }

    /// Files of whoever only looks: a lock is asked for, and its file never made.
    pub(super) fn only_looking(base: &Path) -> Self {
        Self { only_looks: true, ..Self::new(base) }
    }

    pub(super) fn close(&self, handle: FileHandle) {
        let closed = self.handles().files.swap_remove(&handle.0);
        drop(closed);
    }

    pub(super) fn perform(&self, request: DiskRequest) -> Result<DiskAnswer, DiskError> {
        match request {
            DiskRequest::Create { path } => {
                let created = File::create(self.real(&path));
                self.opened("create", path, created)
            }
            DiskRequest::Open { path } => {
                let opened = open_file(&self.real(&path));
                self.opened("open", path, opened)
            }
            DiskRequest::Write { file, offset, bytes } => {
                self.with("write", file, |file| file.write_all_at(&bytes, offset).map(|()| DiskAnswer::Done))
            }
            DiskRequest::Flush { file } => {
                self.with("flush", file, |file| file.sync_all().map(|()| DiskAnswer::Done))
            }
            DiskRequest::Read { file } => self.with("read", file, read),
            DiskRequest::Length { file } => {
                self.with("length", file, |file| Ok(DiskAnswer::Length(file.metadata()?.len())))
            }
            DiskRequest::Rename { from, to } => {
                done("rename", &from, fs::rename(self.real(&from), self.real(&to)))
            }
            DiskRequest::Remove { path } => done("remove", &path, fs::remove_file(self.real(&path))),
            DiskRequest::CreateDirectory { path } => {
                done("create directory", &path, fs::create_dir(self.real(&path)))
            }
            DiskRequest::List { path } => list(&self.real(&path))
                .map(DiskAnswer::Entries)
                .map_err(|error| named("list", &path, kind(&error))),
            DiskRequest::FlushDirectory { path } => {
                let flushed = File::open(self.real(&path)).and_then(|directory| directory.sync_all());
                done("flush directory", &path, flushed)
            }
            DiskRequest::LockDirectory { path } => self.lock(path),
            DiskRequest::RemoveDirectory { path } => self.remove_directory(&path),
        }
    }

    /// The file that carries the lock goes first, or the directory would not be empty.
    fn remove_directory(&self, path: &DiskPath) -> Result<DiskAnswer, DiskError> {
        const OPERATION: &str = "remove directory";
        let failed = |error: io::Error| named(OPERATION, path, kind(&error));
        let real = self.real(path);
        let is_directory = fs::symlink_metadata(&real).map_err(failed)?.is_dir();
        if path.as_str().is_empty() || !is_directory || !list(&real).map_err(failed)?.is_empty() {
            return Err(named(OPERATION, path, DiskErrorKind::WrongKind));
        }
        let lock_file = real.join(LOCK_FILE);
        if self.is_locked_by_another(path, &lock_file).map_err(failed)? {
            return Err(named(OPERATION, path, DiskErrorKind::Locked));
        }
        match fs::remove_file(&lock_file) {
            Err(error) if error.kind() != ErrorKind::NotFound => return Err(failed(error)),
            Ok(()) | Err(_) => {}
        }
        done(OPERATION, path, fs::remove_dir(&real))
    }

    fn is_locked_by_another(&self, path: &DiskPath, lock_file: &Path) -> io::Result<bool> {
        let is_ours = |open: &OpenFile| open.path == *path && is_still_at(&open.file, lock_file);
        if self.handles().files.values().any(is_ours) {
            return Ok(false);
        }
        match File::open(lock_file) {
            Ok(file) => Ok(matches!(file.try_lock(), Err(TryLockError::WouldBlock))),
            Err(error) if error.kind() == ErrorKind::NotFound => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn lock(&self, path: DiskPath) -> Result<DiskAnswer, DiskError> {
        const OPERATION: &str = "lock directory";
        let lock_file = self.real(&path).join(LOCK_FILE);
        let opened = if self.only_looks {
            match File::open(&lock_file) {
                // Whoever holds the directory has made that file: where there is none, nobody does.
                Err(error) if error.kind() == ErrorKind::NotFound => {
                    let directory = File::open(self.real(&path));
                    return self.opened(OPERATION, path, directory);
                }
                opened => opened,
            }
        } else {
            File::options().create(true).truncate(false).write(true).open(&lock_file)
        };
        let file = opened.map_err(|error| named(OPERATION, &path, kind(&error)))?;
        match file.try_lock() {
            // Its owner may have removed the directory since the file was opened: the lock would keep nobody out.
            Ok(()) if !is_still_at(&file, &lock_file) => Err(named(OPERATION, &path, DiskErrorKind::Locked)),
            Ok(()) => self.opened(OPERATION, path, Ok(file)),
            Err(TryLockError::WouldBlock) => Err(named(OPERATION, &path, DiskErrorKind::Locked)),
            Err(TryLockError::Error(error)) => Err(named(OPERATION, &path, kind(&error))),
        }
    }

    fn real(&self, path: &DiskPath) -> PathBuf {
        if path.as_str().is_empty() { self.base.clone() } else { self.base.join(path.as_str()) }
    }

    fn handles(&self) -> MutexGuard<'_, Handles> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn opened(
        &self,
        operation: &'static str,
        path: DiskPath,
        file: io::Result<File>,
    ) -> Result<DiskAnswer, DiskError> {
        let file = Arc::new(file.map_err(|error| named(operation, &path, kind(&error)))?);
        let mut handles = self.handles();
        handles.last += 1;
        let handle = handles.last;
        handles.files.insert(handle, OpenFile { file, path });
        Ok(DiskAnswer::File(FileHandle(handle)))
    }

    fn with(
        &self,
        operation: &'static str,
        handle: FileHandle,
        perform: impl FnOnce(&File) -> io::Result<DiskAnswer>,
    ) -> Result<DiskAnswer, DiskError> {
        let open = self.handles().files.get(&handle.0).cloned();
        let Some(OpenFile { file, path }) = open else {
            return Err(named(operation, &DiskPath::root(), DiskErrorKind::BadHandle));
        };
        perform(&file).map_err(|error| named(operation, &path, kind(&error)))
    }
}

/// Opens a file. A pipe or a device is refused: its open, or its read, might never end.
fn open_file(path: &Path) -> io::Result<File> {
    let kind = fs::metadata(path)?.file_type();
    if kind.is_file() || kind.is_dir() { File::open(path) } else { Err(ErrorKind::IsADirectory.into()) }
}

fn is_still_at(file: &File, path: &Path) -> bool {
    let identity = |metadata: io::Result<fs::Metadata>| metadata.ok().map(|it| (it.dev(), it.ino()));
    let opened = identity(file.metadata());
    opened.is_some() && opened == identity(fs::metadata(path))
}

fn read(mut file: &File) -> io::Result<DiskAnswer> {
    file.seek(SeekFrom::Start(0))?;
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(DiskAnswer::Bytes(Bytes::from(bytes)))
}

fn list(directory: &Path) -> io::Result<Vec<DirectoryEntry>> {
    let mut entries = Vec::new();
    for entry in fs::read_dir(directory)? {
        let entry = entry?;
        let name = entry.file_name().to_string_lossy().into_owned();
        if name == LOCK_FILE {
            continue;
        }
        let kind = match entry.file_type()? {
            kind if kind.is_file() => EntryKind::File,
            kind if kind.is_dir() => EntryKind::Directory,
            _ => EntryKind::Other,
        };
        let length = (kind == EntryKind::File).then(|| entry.metadata().ok()).flatten();
        entries.push(DirectoryEntry { name, kind, length: length.map(|metadata| metadata.len()) });
    }
    entries.sort_unstable_by(|one, other| one.name.cmp(&other.name));
    Ok(entries)
}

fn done(operation: &'static str, path: &DiskPath, result: io::Result<()>) -> Result<DiskAnswer, DiskError> {
    result.map(|()| DiskAnswer::Done).map_err(|error| named(operation, path, kind(&error)))
}

fn named(operation: &'static str, path: &DiskPath, kind: DiskErrorKind) -> DiskError {
    DiskError { kind, operation, path: path.clone() }
}

fn kind(error: &io::Error) -> DiskErrorKind {
    match error.kind() {
        ErrorKind::NotFound => DiskErrorKind::NotFound,
        ErrorKind::AlreadyExists => DiskErrorKind::AlreadyExists,
        ErrorKind::StorageFull | ErrorKind::QuotaExceeded | ErrorKind::FileTooLarge => DiskErrorKind::NoSpace,
        ErrorKind::ReadOnlyFilesystem => DiskErrorKind::ReadOnly,
        ErrorKind::PermissionDenied => DiskErrorKind::PermissionDenied,
        ErrorKind::IsADirectory | ErrorKind::NotADirectory | ErrorKind::DirectoryNotEmpty => {
            DiskErrorKind::WrongKind
        }
        _ => DiskErrorKind::Io,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lock_file_that_was_removed_or_made_anew_since_it_was_opened_is_told_apart() {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let path = directory.path().join(LOCK_FILE);
        let old = File::create(&path).expect("created");
        assert!(is_still_at(&old, &path));
        fs::remove_file(&path).expect("removed");
        assert!(!is_still_at(&old, &path));
        let new = File::create(&path).expect("created anew");
        assert!(!is_still_at(&old, &path));
        assert!(is_still_at(&new, &path));
    }
}
