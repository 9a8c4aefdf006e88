//! The network: links of the plan, connections over them, frames in flight.
//!
//! Promise: each frame handed over is delivered once (and once more if duplicated) or lost once with one cause. An
//! ordered channel never reorders. A frame's latency, loss and duplication are drawn from what it carries, so that
//! cutting one message moves no other's. Nothing costs more with more nodes than its own links do.
//!
//! The network schedules nothing: it answers when a delivery is due, and the driver asks again at that time.

mod connection;
mod drop;
mod fault;
mod frame;
mod link;
mod signal;
#[cfg(test)]
mod tests;

pub use connection::{Closed, Connection, LostFrame};
pub use fault::FaultError;
pub use frame::{Frame, FrameHandle, LinkGeneration, Outgoing, ReturnPath, Scheduled, Tag};
pub use link::MAX_CHANNELS;
pub use signal::{RETRY_NS, Signal, SignalArrival, SignalKind};

use crate::draw::{Draws, Identity, Purpose};
use crate::ledger::event::LossCause;
use crate::plan::LinkPlan;
use crate::units::{FaultId, FrameNumber, NodeId, SimTime};
use frame::{Slab, Transit};
use link::{Direction, Link};
use std::collections::BTreeMap;

/// The most frames in flight and held in one direction of a link; one more is lost as [`LossCause::LaneFull`].
pub const MAX_FRAMES_PER_DIRECTION: u32 = 65_536;

/// A link of a plan that cannot be.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LinkError {
    /// Its lower id does not come first, or both ends are one.
    #[error("link {a} - {b}: the lower id must come first")]
    Ends {
        /// First end.
        a: NodeId,
        /// Second end.
        b: NodeId,
    },
    /// An end is no node of the plan.
    #[error("link {a} - {b}: the plan has {nodes} nodes")]
    NoNode {
        /// First end.
        a: NodeId,
        /// Second end.
        b: NodeId,
        /// Nodes of the plan.
        nodes: usize,
    },
    /// It stands twice in the plan.
    #[error("link {a} - {b} stands twice in the plan")]
    Twice {
        /// First end.
        a: NodeId,
        /// Second end.
        b: NodeId,
    },
    /// The size of its pool.
    #[error("link {a} - {b}: a pool has 1 to {MAX_CHANNELS} channels, not {channels}")]
    Channels {
        /// First end.
        a: NodeId,
        /// Second end.
        b: NodeId,
        /// Channels asked for.
        channels: u8,
    },
}

/// What became of a frame that was handed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Sent {
    /// It is on its way.
    InFlight {
        /// Its number.
        number: FrameNumber,
        /// Its delivery, for the heap.
        scheduled: Scheduled,
        /// What was drawn for it alone: latency and jitter, no queueing, no fault.
        latency_ns: u64,
    },
    /// It is lost.
    Lost {
        /// Its number.
        number: FrameNumber,
        /// Why.
        cause: LossCause,
        /// When the sender's transport gives it up, so that its lane's window slides.
        given_up_at: SimTime,
    },
}

/// What became of a delivery that was due.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Delivery {
    /// The receiver's transport has the frame.
    Delivered {
        /// The frame.
        frame: Frame,
        /// Whether it was delivered before.
        duplicate: bool,
        /// Its second delivery, for the heap.
        again: Option<Scheduled>,
    },
    /// Its channel is stalled. The end of the fault schedules it; nothing is left to do.
    Held,
    /// An earlier frame of its ordered channel is due at the same time: ask again then, after that one.
    Postponed(SimTime),
    /// It met a partition on arrival.
    Lost {
        /// The frame.
        frame: Frame,
        /// Why.
        cause: LossCause,
        /// When the sender's transport gives it up.
        given_up_at: SimTime,
    },
    /// Nothing is left of it: its connection closed, it was scheduled anew, or it was a second delivery that was lost.
    Gone,
}

/// All links and all frames in flight.
#[derive(Debug)]
pub struct Network {
    draws: Draws,
    links: Vec<Link>,
    /// For each node, its peers in order, each with its link.
    peers: Vec<Vec<(NodeId, u32)>>,
    ready: Vec<bool>,
    frames: Slab,
    next_number: u64,
    faults: BTreeMap<FaultId, u32>,
}

