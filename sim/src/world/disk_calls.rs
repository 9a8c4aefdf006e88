//! Disk operations between an engine and its node's disk: numbered, timed, faulted, and struck by death.
//!
//! Promise: an operation takes effect when it is answered, once; those under way when a life ends each happen before,
//! partly or whole, drawn by their own identity.

use super::World;
use super::disk::OpFault;
use super::slots::SlotKey;
use super::survival::Survival;
use super::timeline::Due;
use crate::draw::{Draws, Purpose};
use crate::ledger::event::Event;
use crate::plan::{DiskLatency, DiskOperation, Phase};
use crate::units::{FaultId, Life, NodeId};
use groundhog_engine::host::disk::{DiskRequest, FileHandle};

/// One operation under way.
#[derive(Debug)]
pub struct DiskCallMeta {
    node: NodeId,
    life: Life,
    number: u64,
    operation: DiskOperation,
    request: DiskRequest,
    /// The engine no longer waits; the operation happens all the same.
    abandoned: bool,
    fault: Option<OpFault>,
    /// A death of the plan that strikes at this operation.
    strike: Option<(usize, Phase)>,
    /// Stuck: not answered before this fault ends.
    stuck: Option<FaultId>,
    /// It takes longer than it would without faults.
    slow: bool,
}

impl DiskCallMeta {
    /// Whose disk.
    pub(super) const fn node(&self) -> NodeId {
        self.node
    }

    /// The fault that holds its answer.
    pub(super) const fn stuck(&self) -> Option<FaultId> {
        self.stuck
    }
}

impl World {
    /// Begins an operation; `None` when the life is over.
    pub(super) fn submit_disk(&mut self, node: NodeId, life: Life, request: DiskRequest) -> Option<SlotKey> {
        if !self.is_alive(node, life) {
            return None;
        }
        let number = self.node(node).take_operation_number();
        let operation = operation_of(&request);
        let strike = self.strike_at_operation(node, life, number);
        let effect = self.disk_effect(node, life, number, operation);
        let base_ns = base_latency_ns(&self.plan.profile.disk_latency, &request);
        let latency_ns = self.disk_latency_ns(node, life, number, base_ns).saturating_mul(effect.slow_factor);
        let own = strike.map(|(index, _)| index);
        self.look_at_operation((node, life), number, Phase::Before, &request, own);
        let key = self.disk_answers.open(DiskCallMeta {
            node,
            life,
            number,
            operation,
            request,
            abandoned: false,
            fault: effect.fault,
            strike,
            stuck: effect.stuck,
            slow: effect.slow_factor > 1,
        });
        if let Some((index, Phase::Before)) = strike {
            self.disk_answers.free(key);
            self.strike(index, self.survival(index, node));
            return None;
        }
        if effect.stuck.is_none() {
            let at = self.now().plus_ns(latency_ns);
            self.timeline.at(at, Due::Disk(key));
        }
        Some(key)
    }

    /// The engine dropped its wait.
    pub(super) fn abandon_disk(&mut self, key: SlotKey) {
        if self.disk_answers.waits(key) {
            if let Some(meta) = self.disk_answers.meta(key) {
                meta.abandoned = true;
            }
        } else {
            self.disk_answers.free(key);
        }
    }

    /// Lets go of a handle.
    pub(super) fn close_file(&mut self, node: NodeId, life: Life, file: FileHandle) {
        if self.is_alive(node, life) {
            self.disks[node.index()].close(file);
        }
    }

    /// An operation's time has come.
    pub(super) fn complete_disk(&mut self, key: SlotKey) {
        if !self.disk_answers.waits(key) {
            return;
        }
        let Some(meta) = self.disk_answers.meta(key) else { return };
        let (node, life, number, strike) = (meta.node, meta.life, meta.number, meta.strike);
        self.look_at_call(key, Phase::Partly);
        if let Some((index, Phase::Partly)) = strike {
            let meta = self.disk_answers.free(key).expect("the slot is open");
            let mut survival = self.survival(index, node);
            survival.cut_short(&mut self.disks[node.index()], &meta.request);
            self.strike(index, survival);
            return;
        }
        let meta = self.disk_answers.meta(key).expect("the slot is open");
        let answer = self.disks[node.index()].apply(&meta.request, meta.fault.as_ref());
        let (operation, abandoned, injected) = (meta.operation, meta.abandoned, meta.fault.is_some());
        let bytes = match &meta.request {
            DiskRequest::Write { bytes, .. } => u32::try_from(bytes.len()).expect("a write is below 4 GiB"),
            _ => 0,
        };
        let error = answer.as_ref().err().map(|error| error.kind);
        self.look_at_call(key, Phase::After);
        if let Some((index, Phase::After)) = strike {
            self.disk_answers.free(key);
            self.strike(index, self.survival(index, node));
            return;
        }
        self.record(&Event::DiskAnswered { node, life, number, operation, bytes, error, injected });
        if abandoned {
            self.disk_answers.free(key);
        } else {
            self.disk_answers.fill(key, answer);
        }
    }

    /// What was under way when a life ended happens before, partly or whole, in the order of its numbers.
    pub(super) fn end_disk_calls(&mut self, node: NodeId, life: Life, survival: &mut Survival) {
        for (number, key) in self.disk_calls_under_way(node, life) {
            let waiting = self.disk_answers.waits(key);
            let meta = self.disk_answers.free(key).expect("the slot is open");
            if waiting {
                let disk = &mut self.disks[node.index()];
                survival.under_way(disk, number, &meta.request, meta.fault.as_ref());
            }
        }
    }

