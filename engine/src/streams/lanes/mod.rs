//! The outbound scheduler of one connection: four lanes, one a class.
//!
//! Promise: the frames of a lane leave in push order and its transfers one after the other; transfer k of a lane starts only
//! once k-8 and all before it are delivered; control goes first, but at most four frames in a row while another lane could
//! go (seed 000, Stream and transcript; facts 9). No clock, no host: whoever owns the connection asks for the next frame.

mod lane;

use super::key::Class;
use crate::flaws::{Flaw, Flaws};
use lane::Lane;
use smallvec::SmallVec;

/// Transfers of one lane in flight: from the first frame handed to the channel until the receiver's transport has the
/// whole transfer. Below the 32 slots of the replay window.
pub const LANE_WINDOW: u64 = 8;

/// Control frames in a row while a lower class is runnable.
pub const CONTROL_BURST: u8 = 4;

/// Frames of one lane that a receiver takes before it has handled any.
pub const RECEIVE_CREDIT_FRAMES: u32 = 16;

/// The widest pool of channels of a connection.
pub const POOL_MAX_CHANNELS: u8 = 4;

/// The longest frame in bytes; whoever cuts a message into frames keeps to it (facts 9).
pub const FRAME_MAX_BYTES: usize = 64 * 1024;

const _: () =
    assert!(LANE_WINDOW < super::window::WINDOW_SLOTS, "the lane's window stays below the replay window");

/// One transfer of one lane of one connection: a message, in one frame or more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransferId {
    /// The lane.
    pub class: Class,
    /// Counted from zero in push order, a lane for itself.
    pub number: u64,
}

/// A frame that may leave now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Outgoing<T> {
    /// What the caller pushed.
    pub frame: T,
    /// The channel of the pool that it leaves by.
    pub channel: u8,
    /// Its transfer.
    pub transfer: TransferId,
    /// Whether it begins its transfer.
    pub is_first: bool,
    /// Whether it ends its transfer.
    pub is_last: bool,
}

/// What a connection's scheduler is set up with.
#[derive(Clone, Copy, Debug)]
pub struct LanesConfig {
    /// Channels of the connection, 1 to [`POOL_MAX_CHANNELS`].
    pub pool_channels: u8,
    /// Frames that may wait in one lane.
    pub queue_max_frames: u32,
    /// The known-bad behaviours asked for.
    pub flaws: Flaws,
}

/// Why a scheduler did not do what was asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LaneError {
    /// The lane's queue has no room for the whole transfer; none of it was taken.
    #[error("the {class} lane holds {queued} frames of {limit} and cannot take {frames} more")]
    QueueFull {
        /// The lane.
        class: Class,
        /// Frames that wait.
        queued: u32,
        /// Frames that may wait.
        limit: u32,
        /// Frames of the refused transfer.
        frames: usize,
    },
    /// A transfer has at least one frame.
    #[error("a transfer of the {class} lane has no frame")]
    Empty {
        /// The lane.
        class: Class,
    },
    /// The transfer was not wholly sent, or is delivered already.
    #[error("transfer {number} of the {class} lane is not in flight")]
    NotInFlight {
        /// The lane.
        class: Class,
        /// The transfer.
        number: u64,
    },
    /// The receiver gave back more credit than it was asked for.
    #[error("{frames} frames of credit are more than the {class} lane has outstanding")]
    CreditOverrun {
        /// The lane.
        class: Class,
        /// The frames.
        frames: u32,
    },
}

/// The scheduler of one direction of one connection.
#[derive(Debug)]
pub struct Outbound<T> {
    lanes: [Lane<T>; 4],
    pool_channels: u8,
    control_in_a_row: u8,
    /// The lower class that is asked first.
    cursor: Class,
    /// Frames sent, for the flaw that spreads a class over the pool.
    sent: u64,
    flaws: Flaws,
}

