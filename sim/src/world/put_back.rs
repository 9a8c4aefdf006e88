//! Backups that are put back: the disk of a node becomes what it was.
//!
//! Promise: the copy is what a reader saw at its time, whole; the life that is running ends first, and the next one opens
//! the copy.

use super::World;
use super::timeline::Due;
use crate::plan::{Action, Death, PutBack};
use crate::units::SimTime;

impl World {
    /// When the copy is taken. Called once, before the run.
    pub(super) fn first_due(action: &Action) -> SimTime {
        match &action.act {
            crate::plan::Act::PutBack(put_back) => SimTime::from_us(put_back.taken_us),
            _ => SimTime::from_us(action.at_us),
        }
    }

    /// The copy is taken, and then put back.
    pub(super) fn put_back(&mut self, action: &Action, index: u32, ordinal: u32, put_back: &PutBack) {
        let node = action.node;
        if ordinal == 0 {
            let copy = self.disks[node.index()].clone();
            self.backups.insert(action.id, Box::new(copy));
            return self.timeline.at(SimTime::from_us(action.at_us), Due::Act { index, ordinal: 1 });
        }
        let Some(mut copy) = self.backups.remove(&action.id) else { return };
        // A node that is down stays so until its own boot, and opens the copy then.
        if self.is_up(node) {
            self.die(node, Death::Process, put_back.down_us);
        }
        copy.process_crash();
        self.disks[node.index()] = *copy;
        self.disk_changed_unasked();
    }
}
