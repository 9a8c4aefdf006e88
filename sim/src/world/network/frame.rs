//! Frames, and the slab that holds those in flight.
//!
//! Promise: a frame in flight stands in exactly one chain, in the order of sending, and leaves it once. A handle to a
//! frame that has left, or that was scheduled anew, finds nothing.

use crate::draw::Identity;
use crate::plan::FrameName;
use crate::units::{ActionId, FrameNumber, MessageId, NodeId, SimTime};
use bytes::Bytes;
use groundhog_engine::streams::key::Class;
use groundhog_engine::streams::lanes::TransferId;

/// Which connection of a link: counted up each time that one is made, from 1. A frame never outlives its connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LinkGeneration(pub u32);

/// What the sender knows about a frame and the network only carries.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Tag {
    /// The transfer of the sender's outbound scheduler; `None` for an adversary's frame, which no lane waits for.
    pub transfer: Option<TransferId>,
    /// When the workload meant to send the message.
    pub intended: SimTime,
    /// When the frame was handed over.
    pub sent: SimTime,
    /// Whether it leaves its origin in signing order, as the original copy, straight for its destination.
    pub in_order: bool,
    /// Which piece of its message it carries, where that was cut.
    pub piece: Option<u32>,
    /// Whether its transfer is wholly sent with it.
    pub ends: bool,
    /// Hops that it has taken on the ring, this one included; 0 off the ring.
    pub hops: u8,
    /// Whether it is signalling out of band: what it opens is charged to the receiver itself.
    pub out_of_band: bool,
}

impl Tag {
    /// The transfer that the receiver has once it has this frame.
    #[must_use]
    pub fn ended_transfer(&self) -> Option<TransferId> {
        self.transfer.filter(|_| self.ends)
    }
}

/// What a sender hands to a channel.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing {
    /// The sending end.
    pub from: NodeId,
    /// The receiving end.
    pub to: NodeId,
    /// The lane that it travels on.
    pub class: Class,
    /// The channel of the pool, below its size.
    pub channel: u8,
    /// The connection that the sender holds.
    pub generation: LinkGeneration,
    /// The message of the workload.
    pub message: Option<MessageId>,
    /// What it carries; the identity of its draws.
    pub name: FrameName,
    /// The adversary's act that sends it again, if one does.
    pub replay: Option<ActionId>,
    /// What the sender knows about it.
    pub tag: Tag,
    /// The bytes on the wire.
    pub bytes: Bytes,
}

/// A frame on its way.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Its number in the run.
    pub number: FrameNumber,
    /// What the sender handed over.
    pub sent: Outgoing,
    pub(super) identity: Identity,
}

/// What a receiver needs to send credit or notice back: small, and kept after the frame is gone.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReturnPath {
    /// The end that sent the frame, to which a signal returns.
    pub origin_end: NodeId,
    /// The end that received it, from which a signal returns.
    pub receiving_end: NodeId,
    /// The connection.
    pub generation: LinkGeneration,
    pub(super) identity: Identity,
}

impl Frame {
    /// The way back of its credit and its delivery notice.
    #[must_use]
    pub const fn return_path(&self) -> ReturnPath {
        ReturnPath {
            origin_end: self.sent.from,
            receiving_end: self.sent.to,
            generation: self.sent.generation,
            identity: self.identity,
        }
    }

    /// The copy as events name it: the workload's, from 0; `u32::MAX` for an adversary's.
    #[must_use]
    pub const fn event_copy(&self) -> u32 {
        if self.sent.replay.is_some() { u32::MAX } else { self.sent.name.copy }
    }
}

/// A frame in flight, for the driver's heap. Eight bytes; stale once the frame has left or was scheduled anew.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FrameHandle {
    slot: u32,
    stamp: u32,
}

/// A delivery to put into the driver's heap.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Scheduled {
    /// The frame.
    pub handle: FrameHandle,
    /// When its delivery is due.
    pub deliver_at: SimTime,
}

