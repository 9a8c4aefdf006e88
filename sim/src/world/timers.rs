//! Waits for time: sleeps by a node's own clock, charges of its processors, stalls of its handlers.
//!
//! Promise: a sleep ends when the node's monotonic clock says so, whatever happens to that clock meanwhile; a wait of a
//! dead life never ends.

use super::World;
use super::machine::Begun;
use super::processor::{Charged, cost_ns};
use super::slots::SlotKey;
use super::timeline::Due;
use crate::units::{Life, NodeId, SimTime};
use groundhog_engine::host::Work;
use groundhog_engine::streams::key::Class;
use groundhog_engine::units::{MonotonicNs, WallMs};
use std::time::Duration;

/// The longest sleep: 100 years, beyond any run.
const LONGEST_SLEEP_NS: u64 = 100 * 366 * 86_400 * 1_000_000_000;

/// One wait.
#[derive(Debug)]
pub struct Timer {
    node: NodeId,
    life: Life,
    kind: TimerKind,
}

#[derive(Debug)]
enum TimerKind {
    /// Ends when the node's monotonic clock reaches this.
    Sleep(MonotonicNs),
    /// Ends when the processors have done what they were charged with under this number.
    Charge(u64),
    /// Ends when no stall of the class is on.
    Stall(Class),
}

impl World {
    /// What the node's wall clock says.
    pub(super) fn wall_now(&mut self, node: NodeId) -> WallMs {
        let now = self.now();
        self.node(node).clock.wall_now(now)
    }

    /// What the node's monotonic clock says.
    pub(super) fn monotonic_now(&mut self, node: NodeId) -> MonotonicNs {
        let now = self.now();
        self.node(node).clock.monotonic_now(now)
    }

    /// Begins a sleep in node-monotonic time.
    pub(super) fn start_sleep(&mut self, node: NodeId, life: Life, duration: Duration) -> Begun {
        if !self.is_alive(node, life) {
            return Begun::Never;
        }
        let ns = u64::try_from(duration.as_nanos()).unwrap_or(u64::MAX).min(LONGEST_SLEEP_NS);
        let deadline = MonotonicNs(self.monotonic_now(node).0.saturating_add(ns));
        let key = self.timers.open(Timer { node, life, kind: TimerKind::Sleep(deadline) });
        self.schedule_sleep(key, node, deadline);
        Begun::At(key)
    }

    /// A paused machine's sleeps are scheduled when it goes on.
    fn schedule_sleep(&mut self, key: SlotKey, node: NodeId, deadline: MonotonicNs) {
        let now = self.now();
        if let Some(at) = self.node(node).clock.monotonic_reaches(now, deadline) {
            self.timeline.at(at, Due::Timer(key));
        }
    }

    /// Begins a charge of processor time.
    pub(super) fn start_charge(&mut self, node: NodeId, life: Life, work: &Work) -> Begun {
        let ns = cost_ns(work, &self.plan.profile.costs);
        self.start_busy(node, life, ns)
    }

    /// Occupies one core for a time.
    pub(super) fn start_busy(&mut self, node: NodeId, life: Life, ns: u64) -> Begun {
        if !self.is_alive(node, life) {
            return Begun::Never;
        }
        if ns == 0 {
            return Begun::Over;
        }
        let now = self.now();
        let Charged { number, until } = self.node(node).processor.occupy(now, ns);
        let key = self.timers.open(Timer { node, life, kind: TimerKind::Charge(number) });
        self.timeline.at(until, Due::Timer(key));
        Begun::At(key)
    }

    /// Work is done sooner than it was to be: who waits for it is told then.
    pub(super) fn hasten_charges(&mut self, node: NodeId, sooner: &[Charged]) {
        let mut due: Vec<(SimTime, SlotKey)> = Vec::new();
        for (key, timer) in self.timers.open_slots() {
            if let (true, TimerKind::Charge(number)) = (timer.node == node, &timer.kind) {
                let place = sooner.binary_search_by_key(number, |work| work.number);
                due.extend(place.map(|place| (sooner[place].until, key)).ok());
            }
        }
        due.sort_unstable();
        for (at, key) in due {
            self.timeline.at(at, Due::Timer(key));
        }
    }

    /// Waits until no handler stall of the class is on.
    pub(super) fn start_stall(&mut self, node: NodeId, life: Life, class: Class) -> Begun {
        if !self.is_alive(node, life) {
            return Begun::Never;
        }
        if !self.faults.handler_stalled(node, class) {
            return Begun::Over;
        }
        Begun::At(self.timers.open(Timer { node, life, kind: TimerKind::Stall(class) }))
    }

    /// A timer's time has come.
    pub(super) fn complete_timer(&mut self, key: SlotKey) {
        if !self.timers.waits(key) {
            return;
        }
        let now = self.now();
        let Some(timer) = self.timers.meta(key) else { return };
        let node = timer.node;
        if let TimerKind::Sleep(deadline) = timer.kind {
            // The clock may have changed since this was scheduled.
            if self.node(node).clock.monotonic_now(now) < deadline {
                self.schedule_sleep(key, node, deadline);
                return;
            }
        }
        self.timers.fill(key, ());
    }

    /// The node's clock runs otherwise from now on: its sleeps are scheduled anew.
    pub(super) fn reschedule_sleeps(&mut self, node: NodeId) {
        let mut sleeping: Vec<(SlotKey, MonotonicNs)> = Vec::new();
        for (key, timer) in self.timers.open_slots() {
            if let (true, TimerKind::Sleep(deadline)) = (timer.node == node, &timer.kind) {
                sleeping.push((key, *deadline));
            }
        }
        for (key, deadline) in sleeping {
            self.schedule_sleep(key, node, deadline);
        }
    }

    /// Handlers of a class move again.
    pub(super) fn release_stalled(&mut self, node: NodeId, class: Class) {
        let mut stalled: Vec<SlotKey> = Vec::new();
        for (key, timer) in self.timers.open_slots() {
            if timer.node == node && matches!(timer.kind, TimerKind::Stall(of) if of == class) {
                stalled.push(key);
            }
        }
        for key in stalled {
            if self.timers.waits(key) {
                self.timers.fill(key, ());
            }
        }
    }

    /// Whose machine a timer or a disk call belongs to, for a machine that is paused.
    pub(super) fn node_of(&mut self, due: Due) -> Option<NodeId> {
        match due {
            Due::Timer(key) => self.timers.meta(key).map(|timer| timer.node),
            Due::Disk(key) => self.disk_answers.meta(key).map(|meta| meta.node()),
            Due::Deliver { to, .. } => Some(to),
            Due::FrameGivenUp { direction, .. } => Some(direction.from),
            Due::Signal(key) => self.signal_target(key),
            Due::Copy { message, .. } => self.workload.signed(message).map(|signed| signed.from),
            Due::GiveUp { node, .. } | Due::Boot { node } => Some(node),
            Due::Maintain { node, .. } | Due::Gone { node, .. } => Some(node),
            Due::Act { index, .. } => Some(self.plan.actions[index as usize].node),
            _ => None,
        }
    }

    /// Frees the waits of a life that is over.
    pub(super) fn end_timers(&mut self, node: NodeId, life: Life) {
        let mut over: Vec<SlotKey> = Vec::new();
        for (key, timer) in self.timers.open_slots() {
            if timer.node == node && timer.life == life {
                over.push(key);
            }
        }
        for key in over {
            self.timers.free(key);
        }
    }
}
