//! Removed directories: what is undecided of the names in them.
//!
//! Promise: a name belongs to its directory and not to a path, so that a directory created anew under the path of a
//! removed one starts empty, and a removed one that a power failure brings back has its own names again. Once nothing can
//! bring it back, its names are gone with it.

use super::names::Entry;
use super::{Disk, Node};
use groundhog_engine::host::disk::DiskPath;
use std::collections::BTreeSet;

impl Disk {
    /// Puts the names of a directory that is about to be removed out of a reader's sight.
    pub(super) fn hide_entries(&mut self, directory: u32) {
        let inside = |id: &u32| {
            let entry = &self.entries[*id];
            entry.directory == directory && !entry.path.as_str().is_empty()
        };
        let inside: Vec<u32> = self.names.values().copied().filter(inside).collect();
        for id in &inside {
            debug_assert!(self.entries[*id].now.is_none(), "only an empty directory is removed");
            self.names.swap_remove(&self.entries[*id].path);
        }
        if let Node::Directory { hidden, .. } = &mut self.inodes[directory].node {
            *hidden = inside;
        }
    }

    /// The entry of this path in this directory, whether a reader sees the directory or not.
    pub(super) fn entry_in(&self, directory: u32, path: &str) -> Option<u32> {
        let Node::Directory { hidden, .. } = &self.inodes[directory].node else { return None };
        let seen = self.entry_id(path).filter(|id| self.entries[*id].directory == directory);
        seen.or_else(|| hidden.iter().copied().find(|id| self.entries[*id].path.as_str() == path))
    }

    /// Forgets a name whose directory is gone for good, and its part in changes that another name may still have.
    pub(super) fn drop_entry(&mut self, id: u32) {
        let changes = std::mem::take(&mut self.entries[id].changes);
        for change in changes {
            self.detach(change, id);
        }
        self.set_now(id, None);
        self.set_base(id, None);
        self.entries.remove(id);
    }

    /// After a power failure: names in a directory that was lost are gone, those in one that came back are seen again.
    pub(super) fn find_names_again(&mut self) {
        let reachable = self.reachable_directories();
        for inode in self.directories() {
            if let Node::Directory { hidden, .. } = &mut self.inodes[inode].node {
                hidden.clear();
            }
        }
        let all: Vec<(u32, u32, DiskPath)> =
            self.entries.iter().map(|(id, entry)| (id, entry.directory, entry.path.clone())).collect();
        self.names.clear();
        for (id, directory, path) in all {
            if reachable.contains(&directory) {
                let other = self.names.insert(path, id);
                debug_assert!(other.is_none(), "a path is in one directory");
            } else {
                self.drop_entry(id);
            }
        }
    }

    /// The root, and every directory that durable names lead to from there.
    fn reachable_directories(&self) -> BTreeSet<u32> {
        let below = |above: u32| {
            let inside = move |entry: &&Entry| entry.directory == above && entry.base != Some(above);
            self.entries.iter().map(|(_, entry)| entry).filter(inside).filter_map(|entry| entry.base)
        };
        let mut reachable = BTreeSet::from([self.root]);
        let mut work = vec![self.root];
        while let Some(above) = work.pop() {
            for inode in below(above).filter(|inode| self.is_directory(*inode)) {
                reachable.insert(inode);
                work.push(inode);
            }
        }
        reachable
    }
}
