//! Which faults are on, which wait for their moment, and how each begins and ends.
//!
//! Promise: a fault does something while it is on and nothing before or after; at quiescence every one ends, and those
//! that have not begun never will.

use super::World;
use super::clock::ClockChange;
use super::disk::OpFault;
use super::survival::survives;
use super::timeline::Due;
use crate::draw::{Draws, Purpose};
use crate::ledger::event::Event;
use crate::plan::{DiskFault, DiskOperation, Fault, FaultKind, Phase, Plan, StoreAct, When};
use crate::units::{FaultId, Life, NodeId, SimTime};
use groundhog_engine::host::observe::{Roles, Step};
use groundhog_engine::streams::key::{Class, Table};
use std::collections::BTreeMap;

/// A disk fault that is on.
#[derive(Debug)]
struct DiskFaultOn {
    index: usize,
    id: FaultId,
    fault: DiskFault,
    operations: Vec<DiskOperation>,
    skip: u32,
    /// `None` for all until it ends.
    left: Option<u32>,
}

/// A fault that waits for a step of one life.
#[derive(Debug)]
struct StepTrigger {
    step: Step,
    table: Option<Table>,
    left: u32,
    index: usize,
}

impl StepTrigger {
    fn touches(&self, roles: Roles) -> bool {
        match self.table {
            None => true,
            Some(Table::Sender) => roles.leases > 0,
            Some(Table::Receiver) => roles.windows > 0,
        }
    }
}

/// What the faults of a disk do to one operation.
#[derive(Debug)]
pub struct DiskEffect {
    /// What happens to it.
    pub fault: Option<OpFault>,
    /// How many times longer it takes.
    pub slow_factor: u64,
    /// It is not answered before this fault ends.
    pub stuck: Option<FaultId>,
    /// The kernel writes back now.
    pub write_back: bool,
    /// Faults that have struck for the last time.
    pub spent: Vec<usize>,
}

/// Where damage strikes an operation, drawn by its identity.
struct DamageDraws {
    sector: u32,
    bit: u64,
}

/// The faults of a run.
#[derive(Debug, Default)]
pub struct ActiveFaults {
    operations: BTreeMap<(NodeId, Life, u64), Vec<usize>>,
    steps: BTreeMap<(NodeId, Life), Vec<StepTrigger>>,
    polls: BTreeMap<(NodeId, Life), Vec<(u64, usize)>>,
    disks: Vec<Vec<DiskFaultOn>>,
    on: Vec<bool>,
    stalls: BTreeMap<(NodeId, Class), u32>,
}

