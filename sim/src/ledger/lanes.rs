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
