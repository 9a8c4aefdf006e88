//! Which events are wanted: by node, by stream, by time.
//!
//! Promise: what happens to a stream's ends as a whole - boots, deaths, their faults - belongs to the stream; a fault belongs
//! to every node that it touches, and a lost frame to both of its ends.

use super::stream::{self, Streams};
use crate::target::TargetError;
use groundhog_sim::ledger::event::Event;
use groundhog_sim::ledger::onlooker::Line;
use groundhog_sim::plan::{FaultKind, Plan};
use groundhog_sim::units::{FaultId, FrameNumber, NodeId};
use std::collections::{BTreeMap, BTreeSet};

/// A stretch of simulated time.
#[derive(Clone, Copy, Debug)]
pub struct Around {
    /// Its middle, in microseconds.
    pub middle_us: u64,
    /// How far it reaches to either side, in microseconds.
    pub within_us: u64,
}

/// What is wanted.
pub struct Filter {
    nodes: BTreeSet<NodeId>,
    streams: Vec<Streams>,
    around: Option<Around>,
    /// The ends of every stream that is wanted.
    ends: BTreeSet<NodeId>,
    faults: BTreeMap<FaultId, Vec<NodeId>>,
    frames: BTreeMap<FrameNumber, [NodeId; 2]>,
}

impl Filter {
    /// Of the events of a plan.
    ///
    /// # Errors
    /// When the plan has no such node or stream.
    pub fn new(
        plan: &Plan,
        nodes: &[u16],
        streams: Vec<Streams>,
        around: Option<Around>,
    ) -> Result<Self, TargetError> {
        let count = plan.nodes.len();
        if let Some(node) = nodes.iter().find(|node| usize::from(**node) >= count) {
            let what = format!("--node {node}: the plan has nodes 0 to {}", count - 1);
            return Err(TargetError::Call(what));
        }
        stream::checked(&streams, plan)?;
        let wanted =
            stream::of_plan(plan).into_iter().filter(|of_plan| streams.iter().any(|some| some.hold(of_plan)));
        let ends = wanted.flat_map(|stream| [stream.origin, stream.destination]).collect();
        let faults = plan.faults.iter().map(|fault| (fault.id, touched(&fault.kind))).collect();
        let nodes = nodes.iter().map(|node| NodeId(*node)).collect();
        Ok(Self { nodes, streams, around, ends, faults, frames: BTreeMap::new() })
    }

    /// The nodes that were asked for.
    pub const fn nodes(&self) -> &BTreeSet<NodeId> {
        &self.nodes
    }

    /// Whether every event is wanted.
    pub fn is_open(&self) -> bool {
        self.nodes.is_empty() && self.streams.is_empty() && self.around.is_none()
    }

    /// What is asked for, in words: `at n1, of n3/control`.
    pub fn words(&self) -> String {
        let nodes: Vec<String> = self.nodes.iter().map(|node| format!("n{}", node.0)).collect();
        let streams: Vec<String> = self.streams.iter().map(ToString::to_string).collect();
        let mut words = String::new();
        for (word, names) in [(" at ", nodes), (" of ", streams)] {
            if !names.is_empty() {
                words.push_str(&format!("{word}{}", names.join(" and ")));
            }
        }
        words
    }

    /// Whether an event is in the stretch of time that is asked for.
    pub fn is_near(&self, line: &Line<'_>) -> bool {
        self.around.is_none_or(|around| line.at.as_us().abs_diff(around.middle_us) <= around.within_us)
    }

    /// Whether an event is wanted; to be asked of each, in order.
    pub fn wants(&mut self, line: &Line<'_>) -> bool {
        if let Event::FrameSent { frame, from, to, .. } = *line.event
            && !self.nodes.is_empty()
        {
            self.frames.insert(frame, [from, to]);
        }
        self.is_near(line)
            && (self.nodes.is_empty() || self.at(line, &self.nodes))
            && (self.streams.is_empty() || self.of_streams(line))
    }

    fn at(&self, line: &Line<'_>, nodes: &BTreeSet<NodeId>) -> bool {
        match line.event {
            Event::FaultBegan { fault } | Event::FaultEnded { fault } => {
                self.faults.get(fault).is_some_and(|touched| touched.iter().any(|node| nodes.contains(node)))
            }
            Event::FrameLost { frame, .. } => {
                self.frames.get(frame).is_some_and(|ends| ends.iter().any(|node| nodes.contains(node)))
            }
            _ => line.node.is_some_and(|node| nodes.contains(&node)),
        }
    }

    fn of_streams(&self, line: &Line<'_>) -> bool {
        let of_an_end = matches!(
            line.event,
            Event::Booted { .. }
                | Event::Ready { .. }
                | Event::OpenFailed { .. }
                | Event::Died { .. }
                | Event::PowerLost { .. }
                | Event::Panicked { .. }
                | Event::ClockSet { .. }
                | Event::SecondRuntime { .. }
                | Event::FaultBegan { .. }
                | Event::FaultEnded { .. }
        );
        line.streams.iter().any(|stream| self.streams.iter().any(|some| some.hold(stream)))
            || of_an_end && self.at(line, &self.ends)
    }
}

/// The nodes that a fault touches.
fn touched(kind: &FaultKind) -> Vec<NodeId> {
    match kind {
        FaultKind::Crash { node, .. }
        | FaultKind::Disk { node, .. }
        | FaultKind::Clock { node, .. }
        | FaultKind::StallHandler { node, .. }
        | FaultKind::SlowProcessor { node, .. }
        | FaultKind::Store { node, .. } => vec![*node],
        FaultKind::Link { from, to, .. } => vec![*from, *to],
    }
}
