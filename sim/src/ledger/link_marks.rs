//! Marks of connections: volatile windows and the namespace behind them, references, chunks.
//!
//! Promise: as those of [`super::mark_counter`]: from observed events alone, once for each time that a sentence comes true.

use super::event::{Answer, Event, LossCause};
use super::link_event::LinkEvent;
use super::marks::Mark;
use crate::plan::{Act, Plan};
use crate::units::{ActionId, NodeId};
use groundhog_engine::streams::key::StreamKey;
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;

/// What marks of connections depend on.
#[derive(Debug, Default)]
pub struct LinkMarks {
    /// Actions whose messages are the namespace's.
    namespace: IndexSet<ActionId, FxBuildHasher>,
    /// The connection whose window last accepted something of each stream at each node.
    windows: IndexMap<(NodeId, StreamKey), u32, FxBuildHasher>,
}

impl LinkMarks {
    /// For one run of `plan`.
    pub fn new(plan: &Plan) -> Self {
        let of_namespace = plan.actions.iter().filter(|action| match &action.act {
            Act::Send(burst) => burst.envelopes > 0,
            _ => false,
        });
        Self { namespace: of_namespace.map(|action| action.id).collect(), windows: IndexMap::default() }
    }

    /// The marks that an event reaches.
    #[inline]
    pub fn event(&mut self, event: &Event<'_>, reached: &mut dyn FnMut(Mark)) {
        match *event {
            Event::Answered { node, transaction, passage, answer: Answer::Verdict(verdict), .. }
                if passage.link.is_some() && verdict.dispatches() =>
            {
                let link = passage.link.expect("it is there");
                reached(Mark::LinkWindowUsed);
                let before = self.windows.insert((node, transaction.stream), link);
                if before.is_some_and(|before| before != link) {
                    reached(Mark::LinkGenerationEnded);
                }
            }
            Event::Arrived { message: Some(message), passage, .. }
                if passage.link.is_none() && self.namespace.contains(&message.action) =>
            {
                reached(Mark::LinkLocalRelayed);
            }
            Event::FrameLost { cause: LossCause::ReferenceMiss, .. } => reached(Mark::ReferenceMissed),
            Event::Link { event, .. } => link_event(&event, reached),
            _ => {}
        }
    }
}

fn link_event(event: &LinkEvent, reached: &mut dyn FnMut(Mark)) {
    match *event {
        LinkEvent::Acted { refused: Some("already-acted"), .. } => reached(Mark::SecondActRefused),
        LinkEvent::Acted { refused: Some("other-epoch"), .. } => reached(Mark::OtherEpochRefused),
        LinkEvent::Acted { .. } => {}
        LinkEvent::Referenced { .. } => reached(Mark::ReferenceSent),
        LinkEvent::Resolved { .. } => reached(Mark::ReferenceResolved),
        LinkEvent::Told { known: false, .. } => reached(Mark::ReferenceDisclaimed),
        LinkEvent::Told { known: true, .. } => {}
        LinkEvent::Chunk { outcome, expired, overflowed, .. } => {
            if outcome == "complete" {
                reached(Mark::ChunksReassembled);
            }
            if expired > 0 {
                reached(Mark::PartialExpired);
            }
            if overflowed > 0 {
                reached(Mark::TombstoneOverflow);
            }
        }
        LinkEvent::Dropped { .. } => reached(Mark::DroppedAfterAdmission),
    }
}
