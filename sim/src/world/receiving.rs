//! Frames at their receiver: out of the network, past a receiver that may be stalled, into the lanes that tasks serve.
//!
//! Promise: a lane's frames are taken in the order in which the transport had them; each frame in hand is finished once.

use super::network::{Delivery, Frame, FrameHandle, LinkGeneration, ReturnPath, SignalKind};
use super::references::Kept;
use super::timeline::Due;
use super::traffic::Direction;
use super::{Program, World};
use crate::ledger::event::Event;
use crate::plan::FrameName;
use crate::units::{ActionId, FaultId, FrameNumber, Life, MessageId, NodeId, SimTime};
use bytes::Bytes;
use groundhog_engine::streams::key::Class;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::task::Waker;

/// A frame that the receiver's transport has and a receiving task is to take.
#[derive(Clone, Debug)]
pub struct Inbound {
    pub(super) frame: FrameNumber,
    pub(super) message: Option<MessageId>,
    /// The workload's copy, from 0; `u32::MAX` for an adversary's.
    pub(super) copy: u32,
    pub(super) origin: NodeId,
    pub(super) destination: NodeId,
    pub(super) name: FrameName,
    pub(super) duplicate: bool,
    /// Whether it left its origin in signing order as the original copy.
    pub(super) honest: bool,
    pub(super) payload: Bytes,
    pub(super) intended: SimTime,
    pub(super) sent: SimTime,
    pub(super) class: Class,
    /// Which piece of its message it carries, where that was cut.
    pub(super) piece: Option<u32>,
    /// The way back over its connection; `None` for what came over none.
    pub(super) path: Option<ReturnPath>,
    /// The adversary's act that sent it, if one did.
    pub(super) replay: Option<ActionId>,
    /// Hops that it has taken on the ring; 0 off it.
    pub(super) hops: u8,
    /// Whether it is a handshake, which comes before its connection is admitted.
    pub(super) out_of_band: bool,
    /// Whether the sender's lane waits for its credit.
    pub(super) credited: bool,
}

impl Inbound {
    /// The connection that it came by; `None` for out-of-band signalling.
    pub(super) fn generation(&self) -> Option<LinkGeneration> {
        self.path.map(|path| path.generation)
    }

    /// A signal that came over no connection.
    pub(super) fn out_of_band(frame: FrameNumber, name: FrameName, payload: Bytes, now: SimTime) -> Self {
        Self {
            frame,
            message: None,
            copy: u32::MAX,
            origin: name.origin,
            destination: name.destination,
            name,
            // Nothing waits for it, and nothing is lost on a link with it.
            duplicate: true,
            honest: false,
            payload,
            intended: now,
            sent: now,
            class: name.class,
            piece: None,
            path: None,
            replay: None,
            hops: 0,
            out_of_band: true,
            credited: false,
        }
    }
}

#[derive(Debug, Default)]
pub(super) struct LaneQueue {
    /// Boxed: a frame passes through many hands before its credit goes back.
    pub(super) frames: VecDeque<Box<Inbound>>,
    pub(super) waker: Option<Waker>,
}

#[derive(Debug, Default)]
pub(super) struct Receiving {
    pub(super) lanes: IndexMap<(NodeId, Class), LaneQueue, FxBuildHasher>,
    pub(super) opened: VecDeque<(NodeId, Class)>,
    pub(super) waker: Option<Waker>,
    /// What this life keeps of each peer's newest connection.
    pub(super) references: BTreeMap<NodeId, Kept>,
}

/// A receiver that hands nothing on.
#[derive(Debug, Default)]
pub(super) struct StalledReceiver {
    pub(super) faults: BTreeSet<FaultId>,
    pub(super) held: VecDeque<(Frame, bool)>,
}

impl World {
    /// A delivery is due.
    pub(super) fn deliver(&mut self, handle: FrameHandle) {
        let now = self.now();
        match self.traffic.network.deliver(now, handle) {
            Delivery::Delivered { frame, duplicate, again } => {
                let to = frame.sent.to;
                if let Some(again) = again {
                    self.timeline.at(again.deliver_at, Due::Deliver { to, frame: again.handle });
                }
                let (number, message) = (frame.number, frame.sent.message);
                self.record(&Event::FrameDelivered { frame: number, message, to, duplicate });
                if let (false, Some(transfer)) = (duplicate, frame.sent.tag.ended_transfer()) {
                    let path = frame.return_path();
                    self.signal(SignalKind::DeliveryNotice, &path, Some(transfer), transfer.class);
                }
                if self.program == Program::Engines
                    && let Some(frame) = self.resolved(frame, duplicate)
                {
                    self.hand_on(frame, duplicate);
                }
            }
            Delivery::Held | Delivery::Gone => {}
            Delivery::Postponed(at) => {
                let to = self.traffic.network.receiver(handle).expect("a postponed frame is in flight");
                self.timeline.at(at, Due::Deliver { to, frame: handle });
            }
            Delivery::Lost { frame, cause, given_up_at } => {
                let sent = frame.sent;
                self.record(&Event::FrameLost { frame: frame.number, message: sent.message, cause });
                let direction = Direction { from: sent.from, to: sent.to };
                self.schedule_give_up(given_up_at, direction, sent.generation, &sent.tag);
            }
        }
    }

