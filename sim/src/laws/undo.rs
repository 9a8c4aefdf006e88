//! `commit/undo`: what failed never was. Each decision of an engine equals that of a reference which reads transitions in
//! lock order, and from which a failed batch and the one gathering on it are taken back.
//!
//! A record's reference begins, in each life, from what the disk showed at its first transition.

use super::names::{DigestKey, Names};
use super::per_node::PerNode;
use super::reading::{RecordReader, RecordValue, ReferenceWindow};
use super::{Law, RecordImage, Setting, View};
use crate::ledger::event::Event;
use crate::outcome::Violation;
use crate::units::{NodeId, SimTime};
use groundhog_engine::host::observe::{BatchNumber, Decision, EngineEvent, RecordName};
use groundhog_engine::streams::key::{StreamKey, Table};
use groundhog_engine::streams::window::VerdictKind;
use rustc_hash::FxHashMap;
use std::collections::VecDeque;

#[derive(Clone)]
enum Reference {
    Window(Box<ReferenceWindow>),
    /// The next sequence lies in this range. It is one, unless a reservation that wrote nothing met a failed batch: then it
    /// may have been taken back or may stand.
    Next {
        low: u64,
        high: u64,
    },
    /// The record was not whole: the engine refuses the stream.
    Unknown,
}

impl Reference {
    fn of(image: &RecordImage, table: Table, reader: RecordReader) -> Self {
        match (reader.image(image).map(|read| read.value), table) {
            (Some(RecordValue::Receiver(window)), Table::Receiver) => Reference::Window(Box::new(window)),
            (Some(RecordValue::Sender(lease)), Table::Sender) => {
                Reference::Next { low: lease.saturating_add(1), high: lease.saturating_add(1) }
            }
            (None, Table::Receiver) if *image == RecordImage::Absent => Reference::Window(Box::default()),
            (None, Table::Sender) if *image == RecordImage::Absent => Reference::Next { low: 0, high: 0 },
            _ => Reference::Unknown,
        }
    }
}

struct Pending {
    batch: BatchNumber,
    record: RecordName,
    wrote: bool,
    before: Reference,
}

#[derive(Default)]
struct Node {
    references: FxHashMap<RecordName, Reference>,
    pending: VecDeque<Pending>,
    newest: BatchNumber,
    durable: BatchNumber,
    failed_since: bool,
    /// Windows that nobody needs, so that a transition costs no allocation.
    #[expect(clippy::vec_box, reason = "the boxes are what is kept")]
    spare: Vec<Box<ReferenceWindow>>,
}

impl Node {
    /// The record's reference before a transition, to go back to.
    fn saved(&mut self, record: RecordName) -> Option<Reference> {
        let Reference::Window(window) = self.references.get(&record)? else {
            return self.references.get(&record).cloned();
        };
        Some(Reference::Window(match self.spare.pop() {
            Some(mut spare) => {
                spare.clone_from(window);
                spare
            }
            None => window.clone(),
        }))
    }

    /// The batch that a transition which wrote nothing waits for, as far as events tell.
    fn waits_for(&self) -> Option<BatchNumber> {
        if self.newest > self.durable {
            return Some(self.newest);
        }
        self.failed_since.then_some(BatchNumber(self.newest.0 + 1))
    }

    fn failed(&mut self) {
        self.failed_since = true;
        while let Some(pending) = self.pending.pop_back() {
            let Some(now) = self.references.get_mut(&pending.record) else { continue };
            match (&*now, &pending.before) {
                (Reference::Next { high, .. }, Reference::Next { low, .. }) if !pending.wrote => {
                    *now = Reference::Next { low: *low, high: *high };
                }
                _ => *now = pending.before,
            }
        }
    }

    fn durable(&mut self, batch: BatchNumber) {
        (self.durable, self.failed_since) = (batch, false);
        while self.pending.front().is_some_and(|pending| pending.batch <= batch) {
            let settled = self.pending.pop_front();
            if let Some(Pending { before: Reference::Window(window), .. }) = settled {
                self.spare.push(window);
            }
        }
    }
}

