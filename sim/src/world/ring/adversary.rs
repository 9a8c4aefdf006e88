//! Which way an adversary's frame goes.
//!
//! Promise: an adversary has the connections that its node has, and no others. Where none of them leads to its victim, its
//! frame goes by the ring as any other does: each member on the way verifies it, signs its hop and sends it on out of its own
//! lane, and the victim charges it to the connection of the last one.

use crate::units::NodeId;
use crate::world::World;
use crate::world::network::Connection;

/// The first hop of a frame.
#[derive(Clone, Copy, Debug)]
pub(in crate::world) struct FirstHop {
    pub(in crate::world) to: NodeId,
    pub(in crate::world) connection: Connection,
    /// Hops on the ring with this one; 0 off it.
    pub(in crate::world) hops: u8,
}

impl World {
    /// The first hop of an adversary's frame to `to`, of a transaction for `destination`: straight where a connection
    /// stands, else by the ring; `None` where there is no way. Members send on to the destination alone: what is for another
    /// node than its receiver only a connection brings there.
    pub(in crate::world) fn first_hop(
        &mut self,
        node: NodeId,
        to: NodeId,
        destination: NodeId,
    ) -> Option<FirstHop> {
        if let Some(connection) = self.connection(node, to) {
            return Some(FirstHop { to, connection, hops: 0 });
        }
        if self.ring.is_none() || to != destination || !self.can_be_reached(node) {
            return None;
        }
        let next = self.next_hop(node, None, to, 0).ok()?;
        let connection = self.connection(node, next)?;
        Some(FirstHop { to: next, connection, hops: 1 })
    }
}
