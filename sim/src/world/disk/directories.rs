//! The operations on directories.
//!
//! Promise: a listing shows what a reader sees now, whole and in the order of names; a directory has one lock.

use super::fault::OpFault;
use super::handle::Purpose;
use super::operations::Outcome;
use super::{Disk, INODE_BYTES, Node};
use groundhog_engine::host::disk::{DirectoryEntry, DiskAnswer, DiskErrorKind, DiskPath, EntryKind};

impl Disk {
    pub(super) fn create_directory(&mut self, path: &DiskPath) -> Outcome {
        let directory = self.directory_of(path)?;
        if self.inode_at(path).is_some() {
            return Err(DiskErrorKind::AlreadyExists);
        }
        self.may_change()?;
        if !self.has_room(INODE_BYTES) {
            return Err(DiskErrorKind::NoSpace);
        }
        let inode = self.new_directory();
        self.link(path, directory, inode);
        Ok(DiskAnswer::Done)
    }

    /// Removes an empty directory. What is still durable or undecided in it is out of a reader's sight, and comes back
    /// with the directory if a power failure undoes the removal.
    pub(super) fn remove_directory(&mut self, path: &DiskPath) -> Outcome {
        let inode = self.directory_at(path.as_str())?;
        if path.as_str().is_empty() || self.names_in(path).next().is_some() {
            return Err(DiskErrorKind::WrongKind);
        }
        self.may_change()?;
        self.hide_entries(inode);
        self.unlink(path, inode);
        Ok(DiskAnswer::Done)
    }

    pub(super) fn list(&self, path: &DiskPath) -> Outcome {
        self.directory_at(path.as_str())?;
        let entry = |(path, inode): (&DiskPath, u32)| {
            let (kind, length) = match &self.inodes[inode].node {
                Node::File(content) => (EntryKind::File, Some(content.now.len() as u64)),
                Node::Directory { .. } => (EntryKind::Directory, None),
            };
            DirectoryEntry { name: self.listed_name(path), kind, length }
        };
        let mut entries: Vec<_> = self.names_in(path).map(entry).collect();
        entries.sort_unstable_by(|a, b| a.name.cmp(&b.name));
        Ok(DiskAnswer::Entries(entries))
    }

    pub(super) fn directory_flush(&mut self, path: &DiskPath, fault: Option<OpFault>) -> Outcome {
        let directory = self.directory_at(path.as_str())?;
        self.may_change()?;
        match fault {
            Some(OpFault::FailedDirectoryFlush { read_only }) => {
                self.fail_names(directory);
                self.read_only = read_only;
                Err(DiskErrorKind::Io)
            }
            Some(OpFault::LyingFlush) => Ok(DiskAnswer::Done),
            _ => {
                self.flush_names(directory);
                Ok(DiskAnswer::Done)
            }
        }
    }

    pub(super) fn lock(&mut self, path: &DiskPath) -> Outcome {
        let directory = self.directory_at(path.as_str())?;
        if self.handles.is_full() {
            return Err(DiskErrorKind::Io);
        }
        if matches!(&self.inodes[directory].node, Node::Directory { lock: Some(_), .. }) {
            return Err(DiskErrorKind::Locked);
        }
        let answer = self.handle(directory, path, Purpose::Lock);
        if let (Node::Directory { lock, .. }, DiskAnswer::File(file)) =
            (&mut self.inodes[directory].node, &answer)
        {
            *lock = Some(*file);
        }
        Ok(answer)
    }
}
