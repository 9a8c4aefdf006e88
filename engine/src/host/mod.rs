//! The machine that an engine stands on: clocks, sleep, spawn, disk, processor time, observation.
//!
//! Promise: everything an engine learns from outside, and everything it does to the outside, passes through a
//! [`Host`]. Engines draw no randomness: ids and keys are arguments.

pub mod disk;
pub mod native;
pub mod observe;
#[cfg(test)]
pub(crate) mod test_machine;

use crate::units::{MonotonicNs, WallMs};
use disk::{DirectoryEntry, DiskAnswer, DiskError, DiskPath, DiskRequest, FileHandle};
use futures_util::future::BoxFuture;
use observe::EngineEvent;
use std::sync::Arc;
use std::time::Duration;

/// The machine is going down: nothing was started (seed 000, error `TransactionReplayUnscheduled`).
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the machine is going down: nothing was started")]
pub struct Unscheduled;

/// Processor work that a simulated node pays for in time and a real machine has already paid for.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Work {
    /// Signatures made.
    pub signatures: u32,
    /// Signatures verified.
    pub verifications: u32,
    /// Bytes hashed with SHA-256.
    pub hashed_bytes: u32,
    /// Bytes encoded or decoded.
    pub coded_bytes: u32,
}

/// What a machine does for its engines. Implemented by the real machine and by the simulated one.
///
/// A disk operation begins at the first poll of its future and then happens whether or not the future is dropped; only
/// the death of the life ends it.
pub trait Machine: Send + Sync + 'static {
    /// The wall clock: what this node believes. May be wrong, may step.
    fn wall_now(&self) -> WallMs;
    /// Time since this boot, by the node's own oscillator.
    fn monotonic_now(&self) -> MonotonicNs;
    /// Completes once `duration` of this node's monotonic time has passed.
    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()>;
    /// Runs `task` detached from the caller.
    ///
    /// # Errors
    /// [`Unscheduled`] when the machine is going down; the task is then dropped unpolled.
    fn spawn(&self, name: &'static str, task: BoxFuture<'static, ()>) -> Result<(), Unscheduled>;
    /// One disk operation.
    fn disk(&self, request: DiskRequest) -> BoxFuture<'static, Result<DiskAnswer, DiskError>>;
    /// Lets go of a handle. Has no durable effect and cannot fail.
    fn close(&self, file: FileHandle);
    /// Spends processor time; free on a real machine.
    fn charge(&self, work: Work) -> BoxFuture<'static, ()>;
    /// Tells an onlooker what happened. Write-only: nothing comes back, and a real machine does nothing.
    fn observe(&self, event: EngineEvent<'_>);
}

/// A node's machine, as its engines hold it: concrete and cheap to clone, so that no engine type carries a parameter.
#[derive(Clone)]
pub struct Host(Arc<dyn Machine>);

impl std::fmt::Debug for Host {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Host")
    }
}

impl Host {
    /// A host over one machine.
    pub fn new(machine: Arc<dyn Machine>) -> Self {
        Self(machine)
    }

    /// See [`Machine::wall_now`].
    #[must_use]
    pub fn wall_now(&self) -> WallMs {
        self.0.wall_now()
    }

    /// See [`Machine::monotonic_now`].
    #[must_use]
    pub fn monotonic_now(&self) -> MonotonicNs {
        self.0.monotonic_now()
    }

