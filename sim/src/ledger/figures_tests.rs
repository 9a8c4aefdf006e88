//! The figures of an outcome and the marks, from events to numbers.

use super::event::Transaction;
use super::event::{Answer, Event, Passage};
use super::kind::EventKind;
use super::marks::{DELEGATION_EXPIRED, MARKS, mark};
use super::samples::{EMPTY, OTHER_RECORD, RECORD, STREAM, Store, TRANSACTION, distinct, message, plan};
use super::{Ledger, LedgerOptions};
use crate::laws::View;
use crate::outcome::Outcome;
use crate::plan::{ClockFault, Death, FaultKind, LinkFault, Plan};
use crate::units::{FaultId, FrameNumber, Life, NodeId, SimTime};
use groundhog_engine::host::observe::{
    BatchNumber, Decision, EngineEvent, RecordName, Roles, Step, TransitionNumber,
};
use groundhog_engine::streams::key::{Class, Table};
use groundhog_engine::streams::window::VerdictKind;
use groundhog_engine::units::{Sequence, WallMs};

const NODE: NodeId = NodeId(1);
const PASSAGE: Passage = Passage { honest: true, copy: 0, link: None };

fn outcome_of(plan: &Plan, view: &dyn View, events: &[(u64, Event<'_>)]) -> Outcome {
    let mut ledger = Ledger::new(plan, vec![], LedgerOptions::default());
    for (at, event) in events {
        ledger.record(SimTime::from_us(*at), event, view);
    }
    ledger.finish(SimTime::from_us(plan.end_us), view)
}

fn outcome(events: &[Event<'_>]) -> Outcome {
    let timed: Vec<_> = events.iter().map(|event| (1, *event)).collect();
    outcome_of(&plan(2, 8, vec![]), &EMPTY, &timed)
}

fn engine(event: EngineEvent<'_>) -> Event<'_> {
    Event::Engine { node: NODE, life: Life(0), event }
}
fn staged(batch: u64, table: Table) -> Event<'static> {
    let decision = Decision::Refused { reason: "none" };
    let (transition, record, staged) = (TransitionNumber(0), RECORD, Some(BatchNumber(batch)));
    engine(EngineEvent::Transition { transition, stream: &STREAM, table, record, decision, staged })
}
fn closed(batch: u64, records: &[(RecordName, Option<u32>)]) -> Event<'_> {
    engine(EngineEvent::BatchClosed { batch: BatchNumber(batch), records, transitions: 1 })
}
fn step(batch: u64, step: Step) -> Event<'static> {
    engine(EngineEvent::Step { step, batch: BatchNumber(batch), roles: Roles::default() })
}
fn durable(batch: u64) -> Event<'static> {
    engine(EngineEvent::BatchDurable { batch: BatchNumber(batch) })
}
fn released() -> Event<'static> {
    engine(EngineEvent::Released { transition: TransitionNumber(0), depends: &[] })
}
fn failed(batch: u64) -> Event<'static> {
    engine(EngineEvent::BatchFailed { batch: BatchNumber(batch), undone: 2, state_digest: [0; 32] })
}
fn died(death: Death) -> Event<'static> {
    Event::Died { node: NODE, life: Life(0), death, during: None, gathering: false, fault: None }
}
fn booted(life: u32, wall: u64) -> Event<'static> {
    Event::Booted { node: NODE, life: Life(life), wall: WallMs(wall) }
}
fn answered(life: u32, transaction: &Transaction, verdict: VerdictKind) -> Event<'_> {
    let answer = Answer::Verdict(verdict);
    let message = Some(message(0));
    Event::Answered {
        message,
        node: NODE,
        life: Life(life),
        transaction,
        record: RECORD,
        passage: PASSAGE,
        answer,
    }
}
fn dispatched(life: u32, ordinal: u32, intended_ns: u64, sent_ns: u64) -> Event<'static> {
    Event::Dispatched {
        message: Some(message(ordinal)),
        node: NODE,
        life: Life(life),
        transaction: &TRANSACTION,
        verdict: VerdictKind::First,
        intended_ns,
        sent_ns,
    }
}
const TWO: &[(RecordName, Option<u32>)] = &[(RECORD, Some(92)), (OTHER_RECORD, Some(92))];

