//! `streams/store-bounds`: a store stays within its records and its bytes, and while it lives its record files fall by
//! retirement alone.

use super::lifespan::Lifespans;
use super::per_node::PerNode;
use super::reading::{RecordReader, RecordValue};
use super::store_acts::StoreActs;
use super::{Law, Setting, StoreUse, View};
use crate::ledger::event::{Answer, Event};
use crate::outcome::Violation;
use crate::units::{NodeId, SimTime};
use groundhog_engine::host::observe::RecordName;
use std::collections::BTreeSet;

/// Records in a full store (000, `TRANSACTION_REPLAY_STORE_MAX_RECORDS`): both tables full.
pub const MOST_RECORDS: u64 = 32_768;

/// See the module.
pub struct StoreBounds {
    most_records: u64,
    budget_bytes: u64,
    reader: RecordReader,
    /// Records when the node was last ready, each with whether it may be retired one day; `None` while it is not.
    at_ready: PerNode<Option<Vec<(RecordName, bool)>>>,
    lifespans: Lifespans,
    acts: StoreActs,
}

impl StoreBounds {
    /// Its id.
    pub const ID: &'static str = "streams/store-bounds";
    /// What it states.
    pub const STATES: &'static str = "A full store is at most 32,768 records within its budget of bytes; nothing is ever evicted \
         (000, Persistence and bounds).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        let engines = &setting.plan.engines;
        Self {
            most_records: MOST_RECORDS.min(2 * u64::from(engines.stream_capacity)),
            budget_bytes: engines.store_budget_bytes,
            reader: setting.reader,
            at_ready: PerNode::default(),
            lifespans: Lifespans::default(),
            acts: StoreActs::of(setting),
        }
    }

    fn look(&mut self, at: SimTime, node: NodeId, view: &dyn View, broken: &mut Vec<Violation>) {
        let StoreUse { records, bytes } = view.store_use(node);
        let saw = if records > self.most_records {
            format!("{node} holds {records} records, a store holds at most {}", self.most_records)
        } else if bytes > self.budget_bytes {
            format!("{node} holds {bytes} bytes of records, its budget is {}", self.budget_bytes)
        } else if let Some(gone) = self.evicted(node, view) {
            format!("{node} held record {gone} when it was ready and no longer does, though it is not spent")
        } else {
            return;
        };
        broken.push(Violation { law: Self::ID, at, node: Some(node), saw });
    }

    /// A record that was there when the node was ready, and is gone though no admission's clock was past what it accepted.
    fn evicted(&mut self, node: NodeId, view: &dyn View) -> Option<RecordName> {
        let before = self.at_ready.at(node).as_ref()?;
        let now: BTreeSet<RecordName> =
            view.visible_records(node).into_iter().map(|(name, _)| name).collect();
        let kept = |(name, ages): &&(RecordName, bool)| {
            now.contains(name) || (*ages && self.lifespans.may_be_retired(node, *name))
        };
        before.iter().find(|record| !kept(record)).map(|(name, _)| *name)
    }

    fn records(&self, node: NodeId, view: &dyn View) -> Vec<(RecordName, bool)> {
        let names = view.visible_records(node).into_iter().map(|(name, _)| name);
        let ages = |name| match self.reader.image(&view.visible_image(node, name)).map(|read| read.value) {
            Some(RecordValue::Receiver(_)) => true,
            Some(RecordValue::Sender(_)) | None => false,
        };
        names.map(|name| (name, ages(name))).collect()
    }
}

impl Law for StoreBounds {
    law_identity!(Outcome reads FaultBegan, Ready, Died, PowerLost, Arrived, Answered);

    fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View, broken: &mut Vec<Violation>) {
        match event {
            Event::Ready { node, .. } => {
                *self.at_ready.at(*node) = None;
                self.look(at, *node, view, broken);
                *self.at_ready.at(*node) = Some(self.records(*node, view));
            }
            Event::FaultBegan { fault } => {
                if let Some(touch) = self.acts.get(*fault) {
                    *self.at_ready.at(touch.node) = None;
                }
            }
            // A death may take what was not durable; what it leaves behind is the matter of the other laws.
            Event::Died { node, .. } | Event::PowerLost { node, .. } => *self.at_ready.at(*node) = None,
            Event::Arrived { node, wall, .. } => self.lifespans.arrived(*node, *wall),
            Event::Answered { node, transaction, record, answer: Answer::Verdict(verdict), .. }
                if verdict.dispatches() =>
            {
                self.lifespans.accepted(*node, *record, transaction);
            }
            _ => {}
        }
    }

    fn end(&mut self, at: SimTime, view: &dyn View, broken: &mut Vec<Violation>) {
        let ready: Vec<NodeId> =
            self.at_ready.iter_mut().filter_map(|(node, ready)| ready.as_ref().map(|_| node)).collect();
        ready.into_iter().for_each(|node| self.look(at, node, view, broken));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{HONEST, Image, Ledger, brief, record_of, sender_record};
    use groundhog_engine::streams::window::VerdictKind;

    /// Bytes and records at the end.
    fn at_end(bytes: u64, records: u64) -> Vec<String> {
        let mut ledger = Ledger::over(StoreBounds::new(&Ledger::setting()));
        ledger.restarted(3);
        ledger.view.store_use = StoreUse { bytes, records };
        ledger.finish()
    }

    #[test]
    fn a_store_stays_within_its_bounds() {
        assert_eq!(at_end(40 << 20, 32_768), Vec::<String>::new());
        assert!(at_end(500, 32_769)[0].contains("32769 records"));
        assert!(at_end((40 << 20) + 1, 5)[0].contains("bytes"));
    }

    /// Node 3 holds a lease and a window that is spent after 4,000 ms; its clock shows `clock`, and one of them is gone.
    fn gone(record: RecordName, clock: u64) -> Vec<String> {
        let mut ledger = Ledger::over(StoreBounds::new(&Ledger::setting()));
        ledger.admitted(3, &brief(1, 3, 1), HONEST, VerdictKind::First);
        ledger.view.certain(3, sender_record(3, 1), Image::Lease(1, (3, 1), 63));
        ledger.view.certain(3, record_of(&brief(1, 3, 1)), Image::Brief(1, (1, 3), vec![(1, 1)]));
        ledger.restarted(3);
        ledger.clock_shows(clock);
        ledger.view.certain(3, record, Image::Absent);
        ledger.finish()
    }

    #[test]
    fn record_files_fall_by_retirement_alone() {
        let window = record_of(&brief(1, 3, 1));
        assert_eq!(gone(window, 4_001), Vec::<String>::new());
        assert!(gone(window, 4_000)[0].contains("though it is not spent"));
        assert!(gone(sender_record(3, 1), u64::MAX)[0].contains("though it is not spent"), "leases never");
    }
}
