//! What a file is on the medium: blocks, a size, and sectors that cannot be read.
//!
//! Promise: blocks and size change apart, as on a disk; a size without its blocks reads as what stood there, or zeros.

use bytes::Bytes;

/// Bytes in a sector: the unit that a power failure cannot tear.
pub const SECTOR_BYTES: usize = 512;

/// A file on the medium.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Platter {
    /// What was written, from the file's start. May be shorter or longer than `size`.
    pub(super) blocks: Bytes,
    pub(super) size: usize,
    /// Sectors that cannot be read, in order.
    pub(super) bad: Vec<u32>,
}

impl Platter {
    /// The file's bytes as a reader would get them if no sector were bad.
    pub(super) fn content(&self) -> Bytes {
        if self.blocks.len() >= self.size {
            return self.blocks.slice(..self.size);
        }
        let mut content = self.blocks.to_vec();
        content.resize(self.size, 0);
        content.into()
    }

    /// Whether every sector below the size can be read.
    pub(super) fn is_readable(&self) -> bool {
        self.bad.iter().all(|sector| *sector as usize * SECTOR_BYTES >= self.size)
    }

    /// Opens the medium for changes, which are collected by the returned pen.
    pub(super) fn pen(&self) -> Pen {
        Pen { blocks: self.blocks.to_vec(), size: self.size, bad: self.bad.clone() }
    }
}

/// A medium being changed.
#[derive(Debug)]
pub(super) struct Pen {
    blocks: Vec<u8>,
    size: usize,
    bad: Vec<u32>,
}

impl Pen {
    /// Sets the size; zero frees the blocks.
    pub(super) fn set_size(&mut self, size: usize) {
        if size == 0 {
            self.blocks.clear();
            self.bad.clear();
        }
        self.size = size;
    }

    /// Writes one whole sector: `bytes`, then zeros.
    pub(super) fn write_sector(&mut self, sector: u32, bytes: &[u8], bad: bool) {
        debug_assert!(bytes.len() <= SECTOR_BYTES, "one sector at a time");
        let start = sector as usize * SECTOR_BYTES;
        if self.blocks.len() < start + bytes.len() {
            self.blocks.resize(start + bytes.len(), 0);
        }
        let end = self.blocks.len().min(start + SECTOR_BYTES);
        self.blocks[start..start + bytes.len()].copy_from_slice(bytes);
        self.blocks[start + bytes.len()..end].fill(0);
        self.bad.retain(|other| *other != sector);
        if bad {
            self.bad.push(sector);
            self.bad.sort_unstable();
        }
    }

    pub(super) fn finish(self) -> Platter {
        Platter { blocks: self.blocks.into(), size: self.size, bad: self.bad }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn platter(blocks: &[u8], size: usize) -> Platter {
        Platter { blocks: Bytes::copy_from_slice(blocks), size, bad: Vec::new() }
    }

    #[test]
    fn a_size_without_blocks_reads_as_zeros_and_blocks_without_a_size_are_not_seen() {
        assert_eq!(platter(b"ab", 4).content(), &b"ab\0\0"[..]);
        assert_eq!(platter(b"abcd", 2).content(), &b"ab"[..]);
        assert_eq!(platter(b"", 0).content(), &b""[..]);
    }

    #[test]
    fn old_blocks_show_again_under_a_size_that_was_never_cut() {
        let mut pen = platter(&[7; 600], 600).pen();
        pen.write_sector(0, b"new", false);
        let after = pen.finish();
        let mut expected = vec![0; 600];
        expected[..3].copy_from_slice(b"new");
        expected[512..].fill(7);
        assert_eq!(after.content(), expected);
    }

    #[test]
    fn cutting_frees_blocks_so_that_growing_again_reads_zeros() {
        let mut pen = platter(&[7; 600], 600).pen();
        pen.set_size(0);
        pen.set_size(4);
        assert_eq!(pen.finish().content(), &[0; 4][..]);
    }

    #[test]
    fn a_bad_sector_is_cured_by_writing_it_or_by_cutting_it_off() {
        let mut pen = platter(&[7; 1024], 1024).pen();
        pen.write_sector(1, &[8; 512], true);
        let bad = pen.finish();
        assert!(!bad.is_readable());
        let mut pen = bad.pen();
        pen.write_sector(1, &[9; 512], false);
        assert!(pen.finish().is_readable());
        let mut pen = bad.pen();
        pen.set_size(0);
        pen.set_size(1024);
        assert!(pen.finish().is_readable());
    }
}
