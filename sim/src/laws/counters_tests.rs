use super::*;
use crate::laws::fake::{HONEST, Ledger, message, transaction};
use crate::plan::Death;
use crate::units::NodeId;

/// One of the counters.
type Counter = fn(&mut Counted) -> &mut u64;

fn ledger() -> Ledger<Counters> {
    Ledger::over(Counters::new(&Ledger::setting()))
}

fn asked(ledger: &mut Ledger<Counters>, sequence: u8, answer: Option<Answer>) {
    let transaction = transaction(1, 3, sequence.into(), sequence);
    ledger.arrived(3, &transaction, HONEST);
    if let Some(answer) = answer {
        ledger.answered(3, &transaction, HONEST, answer);
    }
}

/// Node 3 answered this, and counts so.
fn run(answers: &[Option<Answer>], counted: Counted) -> usize {
    let mut ledger = ledger();
    // A life that tells nothing is asked too.
    ledger.restarted(3);
    (0..).zip(answers).for_each(|(sequence, answer)| asked(&mut ledger, sequence, *answer));
    ledger.view.counters.insert(NodeId(3), counted);
    ledger.finish().len()
}

const REPLAY: Option<Answer> = Some(Answer::Verdict(VerdictKind::Replay));

fn replays(replay: u64) -> Counted {
    Counted { replay, ..Counted::default() }
}

#[test]
fn what_is_counted_is_what_was_told_or_may_still_be() {
    for (told, untold, least, most) in [(0, 0, 0, 0), (2, 0, 2, 2), (2, 1, 2, 3), (0, 3, 0, 3)] {
        let answers: Vec<_> = [vec![REPLAY; told], vec![None; untold]].concat();
        for counted in 0..5 {
            let holds = (least..=most).contains(&counted);
            assert_eq!(run(&answers, replays(counted)), usize::from(!holds), "{told} {untold} {counted}");
        }
    }
}

#[test]
fn what_failed_with_its_batch_is_counted_as_a_failure_and_nothing_else() {
    let answers = [Some(Answer::FailedBatch)];
    let failed = Counted { persistence_failure: 1, ..Counted::default() };
    assert_eq!(run(&answers, failed), 0);
    assert_eq!(run(&answers, Counted { replay: 1, ..failed }), 1);
    assert_eq!(run(&answers, Counted::default()), 1, "no failure");
}

#[test]
fn every_reason_has_its_own_counter_and_a_quota_one_for_each_lane() {
    let mut of_application = QuotaCounters::default();
    of_application.byte_rate_exhausted[Class::Application.index()] = 1;
    let mut of_control = QuotaCounters::default();
    of_control.byte_rate_exhausted[Class::Control.index()] = 1;
    let answers = [Some(Answer::Refused("byte-rate-exhausted"))];
    assert_eq!(run(&answers, Counted { quota: of_application, ..Counted::default() }), 0);
    assert_eq!(run(&answers, Counted { quota: of_control, ..Counted::default() }), 1);
    let cases: [(Answer, Counter); 8] = [
        (Answer::Verdict(VerdictKind::Fork), |counted| &mut counted.fork),
        (Answer::Verdict(VerdictKind::Stale), |counted| &mut counted.stale),
        (Answer::Verdict(VerdictKind::Redelivered), |counted| &mut counted.custody.redelivered),
        (Answer::Refused(SPENT), |counted| &mut counted.spent),
        (Answer::Refused(UNAVAILABLE), |counted| &mut counted.unavailable_stream),
        (Answer::Refused(CAPACITY), |counted| &mut counted.stream_capacity_exceeded.claim),
        (Answer::Refused(CUSTODY_FULL), |counted| &mut counted.custody.refused_full),
        (Answer::Refused("quota-clock-regressed"), |counted| &mut counted.quota.arithmetic_failure[3]),
    ];
    for (answer, counter) in cases {
        let mut counted = Counted::default();
        assert_eq!(run(&[Some(answer)], counted), 1, "{answer:?}: not counted");
        *counter(&mut counted) += 1;
        assert_eq!(run(&[Some(answer)], counted), 0, "{answer:?}");
    }
}

#[test]
fn reservations_are_counted_where_they_are_refused() {
    let cases: [(&str, Counter); 3] = [
        (EXHAUSTED, |counted| &mut counted.sequence_exhausted),
        (CAPACITY, |counted| &mut counted.stream_capacity_exceeded.sender_table),
        (UNAVAILABLE, |counted| &mut counted.unavailable_stream),
    ];
    for (refusal, counter) in cases {
        for counts in [0, 1] {
            let mut ledger = ledger();
            let (life, refusal) = (ledger.life(3), Some(refusal));
            let (message, node) = (message(0), NodeId(3));
            ledger.event(&Event::ReserveAnswered { message, node, life, answer: None, refusal });
            let mut counted = Counted::default();
            *counter(&mut counted) += counts;
            ledger.view.counters.insert(node, counted);
            assert_eq!(ledger.finish().len(), usize::from(counts == 0), "{refusal:?} counted {counts}");
        }
    }
}

#[test]
fn mail_that_is_taken_is_counted_once() {
    let steps = [MailStep::Taking, MailStep::Taken];
    for (told, least, most) in [(0, 0, 0), (1, 0, 1), (2, 1, 1)] {
        for taken in 0..3 {
            let mut ledger = ledger();
            let (life, transaction) = (ledger.life(3), &transaction(1, 3, 1, 1));
            for step in &steps[..told] {
                let step = *step;
                ledger.event(&Event::Mail { message: None, node: NodeId(3), life, transaction, step });
            }
            let mut counted = Counted::default();
            counted.custody.taken = taken;
            ledger.view.counters.insert(NodeId(3), counted);
            // Who has counted nothing yet is not asked: an arrival makes it known.
            asked(&mut ledger, 9, Some(Answer::Verdict(VerdictKind::First)));
            let holds = (least..=most).contains(&taken);
            assert_eq!(ledger.finish().len(), usize::from(!holds), "{told} steps, counted {taken}");
        }
    }
}

#[test]
fn a_life_is_asked_at_its_death_and_the_next_begins_at_zero() {
    for (before, after, breaks) in [(1, 0, 0), (0, 0, 1), (1, 1, 1), (2, 1, 2)] {
        let mut ledger = ledger();
        asked(&mut ledger, 1, REPLAY);
        ledger.view.counters.insert(NodeId(3), replays(before));
        ledger.died(3, Death::Process);
        ledger.view.counters.insert(NodeId(3), replays(after));
        assert_eq!(ledger.finish().len(), breaks, "{before}, then {after}");
    }
}

#[test]
fn it_is_asked_when_all_faults_have_ended_and_told_wrong_once() {
    let mut ledger = ledger();
    asked(&mut ledger, 1, REPLAY);
    ledger.view.counters.insert(NodeId(3), replays(0));
    ledger.event(&Event::Quiesced);
    ledger.view.counters.insert(NodeId(3), replays(5));
    assert_eq!(ledger.finish().len(), 1);
}
