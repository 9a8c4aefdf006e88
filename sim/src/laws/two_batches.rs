//! `commit/two-batches`: one batch is in flight and one gathers, so that a transition waits for at most two writes.
//!
//! Seen as: a batch closes only after the one before it ended; what stages joins the one batch that gathers; that batch is
//! the next to close, unless it was undone.

use super::per_node::PerNode;
use super::{Law, Setting, View};
use crate::ledger::event::Event;
use crate::outcome::Violation;
use crate::units::{NodeId, SimTime};
use groundhog_engine::host::observe::{BatchNumber, EngineEvent};

#[derive(Clone, Copy, Default)]
struct Node {
    in_flight: Option<BatchNumber>,
    gathering: Option<BatchNumber>,
}

/// See the module.
#[derive(Default)]
pub struct TwoBatches {
    nodes: PerNode<Node>,
}

impl TwoBatches {
    /// Its id.
    pub const ID: &'static str = "commit/two-batches";
    /// What it states.
    pub const STATES: &'static str = "A transition waits for at most two batch writes: the one in flight, then its own (000, group commit, Latency).";

    /// A checker for one run.
    #[must_use]
    pub fn new(_setting: &Setting) -> Self {
        Self::default()
    }

    fn wrong(&mut self, node: NodeId, event: &EngineEvent<'_>) -> Option<String> {
        let state = self.nodes.at(node);
        match event {
            EngineEvent::Transition { staged: Some(batch), transition, .. } => {
                let before = state.gathering.replace(*batch);
                let joined = before.filter(|before| before != batch);
                let late = state.in_flight.filter(|in_flight| in_flight >= batch);
                joined.or(late).map(|other| {
                    format!(
                        "staged transition {} into batch {} beside batch {}",
                        transition.0, batch.0, other.0
                    )
                })
            }
            EngineEvent::BatchClosed { batch, .. } => {
                let (in_flight, gathering) = (state.in_flight.replace(*batch), state.gathering.take());
                if let Some(in_flight) = in_flight {
                    return Some(format!(
                        "began to write batch {} while batch {} was in flight",
                        batch.0, in_flight.0
                    ));
                }
                let passed_over = gathering.filter(|gathering| gathering != batch);
                passed_over.map(|gathering| {
                    format!("began to write batch {} while batch {} waited", batch.0, gathering.0)
                })
            }
            EngineEvent::BatchDurable { batch } => {
                let in_flight = state.in_flight.take();
                (in_flight != Some(*batch))
                    .then(|| format!("reported batch {} durable, which was not in flight", batch.0))
            }
            EngineEvent::BatchFailed { batch, .. } => {
                let in_flight = std::mem::take(state).in_flight;
                (in_flight != Some(*batch))
                    .then(|| format!("reported batch {} failed, which was not in flight", batch.0))
            }
            _ => None,
        }
    }
}

impl Law for TwoBatches {
    law_identity!(Mechanism reads Booted, EngineTransition, EngineBatchClosed, EngineBatchDurable, EngineBatchFailed);

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

    fn ledger() -> Ledger<TwoBatches> {
        Ledger::over(TwoBatches::default())
    }

    #[test]
    fn one_in_flight_and_one_gathering_hold() {
        let mut ledger = ledger();
        ledger.engine(3, admission(0, 5, 1, 1));
        ledger.closed(3, 1);
        ledger.engine(3, admission(1, 6, 1, 2));
        ledger.durable(3, 1);
        ledger.engine(3, admission(2, 7, 1, 2));
        ledger.closed(3, 2);
        ledger.engine(3, admission(3, 8, 1, 3));
        ledger.failed(3, 2, 3);
        ledger.engine(3, admission(4, 6, 1, 4));
        ledger.closed(3, 4);
        ledger.restarted(3);
        ledger.engine(3, admission(0, 6, 1, 4));
        ledger.closed(3, 4);
        assert_eq!(ledger.finish(), Vec::<String>::new());
    }

    #[test]
    fn a_third_batch_and_one_passed_over_break_it() {
        let mut two_in_flight = ledger();
        two_in_flight.closed(3, 1);
        two_in_flight.closed(3, 2);
        assert_eq!(two_in_flight.finish(), ["node 3 began to write batch 2 while batch 1 was in flight"]);

        let mut two_gather = ledger();
        two_gather.engine(3, admission(0, 5, 1, 1));
        two_gather.engine(3, admission(1, 6, 1, 2));
        assert_eq!(two_gather.finish(), ["node 3 staged transition 1 into batch 2 beside batch 1"]);

        let mut passed_over = ledger();
        passed_over.engine(3, admission(0, 5, 1, 1));
        passed_over.closed(3, 2);
        assert_eq!(passed_over.finish(), ["node 3 began to write batch 2 while batch 1 waited"]);

        let mut unwritten = ledger();
        unwritten.durable(3, 1);
        assert_eq!(unwritten.finish(), ["node 3 reported batch 1 durable, which was not in flight"]);
    }
}
