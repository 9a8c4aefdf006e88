//! `store/markers`: after a loss of power no marker stands without its record, and no record that later batches followed
//! stands without its marker.
//!
//! That a batch was written later is read off admissions: one that arrived after a record's answer was released, and was
//! itself accepted and released, was written by a later batch of the same life, whose directory flush covers the marker.
//! A record that may be retired may stand unmarked: its marker goes first.

use super::lifespan::Lifespans;
use super::names::DigestKey;
use super::per_node::PerNode;
use super::store_acts::StoreActs;
use super::{Law, RecordImage, Setting, View};
use crate::ledger::event::{Answer, Event};
use crate::outcome::Violation;
use crate::units::{NodeId, SimTime};
use groundhog_engine::host::observe::RecordName;
use rustc_hash::{FxHashMap, FxHashSet};

/// Epochs that a record's marker may take to become certain: the next batch's.
const EPOCHS_TO_MARK: u64 = 1;

/// The same after an error of the disk: the batch that fails, the one that repairs, the one after it.
const EPOCHS_TO_REPAIR: u64 = 3;

#[derive(Default)]
struct Node {
    /// Rises by one whenever an admission is accepted that arrived after the last rise.
    epoch: u64,
    /// Arrivals without an answer, with the epoch that they arrived in.
    pending: FxHashMap<DigestKey, u64>,
    /// Records with the epoch by whose beginning their batch was durable.
    durable_by: FxHashMap<RecordName, u64>,
    /// The epoch of the last error of the disk.
    error_at: Option<u64>,
    told: FxHashSet<RecordName>,
}

impl Node {
    /// Whether an admission was accepted; `anew` where the record may have been removed before.
    fn answered(&mut self, digest: DigestKey, record: RecordName, accepted: bool, anew: bool) {
        let arrived = self.pending.remove(&digest);
        if !accepted {
            return;
        }
        let durable_by = self.durable_by.entry(record).or_insert(self.epoch + 1);
        if anew {
            *durable_by = self.epoch + 1;
        }
        if arrived == Some(self.epoch) {
            self.epoch += 1;
        }
    }

    fn is_due(&self, record: RecordName) -> bool {
        let repaired = self.error_at.is_none_or(|error| self.epoch >= error + EPOCHS_TO_REPAIR);
        let marked = |durable_by: &u64| self.epoch >= durable_by + EPOCHS_TO_MARK;
        repaired && self.durable_by.get(&record).is_some_and(marked)
    }
}

/// See the module.
pub struct Markers {
    nodes: PerNode<Node>,
    lifespans: Lifespans,
    acts: StoreActs,
}

impl Markers {
    /// Its id.
    pub const ID: &'static str = "store/markers";
    /// What it states.
    pub const STATES: &'static str = "A marker is created only once its record is certain, and is certain once the next batch is: a record lost \
         whose marker was durable is missing, never first (000, Bad records; decisions 12 and 13).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        Self { nodes: PerNode::default(), lifespans: Lifespans::default(), acts: StoreActs::of(setting) }
    }

    /// An open has marked every record and flushed the directory before it is ready.
    fn opened(&mut self, at: SimTime, node: NodeId, view: &dyn View, broken: &mut Vec<Violation>) {
        let state = self.nodes.at(node);
        let had_errors = state.error_at.is_some();
        *state = Node { told: std::mem::take(&mut state.told), epoch: EPOCHS_TO_MARK, ..Node::default() };
        for (record, marked) in view.visible_records(node) {
            if marked {
                state.durable_by.insert(record, 0);
            } else if !had_errors && is_whole(view, node, record) && state.told.insert(record) {
                let saw = format!("{node} is ready and holds record {record} without its marker");
                broken.push(Violation { law: Self::ID, at, node: Some(node), saw });
            }
        }
    }

    fn lost_power(&mut self, at: SimTime, node: NodeId, view: &dyn View, broken: &mut Vec<Violation>) {
        let state = self.nodes.at(node);
        for record in view.visible_orphan_markers(node) {
            if state.told.insert(record) {
                let saw =
                    format!("{node} lost power and holds the marker of record {record} without the record");
                broken.push(Violation { law: Self::ID, at, node: Some(node), saw });
            }
        }
        for (record, marked) in view.visible_records(node) {
            let owes_marker = |view: &dyn View| {
                is_whole(view, node, record) && !self.lifespans.may_be_retired(node, record)
            };
            if !marked && state.is_due(record) && owes_marker(view) && state.told.insert(record) {
                let saw = format!(
                    "{node} lost power and holds record {record} without its marker, though later batches were durable"
                );
                broken.push(Violation { law: Self::ID, at, node: Some(node), saw });
            }
        }
    }
}

fn is_whole(view: &dyn View, node: NodeId, record: RecordName) -> bool {
    matches!(view.visible_image(node, record), RecordImage::Whole { .. })
}

impl Law for Markers {
    law_identity!(Outcome reads FaultBegan, Booted, Ready, PowerLost, DiskAnswered, Arrived, Answered);

    fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View, broken: &mut Vec<Violation>) {
        match event {
            Event::Arrived { node, wall, transaction, .. } => {
                self.lifespans.arrived(*node, *wall);
                let state = self.nodes.at(*node);
                state.pending.entry(DigestKey::of(&transaction.digest)).or_insert(state.epoch);
            }
            Event::Answered { node, transaction, record, answer, .. } => {
                let accepted = matches!(answer, Answer::Verdict(verdict) if verdict.dispatches());
                let anew = self.lifespans.may_be_retired(*node, *record);
                if accepted {
                    self.lifespans.accepted(*node, *record, transaction);
                }
                self.nodes.at(*node).answered(DigestKey::of(&transaction.digest), *record, accepted, anew);
            }
            Event::DiskAnswered { node, error: Some(_), .. } => {
                let state = self.nodes.at(*node);
                state.error_at = Some(state.epoch);
            }
            // What somebody did to a record or its marker is not the engine's to answer for.
            Event::FaultBegan { fault } => {
                if let Some(touch) = self.acts.get(*fault) {
                    self.nodes.at(touch.node).told.extend(touch.records.iter().map(|(name, ..)| *name));
                }
            }
            // From here to readiness errors are those of the open.
            Event::Booted { node, .. } => self.nodes.at(*node).error_at = None,
            Event::Ready { node, .. } => self.opened(at, *node, view, broken),
            Event::PowerLost { node, .. } => self.lost_power(at, *node, view, broken),
            _ => {}
        }
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{HONEST, Image, Ledger, brief, receiver_record, record_of, transaction};
    use crate::ledger::event::Transaction;
    use crate::plan::{Death, DiskOperation};
    use groundhog_engine::host::disk::DiskErrorKind;
    use groundhog_engine::streams::window::VerdictKind;
    use groundhog_engine::units::WallMs;

    fn ledger() -> Ledger<Markers> {
        Ledger::over(Markers::new(&Ledger::setting()))
    }

    fn admitted(ledger: &mut Ledger<Markers>, origin: u16, sequence: u64) {
        let tag = u8::try_from(u64::from(origin) * 16 + sequence).unwrap();
        ledger.admitted(3, &transaction(origin, 3, sequence, tag), HONEST, VerdictKind::Advance);
    }

    fn disk_error(ledger: &mut Ledger<Markers>) {
        let (node, life, number, operation, bytes) =
            (NodeId(3), ledger.life(3), 9, DiskOperation::FlushDirectory, 0);
        let error = Some(DiskErrorKind::Io);
        ledger.event(&Event::DiskAnswered { node, life, number, operation, bytes, error, injected: true });
    }

    /// Node 3 has admitted a new stream and then `later` messages of another; its disk may fail in between.
    fn unmarked_after(later: u64, error: bool) -> usize {
        let mut ledger = ledger();
        admitted(&mut ledger, 1, 0);
        if error {
            disk_error(&mut ledger);
        }
        (0..later).for_each(|sequence| admitted(&mut ledger, 2, sequence));
        ledger.view.visible(3, receiver_record(1, 3), Image::Window(1, (1, 3), vec![(0, 16)]), false);
        ledger.died_unopened(3, Death::Power);
        ledger.finish().len()
    }

    #[test]
    fn a_record_has_its_marker_once_a_later_batch_was_durable() {
        assert_eq!((unmarked_after(0, false), unmarked_after(1, false)), (0, 1));
        assert_eq!((unmarked_after(1, true), unmarked_after(4, true)), (0, 1));
    }

    /// Node 3 has admitted a stream that is spent after 4,000 ms, read its clock at a later admission, admitted these of the
    /// same stream and then `later` messages of another; and holds the stream's record without its marker.
    fn unmarked_at(clock: u64, again: bool, later: u64) -> usize {
        let mut ledger = ledger();
        ledger.admitted(3, &brief(1, 3, 1), HONEST, VerdictKind::First);
        admitted(&mut ledger, 2, 0);
        ledger.clock_shows(clock);
        if again {
            let again = Transaction { expires: WallMs(50_000), ..brief(1, 3, 2) };
            ledger.admitted(3, &again, HONEST, VerdictKind::First);
        }
        (1..=later).for_each(|sequence| admitted(&mut ledger, 2, sequence));
        let image = Image::Brief(1, (1, 3), vec![(1, 1)]);
        ledger.view.visible(3, record_of(&brief(1, 3, 1)), image, false);
        ledger.died_unopened(3, Death::Power);
        ledger.finish().len()
    }

    #[test]
    fn a_record_that_may_be_retired_stands_unmarked_until_it_begins_anew_and_is_marked() {
        assert_eq!((unmarked_at(4_000, false, 1), unmarked_at(4_001, false, 1)), (1, 0));
        assert_eq!((unmarked_at(4_000, true, 0), unmarked_at(4_001, true, 0)), (1, 0));
        assert_eq!(unmarked_at(4_001, true, 1), 1, "a later batch was durable");
    }

    #[test]
    fn a_batch_that_may_be_the_records_own_says_nothing_of_its_marker() {
        let mut ledger = ledger();
        let (first, second) = (transaction(1, 3, 0, 1), transaction(2, 3, 0, 2));
        ledger.arrived(3, &first, HONEST);
        ledger.arrived(3, &second, HONEST);
        ledger.answered(3, &first, HONEST, Answer::Verdict(VerdictKind::First));
        ledger.answered(3, &second, HONEST, Answer::Verdict(VerdictKind::First));
        ledger.view.visible(3, receiver_record(1, 3), Image::Window(1, (1, 3), vec![(0, 1)]), false);
        ledger.view.visible(3, receiver_record(2, 3), Image::Window(1, (2, 3), vec![(0, 2)]), false);
        ledger.died_unopened(3, Death::Power);
        assert_eq!(ledger.finish(), Vec::<String>::new());
    }

    #[test]
    fn no_marker_stands_without_its_record_and_none_is_missing_after_an_open() {
        let mut orphan = ledger();
        orphan.view.orphans.push((NodeId(3), receiver_record(1, 3)));
        orphan.died_unopened(3, Death::Power);
        assert!(orphan.finish()[0].contains("without the record"));

        let mut unmarked = ledger();
        unmarked.view.visible(3, receiver_record(1, 3), Image::Window(1, (1, 3), vec![(0, 16)]), false);
        unmarked.restarted(3);
        assert!(unmarked.finish()[0].contains("is ready and holds record"));
    }
}
