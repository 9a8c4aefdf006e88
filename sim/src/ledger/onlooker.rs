//! Keeps or passes on events in readable form: a timeline, the last lines before a failure, an interval to compare.
//!
//! Promise: a run that asks for none of these formats nothing.

use super::LedgerOptions;
use super::compare::{IntervalRecorder, Recorded, RecordedEvent, RecordedInterval};
use super::event::Event;
use super::timeline::{Timeline, place_of};
use crate::units::{NodeId, SimTime};
use std::collections::VecDeque;

/// One line of a timeline.
#[derive(Clone, Copy, Debug)]
pub struct Line<'a> {
    /// The event's place in the run, from 0.
    pub index: u64,
    /// True simulated time.
    pub at: SimTime,
    /// Where it happened, if at one node.
    pub node: Option<NodeId>,
    /// The text.
    pub text: &'a str,
    /// Its encoding, which alone tells two events apart.
    pub encoded: &'a [u8],
}

/// Takes the lines of a timeline.
pub type Sink = Box<dyn FnMut(&Line<'_>) + Send>;

/// Looks on.
pub struct Onlooker {
    timeline: Timeline,
    sink: Option<Sink>,
    recorder: IntervalRecorder,
    tail: VecDeque<String>,
    tail_lines: usize,
    events: u64,
}

impl Onlooker {
    /// One that does what the options ask for; `None` when that is nothing.
    #[must_use]
    pub fn new(options: LedgerOptions) -> Option<Self> {
        if options.recorded == Recorded::Nothing && options.tail_lines == 0 && options.sink.is_none() {
            return None;
        }
        Some(Self {
            timeline: options.account_of.map_or_else(Timeline::default, Timeline::new),
            sink: options.sink,
            recorder: IntervalRecorder::new(options.recorded),
            tail: VecDeque::with_capacity(options.tail_lines),
            tail_lines: options.tail_lines,
            events: 0,
        })
    }

    /// Takes one event and its encoding.
    pub fn event(&mut self, at: SimTime, event: &Event<'_>, encoded: &[u8]) {
        let index = self.events;
        self.events += 1;
        let wanted = self.recorder.wants(index);
        if !wanted && self.tail_lines == 0 && self.sink.is_none() {
            return;
        }
        let (node, _) = place_of(event);
        let text = self.timeline.line(at, event);
        if let Some(sink) = &mut self.sink {
            sink(&Line { index, at, node, text, encoded });
        }
        if self.tail_lines > 0 {
            let mut line = if self.tail.len() == self.tail_lines {
                self.tail.pop_front().unwrap_or_default()
            } else {
                String::new()
            };
            line.clear();
            line.push_str(text);
            self.tail.push_back(line);
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

    /// Keeps the tail as it is.
    pub fn freeze_tail(&mut self) {
        self.tail_lines = 0;
    }

    /// What was recorded, and the tail.
    #[must_use]
    pub fn finish(mut self, checkpoints: &[[u8; 8]]) -> (Option<RecordedInterval>, Vec<String>) {
        self.checkpoints(checkpoints);
        self.recorder.end(checkpoints.len() as u64);
        (self.recorder.take(), self.tail.into())
    }
}
