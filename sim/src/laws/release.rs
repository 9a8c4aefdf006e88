//! `commit/release`: no result is returned before every table state that it was computed from is certain on the disk.
//!
//! A state that a later batch removed, as the engine has reported, need not be there any more.

use super::per_node::PerNode;
use super::{Law, Setting, View};
use crate::ledger::event::Event;
use crate::outcome::Violation;
use crate::units::SimTime;
use groundhog_engine::host::observe::{BatchNumber, EngineEvent, RecordName};
use rustc_hash::FxHashMap;

/// See the module.
#[derive(Default)]
pub struct Release {
    surviving: Vec<Option<u64>>,
    /// The batch that removes each record that was retired in its node's life.
    retired: PerNode<FxHashMap<RecordName, BatchNumber>>,
}

impl Release {
    /// A checker for one run.
    #[must_use]
    pub fn new(_setting: &Setting) -> Self {
        Self::default()
    }

    /// Its id.
    pub const ID: &'static str = "commit/release";
    /// What it states.
    pub const STATES: &'static str = "No result is returned before its batch is durable: a refusal, and a reservation inside its lease, too \
         (000, group commit, Release).";
}

impl Law for Release {
    law_identity!(Mechanism reads Booted, EngineRetired, EngineBatchFailed, EngineReleased);

    fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View, broken: &mut Vec<Violation>) {
        let (node, event) = match event {
            Event::Booted { node, .. } => return self.retired.at(*node).clear(),
            Event::Engine { node, event, .. } => (node, event),
            _ => return,
        };
        let (transition, depends) = match event {
            EngineEvent::Released { transition, depends } => (transition, depends),
            EngineEvent::Retired { record, staged, .. } => {
                self.retired.at(*node).insert(*record, *staged);
                return;
            }
            EngineEvent::BatchFailed { batch, .. } => {
                return self.retired.at(*node).retain(|_, removed_by| *removed_by < *batch);
            }
            _ => return,
        };
        for (record, batch) in *depends {
            self.surviving.clear();
            view.surviving_generations(*node, *record, &mut self.surviving);
            // No surviving state at all would be a fault of the view, and is told as one: a record is there or it is not.
            let removed = self.retired.at(*node).get(record).is_some_and(|removed_by| removed_by > batch);
            let lacks = |found: &&Option<u64>| found.map_or(!removed, |found| found < batch.0);
            let uncertain = self.surviving.iter().find(lacks);
            let found = match (uncertain, self.surviving.is_empty()) {
                (None, false) => continue,
                (Some(Some(generation)), _) => format!("the value of batch {generation}"),
                (Some(None), _) | (None, true) => String::from("nothing whole"),
            };
            let saw = format!(
                "{node} returned the result of transition {} computed from batch {} of record {record}; a power failure then \
                 could leave {found}",
                transition.0, batch.0
            );
            broken.push(Violation { law: Self::ID, at, node: Some(*node), saw });
        }
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{Image, Ledger, brief, record, record_of};

    fn released_over(images: &[Image]) -> Vec<String> {
        let mut ledger = Ledger::over(Release::default());
        ledger.view.surviving(3, record(1), images);
        ledger.released(3, 0, &[(record(1), 5)]);
        ledger.finish()
    }

    #[test]
    fn only_a_later_batch_that_retires_a_record_may_take_it_away() {
        for (removed_by, failed, breaks) in
            [(6, None, 0), (5, None, 1), (6, Some(6), 1), (6, Some(5), 1), (6, Some(7), 0)]
        {
            let mut ledger = Ledger::over(Release::default());
            ledger.retired(3, &brief(1, 3, 1), removed_by);
            if let Some(batch) = failed {
                ledger.failed(3, batch, 1);
            }
            let record = record_of(&brief(1, 3, 1));
            ledger.view.surviving(3, record, &[Image::Absent, Image::Generation(5)]);
            ledger.released(3, 0, &[(record, 5)]);
            assert_eq!(ledger.finish().len(), breaks, "removed by {removed_by}, failed {failed:?}");
        }
    }

    #[test]
    fn a_result_waits_until_every_surviving_state_holds_it() {
        assert_eq!(released_over(&[Image::Generation(5)]), Vec::<String>::new());
        assert_eq!(released_over(&[Image::Generation(5), Image::Generation(6)]), Vec::<String>::new());
        assert_eq!(released_over(&[Image::Generation(4), Image::Generation(5)]).len(), 1);
        assert_eq!(released_over(&[Image::Absent, Image::Generation(5)]).len(), 1);
        assert_eq!(released_over(&[Image::Torn]).len(), 1);
        assert_eq!(released_over(&[]).len(), 1);
    }
}
