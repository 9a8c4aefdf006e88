//! Names: which path leads to which inode, for a reader and on the medium, and every change in between.
//!
//! Promise: a pending change is either settled, which gives its names their durable value and overtakes whatever came
//! before it on the same names, or it waits; a rename is never half durable while its old name could still come back.

use super::{Disk, Node, PENDING_NAMES_MAX, PathText};
use crate::plan::DiskProfile;
use groundhog_engine::host::disk::{DiskErrorKind, DiskPath};
use smallvec::SmallVec;
use std::collections::BTreeMap;

/// One path.
#[derive(Clone, Debug)]
pub(super) struct Entry {
    pub(super) path: DiskPath,
    /// The directory that holds it; itself for the root.
    pub(super) directory: u32,
    /// What a reader finds.
    pub(super) now: Option<u32>,
    /// What is on the medium.
    pub(super) base: Option<u32>,
    /// Pending changes of it, in the order of issue.
    pub(super) changes: SmallVec<[u32; 2]>,
    /// Whether the file under it is counted: see [`Disk::count_files`].
    pub(super) counted: bool,
}

/// One pending name change.
#[derive(Clone, Copy, Debug)]
pub(super) struct NameChange {
    pub(super) operation: u64,
    pub(super) inode: u32,
    /// The name that it takes the inode from; `None` for a creation, or once settled.
    pub(super) from: Option<u32>,
    /// The name that it gives the inode to; `None` for a removal, or once settled.
    pub(super) to: Option<u32>,
    /// The change that gave the inode to `from`, if that was pending.
    pub(super) before: Option<ChangeRef>,
    /// A creation, which applies only where the name is free.
    pub(super) creates: bool,
    /// A flush of it failed: no later flush writes it.
    pub(super) clean: bool,
    /// A rename that replaced a file.
    pub(super) over: bool,
}

/// A pending change, unless it has been settled since.
#[derive(Clone, Copy, Debug)]
pub(super) struct ChangeRef {
    pub(super) change: u32,
    pub(super) operation: u64,
}

impl Disk {
    pub(super) fn entry_id(&self, path: &str) -> Option<u32> {
        self.names.get(&PathText(path)).copied()
    }

    /// What a reader finds under a path.
    pub(super) fn inode_at(&self, path: &DiskPath) -> Option<u32> {
        self.names.get(path).and_then(|entry| self.entries[*entry].now)
    }

    /// The directory that holds a path.
    pub(super) fn directory_of(&self, path: &DiskPath) -> Result<u32, DiskErrorKind> {
        let parent = path.as_str().rfind('/').map_or("", |at| &path.as_str()[..at]);
        self.directory_at(parent)
    }

    /// The directory of this path, or why there is none.
    pub(super) fn directory_at(&self, path: &str) -> Result<u32, DiskErrorKind> {
        match self.entry_id(path).and_then(|entry| self.entries[entry].now) {
            Some(inode) if self.is_directory(inode) => Ok(inode),
            Some(_) => Err(DiskErrorKind::WrongKind),
            None => {
                let above = path.rfind('/').map_or("", |at| &path[..at]);
                self.directory_at(above).and(Err(DiskErrorKind::NotFound))
            }
        }
    }

    /// The entry of a path, made where there is none yet.
    pub(super) fn entry_for(&mut self, path: &DiskPath, directory: u32) -> u32 {
        if let Some(entry) = self.names.get(path) {
            return *entry;
        }
        let counted = self.counts.as_ref().is_some_and(|(root, counts)| {
            let name = path.as_str().strip_prefix(root.as_str()).and_then(|name| name.strip_prefix('/'));
            name.is_some_and(|name| !name.contains('/') && counts(name))
        });
        let changes = SmallVec::new();
        let entry = Entry { path: path.clone(), directory, now: None, base: None, changes, counted };
        let id = self.entries.insert(entry);
        self.names.insert(path.clone(), id);
        id
    }

    /// Gives a durable name to an inode.
    pub(super) fn place(&mut self, path: &DiskPath, inode: u32) {
        let directory =
            if path.as_str().is_empty() { inode } else { self.directory_of(path).unwrap_or(inode) };
        let id = self.entry_for(path, directory);
        self.set_now(id, Some(inode));
        self.set_base(id, Some(inode));
    }

    pub(super) fn set_now(&mut self, entry: u32, inode: Option<u32>) {
        if let Some(inode) = inode {
            self.refer(inode);
        }
        if let Some(old) = std::mem::replace(&mut self.entries[entry].now, inode) {
            self.release(old);
        }
    }