impl Network {
    /// The network of a plan with `nodes` nodes. No node is ready, so no connection stands.
    ///
    /// # Errors
    /// [`LinkError`] names the first link that cannot be.
    pub fn new(seed: u64, nodes: usize, plan: &[LinkPlan]) -> Result<Self, LinkError> {
        let mut peers = vec![Vec::new(); nodes];
        let mut links = Vec::with_capacity(plan.len());
        for link in plan {
            let (a, b) = (link.a, link.b);
            if a >= b {
                return Err(LinkError::Ends { a, b });
            }
            if b.index() >= nodes {
                return Err(LinkError::NoNode { a, b, nodes });
            }
            if link.channels == 0 || link.channels > MAX_CHANNELS {
                return Err(LinkError::Channels { a, b, channels: link.channels });
            }
            let index = u32::try_from(links.len()).expect("links are bounded by the plan");
            peers[a.index()].push((b, index));
            peers[b.index()].push((a, index));
            links.push(Link::new(link.clone()));
        }
        for (node, of_node) in peers.iter_mut().enumerate() {
            of_node.sort_unstable();
            if let Some(twice) = of_node.windows(2).find(|pair| pair[0].0 == pair[1].0) {
                let node = NodeId(u16::try_from(node).expect("an end is a node id"));
                let peer = twice[0].0;
                return Err(LinkError::Twice { a: node.min(peer), b: node.max(peer) });
            }
        }
        Ok(Self {
            draws: Draws::new(seed),
            links,
            peers,
            ready: vec![false; nodes],
            frames: Slab::default(),
            next_number: 0,
            faults: BTreeMap::new(),
        })
    }

    /// Frames in flight and held, second deliveries included.
    #[must_use]
    pub fn in_flight(&self) -> usize {
        self.frames.length()
    }

    /// Who receives a frame in flight; `None` once it is gone.
    #[must_use]
    pub fn receiver(&self, handle: FrameHandle) -> Option<NodeId> {
        self.frames.find(handle).map(|slot| self.frames.at(slot).frame.sent.to)
    }

    fn link_between(&self, from: NodeId, to: NodeId) -> Option<u32> {
        let of_node = self.peers.get(from.index())?;
        let place = of_node.binary_search_by_key(&to, |(peer, _)| *peer).ok()?;
        Some(of_node[place].1)
    }

    /// Hands one frame to its channel.
    ///
    /// # Panics
    /// When the channel is not of the pool of a connection that stands.
    pub fn send(&mut self, now: SimTime, outgoing: Outgoing) -> Sent {
        let number = FrameNumber(self.next_number);
        self.next_number += 1;
        let lost = |cause, given_up_at| Sent::Lost { number, cause, given_up_at };
        let Some(index) = self.link_between(outgoing.from, outgoing.to) else {
            return lost(LossCause::Partition, now);
        };
        let link = &mut self.links[index as usize];
        if !link.up || link.generation != outgoing.generation {
            return lost(LossCause::Partition, now);
        }
        assert!(outgoing.channel < link.plan.channels, "the channel is of the pool");
        let (side, round_trip_ns) = (link.side(outgoing.from), link.round_trip_ns());
        let (base_ns, jitter_ns, ordered) = (link.latency_ns(), link.jitter_ns(), link.plan.ordered);
        let direction = &mut link.directions[side];
        let effective = direction.effective;
        if effective.partition {
            return lost(LossCause::Partition, now.plus_ns(round_trip_ns));
        }
        if direction.length() >= MAX_FRAMES_PER_DIRECTION {
            return lost(LossCause::LaneFull, now.plus_ns(round_trip_ns));
        }
        let identity = identity(self.draws, &outgoing);
        let transmitted_at =
            direction.busy_until.max(now).plus_ns(effective.transmission_ns(outgoing.bytes.len()));
        direction.busy_until = transmitted_at;
        if identity.draw(Purpose::Loss).chance_per_mille(effective.loss_per_mille) {
            let left_at = transmitted_at.min(now.plus_ns(RETRY_NS));
            return lost(LossCause::LinkLoss, left_at.plus_ns(round_trip_ns));
        }
        let jitter = identity.draw(Purpose::Latency).below(jitter_ns.saturating_add(1));
        let latency_ns = base_ns.saturating_add(jitter);
        let channel = &mut direction.channels[usize::from(outgoing.channel)];
        let mut deliver_at = transmitted_at.plus_ns(latency_ns).plus_ns(effective.delay_ns);
        if ordered {
            deliver_at = deliver_at.max(channel.last_deliver_at);
            channel.last_deliver_at = deliver_at;
        }
        let twice = identity.draw(Purpose::Duplicate).chance_per_mille(effective.duplicate_per_mille);
        let frame = Frame { number, sent: outgoing, identity };
        let transit = Transit {
            frame,
            link: index,
            transmitted_at,
            latency_ns,
            deliver_at,
            held: false,
            duplicate: false,
            twice,
        };
        let handle = self.frames.push(&mut channel.chain, transit);
        Sent::InFlight { number, scheduled: Scheduled { handle, deliver_at }, latency_ns }
    }

