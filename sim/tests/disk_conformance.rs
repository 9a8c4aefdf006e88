//! The simulated disk against a real one: the same operations, the same answers.
//!
//! Promise: without faults and crashes an engine cannot tell the two apart, but by the answers that differ between file
//! systems: a directory opened as a file, a file flushed as a directory, a directory renamed. Engines do none of these.

use bytes::Bytes;
use groundhog_engine::host::Machine;
use groundhog_engine::host::disk::{DiskAnswer, DiskErrorKind, DiskPath, DiskRequest, EntryKind, FileHandle};
use groundhog_engine::host::native::NativeMachine;
use groundhog_sim::plan::DiskProfile;
use groundhog_sim::world::disk::{Disk, DiskConfig};
use proptest::prelude::*;
use std::sync::Arc;
use tokio::runtime::Runtime;

/// Paths that stand in each other's way: files, a directory, names below a directory, below nothing and below a file.
const PATHS: [&str; 9] = ["", "a", "b", "d", "d/x", "d/y", "d/e", "missing/z", "a/under"];

/// One request, by places in [`PATHS`] and among the handles so far.
#[derive(Clone, Debug)]
enum Act {
    Create(usize),
    Open(usize),
    Write(usize, u64, usize, u8),
    Flush(usize),
    Read(usize),
    Length(usize),
    Close(usize),
    Rename(usize, usize),
    Remove(usize),
    CreateDirectory(usize),
    RemoveDirectory(usize),
    List(usize),
    FlushDirectory(usize),
    Lock(usize),
    Unlock(usize),
}

fn act() -> impl Strategy<Value = Act> {
    let (path, file) = (0..PATHS.len(), 0_usize..6);
    let offset = prop_oneof![3 => Just(0), 1 => Just(1), 1 => Just(512), 1 => 0_u64..5_000];
    let length = prop_oneof![Just(0_usize), Just(512), 1_usize..2_000];
    let write = (file.clone(), offset, length, any::<u8>());
    prop_oneof![
        6 => path.clone().prop_map(Act::Create),
        4 => path.clone().prop_map(Act::Open),
        6 => write.prop_map(|(file, offset, length, fill)| Act::Write(file, offset, length, fill)),
        1 => file.clone().prop_map(Act::Flush),
        4 => file.clone().prop_map(Act::Read),
        2 => file.clone().prop_map(Act::Length),
        2 => file.clone().prop_map(Act::Close),
        5 => (path.clone(), path.clone()).prop_map(|(from, to)| Act::Rename(from, to)),
        3 => path.clone().prop_map(Act::Remove),
        4 => path.clone().prop_map(Act::CreateDirectory),
        4 => path.clone().prop_map(Act::RemoveDirectory),
        3 => path.clone().prop_map(Act::List),
        1 => path.clone().prop_map(Act::FlushDirectory),
        2 => path.prop_map(Act::Lock),
        1 => file.prop_map(Act::Unlock),
    ]
}

/// Both disks, and what was opened on each.
struct Both {
    runtime: Runtime,
    real: Arc<NativeMachine>,
    simulated: Disk,
    files: Vec<(FileHandle, FileHandle)>,
    locks: Vec<(FileHandle, FileHandle)>,
}

type Answers = (Result<DiskAnswer, DiskErrorKind>, Result<DiskAnswer, DiskErrorKind>);

