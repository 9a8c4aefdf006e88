//! The simulated machine: what an engine of one life of one node stands on.
//!
//! Promise: every call goes to the world at once and in order; once the life is over nothing it asks for happens, and
//! nothing it waits for completes.

use super::Shared;
use super::slots::SlotKey;
use super::tasks::{LifeState, Polled, ReadyTasks, TaskWorld};
use crate::ledger::doer::{Doer, Task};
use crate::run::Panic;
use crate::units::{Life, NodeId};
use futures_util::future::BoxFuture;
use groundhog_engine::host::disk::{DiskAnswer, DiskError, DiskRequest, FileHandle};
use groundhog_engine::host::observe::EngineEvent;
use groundhog_engine::host::{Machine, Unscheduled, Work};
use groundhog_engine::units::{MonotonicNs, WallMs};
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

/// One life's machine.
#[derive(Clone)]
pub struct SimMachine {
    shared: Shared,
    node: NodeId,
    life: Life,
    state: Arc<LifeState>,
    ready: Arc<ReadyTasks>,
    executor: madsim::runtime::NodeHandle,
}

impl SimMachine {
    /// The machine of one life, whose tasks run as that madsim node.
    #[must_use]
    pub fn new(
        shared: Shared,
        node: NodeId,
        life: Life,
        state: Arc<LifeState>,
        ready: Arc<ReadyTasks>,
        executor: madsim::runtime::NodeHandle,
    ) -> Self {
        Self { shared, node, life, state, ready, executor }
    }

    /// Runs a task on this machine, whatever the engine's view of it.
    pub fn start(&self, task: Task, run: BoxFuture<'static, ()>) {
        let world = Arc::new(TaskOf { shared: self.shared.clone(), node: self.node, life: self.life, task });
        let polled = Polled::new(run, world, Arc::clone(&self.state), Arc::clone(&self.ready));
        drop(self.executor.spawn(polled));
    }
}

struct TaskOf {
    shared: Shared,
    node: NodeId,
    life: Life,
    task: Task,
}

impl TaskWorld for TaskOf {
    fn struck_at_poll(&self, poll: u64) {
        self.shared.with(|world| world.struck_at_poll(self.node, self.life, poll));
    }

    fn panicked(&self, panic: Panic) {
        if self.shared.is_broken() {
            self.shared.with(|world| world.fail(panic.to_string()));
        } else {
            self.shared.with(|world| world.panicked(self.node, self.life, self.task, &panic));
        }
    }

    fn doer(&self) -> Doer {
        Doer::Task { node: self.node, life: self.life, task: self.task }
    }
}

impl Machine for SimMachine {
    fn wall_now(&self) -> WallMs {
        self.shared.with(|world| world.wall_now(self.node))
    }

    fn monotonic_now(&self) -> MonotonicNs {
        self.shared.with(|world| world.monotonic_now(self.node))
    }

    fn sleep(&self, duration: Duration) -> BoxFuture<'static, ()> {
        let machine = self.clone();
        Box::pin(Wait::new(self.shared.clone(), move |world| {
            world.start_sleep(machine.node, machine.life, duration)
        }))
    }

    fn spawn(&self, name: &'static str, task: BoxFuture<'static, ()>) -> Result<(), Unscheduled> {
        if self.state.is_dead() {
            return Err(Unscheduled);
        }
        self.start(Task::Engine(name), task);
        Ok(())
    }

    fn disk(&self, request: DiskRequest) -> BoxFuture<'static, Result<DiskAnswer, DiskError>> {
        Box::pin(DiskCall {
            shared: self.shared.clone(),
            node: self.node,
            life: self.life,
            state: CallState::NotBegun(request),
        })
    }

    fn close(&self, file: FileHandle) {
        self.shared.with(|world| world.close_file(self.node, self.life, file));
    }

    fn charge(&self, work: Work) -> BoxFuture<'static, ()> {
        let (node, life) = (self.node, self.life);
        Box::pin(Wait::new(self.shared.clone(), move |world| world.start_charge(node, life, &work)))
    }

    fn observe(&self, event: EngineEvent<'_>) {
        self.shared.with(|world| world.engine_reports(self.node, self.life, event));
    }
}

/// A disk operation: begins at its first poll, then happens whether or not this future is dropped.
struct DiskCall {
    shared: Shared,
    node: NodeId,
    life: Life,
    state: CallState,
}

enum CallState {
    NotBegun(DiskRequest),
    /// `None` when the life was over: it never completes.
    Begun(Option<SlotKey>),
    Done,
}

impl Future for DiskCall {
    type Output = Result<DiskAnswer, DiskError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let this = &mut *self;
        this.shared.with(|world| {
            if matches!(this.state, CallState::NotBegun(_)) {
                let CallState::NotBegun(request) = std::mem::replace(&mut this.state, CallState::Done) else {
                    unreachable!("just matched");
                };
                this.state = CallState::Begun(world.submit_disk(this.node, this.life, request));
            }
            match this.state {
                CallState::Begun(Some(key)) => match world.disk_answers.take_or_wait(key, context.waker()) {
                    Some(answer) => {
                        this.state = CallState::Done;
                        Poll::Ready(answer)
                    }
                    None => Poll::Pending,
                },
                CallState::Begun(None) => Poll::Pending,
                CallState::NotBegun(_) | CallState::Done => unreachable!("polled after its answer"),
            }
        })
    }
}

impl Drop for DiskCall {
    fn drop(&mut self) {
        if let CallState::Begun(Some(key)) = self.state {
            self.shared.with(|world| world.abandon_disk(key));
        }
    }
}

/// How a wait begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Begun {
    /// The life is over: it never ends.
    Never,
    /// There is nothing to wait for.
    Over,
    /// It ends when the slot is filled.
    At(SlotKey),
}

/// A wait for time: begins at its first poll.
pub struct Wait<F> {
    shared: Shared,
    begin: Option<F>,
    key: Option<SlotKey>,
}

impl<F> Wait<F>
where
    F: FnOnce(&mut super::World) -> Begun + Unpin,
{
    /// Waits for the slot that `begin` opens.
    pub fn new(shared: Shared, begin: F) -> Self {
        Self { shared, begin: Some(begin), key: None }
    }
}

impl<F> Future for Wait<F>
where
    F: FnOnce(&mut super::World) -> Begun + Unpin,
{
    type Output = ();

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let this = &mut *self;
        this.shared.with(|world| {
            if let Some(begin) = this.begin.take() {
                match begin(world) {
                    Begun::Never => {}
                    Begun::Over => return Poll::Ready(()),
                    Begun::At(key) => this.key = Some(key),
                }
            }
            let Some(key) = this.key else { return Poll::Pending };
            match world.timers.take_or_wait(key, context.waker()) {
                Some(()) => {
                    this.key = None;
                    Poll::Ready(())
                }
                None => Poll::Pending,
            }
        })
    }
}

impl<F> Drop for Wait<F> {
    fn drop(&mut self) {
        if let Some(key) = self.key.take() {
            self.shared.with(|world| {
                world.timers.free(key);
            });
        }
    }
}
