//! The operations: each takes its full effect at once, in the page cache, and waits there for a flush.
//!
//! Promise: an operation that fails changes nothing, except a write that ran out of space and a flush that failed.

use super::choice::{Choice, Choose};
use super::content::WriteFault;
use super::fault::OpFault;
use super::handle::{OpenFile, Purpose};
use super::names::NameChange;
use super::{Disk, FILE_BYTES_MAX, INODE_BYTES, Node, SECTOR_BYTES};
use crate::plan::DiskProfile;
use bytes::Bytes;
use groundhog_engine::host::disk::{DiskAnswer, DiskError, DiskErrorKind, DiskPath, DiskRequest, FileHandle};

/// Whether an operation can change what the next life meets.
#[must_use]
pub const fn changes_the_disk(request: &DiskRequest) -> bool {
    !matches!(
        request,
        DiskRequest::Open { .. }
            | DiskRequest::Read { .. }
            | DiskRequest::Length { .. }
            | DiskRequest::List { .. }
            | DiskRequest::LockDirectory { .. }
    )
}

pub(super) type Outcome = Result<DiskAnswer, DiskErrorKind>;

impl Disk {
    /// One operation, whole: later operations see its effect. `fault` strikes it.
    ///
    /// # Errors
    /// [`DiskError`] of the operation.
    ///
    /// # Panics
    /// When the fault cannot strike such an operation: see [`OpFault::strikes`].
    pub fn apply(&mut self, request: &DiskRequest, fault: Option<&OpFault>) -> Result<DiskAnswer, DiskError> {
        let fault = fault.copied();
        let (folded, asked) = (self.folded(request), request);
        let request = folded.as_ref().unwrap_or(request);
        assert!(fault.is_none_or(|fault| fault.strikes(request)), "{fault:?} cannot strike {request:?}");
        self.operation += 1;
        self.limit_pending_names();
        let outcome = match fault {
            Some(OpFault::Error) => Err(DiskErrorKind::Io),
            Some(OpFault::NoSpace) if !matches!(request, DiskRequest::Flush { .. }) => {
                Err(DiskErrorKind::NoSpace)
            }
            _ => self.perform(request, fault),
        };
        if outcome.is_ok() {
            self.write_names(asked);
        }
        outcome.map_err(|kind| self.error(kind, request))
    }

    /// One operation that a death cuts short: of a write any subset of its sectors, of another all or nothing.
    pub fn apply_partly(&mut self, request: &DiskRequest, choose: Choose<'_>) {
        let choices = self.partly_choices(request);
        let DiskRequest::Write { file, offset, bytes } = request else {
            if choices.into_iter().any(choose) {
                let _ = self.apply(request, None);
            } else {
                self.operation += 1;
            }
            return;
        };
        self.operation += 1;
        let Ok(inode) = self.writable(*file) else { return };
        let (mut at, end) = (*offset, offset + bytes.len() as u64);
        for choice in choices {
            let next = ((at / SECTOR_BYTES as u64 + 1) * SECTOR_BYTES as u64).min(end);
            let part = bytes.slice((at - offset) as usize..(next - offset) as usize);
            if choose(choice) {
                let _ = self.write(inode, at, &part, WriteFault::default());
            }
            at = next;
        }
    }

    /// Everything that a death that cuts this operation short would ask about it, in order: nothing where it changes nothing.
    #[must_use]
    pub fn partly_choices(&self, request: &DiskRequest) -> Vec<Choice> {
        let operation = self.operation + 1;
        let DiskRequest::Write { file, offset, bytes } = request else {
            return if changes_the_disk(request) { vec![Choice::Effect { operation }] } else { Vec::new() };
        };
        let Ok(inode) = self.writable(*file) else { return Vec::new() };
        let (sector_bytes, inode) = (SECTOR_BYTES as u64, self.inodes[inode].number);
        let end = offset + bytes.len() as u64;
        let sectors = if bytes.is_empty() { 0..0 } else { offset / sector_bytes..end.div_ceil(sector_bytes) };
        let sector = |sector| u32::try_from(sector).unwrap_or(u32::MAX);
        sectors.map(|place| Choice::Sector { inode, operation, sector: sector(place) }).collect()
    }

    /// Lets go of a handle. One that is not open in this life is ignored.
    pub fn close(&mut self, file: FileHandle) {
        let Some(open) = self.handles.close(file) else { return };
        if let Node::Directory { lock, .. } = &mut self.inodes[open.inode].node
            && *lock == Some(file)
        {
            *lock = None;
        }
        self.release(open.inode);
    }

