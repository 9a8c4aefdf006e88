//! The bytes of one file: what a reader sees, what is on the medium, and every change in between.
//!
//! Promise: a change is pending until it is settled, which makes it durable and overtakes what it overwrites; a reader
//! always sees all of them. Where nothing is pending, the reader's bytes are the medium's.

use super::choice::Found;
use super::platter::{Pen, Platter, SECTOR_BYTES};
use bytes::{Bytes, BytesMut};

/// Tells a record's generation from a whole file; `None` when it is no whole record.
pub type Tag = fn(&[u8]) -> Option<u64>;

/// What `tag` finds in a file of these bytes.
pub(super) fn found_in(tag: Tag, content: &[u8]) -> Found {
    tag(content).map_or(Found::Torn, Found::Generation)
}

/// Writes of one file that may wait for a flush.
const PENDING_WRITES_MAX: usize = 1_024;

/// The size and the sectors that one operation gave to a file, as far as they are undecided.
#[derive(Clone, Debug)]
pub(super) struct ContentChange {
    pub(super) operation: u64,
    /// A flush of it failed: no later flush writes it.
    pub(super) clean: bool,
    /// The new size, while it is undecided. Zero cuts the file and frees its blocks.
    pub(super) size: Option<usize>,
    /// The first sector written.
    pub(super) first: u32,
    /// Whole sectors, except the last at the end of the file.
    data: Bytes,
    /// Sectors of `data` that are decided: settled, or overtaken by a later change that was.
    decided: Vec<u32>,
    /// A sector that cannot be read once it is on the medium.
    bad: Option<u32>,
}

impl ContentChange {
    /// The sectors written, decided or not.
    fn sectors(&self) -> std::ops::Range<u32> {
        self.first..self.first + self.data.len().div_ceil(SECTOR_BYTES) as u32
    }

    /// The sectors that are undecided.
    pub(super) fn undecided(&self) -> impl Iterator<Item = u32> + '_ {
        self.sectors().filter(|sector| !self.decided.contains(sector))
    }

    fn is_decided(&self) -> bool {
        self.size.is_none() && self.undecided().next().is_none()
    }

    fn decide(&mut self, sector: u32) {
        if self.sectors().contains(&sector) && !self.decided.contains(&sector) {
            self.decided.push(sector);
        }
    }

    fn decide_all(&mut self) {
        self.size = None;
        self.decided = self.sectors().collect();
    }

    /// What it wrote to one of its sectors.
    pub(super) fn sector(&self, sector: u32) -> &[u8] {
        let start = (sector - self.first) as usize * SECTOR_BYTES;
        &self.data[start..self.data.len().min(start + SECTOR_BYTES)]
    }

    /// Whether one of its sectors cannot be read once it is on the medium.
    pub(super) fn is_bad(&self, sector: u32) -> bool {
        self.bad == Some(sector)
    }

    /// Puts one of its sectors on the medium.
    pub(super) fn write_sector(&self, sector: u32, pen: &mut Pen) {
        pen.write_sector(sector, self.sector(sector), self.is_bad(sector));
    }
}

/// The bytes of one file.
#[derive(Clone, Debug)]
pub(super) struct FileContent {
    /// What a reader sees.
    pub(super) now: Bytes,
    /// What `now` holds as a record; told once, when written.
    pub(super) now_found: Found,
    /// What is on the medium.
    pub(super) base: Platter,
    /// What `base` holds as a record.
    pub(super) base_found: Found,
    /// What lies between, in the order of issue.
    pub(super) changes: Vec<ContentChange>,
    /// Pending renames of this file over another one, which write its data first (profile `ordered`), in order.
    pub(super) renamed_over: Vec<u64>,
}

/// A fault of one write.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct WriteFault {
    pub(super) bad_sector: Option<u32>,
    pub(super) flipped_bit: Option<u64>,
}

