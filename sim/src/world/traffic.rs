//! Frames between nodes: out of the lanes, over the network, into the receiving tasks, and credit back.
//!
//! Promise: a frame leaves only when its lane may send; what dies with a connection is told once, with its cause.

mod ends;
mod signals;

use super::World;
use super::network::{Connection, LinkError, LinkGeneration, Network, Outgoing, Sent, Tag};
use super::receiving::{Inbound, Receiving, StalledReceiver};
use super::reconnect::{Changes, ConnectionChange, ConnectionStep};
use super::ring::FirstHop;
use super::slots::Slots;
use super::timeline::Due;
use crate::ledger::event::{Event, LossCause, Transaction};
use crate::plan::{FrameName, Plan, ReferencesPlan, Route};
use crate::units::{ActionId, MessageId, NodeId, SimTime};
use bytes::Bytes;
use groundhog_engine::flaws::Flaws;
use groundhog_engine::identity::delegation::Delegation;
use groundhog_engine::streams::key::Class;
use groundhog_engine::streams::lanes::{LanesConfig, Outbound, TransferId};
use groundhog_engine::streams::references::{Answer as ReferenceAnswer, SentReferences};
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;
use smallvec::{SmallVec, smallvec};
use std::collections::{BTreeMap, VecDeque};

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
    /// The workload's; `None` for an adversary's frame that a relay sends on.
    message: Option<MessageId>,
    replay: Option<ActionId>,
    name: FrameName,
    bytes: Bytes,
    intended: SimTime,
    in_order: bool,
    piece: Option<u32>,
    hops: u8,
    out_of_band: bool,
}

/// The sending side of one connection.
#[derive(Debug)]
struct Sending {
    generation: LinkGeneration,
    outbound: Outbound<Queued>,
    /// What waits in each lane, in order: told as lost when the connection closes.
    waiting: [VecDeque<(Option<MessageId>, u32)>; 4],
    /// What this side may refer to; `None` where every frame carries its delegations.
    references: Option<SentReferences>,
}

/// A signal on its way back to a sender.
#[derive(Clone, Copy, Debug)]
struct Returning {
    signal: super::network::Signal,
    transfer: Option<TransferId>,
    class: Class,
    /// What the receiver says to the delegations of a frame.
    answers: [Option<ReferenceAnswer>; 2],
}

/// All traffic.
#[derive(Debug)]
pub struct Traffic {
    pub(super) network: Network,
    sending: IndexMap<Direction, Sending, FxBuildHasher>,
    pub(super) receiving: Vec<Receiving>,
    returning: Slots<Returning, ()>,
    /// Channels whose receiver is stalled behind its transport: by how many faults, and what it holds.
    pub(super) stalled: BTreeMap<(Direction, u8), StalledReceiver>,
    /// What happened to each node's connections, until its life takes it in.
    pub(super) changes: Vec<Changes>,
    pub(super) flaws: Flaws,
    pub(super) references: Option<ReferencesPlan>,
    /// Delegations that were sent, known to no receiver but a flawed one.
    pub(super) announced: IndexSet<Delegation, FxBuildHasher>,
}

impl Traffic {
    /// No connection stands yet.
    ///
    /// # Errors
    /// [`LinkError`] names the first link of the plan that cannot be.
    pub fn new(plan: &Plan, flaws: Flaws) -> Result<Self, LinkError> {
        let network = Network::new(plan.seed, plan.nodes.len(), &plan.links)?;
        Ok(Self {
            network,
            sending: IndexMap::default(),
            receiving: plan.nodes.iter().map(|_| Receiving::default()).collect(),
            returning: Slots::default(),
            stalled: BTreeMap::new(),
            changes: plan.nodes.iter().map(|_| Changes::default()).collect(),
            flaws,
            references: plan.engines.links.references,
            announced: IndexSet::default(),
        })
    }
}

impl World {
    /// A node's engines are open: it connects to every ready peer.
    pub(super) fn connect_node(&mut self, node: NodeId) {
        for connection in self.traffic.network.ready(node) {
            self.connected(node, connection);
        }
    }

    /// A connection is admitted at both ends.
    pub(super) fn connected(&mut self, node: NodeId, connection: Connection) {
        let traffic = &mut self.traffic;
        let (peer, generation) = (connection.peer, connection.generation);
        for direction in [Direction { from: node, to: peer }, Direction { from: peer, to: node }] {
            let config = LanesConfig {
                pool_channels: connection.channels,
                queue_max_frames: LANE_QUEUE_MAX_FRAMES,
                flaws: traffic.flaws,
            };
            let sending = Sending {
                generation,
                outbound: Outbound::new(config),
                waiting: Default::default(),
                references: traffic.references.map(|plan| SentReferences::new(plan.sent as usize)),
            };
            traffic.sending.insert(direction, sending);
            let change = ConnectionChange { peer: direction.to, generation, step: ConnectionStep::Admitted };
            traffic.changes[direction.from.index()].push(change);
        }
    }

    /// The lanes of one direction end: what waits in them is told as lost. How many messages that were.
    pub(super) fn close_lanes(&mut self, direction: Direction, cause: LossCause) -> u32 {
        let Some(sending) = self.traffic.sending.swap_remove(&direction) else { return 0 };
        let (mut last, mut lost) = (None, 0);
        for waiting in sending.waiting.into_iter().flatten() {
            // The pieces of a message wait one after another.
            if last.replace(waiting) != Some(waiting) {
                let (message, copy) = waiting;
                self.not_sent(message, copy, direction.from, cause);
                lost += 1;
            }
        }
        lost
    }

