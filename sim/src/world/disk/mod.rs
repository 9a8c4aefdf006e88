//! One node's disk: what a reader sees, what is durable, and everything in between, for each name and each sector.
//!
//! Promise: a pure state machine. Its caller owns time, chance and faults; the same calls give the same disk. Inodes and
//! names are apart: a file flush makes bytes and size durable and not the name, a directory flush makes its name changes
//! so far durable, a rename over a name leaves the old or the new file and never neither. What is not flushed survives a
//! process crash, still unflushed, and each part of it survives a power failure or not by itself (design section 3).
//!
//! Where the design leaves room: directories cannot be renamed (engines do not); a removed directory takes with it what is
//! undecided of the names in it; a rename between two directories is one change, which a flush of either makes durable; a
//! file has one size, so that a flush which writes anything of a file writes its size.

mod case;
mod certain;
mod choice;
mod content;
mod crash;
mod directories;
mod ends;
mod fault;
mod handle;
mod images;
mod media;
mod names;
mod operations;
mod platter;
mod removed;
mod scope;
mod slab;
mod state;
mod survive;
#[cfg(test)]
mod tests;

pub use choice::{Certainty, Choice, Choose, Found, PowerLossReport};
pub use content::Tag;
pub use ends::Ends;
pub use fault::OpFault;
pub use images::{Image, Images};
pub use operations::changes_the_disk;
pub use platter::SECTOR_BYTES;
pub use scope::Unread;
pub use state::State;

use crate::plan::DiskProfile;
use content::{FileContent, found_in};
use groundhog_engine::host::disk::{DiskPath, FileHandle};
use handle::Handles;
use indexmap::{Equivalent, IndexMap};
use names::{ChangeRef, Entry, NameChange};
use rustc_hash::FxBuildHasher;
use slab::Slab;
use std::hash::{Hash, Hasher};

/// The longest file that the disk holds, in bytes. A write beyond it finds no space.
pub const FILE_BYTES_MAX: u64 = 64 << 20;

/// Name changes that may wait for a flush. When more do, the kernel writes the older half back.
pub const PENDING_NAMES_MAX: usize = 65_536;

/// What a file takes on the medium beside its sectors, in bytes.
pub const INODE_BYTES: u64 = SECTOR_BYTES as u64;

/// What a disk is made with.
#[derive(Clone, Debug)]
pub struct DiskConfig {
    /// What a power failure may do to what is not flushed.
    pub profile: DiskProfile,
    /// Space on the medium in bytes, one sector a file included; unlimited when `None`.
    pub capacity_bytes: Option<u64>,
    /// Directories that are there and durable from the beginning, each after its parent. The root always is.
    pub directories: Vec<DiskPath>,
    /// Tells a record's generation from a whole file.
    pub tag: Tag,
}

/// Whether a file of this name is counted.
type Counts = fn(&str) -> bool;

/// A file or a directory, apart from its names.
#[derive(Clone, Debug)]
struct Inode {
    /// Never used again, unlike its place in the slab.
    number: u64,
    /// Names, pending name changes and open handles that refer to it. It is freed when nothing does.
    references: u32,
    /// Bytes that it takes on the medium.
    allocated_bytes: u64,
    node: Node,
}

#[derive(Clone, Debug)]
enum Node {
    File(FileContent),
    Directory {
        /// Name changes in it that the next flush of it makes durable (profile `strict`).
        unflushed: Vec<ChangeRef>,
        /// Whose lock is on it.
        lock: Option<FileHandle>,
        /// Names in it while it is removed: a reader sees none of them, a power failure could bring them back.
        hidden: Vec<u32>,
    },
}

/// One node's disk. Survives its lives.
#[derive(Clone, Debug)]
pub struct Disk {
    profile: DiskProfile,
    capacity_bytes: Option<u64>,
    tag: Tag,
    /// What an empty file holds as a record.
    empty: Found,
    /// Operations so far, over all lives.
    operation: u64,
    inode_numbers: u64,
    used_bytes: u64,
    read_only: bool,
    /// The root directory.
    root: u32,
    inodes: Slab<Inode>,
    /// Every path that is, or that could be again in a directory that a reader sees.
    names: IndexMap<DiskPath, u32, FxBuildHasher>,
    entries: Slab<Entry>,
    changes: Slab<NameChange>,
    /// Pending changes of directories: while there is none, no path can lose a directory above it.
    pending_directories: u32,
    /// Name changes that the next flush of anything makes durable (profile `ordered`).
    unflushed: Vec<ChangeRef>,
    handles: Handles,
    /// How names are written on a volume that ignores case; `None` on one that does not.
    written: Option<case::Written>,
    /// Which files of which directory are counted, by name.
    counts: Option<(DiskPath, Counts)>,
}

