//! Joins, leaves, and what a death means to the others.
//!
//! Promise: a leave without a word looks like a crash to everybody; one with hand-off is known to every connected peer at
//! once, and the node goes on handling what is under way for [`LEAVES_AFTER_US`].

use crate::ledger::event::Event;
use crate::plan::Death;
use crate::units::{Life, NodeId};
use crate::world::World;
use crate::world::lives::Status;
use crate::world::timeline::Due;

/// How long a member that said that it leaves stays, for what is under way to it.
const LEAVES_AFTER_US: u64 = 1_000_000;

impl World {
    /// The node becomes a member: it boots.
    pub(in crate::world) fn join(&mut self, node: NodeId) {
        let Some(ring) = &mut self.ring else { return };
        if std::mem::replace(&mut ring.member(node).belongs, true) {
            return;
        }
        self.record(&Event::Joined { node });
        let now = self.now();
        self.timeline.at(now, Due::Boot { node });
    }

    /// The node stops being a member.
    pub(in crate::world) fn leave(&mut self, node: NodeId, hand_off: bool) {
        let Some(ring) = &mut self.ring else { return };
        if !std::mem::replace(&mut ring.member(node).belongs, false) {
            return;
        }
        let (life, status) = (self.nodes[node.index()].life, self.nodes[node.index()].status);
        self.record(&Event::Left { node, life, hand_off });
        match status {
            Status::Down => {}
            Status::Ready if hand_off => self.say_farewell(node, life),
            Status::Ready | Status::Opening => self.die(node, Death::Process, 0),
        }
    }

    /// Every connected peer drops it from its view, and it hands over what it holds.
    fn say_farewell(&mut self, node: NodeId, life: Life) {
        let Some(ring) = &mut self.ring else { return };
        let member = ring.member(node);
        member.present = false;
        let peers = member.connected.clone();
        for peer in peers {
            ring.member(peer).view.drop_member(node);
        }
        ring.changed();
        self.hand_off_at_leave(node);
        let at = self.now().plus_ns(LEAVES_AFTER_US * 1_000);
        self.timeline.at(at, Due::Gone { node, life });
    }

    /// A member that said that it leaves is gone. One that joined again before that begins a new life.
    pub(in crate::world) fn gone(&mut self, node: NodeId, life: Life) {
        if self.is_alive(node, life) {
            self.lose_all_peers(node);
            self.die(node, Death::Process, 0);
        }
    }

    /// The node's engines are open: it finds its place, and looks after it from now on.
    pub(in crate::world) fn enter_ring(&mut self, node: NodeId, life: Life) {
        let Some(ring) = &mut self.ring else { return };
        ring.member(node).present = true;
        ring.changed();
        self.look_around(node);
        self.hand_off_at_join(node);
        self.schedule_first_pass(node, life);
    }

    /// The node's life has ended: its connections have failed, which its peers see at once.
    pub(in crate::world) fn fall_off_ring(&mut self, node: NodeId) {
        if self.ring.is_none() {
            return;
        }
        self.lose_all_peers(node);
        let Some(ring) = &mut self.ring else { return };
        let member = ring.member(node);
        member.present = false;
        member.view.clear();
        ring.changed();
    }
}
