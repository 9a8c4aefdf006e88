//! What of a disk its next life can tell apart, when whoever opens it deletes some names unread.
//!
//! Promise: a name that is deleted unread counts only where a change could still move its file to a name that is read, and
//! where it is all that a directory holds: that it is there is seen, what it leads to is not.

use super::names::NameChange;
use super::operations::changes_the_disk;
use super::{Disk, Node};
use groundhog_engine::host::disk::{DiskPath, DiskRequest};
use std::collections::BTreeSet;

/// Tells which paths are deleted unread.
pub type Unread<'a> = &'a dyn Fn(&DiskPath) -> bool;

/// The names and changes of one disk that count.
pub(super) struct Scope {
    /// Names that are read.
    pub(super) read: BTreeSet<u32>,
    /// These, and names that count although they are deleted unread.
    pub(super) counting: BTreeSet<u32>,
    /// Directories in which no name that is read is certain to survive: there it counts whether anything at all does.
    pub(super) bare: BTreeSet<u32>,
}

impl Scope {
    /// Of a disk as it is now.
    pub(super) fn of(disk: &Disk, unread: Unread<'_>) -> Self {
        let is_read = |path: &DiskPath| path.as_str().is_empty() || !unread(path);
        let (mut read, mut unread, mut furnished) = (BTreeSet::new(), Vec::new(), BTreeSet::new());
        for (id, entry) in disk.entries.iter() {
            if !is_read(&entry.path) {
                unread.push((id, entry.directory));
                continue;
            }
            read.insert(id);
            if entry.base.is_some() && entry.changes.is_empty() && !entry.path.as_str().is_empty() {
                furnished.insert(entry.directory);
            }
        }
        unread.retain(|(_, directory)| !furnished.contains(directory));
        let mut scope = Self {
            counting: read.iter().copied().chain(unread.iter().map(|(id, _)| *id)).collect(),
            bare: unread.iter().map(|(_, directory)| *directory).collect(),
            read,
        };
        scope.add_sources(disk);
        scope
    }

    /// Where a file comes from that a change gives to a name that counts, that counts, too.
    fn add_sources(&mut self, disk: &Disk) {
        loop {
            let before = self.counting.len();
            for (_, change) in disk.changes.iter() {
                if let (Some(from), Some(to)) = (change.from, change.to)
                    && self.counting.contains(&to)
                {
                    self.counting.insert(from);
                }
            }
            if self.counting.len() == before {
                return;
            }
        }
    }

    /// Whether a change touches a name that counts.
    pub(super) fn touches(&self, change: &NameChange) -> bool {
        [change.from, change.to].into_iter().flatten().any(|entry| self.counting.contains(&entry))
    }

    /// Whether a name that counts leads to the file, or could.
    fn leads_to(&self, disk: &Disk, inode: u32) -> bool {
        let named = |id: &u32| {
            let entry = &disk.entries[*id];
            entry.now == Some(inode) || entry.base == Some(inode)
        };
        let moved = |change: &NameChange| change.inode == inode && self.touches(change);
        self.counting.iter().any(named) || disk.changes.iter().any(|(_, change)| moved(change))
    }

    /// Whether it could make a difference for the next life if this operation took effect.
    pub(super) fn counts(&self, disk: &Disk, unread: Unread<'_>, request: &DiskRequest) -> bool {
        let counts = |path: &DiskPath| match disk.entry_id(path.as_str()) {
            Some(entry) => self.counting.contains(&entry),
            None => {
                !unread(path) || disk.directory_of(path).is_ok_and(|inside| !furnishes(disk, unread, inside))
            }
        };
        match request {
            DiskRequest::Write { file, .. } | DiskRequest::Flush { file } => {
                disk.handles.get(*file).is_some_and(|open| self.leads_to(disk, open.inode))
            }
            DiskRequest::Create { path } | DiskRequest::Remove { path } => counts(path),
            DiskRequest::Rename { from, to } => counts(from) || counts(to),
            _ => changes_the_disk(request),
        }
    }
}

/// Whether a name that is read is certain to survive in the directory.
fn furnishes(disk: &Disk, unread: Unread<'_>, directory: u32) -> bool {
    disk.entries.iter().any(|(_, entry)| {
        let certain = entry.base.is_some() && entry.changes.is_empty();
        entry.directory == directory && certain && !entry.path.as_str().is_empty() && !unread(&entry.path)
    })
}

impl Disk {
    /// Whether it could make a difference for the next life if this operation took effect now.
    #[must_use]
    pub fn counts(&self, unread: Unread<'_>, request: &DiskRequest) -> bool {
        Scope::of(self, unread).counts(self, unread, request)
    }

    /// Directories that names lead to from the root, where `leads` tells what a name leads to.
    pub(super) fn reachable(&self, leads: &dyn Fn(u32) -> Option<u32>) -> BTreeSet<u32> {
        let mut reachable = BTreeSet::from([self.root]);
        let mut work = vec![self.root];
        while let Some(above) = work.pop() {
            for (id, entry) in self.entries.iter() {
                let Some(inode) = leads(id).filter(|_| entry.directory == above) else { continue };
                if matches!(self.inodes[inode].node, Node::Directory { .. }) && reachable.insert(inode) {
                    work.push(inode);
                }
            }
        }
        reachable
    }
}