impl FileContent {
    /// An empty file; `empty` is what an empty file holds as a record.
    pub(super) fn new(empty: Found) -> Self {
        Self {
            now: Bytes::new(),
            now_found: empty,
            base: Platter::default(),
            base_found: empty,
            changes: Vec::new(),
            renamed_over: Vec::new(),
        }
    }

    /// Bytes that the file takes on the medium, now or once all is written, whichever is more.
    pub(super) fn allocated_bytes(&self) -> usize {
        self.now.len().max(self.base.size).next_multiple_of(SECTOR_BYTES)
    }

    /// Cuts the file to nothing.
    pub(super) fn truncate(&mut self, operation: u64, empty: Found) {
        if self.now.is_empty() {
            return;
        }
        self.now = Bytes::new();
        self.now_found = empty;
        self.push(operation, Some(0), 0, Bytes::new(), None);
    }

    /// Writes `bytes` at `offset`.
    pub(super) fn write(
        &mut self,
        operation: u64,
        offset: usize,
        bytes: &Bytes,
        fault: WriteFault,
        tag: Tag,
    ) {
        if bytes.is_empty() {
            return;
        }
        let bytes = fault.flipped_bit.map_or_else(|| bytes.clone(), |bit| flip(bytes, bit));
        let old = self.now.len();
        let end = offset + bytes.len();
        self.now = if offset == 0 && end >= old {
            bytes
        } else {
            let mut now = BytesMut::with_capacity(end.max(old));
            now.extend_from_slice(&self.now);
            now.resize(end.max(old), 0);
            now[offset..end].copy_from_slice(&bytes);
            now.freeze()
        };
        self.now_found = found_in(tag, &self.now);
        // A disk writes whole sectors: those at the edges carry what the page cache holds around the written bytes.
        let start = offset - offset % SECTOR_BYTES;
        let stop = end.next_multiple_of(SECTOR_BYTES).min(self.now.len());
        let data = self.now.slice(start..stop);
        let (first, count) = ((start / SECTOR_BYTES) as u32, (stop - start).div_ceil(SECTOR_BYTES) as u32);
        let bad = fault.bad_sector.map(|sector| first + sector % count);
        self.push(operation, (end > old).then_some(end), first, data, bad);
    }

    /// The kernel does not let writes of one file wait without end: it writes the older half back.
    pub(super) fn limit_pending(&mut self, tag: Tag) {
        if self.changes.len() < PENDING_WRITES_MAX {
            return;
        }
        let mut pen = self.base.pen();
        for index in 0..self.changes.len() / 2 {
            self.settle_change(index, &mut pen);
        }
        self.finish(pen, tag);
    }

    fn push(&mut self, operation: u64, size: Option<usize>, first: u32, data: Bytes, bad: Option<u32>) {
        let change = ContentChange { operation, clean: false, size, first, data, decided: Vec::new(), bad };
        if self.changes.capacity() == 0 {
            self.changes.reserve_exact(1);
        }
        self.changes.push(change);
    }

    /// A truthful flush: everything written since the last one is durable.
    pub(super) fn flush(&mut self, tag: Tag) {
        if self.changes.iter().all(|change| change.clean) {
            return;
        }
        if self.base.bad.is_empty() && self.changes.iter().all(|change| !change.clean && change.bad.is_none())
        {
            self.base = Platter { blocks: self.now.clone(), size: self.now.len(), bad: Vec::new() };
            self.base_found = self.now_found;
            self.changes = Vec::new();
            return;
        }
        let mut pen = self.base.pen();
        for index in 0..self.changes.len() {
            if !self.changes[index].clean {
                self.settle_change(index, &mut pen);
            }
        }
        // A file has one size, so that flushing it anew writes the size of a change that had turned clean, too.
        self.settle_cut_before(self.changes.len(), &mut pen);
        pen.set_size(self.now.len());
        self.changes.iter_mut().for_each(|change| change.size = None);
        self.finish(pen, tag);
    }

    /// A flush that failed: what is pending turns clean.
    pub(super) fn fail_flush(&mut self) {
        self.changes.iter_mut().for_each(|change| change.clean = true);
    }

