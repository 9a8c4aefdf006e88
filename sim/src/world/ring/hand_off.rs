//! What a member answers for goes over to another: the events that held mail follows.

use crate::ledger::event::Event;
use crate::units::NodeId;
use crate::world::World;

impl World {
    /// A member that leaves with a word hands what it answers for to its first successor.
    pub(super) fn hand_off_at_leave(&mut self, node: NodeId) {
        let Some(ring) = &self.ring else { return };
        if let Some(to) = ring.of[node.index()].view.successors().first().copied() {
            self.record(&Event::HandedOff { from: node, to });
        }
    }

    /// A member that joins takes over part of what its first successor answered for.
    pub(super) fn hand_off_at_join(&mut self, node: NodeId) {
        let Some(ring) = &self.ring else { return };
        if let Some(from) = ring.of[node.index()].view.successors().first().copied() {
            self.record(&Event::HandedOff { from, to: node });
        }
    }
}
