//! What each lane has in flight, by its frames.
//!
//! Promise: a lane is one sender, one receiver and one class. A frame is in flight from being handed to a channel until it
//! is delivered or lost. Copies made by the transport, and frames of adversaries (which carry no message), are in no lane's
//! window and are not counted.

use super::event::Event;
use crate::units::{FrameNumber, NodeId};
use groundhog_engine::streams::key::Class;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

#[derive(Clone, Copy, Debug, Default)]
struct Lane {
    in_flight: u32,
    highest_delivered: Option<FrameNumber>,
}

/// Every lane's frames in flight.
#[derive(Clone, Debug, Default)]
pub struct Lanes {
    places: IndexMap<u64, u32, FxBuildHasher>,
    lanes: Vec<Lane>,
    in_flight: IndexMap<FrameNumber, u32, FxBuildHasher>,
    most: u32,
}

impl Lanes {
    /// Reads one event. Returns whether a frame was delivered after one that its lane sent later.
    #[inline]
    pub fn event(&mut self, event: &Event<'_>) -> bool {
        match *event {
            Event::FrameSent { frame, message: Some(_), from, to, class, .. } => {
                self.sent(frame, from, to, class);
                false
            }
            Event::FrameDelivered { frame, duplicate: false, .. } => self.delivered(frame),
            Event::FrameLost { frame, .. } => {
                self.left(frame);
                false
            }
            _ => false,
        }
    }

    /// The most frames that one lane ever had in flight.
    #[must_use]
    pub const fn most_in_flight(&self) -> u32 {
        self.most
    }

    fn sent(&mut self, frame: FrameNumber, from: NodeId, to: NodeId, class: Class) {
        let key = u64::from(from.0) << 24 | u64::from(to.0) << 8 | class as u64;
        let next = u32::try_from(self.lanes.len()).expect("lanes are bounded by pairs of nodes that send");
        let place = *self.places.entry(key).or_insert(next);
        if place == next {
            self.lanes.push(Lane::default());
        }
        let lane = &mut self.lanes[place as usize];
        lane.in_flight += 1;
        self.most = self.most.max(lane.in_flight);
        self.in_flight.insert(frame, place);
    }

    fn delivered(&mut self, frame: FrameNumber) -> bool {
        let Some(lane) = self.left(frame) else { return false };
        let overtaken = lane.highest_delivered > Some(frame);
        lane.highest_delivered = lane.highest_delivered.max(Some(frame));
        overtaken
    }

    fn left(&mut self, frame: FrameNumber) -> Option<&mut Lane> {
        let place = self.in_flight.swap_remove(&frame)?;
        let lane = &mut self.lanes[place as usize];
        lane.in_flight -= 1;
        Some(lane)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::event::LossCause;
    use crate::ledger::samples::message;

    fn sent(frame: u64, class: Class) -> Event<'static> {
        let (frame, message) = (FrameNumber(frame), Some(message(0)));
        Event::FrameSent {
            frame,
            message,
            copy: 0,
            from: NodeId(0),
            to: NodeId(1),
            class,
            channel: 0,
            bytes: 1,
        }
    }
    fn delivered(frame: u64) -> Event<'static> {
        Event::FrameDelivered { frame: FrameNumber(frame), message: None, to: NodeId(1), duplicate: false }
    }

    #[test]
    fn only_a_frame_behind_a_later_one_of_its_own_lane_is_out_of_order() {
        let mut lanes = Lanes::default();
        for (frame, class) in [(0, Class::E2e), (1, Class::E2e), (2, Class::Control), (3, Class::E2e)] {
            assert!(!lanes.event(&sent(frame, class)));
        }
        let order = [(2, false), (1, false), (0, true), (3, false), (0, false)];
        for (frame, overtaken) in order {
            assert_eq!(lanes.event(&delivered(frame)), overtaken, "frame {frame}");
        }
    }

    #[test]
    fn frames_in_flight_are_counted_by_lane_until_delivered_or_lost() {
        let mut lanes = Lanes::default();
        lanes.event(&sent(0, Class::E2e));
        lanes.event(&sent(1, Class::Control));
        assert_eq!(lanes.most_in_flight(), 1);
        lanes.event(&Event::FrameLost { frame: FrameNumber(0), message: None, cause: LossCause::LinkLoss });
        lanes.event(&sent(2, Class::E2e));
        assert_eq!(lanes.most_in_flight(), 1);
        lanes.event(&Event::FrameDelivered {
            frame: FrameNumber(2),
            message: None,
            to: NodeId(1),
            duplicate: true,
        });
        lanes.event(&sent(3, Class::E2e));
        assert_eq!(lanes.most_in_flight(), 2);
    }
}
