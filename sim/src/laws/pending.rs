//! What transitions did that a failed batch takes back, as it follows from what an engine reports about its batches.
//!
//! Promise: exact also where a transition that wrote nothing waits for a batch that nobody was told of: which transitions a
//! batch undoes follows from how many it says wait for it when it closes. Nothing is kept for longer than a batch lasts.

use crate::ledger::kind::{EventKind, EventMask};
use groundhog_engine::commit::BATCH_LIMIT;
use groundhog_engine::host::observe::{EngineEvent, TransitionNumber};
use std::collections::VecDeque;

/// Changes of one life of a node, oldest first.
#[derive(Clone, Debug)]
pub struct Pending<T> {
    changes: VecDeque<(TransitionNumber, T)>,
    /// The number of the next transition.
    next: u64,
    /// The number of the first transition after the batch in flight was closed; `None` when none is in flight.
    closed: Option<u64>,
}

impl<T> Default for Pending<T> {
    fn default() -> Self {
        Self { changes: VecDeque::new(), next: 0, closed: None }
    }
}

impl<T> Pending<T> {
    /// What it is to be told.
    pub const READS: EventMask = EventMask::of(&[
        EventKind::EngineTransition,
        EventKind::EngineLinkLocal,
        EventKind::EngineBatchClosed,
        EventKind::EngineBatchDurable,
        EventKind::EngineBatchFailed,
    ]);

    /// A transition changed something.
    pub fn push(&mut self, transition: TransitionNumber, change: T) {
        self.changes.push_back((transition, change));
        if self.closed.is_none() {
            self.forget_before(self.next.saturating_sub(BATCH_LIMIT as u64));
        }
    }

    /// Reads what an engine reports; of a failed batch, every change that it takes back.
    pub fn event(&mut self, event: &EngineEvent<'_>) -> impl Iterator<Item = T> + use<T> {
        let mut undone = VecDeque::new();
        match *event {
            EngineEvent::Transition { transition, .. } | EngineEvent::LinkLocal { transition, .. } => {
                self.next = transition.0 + 1;
            }
            EngineEvent::BatchClosed { transitions, .. } => {
                self.forget_before(self.next.saturating_sub(transitions.into()));
                self.closed = Some(self.next);
            }
            EngineEvent::BatchDurable { .. } => {
                if let Some(closed) = self.closed.take() {
                    self.forget_before(closed);
                }
            }
            EngineEvent::BatchFailed { .. } => {
                self.closed = None;
                undone = std::mem::take(&mut self.changes);
            }
            _ => {}
        }
        undone.into_iter().map(|(_, change)| change)
    }

    /// What came before this transition stands.
    fn forget_before(&mut self, first: u64) {
        while self.changes.front().is_some_and(|(transition, _)| transition.0 < first) {
            self.changes.pop_front();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::stream;
    use groundhog_engine::host::observe::{BatchNumber, Decision};

    const BATCH: BatchNumber = BatchNumber(1);

    /// Transitions of these numbers, each of which changed something.
    fn transitions(pending: &mut Pending<u64>, numbers: std::ops::Range<u64>) {
        for number in numbers {
            let transition = TransitionNumber(number);
            pending.push(transition, number);
            let (stream, decision) = (&stream(1, 3), Decision::Refused { reason: "any" });
            let undone = pending.event(&EngineEvent::LinkLocal { transition, stream, decision });
            assert_eq!(undone.count(), 0);
        }
    }

    fn closed(pending: &mut Pending<u64>, transitions: u32) {
        let closed = EngineEvent::BatchClosed { batch: BATCH, records: &[], transitions };
        assert_eq!(pending.event(&closed).count(), 0);
    }

    fn failed(pending: &mut Pending<u64>) -> Vec<u64> {
        let failed = EngineEvent::BatchFailed { batch: BATCH, undone: 0, state_digest: [0; 32] };
        pending.event(&failed).collect()
    }

    #[test]
    fn a_failed_batch_takes_back_those_that_waited_for_it_and_all_that_came_since() {
        let mut pending = Pending::default();
        transitions(&mut pending, 0..5);
        closed(&mut pending, 2);
        transitions(&mut pending, 5..7);
        assert_eq!(failed(&mut pending), [3, 4, 5, 6], "three waited for nothing");
        assert!(failed(&mut pending).is_empty(), "once");
    }

    #[test]
    fn what_a_durable_batch_settled_stands_and_what_gathered_meanwhile_does_not() {
        let mut pending = Pending::default();
        transitions(&mut pending, 0..3);
        closed(&mut pending, 3);
        transitions(&mut pending, 3..6);
        assert_eq!(pending.event(&EngineEvent::BatchDurable { batch: BATCH }).count(), 0);
        closed(&mut pending, 2);
        transitions(&mut pending, 6..7);
        assert_eq!(failed(&mut pending), [4, 5, 6], "transition 3 waited for the durable one");
    }

    #[test]
    fn without_a_batch_no_more_is_kept_than_may_wait_for_one() {
        let mut pending = Pending::default();
        transitions(&mut pending, 0..BATCH_LIMIT as u64 + 10);
        assert!(pending.changes.len() <= BATCH_LIMIT + 1, "{}", pending.changes.len());
    }
}