/// See the module.
pub struct Undo {
    names: Names,
    reader: RecordReader,
    nodes: PerNode<Node>,
}

impl Undo {
    /// Its id.
    pub const ID: &'static str = "commit/undo";
    /// What it states.
    pub const STATES: &'static str = "Verdicts and reservations after a failed batch equal those of a reference that never saw the failed transitions \
         (000, group commit, Fail closed; design section 5).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        Self { names: setting.names.clone(), reader: setting.reader, nodes: PerNode::default() }
    }

    /// A stream begins anew after this, unless the batch fails.
    fn retired(&mut self, node: NodeId, record: RecordName, batch: BatchNumber, view: &dyn View) {
        let reader = self.reader;
        let state = self.nodes.at(node);
        state.newest = state.newest.max(batch);
        let begin = || Reference::of(&view.visible_image(node, record), Table::Receiver, reader);
        state.references.entry(record).or_insert_with(begin);
        if let Some(before) = state.saved(record) {
            state.pending.push_back(Pending { batch, record, wrote: true, before });
        }
        state.references.insert(record, Reference::Window(Box::default()));
    }

    fn transition(
        &mut self,
        node: NodeId,
        (stream, table, record): (&StreamKey, Table, RecordName),
        decision: Decision,
        staged: Option<BatchNumber>,
        view: &dyn View,
    ) -> Option<String> {
        let reader = self.reader;
        let state = self.nodes.at(node);
        state.newest = state.newest.max(staged.unwrap_or_default());
        let waits_for = staged.or_else(|| state.waits_for());
        let begin = || Reference::of(&view.visible_image(node, record), table, reader);
        state.references.entry(record).or_insert_with(begin);
        let changes = staged.is_some() || matches!(decision, Decision::Reserved { .. });
        if changes
            && let Some(batch) = waits_for
            && let Some(before) = state.saved(record)
        {
            state.pending.push_back(Pending { batch, record, wrote: staged.is_some(), before });
        }
        match (decision, state.references.get_mut(&record)?) {
            // The window was not asked.
            (Decision::Verdict { verdict: VerdictKind::Redelivered, .. }, _) => None,
            (Decision::Verdict { verdict, sequence, digest }, Reference::Window(window)) => {
                let expected = window.observe(sequence.0, DigestKey::word(&digest));
                (expected != verdict).then(|| {
                    let stream = self.names.stream(stream);
                    let (told, expected) = (verdict.id(), expected.id());
                    format!(
                        "judged {stream}#{sequence} as {told}, and what is not undone makes it {expected}"
                    )
                })
            }
            (Decision::Reserved { first, last, .. }, Reference::Next { low, high }) => {
                let wrong = (first.0 < *low || first.0 > *high).then(|| {
                    let stream = self.names.stream(stream);
                    format!("reserved {first} of {stream}, and the next sequence that is not undone is {low}")
                });
                (*low, *high) = (last.0.saturating_add(1), last.0.saturating_add(1));
                wrong
            }
            _ => None,
        }
    }
}

impl Law for Undo {
    law_identity!(Mechanism reads Booted, EngineTransition, EngineRetired, EngineBatchClosed, EngineBatchDurable,
        EngineBatchFailed);

    fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View, broken: &mut Vec<Violation>) {
        let (node, event) = match event {
            Event::Booted { node, .. } => {
                *self.nodes.at(*node) = Node::default();
                return;
            }
            Event::Engine { node, event, .. } => (*node, event),
            _ => return,
        };
        match event {
            EngineEvent::Transition { stream, table, record, decision, staged, .. } => {
                let subject = (*stream, *table, *record);
                if let Some(wrong) = self.transition(node, subject, *decision, *staged, view) {
                    broken.push(Violation {
                        law: Self::ID,
                        at,
                        node: Some(node),
                        saw: format!("{node} {wrong}"),
                    });
                }
            }
            EngineEvent::Retired { record, staged, .. } => self.retired(node, *record, *staged, view),
            EngineEvent::BatchClosed { batch, .. } => {
                let state = self.nodes.at(node);
                state.newest = state.newest.max(*batch);
            }
            EngineEvent::BatchDurable { batch } => self.nodes.at(node).durable(*batch),
            EngineEvent::BatchFailed { .. } => self.nodes.at(node).failed(),
            _ => {}
        }
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{Image, Ledger, judgement, receiver_record, reservation, transaction};
    use groundhog_engine::streams::window::VerdictKind;

    fn ledger() -> Ledger<Undo> {
        Ledger::over(Undo::new(&Ledger::setting()))
    }

    /// Sequence 5 is durable; 6 is in flight and 7 gathers when the batch of 6 fails.
    fn failed() -> Ledger<Undo> {
        let mut ledger = ledger();
        ledger.engine(3, judgement(0, 5, VerdictKind::First, Some(1)));
        ledger.closed(3, 1);
        ledger.durable(3, 1);
        ledger.engine(3, judgement(1, 6, VerdictKind::Advance, Some(2)));
        ledger.closed(3, 2);
        ledger.engine(3, judgement(2, 7, VerdictKind::Advance, Some(3)));
        ledger.failed(3, 2, 2);
        ledger
    }

    #[test]
    fn what_failed_never_was() {
        let mut good = failed();
        good.engine(3, judgement(3, 7, VerdictKind::Advance, Some(4)));
        good.engine(3, judgement(4, 6, VerdictKind::Late, Some(4)));
        good.engine(3, judgement(5, 5, VerdictKind::Replay, None));
        assert_eq!(good.finish(), Vec::<String>::new());

        let mut kept = failed();
        kept.engine(3, judgement(3, 6, VerdictKind::Replay, None));
        assert_eq!(
            kept.finish(),
            ["node 3 judged node 1->node 3/application#6 as replay, and what is not undone makes it advance"]
        );
    }

    #[test]
    fn a_retired_stream_begins_anew_unless_its_batch_failed() {
        for (fails, verdict, breaks) in [
            (false, VerdictKind::First, false),
            (false, VerdictKind::Replay, true),
            (true, VerdictKind::Replay, false),
            (true, VerdictKind::First, true),
        ] {
            let mut ledger = ledger();
            ledger.view.certain(3, receiver_record(1, 3), Image::Window(1, (1, 3), vec![(5, 1)]));
            ledger.retired(3, &transaction(1, 3, 5, 1), 2);
            ledger.closed(3, 2);
            if fails {
                ledger.failed(3, 2, 1);
            } else {
                ledger.durable(3, 2);
            }
            ledger.engine(3, judgement(0, 5, verdict, None));
            assert_eq!(ledger.finish().len(), usize::from(breaks), "fails: {fails}, {verdict:?}");
        }
    }

    #[test]
    fn undone_sequences_are_reserved_again() {
        let mut good = ledger();
        good.engine(1, reservation(0, 0, 63, Some(1)));
        good.engine(1, reservation(1, 1, 63, None));
        good.closed(1, 1);
        good.failed(1, 1, 2);
        good.engine(1, reservation(2, 0, 63, Some(2)));
        good.closed(1, 2);
        good.durable(1, 2);
        good.engine(1, reservation(3, 1, 63, None));
        assert_eq!(good.finish(), Vec::<String>::new());

        let mut skipped = ledger();
        skipped.engine(1, reservation(0, 0, 63, Some(1)));
        skipped.closed(1, 1);
        skipped.failed(1, 1, 1);
        skipped.engine(1, reservation(1, 1, 64, Some(2)));
        assert_eq!(
            skipped.finish(),
            [
                "node 1 reserved 1 of node 1->node 3/application, and the next sequence that is not undone is 0"
            ]
        );
    }

    #[test]
    fn a_life_begins_from_what_the_disk_shows() {
        for (verdict, breaks) in [(VerdictKind::Replay, false), (VerdictKind::First, true)] {
            let mut ledger = ledger();
            ledger.view.certain(3, receiver_record(1, 3), Image::Window(1, (1, 3), vec![(5, 1)]));
            ledger.engine(3, judgement(0, 5, verdict, None));
            assert_eq!(ledger.finish().len(), usize::from(breaks));
        }
    }
}