#[test]
fn a_death_is_marked_by_kind_role_and_the_phase_of_the_batch_in_flight() {
    let (flushed, renamed) = (step(1, Step::TemporaryFlushed), step(1, Step::Renamed));
    // One batch of two records, step by step; after each prefix the phase that a death then strikes.
    let way = [
        (staged(1, Table::Sender), "gathering"),
        (closed(1, TWO), "temporaries"),
        (flushed, "temporaries"),
        (flushed, "renames"),
        (renamed, "renames"),
        (renamed, "directory-flush"),
        (step(1, Step::DirectoryFlushed), "directory-flush"),
        (step(1, Step::BeforeRelease), "before-release"),
        (durable(1), "before-release"),
    ];
    for (end, (_, phase)) in way.iter().enumerate() {
        for (death, word) in [(Death::Process, "process"), (Death::Power, "power")] {
            let mut events = vec![booted(0, 1), Event::Ready { node: NODE, life: Life(0) }];
            events.extend(way[..=end].iter().map(|(event, _)| *event));
            events.push(died(death));
            let id = format!("death/{word}/sender/{phase}");
            assert_eq!(outcome(&events).marks, [(mark(&id).expect("it exists").id, 1)].into(), "{end}");
        }
    }
}

#[test]
fn a_death_after_release_or_with_nothing_in_hand_marks_no_phase() {
    let ready = Event::Ready { node: NODE, life: Life(0) };
    let idle = [booted(0, 1), ready, died(Death::Power)];
    assert!(outcome(&idle).marks.is_empty());
    let done = [
        booted(0, 1),
        ready,
        staged(1, Table::Sender),
        closed(1, &[]),
        durable(1),
        released(),
        died(Death::Power),
    ];
    assert!(outcome(&done).marks.is_empty());
    let again = [
        booted(0, 1),
        ready,
        staged(1, Table::Sender),
        died(Death::Power),
        booted(1, 1),
        ready,
        died(Death::Power),
    ];
    assert_eq!(outcome(&again).marks, [("death/power/sender/gathering", 1)].into());
}

#[test]
fn a_batch_of_both_tables_marks_both_roles_and_two_batches_mark_both_phases() {
    let ready = Event::Ready { node: NODE, life: Life(0) };
    let both =
        [booted(0, 1), ready, staged(1, Table::Sender), staged(1, Table::Receiver), died(Death::Process)];
    let marks = outcome(&both).marks;
    assert_eq!(
        marks,
        [("death/process/receiver/gathering", 1), ("death/process/sender/gathering", 1)].into()
    );
    let two = [
        booted(0, 1),
        ready,
        staged(1, Table::Sender),
        closed(1, &[]),
        staged(2, Table::Receiver),
        durable(1),
        closed(2, TWO),
        staged(3, Table::Receiver),
        died(Death::Process),
    ];
    let marks = outcome(&two).marks;
    assert_eq!(
        marks,
        [("death/process/receiver/temporaries", 1), ("death/process/sender/before-release", 1)].into()
    );
}

#[test]
fn a_failed_batch_is_marked_with_another_on_top_and_where_it_landed() {
    let alone = [staged(4, Table::Sender), closed(4, TWO), failed(4)];
    let above = [staged(4, Table::Sender), closed(4, TWO), staged(5, Table::Receiver), failed(4)];
    let landed = Store { generation: 4, ..EMPTY };
    let elsewhere = Store { generation: 3, ..EMPTY };
    for (events, view, expected) in [
        (&alone[..], &elsewhere, vec![]),
        (&above[..], &elsewhere, vec![("batch/failed-with-another-gathering", 1)]),
        (&alone[..], &landed, vec![("store/failed-batch-landed", 1)]),
    ] {
        let timed: Vec<_> = events.iter().map(|event| (1, *event)).collect();
        assert_eq!(outcome_of(&plan(2, 8, vec![]), view, &timed).marks, expected.into_iter().collect());
    }
}