    /// Takes the delivery of a frame that is due.
    ///
    /// # Panics
    /// When it is not due yet.
    pub fn deliver(&mut self, now: SimTime, handle: FrameHandle) -> Delivery {
        let Some(slot) = self.frames.find(handle) else { return Delivery::Gone };
        let transit = self.frames.at(slot);
        assert!(transit.deliver_at <= now, "no frame arrives early");
        let (duplicate, number, from) = (transit.duplicate, transit.frame.number, transit.frame.sent.from);
        let channel = transit.frame.sent.channel;
        let link = &mut self.links[transit.link as usize];
        assert!(link.up, "a frame never outlives its connection");
        let (side, ordered) = (link.side(from), link.plan.ordered);
        let (one_way_ns, round_trip_ns) = (link.latency_ns(), link.round_trip_ns());
        let direction = &mut link.directions[side];
        if direction.effective.stalls(channel) {
            self.frames.at_mut(slot).held = true;
            return Delivery::Held;
        }
        let Direction { effective, channels, duplicates, .. } = direction;
        let chain = if duplicate { &mut *duplicates } else { &mut channels[usize::from(channel)].chain };
        let head = chain.head().expect("the frame stands in its chain");
        if ordered && !duplicate && head != slot {
            let earlier = self.frames.at(head);
            debug_assert!(earlier.frame.number < number);
            return Delivery::Postponed(earlier.deliver_at.max(now));
        }
        let transit = self.frames.remove(chain, slot);
        if effective.partition {
            return if duplicate {
                Delivery::Gone
            } else {
                let given_up_at = now.plus_ns(one_way_ns);
                Delivery::Lost { frame: transit.frame, cause: LossCause::Partition, given_up_at }
            };
        }
        let again = transit.twice.then(|| {
            let later =
                transit.frame.identity.draw(Purpose::DuplicateLatency).below(round_trip_ns.saturating_add(1));
            let deliver_at = now.plus_ns(1 + later);
            let second = Transit { deliver_at, duplicate: true, twice: false, ..transit.clone() };
            Scheduled { handle: self.frames.push(duplicates, second), deliver_at }
        });
        Delivery::Delivered { frame: transit.frame, duplicate, again }
    }
}

/// What a frame's draws are keyed by: link and direction, origin, destination, class, sequence, copy, and the adversary's
/// act if it is one's.
fn identity(draws: Draws, outgoing: &Outgoing) -> Identity {
    let name = &outgoing.name;
    let ends = u64::from(outgoing.from.0) << 48
        | u64::from(outgoing.to.0) << 32
        | u64::from(name.origin.0) << 16
        | u64::from(name.destination.0);
    let copy = u64::from(name.copy) << 8 | name.class as u64;
    let piece = outgoing.tag.piece.map_or(0, |piece| 1 + u64::from(piece)) << 34;
    let replay = piece | outgoing.replay.map_or(0, |act| 1 + u64::from(act.0));
    draws.identity([ends, copy, name.sequence, replay])
}
