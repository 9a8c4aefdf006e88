//! One lane: its queue, its window of transfers in flight, its receive credit.

use super::{LaneError, TransferId};
use crate::streams::key::Class;
use smallvec::SmallVec;
use std::collections::VecDeque;

/// The widest window that [`Lane`] can keep: one bit a transfer.
pub(super) const WINDOW_MAX: u64 = u64::BITS as u64;

#[derive(Debug)]
pub(super) struct Lane<T> {
    class: Class,
    window: u64,
    queue_max_frames: u32,
    /// Frames of the transfer that is being sent; empty between two transfers.
    current: smallvec::IntoIter<[T; 1]>,
    waiting: VecDeque<SmallVec<[T; 1]>>,
    queued_frames: u32,
    /// The number that the next push gets.
    next_pushed: u64,
    /// The number of the transfer that starts next; the current one, if any, is the one before.
    next_started: u64,
    /// Every transfer below this number is delivered, and this one is not.
    delivered_below: u64,
    /// Which transfers from `delivered_below` on are delivered, lowest bit first.
    delivered: u64,
    credit: u32,
    /// The credit of a lane that has nothing outstanding.
    credit_max: u32,
}

impl<T> Lane<T> {
    pub(super) fn new(class: Class, window: u64, credit_frames: u32, queue_max_frames: u32) -> Self {
        assert!((1..=WINDOW_MAX).contains(&window));
        Self {
            class,
            window,
            queue_max_frames,
            current: SmallVec::new().into_iter(),
            waiting: VecDeque::new(),
            queued_frames: 0,
            next_pushed: 0,
            next_started: 0,
            delivered_below: 0,
            delivered: 0,
            credit: credit_frames,
            credit_max: credit_frames,
        }
    }

    pub(super) fn push(&mut self, frames: SmallVec<[T; 1]>) -> Result<TransferId, LaneError> {
        let class = self.class;
        if frames.is_empty() {
            return Err(LaneError::Empty { class });
        }
        let room = self.queue_max_frames - self.queued_frames;
        let Some(count) = u32::try_from(frames.len()).ok().filter(|count| *count <= room) else {
            let (queued, limit, frames) = (self.queued_frames, self.queue_max_frames, frames.len());
            return Err(LaneError::QueueFull { class, queued, limit, frames });
        };
        self.queued_frames += count;
        self.waiting.push_back(frames);
        let number = self.next_pushed;
        self.next_pushed += 1;
        Ok(TransferId { class, number })
    }

    pub(super) fn is_runnable(&self) -> bool {
        let fresh = || !self.waiting.is_empty() && self.next_started < self.delivered_below + self.window;
        self.credit > 0 && (self.current.len() > 0 || fresh())
    }

    /// The next frame, its transfer's number, and whether it is the first or the last of it.
    pub(super) fn pop(&mut self) -> (T, u64, bool, bool) {
        assert!(self.is_runnable(), "only a runnable lane is asked");
        let is_first = self.current.len() == 0;
        if is_first {
            self.current = self.waiting.pop_front().expect("a runnable lane has a transfer").into_iter();
            self.next_started += 1;
            assert!(self.next_started <= self.delivered_below + self.window, "the window is kept");
        }
        let frame = self.current.next().expect("a transfer has a frame");
        self.credit -= 1;
        self.queued_frames -= 1;
        (frame, self.next_started - 1, is_first, self.current.len() == 0)
    }

    pub(super) fn delivered(&mut self, number: u64) -> Result<(), LaneError> {
        let wholly_sent = self.next_started - u64::from(self.current.len() > 0);
        let in_flight = number >= self.delivered_below
            && number < wholly_sent
            && self.delivered & (1 << (number - self.delivered_below)) == 0;
        if !in_flight {
            return Err(LaneError::NotInFlight { class: self.class, number });
        }
        self.delivered |= 1 << (number - self.delivered_below);
        let run = self.delivered.trailing_ones();
        self.delivered_below += u64::from(run);
        self.delivered = self.delivered.checked_shr(run).unwrap_or(0);
        assert!(self.delivered_below <= self.next_started, "what is delivered was started");
        Ok(())
    }

    pub(super) fn credit(&mut self, frames: u32) -> Result<(), LaneError> {
        if frames > self.credit_max - self.credit {
            return Err(LaneError::CreditOverrun { class: self.class, frames });
        }
        self.credit += frames;
        Ok(())
    }

    pub(super) fn in_flight(&self) -> u32 {
        let begun = u32::try_from(self.next_started - self.delivered_below).expect("at most a window");
        begun - self.delivered.count_ones()
    }

    pub(super) const fn queued_frames(&self) -> u32 {
        self.queued_frames
    }

    pub(super) fn undelivered(&self) -> impl Iterator<Item = TransferId> {
        let is_delivered = |number: u64| {
            let above = number - self.delivered_below;
            above < WINDOW_MAX && self.delivered & (1 << above) != 0
        };
        let undelivered =
            (self.delivered_below..self.next_pushed).filter(move |number| !is_delivered(*number));
        undelivered.map(|number| TransferId { class: self.class, number })
    }
}
