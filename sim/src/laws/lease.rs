//! `streams/lease`: no signature is exposed over a sequence that the sender's durable record does not cover; a lease covers
//! 64, and a crash skips no more. A second runtime goes on from where the first was, as after a crash.

use super::names::Names;
use super::per_node::PerNode;
use super::reading::{RecordNames, RecordReader, RecordValue};
use super::store_acts::StoreActs;
use super::{Law, Setting, View};
use crate::ledger::event::{Event, Transaction};
use crate::outcome::Violation;
use crate::units::{FaultId, Life, NodeId, SimTime};
use groundhog_engine::host::observe::{Decision, EngineEvent};
use groundhog_engine::streams::key::{StreamKey, Table};
use groundhog_engine::units::Sequence;
use rustc_hash::FxHashMap;

/// Sequences that a lease covers at least (000, `TRANSACTION_SEQUENCE_LEASE`).
pub const LEASE: u64 = 64;

#[derive(Default)]
struct Exposures {
    life: Life,
    /// The highest lease that was certain in this life.
    certain: Option<u64>,
}

#[derive(Clone, Default)]
struct Reservations {
    sequences: u64,
    writes: u64,
    /// Lives in which the stream was reserved of, and failed batches in between: each may cost a write more.
    begun: u64,
    life: Option<(Life, u64)>,
}

#[derive(Default)]
struct Node {
    restarts: u64,
    /// Of these, those of the runtime whose copy the node began as, and that beginning.
    inherited: u64,
    failures: u64,
}

/// See the module.
pub struct Lease {
    names: Names,
    reader: RecordReader,
    records: RecordNames,
    nodes: PerNode<Node>,
    exposures: FxHashMap<(NodeId, StreamKey), Exposures>,
    reservations: FxHashMap<(NodeId, StreamKey), Reservations>,
    acts: StoreActs,
}

