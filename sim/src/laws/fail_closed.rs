//! `commit/fail-closed`: a failed batch fails every pending transition, its own and those gathering on top of it, and is
//! counted once.

use super::per_node::PerNode;
use super::{Law, Setting, View};
use crate::ledger::event::Event;
use crate::outcome::Violation;
use crate::units::{NodeId, SimTime};
use groundhog_engine::host::observe::{BatchNumber, EngineEvent, TransitionNumber};
use rustc_hash::FxHashSet;
use std::collections::VecDeque;

#[derive(Default)]
struct Node {
    /// Staged and neither durable nor failed, in lock order.
    pending: VecDeque<(TransitionNumber, BatchNumber)>,
    failed: FxHashSet<u64>,
    failed_batch: Option<BatchNumber>,
}

/// See the module.
#[derive(Default)]
pub struct FailClosed {
    nodes: PerNode<Node>,
}

impl FailClosed {
    /// Its id.
    pub const ID: &'static str = "commit/fail-closed";
    /// What it states.
    pub const STATES: &'static str = "A failed batch fails, and undoes, every pending transition: its own, and those of the batch gathering on top \
         of it. It is counted once (000, group commit, Fail closed).";

    /// A checker for one run.
    #[must_use]
    pub fn new(_setting: &Setting) -> Self {
        Self::default()
    }

    fn wrong(&mut self, node: NodeId, event: &EngineEvent<'_>) -> Option<String> {
        let state = self.nodes.at(node);
        match event {
            EngineEvent::Transition { staged: Some(batch), transition, .. } => {
                state.pending.push_back((*transition, *batch));
                None
            }
            EngineEvent::BatchDurable { batch } => {
                while state.pending.front().is_some_and(|(_, staged)| staged <= batch) {
                    state.pending.pop_front();
                }
                let late = state.failed_batch.filter(|failed| failed >= batch);
                late.map(|failed| {
                    format!("reported batch {} durable after batch {} had failed", batch.0, failed.0)
                })
            }
            EngineEvent::BatchFailed { batch, undone, .. } => {
                let before = state.failed_batch.replace(*batch);
                let pending = state.pending.len();
                state.failed.extend(state.pending.drain(..).map(|(transition, _)| transition.0));
                if before == Some(*batch) {
                    return Some(format!("counted the failure of batch {} twice", batch.0));
                }
                let short = (*undone as usize) < pending;
                short.then(|| {
                    format!("undid {undone} transitions with batch {}, and {pending} were pending", batch.0)
                })
            }
            EngineEvent::Released { transition, .. } => {
                let failed = !state.failed.is_empty() && state.failed.contains(&transition.0);
                failed.then(|| {
                    format!(
                        "returned the result of transition {}, which had failed with its batch",
                        transition.0
                    )
                })
            }
            _ => None,
        }
    }
}

impl Law for FailClosed {
    law_identity!(Mechanism reads Booted, EngineTransition, EngineBatchDurable, EngineBatchFailed, EngineReleased);

    fn event(&mut self, at: SimTime, event: &Event<'_>, _view: &dyn View, broken: &mut Vec<Violation>) {
        match event {
            Event::Booted { node, .. } => *self.nodes.at(*node) = Node::default(),
            Event::Engine { node, event, .. } => {
                if let Some(wrong) = self.wrong(*node, event) {
                    broken.push(Violation {
                        law: Self::ID,
                        at,
                        node: Some(*node),
                        saw: format!("{node} {wrong}"),
                    });
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{Ledger, admission};

    /// Batch 1 of one transition is in flight, batch 2 of one gathers, and batch 1 fails.
    fn failed(undone: u32) -> Ledger<FailClosed> {
        let mut ledger = Ledger::over(FailClosed::default());
        ledger.engine(3, admission(0, 5, 1, 1));
        ledger.closed(3, 1);
        ledger.engine(3, admission(1, 6, 1, 2));
        ledger.failed(3, 1, undone);
        ledger
    }

    #[test]
    fn everything_pending_fails_with_a_batch() {
        let mut good = failed(3);
        good.engine(3, admission(2, 5, 1, 3));
        good.closed(3, 3);
        good.durable(3, 3);
        good.released(3, 2, &[]);
        assert_eq!(good.finish(), Vec::<String>::new());
    }

    #[test]
    fn what_outlives_its_batch_breaks_it() {
        assert_eq!(failed(1).finish(), ["node 3 undid 1 transitions with batch 1, and 2 were pending"]);

        let mut released = failed(2);
        released.released(3, 1, &[]);
        assert_eq!(
            released.finish(),
            ["node 3 returned the result of transition 1, which had failed with its batch"]
        );

        let mut twice = failed(2);
        twice.failed(3, 1, 0);
        assert_eq!(twice.finish(), ["node 3 counted the failure of batch 1 twice"]);

        let mut durable = failed(2);
        durable.durable(3, 1);
        assert_eq!(durable.finish(), ["node 3 reported batch 1 durable after batch 1 had failed"]);
    }
}
