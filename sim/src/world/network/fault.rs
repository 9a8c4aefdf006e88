//! Faults of links: several at once compose, each ends, and at quiescence nothing is left on.
//!
//! Promise: what a fault slowed or held is scheduled anew when the fault ends, never later than it was due before; so
//! that no fault outlasts its end by a queue.

use super::Network;
use super::frame::{Scheduled, Slab};
use super::link::{ActiveFault, Direction, Effective, Link};
use crate::plan::LinkFault;
use crate::units::{FaultId, NodeId, SimTime};

/// A fault that cannot begin.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FaultError {
    /// The plan has no such link.
    #[error("fault {}: no link stands between {from} and {to}", fault.0)]
    NoLink {
        /// The fault.
        fault: FaultId,
        /// One end.
        from: NodeId,
        /// The other.
        to: NodeId,
    },
    /// The pool of the link has no such channel.
    #[error("fault {}: the pool between {from} and {to} has {channels} channels, and no channel {channel}", fault.0)]
    NoChannel {
        /// The fault.
        fault: FaultId,
        /// One end.
        from: NodeId,
        /// The other.
        to: NodeId,
        /// The channel.
        channel: u8,
        /// Channels of the pool.
        channels: u8,
    },
    /// The fault is on already.
    #[error("fault {} is on already", fault.0)]
    On {
        /// The fault.
        fault: FaultId,
    },
}

impl Network {
    /// A fault begins; with `one_way` only `from -> to` is touched. Frames already on their way keep their times.
    ///
    /// # Errors
    /// [`FaultError`]; nothing has changed then.
    pub fn begin_fault(
        &mut self,
        id: FaultId,
        (from, to): (NodeId, NodeId),
        one_way: bool,
        fault: LinkFault,
    ) -> Result<(), FaultError> {
        let index = self.link_between(from, to).ok_or(FaultError::NoLink { fault: id, from, to })?;
        if self.faults.contains_key(&id) {
            return Err(FaultError::On { fault: id });
        }
        let link = &mut self.links[index as usize];
        let channels = link.plan.channels;
        if let LinkFault::StallChannel { channel } | LinkFault::StallReceiver { channel } = fault
            && channel >= channels
        {
            return Err(FaultError::NoChannel { fault: id, from, to, channel, channels });
        }
        let mut touches = [true; 2];
        touches[1 - link.side(from)] = !one_way;
        link.faults.push(ActiveFault { id, touches, fault });
        self.faults.insert(id, index);
        for side in [0, 1] {
            link.directions[side].effective = link.effective(side);
        }
        Ok(())
    }

    /// A fault ends: deliveries that it held or slowed are to be scheduled at the times given. One that is not on ends
    /// without effect.
    pub fn end_fault(&mut self, now: SimTime, id: FaultId) -> Vec<Scheduled> {
        let mut scheduled = Vec::new();
        if let Some(index) = self.faults.remove(&id) {
            let link = &mut self.links[index as usize];
            link.faults.retain(|active| active.id != id);
            settle(link, &mut self.frames, now, &mut scheduled);
        }
        scheduled
    }

    /// Every fault ends (quiescence).
    pub fn heal_all(&mut self, now: SimTime) -> Vec<Scheduled> {
        let mut scheduled = Vec::new();
        for index in std::mem::take(&mut self.faults).into_values() {
            let link = &mut self.links[index as usize];
            if !std::mem::take(&mut link.faults).is_empty() {
                settle(link, &mut self.frames, now, &mut scheduled);
            }
        }
        assert!(self.is_healed(), "quiescence leaves no fault on");
        scheduled
    }

    /// Whether every link is as the plan has it, and nothing is held.
    #[must_use]
    pub fn is_healed(&self) -> bool {
        self.faults.is_empty()
            && self.links.iter().all(|link| {
                let base = Effective::of_plan(&link.plan);
                link.faults.is_empty()
                    && link.directions.iter().all(|direction| {
                        let chains = direction.channels.iter().map(|channel| &channel.chain);
                        direction.effective == base
                            && chains
                                .chain([&direction.duplicates])
                                .all(|chain| self.frames.slots(chain).all(|slot| !self.frames.at(slot).held))
                    })
            })
    }
}

/// Brings both directions to the faults that are still on, and schedules anew what is now due earlier.
fn settle(link: &mut Link, frames: &mut Slab, now: SimTime, scheduled: &mut Vec<Scheduled>) {
    let ordered = link.plan.ordered;
    for side in [0, 1] {
        let effective = link.effective(side);
        let direction = &mut link.directions[side];
        let before = std::mem::replace(&mut direction.effective, effective);
        if before.stalled != effective.stalled {
            release_held(direction, frames, now, scheduled);
        }
        if before.delay_ns != effective.delay_ns
            || before.bandwidth_bytes_per_s != effective.bandwidth_bytes_per_s
        {
            hasten(direction, frames, ordered, now, scheduled);
        }
    }
}

/// Schedules what channels that no longer stall held, in order of sending.
fn release_held(direction: &Direction, frames: &mut Slab, now: SimTime, scheduled: &mut Vec<Scheduled>) {
    let chains = direction.channels.iter().map(|channel| &channel.chain).chain([&direction.duplicates]);
    for chain in chains {
        let mut next = chain.head();
        while let Some(slot) = next {
            next = frames.next(slot);
            let handle = frames.handle(slot);
            let transit = frames.at_mut(slot);
            if transit.held && !direction.effective.stalls(transit.frame.sent.channel) {
                transit.held = false;
                transit.deliver_at = now;
                scheduled.push(Scheduled { handle, deliver_at: now });
            }
        }
    }
}

/// Works out anew when each frame in flight is due: bytes not yet sent go at the bandwidth of now, a delay that has ended
/// no longer counts. A frame half sent is sent from its start.
fn hasten(
    direction: &mut Direction,
    frames: &mut Slab,
    ordered: bool,
    now: SimTime,
    scheduled: &mut Vec<Scheduled>,
) {
    let effective = direction.effective;
    let chains = direction.channels.iter().map(|channel| &channel.chain);
    let mut slots: Vec<u32> = chains.flat_map(|chain| frames.slots(chain)).collect();
    slots.sort_unstable_by_key(|slot| frames.at(*slot).frame.number);
    let mut busy_until = now;
    let mut last = direction.channels.map(|_| SimTime(0));
    for slot in slots {
        let transit = frames.at_mut(slot);
        if transit.transmitted_at > now {
            let cost_ns = effective.transmission_ns(transit.frame.sent.bytes.len());
            transit.transmitted_at = transit.transmitted_at.min(busy_until.plus_ns(cost_ns));
            busy_until = transit.transmitted_at;
        }
        let due = transit.transmitted_at.plus_ns(transit.latency_ns).plus_ns(effective.delay_ns).max(now);
        let last = &mut last[usize::from(transit.frame.sent.channel)];
        let due = due.min(transit.deliver_at).max(if ordered { *last } else { SimTime(0) });
        *last = due;
        if !transit.held && due < transit.deliver_at {
            transit.deliver_at = due;
            let handle = frames.restamp(slot);
            scheduled.push(Scheduled { handle, deliver_at: due });
        }
    }
    direction.busy_until = direction.busy_until.min(busy_until);
    for (channel, last) in direction.channels.iter_mut().zip(last) {
        channel.last_deliver_at = last;
    }
}