    pub(super) fn set_base(&mut self, entry: u32, inode: Option<u32>) {
        if let Some(inode) = inode {
            self.refer(inode);
        }
        if let Some(old) = std::mem::replace(&mut self.entries[entry].base, inode) {
            self.release(old);
        }
    }

    /// Forgets a path that is nowhere.
    pub(super) fn tidy(&mut self, id: u32) {
        let Some(Entry { now, base, changes, path, directory, .. }) = self.entries.get(id) else { return };
        if now.is_none() && base.is_none() && changes.is_empty() {
            if self.names.get(path) == Some(&id) {
                self.names.swap_remove(path);
            } else if let Node::Directory { hidden, .. } = &mut self.inodes[*directory].node {
                hidden.retain(|other| *other != id);
            }
            self.entries.remove(id);
        }
    }

    /// A reader sees the change from here on; it waits for a flush.
    pub(super) fn change_names(&mut self, change: NameChange) {
        let NameChange { operation, inode, from, to, .. } = change;
        let before = from.and_then(|from| self.entries[from].changes.last().copied());
        let change = NameChange { before: before.map(|id| self.reference(id)), ..change };
        self.refer(inode);
        self.pending_directories += u32::from(self.is_directory(inode));
        let id = self.changes.insert(change);
        let reference = ChangeRef { change: id, operation };
        if let Some(from) = from {
            self.entries[from].changes.push(id);
            self.set_now(from, None);
        }
        if let Some(to) = to {
            self.entries[to].changes.push(id);
            self.set_now(to, Some(inode));
        }
        let holders = [from, to].map(|entry| entry.map(|entry| self.entries[entry].directory));
        self.queue(holders[0].or(holders[1]).expect("a change has a name")).push(reference);
        if let [Some(from), Some(to)] = holders
            && from != to
            && self.profile == DiskProfile::Strict
        {
            self.queue(to).push(reference);
        }
    }

    /// The changes that a flush of this directory makes durable.
    fn queue(&mut self, directory: u32) -> &mut Vec<ChangeRef> {
        if self.profile == DiskProfile::Ordered {
            return &mut self.unflushed;
        }
        match &mut self.inodes[directory].node {
            Node::Directory { unflushed, .. } => unflushed,
            Node::File(_) => unreachable!("a name stands in a directory"),
        }
    }

    /// A change waits no longer.
    pub(super) fn remove_change(&mut self, id: u32) -> NameChange {
        let change = self.changes.remove(id);
        self.pending_directories -= u32::from(self.is_directory(change.inode));
        change
    }

    fn reference(&self, change: u32) -> ChangeRef {
        ChangeRef { change, operation: self.changes[change].operation }
    }

    pub(super) fn is_pending(&self, reference: ChangeRef) -> bool {
        self.changes.get(reference.change).is_some_and(|change| change.operation == reference.operation)
    }

    /// A truthful flush: the name changes so far are durable, those of this directory (profile `strict`) or all.
    pub(super) fn flush_names(&mut self, directory: u32) {
        let mut queue = std::mem::take(self.queue(directory));
        if self.profile == DiskProfile::Ordered {
            self.write_before_renames(&queue);
        }
        // The newest first: it settles its names at once, and overtakes what came before it there.
        for reference in queue.iter().rev() {
            if self.is_pending(*reference) && !self.changes[reference.change].clean {
                self.settle_change(reference.change);
            }
        }
        queue.clear();
        *self.queue(directory) = queue;
    }

    /// A flush that failed: the name changes so far turn clean.
    pub(super) fn fail_names(&mut self, directory: u32) {
        for reference in std::mem::take(self.queue(directory)) {
            if self.is_pending(reference) {
                self.changes[reference.change].clean = true;
            }
        }
    }

    /// Makes one change durable on both its names.
    pub(super) fn settle_change(&mut self, change: u32) {
        let NameChange { operation, inode, from, to, over, .. } = self.changes[change];
        if over && self.profile == DiskProfile::Ordered {
            self.write_before_rename(inode, operation);
        }
        for entry in [from, to].into_iter().flatten() {
            self.settle_entry(entry, operation);
        }
    }

    fn write_before_renames(&mut self, queue: &[ChangeRef]) {
        for reference in queue {
            if self.is_pending(*reference) {
                let NameChange { operation, inode, over, clean, .. } = self.changes[reference.change];
                if over && !clean {
                    self.write_before_rename(inode, operation);
                }
            }
        }
    }