    /// Puts a copy of a signed message into the lane of its first hop.
    pub(super) fn push_copy(&mut self, message: MessageId, copy: u32) {
        let Some(signed) = self.workload.signed(message) else { return };
        let (from, to, via, route) = (signed.from, signed.to, signed.via, signed.route);
        let name = FrameName {
            origin: from,
            destination: to,
            class: signed.transaction.stream.class,
            sequence: signed.transaction.sequence.0,
            copy,
        };
        let transaction = signed.transaction;
        let in_order = copy == 0 && via.is_none() && route == Route::Links;
        let intended = signed.intended;
        let is_cut = signed.frames.len() > 1;
        let frames = signed.frames.iter().zip(0_u32..).map(|(bytes, position)| {
            let piece = is_cut.then_some(position);
            Queued {
                message: Some(message),
                replay: None,
                name,
                bytes: bytes.clone(),
                intended,
                in_order,
                piece,
                hops: 0,
                out_of_band: route == Route::OutOfBand,
            }
        });
        let frames = frames.collect();
        match route {
            Route::Links => self.push(Direction { from, to: via.unwrap_or(to) }, frames),
            Route::Ring => self.push_by_ring(from, &transaction, frames),
            Route::OutOfBand => self.push_out_of_band(Direction { from, to }, frames),
        }
    }

    /// A relay sends on what it has verified and signed as its hop.
    pub(super) fn relay_on(
        &mut self,
        relay: NodeId,
        inbound: &Inbound,
        transaction: &Transaction,
        payload: Bytes,
    ) {
        let queued = Queued {
            message: inbound.message,
            replay: inbound.replay,
            name: inbound.name,
            bytes: payload,
            intended: inbound.intended,
            in_order: false,
            piece: inbound.piece,
            hops: inbound.hops,
            out_of_band: false,
        };
        if inbound.hops > 0 {
            return self.push_by_ring(relay, transaction, smallvec![queued]);
        }
        self.push(Direction { from: relay, to: inbound.destination }, smallvec![queued]);
    }

    /// Puts a message into the lane of its next hop on the ring, if its budget has one left and a member is nearer. Where
    /// its route ends before an absent member, it is held for that.
    fn push_by_ring(&mut self, node: NodeId, transaction: &Transaction, mut frames: SmallVec<[Queued; 1]>) {
        let Queued { message, name, hops, piece, .. } = frames[0];
        let cause = match self.next_hop(node, message, name.destination, hops) {
            Ok(next) => {
                frames.iter_mut().for_each(|queued| queued.hops = hops + 1);
                return self.push(Direction { from: node, to: next }, frames);
            }
            Err(LossCause::NoRoute) => match message {
                Some(message) if piece.is_none() && self.is_mail(message) => {
                    self.hold_at(node, message, transaction, frames[0].bytes.clone())
                }
                _ => Some(LossCause::NoRoute),
            },
            Err(cause) => Some(cause),
        };
        if let Some(cause) = cause {
            self.not_sent(message, name.copy, node, cause);
        }
    }

    /// Opens a connection for a first contact.
    fn push_out_of_band(&mut self, direction: Direction, frames: SmallVec<[Queued; 1]>) {
        if self.contact(direction.from, direction.to) {
            return self.push(direction, frames);
        }
        self.not_sent(frames[0].message, frames[0].name.copy, direction.from, LossCause::NoRoute);
    }

    /// Puts a message into its lane, in one frame or more.
    fn push(&mut self, direction: Direction, frames: SmallVec<[Queued; 1]>) {
        let (message, copy, class) = (frames[0].message, frames[0].name.copy, frames[0].name.class);
        let count = frames.len();
        if let Some(message) = message
            && frames[0].piece.is_none()
            && !self.traffic.sending.contains_key(&direction)
            && self.is_mail(message)
        {
            let refused = self.hold_message(message);
            return refused.map_or((), |cause| self.not_sent(Some(message), copy, direction.from, cause));
        }
        let cause = match self.traffic.sending.get_mut(&direction) {
            None => Some(LossCause::Partition),
            Some(sending) => match sending.outbound.push(class, frames) {
                Ok(_) => {
                    sending.waiting[class.index()].extend(std::iter::repeat_n((message, copy), count));
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
    fn not_sent(&mut self, message: Option<MessageId>, copy: u32, node: NodeId, cause: LossCause) {
        if let Some(message) = message.filter(|_| copy == 0) {
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
            let Queued { message, replay, name, bytes, intended, in_order, piece, hops, out_of_band } =
                out.frame;
            let (ends, generation) = (out.is_last, sending.generation);
            let bytes = self.framed(direction, message, bytes);
            let tag = Tag {
                transfer: Some(out.transfer),
                intended,
                sent: now,
                in_order,
                piece,
                ends,
                hops,
                out_of_band,
            };
            let outgoing = Outgoing {
                from: direction.from,
                to: direction.to,
                class: name.class,
                channel: out.channel,
                generation,
                message,
                name,
                replay,
                tag,
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
        let (tag, generation) = (outgoing.tag, outgoing.generation);
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
            self.schedule_give_up(given_up_at, direction, generation, &tag);
        }
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
        let way = recorded.and_then(|bytes| Some((bytes, self.first_hop(node, to, name.destination)?)));
        let Some((bytes, FirstHop { to, connection, hops })) = way else {
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
            tag: Tag { transfer: None, intended: now, sent: now, ends: true, hops, ..Tag::default() },
            bytes,
        });
    }
}