/// The text of a path, equal in hash to the path.
struct PathText<'a>(&'a str);

impl Hash for PathText<'_> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        self.0.hash(state);
    }
}

impl Equivalent<DiskPath> for PathText<'_> {
    fn equivalent(&self, path: &DiskPath) -> bool {
        self.0 == path.as_str()
    }
}

impl Disk {
    /// An empty disk with its directories.
    ///
    /// # Panics
    /// When a directory's parent does not stand before it.
    #[must_use]
    pub fn new(config: DiskConfig) -> Self {
        let mut disk = Self {
            profile: config.profile,
            capacity_bytes: config.capacity_bytes,
            tag: config.tag,
            empty: found_in(config.tag, &[]),
            operation: 0,
            inode_numbers: 0,
            used_bytes: 0,
            read_only: false,
            root: 0,
            inodes: Slab::new(),
            names: IndexMap::default(),
            entries: Slab::new(),
            changes: Slab::new(),
            pending_directories: 0,
            unflushed: Vec::new(),
            handles: Handles::default(),
            written: None,
            counts: None,
        };
        disk.root = disk.new_directory();
        disk.place(&DiskPath::root(), disk.root);
        for path in &config.directories {
            assert!(disk.directory_of(path).is_ok(), "the parent of {path} stands before it");
            let directory = disk.new_directory();
            disk.place(path, directory);
        }
        disk
    }

    /// A new life begins: handles and locks of the old one are dead, and a file system that had turned read-only is
    /// mounted again.
    pub fn start_life(&mut self) {
        self.process_crash();
        self.read_only = false;
    }

    /// Operations so far, over all lives: the number that the last one's choices carry.
    #[must_use]
    pub const fn operations(&self) -> u64 {
        self.operation
    }

    /// Bytes taken on the medium, one sector a file included.
    #[must_use]
    pub const fn used_bytes(&self) -> u64 {
        self.used_bytes
    }

    /// Whether the file system has turned read-only, until the next life.
    #[must_use]
    pub const fn is_read_only(&self) -> bool {
        self.read_only
    }

    /// Files and directories that take memory, reachable by a reader or not: bounded by what is on the disk and what
    /// waits for a flush.
    #[must_use]
    pub fn inode_count(&self) -> usize {
        self.inodes.len()
    }

    /// Name changes that wait for a flush.
    #[must_use]
    pub fn pending_names(&self) -> usize {
        self.changes.len()
    }

    fn new_directory(&mut self) -> u32 {
        self.new_inode(Node::Directory { unflushed: Vec::new(), lock: None, hidden: Vec::new() })
    }

    fn new_file(&mut self) -> u32 {
        self.new_inode(Node::File(FileContent::new(self.empty)))
    }

    fn new_inode(&mut self, node: Node) -> u32 {
        self.inode_numbers += 1;
        self.used_bytes += INODE_BYTES;
        let number = self.inode_numbers;
        self.inodes.insert(Inode { number, references: 0, allocated_bytes: INODE_BYTES, node })
    }

    /// Whether this many bytes more can be taken.
    fn has_room(&self, bytes: u64) -> bool {
        self.capacity_bytes.is_none_or(|capacity| self.used_bytes + bytes <= capacity)
    }

    fn refer(&mut self, inode: u32) {
        self.inodes[inode].references += 1;
    }

    /// Lets go of one reference to an inode, and of the inode with the last.
    fn release(&mut self, inode: u32) {
        let references = &mut self.inodes[inode].references;
        *references -= 1;
        if *references == 0 {
            let freed = self.inodes.remove(inode);
            self.used_bytes -= freed.allocated_bytes;
            if let Node::Directory { hidden, .. } = freed.node {
                hidden.into_iter().for_each(|entry| self.drop_entry(entry));
            }
        }
    }

    /// Counts what a file takes on the medium after a change of it.
    fn recount(&mut self, inode: u32) {
        let inode = &mut self.inodes[inode];
        let Node::File(content) = &inode.node else { return };
        let allocated = INODE_BYTES + content.allocated_bytes() as u64;
        self.used_bytes = self.used_bytes - inode.allocated_bytes + allocated;
        inode.allocated_bytes = allocated;
    }

    fn content(&self, inode: u32) -> &FileContent {
        match &self.inodes[inode].node {
            Node::File(content) => content,
            Node::Directory { .. } => unreachable!("a file was expected"),
        }
    }

    fn content_mut(&mut self, inode: u32) -> &mut FileContent {
        match &mut self.inodes[inode].node {
            Node::File(content) => content,
            Node::Directory { .. } => unreachable!("a file was expected"),
        }
    }

    fn is_directory(&self, inode: u32) -> bool {
        matches!(self.inodes[inode].node, Node::Directory { .. })
    }
}