    fn perform(&mut self, request: &DiskRequest, fault: Option<OpFault>) -> Outcome {
        match request {
            DiskRequest::Create { path } => self.create(path),
            DiskRequest::Open { path } => self.open(path),
            // As on a real disk, where nothing is asked of the system then.
            DiskRequest::Write { file, bytes, .. } if bytes.is_empty() => {
                self.opened(*file).map(|_| DiskAnswer::Done)
            }
            DiskRequest::Write { file, offset, bytes } => {
                let inode = self.writable(*file)?;
                let fault = match fault {
                    Some(OpFault::BadSector { sector }) => {
                        WriteFault { bad_sector: Some(sector), flipped_bit: None }
                    }
                    Some(OpFault::FlippedBit { bit }) => {
                        WriteFault { bad_sector: None, flipped_bit: Some(bit) }
                    }
                    _ => WriteFault::default(),
                };
                self.write(inode, *offset, bytes, fault)
            }
            DiskRequest::Flush { file } => self.flush(*file, fault),
            DiskRequest::Read { file } => self.read(*file),
            DiskRequest::Length { file } => {
                let inode = self.opened(*file)?;
                Ok(DiskAnswer::Length(self.content(inode).now.len() as u64))
            }
            DiskRequest::Rename { from, to } => self.rename(from, to),
            DiskRequest::Remove { path } => self.remove(path),
            DiskRequest::CreateDirectory { path } => self.create_directory(path),
            DiskRequest::List { path } => self.list(path),
            DiskRequest::FlushDirectory { path } => self.directory_flush(path, fault),
            DiskRequest::LockDirectory { path } => self.lock(path),
            DiskRequest::RemoveDirectory { path } => self.remove_directory(path),
        }
    }

    fn create(&mut self, path: &DiskPath) -> Outcome {
        if path.as_str().is_empty() {
            return Err(DiskErrorKind::WrongKind);
        }
        let directory = self.directory_of(path)?;
        let there = self.inode_at(path);
        if there.is_some_and(|inode| self.is_directory(inode)) {
            return Err(DiskErrorKind::WrongKind);
        }
        self.may_change()?;
        if self.handles.is_full() {
            return Err(DiskErrorKind::Io);
        }
        let inode = if let Some(inode) = there {
            let (operation, empty) = (self.operation, self.empty);
            self.content_mut(inode).truncate(operation, empty);
            self.recount(inode);
            inode
        } else {
            if !self.has_room(INODE_BYTES) {
                return Err(DiskErrorKind::NoSpace);
            }
            let inode = self.new_file();
            self.link(path, directory, inode);
            inode
        };
        Ok(self.handle(inode, path, Purpose::Writing))
    }

    pub(super) fn link(&mut self, path: &DiskPath, directory: u32, inode: u32) {
        let to = Some(self.entry_for(path, directory));
        let operation = self.operation;
        let change = NameChange {
            operation,
            inode,
            from: None,
            to,
            before: None,
            creates: true,
            clean: false,
            over: false,
        };
        self.change_names(change);
    }

    pub(super) fn handle(&mut self, inode: u32, path: &DiskPath, purpose: Purpose) -> DiskAnswer {
        self.refer(inode);
        DiskAnswer::File(self.handles.open(OpenFile {
            inode,
            path: path.clone(),
            purpose,
            owes_error: false,
        }))
    }

    fn open(&mut self, path: &DiskPath) -> Outcome {
        let inode = self.file_at(path)?;
        if self.handles.is_full() {
            return Err(DiskErrorKind::Io);
        }
        Ok(self.handle(inode, path, Purpose::Reading))
    }

    /// The file of this path, or why there is none.
    fn file_at(&self, path: &DiskPath) -> Result<u32, DiskErrorKind> {
        match self.inode_at(path) {
            Some(inode) if self.is_directory(inode) => Err(DiskErrorKind::WrongKind),
            Some(inode) => Ok(inode),
            None => self.directory_of(path).and(Err(DiskErrorKind::NotFound)),
        }
    }

    fn opened(&self, file: FileHandle) -> Result<u32, DiskErrorKind> {
        let open = self.handles.get(file).filter(|open| open.purpose != Purpose::Lock);
        open.map(|open| open.inode).ok_or(DiskErrorKind::BadHandle)
    }

    fn opened_for(&self, file: FileHandle, purpose: Purpose) -> Result<u32, DiskErrorKind> {
        let open = self.handles.get(file).ok_or(DiskErrorKind::BadHandle)?;
        if open.purpose == purpose { Ok(open.inode) } else { Err(DiskErrorKind::Io) }
    }

    fn writable(&self, file: FileHandle) -> Result<u32, DiskErrorKind> {
        let inode = self.opened_for(file, Purpose::Writing)?;
        self.may_change().map(|()| inode)
    }

    pub(super) fn may_change(&self) -> Result<(), DiskErrorKind> {
        if self.read_only { Err(DiskErrorKind::ReadOnly) } else { Ok(()) }
    }

    fn write(&mut self, inode: u32, offset: u64, bytes: &Bytes, fault: WriteFault) -> Outcome {
        let (operation, tag) = (self.operation, self.tag);
        let fits = self.room_for_write(inode, offset, bytes.len() as u64);
        if fits > 0 {
            let part = if fits == bytes.len() as u64 { bytes.clone() } else { bytes.slice(..fits as usize) };
            let content = self.content_mut(inode);
            content.limit_pending(tag);
            content.write(operation, offset as usize, &part, fault, tag);
            self.recount(inode);
        }
        if fits < bytes.len() as u64 { Err(DiskErrorKind::NoSpace) } else { Ok(DiskAnswer::Done) }
    }

