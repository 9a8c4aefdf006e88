//! The connections that members keep: to their predecessor, their successors and their fingers, over links made on demand.
//!
//! Promise: a connection is admitted and retired at both ends at once, and stands for as long as either end wants it and
//! neither fails; each end gives it a slot of its engine.

use crate::ledger::event::{Event, RetireReason};
use crate::units::NodeId;
use crate::world::World;
use crate::world::node::SLOTS;
use crate::world::receiving::Notice;

impl World {
    /// There is a link between two members from now on, as the plan's template has it.
    pub(in crate::world) fn link_on_demand(&mut self, (one, other): (NodeId, NodeId)) {
        let Some(ring) = &self.ring else { return };
        let listed = self.plan.links.iter().any(|link| (link.a, link.b) == (one.min(other), one.max(other)));
        if !listed {
            let link = ring.plan.links.link(self.plan.seed, one, other);
            self.traffic.network.on_demand(link);
        }
    }

    /// Opens a connection for a first contact, unless one stands. Whether one stands then.
    pub(in crate::world) fn contact(&mut self, node: NodeId, peer: NodeId) -> bool {
        let reaches = self.ring.as_ref().is_some_and(|ring| ring.is_present(node) && ring.is_present(peer));
        if reaches && !self.traffic.network.is_cut(node, peer) {
            self.admit_connection(node, peer);
        }
        self.connection(node, peer).is_some()
    }

    /// Admits a connection, unless one stands or an end has no slot left for it.
    pub(super) fn admit_connection(&mut self, node: NodeId, peer: NodeId) {
        let Some(ring) = &self.ring else { return };
        let has_slot = |end: NodeId| ring.of[end.index()].connected.len() < usize::from(SLOTS.slots);
        if self.connection(node, peer).is_some() || !has_slot(node) || !has_slot(peer) {
            return;
        }
        self.link_on_demand((node, peer));
        let Some(connection) = self.traffic.network.connect(node, peer) else { return };
        self.traffic.open_lanes(node, connection);
        for (own, other) in [(node, peer), (peer, node)] {
            let ring = self.ring.as_mut().expect("only members ask for connections");
            let connected = &mut ring.member(own).connected;
            if let Err(place) = connected.binary_search(&other) {
                connected.insert(place, other);
            }
            self.notice(own, Notice { peer: other, generation: connection.generation, admitted: true });
        }
        let generation = connection.generation.0;
        self.record(&Event::ConnectionAdmitted { node, peer, generation });
    }

    /// Retires a connection: neither end has it any more.
    pub(super) fn retire_connection(&mut self, node: NodeId, peer: NodeId, reason: RetireReason) {
        let generation = self.traffic.network.generation(node, peer);
        let under_way = self.close_connection(node, peer);
        for (own, other) in [(node, peer), (peer, node)] {
            let ring = self.ring.as_mut().expect("only members have connections");
            let connected = &mut ring.member(own).connected;
            if let Ok(place) = connected.binary_search(&other) {
                connected.remove(place);
            }
            if reason != RetireReason::NotNeeded {
                ring.member(own).view.drop_member(other);
            }
            self.notice(own, Notice { peer: other, generation, admitted: false });
        }
        let generation = generation.0;
        self.record(&Event::ConnectionRetired { node, peer, generation, reason, under_way });
    }

    /// Retires every connection of a node.
    pub(super) fn retire_all(&mut self, node: NodeId, reason: RetireReason) {
        let peers = match &mut self.ring {
            Some(ring) => ring.member(node).connected.clone(),
            None => return,
        };
        for peer in peers {
            self.retire_connection(node, peer, reason);
        }
    }
}
