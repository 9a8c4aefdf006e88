//! `links/arrival-order`: the frames of a lane reach admission in the order in which they arrived.
//!
//! Checked where frames carry references and none carries a piece of a message: there each frame is one admission.

use super::{Law, Setting, View};
use crate::ledger::event::Event;
use crate::ledger::kind::{EventKind, EventMask};
use crate::outcome::Violation;
use crate::units::{FrameNumber, MessageId, NodeId, SimTime};
use groundhog_engine::streams::key::Class;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

/// Who sends, who receives, in which class.
type Lane = (NodeId, NodeId, Class);

/// A copy of a message at its receiver.
type Carried = (MessageId, u32, NodeId);

struct Delivered {
    frame: FrameNumber,
    lane: Lane,
    place: u64,
}

/// See the module.
#[derive(Default)]
pub struct ArrivalOrder {
    is_on: bool,
    under_way: FxHashMap<FrameNumber, (Lane, Carried)>,
    delivered: FxHashMap<Carried, VecDeque<Delivered>>,
    /// How many frames a lane has brought, and the place of the last that was admitted.
    lanes: FxHashMap<Lane, (u64, u64)>,
}

impl ArrivalOrder {
    /// Its id.
    pub const ID: &'static str = "links/arrival-order";
    /// What it states.
    pub const STATES: &'static str = "No frame is held on the way: the frames of one lane reach admission in arrival order \
         (000, Stream and transcript).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        let links = &setting.plan.engines.links;
        Self { is_on: links.references.is_some() && links.chunks.is_none(), ..Self::default() }
    }

    fn reads_now(&self) -> EventMask {
        if !self.is_on {
            return EventMask::of(&[EventKind::Quiesced]);
        }
        EventMask::of(&[
            EventKind::Died,
            EventKind::FrameSent,
            EventKind::FrameDelivered,
            EventKind::FrameLost,
            EventKind::Arrived,
        ])
    }

    fn arrived(&mut self, carried: Carried) -> Option<String> {
        let Delivered { frame, lane, place } = self.delivered.get_mut(&carried)?.pop_front()?;
        let (_, last) = self.lanes.get_mut(&lane)?;
        if place > *last {
            *last = place;
            return None;
        }
        let (from, to, class) = lane;
        Some(format!(
            "{to} admitted frame {} from {from} in {class} after one that had arrived later",
            frame.0
        ))
    }
}

impl Law for ArrivalOrder {
    law_identity!(Outcome reads by reads_now);

    fn event(&mut self, at: SimTime, event: &Event<'_>, _view: &dyn View, broken: &mut Vec<Violation>) {
        match *event {
            Event::Died { node, .. } => self.delivered.retain(|(_, _, at), _| *at != node),
            Event::FrameSent { frame, message: Some(message), copy, from, to, class, .. } => {
                self.under_way.insert(frame, ((from, to, class), (message, copy, to)));
            }
            Event::FrameDelivered { frame, .. } => {
                let Some((lane, carried)) = self.under_way.get(&frame).copied() else { return };
                let (brought, _) = self.lanes.entry(lane).or_default();
                *brought += 1;
                let delivered = Delivered { frame, lane, place: *brought };
                self.delivered.entry(carried).or_default().push_back(delivered);
            }
            Event::FrameLost { frame, .. } => {
                let Some((_, carried)) = self.under_way.remove(&frame) else { return };
                if let Some(delivered) = self.delivered.get_mut(&carried) {
                    delivered.retain(|delivered| delivered.frame != frame);
                }
            }
            Event::Arrived { node, message: Some(message), passage, .. } => {
                if let Some(saw) = self.arrived((message, passage.copy, node)) {
                    broken.push(Violation { law: Self::ID, at, node: Some(node), saw });
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{HONEST, Ledger, message, transaction};
    use crate::ledger::event::LossCause;
    use crate::plan::ReferencesPlan;
    use crate::units::Life;
    use groundhog_engine::streams::record::Introducer;
    use groundhog_engine::units::WallMs;

    /// Three frames of a lane arrive in their order, these are lost, and these messages are admitted.
    fn admitted(lost: &[u32], order: &[u32]) -> usize {
        let mut plan = Ledger::plan();
        plan.engines.links.references = Some(ReferencesPlan { sent: 1, received: 1 });
        let mut ledger = Ledger::over(ArrivalOrder::new(&Ledger::setting_of(plan)));
        let (from, to, class) = (NodeId(1), NodeId(3), Class::Application);
        for ordinal in 0..3 {
            let (frame, message) = (FrameNumber(ordinal.into()), Some(message(ordinal)));
            let (copy, channel, bytes) = (0, 0, 64);
            ledger.event(&Event::FrameSent { frame, message, copy, from, to, class, channel, bytes });
            ledger.event(&Event::FrameDelivered { frame, message, to, duplicate: false });
        }
        for ordinal in lost {
            let (frame, message) = (FrameNumber((*ordinal).into()), Some(message(*ordinal)));
            ledger.event(&Event::FrameLost { frame, message, cause: LossCause::ReferenceMiss });
        }
        for ordinal in order {
            ledger.event(&Event::Arrived {
                message: Some(message(*ordinal)),
                node: to,
                life: Life(0),
                wall: WallMs(0),
                transaction: &transaction(1, 3, u64::from(*ordinal), 1),
                passage: HONEST,
                introducer: Introducer::Own,
            });
        }
        ledger.finish().len()
    }

    #[test]
    fn a_frame_that_is_admitted_after_a_later_one_breaks_it_and_one_that_is_dropped_does_not() {
        assert_eq!((admitted(&[], &[0, 1, 2]), admitted(&[1], &[0, 2])), (0, 0));
        assert_eq!(admitted(&[], &[0, 2, 1]), 1);
    }
}
