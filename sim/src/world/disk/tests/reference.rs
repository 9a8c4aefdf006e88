//! A second disk, as slow and as plain as the semantics can be written down: a list of effects that no flush has taken
//! yet, each of which survives or not, applied in order to what is durable.

use super::*;
use std::collections::{BTreeMap, BTreeSet};

/// What a reader finds: each path with its bytes, as [`runs`] writes them; `None` for a directory.
pub(super) type Image = BTreeMap<String, Option<String>>;

/// Bytes, so short that a person can read them: `2x512 0x88`.
pub(super) fn runs(bytes: &[u8]) -> String {
    let runs: Vec<String> =
        bytes.chunk_by(|a, b| a == b).map(|run| format!("{}x{}", run[0], run.len())).collect();
    runs.join(" ")
}

const SECTOR: usize = 512;

/// The directory `d`, which is always there.
const D: u64 = 0;

/// A name in a directory.
type Place = (u64, String);

#[derive(Clone, Debug, Default)]
struct State {
    names: BTreeMap<Place, u64>,
    blocks: BTreeMap<u64, Vec<u8>>,
    sizes: BTreeMap<u64, usize>,
}

#[derive(Clone, Debug)]
enum What {
    Create { at: Place, inode: u64 },
    Remove { at: Place, inode: u64 },
    Rename { from: Place, to: Place, inode: u64, over: bool },
    Size { inode: u64, size: usize },
    Sector { inode: u64, sector: usize, bytes: Vec<u8> },
}

#[derive(Clone, Debug)]
struct Effect {
    operation: u64,
    what: What,
}

impl Effect {
    /// The directory, for a name change.
    fn directory(&self) -> Option<u64> {
        match &self.what {
            What::Create { at, .. } | What::Remove { at, .. } | What::Rename { to: at, .. } => Some(at.0),
            What::Size { .. } | What::Sector { .. } => None,
        }
    }

    /// The file, for a change of its bytes.
    fn content_of(&self) -> Option<u64> {
        match self.what {
            What::Size { inode, .. } | What::Sector { inode, .. } => Some(inode),
            _ => None,
        }
    }
}

/// The directory of a name.
pub(super) fn parent(name: &str) -> &str {
    name.rsplit_once('/').map_or("", |(parent, _)| parent)
}

impl State {
    fn apply(&mut self, what: &What) {
        match what {
            What::Create { at, inode } => {
                self.names.entry(at.clone()).or_insert(*inode);
            }
            What::Remove { at, inode } => {
                if self.names.get(at) == Some(inode) {
                    self.names.remove(at);
                }
            }
            What::Rename { from, to, inode, .. } => {
                if self.names.get(from) == Some(inode) {
                    self.names.remove(from);
                    self.names.insert(to.clone(), *inode);
                }
            }
            What::Size { inode, size } => {
                self.sizes.insert(*inode, *size);
                if *size == 0 {
                    self.blocks.insert(*inode, Vec::new());
                }
            }
            What::Sector { inode, sector, bytes } => {
                let blocks = self.blocks.entry(*inode).or_default();
                let start = sector * SECTOR;
                blocks.resize(blocks.len().max(start + SECTOR), 0);
                blocks[start..start + SECTOR].fill(0);
                blocks[start..start + bytes.len()].copy_from_slice(bytes);
            }
        }
    }

    fn content(&self, inode: u64) -> Vec<u8> {
        let mut bytes = self.blocks.get(&inode).cloned().unwrap_or_default();
        bytes.resize(self.sizes.get(&inode).copied().unwrap_or(0), 0);
        bytes
    }

    /// The inode of a path.
    fn find(&self, path: &str) -> Option<u64> {
        if path == "d" {
            return Some(D);
        }
        let (above, name) = path.rsplit_once('/').expect("every path is below `d`");
        self.names.get(&(self.find(above)?, name.to_owned())).copied()
    }

    fn image(&self, directories: &BTreeSet<u64>) -> Image {
        let mut image = Image::new();
        self.add_below(D, "d", directories, &mut image);
        image
    }

    fn add_below(&self, directory: u64, path: &str, directories: &BTreeSet<u64>, image: &mut Image) {
        for ((_, name), inode) in self.names.iter().filter(|((above, _), _)| *above == directory) {
            let path = format!("{path}/{name}");
            if directories.contains(inode) {
                self.add_below(*inode, &path, directories, image);
                image.insert(path, None);
            } else {
                image.insert(path, Some(runs(&self.content(*inode))));
            }
        }
    }
}

/// The second disk. It takes only requests that succeed, and renames within a directory.
#[derive(Clone, Debug)]
pub(super) struct Reference {
    profile: DiskProfile,
    operation: u64,
    base: State,
    now: State,
    directories: BTreeSet<u64>,
    unflushed: Vec<Effect>,
}

impl Reference {
    pub(super) fn new(profile: DiskProfile) -> Self {
        let (base, now) = (State::default(), State::default());
        Self { profile, operation: 0, base, now, directories: BTreeSet::new(), unflushed: Vec::new() }
    }

    pub(super) fn has(&self, path: &str) -> bool {
        self.now.find(path).is_some()
    }

    /// Whether nothing is in a directory.
    pub(super) fn is_empty(&self, directory: &str) -> bool {
        let inode = self.inode(directory);
        self.now.names.keys().all(|(above, _)| *above != inode)
    }

