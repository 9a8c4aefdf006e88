//! Who holds mail for a node: its owner and the owner's successors on the ring of DIDs.
//!
//! Promise: the answer follows from the members, from who is up, and from nothing else. Members neither join nor leave here:
//! where they do, the ring of the world answers, by the view of the member that asks.

use crate::units::NodeId;
use groundhog_engine::identity::Did;

/// Says who holds mail for a node now.
pub trait Holders: Send {
    /// The carriers of the mail of the second of two nodes, as far as the first knows: the owner of its place first, at most
    /// `copies` of them, of those that are `up`; never the node itself.
    fn carriers(
        &self,
        by_and_of: (NodeId, NodeId),
        copies: usize,
        up: &dyn Fn(NodeId) -> bool,
    ) -> Vec<NodeId>;
}

/// A ring whose members are the plan's nodes, all the time.
#[derive(Clone, Debug)]
pub struct StaticRing {
    /// The nodes in order of their DIDs.
    members: Vec<NodeId>,
}

impl StaticRing {
    /// The ring of these nodes, the first of which is node 0.
    #[must_use]
    pub fn new(dids: &[Did]) -> Self {
        let mut members: Vec<(Did, NodeId)> = dids.iter().copied().zip((0..).map(NodeId)).collect();
        members.sort_unstable();
        Self { members: members.into_iter().map(|(_, node)| node).collect() }
    }
}

impl Holders for StaticRing {
    fn carriers(&self, (_, of): (NodeId, NodeId), copies: usize, up: &dyn Fn(NodeId) -> bool) -> Vec<NodeId> {
        let place = self.members.iter().position(|member| *member == of).unwrap_or(0);
        let after = self.members[place..].iter().chain(&self.members[..place]).copied();
        after.filter(|node| *node != of && up(*node)).take(copies).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_carriers_are_the_next_on_the_ring_that_are_up_and_never_the_node_itself() {
        let ring = StaticRing::new(&[Did([5; 20]), Did([1; 20]), Did([9; 20]), Did([3; 20])]);
        let carriers = |of, copies, down: &[u16]| -> Vec<u16> {
            let up = |node: NodeId| !down.contains(&node.0);
            ring.carriers((NodeId(of), NodeId(of)), copies, &up).into_iter().map(|node| node.0).collect()
        };
        // In order of DIDs: 1, 3, 0, 2.
        assert_eq!(carriers(1, 3, &[]), [3, 0, 2]);
        assert_eq!(carriers(0, 3, &[]), [2, 1, 3]);
        assert_eq!(carriers(0, 1, &[2]), [1]);
        assert_eq!(carriers(0, 3, &[0, 2]), [1, 3]);
        assert_eq!(carriers(2, 3, &[0, 1, 3]), Vec::<u16>::new());
    }
}