impl ActiveFaults {
    /// None is on; those with a place instead of a time wait for it.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let mut faults = Self {
            disks: plan.nodes.iter().map(|_| Vec::new()).collect(),
            on: vec![false; plan.faults.len()],
            ..Self::default()
        };
        for (index, fault) in plan.faults.iter().enumerate() {
            match fault.at {
                When::Time { .. } => {}
                When::Operation { node, life, operation, .. } => {
                    faults.operations.entry((node, life, operation)).or_default().push(index);
                }
                When::Step { node, life, step, table, count } => {
                    let trigger = StepTrigger { step: step.0, table, left: count, index };
                    faults.steps.entry((node, life)).or_default().push(trigger);
                }
                When::Poll { node, life, poll } => {
                    faults.polls.entry((node, life)).or_default().push((poll, index));
                }
            }
        }
        for polls in faults.polls.values_mut() {
            polls.sort_unstable();
        }
        faults
    }

    /// Those that wait for a place wait no more.
    pub(super) fn forget_waiting(&mut self) {
        self.operations.clear();
        self.steps.clear();
        self.polls.clear();
    }

    /// The next poll of this life that a fault names, from `poll` on.
    #[must_use]
    pub fn next_poll(&self, node: NodeId, life: Life, poll: u64) -> u64 {
        let polls = self.polls.get(&(node, life));
        polls.and_then(|polls| polls.iter().find(|(at, _)| *at >= poll)).map_or(u64::MAX, |(at, _)| *at)
    }

    fn at_poll(&self, node: NodeId, life: Life, poll: u64) -> Vec<usize> {
        let polls = self.polls.get(&(node, life)).map_or(&[][..], Vec::as_slice);
        polls.iter().filter(|(at, _)| *at == poll).map(|(_, index)| *index).collect()
    }

    /// Every fault that this step would set off, were it alone.
    fn due_at_step(&self, node: NodeId, life: Life, step: Step, roles: Roles) -> Vec<usize> {
        let triggers = self.steps.get(&(node, life)).map_or(&[][..], Vec::as_slice);
        let due =
            |trigger: &&StepTrigger| trigger.step == step && trigger.left == 1 && trigger.touches(roles);
        triggers.iter().filter(due).map(|trigger| trigger.index).collect()
    }

    /// The faults that this step sets off.
    fn at_step(&mut self, node: NodeId, life: Life, step: Step, roles: Roles) -> Option<usize> {
        let triggers = self.steps.get_mut(&(node, life))?;
        let mut struck = None;
        for trigger in triggers.iter_mut().filter(|trigger| trigger.step == step && trigger.left > 0) {
            if trigger.touches(roles) {
                trigger.left -= 1;
                if trigger.left == 0 && struck.is_none() {
                    struck = Some(trigger.index);
                }
            }
        }
        struck
    }

    /// A fault is on from now until it ends.
    pub(super) fn turn_on(&mut self, index: usize) {
        self.on[index] = true;
    }

    /// Whether a fault is on.
    pub(super) fn is_on(&self, index: usize) -> bool {
        self.on[index]
    }

    /// Whether a stall of this handler is on.
    #[must_use]
    pub fn handler_stalled(&self, node: NodeId, class: Class) -> bool {
        self.stalls.get(&(node, class)).is_some_and(|count| *count > 0)
    }

    /// What the disk's faults do to one operation; `word` draws which sector or bit is hit.
    fn disk_effect(&mut self, node: NodeId, operation: DiskOperation, draws: &DamageDraws) -> DiskEffect {
        let mut effect = DiskEffect::default();
        for on in &mut self.disks[node.index()] {
            if !strikes(on, operation) || on.left == Some(0) {
                continue;
            }
            if on.skip > 0 {
                on.skip -= 1;
                continue;
            }
            if !effect.add(on, draws) {
                continue;
            }
            if let Some(left) = &mut on.left {
                *left -= 1;
                // A stuck disk answers what it holds when its time is over, and never before.
                if *left == 0 && !matches!(on.fault, DiskFault::Stuck { .. }) {
                    effect.spent.push(on.index);
                }
            }
        }
        effect
    }
}

impl Default for DiskEffect {
    fn default() -> Self {
        Self { fault: None, slow_factor: 1, stuck: None, write_back: false, spent: Vec::new() }
    }
}

impl DiskEffect {
    /// Whether the fault strikes: two different errors do not strike one operation.
    fn add(&mut self, on: &DiskFaultOn, draws: &DamageDraws) -> bool {
        let fault = match on.fault {
            DiskFault::Slow { factor } => {
                self.slow_factor = self.slow_factor.saturating_mul(factor.into());
                return true;
            }
            DiskFault::Stuck { .. } => {
                self.stuck.get_or_insert(on.id);
                return true;
            }
            DiskFault::WriteBack => {
                self.write_back = true;
                return true;
            }
            DiskFault::Error => OpFault::Error,
            DiskFault::NoSpace => OpFault::NoSpace,
            DiskFault::FailedFlush => OpFault::FailedFlush,
            DiskFault::FailedDirectoryFlush { read_only } => OpFault::FailedDirectoryFlush { read_only },
            DiskFault::LyingFlush => OpFault::LyingFlush,
            DiskFault::BadSector => OpFault::BadSector { sector: draws.sector },
            DiskFault::FlippedBit => OpFault::FlippedBit { bit: draws.bit },
        };
        if self.fault.is_some() {
            return false;
        }
        self.fault = Some(fault);
        true
    }
}

