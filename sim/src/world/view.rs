//! What laws may look at beside the events: the disks, over all states that could survive a power failure now, and counters.
//!
//! Promise: looking changes nothing, and shows what is on the disks; of what an engine believes only what it says when it is
//! asked, as an operator asks it.

use super::disk::{Certainty, Disk, Found};
use super::lives::NodeState;
use crate::laws::{RecordImage, StoreUse, View};
use crate::units::NodeId;
use bytes::Bytes;
use groundhog_engine::host::disk::{DiskPath, EntryKind};
use groundhog_engine::host::observe::RecordName;
use groundhog_engine::store::frame;
use groundhog_engine::store::name::{FileName, marker_path, record_path, with_record_path};
use groundhog_engine::streams::Counters;

/// The disks of a world, and its nodes.
pub struct DiskView<'a> {
    disks: &'a [Disk],
    nodes: &'a [NodeState],
    root: &'a DiskPath,
}

impl<'a> DiskView<'a> {
    /// A look at these disks, whose stores lie at `root`, and at what the streams of these nodes count.
    #[must_use]
    pub fn new(disks: &'a [Disk], nodes: &'a [NodeState], root: &'a DiskPath) -> Self {
        Self { disks, nodes, root }
    }

    fn disk(&self, node: NodeId) -> &Disk {
        &self.disks[node.index()]
    }
}

fn image_of(content: Option<Bytes>) -> RecordImage {
    let Some(bytes) = content else { return RecordImage::Absent };
    match frame::decode(&bytes) {
        Ok(whole) => RecordImage::Whole { generation: whole.header.generation.0, value: whole.record.value },
        Err(_) => RecordImage::Torn,
    }
}

impl View for DiskView<'_> {
    fn surviving_generations(&self, node: NodeId, record: RecordName, into: &mut Vec<Option<u64>>) {
        // Asked for every result that is released.
        match with_record_path(self.root, record, |path| self.disk(node).certain(path)) {
            Certainty::Certain(found) => into.push(found.generation()),
            Certainty::Uncertain(found) => into.extend(found.iter().map(|found: &Found| found.generation())),
        }
    }

    fn surviving_images(&self, node: NodeId, record: RecordName) -> Vec<RecordImage> {
        let contents = self.disk(node).surviving(&record_path(self.root, record));
        contents
            .into_iter()
            .map(|content| match content {
                None => RecordImage::Absent,
                Some(None) => RecordImage::Torn,
                Some(readable) => image_of(readable),
            })
            .collect()
    }

    fn visible_image(&self, node: NodeId, record: RecordName) -> RecordImage {
        let path = record_path(self.root, record);
        if self.disk(node).visible_found(&path) == Found::Torn {
            return RecordImage::Torn;
        }
        image_of(self.disk(node).visible(&path))
    }

    fn visible_records(&self, node: NodeId) -> Vec<(RecordName, bool)> {
        let mut records = Vec::new();
        for (path, kind) in self.disk(node).visible_names(self.root) {
            if let (EntryKind::File, FileName::Record(name)) = (kind, FileName::parse(path.name())) {
                let marked = self.disk(node).visible(&marker_path(self.root, name)).is_some();
                records.push((name, marked));
            }
        }
        records.sort_unstable();
        records
    }

    fn visible_orphan_markers(&self, node: NodeId) -> Vec<RecordName> {
        let mut orphans = Vec::new();
        for (path, _) in self.disk(node).visible_names(self.root) {
            if let FileName::Marker(name) = FileName::parse(path.name())
                && self.disk(node).visible(&record_path(self.root, name)).is_none()
            {
                orphans.push(name);
            }
        }
        orphans.sort_unstable();
        orphans
    }

    fn store_use(&self, node: NodeId) -> StoreUse {
        let (records, bytes) = self.disk(node).counted_files();
        StoreUse { records, bytes }
    }

    fn counters(&self, node: NodeId) -> Option<Counters> {
        self.nodes[node.index()].counters.as_ref()?.look()
    }
}