fn marks_of(events: &[Event<'_>], faults: Vec<FaultKind>, wrong_at_boot_ms: i64) -> Vec<&'static str> {
    let mut plan = plan(2, 8, faults);
    plan.nodes[NODE.index()].clock.wrong_at_boot_ms = wrong_at_boot_ms;
    let timed: Vec<_> = (0..).zip(events).map(|(at, event)| (at, *event)).collect();
    outcome_of(&plan, &EMPTY, &timed).marks.into_keys().collect()
}

#[test]
fn windows_leases_and_replays_reach_their_marks() {
    let at = |sequence| Transaction { sequence: Sequence(sequence), ..TRANSACTION };
    let (low, next, far) = (at(41), at(42), at(50));
    let exposed = |life, transaction| Event::Exposed {
        message: message(0),
        node: NodeId(0),
        life: Life(life),
        transaction,
    };
    let first = answered(0, &low, VerdictKind::First);
    let none: Vec<&str> = vec![];
    assert_eq!(marks_of(&[first, answered(0, &next, VerdictKind::Advance)], vec![], 0), none);
    assert_eq!(
        marks_of(&[first, answered(0, &far, VerdictKind::Advance)], vec![], 0),
        ["window/advance-over-gap"]
    );
    assert_eq!(marks_of(&[first, answered(0, &far, VerdictKind::Late)], vec![], 0), ["window/late"]);
    assert_eq!(marks_of(&[exposed(0, &low), exposed(1, &next)], vec![], 0), none);
    assert_eq!(marks_of(&[exposed(0, &low), exposed(0, &far)], vec![], 0), none);
    assert_eq!(marks_of(&[exposed(0, &low), exposed(1, &far)], vec![], 0), ["lease/gap-after-crash"]);
    let replay = |life| [dispatched(0, 0, 0, 0), answered(life, &low, VerdictKind::Replay)];
    assert_eq!(marks_of(&replay(0), vec![], 0), none);
    assert_eq!(marks_of(&replay(1), vec![], 0), ["replay/refused-after-restart"]);
    assert_eq!(marks_of(&[step(1, Step::OpenMarked)], vec![], 0), ["open/marked-unmarked-record"]);
    assert_eq!(marks_of(&[step(1, Step::OpenTemporaryRemoved)], vec![], 0), ["open/removed-temporary"]);
    assert_eq!(marks_of(&[booted(0, 1), died(Death::Power)], vec![], 0), ["death/while-opening"]);
}

#[test]
fn clocks_and_delegations_reach_their_marks() {
    let set = |from, to| Event::ClockSet { node: NODE, from: WallMs(from), to: WallMs(to) };
    let step = vec![FaultKind::Clock { node: NODE, fault: ClockFault::Step { by_ms: 1 } }];
    let none: Vec<&str> = vec![];
    assert_eq!(marks_of(&[set(1, 2)], vec![], 0), none);
    assert_eq!(marks_of(&[set(2, 1)], vec![], 0), ["clock/stepped-back"]);
    assert_eq!(
        marks_of(&[booted(0, 5), set(5, 9), set(9, 10)], vec![], -4),
        ["clock/wrong-at-boot-corrected"]
    );
    assert_eq!(marks_of(&[booted(0, 5), booted(1, 4)], vec![], 0), ["clock/boot-before-earlier-life"]);
    // A step that the plan makes is no correction.
    let mut plan = plan(2, 8, step);
    plan.nodes[NODE.index()].clock.wrong_at_boot_ms = -4;
    let events = [(0, booted(0, 5)), (3, Event::FaultBegan { fault: FaultId(0) }), (3, set(5, 6))];
    assert!(outcome_of(&plan, &EMPTY, &events).marks.is_empty());
    let refused = |reason| Event::Unverified { message: None, node: NODE, life: Life(0), reason };
    assert_eq!(marks_of(&[refused(DELEGATION_EXPIRED)], vec![], 0), ["delegation/expired-refused"]);
    assert_eq!(marks_of(&[refused("bad-signature")], vec![], 0), none);
}

#[test]
fn stalls_reach_their_marks_only_when_something_passes_them() {
    let stall = || vec![FaultKind::StallHandler { node: NODE, class: Class::Application }];
    let (begin, end) = (Event::FaultBegan { fault: FaultId(0) }, Event::FaultEnded { fault: FaultId(0) });
    let handled = |class| Event::Handled { message: None, node: NODE, life: Life(0), class };
    let none: Vec<&str> = vec![];
    let passed = [begin, dispatched(0, 0, 0, 0), handled(Class::Control)];
    assert_eq!(marks_of(&passed, stall(), 0), ["lane/stalled-while-others-moved"]);
    assert_eq!(marks_of(&[begin, handled(Class::Control)], stall(), 0), none);
    assert_eq!(marks_of(&[begin, dispatched(0, 0, 0, 0), end, handled(Class::Control)], stall(), 0), none);

    let fault = LinkFault::StallChannel { channel: 1 };
    let link = |one_way| vec![FaultKind::Link { from: NodeId(0), to: NODE, one_way, fault }];
    let sent = |frame, channel| {
        let (frame, message, class) = (FrameNumber(frame), Some(message(0)), Class::Control);
        Event::FrameSent { frame, message, copy: 0, from: NODE, to: NodeId(0), class, channel, bytes: 1 }
    };
    let delivered = |frame| Event::FrameDelivered {
        frame: FrameNumber(frame),
        message: None,
        to: NodeId(0),
        duplicate: false,
    };
    let beside = [begin, sent(0, 0), delivered(0)];
    assert_eq!(marks_of(&beside, link(false), 0), ["channel/stalled-while-others-moved"]);
    assert_eq!(marks_of(&beside, link(true), 0), none, "the other direction is not stalled");
    assert_eq!(marks_of(&[begin, sent(0, 1), delivered(0)], link(false), 0), none);
    let reordered = [sent(0, 0), sent(1, 0), delivered(1), delivered(0)];
    assert_eq!(marks_of(&reordered, vec![], 0), ["frame/reordered-within-class"]);
}

#[test]
fn every_mark_has_an_id_of_its_own_a_sentence_and_a_scenario() {
    for (at, text) in MARKS.iter().enumerate() {
        assert_eq!(MARKS.iter().position(|other| other.id == text.id), Some(at), "{}", text.id);
        assert!(
            text.says.ends_with('.') && !text.scenarios.is_empty() && text.per_thousand_seeds > 0,
            "{}",
            text.id
        );
        assert_eq!(mark(text.id), Some(text));
    }
    assert_eq!(mark("no/such"), None);
    assert_eq!(MARKS.iter().filter(|mark| mark.per_thousand_seeds == 50).count(), 21);
}

#[test]
fn latencies_are_those_of_the_first_dispatch_from_both_instants() {
    let at = 1_000; // microseconds
    let events = [(at, dispatched(0, 0, 400_000, 900_000)), (at + 5_000, dispatched(0, 0, 400_000, 900_000))];
    let outcome = outcome_of(&plan(2, 8, vec![]), &EMPTY, &events);
    let latency = &outcome.latencies[Class::Application.index()];
    assert_eq!((latency.from_intended.len(), latency.from_sent.len()), (1, 1));
    assert!(latency.from_intended.equivalent(latency.from_intended.max(), 600_000));
    assert!(latency.from_sent.equivalent(latency.from_sent.max(), 100_000));
    assert!(outcome.latencies.iter().all(|other| other.class == latency.class || other.from_sent.is_empty()));
}

#[test]
fn slices_cover_the_run_and_what_is_late_falls_into_the_last() {
    let plan = plan(2, 8, vec![]);
    let intended =
        |ordinal| Event::Intended { message: message(ordinal), node: NodeId(0), to: NODE, class: Class::E2e };
    let events = [
        (0, intended(0)),
        (99_999, intended(1)),
        (100_000, intended(2)),
        (plan.end_us, intended(3)),
        (plan.end_us * 2, intended(4)),
    ];
    let outcome = outcome_of(&plan, &EMPTY, &events);
    assert_eq!((outcome.slice_ns, outcome.slices.len()), (100_000_000, 240));
    let counts: Vec<_> = [0, 1, 2, 239].map(|slice| outcome.slices[slice].intended).into();
    assert_eq!((counts, outcome.intended), (vec![2, 1, 0, 2], 5));
}

#[test]
fn batches_are_counted_when_durable_with_their_records_and_sizes_when_closed() {
    let events = [
        staged(1, Table::Sender),
        closed(1, TWO),
        staged(2, Table::Sender),
        durable(1),
        closed(2, TWO),
        failed(2),
    ];
    let outcome = outcome(&events);
    assert_eq!((outcome.slices[0].batches, outcome.slices[0].records), (1, 2));
    assert_eq!(outcome.batch_sizes, [(2, 2)].into());
    let bound =
        outcome.bounds.iter().find(|bound| bound.name.starts_with("batches")).expect("it is reported");
    assert_eq!((bound.most, bound.bound), (2, 2));
}

#[test]
fn the_fullest_store_is_reported_against_its_bounds() {
    let store = Store { bytes: 5_000, records: 50, generation: 0 };
    let outcome = outcome_of(&plan(3, 1, vec![]), &store, &[]);
    let uses: Vec<_> = outcome.bounds.iter().take(2).map(|bound| (bound.most, bound.bound)).collect();
    assert_eq!(uses, [(5_002, 1_000_000), (52, 200)]);
}

#[test]
fn a_fault_is_a_span_from_its_begin_to_its_end_or_the_next_boot_of_the_node_it_took_down() {
    let node = NODE;
    let faults = vec![
        FaultKind::Crash { node, death: Death::Power, down_us: 5, survivors: None },
        FaultKind::Clock { node, fault: ClockFault::Step { by_ms: 1 } },
        FaultKind::Link { from: NodeId(0), to: node, one_way: false, fault: LinkFault::Partition },
        FaultKind::SlowProcessor { node, factor: 2 },
    ];
    let began = |fault| Event::FaultBegan { fault: FaultId(fault) };
    let events = [
        (10, began(0)),
        (10, died(Death::Power)),
        (11, began(1)),
        (12, began(2)),
        (13, began(3)),
        (14, Event::FaultEnded { fault: FaultId(2) }),
        (15, booted(1, 1)),
        (20, Event::Quiesced),
    ];
    let outcome = outcome_of(&plan(2, 1, faults), &EMPTY, &events);
    let spans: Vec<_> = outcome
        .fault_spans
        .iter()
        .map(|span| (span.label.as_str(), span.from.as_us(), span.until.as_us()))
        .collect();
    let expected = [
        ("power failure, node 1", 10, 15),
        ("clock step, node 1", 11, 11),
        ("partition, node 0<->1", 12, 14),
        ("slow processor x2, node 1", 13, 20),
    ];
    assert_eq!(spans, expected);
    let kinds = [("power-failure", 1), ("clock-step", 1), ("partition", 1), ("slow-processor", 1)];
    assert_eq!(outcome.faults, kinds.into());
    assert_eq!(outcome.deaths, [("power-failure", 1)].into());
}

#[test]
fn verdicts_refusals_and_messages_are_counted() {
    let outcome = outcome(&distinct());
    assert_eq!(outcome.events, distinct().len() as u64);
    let answers =
        distinct().iter().filter(|event| EventKind::of(event) == EventKind::Answered).count() as u64;
    assert_eq!(outcome.verdicts.values().sum::<u64>(), answers);
    assert_eq!(
        (outcome.verdicts["stale"], outcome.verdicts["refused"], outcome.verdicts["failed-batch"]),
        (1, 2, 1)
    );
    assert_eq!(outcome.refusals["exhausted"], 1);
    // Of message 3#0 and 3#1 the reservations' callers were gone, and no other message was intended or dispatched.
    let accounted = outcome.dispatched + outcome.losses.values().sum::<u64>();
    assert_eq!((accounted, outcome.dispatched), (3, 1));
}