fn strikes(on: &DiskFaultOn, operation: DiskOperation) -> bool {
    use DiskOperation as Op;
    let can = match on.fault {
        DiskFault::Error => matches!(
            operation,
            Op::Create | Op::Open | Op::Read | Op::Write | Op::Rename | Op::Remove | Op::List
        ),
        DiskFault::NoSpace => matches!(operation, Op::Create | Op::Write | Op::Flush | Op::Rename),
        DiskFault::FailedFlush => operation == Op::Flush,
        DiskFault::FailedDirectoryFlush { .. } => operation == Op::FlushDirectory,
        DiskFault::LyingFlush => matches!(operation, Op::Flush | Op::FlushDirectory),
        DiskFault::BadSector | DiskFault::FlippedBit => operation == Op::Write,
        DiskFault::WriteBack | DiskFault::Slow { .. } | DiskFault::Stuck { .. } => true,
    };
    can && (on.operations.is_empty() || on.operations.contains(&operation))
}

impl World {
    /// Schedules every fault that has a time.
    pub(super) fn schedule_faults(&mut self) {
        let plan = std::sync::Arc::clone(&self.plan);
        for (index, fault) in plan.faults.iter().enumerate() {
            if let When::Time { us } = fault.at {
                let index = u32::try_from(index).expect("a plan holds fewer than 2^32 faults");
                self.timeline.at(SimTime::from_us(us), Due::FaultBegin { index });
            }
        }
    }

    /// A death, or another fault, that strikes at this operation: deaths are returned, others begin now.
    pub(super) fn strike_at_operation(
        &mut self,
        node: NodeId,
        life: Life,
        number: u64,
    ) -> Option<(usize, Phase)> {
        let struck = self.faults.operations.remove(&(node, life, number))?;
        let mut death = None;
        for index in struck {
            let Fault { at, kind, .. } = &self.plan.faults[index];
            match (at, kind) {
                (When::Operation { phase, .. }, FaultKind::Crash { .. }) => {
                    death.get_or_insert((index, *phase));
                }
                _ => self.begin_fault(index),
            }
        }
        death
    }

    /// What the disk's faults do to one operation, with the faults that it uses up ended.
    pub(super) fn disk_effect(
        &mut self,
        node: NodeId,
        life: Life,
        number: u64,
        operation: DiskOperation,
    ) -> DiskEffect {
        if self.faults.disks[node.index()].is_empty() {
            return DiskEffect::default();
        }
        let identity = Draws::new(self.plan.seed).identity([node.0.into(), life.0.into(), number]);
        let sector = identity.draw(Purpose::DiskSector).below(1 << 16);
        let draws = DamageDraws {
            sector: u32::try_from(sector).expect("below 2^16"),
            bit: identity.draw(Purpose::DiskBit).below(1 << 32),
        };
        let mut effect = self.faults.disk_effect(node, operation, &draws);
        if effect.write_back {
            let seed = self.plan.seed;
            self.disks[node.index()]
                .write_back(&mut |choice| survives(seed, Purpose::DiskWriteBack, node, life, choice));
            self.disk_changed_unasked();
        }
        for index in std::mem::take(&mut effect.spent) {
            self.end_fault(index);
        }
        effect
    }

    /// An engine reported a step.
    pub(super) fn strike_at_step(&mut self, node: NodeId, life: Life, step: Step, roles: Roles) {
        if self.prober.is_some() {
            let own = self.faults.due_at_step(node, life, step, roles);
            self.look_at_step(node, life, step, own);
        }
        if let Some(index) = self.faults.at_step(node, life, step, roles) {
            self.begin_fault(index);
        }
    }

    /// A life reached the poll that a fault names.
    pub(super) fn struck_at_poll(&mut self, node: NodeId, life: Life, poll: u64) {
        for index in self.faults.at_poll(node, life, poll) {
            self.begin_fault(index);
        }
        let next = self.faults.next_poll(node, life, poll + 1);
        self.node(node).state.strike_at(next);
    }

