//! `streams/store-bounds`: a store stays within its records and its bytes, and its record files never fall while it lives.

use super::per_node::PerNode;
use super::{Law, Setting, StoreUse, View};
use crate::ledger::event::Event;
use crate::outcome::Violation;
use crate::units::{NodeId, SimTime};

/// Records in a full store (000, `TRANSACTION_REPLAY_STORE_MAX_RECORDS`): both tables full.
pub const MOST_RECORDS: u64 = 32_768;

/// See the module.
pub struct StoreBounds {
    most_records: u64,
    budget_bytes: u64,
    /// Records when the node was last ready; `None` while it is not.
    at_ready: PerNode<Option<u64>>,
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
            at_ready: PerNode::default(),
        }
    }

    fn look(&mut self, at: SimTime, node: NodeId, view: &dyn View, broken: &mut Vec<Violation>) {
        let StoreUse { records, bytes } = view.store_use(node);
        let saw = if records > self.most_records {
            format!("{node} holds {records} records, a store holds at most {}", self.most_records)
        } else if bytes > self.budget_bytes {
            format!("{node} holds {bytes} bytes of records, its budget is {}", self.budget_bytes)
        } else if let Some(before) = self.at_ready.at(node).filter(|before| records < *before) {
            format!("{node} held {before} records when it was ready and holds {records}")
        } else {
            return;
        };
        broken.push(Violation { law: Self::ID, at, node: Some(node), saw });
    }
}

impl Law for StoreBounds {
    law_identity!(Outcome reads Ready, Died, PowerLost);

    fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View, broken: &mut Vec<Violation>) {
        match event {
            Event::Ready { node, .. } => {
                *self.at_ready.at(*node) = None;
                self.look(at, *node, view, broken);
                *self.at_ready.at(*node) = Some(view.store_use(*node).records);
            }
            // A death may take what was not durable; what it leaves behind is the matter of the other laws.
            Event::Died { node, .. } | Event::PowerLost { node, .. } => *self.at_ready.at(*node) = None,
            _ => {}
        }
    }

    fn end(&mut self, at: SimTime, view: &dyn View, broken: &mut Vec<Violation>) {
        let ready: Vec<NodeId> =
            self.at_ready.iter_mut().filter_map(|(node, ready)| ready.map(|_| node)).collect();
        ready.into_iter().for_each(|node| self.look(at, node, view, broken));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::Ledger;

    /// Bytes and records when ready, and at the end.
    fn at_end(at_ready: (u64, u64), at_end: (u64, u64)) -> Vec<String> {
        let mut ledger = Ledger::over(StoreBounds::new(&Ledger::setting()));
        ledger.view.store_use = StoreUse { bytes: at_ready.0, records: at_ready.1 };
        ledger.restarted(3);
        ledger.view.store_use = StoreUse { bytes: at_end.0, records: at_end.1 };
        ledger.finish()
    }

    #[test]
    fn a_store_stays_within_its_bounds_and_loses_no_record() {
        assert_eq!(at_end((500, 5), (40 << 20, 32_768)), Vec::<String>::new());
        assert!(at_end((500, 5), (500, 32_769))[0].contains("32769 records"));
        assert!(at_end((500, 5), ((40 << 20) + 1, 5))[0].contains("bytes"));
        assert!(at_end((500, 5), (400, 4))[0].contains("held 5 records when it was ready"));
    }
}
