//! Lives: a node boots, opens its engines, works, dies, and boots again.
//!
//! Promise: what a dead life did stays done, what it had not done stays undone, and nothing of it happens later; a
//! process crash keeps the wall clock and the page cache, a power failure keeps only what was durable or survives by chance.

use super::clock::Clock;
use super::machine::SimMachine;
use super::node::{self, Identity};
use super::processor::Processor;
use super::survival::Survival;
use super::tasks::LifeState;
use super::timeline::Due;
use super::{Program, World};
use crate::ledger::doer::Task;
use crate::ledger::event::Event;
use crate::plan::{Death, FaultKind, NodePlan};
use crate::run::Panic;
use crate::units::{FaultId, FrameNumber, Life, MessageId, NodeId};
use groundhog_engine::host::Host;
use groundhog_engine::host::observe::{BatchNumber, Roles, Step};
use groundhog_engine::streams::CountersWatch;
use groundhog_engine::streams::link_local::Epoch;
use indexmap::{IndexMap, IndexSet};
use rustc_hash::FxBuildHasher;
use std::sync::Arc;

/// How soon a node whose engines did not open is started again.
const REOPEN_AFTER_US: u64 = 50_000;

/// Where a node is in its life.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Status {
    /// It is not running.
    Down,
    /// Its engines are opening.
    Opening,
    /// It works.
    Ready,
}

/// One node.
pub struct NodeState {
    pub(super) life: Life,
    pub(super) status: Status,
    pub(super) state: Arc<LifeState>,
    pub(super) executor: madsim::task::NodeId,
    pub(super) clock: Clock,
    pub(super) processor: Processor,
    pub(super) identity: Identity,
    /// What is due at a paused machine; kept over a death, since what was to happen to the next life is among it.
    pub(super) held: Vec<Due>,
    /// How the last life ended.
    last_death: Option<Death>,
    next_operation: u64,
    /// The last step of this life's engine, while a batch is being written or the store is being opened.
    pub(super) during: Option<(Step, BatchNumber, Roles)>,
    /// Whether transitions have gathered in a batch that nobody has begun to write.
    pub(super) gathering: bool,
    /// The budget that its store is opened with, where that was lowered.
    pub(super) budget_bytes: Option<u64>,
    /// Whether this life opens, or opened, its store with less than the plan's budget.
    pub(super) has_low_budget: bool,
    /// The crash of the plan that the node is down for, by its place.
    pub(super) down_for: Option<usize>,
    /// Messages that the sending tasks of this life have taken and not sent.
    pub(super) in_hand: IndexSet<MessageId, FxBuildHasher>,
    /// Frames that lanes of this life have taken and not answered.
    pub(super) frames_in_hand: IndexMap<FrameNumber, Option<MessageId>, FxBuildHasher>,
    /// Messages of each class that this life has dispatched and not handled.
    pub(super) in_mailbox: [u32; 4],
    /// The epoch of the namespace's newest life, as its senders know it.
    pub(super) epoch: Option<Epoch>,
    /// What the streams of this life count; `None` until they are open.
    pub(super) counters: Option<CountersWatch>,
}

impl NodeState {
    /// A node that has not booted yet.
    pub fn new(plan: &NodePlan, identity: Identity, executor: madsim::task::NodeId) -> Self {
        Self {
            life: Life(0),
            status: Status::Down,
            state: LifeState::new(),
            executor,
            clock: Clock::new(plan.clock),
            processor: Processor::new(plan.cores),
            identity,
            held: Vec::new(),
            last_death: None,
            next_operation: 0,
            during: None,
            gathering: false,
            budget_bytes: None,
            has_low_budget: false,
            down_for: None,
            in_hand: IndexSet::default(),
            frames_in_hand: IndexMap::default(),
            in_mailbox: [0; 4],
            epoch: None,
            counters: None,
        }
    }

    /// The number of the life's next disk operation.
    pub(super) fn take_operation_number(&mut self) -> u64 {
        let number = self.next_operation;
        self.next_operation += 1;
        number
    }
}

impl World {
    /// Whether this life of the node goes on.
    pub(super) fn is_alive(&self, node: NodeId, life: Life) -> bool {
        let state = &self.nodes[node.index()];
        state.life == life && state.status != Status::Down
    }

    /// Whether some life of the node goes on.
    pub(super) fn is_up(&self, node: NodeId) -> bool {
        self.nodes[node.index()].status != Status::Down
    }

    /// Whether the node works.
    pub(super) fn is_ready(&self, node: NodeId) -> bool {
        self.nodes[node.index()].status == Status::Ready
    }