    /// Makes one change durable as the kernel writes back: with every earlier change that it could depend on.
    pub(super) fn settle_with_past(&mut self, change: u32) {
        let mut past: BTreeMap<u64, u32> = BTreeMap::new();
        let mut work = vec![change];
        while let Some(id) = work.pop() {
            let NameChange { operation, from, to, .. } = self.changes[id];
            if past.insert(operation, id).is_none() {
                let names = [from, to].into_iter().flatten();
                let shared = names.flat_map(|entry| self.entries[entry].changes.iter().copied());
                work.extend(shared.filter(|other| self.changes[*other].operation < operation));
            }
        }
        for (operation, change) in past {
            if self.is_pending(ChangeRef { change, operation }) {
                self.settle_change(change);
            }
        }
    }

    /// A rename over a file writes its data first (profile `ordered`).
    fn write_before_rename(&mut self, inode: u32, operation: u64) {
        let tag = self.tag;
        let content = self.content_mut(inode);
        content.settle_up_to(operation, tag);
        content.renamed_over.retain(|pending| *pending > operation);
        self.recount(inode);
    }

    /// Gives a name the durable value that `operation` left it with. Earlier changes of the name are overtaken. Where an
    /// inode went on from here to another name, that becomes durable, too, and so does the whole way by which an inode
    /// came to a durable name, lest an inode have no name or two.
    fn settle_entry(&mut self, entry: u32, operation: u64) {
        let mut work: SmallVec<[(u32, u64); 4]> = SmallVec::from_slice(&[(entry, operation)]);
        let mut touched: SmallVec<[u32; 4]> = SmallVec::new();
        while let Some((entry, operation)) = work.pop() {
            let Some(Entry { changes, .. }) = self.entries.get(entry) else { continue };
            let count = changes.iter().take_while(|id| self.changes[**id].operation <= operation).count();
            if count == 0 {
                continue;
            }
            let settled: SmallVec<[u32; 4]> = self.entries[entry].changes.drain(..count).collect();
            let last = self.changes[settled[count - 1]];
            self.set_base(entry, (last.to == Some(entry)).then_some(last.inode));
            if last.to == Some(entry) {
                self.way_here(last.before, &mut work);
            }
            for id in settled {
                work.extend(self.detach(id, entry));
            }
            touched.push(entry);
        }
        for entry in touched {
            self.tidy(entry);
        }
    }

    /// The names by which an inode came to where it is, as far as they are pending.
    fn way_here(&self, before: Option<ChangeRef>, work: &mut SmallVec<[(u32, u64); 4]>) {
        let mut before = before.filter(|before| self.is_pending(*before));
        while let Some(reference) = before {
            let NameChange { operation, from, to, before: earlier, .. } = self.changes[reference.change];
            work.extend([from, to].into_iter().flatten().map(|entry| (entry, operation)));
            before = earlier.filter(|earlier| self.is_pending(*earlier));
        }
    }

    /// Takes a change off one of its names. Gives the name where it must be settled in turn.
    pub(super) fn detach(&mut self, id: u32, entry: u32) -> Option<(u32, u64)> {
        let change = &mut self.changes[id];
        let mut turn = None;
        if change.from == Some(entry) {
            change.from = None;
            turn = change.to.map(|to| (to, change.operation));
        } else {
            change.to = None;
        }
        if change.from.is_none() && change.to.is_none() {
            let NameChange { inode, operation, over, .. } = self.remove_change(id);
            if over && self.profile == DiskProfile::Ordered {
                self.content_mut(inode).renamed_over.retain(|pending| *pending != operation);
            }
            self.release(inode);
        }
        turn
    }

    /// Pending changes in the order of issue.
    pub(super) fn changes_in_order(&self) -> Vec<ChangeRef> {
        let all =
            self.changes.iter().map(|(id, change)| ChangeRef { change: id, operation: change.operation });
        let mut all: Vec<_> = all.collect();
        all.sort_unstable_by_key(|reference| reference.operation);
        all
    }

    /// The kernel does not let name changes wait without end.
    pub(super) fn limit_pending_names(&mut self) {
        if self.changes.len() < PENDING_NAMES_MAX {
            return;
        }
        let pending = self.changes_in_order();
        for reference in &pending[..pending.len().div_ceil(2)] {
            if self.is_pending(*reference) {
                self.settle_change(reference.change);
            }
        }
        for directory in self.directories() {
            let mut queue = std::mem::take(self.queue(directory));
            queue.retain(|reference| self.is_pending(*reference));
            *self.queue(directory) = queue;
        }
    }

    /// Nothing waits for a flush any more.
    pub(super) fn clear_queues(&mut self) {
        for directory in self.directories() {
            self.queue(directory).clear();
        }
    }

    /// Every directory.
    pub(super) fn directories(&self) -> Vec<u32> {
        self.inodes
            .iter()
            .filter(|(_, inode)| matches!(inode.node, Node::Directory { .. }))
            .map(|(id, _)| id)
            .collect()
    }
}
