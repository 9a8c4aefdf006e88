//! What a reader sees, and what would be left: for the laws alone, which no engine can ask.
//!
//! Promise: looking changes nothing, and costs in proportion to what is pending of the one path looked at.

use super::choice::{Certainty, Found};
use super::names::NameChange;
use super::platter::Platter;
use super::survive::{Rule, readable};
use super::{Disk, Node};
use bytes::Bytes;
use groundhog_engine::host::disk::{DiskPath, EntryKind};
use smallvec::SmallVec;

impl Disk {
    /// What the path holds, as a record, over all states that a power failure now could leave.
    ///
    /// Of a file with more than ten undecided sizes and sectors only the images of a flush after each operation are
    /// looked at, and a torn one is assumed besides.
    #[must_use]
    pub fn certain(&self, path: &str) -> Certainty {
        // While no change of a directory is pending, none above the path can be lost: the usual case, at no cost.
        if self.pending_directories == 0 || !self.may_lose_directory(path) {
            let Some(id) = self.entry_id(path) else { return Certainty::Certain(Found::Absent) };
            let entry = &self.entries[id];
            if let (true, Some(inode)) = (entry.changes.is_empty(), entry.base)
                && let Node::File(content) = &self.inodes[inode].node
                && content.changes.is_empty()
            {
                return Certainty::Certain(content.base_found);
            }
        }
        let mut found = SmallVec::new();
        self.each_survivor(path, &mut |inode, whole_up_to| match inode {
            None => found.push(Found::Absent),
            Some(inode) => self.find_in(inode, whole_up_to, &mut found),
        });
        Certainty::from_found(found)
    }

    /// Every distinct content that the path could have after a power failure now, in order: `None` where no file has
    /// that name, `Some(None)` where it cannot be read. Enumerated as [`Disk::certain`] does.
    #[must_use]
    pub fn surviving(&self, path: &DiskPath) -> Vec<Option<Option<Bytes>>> {
        let mut contents = Vec::new();
        self.each_survivor(path.as_str(), &mut |inode, whole_up_to| match inode {
            None => contents.push(None),
            Some(inode) if self.is_directory(inode) => {}
            Some(inode) => {
                self.each_image(inode, whole_up_to, &mut |platter| contents.push(Some(readable(platter))));
            }
        });
        contents.sort_unstable();
        contents.dedup();
        contents
    }

    /// The file's bytes as a reader sees them now, bad sectors aside; `None` where no file has that name.
    #[must_use]
    pub fn visible(&self, path: &DiskPath) -> Option<Bytes> {
        self.visible_file(path).map(|content| content.now.clone())
    }

    /// From now on, names that `counts` says yes to are counted where they come up in the directory.
    pub fn count_files(&mut self, directory: DiskPath, counts: fn(&str) -> bool) {
        self.counts = Some((directory, counts));
    }

    /// How many of the counted files a reader sees now, and their bytes together.
    #[must_use]
    pub fn counted_files(&self) -> (u64, u64) {
        let seen = self.entries.iter().filter(|(_, entry)| entry.counted).filter_map(|(_, entry)| entry.now);
        seen.fold((0, 0), |(files, bytes), inode| match &self.inodes[inode].node {
            Node::File(content) => (files + 1, bytes + content.now.len() as u64),
            Node::Directory { .. } => (files, bytes),
        })
    }

    /// What a reader finds in the file now, as a record.
    #[must_use]
    pub fn visible_found(&self, path: &DiskPath) -> Found {
        self.visible_file(path).map_or(Found::Absent, |content| {
            if content.is_readable() { content.now_found } else { Found::Torn }
        })
    }

    /// The paths in a directory that a reader sees now, with their kinds, in no order.
    pub fn visible_names(&self, directory: &DiskPath) -> impl Iterator<Item = (&DiskPath, EntryKind)> {
        self.names_in(directory).map(|(path, inode)| {
            (path, if self.is_directory(inode) { EntryKind::Directory } else { EntryKind::File })
        })
    }

    fn visible_file(&self, path: &DiskPath) -> Option<&super::content::FileContent> {
        match &self.inodes[self.inode_at(path)?].node {
            Node::File(content) => Some(content),
            Node::Directory { .. } => None,
        }
    }

    /// The paths in a directory that a reader sees now, in no order.
    pub(super) fn names_in(&self, directory: &DiskPath) -> impl Iterator<Item = (&DiskPath, u32)> {
        let inode = self.directory_at(directory.as_str()).ok();
        self.names.iter().filter_map(move |(path, id)| {
            let entry = &self.entries[*id];
            let inside = Some(entry.directory) == inode && !path.as_str().is_empty();
            entry.now.filter(|_| inside).map(|now| (path, now))
        })
    }

    /// Gives `each` every inode that the path could lead to, and up to which operation the file is whole if it does;
    /// some more than once.
    fn each_survivor(&self, path: &str, each: &mut dyn FnMut(Option<u32>, u64)) {
        let above = path.rfind('/').map_or("", |at| &path[..at]);
        if !self.may_lose_directory(path) {
            return self.each_survivor_of(self.entry_id(path), each);
        }
        let mut directories: SmallVec<[Option<u32>; 4]> = SmallVec::new();
        self.each_survivor(above, &mut |inode, _| {
            let directory = inode.filter(|inode| self.is_directory(*inode));
            if !directories.contains(&directory) {
                directories.push(directory);
            }
        });
        for directory in directories {
            match directory {
                Some(directory) => self.each_survivor_of(self.entry_in(directory, path), each),
                None => each(None, 0),
            }
        }
    }

    /// The same of one name in a directory that survives.
    fn each_survivor_of(&self, entry: Option<u32>, each: &mut dyn FnMut(Option<u32>, u64)) {
        let Some(id) = entry else { return each(None, 0) };
        let entry = &self.entries[id];
        each(entry.base, 0);
        for change in &entry.changes {
            let NameChange { operation, inode, to, .. } = self.changes[*change];
            if to != Some(id) {
                each(None, 0);
                continue;
            }
            let whole_up_to = match &self.inodes[inode].node {
                Node::File(content) => {
                    content.renamed_over.iter().copied().filter(|over| *over <= operation).max()
                }
                Node::Directory { .. } => None,
            };
            each(Some(inode), whole_up_to.unwrap_or(0));
        }
    }

    /// Whether a directory above the path could be lost.
    fn may_lose_directory(&self, mut path: &str) -> bool {
        while let Some(at) = path.rfind('/') {
            path = &path[..at];
            if self.entry_id(path).is_none_or(|entry| !self.entries[entry].changes.is_empty()) {
                return true;
            }
        }
        false
    }

    fn find_in(&self, inode: u32, whole_up_to: u64, found: &mut SmallVec<[Found; 4]>) {
        let Node::File(content) = &self.inodes[inode].node else {
            found.push(Found::Torn);
            return;
        };
        if content.changes.is_empty() {
            found.push(content.base_found);
            return;
        }
        let tag = self.tag;
        let all = self.each_image(inode, whole_up_to, &mut |platter| {
            let this = content.found_on(platter, tag);
            if !found.contains(&this) {
                found.push(this);
            }
        });
        if !all {
            found.push(Found::Torn);
        }
    }

    fn each_image(&self, inode: u32, whole_up_to: u64, each: &mut dyn FnMut(&Platter)) -> bool {
        let rule = Rule { profile: self.profile, inode: self.inodes[inode].number, whole_up_to };
        self.content(inode).images(rule, each)
    }
}
