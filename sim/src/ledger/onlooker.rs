//! Keeps or passes on events in readable form: a timeline, an interval to compare.
//!
//! Promise: a run that asks for none of these formats nothing.

use super::LedgerOptions;
use super::compare::{IntervalRecorder, Recorded, RecordedEvent, RecordedInterval};
use super::event::Event;
use super::kind::EventKind;
use super::subjects::{StreamName, Subjects};
use super::timeline::{Timeline, place_of};
use crate::outcome::Violation;
use crate::plan::Plan;
use crate::units::{NodeId, SimTime};

/// One line of a timeline: an event, and what it was seen to be.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// The event's place in the run, from 0.
    pub index: u64,
    /// True simulated time.
    pub at: SimTime,
    /// Where it happened, if at one node.
    pub node: Option<NodeId>,
    /// The streams that it is about, in order; none for most events of the disk.
    pub streams: &'a [StreamName],
    /// The event itself.
    pub event: &'a Event<'a>,
    /// The text.
    pub text: &'a str,
    /// Its encoding, which alone tells two events apart.
    pub encoded: &'a [u8],
    /// What laws said to it. What they say once the run is over is in the outcome alone.
    pub broken: &'a [Violation],
}

impl Line<'_> {
    /// The event's kind.
    #[must_use]
    pub const fn kind(&self) -> EventKind {
        EventKind::of(self.event)
    }
}

/// Takes the lines of a timeline.
pub type Sink = Box<dyn FnMut(&Line<'_>) + Send>;

/// Looks on.
pub struct Onlooker {
    timeline: Timeline,
    subjects: Subjects,
    sink: Option<Sink>,
    recorder: IntervalRecorder,
    events: u64,
}

impl Onlooker {
    /// One that does what the options ask for in a run of `plan`; `None` when that is nothing.
    #[must_use]
    pub fn new(plan: &Plan, options: LedgerOptions) -> Option<Self> {
        if options.recorded == Recorded::Nothing && options.sink.is_none() {
            return None;
        }
        let timeline = options.account_of.map_or_else(Timeline::default, Timeline::new);
        Some(Self {
            timeline: timeline.with_faults(&plan.faults),
            subjects: Subjects::new(plan),
            sink: options.sink,
            recorder: IntervalRecorder::new(options.recorded),
            events: 0,
        })
    }

    /// Takes one event, its encoding, and what laws said to it.
    pub fn event(&mut self, at: SimTime, event: &Event<'_>, encoded: &[u8], broken: &[Violation]) {
        let index = self.events;
        self.events += 1;
        let wanted = self.recorder.wants(index);
        if !wanted && self.sink.is_none() {
            return;
        }
        let (node, _) = place_of(event);
        let streams = match self.sink {
            Some(_) => self.subjects.of(at, event, self.timeline.accounts()),
            None => &[],
        };
        let text = self.timeline.line(at, event);
        if let Some(sink) = &mut self.sink {
            sink(&Line { index, at, node, streams, event, text, encoded, broken });
        }
        if wanted {
            self.recorder.record(RecordedEvent {
                index,
                node,
                encoded: encoded.to_vec(),
                line: text.to_owned(),
            });
        }
    }

    /// Tells of every checkpoint so far, before the first event that they do not cover.
    pub fn checkpoints(&mut self, all: &[[u8; 8]]) {
        for (interval, checkpoint) in all.iter().enumerate().skip(self.recorder.told()) {
            self.recorder.checkpoint(interval as u64, *checkpoint);
        }
    }

    /// What was recorded.
    #[must_use]
    pub fn finish(mut self, checkpoints: &[[u8; 8]]) -> Option<RecordedInterval> {
        self.checkpoints(checkpoints);
        self.recorder.end(checkpoints.len() as u64);
        self.recorder.take()
    }
}
