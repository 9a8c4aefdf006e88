//! A machine for the engine's own tests: a disk in memory whose operations can be held, failed and read back.
//!
//! Promise: every operation is answered at its first poll unless a test holds or fails it, and is logged in the order
//! in which it was begun. It keeps everything; what a power failure takes is tested against the simulated disk.

use super::disk::FileHandle;
use super::disk::{DirectoryEntry, DiskAnswer, DiskError, DiskErrorKind, DiskPath, DiskRequest, EntryKind};
use super::observe::{BatchNumber, CustodyStall, Decision, EngineEvent, Step, TransitionNumber};
use super::{Host, Machine, Unscheduled, Work};
use crate::host::observe::RecordName;
use crate::streams::TableUse;
use crate::streams::key::{StreamKey, Table};
use crate::streams::quota::QuotaCharge;
use crate::streams::record::Introducer;
use crate::streams::slots::CapacityBound;
use crate::units::{MonotonicNs, WallMs};
use bytes::Bytes;
use futures_util::future::BoxFuture;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;
use tokio::sync::watch;

/// An engine's report, kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Seen {
    Released(TransitionNumber, Vec<(RecordName, BatchNumber)>),
    Closed(BatchNumber, Vec<(RecordName, Option<u32>)>, u32),
    Step(Step, BatchNumber),
    Durable(BatchNumber),
    Failed(BatchNumber, u32, [u8; 32]),
    CallerGone(TransitionNumber),
    Opened(u32, u32),
    Transition(TransitionNumber, RecordName, Decision, Option<BatchNumber>),
    Retired(TransitionNumber, RecordName, BatchNumber),
    BoundMet(TransitionNumber, Introducer, CapacityBound),
    LinkLocal(TransitionNumber, Decision),
    Quota(TransitionNumber, QuotaCharge),
    Custody(TransitionNumber, u64, &'static str, u32),
    CustodyStall(TransitionNumber, CustodyStall, u32),
    Unrestorable(RecordName, &'static str, Option<(Table, StreamKey)>),
    LoadFailed(&'static str),
    UnavailableRefused(RecordName, u64),
}

/// An operation to fail, with or without its effect.
struct Failure {
    verb: &'static str,
    on: On,
    kind: DiskErrorKind,
    after_effect: bool,
}

enum On {
    PathWith(String),
    Path(DiskPath),
}

impl Failure {
    fn strikes(&self, verb: &'static str, path: &DiskPath) -> bool {
        let path_fits = match &self.on {
            On::PathWith(part) => path.as_str().contains(part.as_str()),
            On::Path(this) => path == this,
        };
        self.verb == verb && path_fits
    }
}

#[derive(Default)]
struct Disk {
    files: BTreeMap<DiskPath, Bytes>,
    directories: BTreeSet<DiskPath>,
    locked: BTreeSet<DiskPath>,
    handles: BTreeMap<u64, DiskPath>,
    last_handle: u64,
    log: Vec<String>,
    seen: Vec<Seen>,
    /// What was told last of the use of the receiver's table, and how often it was told.
    used: (TableUse, u32),
    /// Operations to fail, each once.
    failures: Vec<Failure>,
    tasks: Vec<tokio::task::AbortHandle>,
    /// Operations that still happen before the machine stands still; `None` where it goes on.
    left: Option<u32>,
}

/// See the module.
pub(crate) struct TestMachine {
    disk: Mutex<Disk>,
    hold: watch::Sender<Option<&'static str>>,
    going_down: AtomicBool,
    wall_ms: AtomicU64,
    monotonic_ns: AtomicU64,
}

impl TestMachine {
    pub(crate) fn new() -> Arc<Self> {
        let (hold, _) = watch::channel(None);
        Arc::new(Self {
            disk: Mutex::default(),
            hold,
            going_down: AtomicBool::new(false),
            wall_ms: AtomicU64::new(0),
            monotonic_ns: AtomicU64::new(0),
        })
    }

    pub(crate) fn host(self: &Arc<Self>) -> Host {
        Host::new(Arc::clone(self) as Arc<dyn Machine>)
    }

    fn locked(&self) -> MutexGuard<'_, Disk> {
        self.disk.lock().expect("no test panics while it holds the disk")
    }

    /// The monotonic clock says this from now on.
    pub(crate) fn set_monotonic(&self, now: MonotonicNs) {
        self.monotonic_ns.store(now.0, Ordering::SeqCst);
    }

    /// The wall clock says this from now on.
    pub(crate) fn set_wall(&self, now: WallMs) {
        self.wall_ms.store(now.0, Ordering::SeqCst);
    }

    /// From now on operations of this verb begin and do not end.
    pub(crate) fn hold(&self, verb: &'static str) {
        self.hold.send_replace(Some(verb));
    }

    /// What was held ends.
    pub(crate) fn let_go(&self) {
        self.hold.send_replace(None);
    }

    /// The next operation of this verb on a path that contains `part` fails, without any effect.
    pub(crate) fn fail(&self, verb: &'static str, part: &str, kind: DiskErrorKind) {
        let on = On::PathWith(part.to_owned());
        self.locked().failures.push(Failure { verb, on, kind, after_effect: false });
    }

    /// The next operation of this verb on this very path fails, without any effect.
    pub(crate) fn fail_at(&self, verb: &'static str, path: &DiskPath, kind: DiskErrorKind) {
        let on = On::Path(path.clone());
        self.locked().failures.push(Failure { verb, on, kind, after_effect: false });
    }

    /// The same, after its effect.
    pub(crate) fn fail_after_effect(&self, verb: &'static str, part: &str, kind: DiskErrorKind) {
        let on = On::PathWith(part.to_owned());
        self.locked().failures.push(Failure { verb, on, kind, after_effect: true });
    }

    /// The next `operations` operations still happen; the last of them is never answered, and no other begins, until the
    /// process dies.
    pub(crate) fn stand_still_after(&self, operations: u32) {
        self.locked().left = Some(operations);
    }

    /// Takes one failure back that has not happened; `false` where none is left.
    pub(crate) fn take_failure(&self) -> bool {
        self.locked().failures.pop().is_some()
    }

    /// Ends every task and forgets every handle, as the death of a process does.
    pub(crate) fn crash(&self) {
        let mut disk = self.locked();
        let tasks = std::mem::take(&mut disk.tasks);
        disk.handles.clear();
        disk.locked.clear();
        disk.left = None;
        drop(disk);
        tasks.iter().for_each(tokio::task::AbortHandle::abort);
    }

    pub(crate) fn shutdown(&self) {
        self.going_down.store(true, Ordering::SeqCst);
    }

    /// The operations so far, which are then forgotten.
    pub(crate) fn take_log(&self) -> Vec<String> {
        std::mem::take(&mut self.locked().log)
    }

    /// What was told last of the use of the receiver's table, and how often it was told.
    pub(crate) fn table_use(&self) -> (TableUse, u32) {
        self.locked().used
    }

    /// The reports so far, which are then forgotten.
    pub(crate) fn take_seen(&self) -> Vec<Seen> {
        std::mem::take(&mut self.locked().seen)
    }

    /// The names in a directory.
    pub(crate) fn names(&self, directory: &DiskPath) -> Vec<String> {
        let disk = self.locked();
        let inside = disk.files.keys().filter(|path| path.parent().as_ref() == Some(directory));
        inside.map(|path| path.name().to_owned()).collect()
    }

    pub(crate) fn content(&self, path: &DiskPath) -> Option<Bytes> {
        self.locked().files.get(path).cloned()
    }

    pub(crate) fn put(&self, path: &DiskPath, content: &[u8]) {
        self.locked().files.insert(path.clone(), Bytes::copy_from_slice(content));
    }

    pub(crate) fn take_away(&self, path: &DiskPath) {
        self.locked().files.remove(path).expect("the file is there");
    }

    /// A directory and all in it are gone.
    pub(crate) fn take_directory_away(&self, directory: &DiskPath) {
        let mut disk = self.locked();
        disk.directories.remove(directory);
        disk.files.retain(|path, _| path.parent().as_ref() != Some(directory));
    }
}

impl Disk {
    fn perform(&mut self, request: DiskRequest) -> Result<DiskAnswer, DiskError> {
        let (verb, path) = self.describe(&request);
        self.log.push(format!("{verb} {path}"));
        let failure = self.failures.iter().position(|failure| failure.strikes(verb, &path));
        let error = |kind| Err(DiskError { kind, operation: verb, path: path.clone() });
        if let Some(at) = failure {
            let Failure { kind, after_effect, .. } = self.failures.remove(at);
            if after_effect {
                self.effect(request).expect("the effect itself succeeds");
            }
            return error(kind);
        }
        self.effect(request).or_else(error)
    }

    fn describe(&self, request: &DiskRequest) -> (&'static str, DiskPath) {
        let of = |file: &FileHandle| self.handles.get(&file.0).cloned().unwrap_or_else(DiskPath::root);
        match request {
            DiskRequest::Create { path } => ("create", path.clone()),
            DiskRequest::Open { path } => ("open", path.clone()),
            DiskRequest::Write { file, .. } => ("write", of(file)),
            DiskRequest::Flush { file } => ("flush", of(file)),
            DiskRequest::Read { file } => ("read", of(file)),
            DiskRequest::Length { file } => ("length", of(file)),
            DiskRequest::Rename { to, .. } => ("rename", to.clone()),
            DiskRequest::Remove { path } => ("remove", path.clone()),
            DiskRequest::CreateDirectory { path } => ("create directory", path.clone()),
            DiskRequest::List { path } => ("list", path.clone()),
            DiskRequest::FlushDirectory { path } => ("flush directory", path.clone()),
            DiskRequest::LockDirectory { path } => ("lock directory", path.clone()),
            DiskRequest::RemoveDirectory { path } => ("remove directory", path.clone()),
        }
    }

    fn directory(&self, path: &DiskPath) -> Result<(), DiskErrorKind> {
        let there = *path == DiskPath::root() || self.directories.contains(path);
        there.then_some(()).ok_or(DiskErrorKind::NotFound)
    }

    fn handle(&mut self, path: DiskPath) -> DiskAnswer {
        self.last_handle += 1;
        self.handles.insert(self.last_handle, path);
        DiskAnswer::File(FileHandle(self.last_handle))
    }

    fn effect(&mut self, request: DiskRequest) -> Result<DiskAnswer, DiskErrorKind> {
        match request {
            DiskRequest::Create { path } => {
                self.directory(&path.parent().expect("a file has a directory"))?;
                self.files.insert(path.clone(), Bytes::new());
                Ok(self.handle(path))
            }
            DiskRequest::Open { path } => {
                self.files.get(&path).ok_or(DiskErrorKind::NotFound)?;
                Ok(self.handle(path))
            }
            DiskRequest::Write { file, offset, bytes } => {
                assert_eq!(offset, 0, "the store writes whole files");
                let path = self.handles.get(&file.0).ok_or(DiskErrorKind::BadHandle)?;
                self.files.insert(path.clone(), bytes);
                Ok(DiskAnswer::Done)
            }
            DiskRequest::Flush { file } => {
                self.handles.get(&file.0).map(|_| DiskAnswer::Done).ok_or(DiskErrorKind::BadHandle)
            }
            DiskRequest::Read { file } => {
                let path = self.handles.get(&file.0).ok_or(DiskErrorKind::BadHandle)?;
                self.files.get(path).cloned().map(DiskAnswer::Bytes).ok_or(DiskErrorKind::Io)
            }
            DiskRequest::Length { file } => {
                let path = self.handles.get(&file.0).ok_or(DiskErrorKind::BadHandle)?;
                Ok(DiskAnswer::Length(self.files[path].len() as u64))
            }
            DiskRequest::Rename { from, to } => {
                let content = self.files.remove(&from).ok_or(DiskErrorKind::NotFound)?;
                self.files.insert(to, content);
                Ok(DiskAnswer::Done)
            }
            DiskRequest::Remove { path } => {
                self.files.remove(&path).map(|_| DiskAnswer::Done).ok_or(DiskErrorKind::NotFound)
            }
            DiskRequest::CreateDirectory { path } => {
                let new = self.directories.insert(path);
                new.then_some(DiskAnswer::Done).ok_or(DiskErrorKind::AlreadyExists)
            }
            DiskRequest::List { path } => {
                self.directory(&path)?;
                let inside = self.files.iter().filter(|(file, _)| file.parent().as_ref() == Some(&path));
                let entries = inside.map(|(file, content)| DirectoryEntry {
                    name: file.name().to_owned(),
                    kind: EntryKind::File,
                    length: Some(content.len() as u64),
                });
                Ok(DiskAnswer::Entries(entries.collect()))
            }
            DiskRequest::FlushDirectory { path } => self.directory(&path).map(|()| DiskAnswer::Done),
            DiskRequest::LockDirectory { path } => {
                self.directory(&path)?;
                if !self.locked.insert(path.clone()) {
                    return Err(DiskErrorKind::Locked);
                }
                Ok(self.handle(path))
            }
            DiskRequest::RemoveDirectory { path } => {
                self.directory(&path)?;
                let mut inside = self.files.keys().chain(&self.directories);
                if path == DiskPath::root() || inside.any(|other| other.parent().as_ref() == Some(&path)) {
                    return Err(DiskErrorKind::WrongKind);
                }
                self.directories.remove(&path);
                self.locked.remove(&path);
                Ok(DiskAnswer::Done)
            }
        }
    }
}

impl Machine for TestMachine {
    fn wall_now(&self) -> WallMs {
        WallMs(self.wall_ms.load(Ordering::SeqCst))
    }

    fn monotonic_now(&self) -> MonotonicNs {
        MonotonicNs(self.monotonic_ns.load(Ordering::SeqCst))
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }

    fn spawn(&self, _: &'static str, task: BoxFuture<'static, ()>) -> Result<(), Unscheduled> {
        if self.going_down.load(Ordering::SeqCst) {
            return Err(Unscheduled);
        }
        let task = tokio::spawn(task).abort_handle();
        self.locked().tasks.push(task);
        Ok(())
    }

    fn disk(&self, request: DiskRequest) -> BoxFuture<'static, Result<DiskAnswer, DiskError>> {
        let mut disk = self.locked();
        let verb = disk.describe(&request).0;
        match &mut disk.left {
            None => {}
            Some(0) => return Box::pin(std::future::pending()),
            Some(left) => {
                *left -= 1;
                if *left == 0 {
                    let _never_told = disk.perform(request);
                    return Box::pin(std::future::pending());
                }
            }
        }
        let answer = disk.perform(request);
        let mut held = self.hold.subscribe();
        Box::pin(async move {
            held.wait_for(|held| *held != Some(verb)).await.expect("the machine outlives its operations");
            answer
        })
    }

    fn close(&self, file: FileHandle) {
        let mut disk = self.locked();
        if let Some(path) = disk.handles.remove(&file.0) {
            disk.locked.remove(&path);
        }
    }

    fn charge(&self, _: Work) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }

    fn observe(&self, event: EngineEvent<'_>) {
        let seen = match event {
            EngineEvent::Released { transition, depends } => Seen::Released(transition, depends.to_vec()),
            EngineEvent::BatchClosed { batch, records, transitions } => {
                Seen::Closed(batch, records.to_vec(), transitions)
            }
            EngineEvent::Step { step, batch, .. } => Seen::Step(step, batch),
            EngineEvent::BatchDurable { batch } => Seen::Durable(batch),
            EngineEvent::BatchFailed { batch, undone, state_digest } => {
                Seen::Failed(batch, undone, state_digest)
            }
            EngineEvent::CallerGone { transition } => Seen::CallerGone(transition),
            EngineEvent::Opened { restored, unrestorable, .. } => Seen::Opened(restored, unrestorable),
            EngineEvent::Transition { transition, record, decision, staged, .. } => {
                Seen::Transition(transition, record, decision, staged)
            }
            EngineEvent::Retired { transition, record, staged, .. } => {
                Seen::Retired(transition, record, staged)
            }
            EngineEvent::BoundMet { transition, introducer, bound } => {
                Seen::BoundMet(transition, introducer, bound)
            }
            EngineEvent::LinkLocal { transition, decision, .. } => Seen::LinkLocal(transition, decision),
            EngineEvent::Quota { transition, charge, .. } => Seen::Quota(transition, charge),
            EngineEvent::TableUse { used } => {
                let mut disk = self.locked();
                disk.used = (used, disk.used.1 + 1);
                return;
            }
            EngineEvent::Custody { transition, sequence, change, held, .. } => {
                Seen::Custody(transition, sequence.0, change.id(), held)
            }
            EngineEvent::CustodyStall { transition, stall, held } => {
                Seen::CustodyStall(transition, stall, held)
            }
            EngineEvent::Unrestorable { record, reason, spells } => {
                Seen::Unrestorable(record, reason, spells.map(|(table, stream)| (table, *stream)))
            }
            EngineEvent::LoadFailed { reason } => Seen::LoadFailed(reason),
            EngineEvent::UnavailableRefused { record, refused, .. } => {
                Seen::UnavailableRefused(record, refused)
            }
        };
        self.locked().seen.push(seen);
    }
}
