//! The ledger as a whole: fingerprint, comparison of two runs, laws, whoever looks on.

use super::compare::{Divergence, Lockstep, RecordedEvent, first_unlike_interval};
use super::doer::{Doer, Task};
use super::encode::encode;
use super::event::Event;
use super::kind::{EventKind, EventMask};
use super::onlooker::Sink;
use super::samples::{EMPTY, distinct, message, plan};
use super::timeline::{HEAD_COLUMNS, Timeline, without_time_and_place};
use super::{LawSelection, Ledger, LedgerOptions, MOST_VIOLATIONS_PER_LAW};
use crate::laws::{Law, LawKind, View};
use crate::outcome::{Outcome, Violation};
use crate::units::{Life, NodeId, SimTime};
use groundhog_engine::streams::key::Class;
use groundhog_engine::units::WallMs;
use proptest::prelude::*;
use std::sync::{Arc, Mutex};

fn encoding(at: SimTime, event: &Event<'_>) -> Vec<u8> {
    let mut bytes = Vec::new();
    encode(at, event, &mut bytes);
    bytes
}

#[test]
fn samples_hold_every_kind() {
    let mut kinds: Vec<_> = distinct().iter().map(EventKind::of).collect();
    kinds.sort();
    kinds.dedup();
    assert_eq!(kinds, EventKind::ALL);
}

#[test]
fn events_that_differ_in_any_field_have_encodings_that_differ_and_none_begins_another() {
    let mut encodings: Vec<_> =
        distinct().iter().map(|event| (encoding(SimTime(5), event), *event)).collect();
    encodings.sort_by(|left, right| left.0.cmp(&right.0));
    for pair in encodings.windows(2) {
        // In sorted order a prefix stands directly before something that it begins.
        assert!(!pair[1].0.starts_with(&pair[0].0), "{:?}\n{:?}", pair[0].1, pair[1].1);
    }
}

#[test]
fn an_encoding_changes_with_time_and_stays_small() {
    for event in distinct() {
        assert_ne!(encoding(SimTime(5), &event), encoding(SimTime(6), &event));
        let bytes = encoding(SimTime(u64::MAX), &event).len();
        assert!(bytes <= 100, "{event:?} takes {bytes} bytes");
    }
}

proptest! {
    #[test]
    fn numbers_of_any_size_never_run_into_each_other(left in frame(), right in frame()) {
        let (left, right) = (left, right);
        let equal = format!("{left:?}") == format!("{right:?}");
        prop_assert_eq!(encoding(SimTime(1), &left) == encoding(SimTime(1), &right), equal);
    }
}

fn frame() -> impl Strategy<Value = Event<'static>> {
    let number = || prop_oneof![0..3u64, 126..130u64, 16_382..16_386u64, u64::MAX - 1..=u64::MAX];
    (number(), number(), number(), any::<bool>()).prop_map(|(frame, action, copy, workload)| {
        Event::FrameSent {
            frame: crate::units::FrameNumber(frame),
            message: workload.then_some(crate::units::MessageId {
                action: crate::units::ActionId(action as u32),
                ordinal: action as u32,
            }),
            copy: copy as u32,
            from: NodeId(0),
            to: NodeId(action as u16),
            class: Class::Control,
            channel: 0,
            bytes: copy as u32,
        }
    })
}

