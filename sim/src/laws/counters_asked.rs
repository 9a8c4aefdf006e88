//! Asking nodes for their counters, for the laws about them.
//!
//! Promise: a node whose counters are wrong is told so once a life, and a life that cannot be asked is not judged.

use super::View;
use super::per_node::PerNode;
use crate::outcome::Violation;
use crate::units::{NodeId, SimTime};
use groundhog_engine::streams::Counters;

/// What a law expects a node's counters to be, in one life.
pub(super) trait Expected: Default {
    /// The first counter that is wrong, in words that go on after the node's name.
    fn wrong(&self, counted: &Counters) -> Option<String>;
}

#[derive(Default)]
struct Life<E> {
    expected: E,
    is_told: bool,
}

/// What is expected of each node's present life.
#[derive(Default)]
pub(super) struct Lives<E>(PerNode<Life<E>>);

impl<E: Expected> Lives<E> {
    /// What is expected of the node's present life.
    pub fn at(&mut self, node: NodeId) -> &mut E {
        &mut self.0.at(node).expected
    }

    /// The node boots: its counters begin at zero.
    pub fn begin(&mut self, node: NodeId) {
        *self.0.at(node) = Life::default();
    }

    /// Asks one node on behalf of a law.
    pub fn ask(
        &mut self,
        law: &'static str,
        at: SimTime,
        node: NodeId,
        view: &dyn View,
        broken: &mut Vec<Violation>,
    ) {
        let life = self.0.at(node);
        let Some(counted) = view.counters(node).filter(|_| !life.is_told) else { return };
        let Some(wrong) = life.expected.wrong(&counted) else { return };
        life.is_told = true;
        broken.push(Violation { law, at, node: Some(node), saw: format!("{node} {wrong}") });
    }

    /// Asks every node that the law was told of.
    pub fn ask_all(&mut self, law: &'static str, at: SimTime, view: &dyn View, broken: &mut Vec<Violation>) {
        let nodes: Vec<NodeId> = self.0.iter_mut().map(|(node, _)| node).collect();
        nodes.into_iter().for_each(|node| self.ask(law, at, node, view, broken));
    }
}
