//! Every task of every node runs inside a [`Polled`]: counted, bounded, silenced once its life is over.
//!
//! Promise: the driver goes on exactly when no task is ready; a dead life's tasks run no more code; a panic of an engine
//! is caught and told, and ends its life alone; tasks that go on and on without time moving are stopped, and named.

use crate::ledger::doer::Doer;
use crate::outcome::{Cut, LastPoll};
use crate::run::{Panic, caught};
use futures_util::future::BoxFuture;
use futures_util::task::AtomicWaker;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Wake, Waker};

/// Polls that tasks may use at one instant: far beyond what the largest plan needs, and about a second of real time.
pub const POLLS_AT_ONE_INSTANT: u64 = 4_000_000;

/// How many tasks are ready over all nodes, and who waits for there to be none.
#[derive(Debug, Default)]
pub struct ReadyTasks {
    ready: AtomicU64,
    polls: AtomicU64,
    /// The poll at which it is enough: of the whole run, or of this instant if that comes first.
    limit: AtomicU64,
    poll_budget: u64,
    exhausted: AtomicBool,
    exhausted_by: Mutex<Option<Doer>>,
    idle: AtomicWaker,
    asks_who: bool,
    at_work: Mutex<Option<Doer>>,
}

impl ReadyTasks {
    /// No task yet; at most `poll_budget` polls in all. With `asks_who` it knows which task is at work.
    #[must_use]
    pub fn new(poll_budget: u64, asks_who: bool) -> Arc<Self> {
        Arc::new(Self { poll_budget, asks_who, ..Self::default() })
    }

    /// Simulated time has moved: tasks may use polls anew.
    pub fn time_moved(&self) {
        let at_this_instant = self.polls.load(Ordering::Relaxed).saturating_add(POLLS_AT_ONE_INSTANT);
        self.limit.store(at_this_instant.min(self.poll_budget), Ordering::Relaxed);
    }

    /// The task that is being polled, if any is and somebody asks for it.
    #[must_use]
    pub fn at_work(&self) -> Option<Doer> {
        *self.at_work.lock().expect("no holder of this lock panics")
    }

    /// Whether somebody looks on who asks which task is at work.
    #[must_use]
    pub const fn asks_who(&self) -> bool {
        self.asks_who
    }

    /// Completes once no task is ready.
    pub async fn idle(&self) {
        std::future::poll_fn(|context| {
            if self.ready.load(Ordering::Relaxed) == 0 {
                return Poll::Ready(());
            }
            self.idle.register(context.waker());
            Poll::Pending
        })
        .await;
    }

    /// Whether any task is ready.
    #[must_use]
    pub fn any(&self) -> bool {
        self.ready.load(Ordering::Relaxed) != 0
    }

    /// Whether the poll budget is used up. No task runs any more code then.
    #[must_use]
    pub fn exhausted(&self) -> bool {
        self.exhausted.load(Ordering::Relaxed)
    }

    /// Why the run has to end, once polls are used up.
    #[must_use]
    pub fn cut(&self) -> Option<Cut> {
        if !self.exhausted() {
            return None;
        }
        let by = self.exhausted_by.lock().expect("no holder of this lock panics");
        let last = by.as_ref().and_then(LastPoll::of);
        Some(if self.polls.load(Ordering::Relaxed) > self.poll_budget {
            Cut::Polls { limit: self.poll_budget, last }
        } else {
            Cut::Livelock { limit: POLLS_AT_ONE_INSTANT, last }
        })
    }

    /// Takes one poll; whether there was one left.
    fn take_poll(&self, by: impl FnOnce() -> Doer) -> bool {
        if self.exhausted() {
            return false;
        }
        if self.polls.fetch_add(1, Ordering::Relaxed) < self.limit.load(Ordering::Relaxed) {
            return true;
        }
        *self.exhausted_by.lock().expect("no holder of this lock panics") = Some(by());
        self.exhausted.store(true, Ordering::Relaxed);
        false
    }

    fn begins(&self, doer: impl FnOnce() -> Doer) {
        if self.asks_who {
            *self.at_work.lock().expect("no holder of this lock panics") = Some(doer());
        }
    }

    fn ends(&self) {
        if self.asks_who {
            *self.at_work.lock().expect("no holder of this lock panics") = None;
        }
    }

    fn enter(&self) {
        self.ready.fetch_add(1, Ordering::Relaxed);
    }

    fn leave(&self) {
        let before = self.ready.fetch_sub(1, Ordering::Relaxed);
        assert!(before > 0, "a task left the ready set that had not entered it");
    }

    fn tell_if_idle(&self) {
        if self.ready.load(Ordering::Relaxed) == 0 {
            self.idle.wake();
        }
    }
}

