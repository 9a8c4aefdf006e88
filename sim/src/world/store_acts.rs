//! Acts on a node's store: between two of its lives, or while it runs.
//!
//! Promise: what is done is durable at once, as by somebody who flushes what he did; the engine is told nothing.

use super::World;
use super::disk::Disk;
use crate::ledger::event::Event;
use crate::plan::{Death, FaultKind, RecordOf, StoreAct};
use crate::units::NodeId;
use bytes::Bytes;
use groundhog_engine::host::disk::{DiskAnswer, DiskPath, DiskRequest};
use groundhog_engine::host::observe::{BatchNumber, RecordName};
use groundhog_engine::store::name::{marker_path, record_name, record_path};
use groundhog_engine::store::{Record, frame};
use groundhog_engine::streams::key::{NetworkId, StreamKey};
use groundhog_engine::streams::record::{RecordError, SHARED_SNAPSHOT_KEY, decode, storage_key};

impl World {
    /// Stops the node where it is to be stopped, and does the act.
    pub(super) fn act_on_store(&mut self, index: usize) {
        let plan = std::sync::Arc::clone(&self.plan);
        let fault = &plan.faults[index];
        let FaultKind::Store { node, act, stopped_us } = &fault.kind else {
            unreachable!("only an act on a store is one");
        };
        let (node, lasts) = (*node, matches!(act, StoreAct::LowerBudget { .. }));
        self.record(&Event::FaultBegan { fault: fault.id });
        let stops = *stopped_us > 0 && self.nodes[node.index()].status != super::lives::Status::Down;
        if stops {
            if !lasts {
                self.node(node).down_for = Some(index);
            }
            let survival = self.survival(index, node);
            self.end_life(Death::Process, Some(fault.id), *stopped_us, survival);
        }
        self.do_to_store(node, act);
        if !stops && !lasts {
            self.end_fault(index);
        }
    }

    /// What is left of an act that lasts is undone. A budget holds from open to end of a life: who raises it starts the node
    /// again.
    pub(super) fn end_store_act(&mut self, node: NodeId, act: &StoreAct) {
        if let StoreAct::LowerBudget { .. } = act {
            self.node(node).budget_bytes = None;
            if self.is_up(node) && self.nodes[node.index()].has_low_budget {
                self.die(node, Death::Process, 0);
            }
        } else {
            self.node(node).down_for = None;
        }
    }

    fn do_to_store(&mut self, node: NodeId, act: &StoreAct) {
        let root = self.store_root.clone();
        let name = |of: &RecordOf| record_name(&storage_key(of.table, &self.stream_of(of)));
        let names: Vec<RecordName> = act.records().iter().map(name).collect();
        let paths: Vec<DiskPath> = names.iter().map(|name| record_path(&root, *name)).collect();
        let mut store = Hands { disk: &mut self.disks[node.index()], root };
        match act {
            // A record that is not marked yet leaves nothing behind that could tell of it: to take it away is to clear its
            // stream, which is another act.
            StoreAct::RemoveRecord { .. } | StoreAct::Rename { .. } | StoreAct::UpperCase { .. }
                if !store.is_marked(names[0]) => {}
            StoreAct::RemoveRecord { .. } => store.remove(&paths[0]),
            StoreAct::RemoveMarker { .. } => store.remove(&marker_path(&store.root, names[0])),
            StoreAct::Rename { .. } => store.rename(&paths[0], &paths[1]),
            StoreAct::UpperCase { .. } => {
                let upper = store.root.join(&names[0].to_string().to_uppercase());
                store.rename(&paths[0], &upper);
            }
            StoreAct::Swap { .. } => store.swap(&paths[0], &paths[1]),
            StoreAct::Truncate { to_bytes, .. } => store.truncate(&paths[0], *to_bytes as usize),
            StoreAct::FlipBit { bit, .. } => drop(store.disk.flip_bit(&paths[0], u64::from(*bit))),
            StoreAct::Unreadable { sector, .. } => drop(store.disk.break_sector(&paths[0], *sector)),
            StoreAct::RemoveStore => store.remove_all(),
            StoreAct::LowerBudget { to_bytes } => self.node(node).budget_bytes = Some(*to_bytes),
            StoreAct::Clear { .. } => {
                store.remove(&marker_path(&store.root, names[0]));
                store.remove(&paths[0]);
            }
            StoreAct::WithoutCharge { .. } => store.without_charge(&paths[0]),
            StoreAct::SharedSnapshot => store.shared_snapshot(),
        }
        self.disk_changed_unasked();
    }

