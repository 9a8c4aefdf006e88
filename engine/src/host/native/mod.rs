//! The real machine: tokio, real files, real clocks.
//!
//! Promise: a disk operation never runs on an asynchronous worker, begins at its first poll, and goes on though its
//! future is dropped. This is the only place of the engine that reads real time or starts a thread (the blocking
//! pool's). Unix only: elsewhere a directory cannot be flushed, and without that no name is durable.

mod disk;

use super::disk::{DiskAnswer, DiskError, DiskRequest, FileHandle};
use super::observe::EngineEvent;
use super::{Host, Machine, Unscheduled, Work};
use crate::units::{MonotonicNs, WallMs};
use disk::Files;
use futures_util::future::BoxFuture;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime};
use tokio::runtime::Handle;

/// Why there is no real machine to stand on.
#[derive(Debug, thiserror::Error)]
pub enum NativeError {
    /// The caller does not run inside a tokio runtime.
    #[error("no tokio runtime is running here")]
    NoRuntime,
    /// The base directory cannot be created or made durable.
    #[error("cannot prepare the directory {}: {source}", path.display())]
    Base {
        /// The directory, or an ancestor of it.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
}

/// One real machine, whose disk is the tree below a directory.
#[derive(Debug)]
pub struct NativeMachine {
    runtime: Handle,
    files: Arc<Files>,
    booted: Instant,
    going_down: AtomicBool,
}

impl NativeMachine {
    /// A machine on the current tokio runtime (with its timer enabled), whose disk's root is `base`. Creates `base`,
    /// and flushes it and every ancestor that this process may open, so that the root itself survives a crash.
    ///
    /// # Errors
    /// [`NativeError`].
    pub fn new(base: &Path) -> Result<Arc<Self>, NativeError> {
        let runtime = Handle::try_current().map_err(|_| NativeError::NoRuntime)?;
        disk::prepare_base(base).map_err(|(path, source)| NativeError::Base { path, source })?;
        Ok(Arc::new(Self {
            runtime,
            files: Arc::new(Files::new(base)),
            booted: Instant::now(),
            going_down: AtomicBool::new(false),
        }))
    }

    /// A machine whose owner only looks: nothing below `base` is created or changed, not even the file of a lock, so that
    /// a read-only directory can be looked into. Whoever writes needs [`Self::new`].
    ///
    /// # Errors
    /// [`NativeError::NoRuntime`].
    pub fn only_looking(base: &Path) -> Result<Arc<Self>, NativeError> {
        let runtime = Handle::try_current().map_err(|_| NativeError::NoRuntime)?;
        Ok(Arc::new(Self {
            runtime,
            files: Arc::new(Files::only_looking(base)),
            booted: Instant::now(),
            going_down: AtomicBool::new(false),
        }))
    }

    /// A host over this machine.
    #[must_use]
    pub fn host(self: &Arc<Self>) -> Host {
        Host::new(Arc::clone(self) as Arc<dyn Machine>)
    }

    /// From now on nothing new is started. What runs already goes on.
    pub fn shutdown(&self) {
        self.going_down.store(true, Ordering::SeqCst);
    }
}

impl Machine for NativeMachine {
    fn wall_now(&self) -> WallMs {
        let since_epoch = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
        WallMs(u64::try_from(since_epoch.as_millis()).unwrap_or(u64::MAX))
    }

    fn monotonic_now(&self) -> MonotonicNs {
        MonotonicNs(u64::try_from(self.booted.elapsed().as_nanos()).unwrap_or(u64::MAX))
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let _inside = self.runtime.enter();
        Box::pin(tokio::time::sleep(duration))
    }

    fn spawn(&self, _name: &'static str, task: BoxFuture<'static, ()>) -> Result<(), Unscheduled> {
        if self.going_down.load(Ordering::SeqCst) {
            return Err(Unscheduled);
        }
        // Detached: a runtime that has shut down drops the task, and with it whatever waits for the task.
        drop(self.runtime.spawn(task));
        Ok(())
    }

