//! Frames between nodes: out of the lanes, over the network, into the receiving tasks, and credit back.
//!
//! Promise: a frame leaves only when its lane may send; what dies with a connection is told once, with its cause.

use super::network::{
    Connection, Delivery, FrameHandle, LinkGeneration, Network, Outgoing, ReturnPath, Sent,
};
use super::network::{LinkError, SignalArrival, SignalKind, Tag};
use super::slots::{SlotKey, Slots};
use super::timeline::Due;
use super::{Program, World};
use crate::ledger::event::{Event, LossCause};
use crate::plan::{FrameName, LinkFault, Plan};
use crate::units::{ActionId, FaultId, FrameNumber, Life, MessageId, NodeId, SimTime};
use bytes::Bytes;
use groundhog_engine::flaws::Flaws;
use groundhog_engine::streams::key::Class;
use groundhog_engine::streams::lanes::{LanesConfig, Outbound, TransferId};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::task::Waker;

/// Frames that may wait in one lane of one connection before a message is refused as lane-full.
const LANE_QUEUE_MAX_FRAMES: u32 = 65_536;

/// A direction of a link: who sends, to whom.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Direction {
    /// The sender.
    pub from: NodeId,
    /// The receiver.
    pub to: NodeId,
}

/// A frame in a lane, not sent yet.
#[derive(Debug)]
struct Queued {
    message: MessageId,
    name: FrameName,
    bytes: Bytes,
    intended: SimTime,
    in_order: bool,
}

/// The sending side of one connection.
#[derive(Debug)]
struct Sending {
    generation: LinkGeneration,
    outbound: Outbound<Queued>,
    /// What waits in each lane, in order: told as lost when the connection closes.
    waiting: [VecDeque<(MessageId, u32)>; 4],
}

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
    /// Connection slot of the peer at the receiver.
    pub(super) slot: u16,
    path: ReturnPath,
    /// Whether the sender's lane waits for its credit.
    credited: bool,
}

#[derive(Debug, Default)]
struct LaneQueue {
    /// Boxed: a frame passes through many hands before its credit goes back.
    frames: VecDeque<Box<Inbound>>,
    waker: Option<Waker>,
}

#[derive(Debug, Default)]
struct Receiving {
    lanes: IndexMap<(NodeId, Class), LaneQueue, FxBuildHasher>,
    opened: VecDeque<(NodeId, Class)>,
    waker: Option<Waker>,
}

/// A signal on its way back to a sender.
#[derive(Clone, Copy, Debug)]
struct Returning {
    signal: super::network::Signal,
    transfer: Option<TransferId>,
    class: Class,
}

/// All traffic.
#[derive(Debug)]
pub struct Traffic {
    network: Network,
    sending: IndexMap<Direction, Sending, FxBuildHasher>,
    receiving: Vec<Receiving>,
    returning: Slots<Returning, ()>,
    slots: IndexMap<Direction, u16, FxBuildHasher>,
    /// Channels whose receiver is stalled behind its transport: by how many faults, and what it holds.
    stalled: BTreeMap<(Direction, u8), StalledReceiver>,
    flaws: Flaws,
}

/// A receiver that hands nothing on.
#[derive(Debug, Default)]
struct StalledReceiver {
    faults: BTreeSet<FaultId>,
    held: VecDeque<(super::network::Frame, bool)>,
}

impl Traffic {
    /// No connection stands yet.
    ///
    /// # Errors
    /// [`LinkError`] names the first link of the plan that cannot be.
    pub fn new(plan: &Plan, flaws: Flaws) -> Result<Self, LinkError> {
        let network = Network::new(plan.seed, plan.nodes.len(), &plan.links)?;
        let mut next_slot = vec![0u16; plan.nodes.len()];
        let mut slots: IndexMap<Direction, u16, FxBuildHasher> = IndexMap::default();
        for link in &plan.links {
            for (from, to) in [(link.a, link.b), (link.b, link.a)] {
                let slot = &mut next_slot[to.index()];
                slots.insert(Direction { from, to }, *slot);
                *slot += 1;
            }
        }
        Ok(Self {
            network,
            sending: IndexMap::default(),
            receiving: plan.nodes.iter().map(|_| Receiving::default()).collect(),
            returning: Slots::default(),
            slots,
            stalled: BTreeMap::new(),
            flaws,
        })
    }
}

