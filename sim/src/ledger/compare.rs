//! Where two runs that should be equal part.
//!
//! Promise: the first event that differs is named, with both sides, and never one after it. Two events differ when their
//! encodings do.

use super::fingerprint::CHECKPOINT_EVENTS;
use crate::units::NodeId;

/// One recorded event.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedEvent {
    /// Its place in the run, from 0.
    pub index: u64,
    /// Where it happened, if at one node.
    pub node: Option<NodeId>,
    /// Its encoding.
    pub encoded: Vec<u8>,
    /// Its line in a timeline.
    pub line: String,
}

/// One interval between two checkpoints, with its events.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RecordedInterval {
    /// Which, from 0: its first event is this times [`CHECKPOINT_EVENTS`].
    pub interval: u64,
    /// Its events, in order.
    pub events: Vec<RecordedEvent>,
}

/// What of a run's events is recorded.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub enum Recorded {
    /// Nothing.
    #[default]
    Nothing,
    /// One interval.
    Interval(u64),
    /// The first interval whose checkpoint is not that of an earlier run; what of it there was when the run ended.
    FirstUnlike(Vec<[u8; 8]>),
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

/// The first interval in which two runs differ, by their checkpoints; `None` when they are equal throughout.
#[must_use]
pub fn first_unlike_interval(left: &[[u8; 8]], right: &[[u8; 8]]) -> Option<u64> {
    let common = left.iter().zip(right).take_while(|(left, right)| left == right).count();
    (common < left.len().max(right.len())).then_some(common as u64)
}

/// The first event that differs in an interval of two runs; `None` when the interval is the same in both.
///
/// # Panics
/// When the two are not the same interval.
#[must_use]
pub fn first_unlike_event(left: &RecordedInterval, right: &RecordedInterval) -> Option<Divergence> {
    assert_eq!(left.interval, right.interval, "two runs are compared in the same interval");
    let pairs = left.events.iter().zip(&right.events);
    let common = pairs.take_while(|(left, right)| left.encoded == right.encoded).count();
    let divergence = Divergence {
        index: left.interval * CHECKPOINT_EVENTS + common as u64,
        left: left.events.get(common).cloned(),
        right: right.events.get(common).cloned(),
    };
    (divergence.left.is_some() || divergence.right.is_some()).then_some(divergence)
}

/// Records the interval that is asked for, event by event.
#[derive(Debug, Default)]
pub struct IntervalRecorder {
    wanted: Recorded,
    current: Vec<RecordedEvent>,
    told: usize,
    done: Option<RecordedInterval>,
}

impl IntervalRecorder {
    /// For what is wanted.
    #[must_use]
    pub const fn new(wanted: Recorded) -> Self {
        Self { wanted, current: Vec::new(), told: 0, done: None }
    }

    /// Whether the event at this place is to be handed to [`Self::record`].
    #[must_use]
    #[inline]
    pub fn wants(&self, index: u64) -> bool {
        match &self.wanted {
            Recorded::Nothing => false,
            Recorded::Interval(interval) => index / CHECKPOINT_EVENTS == *interval,
            Recorded::FirstUnlike(_) => self.done.is_none(),
        }
    }

    /// Takes an event.
    pub fn record(&mut self, event: RecordedEvent) {
        self.current.push(event);
    }

    /// Every event of an interval was recorded, and its checkpoint is this one.
    pub fn checkpoint(&mut self, interval: u64, checkpoint: [u8; 8]) {
        self.told += 1;
        if self.done.is_some() {
            return;
        }
        let keep = match &self.wanted {
            Recorded::Nothing => false,
            Recorded::Interval(wanted) => *wanted == interval,
            Recorded::FirstUnlike(earlier) => earlier.get(interval as usize) != Some(&checkpoint),
        };
        let events = std::mem::take(&mut self.current);
        if keep {
            self.done = Some(RecordedInterval { interval, events });
        }
    }

    /// How many checkpoints it was told.
    #[must_use]
    pub const fn told(&self) -> usize {
        self.told
    }

    /// The run is over after this many intervals. One that ended before an earlier run parts from it by having no more.
    pub fn end(&mut self, intervals: u64) {
        if let Recorded::FirstUnlike(earlier) = &self.wanted
            && self.done.is_none()
            && (earlier.len() as u64) > intervals
        {
            self.done = Some(RecordedInterval { interval: intervals, events: Vec::new() });
        }
    }

    /// The interval, once its checkpoint was told.
    pub fn take(&mut self) -> Option<RecordedInterval> {
        self.done.take()
    }
}
