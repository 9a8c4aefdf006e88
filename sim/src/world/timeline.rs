//! All world time is one heap of things that are due.
//!
//! Promise: what is due earlier happens earlier, and of two things due at once, the one that was scheduled first.

use super::network::{FrameHandle, LinkGeneration};
use super::slots::SlotKey;
use super::traffic::Direction;
use crate::units::{Life, MessageId, NodeId, SimTime};
use groundhog_engine::streams::key::Class;
use groundhog_engine::streams::lanes::TransferId;
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// What is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Due {
    /// A disk operation completes.
    Disk(SlotKey),
    /// A node-monotonic timer or a charge of processor time ends.
    Timer(SlotKey),
    /// A frame reaches the receiver's transport.
    Deliver {
        /// Who receives.
        to: NodeId,
        /// The frame.
        frame: FrameHandle,
    },
    /// The sender's transport gives a lost frame up.
    FrameGivenUp {
        /// The connection's sending side.
        direction: Direction,
        /// Its link generation.
        generation: LinkGeneration,
        /// The outbound scheduler's transfer.
        transfer: TransferId,
        /// Whether the frame was its last.
        ends: bool,
    },
    /// A credit or a delivery notice reaches the sender.
    Signal(SlotKey),
    /// An action of the plan: for a burst, its `ordinal`-th message.
    Act {
        /// Its place in the plan.
        index: u32,
        /// Which message of a burst.
        ordinal: u32,
    },
    /// A further copy of a sent message.
    Copy {
        /// The message.
        message: MessageId,
        /// Which copy, from 1.
        copy: u32,
    },
    /// A caller gives up waiting: its task is woken to notice.
    GiveUp {
        /// The caller's node.
        node: NodeId,
        /// The caller's life.
        life: Life,
        /// The class whose sending task is woken.
        class: Class,
    },
    /// A fault of the plan begins.
    FaultBegin {
        /// Its place in the plan.
        index: u32,
    },
    /// A fault of the plan ends.
    FaultEnd {
        /// Its place in the plan.
        index: u32,
    },
    /// A node boots.
    Boot {
        /// Which.
        node: NodeId,
    },
    /// A clock that was wrong at boot is corrected.
    CorrectClock {
        /// Whose.
        node: NodeId,
    },
    /// A member of the ring looks after its view.
    Maintain {
        /// Whose.
        node: NodeId,
        /// In which life.
        life: Life,
    },
    /// A member that said that it leaves is gone.
    Gone {
        /// Which.
        node: NodeId,
        /// In which life.
        life: Life,
    },
    /// What a member answered for has come to another.
    HandOff {
        /// Whose it was.
        from: NodeId,
        /// Whose it is.
        to: NodeId,
    },
    /// Every fault ends.
    Quiesce,
    /// The run ends.
    End,
}

impl Due {
    /// What happens then, for whoever asks why no task was at work.
    #[must_use]
    pub const fn word(&self) -> &'static str {
        match self {
            Self::Disk(_) => "the disk answers",
            Self::Timer(_) => "a sleep or some work ends",
            Self::Deliver { .. } => "a frame arrives",
            Self::FrameGivenUp { .. } => "a lost frame is given up",
            Self::Signal(_) => "a sender hears of a frame that arrived or was handled",
            Self::Act { .. } => "the workload or an adversary acts",
            Self::Copy { .. } => "the workload sends a further copy",
            Self::GiveUp { .. } => "a caller gives up",
            Self::FaultBegin { .. } => "a fault begins",
            Self::FaultEnd { .. } => "a fault ends",
            Self::Boot { .. } => "a node boots",
            Self::CorrectClock { .. } => "a clock is corrected",
            Self::Maintain { .. } => "a member looks after its view of the ring",
            Self::Gone { .. } => "a member that leaves is gone",
            Self::HandOff { .. } => "a member takes over from another",
            Self::Quiesce => "every fault ends",
            Self::End => "the run ends",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    /// The time, and below it the order of scheduling: one comparison instead of two.
    key: u128,
    due: Due,
}

impl Entry {
    fn new(at: SimTime, order: u64, due: Due) -> Self {
        Self { key: u128::from(at.0) << 64 | u128::from(order), due }
    }

    fn at(&self) -> SimTime {
        SimTime(u64::try_from(self.key >> 64).expect("64 of 128 bits"))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.key.cmp(&other.key)
    }
}

/// The heap, and what time it is.
#[derive(Debug, Default)]
pub struct Timeline {
    heap: BinaryHeap<Reverse<Entry>>,
    next_order: u64,
    now: SimTime,
}

impl Timeline {
    /// True simulated time.
    #[must_use]
    pub fn now(&self) -> SimTime {
        self.now
    }

    /// Schedules; never in the past.
    pub fn at(&mut self, at: SimTime, due: Due) {
        let at = at.max(self.now);
        self.heap.push(Reverse(Entry::new(at, self.next_order, due)));
        self.next_order += 1;
    }

    /// When the next thing is due.
    #[must_use]
    pub fn next_at(&self) -> Option<SimTime> {
        self.heap.peek().map(|Reverse(entry)| entry.at())
    }

    /// Takes the next thing and moves time to it.
    pub fn pop(&mut self) -> Option<Due> {
        let Reverse(entry) = self.heap.pop()?;
        assert!(entry.at() >= self.now, "time never goes back");
        self.now = entry.at();
        Some(entry.due)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_due_at_once_happens_in_the_order_of_scheduling() {
        let mut timeline = Timeline::default();
        timeline.at(SimTime(5), Due::Quiesce);
        timeline.at(SimTime(5), Due::End);
        timeline.at(SimTime(1), Due::Boot { node: NodeId(1) });
        assert_eq!(timeline.pop(), Some(Due::Boot { node: NodeId(1) }));
        assert_eq!(timeline.pop(), Some(Due::Quiesce));
        timeline.at(SimTime(0), Due::Boot { node: NodeId(2) });
        assert_eq!(timeline.pop(), Some(Due::End));
        assert_eq!(timeline.now(), SimTime(5));
        assert_eq!(timeline.pop(), Some(Due::Boot { node: NodeId(2) }));
    }
}