    /// An operation that was begun is at one of its phases.
    fn look_at_call(&mut self, key: SlotKey, phase: Phase) {
        if self.prober.is_none() {
            return;
        }
        let meta = self.disk_answers.meta(key).expect("the slot is open");
        let (node, life, number, own) = (meta.node, meta.life, meta.number, meta.strike);
        let request = meta.request.clone();
        self.look_at_operation((node, life), number, phase, &request, own.map(|(index, _)| index));
    }

    /// What is under way in one life, but for one operation, by number.
    pub(super) fn requests_under_way(
        &mut self,
        node: NodeId,
        life: Life,
        except: Option<u64>,
    ) -> Vec<(u64, DiskRequest)> {
        let mut requests = Vec::new();
        for (number, key) in self.disk_calls_under_way(node, life) {
            if self.disk_answers.waits(key) && Some(number) != except {
                let meta = self.disk_answers.meta(key).expect("the slot is open");
                requests.push((number, meta.request.clone()));
            }
        }
        requests
    }

    /// The operations of one life that are not done with, by their numbers.
    fn disk_calls_under_way(&self, node: NodeId, life: Life) -> Vec<(u64, SlotKey)> {
        let mut under_way: Vec<(u64, SlotKey)> = Vec::new();
        for (key, meta) in self.disk_answers.open_slots() {
            if meta.node == node && meta.life == life {
                under_way.push((meta.number, key));
            }
        }
        under_way.sort_unstable();
        under_way
    }

    /// Operations that `fault` held are answered now, with success or an error.
    pub(super) fn release_stuck(&mut self, fault: FaultId, fails: bool) {
        let mut held: Vec<(NodeId, u64, SlotKey)> = Vec::new();
        for (key, meta) in self.disk_answers.open_slots() {
            if meta.stuck == Some(fault) {
                held.push((meta.node, meta.number, key));
            }
        }
        held.sort_unstable();
        for (node, _, key) in held {
            // Whoever dies of one answer lets go of the others.
            let Some(meta) = self.disk_answers.meta(key) else { continue };
            meta.stuck = None;
            if fails && OpFault::Error.strikes(&meta.request) {
                meta.fault = Some(OpFault::Error);
            } else if fails {
                meta.fault = Some(match meta.operation {
                    DiskOperation::Flush => OpFault::FailedFlush,
                    _ => OpFault::FailedDirectoryFlush { read_only: false },
                });
            }
            if self.node(node).clock.is_paused() {
                let at = self.now();
                self.timeline.at(at, Due::Disk(key));
            } else {
                // Not at the next turn: at quiescence this failure is the last thing that the fault does.
                self.complete_disk(key);
            }
        }
    }

    /// No fault strikes what is still under way: it succeeds, and nobody dies of it; what was slowed takes no longer than
    /// if it began now.
    pub(super) fn spare_disk_calls(&mut self) {
        for meta in self.disk_answers.every_meta() {
            meta.fault = None;
            meta.strike = None;
        }
        let slowed = self.disk_answers.open_slots().filter(|(_, meta)| meta.slow && meta.stuck.is_none());
        let slowed: Vec<SlotKey> = slowed.map(|(key, _)| key).collect();
        for key in slowed {
            let Some(meta) = self.disk_answers.meta(key) else { continue };
            let (node, life, number) = (meta.node, meta.life, meta.number);
            let base_ns = base_latency_ns(&self.plan.profile.disk_latency, &meta.request);
            // Whichever of the two times is earlier counts.
            let at = self.now().plus_ns(self.disk_latency_ns(node, life, number, base_ns));
            self.timeline.at(at, Due::Disk(key));
        }
    }

    fn disk_latency_ns(&self, node: NodeId, life: Life, number: u64, base_ns: u64) -> u64 {
        let jitter_per_mille = self.plan.profile.disk_latency.jitter_per_mille;
        let span = u128::from(base_ns) * u128::from(jitter_per_mille) / 1_000;
        let span = u64::try_from(span).expect("a latency in nanoseconds is below 2^64");
        let words = [node.0.into(), life.0.into(), number];
        base_ns + Draws::new(self.plan.seed).draw(Purpose::DiskLatency, words).below(span + 1)
    }
}

fn base_latency_ns(latency: &DiskLatency, request: &DiskRequest) -> u64 {
    match request {
        DiskRequest::Write { bytes, .. } => {
            latency.transfer_ns * u64::try_from(bytes.len().div_ceil(4096).max(1)).expect("a length fits")
        }
        DiskRequest::Read { .. } => latency.transfer_ns,
        DiskRequest::Flush { .. } => latency.flush_ns,
        DiskRequest::FlushDirectory { .. } => latency.flush_directory_ns,
        _ => latency.metadata_ns,
    }
}

/// The kind of a request.
pub(super) const fn operation_of(request: &DiskRequest) -> DiskOperation {
    match request {
        DiskRequest::Create { .. } => DiskOperation::Create,
        DiskRequest::Open { .. } => DiskOperation::Open,
        DiskRequest::Write { .. } => DiskOperation::Write,
        DiskRequest::Flush { .. } => DiskOperation::Flush,
        DiskRequest::Read { .. } => DiskOperation::Read,
        DiskRequest::Length { .. } => DiskOperation::Length,
        DiskRequest::Rename { .. } => DiskOperation::Rename,
        DiskRequest::Remove { .. } => DiskOperation::Remove,
        DiskRequest::CreateDirectory { .. } => DiskOperation::CreateDirectory,
        DiskRequest::List { .. } => DiskOperation::List,
        DiskRequest::FlushDirectory { .. } => DiskOperation::FlushDirectory,
        DiskRequest::LockDirectory { .. } => DiskOperation::LockDirectory,
        DiskRequest::RemoveDirectory { .. } => DiskOperation::RemoveDirectory,
    }
}