impl Lease {
    /// Its id.
    pub const ID: &'static str = "streams/lease";
    /// What it states.
    pub const STATES: &'static str = "The sender never exposes a signature over a sequence its durable record does not cover; it writes once per 64 \
         transactions, and a crash leaves a gap of at most 64 (000, Persistence and bounds).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        Self {
            names: setting.names.clone(),
            reader: setting.reader,
            records: RecordNames::new(Table::Sender, setting.reader),
            nodes: PerNode::default(),
            exposures: FxHashMap::default(),
            reservations: FxHashMap::default(),
            acts: StoreActs::of(setting),
        }
    }

    /// Somebody is about to lay hands on the records of a running node: it may go on under the leases that are there now.
    fn touched(&mut self, fault: FaultId, view: &dyn View) {
        let Some(touch) = self.acts.get(fault).filter(|touch| touch.while_it_runs) else { return };
        for ((node, stream), reserved) in &self.reservations {
            if let (true, Some((life, _))) = (*node == touch.node, reserved.life) {
                let certain = certain_lease(self.reader, view, *node, self.records.of(stream));
                self.exposures.insert((*node, *stream), Exposures { life, certain });
            }
        }
    }

    fn exposed(
        &mut self,
        node: NodeId,
        life: Life,
        transaction: &Transaction,
        view: &dyn View,
    ) -> Option<String> {
        let restarts = self.nodes.at(node).restarts;
        let stream = &transaction.stream;
        let sequence = transaction.sequence.0;
        let state = self.exposures.entry((node, *stream)).or_default();
        if state.life != life {
            (state.life, state.certain) = (life, None);
        }
        if state.certain.is_none_or(|certain| certain < sequence) {
            let certain = certain_lease(self.reader, view, node, self.records.of(stream));
            state.certain = certain;
            if certain.is_none_or(|certain| certain < sequence) {
                let covers = certain.map_or_else(
                    || String::from("no lease is certain"),
                    |lease| format!("the certain lease ends at {lease}"),
                );
                return Some(format!("exposed {}, and {covers}", self.names.transaction(transaction)));
            }
        }
        // A stream begins at 0: what lies below a sequence was reserved, or skipped by a restart with a lease's rest.
        let reserved =
            self.reservations.get(&(node, *stream)).map_or(0, |reservations| reservations.sequences);
        let skipped = sequence.saturating_add(1).saturating_sub(reserved);
        (skipped > LEASE * restarts).then(|| {
            let name = self.names.transaction(transaction);
            format!("exposed {name}, and {restarts} restarts skipped at least {skipped} sequences below it, 64 each are due")
        })
    }

    fn second_runtime(&mut self, node: NodeId, of: NodeId) {
        let inherited = self.nodes.at(of).restarts + 1;
        self.nodes.at(node).inherited = inherited;
        let first: Vec<_> = self
            .reservations
            .iter()
            .filter(|((first, _), _)| *first == of)
            .map(|((_, stream), state)| ((node, *stream), state.clone()))
            .collect();
        self.reservations.extend(first);
    }

    fn reserved(
        &mut self,
        (node, life): (NodeId, Life),
        stream: &StreamKey,
        (first, last, lease): (Sequence, Sequence, Sequence),
        wrote: bool,
    ) -> Option<String> {
        let failures = self.nodes.at(node).failures;
        let state = self.reservations.entry((node, *stream)).or_default();
        if state.life != Some((life, failures)) {
            state.life = Some((life, failures));
            state.begun += 1;
        }
        state.sequences += last.0 - first.0 + 1;
        state.writes += u64::from(wrote);
        let whole_lease = last.0.max(first.0.saturating_add(LEASE - 1));
        let allowed = state.sequences.div_ceil(LEASE) + state.begun;
        let name = || self.names.stream(stream);
        if wrote && lease.0 != whole_lease {
            return Some(format!(
                "leased {}#{lease} for {first} to {last}, a lease of 64 ends at {whole_lease}",
                name()
            ));
        }
        if lease < last {
            return Some(format!(
                "reserved {first} to {last} of {}, which its lease {lease} does not cover",
                name()
            ));
        }
        (state.writes > allowed).then(|| {
            format!(
                "wrote {} leases of {} for {} sequences, at most {allowed} are needed",
                state.writes,
                name(),
                state.sequences
            )
        })
    }
}

/// The lease that every surviving state of the record covers.
fn certain_lease(
    reader: RecordReader,
    view: &dyn View,
    node: NodeId,
    record: groundhog_engine::host::observe::RecordName,
) -> Option<u64> {
    let images = view.surviving_images(node, record);
    let leases = images.iter().map(|image| match reader.image(image)?.value {
        RecordValue::Sender(lease) => Some(lease),
        RecordValue::Receiver(_) => None,
    });
    leases.min().flatten()
}

impl Law for Lease {
    law_identity!(Mechanism reads FaultBegan, Booted, SecondRuntime, Exposed, EngineTransition, EngineBatchFailed);

    fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View, broken: &mut Vec<Violation>) {
        let wrong = match event {
            Event::Booted { node, life, .. } => {
                let state = self.nodes.at(*node);
                state.restarts = state.inherited + u64::from(life.0);
                return;
            }
            Event::FaultBegan { fault } => return self.touched(*fault, view),
            Event::SecondRuntime { node, of } => return self.second_runtime(*node, *of),
            Event::Exposed { node, life, transaction, .. } => {
                self.exposed(*node, *life, transaction, view).map(|wrong| (*node, wrong))
            }
            Event::Engine { node, event: EngineEvent::BatchFailed { .. }, .. } => {
                self.nodes.at(*node).failures += 1;
                return;
            }
            Event::Engine { node, life, event: EngineEvent::Transition { stream, decision, staged, .. } } => {
                let Decision::Reserved { first, last, lease } = *decision else { return };
                let wrong = self.reserved((*node, *life), stream, (first, last, lease), staged.is_some());
                wrong.map(|wrong| (*node, wrong))
            }
            _ => return,
        };
        if let Some((node, wrong)) = wrong {
            broken.push(Violation { law: Self::ID, at, node: Some(node), saw: format!("{node} {wrong}") });
        }
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{Image, Ledger, reservation, sender_record, transaction};
    use crate::plan::{Fault, FaultKind, StoreAct, When};

    fn ledger() -> Ledger<Lease> {
        Ledger::over(Lease::new(&Ledger::setting()))
    }

    #[test]
    fn a_running_node_goes_on_under_the_leases_that_it_had_when_its_store_was_removed() {
        for (sequence, touched, breaks) in [(4, true, 0), (4, false, 1), (64, true, 1)] {
            let mut plan = Ledger::plan();
            let kind = FaultKind::Store { node: NodeId(1), act: StoreAct::RemoveStore, stopped_us: 0 };
            plan.faults.push(Fault { id: FaultId(0), at: When::Time { us: 0 }, until_us: None, kind });
            let mut ledger = Ledger::over(Lease::new(&Ledger::setting_of(plan)));
            let lease = Image::Lease(1, (1, 3), 63);
            ledger.view.surviving(1, sender_record(1, 3), &[lease]);
            (0..=sequence).for_each(|first| ledger.engine(1, reservation(first, first, first.max(63), None)));
            if touched {
                ledger.event(&Event::FaultBegan { fault: FaultId(0) });
            }
            ledger.view = Default::default();
            ledger.exposed(1, &transaction(1, 3, sequence, 4));
            assert_eq!(ledger.finish().len(), breaks, "{sequence} {touched}");
        }
    }

    #[test]
    fn what_is_exposed_is_covered_by_every_surviving_lease() {
        let lease = |lease| Image::Lease(1, (1, 3), lease);
        for (images, breaks) in [
            (vec![lease(63)], false),
            (vec![lease(63), lease(127)], false),
            (vec![lease(63), lease(3)], true),
            (vec![lease(63), Image::Absent], true),
            (vec![], true),
        ] {
            let mut ledger = ledger();
            ledger.view.surviving(1, sender_record(1, 3), &images);
            (0..5).for_each(|first| ledger.engine(1, reservation(first, first, 63, None)));
            ledger.exposed(1, &transaction(1, 3, 4, 4));
            assert_eq!(ledger.finish().len(), usize::from(breaks), "{images:?}");
        }
    }

    #[test]
    fn a_restart_skips_at_most_a_lease() {
        // Reserved in the first life, exposed in the second.
        for (reserved, next, breaks) in [(1, 64, false), (1, 65, true), (2, 65, false), (2, 66, true)] {
            let mut ledger = ledger();
            ledger.view.surviving(1, sender_record(1, 3), &[Image::Lease(1, (1, 3), 127)]);
            (0..reserved).for_each(|first| ledger.engine(1, reservation(first, first, 63, None)));
            ledger.exposed(1, &transaction(1, 3, 0, 1));
            ledger.restarted(1);
            ledger.exposed(1, &transaction(1, 3, next, 2));
            assert_eq!(ledger.finish().len(), usize::from(breaks), "{reserved} {next}");
        }
    }

    #[test]
    fn a_lease_covers_64_and_is_written_once_for_them() {
        let mut good = ledger();
        good.engine(1, reservation(0, 0, 63, Some(1)));
        (1..64).for_each(|first| good.engine(1, reservation(first, first, 63, None)));
        good.engine(1, reservation(64, 64, 127, Some(2)));
        assert_eq!(good.finish(), Vec::<String>::new());

        let mut short = ledger();
        short.engine(1, reservation(0, 0, 0, Some(1)));
        assert!(short.finish()[0].contains("a lease of 64 ends at 63"));

        let mut uncovered = ledger();
        uncovered.engine(1, reservation(0, 64, 63, None));
        assert!(uncovered.finish()[0].contains("does not cover"));

        let mut often = ledger();
        (0..3).for_each(|first| often.engine(1, reservation(first, first, first + 63, Some(first))));
        let saw = often.finish();
        assert!(saw.len() == 1 && saw[0].contains("wrote 3 leases"), "{saw:?}");
    }
}
