//! The connections that members keep: to their predecessor, their successors and their fingers, over links made on demand.
//!
//! Promise: a connection is admitted and retired at both ends at once, and stands for as long as either end wants it and
//! neither fails; each end gives it a slot of its engine.

use crate::units::NodeId;
use crate::world::World;

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
        let most = usize::from(self.plan.engines.slot_bounds().slots);
        let has_slot = |end: NodeId| ring.of[end.index()].connected.len() < most;
        if self.connection(node, peer).is_some() || !has_slot(node) || !has_slot(peer) {
            return;
        }
        self.link_on_demand((node, peer));
        let Some(connection) = self.traffic.network.connect(node, peer) else { return };
        self.connected(node, connection);
        let Some(ring) = &mut self.ring else { return };
        for (own, other) in [(node, peer), (peer, node)] {
            let connected = &mut ring.member(own).connected;
            if let Err(place) = connected.binary_search(&other) {
                connected.insert(place, other);
            }
        }
    }

    /// Two members have no connection any more.
    pub(in crate::world) fn members_disconnected(&mut self, node: NodeId, peer: NodeId) {
        let Some(ring) = &mut self.ring else { return };
        for (own, other) in [(node, peer), (peer, node)] {
            let connected = &mut ring.member(own).connected;
            if let Ok(place) = connected.binary_search(&other) {
                connected.remove(place);
            }
        }
    }

    /// A connection has failed, or is given up: it is retired, and neither end believes in the other any more.
    pub(super) fn lose_peer(&mut self, node: NodeId, peer: NodeId) {
        self.retire_connection(node, peer);
        let Some(ring) = &mut self.ring else { return };
        ring.member(node).view.drop_member(peer);
        ring.member(peer).view.drop_member(node);
    }

    /// Every connection of a node has failed, or is given up.
    pub(super) fn lose_all_peers(&mut self, node: NodeId) {
        let Some(ring) = &self.ring else { return };
        for peer in ring.of[node.index()].connected.clone() {
            self.lose_peer(node, peer);
        }
    }
}