/// What the tasks of one life share with the world.
#[derive(Debug)]
pub struct LifeState {
    dead: AtomicBool,
    polls: AtomicU64,
    strike_at_poll: AtomicU64,
}

impl LifeState {
    /// A life that nothing strikes at a poll.
    #[must_use]
    pub fn new() -> Arc<Self> {
        Arc::new(Self {
            dead: AtomicBool::new(false),
            polls: AtomicU64::new(0),
            strike_at_poll: AtomicU64::new(u64::MAX),
        })
    }

    /// Whether the life is over.
    #[must_use]
    pub fn is_dead(&self) -> bool {
        self.dead.load(Ordering::Relaxed)
    }

    /// The life is over.
    pub fn end(&self) {
        self.dead.store(true, Ordering::Relaxed);
    }

    /// The next strike falls at this poll; `u64::MAX` for none.
    pub fn strike_at(&self, poll: u64) {
        self.strike_at_poll.store(poll, Ordering::Relaxed);
    }
}

/// What a task asks of its world, beside running.
pub trait TaskWorld: Send + Sync + 'static {
    /// The poll that a fault of the plan names was reached.
    fn struck_at_poll(&self, poll: u64);
    /// The task panicked.
    fn panicked(&self, panic: Panic);
    /// Which task this is.
    fn doer(&self) -> Doer;
}

#[derive(Debug)]
struct TaskWake {
    queued: AtomicBool,
    ready: Arc<ReadyTasks>,
    executor: Mutex<Option<Waker>>,
}

impl Wake for TaskWake {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.queued.swap(true, Ordering::Relaxed) {
            return;
        }
        self.ready.enter();
        let executor = self.executor.lock().expect("no holder of this lock panics");
        executor.as_ref().expect("a task is woken only after its first poll").wake_by_ref();
    }
}

/// One task of one life.
pub struct Polled {
    inner: Option<BoxFuture<'static, ()>>,
    world: Arc<dyn TaskWorld>,
    life: Arc<LifeState>,
    wake: Arc<TaskWake>,
    waker: Waker,
}

impl Polled {
    /// A task, ready to be handed to the executor at once: it counts as ready from now on.
    pub fn new(
        inner: BoxFuture<'static, ()>,
        world: Arc<dyn TaskWorld>,
        life: Arc<LifeState>,
        ready: Arc<ReadyTasks>,
    ) -> Self {
        ready.enter();
        let wake = Arc::new(TaskWake { queued: AtomicBool::new(true), ready, executor: Mutex::new(None) });
        let waker = Waker::from(Arc::clone(&wake));
        Self { inner: Some(inner), world, life, wake, waker }
    }

    fn run(&mut self) -> Poll<()> {
        if !self.wake.ready.take_poll(|| self.world.doer()) || self.life.is_dead() {
            return Poll::Pending;
        }
        let poll = self.life.polls.fetch_add(1, Ordering::Relaxed);
        if poll == self.life.strike_at_poll.load(Ordering::Relaxed) {
            self.world.struck_at_poll(poll);
            if self.life.is_dead() {
                return Poll::Pending;
            }
        }
        let Some(inner) = self.inner.as_mut() else { return Poll::Ready(()) };
        let mut context = Context::from_waker(&self.waker);
        match std::panic::catch_unwind(AssertUnwindSafe(|| inner.as_mut().poll(&mut context))) {
            Ok(poll) => poll,
            Err(payload) => {
                self.world.panicked(caught(payload.as_ref()));
                Poll::Ready(())
            }
        }
    }
}

impl Future for Polled {
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        {
            let mut executor = self.wake.executor.lock().expect("no holder of this lock panics");
            if executor.as_ref().is_none_or(|waker| !waker.will_wake(context.waker())) {
                *executor = Some(context.waker().clone());
            }
        }
        if self.wake.queued.swap(false, Ordering::Relaxed) {
            self.wake.ready.leave();
        }
        self.wake.ready.begins(|| self.world.doer());
        let poll = self.run();
        if poll.is_ready() {
            self.inner = None;
        }
        self.wake.ready.ends();
        self.wake.ready.tell_if_idle();
        poll
    }
}

impl Drop for Polled {
    fn drop(&mut self) {
        // A destructor of a dead life may run code of the engine; its panic is not worth a run.
        let inner = self.inner.take();
        let dropped = std::panic::catch_unwind(AssertUnwindSafe(move || drop(inner)));
        if let Err(payload) = dropped {
            self.world.panicked(caught(payload.as_ref()));
        }
        if self.wake.queued.swap(true, Ordering::Relaxed) {
            self.wake.ready.leave();
            self.wake.ready.tell_if_idle();
        }
    }
}
