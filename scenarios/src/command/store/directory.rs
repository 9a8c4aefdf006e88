//! A store's directory on this machine, and why nothing can be done with it.

use groundhog_engine::host::Host;
use groundhog_engine::host::disk::{DiskError, DiskErrorKind, DiskPath};
use groundhog_engine::host::native::{NativeError, NativeMachine};
use groundhog_engine::host::observe::RecordName;
use groundhog_engine::store::OpenError;
use groundhog_engine::store::look::{Cleared, clear};
use groundhog_engine::store::name::FileName;
use groundhog_engine::streams::inspect::{Inspection, inspect};
use std::path::{Path, PathBuf};
use tokio::runtime::Runtime;

/// Why a store cannot be looked into, or a stream not be cleared.
#[derive(Debug, thiserror::Error)]
pub enum StoreCallError {
    /// There is no such directory.
    #[error("{} is no directory; name the directory `transaction-replay` of a node's data", .0.display())]
    NoDirectory(PathBuf),
    /// It is a directory, and no store.
    #[error("{} holds no store; {next}", path.display())]
    NoStore {
        /// The directory.
        path: PathBuf,
        /// What to do next.
        next: String,
    },
    /// It cannot even be listed.
    #[error("{} cannot be looked into: {source}; call this as somebody who may read it", path.display())]
    Unreadable {
        /// The directory.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It can be read and not be changed.
    #[error("{} cannot be changed: {why}; call this as somebody who may write there", path.display())]
    Unwritable {
        /// The directory.
        path: PathBuf,
        /// Why.
        why: DiskErrorKind,
    },
    /// A node works on it.
    #[error("{} is held by a node that runs; stop it first", .0.display())]
    Held(PathBuf),
    /// It could not be read or changed.
    #[error("{}: {source}", directory.display())]
    Open {
        /// The directory.
        directory: PathBuf,
        /// Why.
        source: OpenError,
    },
    /// There is no machine to stand on.
    #[error(transparent)]
    Machine(#[from] NativeError),
    /// No runtime could be started.
    #[error("no runtime: {0}")]
    Runtime(std::io::Error),
    /// What is to be cleared is not named as it must be.
    #[error("{0}")]
    Name(String),
    /// Nothing is cleared without being told twice.
    #[error("nothing was changed; say --yes to clear it")]
    NotConfirmed,
}

/// A node's store of streams, in the directory of its data.
const STORE: &str = "transaction-replay";

/// Whoever opens a store leaves this in it.
const LOCK: &str = ".lock";

/// What lies in a directory, as far as it can be listed: what cannot be is told by the look that follows.
fn names(path: &Path) -> Vec<String> {
    let entries = std::fs::read_dir(path).into_iter().flatten().flatten();
    let mut names: Vec<String> =
        entries.map(|entry| entry.file_name().to_string_lossy().into_owned()).collect();
    names.sort_unstable();
    names
}

/// A store's directory.
pub struct StoreDirectory {
    path: PathBuf,
    runtime: Runtime,
    host: Host,
}

impl StoreDirectory {
    /// The directory, which must be there.
    pub fn at(path: &Path) -> Result<Self, StoreCallError> {
        if !path.is_dir() {
            return Err(StoreCallError::NoDirectory(path.to_owned()));
        }
        std::fs::read_dir(path)
            .map_err(|source| StoreCallError::Unreadable { path: path.to_owned(), source })?;
        if !names(path).iter().any(|name| name == LOCK || FileName::parse(name) != FileName::Foreign) {
            let inside = path.join(STORE);
            let next = if inside.is_dir() {
                format!("name {}", inside.display())
            } else {
                format!("name the directory `{STORE}` of a node's data")
            };
            return Err(StoreCallError::NoStore { path: path.to_owned(), next });
        }
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
        let runtime = runtime.map_err(StoreCallError::Runtime)?;
        let host = {
            let _inside = runtime.enter();
            NativeMachine::only_looking(path)?.host()
        };
        Ok(Self { path: path.to_owned(), runtime, host })
    }

    /// Everything in it.
    pub fn inspect(&self) -> Result<Inspection, StoreCallError> {
        self.run(inspect(&self.host, &DiskPath::root()))
    }

    /// Names in it that are none of the store's, in their order.
    pub fn foreign(&self) -> Vec<String> {
        let mut foreign = names(&self.path);
        foreign.retain(|name| name != LOCK && FileName::parse(name) == FileName::Foreign);
        foreign
    }

    /// Removes one record and its marker.
    pub fn clear(&self, name: RecordName) -> Result<Cleared, StoreCallError> {
        let host = {
            let _inside = self.runtime.enter();
            NativeMachine::new(&self.path)?.host()
        };
        self.run(clear(&host, &DiskPath::root(), name))
    }

    fn run<T>(&self, work: impl Future<Output = Result<T, OpenError>>) -> Result<T, StoreCallError> {
        self.runtime.block_on(work).map_err(|source| match source {
            OpenError::Locked { .. } => StoreCallError::Held(self.path.clone()),
            OpenError::Disk(DiskError {
                kind: why @ (DiskErrorKind::PermissionDenied | DiskErrorKind::ReadOnly),
                operation: "lock directory" | "remove",
                ..
            }) => StoreCallError::Unwritable { path: self.path.clone(), why },
            source => StoreCallError::Open { directory: self.path.clone(), source },
        })
    }
}