    fn disk(&self, request: DiskRequest) -> BoxFuture<'static, Result<DiskAnswer, DiskError>> {
        let (runtime, files) = (self.runtime.clone(), Arc::clone(&self.files));
        Box::pin(async move {
            match runtime.spawn_blocking(move || files.perform(request)).await {
                Ok(answer) => answer,
                Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
                // The runtime is gone, and with it this life: its operations have no answer.
                Err(_) => std::future::pending().await,
            }
        })
    }

    fn close(&self, file: FileHandle) {
        self.files.close(file);
    }

    fn charge(&self, _work: Work) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }

    fn observe(&self, _event: EngineEvent<'_>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::host::disk::{DiskErrorKind, DiskPath, EntryKind};
    use bytes::Bytes;

    fn on_a_machine<T>(test: impl AsyncFnOnce(Host, &Path, &NativeMachine) -> T) -> T {
        let directory = tempfile::tempdir().expect("a temporary directory");
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().expect("a runtime");
        runtime.block_on(async {
            let machine = NativeMachine::new(directory.path()).expect("a machine");
            test(machine.host(), directory.path(), &machine).await
        })
    }

    #[test]
    fn a_file_is_written_flushed_renamed_and_read() {
        on_a_machine(async |host, base, _| {
            let store = DiskPath::new("store");
            let (temporary, name) = (store.join("a.tmp"), store.join("a"));
            host.create_directory(&store).await.expect("created");
            let again = host.create_directory(&store).await.expect_err("it is there");
            assert_eq!(again.kind, DiskErrorKind::AlreadyExists);
            let file = host.create(&temporary).await.expect("created");
            host.write(file, 0, Bytes::from_static(b"hello there")).await.expect("written");
            host.write(file, 6, Bytes::from_static(b"world")).await.expect("written");
            host.flush(file).await.expect("flushed");
            assert_eq!(host.length(file).await.expect("length"), 11);
            host.close(file);
            assert_eq!(host.flush(file).await.expect_err("closed").kind, DiskErrorKind::BadHandle);
            host.rename(&temporary, &name).await.expect("renamed");
            host.flush_directory(&store).await.expect("flushed");
            let file = host.open(&name).await.expect("opened");
            assert_eq!(host.read(file).await.expect("read"), Bytes::from_static(b"hello world"));
            assert_eq!(host.read(file).await.expect("read again").len(), 11);
            assert_eq!(std::fs::read(base.join("store/a")).expect("on the disk"), b"hello world");
            host.remove(&name).await.expect("removed");
            assert_eq!(host.open(&name).await.expect_err("gone").kind, DiskErrorKind::NotFound);
            assert_eq!(host.remove(&name).await.expect_err("gone").kind, DiskErrorKind::NotFound);
        });
    }

    #[test]
    fn a_listing_is_ordered_and_knows_kinds() {
        on_a_machine(async |host, base, _| {
            std::fs::write(base.join("b"), b"12").expect("a file");
            std::fs::create_dir(base.join("a")).expect("a directory");
            std::os::unix::fs::symlink("nowhere", base.join("c")).expect("a link");
            let lock = host.lock_directory(&DiskPath::root()).await.expect("locked");
            let entries = host.list(&DiskPath::root()).await.expect("listed");
            let found: Vec<_> =
                entries.iter().map(|entry| (entry.name.as_str(), entry.kind, entry.length)).collect();
            assert_eq!(
                found,
                [
                    ("a", EntryKind::Directory, None),
                    ("b", EntryKind::File, Some(2)),
                    ("c", EntryKind::Other, None)
                ]
            );
            let missing = host.list(&DiskPath::new("x")).await.expect_err("not there");
            assert_eq!((missing.kind, missing.operation), (DiskErrorKind::NotFound, "list"));
            host.close(lock);
        });
    }

    #[test]
    fn a_directory_has_one_owner() {
        on_a_machine(async |host, base, _| {
            let other = NativeMachine::new(base).expect("a machine").host();
            let lock = host.lock_directory(&DiskPath::root()).await.expect("locked");
            let refused = other.lock_directory(&DiskPath::root()).await.expect_err("owned");
            assert_eq!(refused.kind, DiskErrorKind::Locked);
            host.close(lock);
            other.lock_directory(&DiskPath::root()).await.expect("free again");
        });
    }

    #[test]
    fn who_only_looks_makes_no_lock_file_and_still_meets_an_owner() {
        on_a_machine(async |host, base, _| {
            let looking = NativeMachine::only_looking(base).expect("a machine").host();
            let seen = looking.lock_directory(&DiskPath::root()).await.expect("nobody holds it");
            looking.close(seen);
            assert_eq!(std::fs::read_dir(base).expect("it is there").count(), 0);
            let lock = host.lock_directory(&DiskPath::root()).await.expect("locked");
            let refused = looking.lock_directory(&DiskPath::root()).await.expect_err("owned");
            assert_eq!(refused.kind, DiskErrorKind::Locked);
            host.close(lock);
            looking.lock_directory(&DiskPath::root()).await.expect("free again");
        });
    }

    #[test]
    fn an_empty_directory_is_removed_with_its_lock() {
        on_a_machine(async |host, base, _| {
            let store = DiskPath::new("store");
            let kind = async |path: &DiskPath| host.remove_directory(path).await.map_err(|error| error.kind);
            assert_eq!(kind(&store).await, Err(DiskErrorKind::NotFound));
            host.create_directory(&store).await.expect("created");
            let old = host.lock_directory(&store).await.expect("locked");
            host.create(&store.join("a")).await.expect("created");
            assert_eq!(kind(&store).await, Err(DiskErrorKind::WrongKind));
            assert_eq!(kind(&store.join("a")).await, Err(DiskErrorKind::WrongKind));
            assert_eq!(kind(&DiskPath::root()).await, Err(DiskErrorKind::WrongKind));
            host.remove(&store.join("a")).await.expect("removed");
            kind(&store).await.expect("it is empty");
            assert!(!base.join("store").exists());
            host.create_directory(&store).await.expect("created anew");
            host.lock_directory(&store).await.expect("nobody holds the new one");
            host.close(old);
        });
    }

    #[test]
    fn a_directory_that_another_process_holds_is_not_removed() {
        on_a_machine(async |host, base, _| {
            let other = NativeMachine::new(base).expect("a machine").host();
            let store = DiskPath::new("store");
            host.create_directory(&store).await.expect("created");
            let lock = other.lock_directory(&store).await.expect("locked");
            let refused = host.remove_directory(&store).await.expect_err("owned");
            assert_eq!(refused.kind, DiskErrorKind::Locked);
            let refused = host.lock_directory(&store).await.expect_err("still owned");
            assert_eq!(refused.kind, DiskErrorKind::Locked);
            other.close(lock);
            host.remove_directory(&store).await.expect("free");
        });
    }

    #[test]
    fn an_operation_begun_goes_on_though_its_future_is_dropped() {
        on_a_machine(async |host, base, _| {
            let path = DiskPath::new("begun");
            {
                let mut create = std::pin::pin!(host.create(&path));
                assert!(futures_util::poll!(&mut create).is_pending());
            }
            let begun = Instant::now();
            while !base.join("begun").exists() {
                assert!(begun.elapsed() < Duration::from_secs(10), "the operation was lost");
                host.sleep(Duration::from_millis(1)).await;
            }
        });
    }

    #[test]
    fn a_machine_that_goes_down_starts_nothing() {
        on_a_machine(async |host, _, machine| {
            let (sender, receiver) = tokio::sync::oneshot::channel();
            host.spawn("before", async { sender.send(()).expect("the test waits") }).expect("started");
            receiver.await.expect("it ran");
            machine.shutdown();
            assert_eq!(host.spawn("after", async {}), Err(Unscheduled));
        });
        assert!(matches!(NativeMachine::new(Path::new("/tmp")), Err(NativeError::NoRuntime)));
    }

    #[test]
    fn clocks_run_forward() {
        on_a_machine(async |host, _, _| {
            let (wall, monotonic) = (host.wall_now(), host.monotonic_now());
            host.sleep(Duration::from_millis(5)).await;
            assert!(host.monotonic_now().since(monotonic) >= Duration::from_millis(5));
            assert!(wall.0 > 1_700_000_000_000, "the wall clock counts from 1970");
        });
    }
}