/// A frame in flight and its times.
#[derive(Clone, Debug)]
pub(super) struct Transit {
    pub frame: Frame,
    pub link: u32,
    /// When its last byte leaves the sender.
    pub transmitted_at: SimTime,
    /// Drawn latency, without the delay of faults.
    pub latency_ns: u64,
    pub deliver_at: SimTime,
    /// Due, and held by a stalled channel: no delivery of it is scheduled.
    pub held: bool,
    /// A second delivery.
    pub duplicate: bool,
    /// Whether a second delivery follows this one.
    pub twice: bool,
}

const NONE: u32 = u32::MAX;

/// Frames of one channel and direction, in the order of sending.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chain {
    head: u32,
    tail: u32,
    length: u32,
}

impl Default for Chain {
    fn default() -> Self {
        Self { head: NONE, tail: NONE, length: 0 }
    }
}

impl Chain {
    pub const fn head(&self) -> Option<u32> {
        if self.head == NONE { None } else { Some(self.head) }
    }

    pub const fn length(&self) -> u32 {
        self.length
    }
}

#[derive(Debug)]
struct Entry {
    transit: Option<Transit>,
    stamp: u32,
    previous: u32,
    next: u32,
}

/// Every frame in flight. Slots are used again; no allocation once the run is warm.
#[derive(Debug, Default)]
pub(super) struct Slab {
    entries: Vec<Entry>,
    free: Vec<u32>,
}

impl Slab {
    pub fn length(&self) -> usize {
        self.entries.len() - self.free.len()
    }

    pub fn push(&mut self, chain: &mut Chain, transit: Transit) -> FrameHandle {
        let slot = self.free.pop().unwrap_or_else(|| {
            let slot = u32::try_from(self.entries.len()).expect("frames in flight are bounded");
            self.entries.push(Entry { transit: None, stamp: 0, previous: NONE, next: NONE });
            slot
        });
        let entry = &mut self.entries[slot as usize];
        debug_assert!(entry.transit.is_none());
        entry.transit = Some(transit);
        entry.previous = chain.tail;
        entry.next = NONE;
        let stamp = entry.stamp;
        match chain.tail {
            NONE => chain.head = slot,
            tail => self.entries[tail as usize].next = slot,
        }
        chain.tail = slot;
        chain.length += 1;
        FrameHandle { slot, stamp }
    }

    pub fn find(&self, handle: FrameHandle) -> Option<u32> {
        let entry = self.entries.get(handle.slot as usize)?;
        (entry.stamp == handle.stamp && entry.transit.is_some()).then_some(handle.slot)
    }

    pub fn at(&self, slot: u32) -> &Transit {
        self.entries[slot as usize].transit.as_ref().expect("the slot holds a frame")
    }

    pub fn at_mut(&mut self, slot: u32) -> &mut Transit {
        self.entries[slot as usize].transit.as_mut().expect("the slot holds a frame")
    }

    pub fn next(&self, slot: u32) -> Option<u32> {
        let next = self.entries[slot as usize].next;
        (next != NONE).then_some(next)
    }

    pub fn handle(&self, slot: u32) -> FrameHandle {
        FrameHandle { slot, stamp: self.entries[slot as usize].stamp }
    }

    /// A new handle to the frame; every earlier one is stale from now on.
    pub fn restamp(&mut self, slot: u32) -> FrameHandle {
        let entry = &mut self.entries[slot as usize];
        entry.stamp = entry.stamp.wrapping_add(1);
        FrameHandle { slot, stamp: entry.stamp }
    }

    pub fn remove(&mut self, chain: &mut Chain, slot: u32) -> Transit {
        let entry = &mut self.entries[slot as usize];
        let transit = entry.transit.take().expect("a frame leaves once");
        entry.stamp = entry.stamp.wrapping_add(1);
        let (previous, next) = (entry.previous, entry.next);
        match previous {
            NONE => chain.head = next,
            previous => self.entries[previous as usize].next = next,
        }
        match next {
            NONE => chain.tail = previous,
            next => self.entries[next as usize].previous = previous,
        }
        chain.length -= 1;
        self.free.push(slot);
        transit
    }

    /// The slots of a chain in the order of sending.
    pub fn slots<'a>(&'a self, chain: &Chain) -> impl Iterator<Item = u32> + 'a {
        std::iter::successors(chain.head(), move |slot| self.next(*slot))
    }
}
