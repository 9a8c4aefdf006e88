//! `commit/undo-digest`: after a failed batch an engine's tables are those of the last durable value of each record.
//!
//! The engine reports a digest of its tables: the sum of SHA-256 over its records' values and over its quota's records, in
//! four little-endian words. It is built anew here from the disk, and the quota from what was released. Where the failed batch has landed over a record so that the value before it can no
//! longer be seen, that failure is not judged; nor is one of a life in which custody has expired in memory alone.

use super::per_node::PerNode;
use super::reading::RecordReader;
use super::reference_quota::ReferenceQuota;
use super::{Law, RecordImage, Setting, View};
use crate::ledger::event::Event;
use crate::ledger::kind::{EventKind, EventMask};
use crate::outcome::Violation;
use crate::plan::Quota;
use crate::units::{NodeId, SimTime};
use groundhog_engine::host::observe::{BatchNumber, CustodyChange, EngineEvent, RecordName};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use sha2::{Digest as _, Sha256};

#[derive(Default)]
struct Node {
    /// The batch that wrote each record's last durable value.
    durable: IndexMap<RecordName, u64, FxBuildHasher>,
    /// The records of the batch in flight; `false` for a removal.
    in_flight: Vec<(RecordName, bool)>,
    quota: ReferenceQuota,
    /// Custody expired in memory, and stands in records until they are written again.
    custody_expired: bool,
}

/// See the module.
#[derive(Default)]
pub struct UndoDigest {
    nodes: PerNode<Node>,
    limits: Option<Quota>,
    reader: Option<RecordReader>,
}

impl UndoDigest {
    /// Its id.
    pub const ID: &'static str = "commit/undo-digest";
    /// What it states.
    pub const STATES: &'static str = "After a failed batch windows, leases, charges, custody and quota are those of the released prefix (000, group commit, \
         Fail closed; design section 5).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        Self { nodes: PerNode::default(), limits: setting.plan.engines.quota, reader: Some(setting.reader) }
    }

    fn reads_now(&self) -> EventMask {
        let records = EventMask::of(&[
            EventKind::EngineOpened,
            EventKind::EngineBatchClosed,
            EventKind::EngineBatchDurable,
            EventKind::EngineBatchFailed,
            EventKind::EngineCustody,
        ]);
        self.limits.map_or(records, |_| records.with(ReferenceQuota::READS))
    }

    fn opened(&mut self, node: NodeId, view: &dyn View) {
        let state = self.nodes.at(node);
        *state = Node::default();
        for (record, _) in view.visible_records(node) {
            let image = view.visible_image(node, record);
            // What is filed under a name that is not its own is in no table.
            if self.reader.is_some_and(|reader| !reader.is_in_place(record, &image)) {
                continue;
            }
            if let RecordImage::Whole { generation, .. } = image {
                state.durable.insert(record, generation);
            }
        }
    }

    fn durable(&mut self, node: NodeId, batch: BatchNumber) {
        let state = self.nodes.at(node);
        for (record, written) in state.in_flight.drain(..) {
            if written {
                state.durable.insert(record, batch.0);
            } else {
                state.durable.swap_remove(&record);
            }
        }
    }

    /// The digest of the last durable values and of the quota; `None` where one of them can no longer be seen.
    fn rebuilt(&mut self, node: NodeId, view: &dyn View) -> Option<[u8; 32]> {
        let mut words = [0u64; 4];
        let mut add = |value: &[u8]| {
            for (word, part) in words.iter_mut().zip(Sha256::digest(value).chunks_exact(8)) {
                *word = word.wrapping_add(u64::from_le_bytes(part.try_into().expect("eight bytes")));
            }
        };
        let state = self.nodes.at(node);
        if state.custody_expired {
            return None;
        }
        state.quota.encoded()?.for_each(|record| add(&record));
        for (record, batch) in &state.durable {
            let value_of = |image: RecordImage| match image {
                RecordImage::Whole { generation, value } if generation == *batch => Some(value),
                _ => None,
            };
            let surviving = || view.surviving_images(node, *record).into_iter().find_map(value_of);
            let value = value_of(view.visible_image(node, *record)).or_else(surviving)?;
            add(&value);
        }
        let mut digest = [0; 32];
        for (part, word) in digest.chunks_exact_mut(8).zip(words) {
            part.copy_from_slice(&word.to_le_bytes());
        }
        Some(digest)
    }
}

