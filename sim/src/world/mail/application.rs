//! What a node's application has of its mail, and when it takes it.
//!
//! Promise: what is not taken when the process dies is forgotten, as memory is; a policy of the plan outlives the process.

use crate::ledger::event::Transaction;
use crate::units::{MessageId, SimTime};
use groundhog_engine::streams::window::Digest;
use std::collections::{BTreeSet, VecDeque};
use std::task::{Poll, Waker};

/// Mail that was dispatched and is not taken.
#[derive(Clone, Copy, Debug)]
pub struct Untaken {
    /// The workload's message, where it is one.
    pub message: Option<MessageId>,
    /// The mail.
    pub transaction: Transaction,
    /// Since when the application has it.
    pub since: SimTime,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Application {
    untaken: VecDeque<Untaken>,
    /// All that this life has dispatched and not taken, what is being taken included.
    in_hand: BTreeSet<Digest>,
    /// How long it has mail before it takes it, in nanoseconds; `None` while it takes none.
    after_ns: Option<u64>,
    waker: Option<Waker>,
}

impl Application {
    /// One that takes its mail after so long.
    #[must_use]
    pub fn taking_after(after_us: u64) -> Self {
        Self { after_ns: Some(after_us.saturating_mul(1_000)), ..Self::default() }
    }

    /// From now on it takes after so long, or never.
    pub fn set(&mut self, after_us: Option<u64>) {
        self.after_ns = after_us.map(|us| us.saturating_mul(1_000));
        self.wake();
    }

    /// Mail was dispatched.
    pub fn dispatched(&mut self, mail: Untaken) {
        if self.in_hand.insert(mail.transaction.digest) {
            self.untaken.push_back(mail);
            self.wake();
        }
    }

    /// A take came to its end.
    pub fn done(&mut self, digest: &Digest) {
        self.in_hand.remove(digest);
    }

    /// Whether this life has the mail and has not taken it.
    #[must_use]
    pub fn has(&self, digest: &Digest) -> bool {
        self.in_hand.contains(digest)
    }

    /// The next mail to take, or how long until it is time for it.
    pub fn next(&mut self, now: SimTime, waker: &Waker) -> Poll<Result<Untaken, u64>> {
        match (self.after_ns, self.untaken.front()) {
            (Some(after_ns), Some(first)) => {
                let due = first.since.plus_ns(after_ns);
                if due > now {
                    return Poll::Ready(Err(due.0 - now.0));
                }
                Poll::Ready(Ok(self.untaken.pop_front().expect("there is a first")))
            }
            _ => {
                self.waker = Some(waker.clone());
                Poll::Pending
            }
        }
    }

    /// The process died.
    pub fn end_life(&mut self) {
        *self = Self { after_ns: self.after_ns, ..Self::default() };
    }

    fn wake(&mut self) {
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }
}
