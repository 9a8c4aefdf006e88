//! Damage at rest: to what is durable, whoever is or is not at work.
//!
//! Promise: a reader sees the damage where the page cache has nothing newer, and it ends when the place is written again.

use super::content::flip;
use super::{Disk, Node, SECTOR_BYTES};
use groundhog_engine::host::disk::DiskPath;

impl Disk {
    /// Flips one bit of the durable content of the file under this path, modulo its number of bits. Gives whether there
    /// was one.
    pub fn flip_bit(&mut self, path: &DiskPath, bit: u64) -> bool {
        let tag = self.tag;
        let Some(inode) = self.inode_at(path).filter(|inode| !self.is_directory(*inode)) else {
            return false;
        };
        let content = self.content_mut(inode);
        if content.base.blocks.is_empty() {
            return false;
        }
        let bit = bit % (content.base.blocks.len() as u64 * 8);
        content.base.blocks = flip(&content.base.blocks, bit);
        content.base_found = content.found_on(&content.base, tag);
        let byte = (bit / 8) as usize;
        if byte < content.now.len() && !content.is_cached((byte / SECTOR_BYTES) as u32) {
            content.now = flip(&content.now, bit);
            content.now_found = super::content::found_in(tag, &content.now);
        }
        true
    }

    /// Makes one sector of the file under this path unreadable, modulo its number of sectors. Gives whether there was one.
    pub fn break_sector(&mut self, path: &DiskPath, sector: u32) -> bool {
        let tag = self.tag;
        let Some(inode) = self.inode_at(path).filter(|inode| !self.is_directory(*inode)) else {
            return false;
        };
        let content = self.content_mut(inode);
        let sectors = content.base.size.div_ceil(SECTOR_BYTES) as u32;
        if sectors == 0 {
            return false;
        }
        let sector = sector % sectors;
        if let Err(place) = content.base.bad.binary_search(&sector) {
            content.base.bad.insert(place, sector);
        }
        content.base_found = content.found_on(&content.base, tag);
        true
    }

    /// Every fault ends (quiescence): each sector is readable again, with what was written there, and nobody is told any
    /// more of a flush that failed before. What was damaged otherwise stays so.
    pub fn heal(&mut self) {
        self.mend_sectors();
        self.handles.forgive();
    }

    /// Makes every sector readable again, with what was written there.
    pub fn mend_sectors(&mut self) {
        let tag = self.tag;
        let damaged = |node: &Node| matches!(node, Node::File(content) if !content.base.bad.is_empty());
        let files = self.inodes.iter().filter(|(_, inode)| damaged(&inode.node)).map(|(id, _)| id);
        for id in files.collect::<Vec<_>>() {
            let content = self.content_mut(id);
            content.base.bad = Vec::new();
            content.base_found = content.found_on(&content.base, tag);
        }
    }
}