impl World {
    /// A node's engines are open: it connects to every ready peer.
    pub(super) fn connect_node(&mut self, node: NodeId) {
        let traffic = &mut self.traffic;
        for connection in traffic.network.ready(node) {
            let peer = connection.peer;
            for direction in [Direction { from: node, to: peer }, Direction { from: peer, to: node }] {
                let config = LanesConfig {
                    pool_channels: connection.channels,
                    queue_max_frames: LANE_QUEUE_MAX_FRAMES,
                    flaws: traffic.flaws,
                };
                let sending = Sending {
                    generation: connection.generation,
                    outbound: Outbound::new(config),
                    waiting: Default::default(),
                };
                traffic.sending.insert(direction, sending);
            }
        }
    }

    /// Puts a copy of a signed message into the lane of its first hop.
    pub(super) fn push_copy(&mut self, message: MessageId, copy: u32) {
        let Some(signed) = self.workload.signed(message) else { return };
        let (from, to, via) = (signed.from, signed.to, signed.via);
        let name = FrameName {
            origin: from,
            destination: to,
            class: signed.transaction.stream.class,
            sequence: signed.transaction.sequence.0,
            copy,
        };
        let queued = Queued {
            message,
            name,
            bytes: signed.payload.clone(),
            intended: signed.intended,
            in_order: copy == 0 && via.is_none(),
        };
        self.push(Direction { from, to: via.unwrap_or(to) }, queued);
    }

    /// A relay sends on what it has verified and signed as its hop.
    pub(super) fn relay_on(&mut self, relay: NodeId, inbound: &Inbound, payload: Bytes) {
        let Some(message) = inbound.message else { return };
        let queued = Queued {
            message,
            name: inbound.name,
            bytes: payload,
            intended: inbound.intended,
            in_order: false,
        };
        self.push(Direction { from: relay, to: inbound.destination }, queued);
    }

    fn push(&mut self, direction: Direction, queued: Queued) {
        let (message, copy, class) = (queued.message, queued.name.copy, queued.name.class);
        let cause = match self.traffic.sending.get_mut(&direction) {
            None => Some(LossCause::Partition),
            Some(sending) => match sending.outbound.push(class, [queued]) {
                Ok(_) => {
                    sending.waiting[class.index()].push_back((message, copy));
                    None
                }
                Err(_) => Some(LossCause::LaneFull),
            },
        };
        match cause {
            None => self.pump(direction),
            Some(cause) => self.not_sent(message, copy, direction.from, cause),
        }
    }

    /// A copy never left: only the first one's fate is the message's.
    fn not_sent(&mut self, message: MessageId, copy: u32, node: NodeId, cause: LossCause) {
        if copy == 0 {
            self.record(&Event::NotSent { message, node, cause });
        }
    }

    /// Hands every frame that may leave now to the network.
    fn pump(&mut self, direction: Direction) {
        let now = self.now();
        loop {
            let Some(sending) = self.traffic.sending.get_mut(&direction) else { return };
            let Some(out) = sending.outbound.next_frame() else { return };
            sending.waiting[out.transfer.class.index()].pop_front();
            let Queued { message, name, bytes, intended, in_order } = out.frame;
            let outgoing = Outgoing {
                from: direction.from,
                to: direction.to,
                class: name.class,
                channel: out.channel,
                generation: sending.generation,
                message: Some(message),
                name,
                replay: None,
                tag: Tag { transfer: Some(out.transfer), intended, sent: now, in_order },
                bytes,
            };
            self.send(outgoing);
        }
    }

    /// The connection between two nodes, as `from` sees it.
    pub(super) fn connection(&self, from: NodeId, to: NodeId) -> Option<Connection> {
        self.traffic.network.connection(from, to)
    }

    /// Hands a frame to the network.
    pub(super) fn send(&mut self, outgoing: Outgoing) {
        let now = self.now();
        let Outgoing { from, to, class, channel, message, name, replay, .. } = outgoing;
        let direction = Direction { from, to };
        let (transfer, generation) = (outgoing.tag.transfer, outgoing.generation);
        let bytes = u32::try_from(outgoing.bytes.len()).expect("a frame is below 4 GiB");
        self.workload.recorder.see(&name, class, &outgoing.bytes);
        let sent = self.traffic.network.send(now, outgoing);
        let (frame, lost) = match sent {
            Sent::InFlight { number, scheduled, .. } => {
                self.timeline.at(scheduled.deliver_at, Due::Deliver { to, frame: scheduled.handle });
                (number, None)
            }
            Sent::Lost { number, cause, given_up_at } => (number, Some((cause, given_up_at))),
        };
        let copy = if replay.is_some() { u32::MAX } else { name.copy };
        if let Some(message) = message.filter(|_| replay.is_none() && from == name.origin) {
            let life = self.nodes[from.index()].life;
            self.left_its_origin(message, life);
        }
        self.record(&Event::FrameSent { frame, message, copy, from, to, class, channel, bytes });
        if let Some((cause, given_up_at)) = lost {
            self.record(&Event::FrameLost { frame, message, cause });
            self.schedule_give_up(given_up_at, direction, generation, transfer);
        }
    }

