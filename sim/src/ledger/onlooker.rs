//! Passes on events in readable form, as the lines of a timeline.
//!
//! Promise: a run that asks for neither formats nothing, and nobody has to know which task is at work.

use super::LedgerOptions;
use super::doer::Doer;
use super::event::Event;
use super::kind::EventKind;
use super::subjects::{StreamName, Subjects};
use super::timeline::{Timeline, place_of};
use crate::outcome::Violation;
use crate::plan::Plan;
use crate::units::{Life, NodeId, SimTime};

/// One line of a timeline: an event, and what it was seen to be.
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
    subjects: Subjects,
    sink: Option<Sink>,
    doer: Doer,
    events: u64,
}

impl Onlooker {
    /// One that does what the options ask for in a run of `plan`; `None` when that is nothing.
    #[must_use]
    pub fn new(plan: &Plan, options: LedgerOptions) -> Option<Self> {
        options.sink.as_ref()?;
        let timeline = options.account_of.map_or_else(Timeline::default, Timeline::new);
        Some(Self {
            timeline: timeline.with_faults(&plan.faults),
            subjects: Subjects::new(plan),
            sink: options.sink,
            doer: Doer::World("nothing was due yet"),
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

    /// Takes one event, its encoding, and what laws said to it.
    pub fn event(&mut self, at: SimTime, event: &Event<'_>, encoded: &[u8], broken: &[Violation]) {
        let index = self.events;
        self.events += 1;
        let Some(sink) = &mut self.sink else { return };
        let (node, _) = place_of(event);
        let streams = self.subjects.of(at, event, self.timeline.accounts());
        let (text, doer) = (self.timeline.line(at, event), self.doer);
        sink(&Line { index, at, node, doer, streams, event, text, encoded, broken });
    }
}