    /// Settles what was written up to `operation` and is not clean.
    pub(super) fn settle_up_to(&mut self, operation: u64, tag: Tag) {
        if !self.changes.iter().any(|change| !change.clean && change.operation <= operation) {
            return;
        }
        let mut pen = self.base.pen();
        for index in 0..self.changes.len() {
            let change = &self.changes[index];
            if !change.clean && change.operation <= operation {
                self.settle_change(index, &mut pen);
            }
        }
        self.finish(pen, tag);
    }

    /// Settles every change up to one, which is what a size brings with it where it never precedes its data.
    pub(super) fn settle_through(&mut self, last: usize, pen: &mut Pen) {
        for index in 0..=last {
            if !self.changes[index].clean {
                self.settle_change(index, pen);
            }
        }
    }

    /// Settles one change wholly.
    fn settle_change(&mut self, index: usize, pen: &mut Pen) {
        self.settle_size(index, pen);
        for sector in self.changes[index].undecided().collect::<Vec<_>>() {
            self.settle_sector(index, sector, pen);
        }
    }

    /// Puts the size of one change on the medium, which overtakes earlier sizes; a cut overtakes all that was before it.
    /// A cut that is still pending before it goes first, lest it free later what is settled now.
    pub(super) fn settle_size(&mut self, index: usize, pen: &mut Pen) {
        let Some(size) = self.changes[index].size.take() else { return };
        self.settle_cut_before(index, pen);
        pen.set_size(size);
        for earlier in &mut self.changes[..index] {
            if size == 0 {
                earlier.decide_all();
            } else {
                earlier.size = None;
            }
        }
    }

    fn settle_cut_before(&mut self, index: usize, pen: &mut Pen) {
        if let Some(cut) = self.changes[..index].iter().rposition(|change| change.size == Some(0)) {
            self.settle_size(cut, pen);
        }
    }

    /// Puts one sector of one change on the medium, which overtakes what was written there before; a pending cut first.
    pub(super) fn settle_sector(&mut self, index: usize, sector: u32, pen: &mut Pen) {
        self.settle_cut_before(index, pen);
        self.changes[index].write_sector(sector, pen);
        self.changes[..=index].iter_mut().for_each(|change| change.decide(sector));
    }

    /// Takes what was settled as the medium, and forgets what is decided.
    pub(super) fn finish(&mut self, pen: Pen, tag: Tag) {
        self.base = pen.finish();
        self.changes.retain(|change| !change.is_decided());
        self.base_found = self.found_on(&self.base, tag);
        if self.changes.is_empty() {
            self.changes = Vec::new();
            // Nothing is pending, so that reader and medium agree.
            assert_eq!(self.base.content(), self.now, "a settled file reads as it is");
        }
    }

    pub(super) fn found_on(&self, platter: &Platter, tag: Tag) -> Found {
        if platter.is_readable() { found_in(tag, &platter.content()) } else { Found::Torn }
    }

    /// Whether a reader gets all bytes: a bad sector can be read only where the page cache has newer bytes.
    pub(super) fn is_readable(&self) -> bool {
        let visible = |sector: u32| (sector as usize) * SECTOR_BYTES < self.now.len();
        self.base.bad.iter().all(|sector| !visible(*sector) || self.is_cached(*sector))
    }

    /// Whether the page cache has something newer for this sector than the medium: a write, or a cut.
    pub(super) fn is_cached(&self, sector: u32) -> bool {
        self.changes.iter().any(|change| change.size == Some(0) || change.sectors().contains(&sector))
    }
}

/// A copy of `bytes` with one bit flipped.
pub(super) fn flip(bytes: &[u8], bit: u64) -> Bytes {
    let mut flipped = bytes.to_vec();
    if !flipped.is_empty() {
        let bit = bit % (flipped.len() as u64 * 8);
        flipped[(bit / 8) as usize] ^= 1 << (bit % 8);
    }
    flipped.into()
}
