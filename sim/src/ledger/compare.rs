//! Where two runs that should be equal part.
//!
//! Promise: the first event that differs is named, with both sides, and never one after it. Two events differ when their
//! encodings do.

use super::fingerprint::CHECKPOINT_EVENTS;
use super::onlooker::Line;
use crate::units::{Life, NodeId, SimTime};
use std::ops::Range;

/// One recorded event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedEvent {
    /// Its place in the run, from 0.
    pub index: u64,
    /// True simulated time.
    pub at: SimTime,
    /// Where it happened: the node that the event names, or else the one whose task was at work.
    pub node: Option<NodeId>,
    /// In which of the node's lives, where that is known.
    pub life: Option<Life>,
    /// The task that was at work, or what was due where it was none.
    pub task: String,
    /// Its encoding.
    pub encoded: Vec<u8>,
    /// Its line in a timeline.
    pub line: String,
}

impl RecordedEvent {
    /// What a sink is shown, kept.
    #[must_use]
    pub fn of(line: &Line<'_>) -> Self {
        let (node, life) = line.place();
        Self {
            index: line.index,
            at: line.at,
            node,
            life,
            task: line.doer.task(),
            encoded: line.encoded.to_vec(),
            line: line.text.to_owned(),
        }
    }
}

/// The first event that differs between two runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Divergence {
    /// Its place in both runs, from 0.
    pub index: u64,
    /// What the first run had there; nothing when it ended before.
    pub left: Option<RecordedEvent>,
    /// What the second run had there.
    pub right: Option<RecordedEvent>,
}

/// The events among which two runs part, by their checkpoints; `None` when they are equal throughout. A checkpoint covers
/// every event before it, so the first that differs lies here.
#[must_use]
pub fn first_unlike_interval(left: &[[u8; 8]], right: &[[u8; 8]]) -> Option<Range<u64>> {
    let common = left.iter().zip(right).take_while(|(left, right)| left == right).count();
    let first = common as u64 * CHECKPOINT_EVENTS;
    (common < left.len().max(right.len())).then_some(first..first + CHECKPOINT_EVENTS)
}

/// Compares a run, event by event while it goes on, with the events of another.
#[derive(Debug)]
pub struct Lockstep<E> {
    others: E,
    next: u64,
    found: Option<Divergence>,
}

impl<E: Iterator<Item = RecordedEvent>> Lockstep<E> {
    /// Beside the other run's events, in their order.
    pub const fn beside(others: E) -> Self {
        Self { others, next: 0, found: None }
    }

    /// Takes this run's next event and gives whether the two are still equal. After the first difference nothing more is
    /// compared.
    pub fn event(&mut self, line: &Line<'_>) -> bool {
        if self.found.is_some() {
            return false;
        }
        let index = self.next;
        self.next += 1;
        let right = self.others.next();
        if right.as_ref().is_some_and(|right| right.encoded == line.encoded) {
            return true;
        }
        self.found = Some(Divergence { index, left: Some(RecordedEvent::of(line)), right });
        false
    }

    /// This run is over: the first event that differs, if any does.
    #[must_use]
    pub fn end(mut self) -> Option<Divergence> {
        self.found.or_else(|| {
            let right = self.others.next()?;
            Some(Divergence { index: self.next, left: None, right: Some(right) })
        })
    }
}
