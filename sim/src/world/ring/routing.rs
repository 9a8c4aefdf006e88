//! Which way a message goes, and who answers for a position, by the view of the member that asks.

use crate::ledger::event::{Event, LossCause};
use crate::ring::{Position, next_hop};
use crate::units::{MessageId, NodeId};
use crate::world::World;
use groundhog_engine::identity::Did;

/// Who is to hold what is meant for a position, as one member sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holders {
    /// Who answers for it.
    pub owner: NodeId,
    /// Who has copies beside the owner: as many members after it as a successor list is long, less one, as far as they are
    /// known.
    pub chain: Vec<NodeId>,
}

impl World {
    /// The next hop of a message that has taken `hops` so far: its destination where a connection to it stands, else the
    /// connected member that is nearest before it.
    ///
    /// # Errors
    /// Why there is none.
    pub(in crate::world) fn next_hop(
        &mut self,
        node: NodeId,
        message: MessageId,
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

    /// Who holds what is meant for an account, by the view of `node`; `None` where there is no ring.
    pub(in crate::world) fn holder_of(&self, node: NodeId, did: &Did) -> Option<Holders> {
        let ring = self.ring.as_ref()?;
        let view = &ring.of[node.index()].view;
        let owner = view.owner_of(&ring.order, node, Position::of(did));
        let copies = usize::from(ring.plan.successors).saturating_sub(1);
        let known = |member: &NodeId| *member == node || view.holds(*member);
        let chain = ring.order.after(owner).filter(known).take(copies).collect();
        Some(Holders { owner, chain })
    }
}
