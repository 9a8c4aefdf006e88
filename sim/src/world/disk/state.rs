//! The state of a disk as its next life meets it, named by a digest.
//!
//! Promise: two disks with one digest read alike, and whatever is done to both from here on, a power failure can leave the
//! same of both. What is deleted unread, and how the state came about (numbers of inodes and operations), is not in it.

use super::content::{ContentChange, FileContent};
use super::names::NameChange;
use super::platter::{Platter, SECTOR_BYTES};
use super::scope::{Scope, Unread};
use super::{Disk, Node};
use groundhog_engine::host::disk::DiskPath;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

/// Names one state: a sum of what its names and its pending changes hash to, so that images differing in one name are told
/// apart at the price of that name. It guards against accident, where 128 bits are plenty.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct State(pub u128);

impl State {
    pub(super) const fn with(self, part: u128) -> Self {
        Self(self.0.wrapping_add(part))
    }
}

impl Serialize for State {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

impl<'de> Deserialize<'de> for State {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let digits = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        u128::from_str_radix(&digits, 16).map(State).map_err(serde::de::Error::custom)
    }
}

impl fmt::Display for State {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

fn digest(kind: u8, parts: &[&[u8]]) -> u128 {
    let mut hash = Sha256::new_with_prefix([kind]);
    for part in parts {
        hash.update((part.len() as u64).to_le_bytes());
        hash.update(part);
    }
    let mut first = [0; 16];
    first.copy_from_slice(&hash.finalize()[..16]);
    u128::from_le_bytes(first)
}

/// What a name that leads to a directory adds to a state.
pub(super) fn directory_part(path: &DiskPath) -> u128 {
    digest(b'd', &[path.as_str().as_bytes()])
}

/// What a directory that holds nothing but names that are deleted unread adds to a state.
pub(super) fn bare_part(path: &str) -> u128 {
    digest(b'b', &[path.as_bytes()])
}

/// What a name that leads to a file of this content adds to a state.
pub(super) fn file_part(path: &DiskPath, content: u128) -> u128 {
    digest(b'f', &[path.as_str().as_bytes(), &content.to_le_bytes()])
}

/// A file's content after a power failure.
pub(super) fn platter_content(platter: &Platter) -> u128 {
    let seen = |sector: &u32| (*sector as usize) * SECTOR_BYTES < platter.size;
    content(&platter.content(), platter.bad.iter().copied().filter(seen))
}

/// A file's content as a reader sees it.
fn visible_content(file: &FileContent) -> u128 {
    let unreadable =
        |sector: &u32| (*sector as usize) * SECTOR_BYTES < file.now.len() && !file.is_cached(*sector);
    content(&file.now, file.base.bad.iter().copied().filter(unreadable))
}

fn content(bytes: &[u8], bad: impl Iterator<Item = u32>) -> u128 {
    let bad: Vec<u8> = bad.flat_map(u32::to_le_bytes).collect();
    digest(b'c', &[bytes, &bad])
}

impl Disk {
    /// The state that the next life would meet if this one ended now.
    #[must_use]
    pub fn state(&self, unread: Unread<'_>) -> State {
        let scope = Scope::of(self, unread);
        let mut state = State::default();
        let (mut furnished, mut bare) = (BTreeSet::new(), BTreeSet::new());
        for (path, id) in &self.names {
            let entry = &self.entries[*id];
            let Some(inode) = entry.now.filter(|_| !path.as_str().is_empty()) else { continue };
            if !scope.read.contains(id) {
                bare.insert(entry.directory);
                continue;
            }
            furnished.insert(entry.directory);
            state = state.with(match &self.inodes[inode].node {
                Node::Directory { .. } => directory_part(path),
                Node::File(content) => file_part(path, visible_content(content)),
            });
        }
        for directory in bare.difference(&furnished) {
            state = state.with(bare_part(self.path_of(*directory)));
        }
        let pending = Pending::of(self, &scope);
        if pending.is_empty() { state } else { state.with(digest(b'p', &[&pending.bytes])) }
    }

    /// The path of a directory that a reader sees.
    pub(super) fn path_of(&self, directory: u32) -> &str {
        let leads = |(_, id): &(&DiskPath, &u32)| self.entries[**id].now == Some(directory);
        self.names.iter().find(leads).map_or("", |(path, _)| path.as_str())
    }
}

/// Writes down what is pending and counts, with inodes numbered as they are met.
struct Pending<'a> {
    disk: &'a Disk,
    bytes: Vec<u8>,
    numbers: BTreeMap<u32, u32>,
    met: Vec<u32>,
}

