//! Which way a message goes, by the connections of the member that asks.

use crate::ledger::event::{Event, LossCause};
use crate::ring::next_hop;
use crate::units::{MessageId, NodeId};
use crate::world::World;

impl World {
    /// The next hop of a message that has taken `hops` so far: its destination where a connection to it stands, else the
    /// connected member that is nearest before it.
    ///
    /// # Errors
    /// Why there is none.
    pub(in crate::world) fn next_hop(
        &mut self,
        node: NodeId,
        message: Option<MessageId>,
        to: NodeId,
        hops: u8,
    ) -> Result<NodeId, LossCause> {
        let ring = self.ring.as_ref().ok_or(LossCause::NoRoute)?;
        let direct = self.connection(node, to).map(|_| to);
        let next = direct.or_else(|| {
            let connected = ring.of[node.index()].connected.iter().copied();
            // Who said that it leaves relays nothing any more.
            let candidates = connected.filter(|peer| ring.is_present(*peer));
            next_hop(&ring.order, node, ring.order.position(to), candidates)
        });
        let next = next.ok_or(LossCause::NoRoute)?;
        if hops >= ring.plan.hop_budget {
            return Err(LossCause::HopBudget);
        }
        let stale = ring.of[node.index()].seen != ring.changes;
        self.record(&Event::Routed { message, node, next, hops: hops + 1, stale });
        Ok(next)
    }
}