/// Runs `count` events through a ledger, the samples again and again, with `odd` in place of one of them, and records them.
fn run(count: u64, odd: Option<(u64, Event<'static>)>) -> (Outcome, Vec<RecordedEvent>) {
    let recorded = Arc::new(Mutex::new(Vec::new()));
    let into = Arc::clone(&recorded);
    let sink: Sink = Box::new(move |line| into.lock().unwrap().push(RecordedEvent::of(line)));
    let outcome = run_beside(count, odd, Some(sink));
    let recorded = std::mem::take(&mut *recorded.lock().unwrap());
    (outcome, recorded)
}

fn run_beside(count: u64, odd: Option<(u64, Event<'static>)>, sink: Option<Sink>) -> Outcome {
    let samples = distinct();
    let options = LedgerOptions { sink, ..LedgerOptions::default() };
    let mut ledger = Ledger::new(&plan(4, 8, vec![]), vec![], options);
    for index in 0..count {
        let event = match odd {
            Some((at, event)) if at == index => event,
            _ => samples[index as usize % samples.len()],
        };
        ledger.at_work(Doer::Task { node: NodeId(2), life: Life(9), task: Task::Engine("test") });
        ledger.record(SimTime(index), &event, &EMPTY);
    }
    ledger.finish(SimTime(count), &EMPTY)
}

/// Where a run of so many events parts from one that was recorded, compared while it goes on.
fn parted(count: u64, odd: Option<(u64, Event<'static>)>, others: Vec<RecordedEvent>) -> Option<Divergence> {
    let lockstep = Arc::new(Mutex::new(Some(Lockstep::beside(others.into_iter()))));
    let inside = Arc::clone(&lockstep);
    let sink: Sink = Box::new(move |line| {
        inside.lock().unwrap().as_mut().unwrap().event(line);
    });
    run_beside(count, odd, Some(sink));
    let lockstep = lockstep.lock().unwrap().take();
    lockstep.unwrap().end()
}

#[test]
fn the_fingerprint_of_the_samples_is_the_one_that_is_kept() {
    let outcome = run_beside(distinct().len() as u64, None, None);
    let hex: String = outcome.fingerprint.iter().map(|byte| format!("{byte:02x}")).collect();
    // Moves when the encoding of any event moves: every kept fingerprint of a run moves with it.
    assert_eq!(hex, "039d46ecf17a8bb894522bb18366216bb32e5f77b13cbf9ff66b2b922f09a99c");
}

#[test]
fn an_empty_run_has_the_fingerprint_of_nothing_and_no_checkpoint() {
    let outcome = run_beside(0, None, None);
    assert_eq!(outcome.fingerprint[..4], [0xe3, 0xb0, 0xc4, 0x42]);
    assert!(outcome.checkpoints.is_empty());
}

#[test]
fn checkpoints_stand_at_every_interval_and_the_last_covers_all() {
    for (events, checkpoints) in [(1, 1), (1_023, 1), (1_024, 1), (1_025, 2), (2_048, 2), (2_049, 3)] {
        let outcome = run_beside(events, None, None);
        assert_eq!((outcome.events, outcome.checkpoints.len()), (events, checkpoints));
        assert_eq!(outcome.checkpoints.last().map(|last| &last[..]), Some(&outcome.fingerprint[..8]));
    }
}

#[test]
fn two_runs_that_part_are_parted_at_the_exact_event_with_place_and_task() {
    let strange = Event::Booted { node: NodeId(2), life: Life(9), wall: WallMs(77) };
    let (first, events) = run(5_000, None);
    for at in [0, 1, 1_023, 1_024, 2_047, 3_333, 4_999] {
        let (second, others) = run(5_000, Some((at, strange)));
        let interval = first_unlike_interval(&first.checkpoints, &second.checkpoints).expect("they differ");
        assert!(interval.contains(&at), "{at} in {interval:?}");
        assert_ne!(first.fingerprint, second.fingerprint);
        let divergence = parted(5_000, None, others).expect("they differ");
        assert_eq!(divergence.index, at);
        assert_eq!(divergence.left.as_ref(), events.get(at as usize));
        let right = divergence.right.expect("the second run goes on");
        assert_eq!(
            (right.index, right.at, right.node, right.life),
            (at, SimTime(at), Some(NodeId(2)), Some(Life(9)))
        );
        assert_eq!(right.task, "test (of the engine)");
        assert!(right.line.contains("wall 77 ms"), "{}", right.line);
        assert_eq!(
            parted(5_000, Some((at, strange)), events.clone()).map(|divergence| divergence.index),
            Some(at)
        );
    }
}

#[test]
fn equal_runs_have_no_first_difference() {
    let (first, events) = run(3_000, None);
    let (second, _) = run(3_000, None);
    assert_eq!(first_unlike_interval(&first.checkpoints, &second.checkpoints), None);
    assert_eq!(run_beside(3_000, None, None).fingerprint, first.fingerprint, "looking on changes nothing");
    assert_eq!(parted(3_000, None, events), None);
}

#[test]
fn a_run_that_ends_early_parts_where_it_ends() {
    let (first, events) = run(3_000, None);
    for count in [0, 1_500, 2_048] {
        let (second, fewer) = run(count, None);
        let interval =
            first_unlike_interval(&first.checkpoints, &second.checkpoints).expect("one is shorter");
        assert!(interval.contains(&count), "{count} in {interval:?}");
        let here_ends = parted(count, None, events.clone()).expect("one is shorter");
        assert_eq!(
            (here_ends.index, here_ends.left, here_ends.right.as_ref()),
            (count, None, events.get(count as usize))
        );
        let there_ends = parted(3_000, None, fewer).expect("one is shorter");
        assert_eq!(
            (there_ends.index, there_ends.left.as_ref(), there_ends.right),
            (count, events.get(count as usize), None)
        );
    }
}

#[test]
fn every_event_is_one_line_that_names_its_kind_and_the_words_of_most_begin_at_one_column() {
    let mut timeline = Timeline::new(Box::new(|did| (did.0[0] == 1).then_some(NodeId(3))));
    let mut aligned = 0;
    for event in distinct() {
        for at in [SimTime(0), SimTime(604_800_000_000_000)] {
            let line = timeline.line(at, &event);
            assert!(!line.contains(char::is_control) && line.trim_end() == line, "{line}");
            assert!(without_time_and_place(line).starts_with(EventKind::of(&event).id()), "{line}");
            let head = line.as_bytes().get(HEAD_COLUMNS - 1);
            aligned += u32::from(head.is_none_or(|letter| *letter == b' '));
        }
    }
    assert!(aligned * 10 > 9 * distinct().len() as u32, "{aligned}");
}

#[test]
fn a_panic_of_several_lines_is_told_in_one() {
    let event = Event::Panicked { node: NodeId(1), life: Life(0), message: "left:\n  right\t" };
    let mut timeline = Timeline::default();
    assert_eq!(timeline.line(SimTime(0), &event), "   0.000000 s n1.0    panicked     left: right");
}

#[test]
fn a_line_names_time_place_and_subject() {
    let mut timeline = Timeline::new(Box::new(|did| Some(NodeId(u16::from(did.0[0])))));
    let event = Event::Intended { message: message(4), node: NodeId(3), to: NodeId(5), class: Class::E2e };
    assert_eq!(
        timeline.line(SimTime(8_214_031_500), &event),
        "   8.214031 s n3      intend       message 3#4 to n5 e2e"
    );
    let event = Event::Exposed {
        message: message(4),
        node: NodeId(3),
        life: Life(1),
        transaction: &super::samples::TRANSACTION,
    };
    let line = timeline.line(SimTime(0), &event);
    assert_eq!(line, "   0.000000 s n3.1    expose       n1->n2/application#41 message 3#4");
}

/// A law that is broken by each event that it is given.
struct Grumbler {
    id: &'static str,
    kind: LawKind,
    reads: EventMask,
    seen: Arc<Mutex<Vec<EventKind>>>,
}

impl Law for Grumbler {
    fn id(&self) -> &'static str {
        self.id
    }
    fn kind(&self) -> LawKind {
        self.kind
    }
    fn states(&self) -> &'static str {
        "nothing happens"
    }
    fn reads(&self) -> EventMask {
        self.reads
    }
    fn event(&mut self, at: SimTime, event: &Event<'_>, _: &dyn View, broken: &mut Vec<Violation>) {
        self.seen.lock().expect("one thread").push(EventKind::of(event));
        broken.push(Violation { law: self.id, at, node: None, saw: String::new() });
    }
    fn end(&mut self, at: SimTime, _: &dyn View, broken: &mut Vec<Violation>) {
        broken.push(Violation { law: self.id, at, node: None, saw: "end".into() });
    }
}

#[test]
fn a_law_reads_the_kinds_that_it_names_and_no_other() {
    let seen = Arc::default();
    let reads = EventMask::of(&[EventKind::Quiesced, EventKind::EngineCallerGone]);
    let law = Grumbler { id: "a", kind: LawKind::Outcome, reads, seen: Arc::clone(&seen) };
    let mut ledger = Ledger::new(&plan(1, 1, vec![]), vec![Box::new(law)], LedgerOptions::default());
    for event in distinct() {
        ledger.record(SimTime(1), &event, &EMPTY);
    }
    let mut kinds = seen.lock().expect("one thread").clone();
    kinds.dedup();
    assert_eq!(kinds, [EventKind::Quiesced, EventKind::EngineCallerGone]);
    let outcome = ledger.finish(SimTime(2), &EMPTY);
    assert_eq!(outcome.violations.last().map(|last| last.saw.as_str()), Some("end"));
    assert!(!outcome.held());
}

#[test]
fn laws_are_selected_by_kind_or_id_and_one_that_breaks_always_is_asked_no_more() {
    let choices: [(LawSelection, &[&str]); 5] = [
        (LawSelection::All, &["a", "b"]),
        (LawSelection::None, &[]),
        (LawSelection::Kind(LawKind::Outcome), &["a"]),
        (LawSelection::Kind(LawKind::Mechanism), &["b"]),
        (LawSelection::Ids(["b".to_owned()].into()), &["b"]),
    ];
    for (laws, expected) in choices {
        let law = |id, kind| {
            Box::new(Grumbler { id, kind, reads: EventMask::ALL, seen: Arc::default() }) as Box<dyn Law>
        };
        let all = vec![law("a", LawKind::Outcome), law("b", LawKind::Mechanism)];
        let mut ledger =
            Ledger::new(&plan(1, 1, vec![]), all, LedgerOptions { laws, ..LedgerOptions::default() });
        for _ in 0..100 {
            ledger.record(SimTime(1), &Event::Quiesced, &EMPTY);
        }
        let outcome = ledger.finish(SimTime(2), &EMPTY);
        for id in ["a", "b"] {
            let broken = outcome.violations.iter().filter(|violation| violation.law == id).count();
            let wanted = if expected.contains(&id) { MOST_VIOLATIONS_PER_LAW + 1 } else { 0 };
            assert_eq!(broken, wanted, "{id}");
        }
    }
}

#[test]
fn the_sink_takes_every_event_with_what_laws_said_to_it() {
    let reads = EventMask::of(&[EventKind::Quiesced]);
    let law = Grumbler { id: "a", kind: LawKind::Outcome, reads, seen: Arc::default() };
    let lines = Arc::new(Mutex::new(Vec::new()));
    let sunk = Arc::clone(&lines);
    let options = LedgerOptions {
        sink: Some(Box::new(move |line| {
            let broken = line.broken.iter().map(|violation| violation.law).collect::<Vec<_>>();
            sunk.lock().expect("one thread").push((line.index, line.kind(), broken));
        })),
        ..LedgerOptions::default()
    };
    let mut ledger = Ledger::new(&plan(1, 1, vec![]), vec![Box::new(law)], options);
    for life in 0..10 {
        ledger.record(SimTime(1), &Event::Ready { node: NodeId(0), life: Life(life) }, &EMPTY);
        if life == 6 {
            ledger.record(SimTime(1), &Event::Quiesced, &EMPTY);
        }
    }
    let _ = ledger.finish(SimTime(2), &EMPTY);
    let lines = lines.lock().expect("one thread");
    assert_eq!(lines.len(), 11);
    assert!(lines.iter().enumerate().all(|(at, (index, ..))| at as u64 == *index));
    for (index, kind, broken) in &*lines {
        let expected: &[&str] = if *kind == EventKind::Quiesced { &["a"] } else { &[] };
        assert_eq!(broken, expected, "{index}");
    }
}
