//! What one member believes about the ring: its predecessor, its successors and its fingers.
//!
//! Promise: refreshing allocates nothing once its buffers have grown; what is refreshed from the same members is the same.

use super::order::Order;
use super::position::{BITS, Distance, Position};
use crate::units::NodeId;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct View {
    predecessor: Option<NodeId>,
    successors: Vec<NodeId>,
    fingers: Vec<NodeId>,
    /// All of them in order, each once: the peers that it wants connections to.
    peers: Vec<NodeId>,
}

impl View {
    /// The nearest member counterclockwise.
    #[must_use]
    pub const fn predecessor(&self) -> Option<NodeId> {
        self.predecessor
    }

    /// The nearest members clockwise, nearest first.
    #[must_use]
    pub fn successors(&self) -> &[NodeId] {
        &self.successors
    }

    /// For each power of two, farthest first, the first member at or after that distance; each member once.
    #[must_use]
    pub fn fingers(&self) -> &[NodeId] {
        &self.fingers
    }

    /// Every member of it, in order of ids.
    #[must_use]
    pub fn peers(&self) -> &[NodeId] {
        &self.peers
    }

    /// Whether the member is in it.
    #[must_use]
    pub fn holds(&self, node: NodeId) -> bool {
        self.peers.binary_search(&node).is_ok()
    }

    /// Made anew from the members that `own` can reach.
    pub fn refresh(
        &mut self,
        order: &Order,
        own: NodeId,
        successors: usize,
        reachable: impl Fn(NodeId) -> bool,
    ) {
        self.predecessor = order.before(own).find(|node| reachable(*node));
        self.successors.clear();
        self.successors.extend(order.after(own).filter(|node| reachable(*node)).take(successors));
        self.fingers.clear();
        if let Some(first) = self.successors.first().copied() {
            let nearest = order.way(own, first);
            // Every lower finger is the first successor.
            for exponent in (0..BITS).rev().take_while(|exponent| Distance::power(*exponent) > nearest) {
                let target = order.position(own).plus(Distance::power(exponent));
                let found = order.from(target).take_while(|node| *node != own).find(|node| reachable(*node));
                self.fingers.extend(found.filter(|found| self.fingers.last() != Some(found)));
            }
        }
        self.collect();
    }

    /// A member is gone: its connection failed, or it said so.
    pub fn drop_member(&mut self, node: NodeId) {
        if self.holds(node) {
            self.predecessor = self.predecessor.filter(|predecessor| *predecessor != node);
            self.successors.retain(|successor| *successor != node);
            self.fingers.retain(|finger| *finger != node);
            self.collect();
        }
    }

    /// Everybody is gone.
    pub fn clear(&mut self) {
        self.predecessor = None;
        for list in [&mut self.successors, &mut self.fingers, &mut self.peers] {
            list.clear();
        }
    }

    fn collect(&mut self) {
        let Self { predecessor, successors, fingers, peers } = self;
        peers.clear();
        peers.extend(predecessor.iter().chain(successors.iter()).chain(fingers.iter()));
        peers.sort_unstable();
        peers.dedup();
    }

    /// Whether `own` answers for the position, as far as it knows.
    #[must_use]
    pub fn answers_for(&self, order: &Order, own: NodeId, position: Position) -> bool {
        let predecessor = self.predecessor.unwrap_or(own);
        position.is_answered_by(order.position(predecessor), order.position(own))
    }

    /// Who answers for the position, as far as `own` knows: the first of its members (and itself) at or after it.
    #[must_use]
    pub fn owner_of(&self, order: &Order, own: NodeId, position: Position) -> NodeId {
        let known = self.peers.iter().copied().chain([own]);
        known.min_by_key(|node| position.to(order.position(*node))).unwrap_or(own)
    }

    /// Who is to hold what is meant for the position, as far as `own` knows: the owner, and the members after it that are
    /// to have the other copies, `copies` in all.
    #[must_use]
    pub fn holders_of(&self, order: &Order, own: NodeId, position: Position, copies: usize) -> Holders {
        let owner = self.owner_of(order, own, position);
        let known = |member: &NodeId| *member == own || self.holds(*member);
        let chain = order.after(owner).filter(known).take(copies.saturating_sub(1)).collect();
        Holders { owner, chain }
    }
}

/// Who holds what is meant for a position, as one member sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Holders {
    /// Who answers for it.
    pub owner: NodeId,
    /// Who has the other copies, nearest first.
    pub chain: Vec<NodeId>,
}
