//! Marks of allocators that two runtimes share.
//!
//! Promise: as those of [`super::mark_counter`]: from observed events alone, once for each time that a sentence comes true.

use super::event::Event;
use super::marks::Mark;
use crate::plan::Plan;
use crate::units::NodeId;
use groundhog_engine::streams::key::StreamKey;
use std::collections::{BTreeMap, BTreeSet};

/// What marks of shared allocators depend on.
#[derive(Debug)]
pub struct AllocatorMarks {
    /// The node whose account each runtime of a shared one has.
    account_of: BTreeMap<NodeId, NodeId>,
    up: BTreeSet<NodeId>,
    /// Who signed each sequence of a shared account, and in a life that goes on.
    signed: BTreeMap<(NodeId, StreamKey, u64), BTreeSet<NodeId>>,
}

impl AllocatorMarks {
    /// For one run of `plan`.
    pub fn new(plan: &Plan) -> Self {
        let shared = plan.second_runtimes();
        let account_of =
            shared.flat_map(|(action, second)| [(action.node, second.of), (second.of, second.of)]).collect();
        Self { account_of, up: BTreeSet::new(), signed: BTreeMap::new() }
    }

    /// The mark that an event reaches.
    #[inline]
    pub fn event(&mut self, event: &Event<'_>) -> Option<Mark> {
        if self.account_of.is_empty() {
            return None;
        }
        match *event {
            Event::Ready { node, .. } => _ = self.up.insert(node),
            Event::Died { node, .. } => _ = self.up.remove(&node),
            Event::Exposed { node, transaction, .. } => {
                let account = *self.account_of.get(&node)?;
                let by = self.signed.entry((account, transaction.stream, transaction.sequence.0));
                let by = by.or_default();
                let other_lives = by.iter().any(|other| *other != node && self.up.contains(other));
                return (by.insert(node) && other_lives).then_some(Mark::TwoAtOnce);
            }
            _ => {}
        }
        None
    }
}
