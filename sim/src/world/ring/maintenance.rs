//! Maintenance: each member looks around at its own times, by its own clock.
//!
//! Promise: a pass that has nothing new to see costs a comparison; one that has asks the members that it can reach, renews
//! its view, and admits and retires connections accordingly.

use crate::plan::Dice;
use crate::units::{Life, NodeId};
use crate::world::World;
use crate::world::lives::Status;
use crate::world::timeline::Due;
use groundhog_engine::units::MonotonicNs;

impl World {
    /// The first pass of a life is somewhere in the first period, so that members do not all look at once.
    pub(super) fn schedule_first_pass(&mut self, node: NodeId, life: Life) {
        let Some(ring) = &self.ring else { return };
        let period_ns = ring.plan.maintenance_ms * 1_000_000;
        let place = u64::from(node.0) << 32 | u64::from(life.0);
        let phase = Dice::new(self.plan.seed, "maintenance phase", place).below(period_ns);
        self.schedule_pass(node, life, phase);
    }

    fn schedule_pass(&mut self, node: NodeId, life: Life, in_ns: u64) {
        let now = self.now();
        let clock = &self.nodes[node.index()].clock;
        let deadline = MonotonicNs(clock.monotonic_now(now).0.saturating_add(in_ns));
        // A machine that is paused when its engines open is one whose clock stands: it looks when it goes on.
        let at = clock.monotonic_reaches(now, deadline).unwrap_or_else(|| now.plus_ns(in_ns));
        self.timeline.at(at, Due::Maintain { node, life });
    }

    /// A member's pass.
    pub(in crate::world) fn maintain(&mut self, node: NodeId, life: Life) {
        let state = &self.nodes[node.index()];
        if state.life != life || state.status != Status::Ready {
            return;
        }
        let Some(ring) = &self.ring else { return };
        let period_ns = ring.plan.maintenance_ms * 1_000_000;
        let looks = ring.is_present(node) && ring.of[node.index()].seen != ring.changes;
        self.schedule_pass(node, life, period_ns);
        if looks {
            self.look_around(node);
        }
        if self.can_be_reached(node) {
            self.drain_at_maintenance(node);
        }
    }

    /// The member renews its view and its connections.
    pub(super) fn look_around(&mut self, node: NodeId) {
        let Some(ring) = &mut self.ring else { return };
        let network = &self.traffic.network;
        let mut view = std::mem::take(&mut ring.member(node).view);
        let successors = usize::from(ring.plan.successors);
        view.refresh(&ring.order, node, successors, |peer| {
            ring.is_present(peer) && !network.is_cut(node, peer)
        });
        let seen = ring.changes;
        let member = ring.member(node);
        (member.view, member.seen) = (view, seen);
        self.retire_what_is_not_wanted(node);
        let mut place = 0;
        while let Some(peer) = self.wanted(node, place) {
            self.admit_connection(node, peer);
            place += 1;
        }
    }

    fn wanted(&self, node: NodeId, place: usize) -> Option<NodeId> {
        self.ring.as_ref()?.of[node.index()].view.peers().get(place).copied()
    }

    fn retire_what_is_not_wanted(&mut self, node: NodeId) {
        let mut place = 0;
        loop {
            let Some(ring) = &self.ring else { return };
            let member = &ring.of[node.index()];
            let Some(peer) = member.connected.get(place).copied() else { return };
            let other = &ring.of[peer.index()];
            let is_wanted = !other.present || member.view.holds(peer) || other.view.holds(node);
            if self.traffic.network.is_cut(node, peer) {
                self.lose_peer(node, peer);
            } else if !is_wanted {
                self.retire_connection(node, peer);
            } else {
                place += 1;
            }
        }
    }

    /// Which links are cut has changed.
    pub(in crate::world) fn reachability_changed(&mut self) {
        if let Some(ring) = &mut self.ring {
            ring.changed();
        }
    }
}