    /// How many bytes of a write the medium can take.
    fn room_for_write(&self, inode: u32, offset: u64, length: u64) -> u64 {
        let end = match self.capacity_bytes {
            None => FILE_BYTES_MAX,
            Some(capacity) => {
                let free =
                    capacity.saturating_sub(self.used_bytes) / SECTOR_BYTES as u64 * SECTOR_BYTES as u64;
                FILE_BYTES_MAX.min(self.inodes[inode].allocated_bytes - INODE_BYTES + free)
            }
        };
        length.min(end.saturating_sub(offset))
    }

    fn flush(&mut self, file: FileHandle, fault: Option<OpFault>) -> Outcome {
        let inode = self.opened(file)?;
        self.may_change()?;
        match fault {
            Some(OpFault::FailedFlush | OpFault::NoSpace) => {
                self.content_mut(inode).fail_flush();
                self.handles.owe_error(inode, file);
                self.told(file);
                let no_space = fault == Some(OpFault::NoSpace);
                return Err(if no_space { DiskErrorKind::NoSpace } else { DiskErrorKind::Io });
            }
            Some(OpFault::LyingFlush) => {}
            _ => {
                let tag = self.tag;
                self.content_mut(inode).flush(tag);
                self.recount(inode);
                if self.profile == DiskProfile::Ordered {
                    self.flush_names(self.root);
                }
            }
        }
        if self.told(file) { Err(DiskErrorKind::Io) } else { Ok(DiskAnswer::Done) }
    }

    /// Whether a flush failed that this handle had not been told of. From here on it has.
    fn told(&mut self, file: FileHandle) -> bool {
        self.handles.get_mut(file).is_some_and(|open| std::mem::take(&mut open.owes_error))
    }

    fn read(&self, file: FileHandle) -> Outcome {
        let content = self.content(self.opened_for(file, Purpose::Reading)?);
        if content.is_readable() {
            Ok(DiskAnswer::Bytes(content.now.clone()))
        } else {
            Err(DiskErrorKind::Io)
        }
    }

    fn rename(&mut self, from: &DiskPath, to: &DiskPath) -> Outcome {
        self.directory_of(from)?;
        let directory = self.directory_of(to)?;
        let inode = self.file_at(from)?;
        let there = self.inode_at(to);
        if there.is_some_and(|there| self.is_directory(there)) || to.as_str().is_empty() {
            return Err(DiskErrorKind::WrongKind);
        }
        self.may_change()?;
        if from == to {
            return Ok(DiskAnswer::Done);
        }
        let (operation, over) = (self.operation, there.is_some());
        if over && self.profile == DiskProfile::Ordered {
            self.content_mut(inode).renamed_over.push(operation);
        }
        let from = self.entry_id(from.as_str());
        let to = Some(self.entry_for(to, directory));
        self.change_names(NameChange {
            operation,
            inode,
            from,
            to,
            before: None,
            creates: false,
            clean: false,
            over,
        });
        Ok(DiskAnswer::Done)
    }

    fn remove(&mut self, path: &DiskPath) -> Outcome {
        if path.as_str().is_empty() {
            return Err(DiskErrorKind::WrongKind);
        }
        let inode = self.file_at(path)?;
        self.may_change()?;
        self.unlink(path, inode);
        Ok(DiskAnswer::Done)
    }

    /// Takes the name off an inode.
    pub(super) fn unlink(&mut self, path: &DiskPath, inode: u32) {
        let from = self.entry_id(path.as_str());
        let operation = self.operation;
        self.change_names(NameChange {
            operation,
            inode,
            from,
            to: None,
            before: None,
            creates: false,
            clean: false,
            over: false,
        });
    }

    fn error(&self, kind: DiskErrorKind, request: &DiskRequest) -> DiskError {
        use DiskRequest as R;
        let operation = match request {
            R::Create { .. } => "create",
            R::Open { .. } => "open",
            R::Write { .. } => "write",
            R::Flush { .. } => "flush",
            R::Read { .. } => "read",
            R::Length { .. } => "length",
            R::Rename { .. } => "rename",
            R::Remove { .. } => "remove",
            R::CreateDirectory { .. } => "create directory",
            R::List { .. } => "list",
            R::FlushDirectory { .. } => "flush directory",
            R::LockDirectory { .. } => "lock directory",
            R::RemoveDirectory { .. } => "remove directory",
        };
        let path = match request {
            R::Write { file, .. } | R::Flush { file } | R::Read { file } | R::Length { file } => {
                self.handles.get(*file).map_or_else(DiskPath::root, |open| open.path.clone())
            }
            R::Rename { from: path, .. }
            | R::Create { path }
            | R::Open { path }
            | R::Remove { path }
            | R::CreateDirectory { path }
            | R::List { path }
            | R::FlushDirectory { path }
            | R::LockDirectory { path }
            | R::RemoveDirectory { path } => path.clone(),
        };
        DiskError { kind, operation, path }
    }
}