impl Law for UndoDigest {
    law_identity!(Mechanism reads by reads_now);

    fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View, broken: &mut Vec<Violation>) {
        let Event::Engine { node, event, .. } = event else { return };
        if let Some(limits) = &self.limits {
            self.nodes.at(*node).quota.event(event, limits);
        }
        match event {
            EngineEvent::Opened { .. } => self.opened(*node, view),
            EngineEvent::BatchClosed { records, .. } => {
                let state = self.nodes.at(*node);
                state.in_flight.clear();
                state.in_flight.extend(records.iter().map(|(record, length)| (*record, length.is_some())));
            }
            EngineEvent::BatchDurable { batch } => self.durable(*node, *batch),
            EngineEvent::Custody { change: CustodyChange::Expired { .. }, .. } => {
                self.nodes.at(*node).custody_expired = true;
            }
            EngineEvent::BatchFailed { batch, state_digest, .. }
                if self.rebuilt(*node, view).is_some_and(|digest| digest != *state_digest) =>
            {
                let saw = format!(
                    "{node} undid batch {}, and its tables are not those of what was durable before it",
                    batch.0
                );
                broken.push(Violation { law: Self::ID, at, node: Some(*node), saw });
            }
            _ => {}
        }
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{Image, Ledger, receiver_record, sender_record};

    fn digest_of(ledger: &Ledger<UndoDigest>, records: &[RecordName]) -> [u8; 32] {
        let mut law = UndoDigest::default();
        for record in records {
            law.nodes.at(NodeId(3)).durable.insert(*record, 1);
        }
        law.rebuilt(NodeId(3), &ledger.view).unwrap()
    }

    fn opened() -> EngineEvent<'static> {
        EngineEvent::Opened { restored: 0, unrestorable: 0, next_batch: BatchNumber(2) }
    }

    #[test]
    fn tables_after_an_undo_are_those_of_the_last_durable_values() {
        let records = [receiver_record(1, 3), sender_record(3, 1)];
        for (tables, breaks) in [(&records[..], false), (&records[..1], true)] {
            let mut ledger = Ledger::over(UndoDigest::default());
            ledger.view.certain(3, records[0], Image::Window(1, (1, 3), vec![(5, 5)]));
            ledger.view.certain(3, records[1], Image::Lease(1, (3, 1), 63));
            let state_digest = digest_of(&ledger, tables);
            ledger.engine(3, opened());
            let (batch, written) = (BatchNumber(2), [(records[0], Some(9))]);
            ledger.engine(3, EngineEvent::BatchClosed { batch, records: &written, transitions: 1 });
            ledger.engine(3, EngineEvent::BatchFailed { batch, undone: 1, state_digest });
            assert_eq!(ledger.finish().len(), usize::from(breaks));
        }
    }

    #[test]
    fn a_durable_batch_moves_the_reference_and_a_landed_one_that_hides_it_is_not_judged() {
        let record = receiver_record(1, 3);
        for (visible, breaks) in [(1, false), (2, true), (3, false)] {
            let mut ledger = Ledger::over(UndoDigest::default());
            ledger.engine(3, opened());
            for batch in [2, 3] {
                let (batch, written) = (BatchNumber(batch), [(record, Some(9))]);
                ledger.engine(3, EngineEvent::BatchClosed { batch, records: &written, transitions: 1 });
                if batch.0 == 2 {
                    ledger.engine(3, EngineEvent::BatchDurable { batch });
                }
            }
            ledger.view.certain(3, record, Image::Generation(visible));
            ledger.engine(
                3,
                EngineEvent::BatchFailed { batch: BatchNumber(3), undone: 1, state_digest: [0; 32] },
            );
            assert_eq!(ledger.finish().len(), usize::from(breaks), "batch {visible} is visible");
        }
    }
}