    /// Hands a frame on to its lane, unless the receiver of its channel is stalled.
    pub(super) fn hand_on(&mut self, frame: Frame, duplicate: bool) {
        let direction = Direction { from: frame.sent.from, to: frame.sent.to };
        match self.traffic.stalled.get_mut(&(direction, frame.sent.channel)) {
            Some(receiver) => receiver.held.push_back((frame, duplicate)),
            None => self.take_in(frame, duplicate),
        }
    }

    /// Stalls the receivers that a fault names.
    pub(super) fn stall_receivers(
        &mut self,
        fault: FaultId,
        (from, to): (NodeId, NodeId),
        one_way: bool,
        channel: u8,
    ) {
        for (from, to) in [(from, to), (to, from)].into_iter().take(if one_way { 1 } else { 2 }) {
            self.traffic.stalled.entry((Direction { from, to }, channel)).or_default().faults.insert(fault);
        }
    }

    /// Receivers that nothing stalls any more hand on what they hold, in order.
    pub(super) fn release_receivers(&mut self, fault: FaultId) {
        let mut released = VecDeque::new();
        self.traffic.stalled.retain(|_, receiver| {
            if receiver.faults.remove(&fault) && receiver.faults.is_empty() {
                released.append(&mut receiver.held);
            }
            !receiver.faults.is_empty()
        });
        for (frame, duplicate) in released {
            self.take_in(frame, duplicate);
        }
    }

    fn take_in(&mut self, frame: Frame, duplicate: bool) {
        let path = frame.return_path();
        let copy = frame.event_copy();
        let sent = frame.sent;
        let (peer, node, class) = (sent.from, sent.to, sent.class);
        let inbound = Box::new(Inbound {
            frame: frame.number,
            message: sent.message,
            copy,
            origin: sent.name.origin,
            destination: sent.name.destination,
            name: sent.name,
            duplicate,
            honest: sent.tag.in_order && sent.replay.is_none() && !duplicate,
            payload: sent.bytes,
            intended: sent.tag.intended,
            sent: sent.tag.sent,
            class,
            piece: sent.tag.piece,
            path: Some(path),
            replay: sent.replay,
            hops: sent.tag.hops,
            out_of_band: sent.tag.out_of_band,
            credited: !duplicate && sent.tag.transfer.is_some(),
        });
        self.hand_to_lane(peer, node, inbound);
    }

    /// Puts a frame into the lane of its peer and class.
    pub(super) fn hand_to_lane(&mut self, peer: NodeId, node: NodeId, inbound: Box<Inbound>) {
        let class = inbound.class;
        let receiving = &mut self.traffic.receiving[node.index()];
        let lane = receiving.lanes.entry((peer, class)).or_insert_with(|| {
            receiving.opened.push_back((peer, class));
            if let Some(waker) = receiving.waker.take() {
                waker.wake();
            }
            LaneQueue::default()
        });
        lane.frames.push_back(inbound);
        if let Some(waker) = lane.waker.take() {
            waker.wake();
        }
    }

    /// A lane that has its first frame, for the life to start its task.
    pub(super) fn take_new_lane(
        &mut self,
        node: NodeId,
        life: Life,
        waker: &Waker,
    ) -> Option<(NodeId, Class)> {
        if !self.is_alive(node, life) {
            return None;
        }
        let receiving = &mut self.traffic.receiving[node.index()];
        let opened = receiving.opened.pop_front();
        if opened.is_none() {
            receiving.waker = Some(waker.clone());
        }
        opened
    }

    /// The next frame of a lane for its task.
    pub(super) fn take_inbound(
        &mut self,
        node: NodeId,
        life: Life,
        peer: NodeId,
        class: Class,
        waker: &Waker,
    ) -> Option<Box<Inbound>> {
        if !self.is_alive(node, life) {
            return None;
        }
        let inbound = loop {
            let lane = self.traffic.receiving[node.index()].lanes.get_mut(&(peer, class))?;
            let Some(inbound) = lane.frames.pop_front() else {
                lane.waker = Some(waker.clone());
                return None;
            };
            if let Some(inbound) = self.resolved_late(inbound) {
                break inbound;
            }
        };
        if !inbound.duplicate {
            self.node(node).frames_in_hand.insert(inbound.frame, inbound.message);
        }
        Some(inbound)
    }

    /// A frame is handled, refused or sent on: its credit goes back.
    pub(super) fn finish_inbound(&mut self, node: NodeId, inbound: &Inbound) {
        if !inbound.duplicate {
            self.node(node).frames_in_hand.swap_remove(&inbound.frame);
        }
        if let Some(path) = inbound.path.filter(|_| inbound.credited) {
            self.signal(SignalKind::Credit, &path, None, inbound.class);
        }
    }
}
