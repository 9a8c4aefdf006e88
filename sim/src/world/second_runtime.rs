//! Second runtimes: a copy of a node's disk, started beside it under the same account.
//!
//! Promise: the copy is what was durable at its time and nothing else; neither runtime knows of the other, and each has a
//! clock, a processor and connections of its own.

use super::World;
use super::timeline::Due;
use crate::ledger::event::Event;
use crate::plan::{Action, Death, Plan, SecondRuntime};
use crate::units::{NodeId, SimTime};
use std::collections::BTreeMap;

/// The nodes that are second runtimes, and whether each has begun and not ended.
#[derive(Debug)]
pub(super) struct SecondRuntimes(BTreeMap<NodeId, bool>);

impl SecondRuntimes {
    /// Those of a plan; none has begun.
    pub(super) fn of(plan: &Plan) -> Self {
        Self(plan.second_runtimes().map(|(action, _)| (action.node, false)).collect())
    }

    /// Whether the node is none, or runs now.
    pub(super) fn may_run(&self, node: NodeId) -> bool {
        self.0.get(&node).is_none_or(|runs| *runs)
    }
}

impl World {
    /// The second runtime begins, and then ends.
    pub(super) fn second_runtime(
        &mut self,
        action: &Action,
        index: u32,
        ordinal: u32,
        second: &SecondRuntime,
    ) {
        let (node, of) = (action.node, second.of);
        self.second_runtimes.0.insert(node, ordinal == 0);
        if ordinal > 0 {
            if self.is_up(node) {
                self.die(node, Death::Process, 0);
            }
            return;
        }
        let mut copy = self.disks[of.index()].clone();
        copy.power_failure(&mut |_| false);
        copy.heal();
        self.disks[node.index()] = copy;
        self.disk_changed_unasked();
        let (identity, budget_bytes) =
            (self.nodes[of.index()].identity.clone(), self.nodes[of.index()].budget_bytes);
        let state = self.node(node);
        (state.identity, state.budget_bytes) = (identity, budget_bytes);
        self.record(&Event::SecondRuntime { node, of });
        let now = self.now();
        self.timeline.at(now, Due::Boot { node });
        if let Some(lasts_us) = second.lasts_us {
            let until = SimTime::from_us(action.at_us.saturating_add(lasts_us));
            self.timeline.at(until, Due::Act { index, ordinal: 1 });
        }
    }
}
