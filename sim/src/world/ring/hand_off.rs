//! What a member answers for goes over to another: at a join from the joining member's first successor, at a leave with a
//! word to the leaving member's.
//!
//! Promise: a hand-off comes as late as the plan says, whatever its giver is by then, and only to a member that is there.
//! It takes what its giver has of it at that time.

use crate::ledger::event::Event;
use crate::units::NodeId;
use crate::world::World;
use crate::world::timeline::Due;

impl World {
    /// A member that leaves with a word hands over to its first successor.
    pub(super) fn hand_off_at_leave(&mut self, node: NodeId) {
        if let Some(to) = self.first_successor(node) {
            self.hand_off_later(node, to);
        }
    }

    /// A member that joins takes over part of what its first successor answered for.
    pub(super) fn hand_off_at_join(&mut self, node: NodeId) {
        if let Some(from) = self.first_successor(node) {
            self.hand_off_later(from, node);
        }
    }

    fn first_successor(&self, node: NodeId) -> Option<NodeId> {
        self.ring.as_ref()?.of[node.index()].view.successors().first().copied()
    }

    fn hand_off_later(&mut self, from: NodeId, to: NodeId) {
        let Some(ring) = &self.ring else { return };
        let at = self.now().plus_ns(ring.plan.hand_off_ms * 1_000_000);
        self.timeline.at(at, Due::HandOff { from, to });
    }

    /// It has come.
    pub(in crate::world) fn handed_off(&mut self, from: NodeId, to: NodeId) {
        if self.ring.as_ref().is_some_and(|ring| ring.is_present(to)) {
            let mails = self.hand_mail_over(from, to);
            self.record(&Event::HandedOff { from, to, mails });
        }
    }
}
