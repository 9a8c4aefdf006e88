//! Keeps or passes on events in readable form: a timeline, the last lines before a failure.
//!
//! Promise: a run that asks for neither formats nothing, and nobody has to know which task is at work.

use super::LedgerOptions;
use super::doer::Doer;
use super::event::Event;
use super::timeline::{Timeline, place_of};
use crate::units::{Life, NodeId, SimTime};
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
    /// Who was at work.
    pub doer: Doer,
    /// The event itself.
    pub event: &'a Event<'a>,
    /// The text.
    pub text: &'a str,
    /// Its encoding, which alone tells two events apart.
    pub encoded: &'a [u8],
}

impl Line<'_> {
    /// The node and life that the event names, or else those of the task that was at work.
    #[must_use]
    pub fn place(&self) -> (Option<NodeId>, Option<Life>) {
        let (node, life) = place_of(self.event);
        match self.doer.place() {
            Some((at, of)) if node.is_none_or(|node| node == at) => (Some(at), life.or(Some(of))),
            _ => (node, life),
        }
    }
}

/// Takes the lines of a timeline.
pub type Sink = Box<dyn FnMut(&Line<'_>) + Send>;

/// Looks on.
pub struct Onlooker {
    timeline: Timeline,
    sink: Option<Sink>,
    doer: Doer,
    tail: VecDeque<String>,
    tail_lines: usize,
    events: u64,
}

impl Onlooker {
    /// One that does what the options ask for; `None` when that is nothing.
    #[must_use]
    pub fn new(options: LedgerOptions) -> Option<Self> {
        if options.tail_lines == 0 && options.sink.is_none() {
            return None;
        }
        Some(Self {
            timeline: options.account_of.map_or_else(Timeline::default, Timeline::new),
            sink: options.sink,
            doer: Doer::World("nothing was due yet"),
            tail: VecDeque::with_capacity(options.tail_lines),
            tail_lines: options.tail_lines,
            events: 0,
        })
    }

    /// Whether it wants to be told who is at work before each event.
    #[must_use]
    pub const fn asks_who(&self) -> bool {
        self.sink.is_some()
    }

    /// Who is at work from now on.
    pub const fn at_work(&mut self, doer: Doer) {
        self.doer = doer;
    }

    /// Takes one event and its encoding.
    pub fn event(&mut self, at: SimTime, event: &Event<'_>, encoded: &[u8]) {
        let index = self.events;
        self.events += 1;
        if self.tail_lines == 0 && self.sink.is_none() {
            return;
        }
        let (node, _) = place_of(event);
        let text = self.timeline.line(at, event);
        if let Some(sink) = &mut self.sink {
            sink(&Line { index, at, node, doer: self.doer, event, text, encoded });
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
    }

    /// Keeps the tail as it is.
    pub fn freeze_tail(&mut self) {
        self.tail_lines = 0;
    }

    /// The tail.
    #[must_use]
    pub fn finish(self) -> Vec<String> {
        self.tail.into()
    }
}