    fn inode(&self, path: &str) -> u64 {
        self.now.find(path).expect("it is there")
    }

    fn place(&self, path: &str) -> Place {
        let (above, name) = path.rsplit_once('/').expect("every path is below `d`");
        (self.inode(above), name.to_owned())
    }

    /// An operation that failed.
    pub(super) fn pass(&mut self) {
        self.operation += 1;
    }

    fn issue(&mut self, what: What) {
        self.now.apply(&what);
        self.unflushed.push(Effect { operation: self.operation, what });
    }

    pub(super) fn create(&mut self, name: &str) -> u64 {
        self.operation += 1;
        if let Some(inode) = self.now.find(name) {
            if !self.now.content(inode).is_empty() {
                self.issue(What::Size { inode, size: 0 });
            }
            return inode;
        }
        let inode = self.operation;
        self.issue(What::Create { at: self.place(name), inode });
        inode
    }

    pub(super) fn create_directory(&mut self, name: &str) {
        let inode = self.create(name);
        self.directories.insert(inode);
    }

    pub(super) fn write(&mut self, inode: u64, offset: usize, bytes: &[u8]) {
        self.operation += 1;
        let mut now = self.now.content(inode);
        let old = now.len();
        now.resize(old.max(offset + bytes.len()), 0);
        now[offset..offset + bytes.len()].copy_from_slice(bytes);
        if now.len() > old {
            self.issue(What::Size { inode, size: now.len() });
        }
        for sector in offset / SECTOR..(offset + bytes.len()).div_ceil(SECTOR) {
            let bytes = now[sector * SECTOR..now.len().min((sector + 1) * SECTOR)].to_vec();
            self.issue(What::Sector { inode, sector, bytes });
        }
    }

    pub(super) fn remove(&mut self, name: &str) {
        self.operation += 1;
        let inode = self.inode(name);
        self.issue(What::Remove { at: self.place(name), inode });
    }

    pub(super) fn rename(&mut self, from: &str, to: &str) {
        self.operation += 1;
        let (inode, over) = (self.inode(from), self.has(to));
        self.issue(What::Rename { from: self.place(from), to: self.place(to), inode, over });
    }

    pub(super) fn flush(&mut self, inode: u64) {
        self.operation += 1;
        self.make_durable(|effect| effect.content_of() == Some(inode));
        if self.profile == DiskProfile::Ordered {
            self.commit();
        }
    }

    pub(super) fn flush_directory(&mut self, directory: &str) {
        self.operation += 1;
        let directory = self.inode(directory);
        match self.profile {
            DiskProfile::Strict => self.make_durable(|effect| effect.directory() == Some(directory)),
            DiskProfile::Ordered => self.commit(),
        }
    }

    /// All names are durable, and with a rename over a file what was written to it before.
    fn commit(&mut self) {
        let renames = self.unflushed.iter().filter_map(|effect| match effect.what {
            What::Rename { inode, over: true, .. } => Some((inode, effect.operation)),
            _ => None,
        });
        for (inode, operation) in renames.collect::<Vec<_>>() {
            self.make_durable(|effect| effect.content_of() == Some(inode) && effect.operation < operation);
        }
        self.make_durable(|effect| effect.directory().is_some());
    }

    fn make_durable(&mut self, mut takes: impl FnMut(&Effect) -> bool) {
        let (taken, left) = std::mem::take(&mut self.unflushed).into_iter().partition(|effect| takes(effect));
        self.unflushed = left;
        let taken: Vec<Effect> = taken;
        taken.iter().for_each(|effect| self.base.apply(&effect.what));
    }

    pub(super) fn visible(&self) -> Image {
        self.now.image(&self.directories)
    }

    /// Every image that a power failure now could leave.
    pub(super) fn images(&self) -> BTreeSet<Image> {
        let count = self.unflushed.len();
        let all = (0_u32..1 << count).filter(|kept| self.may_survive(*kept));
        all.map(|kept| {
            let mut state = self.base.clone();
            let survivors = self.unflushed.iter().enumerate().filter(|(index, _)| kept >> index & 1 == 1);
            survivors.for_each(|(_, effect)| state.apply(&effect.what));
            state.image(&self.directories)
        })
        .collect()
    }

    fn may_survive(&self, kept: u32) -> bool {
        if self.profile == DiskProfile::Strict {
            return true;
        }
        let survives = |index: usize| kept >> index & 1 == 1;
        let effects = || self.unflushed.iter().enumerate();
        let whole = |inode: u64, up_to: u64| {
            effects().all(|(index, effect)| {
                effect.content_of() != Some(inode) || effect.operation > up_to || survives(index)
            })
        };
        let mut journal_ended = false;
        effects().all(|(index, effect)| match effect.what {
            What::Size { inode, .. } => !survives(index) || whole(inode, effect.operation),
            What::Sector { .. } => true,
            What::Create { .. } | What::Remove { .. } | What::Rename { .. } => {
                let gap = journal_ended && survives(index);
                journal_ended |= !survives(index);
                let unwritten = match effect.what {
                    What::Rename { inode, over: true, .. } => {
                        survives(index) && !whole(inode, effect.operation)
                    }
                    _ => false,
                };
                !gap && !unwritten
            }
        })
    }
}
