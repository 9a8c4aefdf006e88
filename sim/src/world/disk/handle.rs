//! Open files of the current life.
//!
//! Promise: a handle of an earlier life, or one that was closed, is never taken for another.

use groundhog_engine::host::disk::{DiskPath, FileHandle};

/// Files that one life may have open at once; one more is refused.
pub(super) const OPEN_LIMIT: usize = 65_536;

/// What a handle may be used for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Purpose {
    Writing,
    Reading,
    Lock,
}

/// One open file.
#[derive(Clone, Debug)]
pub(super) struct OpenFile {
    pub(super) inode: u32,
    pub(super) path: DiskPath,
    pub(super) purpose: Purpose,
    /// A flush of the file failed through another handle, and this one has not been told yet.
    pub(super) owes_error: bool,
}

/// The open files of one life.
#[derive(Clone, Debug, Default)]
pub(super) struct Handles {
    slots: Vec<(u32, Option<OpenFile>)>,
    free: Vec<u32>,
}

const fn handle(index: u32, generation: u32) -> FileHandle {
    FileHandle((generation as u64) << 32 | index as u64)
}

impl Handles {
    pub(super) fn is_full(&self) -> bool {
        self.slots.len() - self.free.len() >= OPEN_LIMIT
    }

    /// Whether no file is open.
    pub(super) fn is_empty(&self) -> bool {
        self.slots.len() == self.free.len()
    }

    pub(super) fn open(&mut self, file: OpenFile) -> FileHandle {
        if let Some(index) = self.free.pop() {
            let slot = &mut self.slots[index as usize];
            slot.1 = Some(file);
            return handle(index, slot.0);
        }
        let index = u32::try_from(self.slots.len()).expect("OPEN_LIMIT is far below");
        self.slots.push((0, Some(file)));
        handle(index, 0)
    }

    pub(super) fn get(&self, file: FileHandle) -> Option<&OpenFile> {
        let (generation, slot) = self.slots.get(file.0 as u32 as usize)?;
        slot.as_ref().filter(|_| u64::from(*generation) == file.0 >> 32)
    }

    pub(super) fn get_mut(&mut self, file: FileHandle) -> Option<&mut OpenFile> {
        let (generation, slot) = self.slots.get_mut(file.0 as u32 as usize)?;
        slot.as_mut().filter(|_| u64::from(*generation) == file.0 >> 32)
    }

    pub(super) fn close(&mut self, file: FileHandle) -> Option<OpenFile> {
        self.get(file)?;
        let index = file.0 as u32;
        let slot = &mut self.slots[index as usize];
        slot.0 = slot.0.wrapping_add(1);
        self.free.push(index);
        slot.1.take()
    }

    /// Every handle open now.
    pub(super) fn all(&self) -> Vec<FileHandle> {
        let open = self.slots.iter().enumerate().filter(|(_, (_, file))| file.is_some());
        open.map(|(index, (generation, _))| handle(index as u32, *generation)).collect()
    }

    /// No handle is told of a failed flush any more.
    pub(super) fn forgive(&mut self) {
        for (_, file) in &mut self.slots {
            if let Some(file) = file {
                file.owes_error = false;
            }
        }
    }

    /// Tells every other handle on `inode` at its next flush that one failed.
    pub(super) fn owe_error(&mut self, inode: u32, told: FileHandle) {
        let told = told.0 as u32;
        for (index, (_, slot)) in self.slots.iter_mut().enumerate() {
            if let Some(file) = slot
                && file.inode == inode
                && index as u32 != told
            {
                file.owes_error = true;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(inode: u32) -> OpenFile {
        OpenFile { inode, path: DiskPath::root(), purpose: Purpose::Reading, owes_error: false }
    }

    #[test]
    fn a_closed_handle_stays_closed_when_its_place_is_used_again() {
        let mut handles = Handles::default();
        let first = handles.open(file(1));
        assert_eq!(handles.close(first).map(|open| open.inode), Some(1));
        let second = handles.open(file(2));
        assert_ne!(first, second);
        assert!(handles.get(first).is_none() && handles.close(first).is_none());
        assert_eq!(handles.get(second).map(|open| open.inode), Some(2));
    }
}