    pub(super) fn stream_of(&self, of: &RecordOf) -> StreamKey {
        let did = |node: NodeId| self.nodes[node.index()].identity.did();
        StreamKey {
            network_id: NetworkId(self.plan.engines.network_id),
            origin: did(of.origin),
            destination: did(of.destination),
            class: of.class,
        }
    }
}

/// Somebody at a disk who is no engine.
struct Hands<'a> {
    disk: &'a mut Disk,
    root: DiskPath,
}

impl Hands<'_> {
    /// An operation, durable. One that fails has done nothing: what it was to be done to is not there.
    fn change(&mut self, request: &DiskRequest) {
        let _ = self.disk.apply(request, None);
        self.flush();
    }

    fn flush(&mut self) {
        let _ = self.disk.apply(&DiskRequest::FlushDirectory { path: self.root.clone() }, None);
    }

    fn is_marked(&self, name: RecordName) -> bool {
        self.disk.visible(&marker_path(&self.root, name)).is_some()
    }

    fn remove(&mut self, path: &DiskPath) {
        self.change(&DiskRequest::Remove { path: path.clone() });
    }

    fn rename(&mut self, from: &DiskPath, to: &DiskPath) {
        self.change(&DiskRequest::Rename { from: from.clone(), to: to.clone() });
    }

    fn swap(&mut self, one: &DiskPath, other: &DiskPath) {
        if self.disk.visible(one).is_none() || self.disk.visible(other).is_none() {
            return;
        }
        let between = self.root.join("swapped");
        self.rename(one, &between);
        self.rename(other, one);
        self.rename(&between, other);
    }

    /// A whole new content, in a file that is there.
    fn write(&mut self, path: &DiskPath, bytes: Bytes) {
        let created = self.disk.apply(&DiskRequest::Create { path: path.clone() }, None);
        let Ok(DiskAnswer::File(file)) = created else { return };
        let _ = self.disk.apply(&DiskRequest::Write { file, offset: 0, bytes }, None);
        let _ = self.disk.apply(&DiskRequest::Flush { file }, None);
        self.disk.close(file);
        self.flush();
    }

    fn truncate(&mut self, path: &DiskPath, to_bytes: usize) {
        let Some(whole) = self.disk.visible(path).filter(|whole| !whole.is_empty()) else { return };
        self.write(path, whole.slice(..to_bytes.min(whole.len() - 1)));
    }

    /// The record of a build before streams were charged ends where the charge begins.
    fn without_charge(&mut self, path: &DiskPath) {
        let Some(whole) = self.disk.visible(path).and_then(|bytes| frame::decode(&bytes).ok()) else {
            return;
        };
        let frame::Frame { header, record: Record { storage_key, value } } = whole;
        let is_older = |end: &usize| decode(&value[..*end]) == Err(RecordError::WithoutCharge);
        let Some(end) = (1..value.len()).rev().find(is_older) else { return };
        let older = Record { storage_key, value: value.slice(..end) };
        self.write(path, frame::encode(header.generation, header.durable, &older));
    }

    fn shared_snapshot(&mut self) {
        let record =
            Record { storage_key: SHARED_SNAPSHOT_KEY.into(), value: Bytes::from_static(b"all streams") };
        let path = record_path(&self.root, record_name(SHARED_SNAPSHOT_KEY));
        self.write(&path, frame::encode(BatchNumber(1), BatchNumber(0), &record));
    }

    fn remove_all(&mut self) {
        let files: Vec<DiskPath> =
            self.disk.visible_names(&self.root).map(|(path, _)| path.clone()).collect();
        for path in files {
            let _ = self.disk.apply(&DiskRequest::Remove { path }, None);
        }
        self.flush();
        let path = self.root.clone();
        let _ = self.disk.apply(&DiskRequest::RemoveDirectory { path: path.clone() }, None);
        if let Some(path) = path.parent() {
            let _ = self.disk.apply(&DiskRequest::FlushDirectory { path }, None);
        }
    }
}