    /// See [`Machine::sleep`].
    pub fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        self.0.sleep(duration)
    }

    /// See [`Machine::spawn`].
    ///
    /// # Errors
    /// [`Unscheduled`] when the machine is going down.
    pub fn spawn(
        &self,
        name: &'static str,
        task: impl Future<Output = ()> + Send + 'static,
    ) -> Result<(), Unscheduled> {
        self.0.spawn(name, Box::pin(task))
    }

    /// See [`Machine::charge`].
    pub fn charge(&self, work: Work) -> BoxFuture<'static, ()> {
        self.0.charge(work)
    }

    /// See [`Machine::observe`].
    #[inline]
    pub fn observe(&self, event: EngineEvent<'_>) {
        self.0.observe(event);
    }

    /// Lets go of a handle.
    pub fn close(&self, file: FileHandle) {
        self.0.close(file);
    }

    /// Creates an empty file, or truncates the one there, and opens it for writing.
    ///
    /// # Errors
    /// [`DiskError`] of the operation.
    pub async fn create(&self, path: &DiskPath) -> Result<FileHandle, DiskError> {
        match self.0.disk(DiskRequest::Create { path: path.clone() }).await? {
            DiskAnswer::File(file) => Ok(file),
            other => unreachable!("create was answered with {other:?}"),
        }
    }

    /// Opens an existing file for reading.
    ///
    /// # Errors
    /// [`DiskError`] of the operation; its kind is `NotFound` where no file has that name.
    pub async fn open(&self, path: &DiskPath) -> Result<FileHandle, DiskError> {
        match self.0.disk(DiskRequest::Open { path: path.clone() }).await? {
            DiskAnswer::File(file) => Ok(file),
            other => unreachable!("open was answered with {other:?}"),
        }
    }

    /// Writes `bytes` at `offset`, all of them or an error.
    ///
    /// # Errors
    /// [`DiskError`] of the operation; a prefix may have been written.
    pub async fn write(&self, file: FileHandle, offset: u64, bytes: bytes::Bytes) -> Result<(), DiskError> {
        self.done(DiskRequest::Write { file, offset, bytes }).await
    }

    /// Makes the file's bytes and size durable; not its name.
    ///
    /// # Errors
    /// [`DiskError`] of the operation. After one, the same bytes must never be flushed again (decision 13).
    pub async fn flush(&self, file: FileHandle) -> Result<(), DiskError> {
        self.done(DiskRequest::Flush { file }).await
    }

    /// Reads the whole file.
    ///
    /// # Errors
    /// [`DiskError`] of the operation.
    pub async fn read(&self, file: FileHandle) -> Result<bytes::Bytes, DiskError> {
        match self.0.disk(DiskRequest::Read { file }).await? {
            DiskAnswer::Bytes(bytes) => Ok(bytes),
            other => unreachable!("read was answered with {other:?}"),
        }
    }

    /// The file's length in bytes.
    ///
    /// # Errors
    /// [`DiskError`] of the operation.
    pub async fn length(&self, file: FileHandle) -> Result<u64, DiskError> {
        match self.0.disk(DiskRequest::Length { file }).await? {
            DiskAnswer::Length(length) => Ok(length),
            other => unreachable!("length was answered with {other:?}"),
        }
    }

    /// Renames a file, replacing one of the new name.
    ///
    /// # Errors
    /// [`DiskError`] of the operation.
    pub async fn rename(&self, from: &DiskPath, to: &DiskPath) -> Result<(), DiskError> {
        self.done(DiskRequest::Rename { from: from.clone(), to: to.clone() }).await
    }

    /// Removes a file.
    ///
    /// # Errors
    /// [`DiskError`] of the operation.
    pub async fn remove(&self, path: &DiskPath) -> Result<(), DiskError> {
        self.done(DiskRequest::Remove { path: path.clone() }).await
    }

    /// Creates a directory whose parent exists. One that is there already is an error of kind `AlreadyExists`.
    ///
    /// # Errors
    /// [`DiskError`] of the operation.
    pub async fn create_directory(&self, path: &DiskPath) -> Result<(), DiskError> {
        self.done(DiskRequest::CreateDirectory { path: path.clone() }).await
    }

    /// Removes an empty directory, whose lock ends with it. The root is never removed.
    ///
    /// # Errors
    /// [`DiskError`] of the operation; its kind is `WrongKind` for a directory that is not empty, for what is not a
    /// directory, and for the root; `Locked` where another process holds it.
    pub async fn remove_directory(&self, path: &DiskPath) -> Result<(), DiskError> {
        self.done(DiskRequest::RemoveDirectory { path: path.clone() }).await
    }

    /// The names in a directory with their kinds and lengths, in the order of their names.
    ///
    /// # Errors
    /// [`DiskError`] of the operation; a listing that failed part way is an error, never a shorter list.
    pub async fn list(&self, path: &DiskPath) -> Result<Vec<DirectoryEntry>, DiskError> {
        match self.0.disk(DiskRequest::List { path: path.clone() }).await? {
            DiskAnswer::Entries(entries) => Ok(entries),
            other => unreachable!("list was answered with {other:?}"),
        }
    }

    /// Makes the directory's name changes so far durable.
    ///
    /// # Errors
    /// [`DiskError`] of the operation. After one, every touched name is unknown (decision 13).
    pub async fn flush_directory(&self, path: &DiskPath) -> Result<(), DiskError> {
        self.done(DiskRequest::FlushDirectory { path: path.clone() }).await
    }

    /// Takes the directory for this process alone, until the handle is closed or the process ends.
    ///
    /// # Errors
    /// [`DiskError`] of the operation; its kind is `Locked` where another process holds it.
    pub async fn lock_directory(&self, path: &DiskPath) -> Result<FileHandle, DiskError> {
        match self.0.disk(DiskRequest::LockDirectory { path: path.clone() }).await? {
            DiskAnswer::File(file) => Ok(file),
            other => unreachable!("lock was answered with {other:?}"),
        }
    }

    async fn done(&self, request: DiskRequest) -> Result<(), DiskError> {
        match self.0.disk(request).await? {
            DiskAnswer::Done => Ok(()),
            other => unreachable!("the operation was answered with {other:?}"),
        }
    }
}