    /// A node boots.
    pub(super) fn boot(&mut self, node: NodeId) {
        if self.nodes[node.index()].status != Status::Down || !self.belongs(node) {
            return;
        }
        if self.program == Program::TransportAlone {
            return self.boot_transport(node);
        }
        let now = self.now();
        let shared = self.shared();
        let executor = self.nodes[node.index()].executor;
        self.executor.restart(executor);
        let handle = self.executor.get_node(executor).expect("the node was created with the world");
        let ready = Arc::clone(&self.ready);
        let next_poll = self.faults.next_poll(node, self.nodes[node.index()].life, 0);

        let state = self.node(node);
        state.status = Status::Opening;
        state.state = LifeState::new();
        state.state.strike_at(next_poll);
        state.next_operation = 0;
        state.during = None;
        state.gathering = false;
        state.in_mailbox = [0; 4];
        state.has_low_budget = state.budget_bytes.is_some();
        let change = state.clock.boot(now, state.last_death);
        let life = state.life;
        let wall = state.clock.wall_now(now);
        let machine = SimMachine::new(shared.clone(), node, life, Arc::clone(&state.state), ready, handle);
        if let Some(index) = state.down_for.take() {
            self.end_fault(index);
        }
        self.disks[node.index()].start_life();
        self.record(&Event::Booted { node, life, wall });
        self.clock_changed(node, change);
        let host = Host::new(Arc::new(machine.clone()));
        machine.start(Task::Open, Box::pin(node::live(shared, host, machine.clone(), node, life)));
    }

    /// The node's engines are open.
    pub(super) fn ready(&mut self, node: NodeId, life: Life, counters: Option<CountersWatch>) {
        if !self.is_alive(node, life) {
            return;
        }
        self.node(node).status = Status::Ready;
        self.node(node).during = None;
        self.node(node).counters = counters;
        self.record(&Event::Ready { node, life });
        self.connect_node(node);
        self.enter_ring(node, life);
    }

    /// The node's engines did not open: the process ends and is started again a little later.
    pub(super) fn open_failed(&mut self, node: NodeId, life: Life, reason: &'static str) {
        if !self.is_alive(node, life) {
            return;
        }
        self.record(&Event::OpenFailed { node, life, reason });
        self.die(node, Death::Process, REOPEN_AFTER_US);
    }

    /// A death of the plan strikes at a disk operation of this life.
    pub(super) fn strike(&mut self, index: usize, survival: Survival) {
        if self.is_alive(survival.node, survival.life) && !self.quiesced && !self.faults.is_on(index) {
            self.crash(index, survival);
        }
    }

    /// A crash of the plan takes effect.
    pub(super) fn crash(&mut self, index: usize, survival: Survival) {
        let fault = &self.plan.faults[index];
        let (id, FaultKind::Crash { node, death, down_us, .. }) = (fault.id, &fault.kind) else {
            unreachable!("only a crash ends a life");
        };
        let (node, death, down_us) = (*node, *death, *down_us);
        if self.nodes[node.index()].status == Status::Down {
            return;
        }
        self.faults.turn_on(index);
        self.record(&Event::FaultBegan { fault: id });
        self.node(node).down_for = Some(index);
        self.end_life(death, Some(id), down_us, survival);
    }

    /// The life ends, by nothing that the plan names.
    pub(super) fn die(&mut self, node: NodeId, death: Death, down_us: u64) {
        let survival = Survival::drawn(self.plan.seed, node, self.nodes[node.index()].life);
        self.end_life(death, None, down_us, survival);
    }

    /// The life ends; `survival` says what is left of it.
    pub(super) fn end_life(
        &mut self,
        death: Death,
        fault: Option<FaultId>,
        down_us: u64,
        mut survival: Survival,
    ) {
        let (node, life) = (survival.node, survival.life);
        let state = self.node(node);
        assert!(state.status != Status::Down && state.life == life, "only a life can end");
        let (during, gathering) = (state.during.take(), state.gathering);
        state.status = Status::Down;
        state.state.end();
        let executor = state.executor;
        self.record(&Event::Died { node, life, death, during, gathering, fault });
        self.node(node).counters = None;
        self.end_traffic(node);
        self.fall_off_ring(node);
        self.end_work(node);
        self.mail.end_life(node);
        self.end_timers(node, life);
        self.end_disk_calls(node, life, &mut survival);
        let disk = &mut self.disks[node.index()];
        match death {
            Death::Process => disk.process_crash(),
            Death::Power => {
                let report = survival.power_failure(disk);
                self.record(&Event::PowerLost { node, kept: report.kept(), lost: report.lost() });
            }
        }
        self.look_at_death(node, fault, survival.asked());
        let now = self.now();
        let state = self.node(node);
        state.processor.restart();
        state.last_death = Some(death);
        state.life = Life(life.0 + 1);
        self.executor.kill(executor);
        self.timeline.at(now.plus_ns(down_us.saturating_mul(1_000)), Due::Boot { node });
    }

    /// A task of the node panicked: the law says it must not, and the life is over.
    pub(super) fn panicked(&mut self, node: NodeId, life: Life, task: Task, panic: &Panic) {
        if !self.is_alive(node, life) {
            return;
        }
        match panic {
            Panic::Thread => self.record(&Event::ThreadStarted { node, life, task }),
            Panic::Other(message) => self.record(&Event::Panicked { node, life, message }),
        }
        self.die(node, Death::Process, REOPEN_AFTER_US);
    }

    /// The simulator itself panicked while a task ran: the run ends, and says so.
    pub(super) fn fail(&mut self, message: String) {
        self.failure.get_or_insert(message);
        self.ended = true;
    }

    /// A clock that was wrong at boot is corrected, if that is still due.
    pub(super) fn correct_clock(&mut self, node: NodeId) {
        let now = self.now();
        let change = self.node(node).clock.correct(now);
        self.clock_changed(node, change);
    }
}
