//! `streams/old-or-new`: after a crash a record is whole, and holds what was told of it before, or something staged later.
//!
//! What was told: to a receiver, every transaction dispatched or answered as a replay; of a sender, every sequence exposed.
//! Looked at when a node boots again, before its new life touches the disk. A window may also hold what arrived and was
//! never told (a failed batch whose rename landed is the limit `failed-batch-landed`); it may hold nothing else. What was
//! told is owed until it is spent: once an admission's clock was past all of it, the stream may be gone, or begun anew.

use super::lifespan::spent;
use super::names::{DigestKey, Names};
use super::per_node::PerNode;
use super::reading::{RecordNames, RecordReader, RecordValue, ReferenceWindow};
use super::store_acts::StoreActs;
use super::{Law, RecordImage, Setting, View};
use crate::ledger::event::{Answer, Event, Transaction};
use crate::outcome::Violation;
use crate::units::{FaultId, NodeId, SimTime};
use groundhog_engine::host::observe::RecordName;
use groundhog_engine::streams::key::{StreamKey, Table};
use groundhog_engine::streams::window::VerdictKind;
use groundhog_engine::units::WallMs;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

/// The limit that is counted, not broken.
pub const FAILED_BATCH_LANDED: &str = "failed-batch-landed";

enum Told {
    /// The highest sequence exposed.
    Sender(u64),
    /// What was dispatched or refused as a replay, and the last instant at which any of it could be delivered.
    Receiver { window: Box<ReferenceWindow>, spent: WallMs },
}

#[derive(Default)]
struct Node {
    /// The latest reading of its clock at an admission.
    latest: WallMs,
    records: indexmap::IndexMap<RecordName, (StreamKey, Told), FxBuildHasher>,
}

/// See the module.
pub struct OldOrNew {
    names: Names,
    reader: RecordReader,
    senders: RecordNames,
    nodes: PerNode<Node>,
    arrived: FxHashSet<u64>,
    failed: FxHashMap<u64, NodeId>,
    landed: u64,
    acts: StoreActs,
    /// Senders' records that somebody laid hands on: what was signed before is sent again for long, and owed by nobody.
    unowed: BTreeSet<RecordName>,
    /// Nodes whose whole store was removed: the same for every sender's record of theirs.
    unowed_of: BTreeSet<NodeId>,
    /// Nodes whose store was removed from under them, until they boot: nothing that they tell is owed.
    rootless: BTreeSet<NodeId>,
}

