//! `streams/bad-records-told`: each record that does not restore is told once at each open, and what is counted is what
//! happened.

use super::available::UNAVAILABLE;
use super::pending::Pending;
use super::per_node::PerNode;
use super::{Law, Setting, View};
use crate::ledger::event::Event;
use crate::ledger::kind::{EventKind, EventMask};
use crate::outcome::Violation;
use crate::units::{NodeId, SimTime};
use groundhog_engine::host::observe::{Decision, EngineEvent, RecordName, TransitionNumber};
use std::collections::BTreeSet;

#[derive(Default)]
struct Node {
    told: BTreeSet<RecordName>,
    /// Calls refused in this life, but for those that failed with a batch.
    refused: u64,
    pending: Pending<()>,
    /// The transition whose refusal was told last.
    counted: Option<TransitionNumber>,
    /// Scans of this life that failed.
    failed_scans: u32,
    /// Whether the store opened: what fails after that is something else of the node.
    opened: bool,
}

/// See the module.
#[derive(Default)]
pub struct BadRecordsTold {
    nodes: PerNode<Node>,
}

impl BadRecordsTold {
    /// Its id.
    pub const ID: &'static str = "streams/bad-records-told";
    /// What it states.
    pub const STATES: &'static str = "Each unrestorable record is logged once at load and counted, each refused call is counted, and a scan that fails as a \
         whole counts as one persistence failure (000, Bad records).";

    /// A checker for one run.
    #[must_use]
    pub fn new(_setting: &Setting) -> Self {
        Self::default()
    }

    const fn reads_now(&self) -> EventMask {
        Pending::<()>::READS.with(EventMask::of(&[
            EventKind::Booted,
            EventKind::OpenFailed,
            EventKind::EngineUnrestorable,
            EventKind::EngineOpened,
            EventKind::EngineLoadFailed,
            EventKind::EngineUnavailableRefused,
        ]))
    }

    fn engine(&mut self, node: NodeId, event: &EngineEvent<'_>) -> Option<String> {
        let state = self.nodes.at(node);
        state.refused -= state.pending.event(event).count() as u64;
        match *event {
            EngineEvent::Unrestorable { record, .. } => {
                (!state.told.insert(record)).then(|| format!("{node} told record {record} twice in one open"))
            }
            EngineEvent::Opened { unrestorable, .. } => {
                state.opened = true;
                let told = state.told.len();
                let saw = || format!("{node} counted {unrestorable} unrestorable records and told {told}");
                (told != unrestorable as usize).then(saw)
            }
            EngineEvent::LoadFailed { .. } => {
                state.failed_scans += 1;
                None
            }
            EngineEvent::UnavailableRefused { transition, record, refused } => {
                state.refused += 1;
                state.pending.push(transition, ());
                state.counted = Some(transition);
                if refused != state.refused {
                    let saw = "calls of unavailable streams and counted";
                    return Some(format!("{node} refused {} {saw} {refused}", state.refused));
                }
                let told = state.told.contains(&record);
                (!told).then(|| format!("{node} refused a stream for record {record}, which it had not told"))
            }
            EngineEvent::Transition {
                transition,
                decision: Decision::Refused { reason: UNAVAILABLE },
                ..
            } => {
                let counted = state.counted == Some(transition);
                (!counted).then(|| format!("{node} refused a stream as unavailable and did not count it"))
            }
            _ => None,
        }
    }
}

impl Law for BadRecordsTold {
    law_identity!(Mechanism reads by reads_now);

    fn event(&mut self, at: SimTime, event: &Event<'_>, _view: &dyn View, broken: &mut Vec<Violation>) {
        let (node, saw) = match event {
            Event::Booted { node, .. } => {
                *self.nodes.at(*node) = Node::default();
                return;
            }
            Event::OpenFailed { node, reason, .. } if *reason != "unscheduled" => {
                let state = self.nodes.at(*node);
                let (scans, due) = (state.failed_scans, u32::from(!state.opened));
                let saw = format!("{node} did not open, and told {scans} scans that failed");
                (*node, (scans != due).then_some(saw))
            }
            Event::Engine { node, event, .. } => (*node, self.engine(*node, event)),
            _ => return,
        };
        broken.extend(saw.map(|saw| Violation { law: Self::ID, at, node: Some(node), saw }));
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{Ledger, record, stream};
    use crate::units::Life;
    use groundhog_engine::host::observe::BatchNumber;
    use groundhog_engine::streams::key::Table;

    /// Node 3 tells these records at its open and counts so many, then refuses a call for record 1 and counts it as this.
    fn run(told: &[u8], counted: u32, refused: Option<u64>) -> usize {
        let mut ledger = Ledger::over(BadRecordsTold::new(&Ledger::setting()));
        for number in told {
            let unrestorable =
                EngineEvent::Unrestorable { record: record(*number), reason: "missing", spells: None };
            ledger.engine(3, unrestorable);
        }
        let opened = EngineEvent::Opened { restored: 0, unrestorable: counted, next_batch: BatchNumber(1) };
        ledger.engine(3, opened);
        let (transition, record, stream) = (TransitionNumber(0), record(1), stream(1, 3));
        if let Some(refused) = refused {
            ledger.engine(3, EngineEvent::UnavailableRefused { transition, record, refused });
        }
        let (table, staged, decision) = (Table::Receiver, None, Decision::Refused { reason: UNAVAILABLE });
        let stream = &stream;
        ledger.engine(3, EngineEvent::Transition { transition, stream, table, record, decision, staged });
        ledger.finish().len()
    }

    #[test]
    fn what_is_counted_is_what_was_told() {
        assert_eq!(run(&[1, 2], 2, Some(1)), 0);
        assert_eq!(run(&[1, 2], 1, Some(1)), 1);
        assert_eq!(run(&[1, 1], 1, Some(1)), 1, "told twice");
        assert_eq!(run(&[1], 1, Some(2)), 1, "counted twice");
        assert_eq!(run(&[1], 1, None), 1, "not counted");
        assert_eq!(run(&[2], 1, Some(1)), 1, "of a record that restores");
    }

    #[test]
    fn a_scan_that_fails_is_told_once() {
        for (told, breaks) in [(0, 1), (1, 0), (2, 1)] {
            let mut ledger = Ledger::over(BadRecordsTold::new(&Ledger::setting()));
            (0..told).for_each(|_| ledger.engine(3, EngineEvent::LoadFailed { reason: "disk" }));
            ledger.event(&Event::OpenFailed { node: NodeId(3), life: Life(0), reason: "disk" });
            assert_eq!(ledger.finish().len(), breaks, "{told}");
        }
    }
}
