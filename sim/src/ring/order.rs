//! The nodes of a run in the order of their positions, present or not.

use super::position::{Distance, Position};
use crate::units::NodeId;
use groundhog_engine::identity::Did;

/// See the module. Positions never change: an account is where its key puts it.
#[derive(Clone, Debug, Default)]
pub struct Order {
    clockwise: Vec<(Position, NodeId)>,
    /// The place of each node in `clockwise`.
    places: Vec<usize>,
}

impl Order {
    /// The order of accounts, the first being node 0's.
    ///
    /// # Panics
    /// When there are more than a plan may have.
    #[must_use]
    pub fn new(accounts: impl Iterator<Item = Did>) -> Self {
        let mut clockwise: Vec<(Position, NodeId)> = accounts
            .zip(0..)
            .map(|(did, node): (Did, u32)| {
                (
                    Position::of(&did),
                    NodeId(u16::try_from(node).expect("a plan holds at most MAX_NODES nodes")),
                )
            })
            .collect();
        clockwise.sort_unstable();
        let mut places = vec![0; clockwise.len()];
        for (place, (_, node)) in clockwise.iter().enumerate() {
            places[node.index()] = place;
        }
        Self { clockwise, places }
    }

    /// Where a node stands.
    #[must_use]
    pub fn position(&self, node: NodeId) -> Position {
        self.clockwise[self.places[node.index()]].0
    }

    /// Every other node, nearest first clockwise.
    pub fn after(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let (until, from) = self.clockwise.split_at(self.places[node.index()]);
        from[1..].iter().chain(until).map(|(_, node)| *node)
    }

    /// Every other node, nearest first counterclockwise.
    pub fn before(&self, node: NodeId) -> impl Iterator<Item = NodeId> + '_ {
        let (until, from) = self.clockwise.split_at(self.places[node.index()]);
        until.iter().rev().chain(from[1..].iter().rev()).map(|(_, node)| *node)
    }

    /// Every node, the one at the position or first after it first.
    pub fn from(&self, position: Position) -> impl Iterator<Item = NodeId> + '_ {
        let place = self.clockwise.partition_point(|(at, _)| *at < position);
        let (until, from) = self.clockwise.split_at(place);
        from.iter().chain(until).map(|(_, node)| *node)
    }
}

/// The greedy next hop from `own` to a position: of the candidates that stand strictly nearer before it (or on it) than
/// `own`, the nearest.
#[must_use]
pub fn next_hop(
    order: &Order,
    own: NodeId,
    to: Position,
    candidates: impl Iterator<Item = NodeId>,
) -> Option<NodeId> {
    let here = order.position(own).to(to);
    let ways = candidates.map(|node| (order.position(node).to(to), node));
    ways.filter(|(way, _)| *way < here).min().map(|(_, node)| node)
}

impl Order {
    /// How far it is clockwise from one node to another.
    #[must_use]
    pub fn way(&self, from: NodeId, to: NodeId) -> Distance {
        self.position(from).to(self.position(to))
    }
}
