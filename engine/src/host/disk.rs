//! The disk as an engine sees it: requests, answers, errors.
//!
//! Promise: an operation is named by what POSIX would call it, and by nothing else, so that the real and the simulated
//! disk answer the same requests.

use bytes::Bytes;
use std::fmt;
use std::sync::Arc;

/// A path below a node's disk: `/`-separated names, without a leading or trailing slash; the empty path is the root.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DiskPath(Arc<str>);

impl DiskPath {
    /// The root of the node's disk.
    #[must_use]
    pub fn root() -> Self {
        Self(Arc::from(""))
    }

    /// A path from its text.
    ///
    /// # Panics
    /// When a name in it is empty, `.` or `..`: paths come from code, never from outside.
    #[must_use]
    pub fn new(text: &str) -> Self {
        assert!(
            text.is_empty() || text.split('/').all(|name| !matches!(name, "" | "." | "..")),
            "not a disk path: {text:?}"
        );
        Self(Arc::from(text))
    }

    /// This path and one name below it.
    #[must_use]
    pub fn join(&self, name: &str) -> Self {
        assert!(
            !name.is_empty() && !name.contains('/') && !matches!(name, "." | ".."),
            "not a name: {name:?}"
        );
        if self.0.is_empty() {
            return Self(Arc::from(name));
        }
        // Paths are made for every record of every batch: no formatting.
        let mut text = String::with_capacity(self.0.len() + 1 + name.len());
        text.push_str(&self.0);
        text.push('/');
        text.push_str(name);
        Self(Arc::from(text))
    }

    /// The directory that holds this name; `None` for the root.
    #[must_use]
    pub fn parent(&self) -> Option<Self> {
        if self.0.is_empty() {
            return None;
        }
        Some(self.0.rfind('/').map_or_else(Self::root, |at| Self(Arc::from(&self.0[..at]))))
    }

    /// The last name; empty for the root.
    #[must_use]
    pub fn name(&self) -> &str {
        self.0.rfind('/').map_or(&*self.0, |at| &self.0[at + 1..])
    }

    /// The whole path as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

impl fmt::Debug for DiskPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?}", &*self.0)
    }
}

impl fmt::Display for DiskPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(if self.0.is_empty() { "." } else { &self.0 })
    }
}

/// An open file of one life of one node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct FileHandle(pub u64);

/// What a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryKind {
    /// A regular file.
    File,
    /// A directory.
    Directory,
    /// Anything else: a link, a device, a socket.
    Other,
}

/// One name in a directory.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DirectoryEntry {
    /// The name, without its directory.
    pub name: String,
    /// What it stands for.
    pub kind: EntryKind,
    /// Length in bytes of a regular file; `None` where its metadata cannot be read, or for another kind.
    pub length: Option<u64>,
}

/// One disk operation.
#[derive(Clone, Debug)]
#[expect(missing_docs, reason = "each is documented at the method of `Host` that issues it")]
pub enum DiskRequest {
    Create { path: DiskPath },
    Open { path: DiskPath },
    Write { file: FileHandle, offset: u64, bytes: Bytes },
    Flush { file: FileHandle },
    Read { file: FileHandle },
    Length { file: FileHandle },
    Rename { from: DiskPath, to: DiskPath },
    Remove { path: DiskPath },
    CreateDirectory { path: DiskPath },
    List { path: DiskPath },
    FlushDirectory { path: DiskPath },
    LockDirectory { path: DiskPath },
    RemoveDirectory { path: DiskPath },
}

/// What a successful operation gives.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum DiskAnswer {
    /// Nothing but success.
    Done,
    /// An open file, or the lock of a directory.
    File(FileHandle),
    /// The whole content of a file.
    Bytes(Bytes),
    /// A length in bytes.
    Length(u64),
    /// The names in a directory, in their order.
    Entries(Vec<DirectoryEntry>),
}

/// Why an operation failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum DiskErrorKind {
    /// No such name.
    NotFound,
    /// The name is taken.
    AlreadyExists,
    /// No space left.
    NoSpace,
    /// The device failed.
    Io,
    /// The file system is mounted read-only, or has made itself so after an error.
    ReadOnly,
    /// Not allowed.
    PermissionDenied,
    /// A directory stands where a file was expected, or the other way round, or it is not empty.
    WrongKind,
    /// Another process holds the directory.
    Locked,
    /// The handle is not open in this life.
    BadHandle,
}

impl fmt::Display for DiskErrorKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            DiskErrorKind::NotFound => "it is not there",
            DiskErrorKind::AlreadyExists => "the name is taken",
            DiskErrorKind::NoSpace => "no space is left",
            DiskErrorKind::Io => "the device failed",
            DiskErrorKind::ReadOnly => "the file system is read-only",
            DiskErrorKind::PermissionDenied => "it is not allowed",
            DiskErrorKind::WrongKind => {
                "a directory in the place of a file, or the other way round, or one that is not empty"
            }
            DiskErrorKind::Locked => "another process holds the directory",
            DiskErrorKind::BadHandle => "the file is not open",
        })
    }
}

/// A failed disk operation: which, where, why.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("cannot {operation} {path}: {kind}")]
pub struct DiskError {
    /// Why it failed.
    pub kind: DiskErrorKind,
    /// The operation as a verb: `create`, `write`, `flush`, ...
    pub operation: &'static str,
    /// What it was done to; for an operation on a handle, the path it was opened under.
    pub path: DiskPath,
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_join_and_part() {
        let store = DiskPath::root().join("data").join("transaction-replay");
        assert_eq!(store.as_str(), "data/transaction-replay");
        assert_eq!(store.name(), "transaction-replay");
        assert_eq!(store.parent(), Some(DiskPath::new("data")));
        assert_eq!(DiskPath::new("data").parent(), Some(DiskPath::root()));
        assert_eq!(DiskPath::root().parent(), None);
    }
}