    /// The sender's transport gives a lost frame up: its lane goes on.
    fn schedule_give_up(
        &mut self,
        at: SimTime,
        direction: Direction,
        generation: LinkGeneration,
        transfer: Option<TransferId>,
    ) {
        if let Some(transfer) = transfer {
            self.timeline.at(at, Due::FrameGivenUp { direction, generation, transfer });
        }
    }

    /// A lost frame is given up by its sender.
    pub(super) fn frame_given_up(
        &mut self,
        direction: Direction,
        generation: LinkGeneration,
        transfer: TransferId,
    ) {
        self.lane_moves(direction, generation, Some(transfer), Some(transfer.class));
    }

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
                if let (false, Some(transfer)) = (duplicate, frame.sent.tag.transfer) {
                    let path = frame.return_path();
                    self.signal(SignalKind::DeliveryNotice, &path, Some(transfer), transfer.class);
                }
                if self.program == Program::Engines {
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
                self.schedule_give_up(given_up_at, direction, sent.generation, sent.tag.transfer);
            }
        }
    }

    /// Hands a frame on to its lane, unless the receiver of its channel is stalled.
    fn hand_on(&mut self, frame: super::network::Frame, duplicate: bool) {
        let direction = Direction { from: frame.sent.from, to: frame.sent.to };
        match self.traffic.stalled.get_mut(&(direction, frame.sent.channel)) {
            Some(receiver) => receiver.held.push_back((frame, duplicate)),
            None => self.take_in(frame, duplicate),
        }
    }

    /// Stalls the receivers that a fault names.
    fn stall_receivers(&mut self, fault: FaultId, (from, to): (NodeId, NodeId), one_way: bool, channel: u8) {
        for (from, to) in [(from, to), (to, from)].into_iter().take(if one_way { 1 } else { 2 }) {
            self.traffic.stalled.entry((Direction { from, to }, channel)).or_default().faults.insert(fault);
        }
    }

    /// Receivers that nothing stalls any more hand on what they hold, in order.
    fn release_receivers(&mut self, fault: FaultId) {
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

    fn take_in(&mut self, frame: super::network::Frame, duplicate: bool) {
        let path = frame.return_path();
        let copy = frame.event_copy();
        let sent = frame.sent;
        let (peer, node, class) = (sent.from, sent.to, sent.class);
        let slot = self.traffic.slots[&Direction { from: peer, to: node }];
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
            slot,
            path,
            credited: !duplicate && sent.tag.transfer.is_some(),
        });
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
        let lane = self.traffic.receiving[node.index()].lanes.get_mut(&(peer, class))?;
        let Some(inbound) = lane.frames.pop_front() else {
            lane.waker = Some(waker.clone());
            return None;
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
        if inbound.credited {
            self.signal(SignalKind::Credit, &inbound.path, None, inbound.class);
        }
    }

    fn signal(&mut self, kind: SignalKind, path: &ReturnPath, transfer: Option<TransferId>, class: Class) {
        let now = self.now();
        if let Some((signal, at)) = self.traffic.network.signal(now, kind, path) {
            let key = self.traffic.returning.open(Returning { signal, transfer, class });
            self.timeline.at(at, Due::Signal(key));
        }
    }

    /// A signal is due at its sender.
    pub(super) fn signal_arrives(&mut self, key: SlotKey) {
        let now = self.now();
        let Some(returning) = self.traffic.returning.meta(key).copied() else { return };
        match self.traffic.network.signal_arrives(now, &returning.signal) {
            SignalArrival::Retry(at) => self.timeline.at(at, Due::Signal(key)),
            SignalArrival::Gone => {
                self.traffic.returning.free(key);
            }
            SignalArrival::Arrived => {
                self.traffic.returning.free(key);
                let path = returning.signal.path;
                let direction = Direction { from: path.origin_end, to: path.receiving_end };
                let credit = returning.transfer.is_none().then_some(returning.class);
                self.lane_moves(direction, path.generation, returning.transfer, credit);
            }
        }
    }

    /// Whose machine a signal goes to.
    pub(super) fn signal_target(&mut self, key: SlotKey) -> Option<NodeId> {
        self.traffic.returning.meta(key).map(|returning| returning.signal.path.origin_end)
    }

    fn lane_moves(
        &mut self,
        direction: Direction,
        generation: LinkGeneration,
        delivered: Option<TransferId>,
        credit: Option<Class>,
    ) {
        let Some(sending) = self.traffic.sending.get_mut(&direction) else { return };
        if sending.generation != generation {
            return;
        }
        if let Some(transfer) = delivered {
            sending.outbound.delivered(transfer).expect("each transfer is delivered or given up once");
        }
        if let Some(class) = credit {
            sending.outbound.credit(class, 1).expect("credit comes back once a frame");
        }
        self.pump(direction);
    }

    /// An adversary at `node`'s place sends a recorded frame again.
    pub(super) fn replay(
        &mut self,
        act: ActionId,
        node: NodeId,
        name: &FrameName,
        to: NodeId,
        lane: Option<Class>,
    ) {
        let now = self.now();
        let recorded = self.workload.recorder.recorded(name).map(|recorded| recorded.bytes.clone());
        let (Some(bytes), Some(connection)) = (recorded, self.connection(node, to)) else {
            self.record(&Event::ReplayMissed { node });
            return;
        };
        let class = lane.unwrap_or(name.class);
        let channel = u8::try_from(class.index()).expect("four classes") % connection.channels;
        self.send(Outgoing {
            from: node,
            to,
            class,
            channel,
            generation: connection.generation,
            message: None,
            name: *name,
            replay: Some(act),
            tag: Tag { transfer: None, intended: now, sent: now, in_order: false },
            bytes,
        });
    }

    /// What a dead life's connections held is lost.
    pub(super) fn end_traffic(&mut self, node: NodeId) {
        let closed = self.traffic.network.die(node);
        for lost in closed.lost {
            let (frame, message) = (lost.frame.number, lost.frame.sent.message);
            self.record(&Event::FrameLost { frame, message, cause: lost.cause });
        }
        for connection in closed.connections {
            let peer = connection.peer;
            let sides = [(node, peer, LossCause::SenderCrash), (peer, node, LossCause::ReceiverCrash)];
            for (from, to, cause) in sides {
                let Some(sending) = self.traffic.sending.swap_remove(&Direction { from, to }) else {
                    continue;
                };
                for (message, copy) in sending.waiting.into_iter().flatten() {
                    self.not_sent(message, copy, from, cause);
                }
            }
        }
        let receiving = std::mem::take(&mut self.traffic.receiving[node.index()]);
        let mut lost: Vec<(FrameNumber, Option<MessageId>)> = Vec::new();
        let cause = LossCause::ReceiverCrash;
        for (_, receiver) in
            self.traffic.stalled.iter_mut().filter(|((direction, _), _)| direction.to == node)
        {
            for (frame, duplicate) in std::mem::take(&mut receiver.held) {
                if !duplicate {
                    lost.push((frame.number, frame.sent.message));
                }
            }
        }
        for (frame, message) in lost {
            self.record(&Event::FrameLost { frame, message, cause });
        }
        for inbound in receiving.lanes.into_values().flat_map(|lane| lane.frames) {
            if !inbound.duplicate {
                self.record(&Event::FrameLost { frame: inbound.frame, message: inbound.message, cause });
            }
        }
        let mut in_hand = std::mem::take(&mut self.node(node).frames_in_hand);
        in_hand.sort_unstable_keys();
        for (frame, message) in in_hand {
            self.record(&Event::FrameLost { frame, message, cause });
        }
    }

    /// A fault of a link begins.
    pub(super) fn begin_link_fault(
        &mut self,
        fault: FaultId,
        ends: (NodeId, NodeId),
        one_way: bool,
        kind: LinkFault,
    ) {
        if let LinkFault::StallReceiver { channel } = kind {
            self.stall_receivers(fault, ends, one_way, channel);
        }
        let begun = self.traffic.network.begin_fault(fault, ends, one_way, kind);
        begun.expect("a plan is validated: its link faults name links that it has");
    }

    /// A fault of a link ends.
    pub(super) fn end_link_fault(&mut self, fault: FaultId) {
        let now = self.now();
        self.release_receivers(fault);
        let scheduled = self.traffic.network.end_fault(now, fault);
        self.schedule_deliveries(&scheduled);
    }

    /// Every fault of every link ends.
    pub(super) fn heal_network(&mut self) {
        let now = self.now();
        let scheduled = self.traffic.network.heal_all(now);
        self.schedule_deliveries(&scheduled);
    }

    fn schedule_deliveries(&mut self, scheduled: &[super::network::Scheduled]) {
        for delivery in scheduled {
            if let Some(to) = self.traffic.network.receiver(delivery.handle) {
                self.timeline.at(delivery.deliver_at, Due::Deliver { to, frame: delivery.handle });
            }
        }
    }
}
