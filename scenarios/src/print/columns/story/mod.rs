//! A run's events as the beats of a story: what a message goes through at one node is one beat, and the disk's work is told
//! in a clause of what comes of it.
//!
//! Promise: it reads lines of a timeline in their order and runs nothing. Deaths, boots, faults, failures and broken laws
//! always have beats of their own.

mod growing;
mod lives;
mod messages;

use super::beat::{About, Beat};
use super::draft::{Deed, Draft, Place};
use super::focus;
use super::joining::{Sequences, beats};
use super::quiet::Quiet;
use groundhog_sim::ledger::event::Event;
use groundhog_sim::ledger::onlooker::Line;
use groundhog_sim::ledger::subjects::StreamName;
use groundhog_sim::ledger::words;
use groundhog_sim::outcome::Violation;
use groundhog_sim::plan::{FaultKind, Plan};
use groundhog_sim::units::{FaultId, FrameNumber, MessageId, NodeId};
use messages::{Frame, sequence_of};
use std::collections::{BTreeMap, BTreeSet};

/// Grows event by event.
pub struct Story {
    faults: BTreeMap<FaultId, FaultKind>,
    messages: BTreeMap<MessageId, StreamName>,
    sequences: Sequences,
    frames: BTreeMap<FrameNumber, Frame>,
    quiet: Vec<Quiet>,
    /// Nodes that opened in their first life, and where they are told together.
    opened: Vec<(NodeId, usize)>,
    reborn: BTreeSet<NodeId>,
    drafts: Vec<Draft>,
    /// Whether the last draft may still grow.
    open: bool,
    focus: Vec<About>,
    scenes: Vec<NodeId>,
}

/// A story that is over.
#[derive(Debug)]
pub struct Told {
    /// Its beats, in order.
    pub beats: Vec<Beat>,
    /// The messages and streams that the law is about that it is told for.
    pub focus: Vec<About>,
    /// The nodes at which laws were broken, that of the law that it is told for first.
    pub scenes: Vec<NodeId>,
}

impl Story {
    /// Of a run of `plan` that has not begun.
    pub fn new(plan: &Plan) -> Self {
        Self {
            faults: plan.faults.iter().map(|fault| (fault.id, fault.kind.clone())).collect(),
            messages: BTreeMap::new(),
            sequences: Sequences::new(),
            frames: BTreeMap::new(),
            quiet: plan.nodes.iter().map(|_| Quiet::default()).collect(),
            opened: Vec::new(),
            reborn: BTreeSet::new(),
            drafts: Vec::new(),
            open: false,
            focus: Vec::new(),
            scenes: Vec::new(),
        }
    }

    /// Takes the next event. One that is not `shown` has no beat of its own to look at, and changes those after it as ever.
    pub fn take(&mut self, line: &Line<'_>, shown: bool) {
        let told = self.drafts.len();
        self.event(line);
        self.drafts[told..].iter_mut().for_each(|draft| draft.shown = shown);
    }

    /// A law was broken: at the event that was taken last, or when the run was over.
    pub fn broken(&mut self, violation: &Violation) {
        if let Some(node) = violation.node {
            self.progress(violation.at, node);
            self.scenes.push(node);
        }
        let saw = focus::abbreviated(&violation.saw);
        self.push(violation.at, Place::Broken(violation.law), 0, Vec::new(), Deed::Words(saw));
        self.open = false;
    }

    /// This is what the story is told for, and the event at which it was seen.
    pub fn turns_on(&mut self, violation: &Violation, line: Option<&Line<'_>>) {
        if let Some(line) = line {
            let about = |stream: &StreamName| (*stream, sequence_of(line.event));
            self.focus.extend(line.streams.iter().map(about));
        }
        self.focus.extend(focus::named_in(&violation.saw));
        if let Some(node) = violation.node {
            self.scenes.insert(0, node);
        }
    }

    /// The story is over.
    pub fn told(mut self) -> Told {
        self.tell_of_first_boots();
        Told { beats: beats(self.drafts, &self.sequences), focus: self.focus, scenes: self.scenes }
    }

    fn event(&mut self, line: &Line<'_>) {
        match *line.event {
            Event::DiskAnswered { node, operation, error, injected, .. } => {
                self.disk(line.at, node, &words::kebab(operation), error, injected);
            }
            Event::Engine { node, event, .. } => self.engine(line, node, &event),
            Event::Intended { .. }
            | Event::NotSent { .. }
            | Event::ReserveAnswered { .. }
            | Event::Exposed { .. } => self.origin(line),
            Event::FrameSent { .. } | Event::FrameLost { .. } | Event::FrameDelivered { .. } => {
                self.frame(line);
            }
            Event::Relayed { .. }
            | Event::Unverified { .. }
            | Event::Arrived { .. }
            | Event::Answered { .. }
            | Event::AdmissionAbandoned { .. }
            | Event::Dispatched { .. }
            | Event::Mail { .. }
            | Event::Handled { .. } => self.destination(line),
            _ => self.life(line.at, line.event),
        }
    }
}

/// An id in words.
fn spaced(id: &str) -> String {
    id.replace('-', " ")
}