impl<T> Outbound<T> {
    /// An empty scheduler with full credit.
    ///
    /// # Panics
    /// When the pool is not of 1 to [`POOL_MAX_CHANNELS`] channels, or a queue takes no frame: both come from the
    /// node's own configuration.
    #[must_use]
    pub fn new(config: LanesConfig) -> Self {
        let LanesConfig { pool_channels, queue_max_frames, flaws } = config;
        assert!((1..=POOL_MAX_CHANNELS).contains(&pool_channels), "a pool of {pool_channels} channels");
        assert!(queue_max_frames > 0, "a queue of no frames");
        // Credit that stays at 16 would cap the wide window.
        let (window, credit) = if flaws.has(Flaw::LaneWindow64) {
            (lane::WINDOW_MAX, 4 * RECEIVE_CREDIT_FRAMES)
        } else {
            (LANE_WINDOW, RECEIVE_CREDIT_FRAMES)
        };
        Self {
            lanes: Class::ALL.map(|class| Lane::new(class, window, credit, queue_max_frames)),
            pool_channels,
            control_in_a_row: 0,
            cursor: Class::Storage,
            sent: 0,
            flaws,
        }
    }

    /// Queues a transfer of one frame or more behind everything that its lane holds.
    ///
    /// # Errors
    /// [`LaneError::QueueFull`] or [`LaneError::Empty`]; nothing was queued then.
    pub fn push(
        &mut self,
        class: Class,
        frames: impl Into<SmallVec<[T; 1]>>,
    ) -> Result<TransferId, LaneError> {
        self.lanes[class.index()].push(frames.into())
    }

    /// The frame to send now, if any may leave.
    pub fn next_frame(&mut self) -> Option<Outgoing<T>> {
        let class = self.next_class()?;
        let (frame, number, is_first, is_last) = self.lanes[class.index()].pop();
        let lane =
            if self.flaws.has(Flaw::ClassSpreadOverChannels) { self.sent } else { class.index() as u64 };
        self.sent += 1;
        let channel = u8::try_from(lane % u64::from(self.pool_channels)).expect("below the pool's size");
        Some(Outgoing { frame, channel, transfer: TransferId { class, number }, is_first, is_last })
    }

    fn next_class(&mut self) -> Option<Class> {
        let lower = self.next_lower_class();
        let control = self.lanes[Class::Control.index()].is_runnable();
        match lower {
            Some(class) if !control || self.control_in_a_row >= CONTROL_BURST => {
                self.control_in_a_row = 0;
                self.cursor = after(class);
                Some(class)
            }
            _ if control => {
                self.control_in_a_row = self.control_in_a_row.saturating_add(1);
                Some(Class::Control)
            }
            _ => None,
        }
    }

    fn next_lower_class(&self) -> Option<Class> {
        let second = after(self.cursor);
        [self.cursor, second, after(second)].into_iter().find(|class| self.lanes[class.index()].is_runnable())
    }

    /// The receiver's transport has a whole transfer.
    ///
    /// # Errors
    /// [`LaneError::NotInFlight`] when it was not wholly sent or is delivered already; nothing changed then.
    pub fn delivered(&mut self, transfer: TransferId) -> Result<(), LaneError> {
        self.lanes[transfer.class.index()].delivered(transfer.number)
    }

    /// The receiver has handled `frames` frames of a lane.
    ///
    /// # Errors
    /// [`LaneError::CreditOverrun`] when that is more than is outstanding; nothing changed then.
    pub fn credit(&mut self, class: Class, frames: u32) -> Result<(), LaneError> {
        self.lanes[class.index()].credit(frames)
    }

    /// Transfers of a lane that began to leave and are not delivered.
    #[must_use]
    pub fn in_flight(&self, class: Class) -> u32 {
        self.lanes[class.index()].in_flight()
    }

    /// Frames that wait in a lane.
    #[must_use]
    pub fn queued_frames(&self, class: Class) -> u32 {
        self.lanes[class.index()].queued_frames()
    }

    /// Ends the connection: every transfer that was pushed and is not delivered, lane by lane in push order.
    #[must_use]
    pub fn close(self) -> Vec<TransferId> {
        self.lanes.iter().flat_map(Lane::undelivered).collect()
    }
}

/// The lower class that follows `class` in turn.
const fn after(class: Class) -> Class {
    match class {
        Class::Storage => Class::E2e,
        Class::E2e => Class::Application,
        Class::Control | Class::Application => Class::Storage,
    }
}

#[cfg(test)]
mod tests;
