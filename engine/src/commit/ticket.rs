//! What a caller waits with: a result that is there already, and must not be seen before its batch is durable.
//!
//! Promise: a ticket gives its value only once everything that it was computed from is durable (law of release).
//! Dropping one changes nothing but that nobody sees the value.

use super::CommitError;
use crate::flaws::{Flaw, Flaws};
use crate::host::Host;
use crate::host::observe::{BatchNumber, EngineEvent, RecordName, TransitionNumber};
use crate::store::BatchError;
use smallvec::SmallVec;
use std::pin::Pin;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Poll, Waker};
use tokio::sync::Notify;

/// Record states that a result was computed from. Most results read one record.
pub(super) type Depends = SmallVec<[(RecordName, BatchNumber); 2]>;

/// How a batch ended.
#[derive(Debug)]
pub(super) enum Outcome {
    /// Every value of it is durable. The names that it removed.
    Durable { removed: Vec<RecordName> },
    /// It, or the one before it, could not be written; its transitions are undone.
    Failed(Arc<BatchError>),
    /// The life ended first.
    Unscheduled,
}

/// One batch, as those see it who wait for it.
#[derive(Debug)]
pub(super) struct Batch {
    pub(super) number: BatchNumber,
    host: Host,
    outcome: OnceLock<Outcome>,
    waiting: Mutex<Vec<Waker>>,
    /// Transitions of callers who are gone: only a flaw looks.
    cancelled: Mutex<Vec<TransitionNumber>>,
    caller_gone: Notify,
}

impl Batch {
    pub(super) fn new(host: &Host, number: BatchNumber) -> Arc<Self> {
        Arc::new(Self {
            number,
            host: host.clone(),
            outcome: OnceLock::new(),
            waiting: Mutex::new(Vec::new()),
            cancelled: Mutex::new(Vec::new()),
            caller_gone: Notify::new(),
        })
    }

    /// A batch that nobody has to wait for.
    pub(super) fn settled(host: &Host) -> Arc<Self> {
        let batch = Self::new(host, BatchNumber(0));
        batch.resolve(Outcome::Durable { removed: Vec::new() });
        batch
    }

    /// Ends the wait of everybody, in the order in which they began to wait. Only the first call counts.
    pub(super) fn resolve(&self, outcome: Outcome) {
        if self.outcome.set(outcome).is_ok() {
            let waiting = std::mem::take(&mut *locked(&self.waiting));
            waiting.into_iter().for_each(Waker::wake);
        }
    }

    /// Waits until a caller is gone; returns the transitions of all who are.
    #[cfg(feature = "flaws")]
    pub(super) async fn caller_gone(&self) -> Vec<TransitionNumber> {
        loop {
            let gone = std::mem::take(&mut *locked(&self.cancelled));
            if !gone.is_empty() {
                return gone;
            }
            self.caller_gone.notified().await;
        }
    }

    /// The outcome, or a place among those who are woken by it.
    fn poll(&self, place: &mut Option<usize>, waker: &Waker) -> Poll<&Outcome> {
        if let Some(outcome) = self.outcome.get() {
            return Poll::Ready(outcome);
        }
        let mut waiting = locked(&self.waiting);
        if let Some(outcome) = self.outcome.get() {
            return Poll::Ready(outcome);
        }
        match *place {
            Some(at) => waiting[at].clone_from(waker),
            None => {
                *place = Some(waiting.len());
                waiting.push(waker.clone());
            }
        }
        Poll::Pending
    }
}

/// No panic can happen while one of these small locks is held.
fn locked<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// A transition's result, to be had once it is durable. The transition itself has already happened.
#[must_use = "a result that nobody waits for is a transition whose caller is gone"]
#[derive(Debug)]
pub struct Ticket<T>(State<T>);

#[derive(Debug)]
enum State<T> {
    Waiting(Waiting<T>),
    Refused(CommitError),
    Taken,
}

#[derive(Debug)]
struct Waiting<T> {
    batch: Arc<Batch>,
    flaws: Flaws,
    transition: TransitionNumber,
    depends: Depends,
    place: Option<usize>,
    value: T,
}

// The value is moved out when it is released; nothing points into a ticket.
impl<T> Unpin for Ticket<T> {}

impl<T> Ticket<T> {
    pub(super) fn new(
        batch: Arc<Batch>,
        flaws: Flaws,
        transition: TransitionNumber,
        depends: Depends,
        value: T,
    ) -> Self {
        Self(State::Waiting(Waiting { batch, flaws, transition, depends, place: None, value }))
    }

    /// A ticket of a transition that was not run.
    pub(super) fn refused(error: CommitError) -> Self {
        Self(State::Refused(error))
    }

    /// The transition's number; `None` where it was refused and never run, or its result was returned.
    #[must_use]
    pub fn transition(&self) -> Option<TransitionNumber> {
        match &self.0 {
            State::Waiting(waiting) => Some(waiting.transition),
            State::Refused(_) | State::Taken => None,
        }
    }
}

impl<T> Future for Ticket<T> {
    type Output = Result<T, CommitError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        if let State::Waiting(waiting) = &mut self.0
            && waiting.batch.poll(&mut waiting.place, context.waker()).is_pending()
        {
            return Poll::Pending;
        }
        match std::mem::replace(&mut self.0, State::Taken) {
            State::Waiting(waiting) => Poll::Ready(waiting.end()),
            State::Refused(error) => Poll::Ready(Err(error)),
            State::Taken => panic!("a ticket was polled after it gave its result"),
        }
    }
}

impl<T> Waiting<T> {
    fn end(mut self) -> Result<T, CommitError> {
        match self.batch.outcome.get().expect("polled ready") {
            Outcome::Durable { removed } => {
                if !removed.is_empty() {
                    let number = self.batch.number;
                    self.depends.retain(|(name, batch)| *batch != number || !removed.contains(name));
                }
                let released = EngineEvent::Released { transition: self.transition, depends: &self.depends };
                self.batch.host.observe(released);
                Ok(self.value)
            }
            Outcome::Failed(error) => Err(CommitError::Failed(Arc::clone(error))),
            Outcome::Unscheduled => Err(CommitError::Unscheduled),
        }
    }
}

impl<T> Drop for Ticket<T> {
    fn drop(&mut self) {
        if let State::Waiting(waiting) = &self.0 {
            let batch = &waiting.batch;
            batch.host.observe(EngineEvent::CallerGone { transition: waiting.transition });
            if waiting.flaws.has(Flaw::CancelledCallerBreaksOrder) {
                locked(&batch.cancelled).push(waiting.transition);
                batch.caller_gone.notify_one();
            }
        }
    }
}
