//! `links/reference-resolves`: an honest reference resolves if its frame was under way for less than two delivery bounds.
//!
//! Under way is from the hand-over to the channel until the receiver's transport has the frame; how long it then waits in its
//! lane does not count. Two delivery bounds are the receiver's retention less the sender's lease, each by its own clock.

use super::{Law, Setting, View};
use crate::ledger::event::{Event, LossCause};
use crate::ledger::kind::{EventKind, EventMask};
use crate::outcome::Violation;
use crate::plan::{ClockFault, FaultKind, Plan};
use crate::units::{FrameNumber, NodeId, SimTime};
use groundhog_engine::streams::references::{LEASE_NS, RETENTION_NS};
use rustc_hash::FxHashMap;

struct Frame {
    to: NodeId,
    sent: SimTime,
    delivered: Option<SimTime>,
}

/// See the module.
pub struct ReferenceResolves {
    is_on: bool,
    least_miss_ns: u64,
    frames: FxHashMap<FrameNumber, Frame>,
}

impl ReferenceResolves {
    /// Its id.
    pub const ID: &'static str = "links/reference-resolves";
    /// What it states.
    pub const STATES: &'static str = "An honest sender's reference resolves whenever its transit stays under two delivery bounds, and a frame that \
         waits in its lane still resolves however long it waited (000, Stream and transcript; decision 6).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        let ppm = worst_ppm(&setting.plan);
        let shortest = |ns: u64| u128::from(ns) * 1_000_000 / (1_000_000 + ppm);
        let longest = |ns: u64| u128::from(ns) * (1_000_000 + ppm) / 1_000_000;
        let least = shortest(RETENTION_NS).saturating_sub(longest(LEASE_NS));
        Self {
            is_on: setting.plan.engines.links.references.is_some(),
            least_miss_ns: u64::try_from(least).unwrap_or(u64::MAX),
            frames: FxHashMap::default(),
        }
    }

    fn reads_now(&self) -> EventMask {
        if !self.is_on {
            return EventMask::of(&[EventKind::Quiesced]);
        }
        EventMask::of(&[EventKind::FrameSent, EventKind::FrameDelivered, EventKind::FrameLost])
    }
}

/// How wrong an oscillator of the plan runs at most.
fn worst_ppm(plan: &Plan) -> u128 {
    let own = plan.nodes.iter().map(|node| node.clock.drift_ppm);
    let faults = plan.faults.iter().filter_map(|fault| match fault.kind {
        FaultKind::Clock { fault: ClockFault::Drift { ppm }, .. } => Some(ppm),
        _ => None,
    });
    own.chain(faults).map(|ppm| u128::from(ppm.unsigned_abs())).max().map_or(0, |ppm| 2 * ppm)
}

impl Law for ReferenceResolves {
    law_identity!(Outcome reads by reads_now);

    fn event(&mut self, at: SimTime, event: &Event<'_>, _view: &dyn View, broken: &mut Vec<Violation>) {
        match *event {
            // An adversary's frame may refer to anything.
            Event::FrameSent { frame, to, copy, .. } if copy != u32::MAX => {
                self.frames.insert(frame, Frame { to, sent: at, delivered: None });
            }
            Event::FrameDelivered { frame, duplicate: false, .. } => {
                if let Some(frame) = self.frames.get_mut(&frame) {
                    frame.delivered = Some(at);
                }
            }
            Event::FrameLost { frame: number, cause, .. } => {
                let Some(frame) = self.frames.remove(&number) else { return };
                let transit_ns = frame.delivered.unwrap_or(at).0 - frame.sent.0;
                if cause != LossCause::ReferenceMiss || transit_ns >= self.least_miss_ns {
                    return;
                }
                let saw = format!(
                    "{} dropped frame {} for its reference, and it was under way for {} ms, less than {} ms",
                    frame.to,
                    number.0,
                    transit_ns / 1_000_000,
                    self.least_miss_ns / 1_000_000
                );
                broken.push(Violation { law: Self::ID, at, node: Some(frame.to), saw });
            }
            _ => {}
        }
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{Ledger, message};
    use crate::plan::ReferencesPlan;
    use groundhog_engine::streams::key::Class;

    /// A frame of this copy arrives after so long and misses so long after that.
    fn missed(copy: u32, transit_ms: u64, waited_ms: u64) -> usize {
        let mut plan = Ledger::plan();
        plan.engines.links.references = Some(ReferencesPlan { sent: 1, received: 1 });
        let mut ledger = Ledger::over(ReferenceResolves::new(&Ledger::setting_of(plan)));
        let (frame, message, from, to) = (FrameNumber(7), Some(message(0)), NodeId(1), NodeId(3));
        let (class, channel, bytes) = (Class::E2e, 0, 64);
        ledger.event(&Event::FrameSent { frame, message, copy, from, to, class, channel, bytes });
        ledger.wait_us(transit_ms * 1_000);
        ledger.event(&Event::FrameDelivered { frame, message, to, duplicate: false });
        ledger.wait_us(waited_ms * 1_000);
        ledger.event(&Event::FrameLost { frame, message, cause: LossCause::ReferenceMiss });
        ledger.finish().len()
    }

    #[test]
    fn only_a_frame_that_was_under_way_for_two_delivery_bounds_may_miss() {
        assert_eq!((missed(0, 49_000, 0), missed(0, 50_000, 0)), (1, 0));
        assert_eq!(missed(0, 1_000, 60_000), 1, "waiting in its lane does not count");
        assert_eq!(missed(u32::MAX, 1, 0), 0, "an adversary's");
    }
}
