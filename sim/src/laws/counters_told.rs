//! `streams/counters-told`: every counter equals what the engine reported of its transitions and batches in this life.
//!
//! Exact, where `streams/counters` has bounds: what is reported is reported under the lock, as it is counted. A node that dies
//! while a transition holds its lock cannot be asked.

use super::available::{CAPACITY, SPENT, UNAVAILABLE};
use super::counters::{EXHAUSTED, NOT_IN_CUSTODY, of_quota, quota_rows};
use super::counters_asked::{Expected, Lives};
use super::pending::Pending;
use super::stall_ends::CUSTODY_FULL;
use super::{Law, Setting, View};
use crate::ledger::event::Event;
use crate::ledger::kind::{EventKind, EventMask};
use crate::outcome::Violation;
use crate::units::SimTime;
use groundhog_engine::host::observe::{CustodyChange, Decision, EngineEvent, TransitionNumber};
use groundhog_engine::streams::Counters;
use groundhog_engine::streams::key::{Class, Table};
use groundhog_engine::streams::slots::CapacityBound;
use groundhog_engine::streams::window::VerdictKind;

/// One change of a counter.
#[derive(Clone, Copy)]
enum Change {
    Of(fn(&mut Counters) -> &mut u64),
    Bound(CapacityBound),
    Quota(&'static str, Class),
}

impl Change {
    fn of(self, counters: &mut Counters) -> &mut u64 {
        match self {
            Change::Of(counter) => counter(counters),
            Change::Bound(bound) => counters.stream_capacity_exceeded.at(bound),
            Change::Quota(reason, lane) => {
                of_quota(&mut counters.quota, reason, lane).expect("only reasons of quotas are kept")
            }
        }
    }
}

/// What a decision counts as.
fn change_of(decision: &Decision, table: Table, lane: Class) -> Option<Change> {
    let counter: fn(&mut Counters) -> &mut u64 = match decision {
        Decision::Verdict { verdict: VerdictKind::Replay, .. } => |counters| &mut counters.replay,
        Decision::Verdict { verdict: VerdictKind::Fork, .. } => |counters| &mut counters.fork,
        Decision::Verdict { verdict: VerdictKind::Stale, .. } => |counters| &mut counters.stale,
        Decision::Verdict { verdict: VerdictKind::Redelivered, .. } => {
            |counters| &mut counters.custody.redelivered
        }
        Decision::Taken { .. } => |counters| &mut counters.custody.taken,
        Decision::Refused { reason } => match *reason {
            SPENT => |counters| &mut counters.spent,
            UNAVAILABLE => |counters| &mut counters.unavailable_stream,
            EXHAUSTED => |counters| &mut counters.sequence_exhausted,
            CUSTODY_FULL => |counters| &mut counters.custody.refused_full,
            NOT_IN_CUSTODY => |counters| &mut counters.custody.not_in_custody,
            // Of the receiver's table it is told which bound.
            CAPACITY if table == Table::Sender => {
                |counters| &mut counters.stream_capacity_exceeded.sender_table
            }
            reason => {
                let is_quota = of_quota(&mut Default::default(), reason, lane).is_some();
                return is_quota.then_some(Change::Quota(reason, lane));
            }
        },
        Decision::Verdict { .. } | Decision::Reserved { .. } => return None,
    };
    Some(Change::Of(counter))
}

#[derive(Default)]
struct Node {
    reported: Counters,
    pending: Pending<Change>,
}

impl Node {
    fn count(&mut self, transition: TransitionNumber, change: Option<Change>) {
        if let Some(change) = change {
            *change.of(&mut self.reported) += 1;
            self.pending.push(transition, change);
        }
    }

