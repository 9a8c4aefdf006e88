//! The members of the ring in one run: who is there, what each believes, and which connections they keep.
//!
//! Promise: a member routes by its own view and its own connections alone; nobody knows of a change before a connection
//! fails, a member says so, or a maintenance pass finds it.

mod adversary;
mod connections;
mod hand_off;
mod maintenance;
mod membership;
mod routing;

pub(in crate::world) use adversary::FirstHop;

use super::World;
use super::mail::Holders;
use crate::plan::{Plan, RingPlan};
use crate::ring::{Order, View};
use crate::units::NodeId;
use groundhog_engine::identity::Did;

/// One node, as the ring knows it.
#[derive(Debug, Default)]
struct Member {
    /// Whether it is a member whenever it is up.
    belongs: bool,
    /// Whether it can be reached now: ready, and not about to leave.
    present: bool,
    /// What it believes.
    view: View,
    /// The change up to which it has looked.
    seen: u64,
    /// The peers that it has a connection of the ring to, in order.
    connected: Vec<NodeId>,
}

/// See the module.
#[derive(Debug)]
pub struct Members {
    plan: RingPlan,
    order: Order,
    of: Vec<Member>,
    /// Counts changes of which members can reach which: a pass that has seen the last one has nothing to do.
    changes: u64,
}

impl Members {
    /// The ring of a plan, if it has one. Nobody is up.
    #[must_use]
    pub fn of(plan: &Plan, accounts: impl Iterator<Item = Did>) -> Option<Self> {
        let ring = plan.ring.clone()?;
        let member =
            |node| Member { belongs: ring.outside.binary_search(&node).is_err(), ..Member::default() };
        let of = plan.nodes.iter().map(|node| member(node.id)).collect();
        Some(Self { of, plan: ring, order: Order::new(accounts), changes: 1 })
    }

    fn member(&mut self, node: NodeId) -> &mut Member {
        &mut self.of[node.index()]
    }

    pub(in crate::world) fn is_present(&self, node: NodeId) -> bool {
        self.of[node.index()].present
    }

    /// Whether `node` answers for the place of another, as far as it knows.
    pub(in crate::world) fn answers_for(&self, node: NodeId, of: NodeId) -> bool {
        self.of[node.index()].view.answers_for(&self.order, node, self.order.position(of))
    }

    /// Members that can reach each other have changed.
    fn changed(&mut self) {
        self.changes += 1;
    }
}

impl Holders for Members {
    fn carriers(
        &self,
        (by, of): (NodeId, NodeId),
        copies: usize,
        up: &dyn Fn(NodeId) -> bool,
    ) -> Vec<NodeId> {
        let holders =
            self.of[by.index()].view.holders_of(&self.order, by, self.order.position(of), usize::MAX);
        let all = std::iter::once(holders.owner).chain(holders.chain);
        all.filter(|node| *node != of && up(*node)).take(copies).collect()
    }
}

impl World {
    /// Whether the node is up whenever nothing is wrong with it.
    pub(super) fn belongs(&self, node: NodeId) -> bool {
        self.ring.as_ref().is_none_or(|ring| ring.of[node.index()].belongs)
            && self.second_runtimes.may_run(node)
    }
}
