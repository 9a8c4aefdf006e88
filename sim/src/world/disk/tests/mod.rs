//! What the disk is held to. Here: a small language to speak to it in.

mod brute_force;
mod deaths;
mod faults;
mod flushes;
mod images;
mod reference;
mod room;

use super::{Certainty, Choice, Disk, DiskConfig, Found, Images, OpFault, State};
use crate::plan::DiskProfile;
use bytes::Bytes;
use groundhog_engine::host::disk::{DiskAnswer, DiskErrorKind, DiskPath, DiskRequest, FileHandle};

/// A whole record of `generation`, `length` bytes long and at least 3.
pub(super) fn record(generation: u8, length: usize) -> Bytes {
    let mut bytes = vec![generation; length];
    bytes[1..3].copy_from_slice(&(length as u16).to_be_bytes());
    bytes.into()
}

/// The generation of a whole record.
pub(super) fn tag(bytes: &[u8]) -> Option<u64> {
    let generation = *bytes.first()?;
    (bytes.len() >= 3 && bytes == record(generation, bytes.len())).then_some(u64::from(generation))
}

pub(super) fn path(text: &str) -> DiskPath {
    DiskPath::new(text)
}

pub(super) fn config(profile: DiskProfile) -> DiskConfig {
    DiskConfig { profile, capacity_bytes: None, directories: vec![path("d")], tag }
}

/// A disk with the durable directory `d`, in its first life.
pub(super) fn disk(profile: DiskProfile) -> Disk {
    Disk::new(config(profile))
}

pub(super) const BOTH: [DiskProfile; 2] = [DiskProfile::Strict, DiskProfile::Ordered];

type Outcome = Result<DiskAnswer, DiskErrorKind>;

/// One operation, with its error's kind alone.
pub(super) trait Speak {
    fn ask(&mut self, request: DiskRequest, fault: Option<OpFault>) -> Outcome;

    fn does(&mut self, request: DiskRequest) {
        self.ask(request, None).expect("nothing is in its way");
    }

    fn create(&mut self, name: &str) -> FileHandle {
        match self.ask(DiskRequest::Create { path: path(name) }, None) {
            Ok(DiskAnswer::File(file)) => file,
            other => panic!("create {name}: {other:?}"),
        }
    }

    fn open(&mut self, name: &str) -> FileHandle {
        match self.ask(DiskRequest::Open { path: path(name) }, None) {
            Ok(DiskAnswer::File(file)) => file,
            other => panic!("open {name}: {other:?}"),
        }
    }

    fn write(&mut self, file: FileHandle, bytes: Bytes) {
        self.does(DiskRequest::Write { file, offset: 0, bytes });
    }

    fn flush(&mut self, file: FileHandle) -> Outcome {
        self.ask(DiskRequest::Flush { file }, None)
    }

    fn read(&mut self, name: &str) -> Result<Bytes, DiskErrorKind> {
        let file = self.open(name);
        match self.ask(DiskRequest::Read { file }, None)? {
            DiskAnswer::Bytes(bytes) => Ok(bytes),
            other => panic!("read {name}: {other:?}"),
        }
    }

    fn rename(&mut self, from: &str, to: &str) {
        self.does(DiskRequest::Rename { from: path(from), to: path(to) });
    }

    fn flush_directory(&mut self, name: &str) {
        self.does(DiskRequest::FlushDirectory { path: path(name) });
    }

    /// A file of this content, written and flushed, its name not.
    fn flushed(&mut self, name: &str, bytes: Bytes) -> FileHandle {
        let file = self.create(name);
        self.write(file, bytes);
        self.flush(file).expect("nothing is in its way");
        file
    }

    /// A durable file of this content.
    fn durable(&mut self, name: &str, bytes: Bytes) -> FileHandle {
        let file = self.flushed(name, bytes);
        self.flush_directory(name.rsplit_once('/').map_or("", |(parent, _)| parent));
        file
    }
}

impl Speak for Disk {
    fn ask(&mut self, request: DiskRequest, fault: Option<OpFault>) -> Outcome {
        self.apply(&request, fault.as_ref()).map_err(|error| error.kind)
    }
}

pub(super) fn certain(disk: &Disk, name: &str) -> Certainty {
    disk.certain(path(name).as_str())
}

pub(super) const fn generation(generation: u64) -> Certainty {
    Certainty::Certain(Found::Generation(generation))
}

/// What is in a file after a power failure of a copy of the disk; `None` where there is none.
pub(super) fn after(disk: &Disk, name: &str, mut choose: impl FnMut(Choice) -> bool) -> Option<Bytes> {
    let mut copy = disk.clone();
    copy.power_failure(&mut choose);
    copy.start_life();
    copy.visible(&path(name))
}

pub(super) const fn is_name(choice: Choice) -> bool {
    matches!(choice, Choice::Name { .. })
}