impl<'a> Pending<'a> {
    fn of(disk: &'a Disk, scope: &Scope) -> Self {
        let mut pending = Self { disk, bytes: Vec::new(), numbers: BTreeMap::new(), met: Vec::new() };
        let changes: Vec<_> = disk.changes_in_order().into_iter().map(|reference| reference.change).collect();
        let changes: Vec<u32> =
            changes.into_iter().filter(|change| scope.touches(&disk.changes[*change])).collect();
        let entries = unsettled(disk, scope);
        if changes.is_empty() && entries.is_empty() {
            return pending;
        }
        changes.iter().for_each(|change| pending.change(*change));
        entries.iter().for_each(|entry| pending.entry(*entry));
        let mut place = 0;
        while let Some(inode) = pending.met.get(place).copied() {
            pending.inode(inode, &changes);
            place += 1;
        }
        pending
    }

    fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }

    fn number(&mut self, value: u64) {
        self.bytes.extend_from_slice(&value.to_le_bytes());
    }

    fn text(&mut self, bytes: &[u8]) {
        self.number(bytes.len() as u64);
        self.bytes.extend_from_slice(bytes);
    }

    /// An inode by its place among those met, from 1; 0 for none.
    fn refer(&mut self, inode: Option<u32>) {
        let number = inode.map_or(0, |inode| {
            *self.numbers.entry(inode).or_insert_with(|| {
                self.met.push(inode);
                self.met.len() as u32
            })
        });
        self.number(number.into());
    }

    fn name(&mut self, entry: Option<u32>) {
        let disk = self.disk;
        match entry {
            Some(entry) => {
                self.text(disk.entries[entry].path.as_str().as_bytes());
                self.refer(Some(disk.entries[entry].directory));
            }
            None => self.text(b"/"),
        }
    }

    fn change(&mut self, change: u32) {
        let change = self.disk.changes[change];
        self.bytes.push(b'n');
        self.name(change.from);
        self.name(change.to);
        self.refer(Some(change.inode));
        self.bytes.extend([change.creates, change.clean, change.over].map(u8::from));
    }

    fn entry(&mut self, entry: u32) {
        let (base, now) = (self.disk.entries[entry].base, self.disk.entries[entry].now);
        self.bytes.push(b'e');
        self.name(Some(entry));
        self.refer(base);
        self.refer(now);
    }

    fn inode(&mut self, inode: u32, changes: &[u32]) {
        let disk = self.disk;
        let Node::File(file) = &disk.inodes[inode].node else { return self.bytes.push(b'd') };
        self.bytes.push(b'f');
        self.text(&file.now);
        self.text(&file.base.blocks);
        self.number(file.base.size as u64);
        self.number(file.base.bad.len() as u64);
        file.base.bad.iter().for_each(|sector| self.number((*sector).into()));
        self.number(file.changes.len() as u64);
        file.changes.iter().for_each(|change| self.content_change(change));
        for (place, change) in changes.iter().enumerate() {
            let NameChange { inode: whose, operation, .. } = disk.changes[*change];
            if whose == inode && file.renamed_over.contains(&operation) {
                // What was written before the rename is whole where the rename survives.
                let before = file.changes.iter().filter(|change| change.operation <= operation).count();
                self.number(place as u64);
                self.number(before as u64);
            }
        }
    }

    fn content_change(&mut self, change: &ContentChange) {
        self.bytes.extend([u8::from(change.clean), u8::from(change.size.is_some())]);
        self.number(change.size.unwrap_or(0) as u64);
        for sector in change.undecided() {
            self.number(u64::from(sector) + 1);
            self.text(change.sector(sector));
            self.bytes.push(u8::from(change.is_bad(sector)));
        }
        self.number(0);
    }
}

/// Names that count and of which something is not durable, in the order of their paths.
fn unsettled(disk: &Disk, scope: &Scope) -> Vec<u32> {
    let is_pending = |inode: u32| match &disk.inodes[inode].node {
        Node::File(content) => !content.changes.is_empty(),
        Node::Directory { .. } => false,
    };
    let unsettled = |id: &u32| {
        let entry = &disk.entries[*id];
        !entry.changes.is_empty() || entry.base != entry.now || entry.now.is_some_and(is_pending)
    };
    let mut names: Vec<u32> = scope.counting.iter().copied().filter(unsettled).collect();
    names.sort_by(|a, b| {
        let key = |id: u32| (&disk.entries[id].path, disk.inodes[disk.entries[id].directory].number);
        key(*a).cmp(&key(*b))
    });
    names
}
