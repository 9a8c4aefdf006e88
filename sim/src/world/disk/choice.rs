//! What chance decides about a disk, named by identity, and what came of it.
//!
//! Promise: a choice's name depends on the operation that made it and on nothing that happened since, so that a caller
//! can draw one random number for each name and get the same disk in whatever order it is asked.

use smallvec::SmallVec;

/// One thing that survives or not by itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Choice {
    /// The name change of one operation: a creation, a removal, or both halves of a rename.
    Name {
        /// The operation, numbered from 1 over all lives of the disk.
        operation: u64,
    },
    /// The size that one operation gave to a file.
    Size {
        /// The file, by a number that is never used again.
        inode: u64,
        /// The operation.
        operation: u64,
    },
    /// One sector that one operation wrote.
    Sector {
        /// The file, by a number that is never used again.
        inode: u64,
        /// The operation.
        operation: u64,
        /// The sector's place in the file, in units of 512 bytes.
        sector: u32,
    },
    /// Whether an operation that a death cut short took effect.
    Effect {
        /// The operation.
        operation: u64,
    },
}

/// Decides whether what a choice names survives, is written back, or takes effect.
pub type Choose<'a> = &'a mut dyn FnMut(Choice) -> bool;

/// What a power failure left of the changes that were not yet durable.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PowerLossReport {
    /// Name changes that survived.
    pub names_kept: u32,
    /// Name changes that did not.
    pub names_lost: u32,
    /// Sizes and sectors that survived.
    pub contents_kept: u32,
    /// Sizes and sectors that did not.
    pub contents_lost: u32,
}

impl PowerLossReport {
    /// Changes that survived.
    #[must_use]
    pub const fn kept(&self) -> u32 {
        self.names_kept + self.contents_kept
    }

    /// Changes that did not.
    #[must_use]
    pub const fn lost(&self) -> u32 {
        self.names_lost + self.contents_lost
    }
}

/// What one path holds in one state of the disk, as a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Found {
    /// No file has that name.
    Absent,
    /// A file that is no whole record, or that cannot be read.
    Torn,
    /// A whole record of this generation.
    Generation(u64),
}

impl Found {
    /// The generation of a whole record.
    #[must_use]
    pub const fn generation(self) -> Option<u64> {
        match self {
            Found::Generation(generation) => Some(generation),
            Found::Absent | Found::Torn => None,
        }
    }
}

/// What a path holds over all states that a power failure now could leave.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Certainty {
    /// The same in each of them.
    Certain(Found),
    /// One of these: distinct, in order, at least two.
    Uncertain(SmallVec<[Found; 4]>),
}

impl Certainty {
    /// From what was found in each state.
    pub(super) fn from_found(mut found: SmallVec<[Found; 4]>) -> Self {
        found.sort_unstable();
        found.dedup();
        assert!(!found.is_empty(), "some state survives");
        if let [only] = found[..] { Self::Certain(only) } else { Self::Uncertain(found) }
    }
}