    /// A fault takes effect.
    pub(super) fn begin_fault(&mut self, index: usize) {
        if self.quiesced || self.faults.on[index] {
            return;
        }
        let plan = std::sync::Arc::clone(&self.plan);
        let fault = &plan.faults[index];
        if let FaultKind::Crash { node, .. } = fault.kind {
            let survival = self.survival(index, node);
            self.crash(index, survival);
            return;
        }
        self.faults.turn_on(index);
        if let FaultKind::Store { act, .. } = &fault.kind {
            self.act_on_store(index);
            if !matches!(act, StoreAct::LowerBudget { .. }) {
                return;
            }
        } else {
            self.record(&Event::FaultBegan { fault: fault.id });
        }
        let until = SimTime::from_us(fault.until_us.unwrap_or(plan.quiesce_us).min(plan.quiesce_us));
        let due = Due::FaultEnd { index: u32::try_from(index).expect("a plan holds fewer than 2^32 faults") };
        match &fault.kind {
            FaultKind::Crash { .. } => unreachable!("handled above"),
            FaultKind::Store { .. } => {}
            FaultKind::Disk { node, fault: disk, operations, skip, count } => {
                self.faults.disks[node.index()].push(DiskFaultOn {
                    index,
                    id: fault.id,
                    fault: *disk,
                    operations: operations.clone(),
                    skip: *skip,
                    left: (*count > 0).then_some(*count),
                });
            }
            FaultKind::Link { from, to, one_way, fault: link } => {
                self.begin_link_fault(fault.id, (*from, *to), *one_way, *link);
            }
            FaultKind::Clock { node, fault: clock } => {
                let now = self.now();
                let change = self.node(*node).clock.begin_fault(now, fault.id, *clock);
                self.clock_changed(*node, change);
            }
            FaultKind::StallHandler { node, class } => {
                *self.faults.stalls.entry((*node, *class)).or_default() += 1;
            }
            FaultKind::SlowProcessor { node, factor } => {
                self.node(*node).processor.begin_slow(fault.id, *factor)
            }
        }
        self.timeline.at(until, due);
    }

    /// A fault's time is over.
    pub(super) fn end_fault(&mut self, index: usize) {
        if !std::mem::replace(&mut self.faults.on[index], false) {
            return;
        }
        let plan = std::sync::Arc::clone(&self.plan);
        let fault = &plan.faults[index];
        match &fault.kind {
            FaultKind::Crash { node, .. } => self.node(*node).down_for = None,
            FaultKind::Disk { node, fault: disk, .. } => {
                self.faults.disks[node.index()].retain(|on| on.index != index);
                if let DiskFault::Stuck { fails } = disk {
                    self.release_stuck(fault.id, *fails);
                }
            }
            FaultKind::Link { .. } => self.end_link_fault(fault.id),
            FaultKind::Clock { node, .. } => {
                let now = self.now();
                let change = self.node(*node).clock.end_fault(now, fault.id);
                self.clock_changed(*node, change);
            }
            FaultKind::StallHandler { node, class } => {
                let count = self.faults.stalls.get_mut(&(*node, *class)).expect("the stall is on");
                *count -= 1;
                if *count == 0 {
                    self.release_stalled(*node, *class);
                }
            }
            FaultKind::SlowProcessor { node, .. } => self.node(*node).processor.end_slow(fault.id),
            FaultKind::Store { node, act, .. } => self.end_store_act(*node, act),
        }
        self.record(&Event::FaultEnded { fault: fault.id });
    }

    /// A node's clocks were changed: the wall clock may have stepped, sleeps may end at another time, a paused machine
    /// may go on.
    pub(super) fn clock_changed(&mut self, node: NodeId, change: ClockChange) {
        let now = self.now();
        if let Some((from, to)) = change.set {
            self.record(&Event::ClockSet { node, from, to });
        }
        if let Some(at) = change.correct_at {
            self.timeline.at(at, Due::CorrectClock { node });
        }
        if change.monotonic_changed {
            self.reschedule_sleeps(node);
        }
        if !self.node(node).clock.is_paused() {
            for due in std::mem::take(&mut self.node(node).held) {
                self.timeline.at(now, due);
            }
        }
    }
}