impl OldOrNew {
    /// Its id.
    pub const ID: &'static str = "streams/old-or-new";
    /// What it states.
    pub const STATES: &'static str = "Each record is whole at its previous or its new value after any crash (000, group commit, Atomicity).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        Self {
            names: setting.names.clone(),
            reader: setting.reader,
            senders: RecordNames::new(Table::Sender, setting.reader),
            nodes: PerNode::default(),
            arrived: FxHashSet::default(),
            failed: FxHashMap::default(),
            landed: 0,
            acts: StoreActs::of(setting),
            unowed: BTreeSet::new(),
            unowed_of: BTreeSet::new(),
            rootless: BTreeSet::new(),
        }
    }

    fn received(&mut self, node: NodeId, record: RecordName, transaction: &Transaction) {
        if self.rootless.contains(&node) {
            return;
        }
        let node = self.nodes.at(node);
        let nothing = || Told::Receiver { window: Box::default(), spent: WallMs::default() };
        let told = node.records.entry(record).or_insert_with(|| (transaction.stream, nothing()));
        if let Told::Receiver { window, spent: told } = &mut told.1 {
            if node.latest > *told {
                **window = ReferenceWindow::default();
            }
            window.observe(transaction.sequence.0, DigestKey::word(&transaction.digest));
            *told = spent(transaction).max(*told);
        }
    }

    /// Somebody laid hands on records: what was told of them is owed by nobody any more.
    fn touched(&mut self, fault: FaultId) {
        let Some(touch) = self.acts.get(fault).filter(|touch| touch.changes_records()) else { return };
        let told = &mut self.nodes.at(touch.node).records;
        if touch.is_of_all() {
            self.unowed_of.insert(touch.node);
            told.clear();
            if touch.while_it_runs {
                self.rootless.insert(touch.node);
            }
        }
        touch.records.iter().for_each(|(name, ..)| _ = told.swap_remove(name));
        let senders = touch.records.iter().filter(|(_, _, table)| *table == Table::Sender);
        self.unowed.extend(senders.map(|(name, ..)| *name));
    }

    fn exposed(&mut self, node: NodeId, transaction: &Transaction) {
        let record = self.senders.of(&transaction.stream);
        let is_unowed = self.unowed_of.contains(&node) || self.unowed.contains(&record);
        if self.rootless.contains(&node) || is_unowed {
            return;
        }
        let entry = self.nodes.at(node).records.entry(record);
        let told = entry.or_insert_with(|| (transaction.stream, Told::Sender(transaction.sequence.0)));
        if let Told::Sender(highest) = &mut told.1 {
            *highest = (*highest).max(transaction.sequence.0);
        }
    }

    fn look(&mut self, at: SimTime, node: NodeId, view: &dyn View, broken: &mut Vec<Violation>) {
        let mut lost = Vec::new();
        let state = std::mem::take(self.nodes.at(node));
        for (record, (stream, told)) in &state.records {
            let image = view.visible_image(node, *record);
            if let Some(wrong) = self.wrong(&image, told, state.latest) {
                let role = if matches!(told, Told::Sender(_)) { "sender" } else { "receiver" };
                let stream = self.names.stream(stream);
                let saw = format!("after its death {node} holds the {role} record of {stream} {wrong}");
                broken.push(Violation { law: Self::ID, at, node: Some(node), saw });
                lost.push(*record);
            }
        }
        *self.nodes.at(node) = state;
        // What is lost is told once; from here on the record is what the disk holds.
        lost.iter().for_each(|record| _ = self.nodes.at(node).records.swap_remove(record));
    }

    fn wrong(&mut self, image: &RecordImage, told: &Told, latest: WallMs) -> Option<String> {
        let is_owed = |spent: &WallMs| latest <= *spent;
        match (self.reader.image(image).map(|read| read.value), told) {
            (None, Told::Receiver { spent, .. }) if *image == RecordImage::Absent && !is_owed(spent) => None,
            (None, _) if *image == RecordImage::Absent => Some(String::from("no more")),
            (None, _) => Some(String::from("torn")),
            (Some(RecordValue::Sender(lease)), Told::Sender(highest)) => {
                (lease < *highest).then(|| format!("with lease {lease}, and had exposed sequence {highest}"))
            }
            (Some(RecordValue::Receiver(window)), Told::Receiver { window: told, spent }) => {
                let owed = is_owed(spent).then_some(&**told);
                self.older(&window, owed)
            }
            _ => Some(String::from("as a record of the other table")),
        }
    }

    fn older(&mut self, window: &ReferenceWindow, owed: Option<&ReferenceWindow>) -> Option<String> {
        let admits = |(sequence, word): &(u64, u64)| window.classify(*sequence, *word).dispatches();
        if let Some((sequence, _)) = owed.and_then(|owed| owed.taken().find(admits)) {
            let high = window.high().unwrap_or(0);
            return Some(format!("up to sequence {high} and would dispatch {sequence} again"));
        }
        if let Some((sequence, _)) = window.taken().find(|(_, word)| !self.arrived.contains(word)) {
            return Some(format!("with a digest at sequence {sequence} that never arrived"));
        }
        for (_, word) in window.taken() {
            if self.failed.remove(&word).is_some() {
                self.landed += 1;
            }
        }
        None
    }
}

impl Law for OldOrNew {
    law_identity!(Outcome reads FaultBegan, Exposed, Arrived, Answered, Booted);

    fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View, broken: &mut Vec<Violation>) {
        match event {
            Event::FaultBegan { fault } => self.touched(*fault),
            Event::Exposed { node, transaction, .. } => self.exposed(*node, transaction),
            Event::Arrived { node, wall, transaction, .. } => {
                let latest = &mut self.nodes.at(*node).latest;
                *latest = (*latest).max(*wall);
                self.arrived.insert(DigestKey::word(&transaction.digest));
            }
            Event::Answered { node, transaction, record, answer, .. } => match answer {
                Answer::Verdict(verdict) if verdict.dispatches() || *verdict == VerdictKind::Replay => {
                    self.received(*node, *record, transaction);
                    if !self.failed.is_empty() {
                        self.failed.remove(&DigestKey::word(&transaction.digest));
                    }
                }
                Answer::FailedBatch => {
                    self.failed.insert(DigestKey::word(&transaction.digest), *node);
                }
                _ => {}
            },
            Event::Booted { node, life, .. } if life.0 > 0 => {
                self.rootless.remove(node);
                self.look(at, *node, view, broken);
            }
            _ => {}
        }
    }

    fn limits(&self, into: &mut BTreeMap<&'static str, u64>) {
        if self.landed > 0 {
            *into.entry(FAILED_BATCH_LANDED).or_default() += self.landed;
        }
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{
        HONEST, Image, Ledger, brief, receiver_record, record_of, sender_record, transaction,
    };
    use crate::plan::{Death, Fault, FaultKind, StoreAct, When};

    /// Node 3 dispatched sequences 1 and 2; then it lost power and held `image`.
    fn receiver(image: Image) -> (Vec<String>, u64) {
        let mut ledger = Ledger::over(OldOrNew::new(&Ledger::setting()));
        ledger.admitted(3, &transaction(1, 3, 1, 1), HONEST, VerdictKind::First);
        ledger.admitted(3, &transaction(1, 3, 2, 2), HONEST, VerdictKind::Advance);
        ledger.arrived(3, &transaction(1, 3, 3, 3), HONEST);
        ledger.answered(3, &transaction(1, 3, 3, 3), HONEST, Answer::FailedBatch);
        ledger.view.certain(3, receiver_record(1, 3), image);
        ledger.died(3, Death::Power);
        let (saw, limits) = ledger.finish_with_limits();
        (saw, limits.get(FAILED_BATCH_LANDED).copied().unwrap_or(0))
    }

    #[test]
    fn a_window_holds_what_was_told_or_something_staged_later() {
        let told = vec![(1, 1), (2, 2)];
        assert_eq!(receiver(Image::Window(4, (1, 3), told.clone())), (vec![], 0));
        let landed = vec![(1, 1), (2, 2), (3, 3)];
        assert_eq!(receiver(Image::Window(5, (1, 3), landed)), (vec![], 1), "a failed batch landed");
        for (image, word) in [
            (Image::Absent, "no more"),
            (Image::Torn, "torn"),
            (Image::Window(3, (1, 3), vec![(1, 1)]), "would dispatch 2 again"),
            (Image::Window(6, (1, 3), vec![(1, 1), (2, 2), (9, 9)]), "never arrived"),
            (Image::Lease(4, (1, 3), 9), "the other table"),
        ] {
            let (saw, _) = receiver(image);
            assert!(saw.len() == 1 && saw[0].contains(word), "{word}: {saw:?}");
        }
    }

    /// Node 3 dispatched sequence 1 of a stream that is spent after 4,000 ms and read its clock at a later admission; then it
    /// dispatched these, lost power and held `image`.
    fn brief_receiver(clock: u64, then: &[u8], image: Image) -> Vec<String> {
        let mut ledger = Ledger::over(OldOrNew::new(&Ledger::setting()));
        ledger.admitted(3, &brief(1, 3, 1), HONEST, VerdictKind::First);
        ledger.clock_shows(clock);
        for sequence in then {
            ledger.admitted(3, &transaction_of_brief(*sequence), HONEST, VerdictKind::First);
        }
        ledger.view.certain(3, record_of(&brief(1, 3, 1)), image);
        ledger.died(3, Death::Power);
        ledger.finish()
    }

    /// The same stream, spent much later.
    fn transaction_of_brief(sequence: u8) -> Transaction {
        Transaction { expires: WallMs(50_000), ..brief(1, 3, sequence) }
    }

    #[test]
    fn a_record_falls_only_once_all_that_it_holds_is_spent() {
        let old = || Image::Window(4, (1, 3), vec![(1, 1)]);
        let anew = || Image::Window(5, (1, 3), vec![(9, 9)]);
        assert_eq!(brief_receiver(4_001, &[], Image::Absent), Vec::<String>::new());
        assert_eq!(brief_receiver(4_001, &[], old()), Vec::<String>::new(), "it may come back");
        assert!(
            brief_receiver(4_000, &[], Image::Absent)[0].contains("no more"),
            "not at the instant itself"
        );
        assert_eq!(brief_receiver(4_001, &[9], anew()), Vec::<String>::new(), "begun anew");
        assert!(brief_receiver(4_000, &[9], anew())[0].contains("would dispatch 1 again"));
        assert!(brief_receiver(4_001, &[9], Image::Absent)[0].contains("no more"), "what began anew is owed");
        assert!(brief_receiver(4_001, &[], Image::Torn)[0].contains("torn"));
    }

    #[test]
    fn a_lease_covers_every_sequence_exposed() {
        for (lease, breaks) in [(63, false), (5, false), (4, true)] {
            let mut ledger = Ledger::over(OldOrNew::new(&Ledger::setting()));
            ledger.exposed(1, &transaction(1, 3, 4, 4));
            ledger.exposed(1, &transaction(1, 3, 5, 5));
            ledger.view.certain(1, sender_record(1, 3), Image::Lease(1, (1, 3), lease));
            ledger.died(1, Death::Process);
            ledger.died(1, Death::Process);
            assert_eq!(ledger.finish().len(), usize::from(breaks), "lease {lease}");
        }
    }

    #[test]
    fn a_sender_owes_nothing_of_what_it_signed_before_its_store_was_removed() {
        for removed in [false, true] {
            let mut plan = Ledger::plan();
            let kind = FaultKind::Store { node: NodeId(1), act: StoreAct::RemoveStore, stopped_us: 1 };
            let at = When::Time { us: 0 };
            plan.faults.push(Fault { id: FaultId(0), at, until_us: None, kind });
            let mut ledger = Ledger::over(OldOrNew::new(&Ledger::setting_of(plan)));
            if removed {
                ledger.event(&Event::FaultBegan { fault: FaultId(0) });
            }
            ledger.restarted(1);
            ledger.exposed(1, &transaction(1, 3, 4, 4));
            ledger.restarted(1);
            assert_eq!(ledger.finish().len(), usize::from(!removed));
        }
    }
}
