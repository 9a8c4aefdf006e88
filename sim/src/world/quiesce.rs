//! Quiescence: everything that can be on ends, at once.
//!
//! Promise: no event of a fault follows. What a fault did to work under way ends with it; what it did to data stays done.

use super::World;
use super::lives::Status;
use super::timeline::Due;
use crate::ledger::event::Event;
use crate::plan::{Death, DiskFault, FaultKind};
use crate::units::{FaultId, NodeId};
use std::collections::BTreeSet;

impl World {
    /// Every fault ends; none begins any more.
    pub(super) fn quiesce(&mut self) {
        self.faults.forget_waiting();
        self.spare_disk_calls();
        let cannot_open = self.opening_and_stuck();
        let plan = std::sync::Arc::clone(&self.plan);
        let of_clock = |index: &usize| matches!(plan.faults[*index].kind, FaultKind::Clock { .. });
        // Clocks first: a machine that is still paused could not be told what its stuck disk answers.
        let (clocks, others): (Vec<_>, Vec<_>) = (0..plan.faults.len()).partition(of_clock);
        for index in clocks.into_iter().chain(others) {
            self.end_fault(index);
        }
        self.heal_network();
        for node in cannot_open {
            if self.is_up(node) {
                self.die(node, Death::Process, 0);
            }
        }
        for node in 0..self.nodes.len() {
            self.heal_node(NodeId(u16::try_from(node).expect("a plan holds at most MAX_NODES nodes")));
        }
        self.reachability_changed();
        self.quiesced = true;
        self.record(&Event::Quiesced);
    }

    /// Nodes whose engines cannot open because of what the disk is about to answer: they would say so, and die, when every
    /// fault has ended.
    fn opening_and_stuck(&self) -> Vec<NodeId> {
        let fails = |fault: &FaultId| {
            let of_plan = self.plan.faults.iter().find(|of_plan| of_plan.id == *fault);
            of_plan.is_some_and(|of_plan| {
                matches!(of_plan.kind, FaultKind::Disk { fault: DiskFault::Stuck { fails: true }, .. })
            })
        };
        let stuck =
            self.disk_answers.open_slots().filter(|(_, meta)| meta.stuck().is_some_and(|id| fails(&id)));
        let opening = stuck
            .map(|(_, meta)| meta.node())
            .filter(|node| self.nodes[node.index()].status == Status::Opening);
        opening.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// Everything that was wrong about the node itself is over: it runs, and its clock is on its way to true time.
    fn heal_node(&mut self, node: NodeId) {
        let now = self.now();
        let change = self.node(node).clock.quiesce(now);
        self.clock_changed(node, change);
        let sooner = self.node(node).processor.heal_all(now);
        self.hasten_charges(node, &sooner);
        self.disks[node.index()].heal();
        if self.disks[node.index()].is_read_only() && self.nodes[node.index()].status != Status::Down {
            self.die(node, Death::Process, 0);
        }
        if self.nodes[node.index()].status == Status::Down {
            self.timeline.at(now, Due::Boot { node });
        }
    }
}