impl Both {
    fn new(base: &std::path::Path, profile: DiskProfile) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        let real = runtime.block_on(async { NativeMachine::new(base).expect("a machine") });
        let config = DiskConfig { profile, capacity_bytes: None, directories: Vec::new(), tag: |_| None };
        Self { runtime, real, simulated: Disk::new(config), files: Vec::new(), locks: Vec::new() }
    }

    /// The same request to each; `request` gets the handle of the disk that it asks.
    fn ask(&mut self, file: Option<usize>, request: impl Fn(FileHandle) -> DiskRequest) -> Answers {
        let none = (FileHandle(u64::MAX), FileHandle(u64::MAX));
        let at = file.filter(|_| !self.files.is_empty()).map(|file| file % self.files.len());
        let (real, simulated) = at.map_or(none, |file| self.files[file]);
        let answer = self.runtime.block_on(self.real.disk(request(real)));
        let other = self.simulated.apply(&request(simulated), None);
        (answer.map_err(|error| error.kind), other.map_err(|error| error.kind))
    }

    /// The same request to each, of one path.
    fn ask_of(&mut self, place: usize, request: fn(DiskPath) -> DiskRequest) -> Answers {
        self.ask(None, |_| request(DiskPath::new(PATHS[place])))
    }

    fn is_directory(&self, path: &DiskPath) -> bool {
        let Some(parent) = path.parent() else { return true };
        let mut names = self.simulated.visible_names(&parent);
        names.any(|(name, kind)| name == path && kind == EntryKind::Directory)
    }

    /// Whether the answer depends on the file system: see the module.
    fn is_outside(&self, act: &Act) -> bool {
        let directory = |place: usize| self.is_directory(&DiskPath::new(PATHS[place]));
        match *act {
            Act::Open(path) => directory(path),
            Act::Rename(from, to) => directory(from) || PATHS[to].is_empty(),
            Act::FlushDirectory(path) => self.simulated.visible(&DiskPath::new(PATHS[path])).is_some(),
            _ => false,
        }
    }

    /// Does it on both. `None` when there is nothing to compare.
    fn act(&mut self, act: &Act) -> Option<Answers> {
        if self.is_outside(act) {
            return None;
        }
        let answers = match *act {
            Act::Create(place) => self.ask_of(place, |path| DiskRequest::Create { path }),
            Act::Open(place) => self.ask_of(place, |path| DiskRequest::Open { path }),
            Act::Remove(place) => self.ask_of(place, |path| DiskRequest::Remove { path }),
            Act::CreateDirectory(place) => self.ask_of(place, |path| DiskRequest::CreateDirectory { path }),
            Act::RemoveDirectory(place) => self.ask_of(place, |path| DiskRequest::RemoveDirectory { path }),
            Act::List(place) => self.ask_of(place, |path| DiskRequest::List { path }),
            Act::FlushDirectory(place) => self.ask_of(place, |path| DiskRequest::FlushDirectory { path }),
            Act::Lock(place) => self.ask_of(place, |path| DiskRequest::LockDirectory { path }),
            Act::Rename(from, to) => {
                let path = |place: usize| DiskPath::new(PATHS[place]);
                self.ask(None, |_| DiskRequest::Rename { from: path(from), to: path(to) })
            }
            Act::Write(file, offset, length, fill) => {
                let bytes: Bytes = (0..length).map(|at| fill.wrapping_add(at as u8)).collect();
                self.ask(Some(file), |file| DiskRequest::Write { file, offset, bytes: bytes.clone() })
            }
            Act::Flush(file) => self.ask(Some(file), |file| DiskRequest::Flush { file }),
            Act::Read(file) => self.ask(Some(file), |file| DiskRequest::Read { file }),
            Act::Length(file) => self.ask(Some(file), |file| DiskRequest::Length { file }),
            Act::Close(file) => return self.close(self.files.get(file).copied()),
            Act::Unlock(lock) => return self.close(self.locks.get(lock).copied()),
        };
        Some(self.keep(answers, matches!(act, Act::Lock(_))))
    }

    /// Keeps what both opened. Handles are the disk's own affair, so that they are not compared.
    fn keep(&mut self, answers: Answers, lock: bool) -> Answers {
        match answers {
            (Ok(DiskAnswer::File(real)), Ok(DiskAnswer::File(simulated))) => {
                let kept = if lock { &mut self.locks } else { &mut self.files };
                kept.push((real, simulated));
                (Ok(DiskAnswer::Done), Ok(DiskAnswer::Done))
            }
            other => other,
        }
    }

    /// Closes a handle on both. It stays known, so that it is used after its end.
    fn close(&mut self, handles: Option<(FileHandle, FileHandle)>) -> Option<Answers> {
        let (real, simulated) = handles?;
        self.real.close(real);
        self.simulated.close(simulated);
        None
    }

    /// Compares everything below a directory.
    fn compare(&mut self, directory: &DiskPath) -> Result<(), TestCaseError> {
        let (real, simulated) = self.ask(None, |_| DiskRequest::List { path: directory.clone() });
        prop_assert_eq!(&real, &simulated, "{}", directory);
        let Ok(DiskAnswer::Entries(entries)) = real else { panic!("{directory} is listed") };
        for entry in entries {
            let path = directory.join(&entry.name);
            if entry.kind == EntryKind::Directory {
                self.compare(&path)?;
                continue;
            }
            let opened = self.ask(None, |_| DiskRequest::Open { path: path.clone() });
            prop_assert_eq!(
                self.keep(opened, false),
                (Ok(DiskAnswer::Done), Ok(DiskAnswer::Done)),
                "{}",
                path
            );
            let last = self.files.len() - 1;
            let (real, simulated) = self.ask(Some(last), |file| DiskRequest::Read { file });
            prop_assert_eq!(real, simulated, "{}", path);
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 200, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_simulated_disk_answers_as_a_real_one(
        ordered in any::<bool>(),
        acts in prop::collection::vec(act(), 1..60),
    ) {
        let base = tempfile::tempdir().expect("a temporary directory");
        let profile = if ordered { DiskProfile::Ordered } else { DiskProfile::Strict };
        let mut both = Both::new(base.path(), profile);
        for (place, act) in acts.iter().enumerate() {
            if let Some((real, simulated)) = both.act(act) {
                prop_assert_eq!(real, simulated, "act {}: {:?}", place, act);
            }
        }
        both.compare(&DiskPath::root())?;
    }
}