    fn engine(&mut self, event: &EngineEvent<'_>) {
        match *event {
            EngineEvent::Transition { transition, stream, table, ref decision, .. } => {
                self.count(transition, change_of(decision, table, stream.class));
            }
            EngineEvent::LinkLocal { transition, stream, ref decision } => {
                self.count(transition, change_of(decision, Table::Receiver, stream.class));
            }
            EngineEvent::Retired { transition, .. } => {
                self.count(transition, Some(Change::Of(|counters| &mut counters.retired)));
            }
            EngineEvent::BoundMet { transition, bound, .. } => {
                self.count(transition, Some(Change::Bound(bound)));
            }
            EngineEvent::Custody { transition, change, .. } => {
                let counter: fn(&mut Counters) -> &mut u64 = match change {
                    CustodyChange::TakenIn { .. } => |counters| &mut counters.custody.taken_in,
                    CustodyChange::Expired { .. } | CustodyChange::Dropped => {
                        |counters| &mut counters.custody.expired
                    }
                    // Their transitions say so too.
                    CustodyChange::Redelivered | CustodyChange::Taken => return,
                };
                self.count(transition, Some(Change::Of(counter)));
            }
            EngineEvent::Unrestorable { .. } => self.reported.unrestorable_record += 1,
            EngineEvent::BatchFailed { .. } => self.reported.persistence_failure += 1,
            _ => {}
        }
        for undone in self.pending.event(event) {
            *undone.of(&mut self.reported) -= 1;
        }
    }
}

impl Expected for Node {
    fn wrong(&self, counted: &Counters) -> Option<String> {
        if *counted == self.reported {
            return None;
        }
        let mut differing = rows(counted).zip(rows(&self.reported)).filter(|(counted, told)| counted != told);
        let ((name, counted), (_, reported)) = differing.next()?;
        Some(format!("counts {counted} of {name}, and reported {reported} in this life"))
    }
}

/// Each counter, with its name.
fn rows(counters: &Counters) -> impl Iterator<Item = (String, u64)> + use<> {
    let Counters {
        replay,
        fork,
        stale,
        spent,
        persistence_failure,
        unrestorable_record,
        unavailable_stream,
        stream_capacity_exceeded: refused,
        sequence_exhausted,
        retired,
        quota,
        custody,
    } = *counters;
    let rows = [
        ("replay", replay),
        ("fork", fork),
        ("stale", stale),
        ("spent", spent),
        ("persistence-failure", persistence_failure),
        ("unrestorable-record", unrestorable_record),
        ("unavailable-stream", unavailable_stream),
        ("refused at a floor", refused.floor),
        ("refused at a claim", refused.claim),
        ("refused at the pool", refused.pool),
        ("refused at the inbox's share", refused.inbox),
        ("refused at the node's own share", refused.self_share),
        ("refused at the receiver's table", refused.table),
        ("refused at the sender's table", refused.sender_table),
        ("sequence-exhausted", sequence_exhausted),
        ("retired", retired),
        ("taken into custody", custody.taken_in),
        ("redelivered", custody.redelivered),
        ("taken", custody.taken),
        ("expired in custody", custody.expired),
        ("relay-custody-full", custody.refused_full),
        ("not-in-custody", custody.not_in_custody),
    ];
    rows.into_iter().map(|(name, count)| (name.to_owned(), count)).chain(quota_rows(&quota))
}

/// See the module.
#[derive(Default)]
pub struct CountersTold {
    nodes: Lives<Node>,
}

impl CountersTold {
    /// Its id.
    pub const ID: &'static str = "streams/counters-told";
    /// What it states.
    pub const STATES: &'static str = "Every counter equals what was reported of this life's transitions, those that failed with a batch not among them, \
         and each failed batch is counted once as a persistence failure (000, Persistence and bounds; Bad records).";

    const READS: EventMask = Pending::<Change>::READS.with(EventMask::of(&[
        EventKind::Booted,
        EventKind::Died,
        EventKind::Quiesced,
        EventKind::EngineRetired,
        EventKind::EngineBoundMet,
        EventKind::EngineCustody,
        EventKind::EngineUnrestorable,
    ]));

    /// A checker for one run.
    #[must_use]
    pub fn new(_setting: &Setting) -> Self {
        Self::default()
    }

    const fn reads_now(&self) -> EventMask {
        Self::READS
    }
}

impl Law for CountersTold {
    law_identity!(Mechanism reads by reads_now);

    fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View, broken: &mut Vec<Violation>) {
        match event {
            Event::Booted { node, .. } => self.nodes.begin(*node),
            Event::Died { node, .. } => self.nodes.ask(Self::ID, at, *node, view, broken),
            Event::Quiesced => self.nodes.ask_all(Self::ID, at, view, broken),
            Event::Engine { node, event, .. } => {
                self.nodes.at(*node).engine(event);
                // Reported after the undo, when the lock is free again.
                if let EngineEvent::BatchFailed { .. } = event {
                    self.nodes.ask(Self::ID, at, *node, view, broken);
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, at: SimTime, view: &dyn View, broken: &mut Vec<Violation>) {
        self.nodes.ask_all(Self::ID, at, view, broken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{Ledger, admission, judgement, record, stream};
    use crate::plan::Death;
    use crate::units::NodeId;
    use groundhog_engine::host::observe::BatchNumber;

    const BATCH: BatchNumber = BatchNumber(1);

    fn counted(replay: u64, persistence_failure: u64) -> Counters {
        Counters { replay, persistence_failure, ..Counters::default() }
    }

    /// A replay before a batch, one that waits for it, and one after it was closed.
    fn three_replays(ends: EngineEvent<'static>) -> Ledger<CountersTold> {
        let mut ledger = Ledger::over(CountersTold::new(&Ledger::setting()));
        let replay = |transition| judgement(transition, 1, VerdictKind::Replay, None);
        ledger.engine(3, replay(0));
        ledger.engine(3, admission(1, 5, 5, 1));
        ledger.engine(3, replay(2));
        ledger.engine(3, EngineEvent::BatchClosed { batch: BATCH, records: &[], transitions: 2 });
        ledger.engine(3, replay(3));
        ledger.engine(3, ends);
        ledger
    }

    #[test]
    fn a_failed_batch_takes_back_what_waited_for_it_and_counts_once() {
        let failed = EngineEvent::BatchFailed { batch: BATCH, undone: 3, state_digest: [0; 32] };
        for (counts, breaks) in
            [(counted(1, 1), 0), (counted(3, 1), 1), (counted(1, 0), 1), (counted(0, 1), 1)]
        {
            let mut ledger = three_replays(failed);
            ledger.view.counters.insert(NodeId(3), counts);
            assert_eq!(ledger.finish().len(), breaks, "{counts:?}");
        }
        let durable = EngineEvent::BatchDurable { batch: BATCH };
        for (counts, breaks) in [(counted(3, 0), 0), (counted(1, 0), 1)] {
            let mut ledger = three_replays(durable);
            ledger.view.counters.insert(NodeId(3), counts);
            assert_eq!(ledger.finish().len(), breaks, "{counts:?}");
        }
    }

    #[test]
    fn it_is_asked_at_a_death_and_a_life_begins_at_zero() {
        let durable = EngineEvent::BatchDurable { batch: BATCH };
        for (before, after, breaks) in [(3, 0, 0), (2, 0, 1), (3, 3, 1)] {
            let mut ledger = three_replays(durable);
            ledger.view.counters.insert(NodeId(3), counted(before, 0));
            ledger.died(3, Death::Power);
            ledger.view.counters.insert(NodeId(3), counted(after, 0));
            assert_eq!(ledger.finish().len(), breaks, "{before}, then {after}");
        }
    }

    #[test]
    fn every_kind_of_report_has_its_own_counter() {
        let (transition, stream) = (TransitionNumber(0), &stream(1, 3));
        let refused = |table, reason| EngineEvent::Transition {
            transition,
            stream,
            table,
            record: record(1),
            decision: Decision::Refused { reason },
            staged: None,
        };
        type Case<'a> = (EngineEvent<'a>, fn(&mut Counters) -> &mut u64);
        let cases: [Case<'_>; 8] = [
            (refused(Table::Receiver, SPENT), |counters| &mut counters.spent),
            (refused(Table::Sender, CAPACITY), |counters| {
                &mut counters.stream_capacity_exceeded.sender_table
            }),
            (refused(Table::Receiver, NOT_IN_CUSTODY), |counters| &mut counters.custody.not_in_custody),
            (refused(Table::Receiver, "byte-rate-exhausted"), |counters| {
                &mut counters.quota.byte_rate_exhausted[3]
            }),
            (
                EngineEvent::LinkLocal {
                    transition,
                    stream,
                    decision: Decision::Refused { reason: "message-rate-exhausted" },
                },
                |counters| &mut counters.quota.message_rate_exhausted[3],
            ),
            (
                EngineEvent::BoundMet {
                    transition,
                    introducer: groundhog_engine::streams::record::Introducer::Inbox,
                    bound: CapacityBound::Inbox { share: 1 },
                },
                |counters| &mut counters.stream_capacity_exceeded.inbox,
            ),
            (EngineEvent::Unrestorable { record: record(1), reason: "missing", spells: None }, |counters| {
                &mut counters.unrestorable_record
            }),
            (
                EngineEvent::Custody {
                    transition,
                    stream,
                    sequence: groundhog_engine::units::Sequence(1),
                    digest: [1; 32],
                    change: CustodyChange::Dropped,
                    held: 0,
                },
                |counters| &mut counters.custody.expired,
            ),
        ];
        for (event, counter) in cases {
            for counts in [0, 1] {
                let mut ledger = Ledger::over(CountersTold::new(&Ledger::setting()));
                ledger.engine(3, event);
                let mut counted = Counters::default();
                *counter(&mut counted) += counts;
                ledger.view.counters.insert(NodeId(3), counted);
                assert_eq!(ledger.finish().len(), usize::from(counts == 0), "{event:?} counted {counts}");
            }
        }
    }
}
