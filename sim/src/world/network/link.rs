//! One link: its two directions, its channels, and what the faults that are on make of it.

use super::frame::{Chain, LinkGeneration};
use crate::plan::{LinkFault, LinkPlan};
use crate::units::{FaultId, NodeId, SimTime};

/// The most channels of a pool.
pub const MAX_CHANNELS: u8 = 4;

/// What one direction of a link is like now: the plan's figures with every fault that is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Effective {
    pub partition: bool,
    pub loss_per_mille: u16,
    pub duplicate_per_mille: u16,
    pub delay_ns: u64,
    /// 0 is unlimited.
    pub bandwidth_bytes_per_s: u64,
    /// One bit a channel.
    pub stalled: u8,
}

impl Effective {
    pub const fn of_plan(plan: &LinkPlan) -> Self {
        Self {
            partition: false,
            loss_per_mille: plan.loss_per_mille,
            duplicate_per_mille: plan.duplicate_per_mille,
            delay_ns: 0,
            bandwidth_bytes_per_s: plan.bandwidth_bytes_per_s,
            stalled: 0,
        }
    }

    /// With one more fault. Chances are those of independent causes, delays add up, the lowest bandwidth holds.
    #[must_use]
    fn with(mut self, fault: &LinkFault) -> Self {
        match *fault {
            LinkFault::Partition => self.partition = true,
            LinkFault::Loss { per_mille } => self.loss_per_mille = either(self.loss_per_mille, per_mille),
            LinkFault::Duplicate { per_mille } => {
                self.duplicate_per_mille = either(self.duplicate_per_mille, per_mille);
            }
            LinkFault::Delay { us } => {
                self.delay_ns = self.delay_ns.saturating_add(SimTime::from_us(us).0);
            }
            LinkFault::Bandwidth { bytes_per_s } => {
                let limited = bytes_per_s.max(1);
                self.bandwidth_bytes_per_s = match self.bandwidth_bytes_per_s {
                    0 => limited,
                    already => already.min(limited),
                };
            }
            LinkFault::StallChannel { channel } => self.stalled |= 1 << channel,
            // Behind the transport: nothing of the network's is touched.
            LinkFault::StallReceiver { .. } => {}
            // Of the connection: while this is on there is none.
            LinkFault::DropConnection => {}
        }
        self
    }

    pub const fn stalls(&self, channel: u8) -> bool {
        self.stalled >> channel & 1 == 1
    }

    /// Time that `bytes` take to leave the sender, rounded up.
    #[inline]
    pub const fn transmission_ns(&self, bytes: usize) -> u64 {
        if self.bandwidth_bytes_per_s == 0 {
            return 0;
        }
        // Exact below 18 GB, far above any frame; saturating beyond.
        (bytes as u64).saturating_mul(1_000_000_000).div_ceil(self.bandwidth_bytes_per_s)
    }
}

/// The chance of one of two independent causes, in thousandths, rounded up.
fn either(a: u16, b: u16) -> u16 {
    let (a, b) = (u32::from(a.min(1_000)), u32::from(b.min(1_000)));
    let neither = (1_000 - a) * (1_000 - b) / 1_000;
    u16::try_from(1_000 - neither).expect("at most 1,000")
}

#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Channel {
    /// Latest delivery due in an ordered channel.
    pub last_deliver_at: SimTime,
    pub chain: Chain,
}

#[derive(Debug)]
pub(super) struct Direction {
    pub effective: Effective,
    /// When the last byte handed over so far leaves the sender.
    pub busy_until: SimTime,
    pub channels: [Channel; MAX_CHANNELS as usize],
    /// Second deliveries: they keep no order and hold nothing up.
    pub duplicates: Chain,
}

impl Direction {
    fn new(plan: &LinkPlan) -> Self {
        Self {
            effective: Effective::of_plan(plan),
            busy_until: SimTime(0),
            channels: [Channel::default(); MAX_CHANNELS as usize],
            duplicates: Chain::default(),
        }
    }

    /// Frames in flight and held, without second deliveries.
    pub fn length(&self) -> u32 {
        self.channels.iter().map(|channel| channel.chain.length()).sum()
    }
}

/// A fault that is on.
#[derive(Clone, Copy, Debug)]
pub(super) struct ActiveFault {
    pub id: FaultId,
    /// Which directions it touches, by side.
    pub touches: [bool; 2],
    pub fault: LinkFault,
}

#[derive(Debug)]
pub(super) struct Link {
    pub plan: LinkPlan,
    /// Of the connection that stands, or of the last one that stood; 0 before the first.
    pub generation: LinkGeneration,
    pub up: bool,
    /// Whether its connections are made and closed one by one, and not by both ends being ready.
    pub on_demand: bool,
    /// 0 is `a -> b`, 1 is `b -> a`.
    pub directions: [Direction; 2],
    pub faults: Vec<ActiveFault>,
}

impl Link {
    pub fn new(plan: LinkPlan) -> Self {
        let directions = [Direction::new(&plan), Direction::new(&plan)];
        Self {
            plan,
            generation: LinkGeneration(0),
            up: false,
            on_demand: false,
            directions,
            faults: Vec::new(),
        }
    }

    /// The direction in which `from` sends.
    pub fn side(&self, from: NodeId) -> usize {
        debug_assert!(from == self.plan.a || from == self.plan.b);
        usize::from(from == self.plan.b)
    }

    pub const fn latency_ns(&self) -> u64 {
        SimTime::from_us(self.plan.latency_us).0
    }

    pub const fn jitter_ns(&self) -> u64 {
        SimTime::from_us(self.plan.jitter_us).0
    }

    /// The longest that a frame or signal without faults travels, both ways.
    pub const fn round_trip_ns(&self) -> u64 {
        self.latency_ns().saturating_add(self.jitter_ns()).saturating_mul(2)
    }

    /// What a side is like with the faults that are on.
    pub fn effective(&self, side: usize) -> Effective {
        let touching = self.faults.iter().filter(|active| active.touches[side]);
        touching.fold(Effective::of_plan(&self.plan), |effective, active| effective.with(&active.fault))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_chances_are_those_of_independent_causes() {
        let table = [(0, 0, 0), (0, 1_000, 1_000), (1_000, 1_000, 1_000), (500, 500, 750), (100, 0, 100)];
        for (a, b, together) in table {
            assert_eq!(either(a, b), together);
            assert_eq!(either(b, a), together);
        }
        assert_eq!(either(u16::MAX, 3), 1_000);
    }
}
