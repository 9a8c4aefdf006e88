//! Ledgers by hand for `streams/verdict`.

use super::*;
use crate::laws::fake::{COPY, HONEST, Image, Ledger, receiver_record, transaction};
use crate::plan::DiskOperation;
use groundhog_engine::host::disk::DiskErrorKind;

fn ledger() -> Ledger<Verdict> {
    Ledger::over(Verdict::new(&Ledger::setting()))
}

fn sent(sequence: u64) -> Transaction {
    transaction(1, 3, sequence, u8::try_from(sequence + 1).unwrap())
}

fn judged(ledger: &mut Ledger<Verdict>, sequence: u64, verdict: VerdictKind) {
    ledger.admitted(3, &sent(sequence), COPY, verdict);
}

fn disk_error(ledger: &mut Ledger<Verdict>) {
    let (node, life, error) = (NodeId(3), ledger.life(3), Some(DiskErrorKind::Io));
    let operation = DiskOperation::Flush;
    ledger.event(&Event::DiskAnswered { node, life, number: 0, operation, bytes: 0, error, injected: true });
}

fn abandoned(ledger: &mut Ledger<Verdict>, sequence: u64) {
    let (node, life) = (NodeId(3), ledger.life(3));
    ledger.event(&Event::AdmissionAbandoned { message: None, node, life, transaction: &sent(sequence) });
}

#[test]
fn verdicts_follow_from_what_arrived() {
    let mut good = ledger();
    judged(&mut good, 5, VerdictKind::First);
    judged(&mut good, 7, VerdictKind::Advance);
    judged(&mut good, 6, VerdictKind::Late);
    judged(&mut good, 6, VerdictKind::Replay);
    good.admitted(3, &transaction(1, 3, 6, 99), COPY, VerdictKind::Fork);
    judged(&mut good, 90, VerdictKind::Advance);
    judged(&mut good, 7, VerdictKind::Stale);
    assert_eq!(good.finish(), Vec::<String>::new());

    let mut bad = ledger();
    judged(&mut bad, 5, VerdictKind::First);
    judged(&mut bad, 5, VerdictKind::Advance);
    judged(&mut bad, 5, VerdictKind::Advance);
    assert_eq!(
        bad.finish(),
        ["node 3 judged node 1->node 3/application#5 as advance, and what arrived there makes it replay"]
    );
}

#[test]
fn what_failed_or_was_refused_never_was() {
    for (answer, breaks) in [(Answer::FailedBatch, false), (Answer::Refused("stream-unavailable"), false)] {
        for (verdict, breaks) in [(VerdictKind::Advance, breaks), (VerdictKind::Replay, true)] {
            let mut ledger = ledger();
            judged(&mut ledger, 5, VerdictKind::First);
            ledger.arrived(3, &sent(6), HONEST);
            ledger.answered(3, &sent(6), HONEST, answer);
            judged(&mut ledger, 6, verdict);
            assert_eq!(ledger.finish().len(), usize::from(breaks), "{answer:?} {verdict:?}");
        }
    }
}

#[test]
fn answers_may_come_in_another_order_than_arrivals() {
    let mut ledger = ledger();
    for sequence in [5, 6, 7] {
        ledger.arrived(3, &sent(sequence), HONEST);
    }
    ledger.answered(3, &sent(7), HONEST, Answer::Verdict(VerdictKind::Advance));
    ledger.answered(3, &sent(5), HONEST, Answer::Verdict(VerdictKind::First));
    ledger.answered(3, &sent(6), HONEST, Answer::Verdict(VerdictKind::Advance));
    ledger.arrived(3, &sent(8), COPY);
    ledger.arrived(3, &sent(8), COPY);
    ledger.answered(3, &sent(8), COPY, Answer::Verdict(VerdictKind::Replay));
    ledger.answered(3, &sent(8), COPY, Answer::Verdict(VerdictKind::Advance));
    assert_eq!(ledger.finish(), Vec::<String>::new());
}

#[test]
fn an_abandoned_admission_counts_unless_the_disk_had_an_error() {
    for (error, again, breaks) in [
        (false, VerdictKind::Replay, false),
        (false, VerdictKind::Late, true),
        (true, VerdictKind::Replay, false),
        (true, VerdictKind::Late, false),
        (true, VerdictKind::Stale, true),
    ] {
        let mut ledger = ledger();
        judged(&mut ledger, 5, VerdictKind::First);
        ledger.arrived(3, &sent(6), HONEST);
        abandoned(&mut ledger, 6);
        if error {
            disk_error(&mut ledger);
        }
        judged(&mut ledger, 7, VerdictKind::Advance);
        judged(&mut ledger, 6, again);
        assert_eq!(ledger.finish().len(), usize::from(breaks), "{error} {again:?}");
    }
}

#[test]
fn after_a_restart_the_disk_says_what_was() {
    for (image, verdict, breaks) in [
        (Image::Window(1, (1, 3), vec![(5, 6)]), VerdictKind::Replay, false),
        (Image::Window(1, (1, 3), vec![(5, 6)]), VerdictKind::First, true),
        (Image::Absent, VerdictKind::First, false),
        (Image::Torn, VerdictKind::First, true),
    ] {
        let mut ledger = ledger();
        judged(&mut ledger, 5, VerdictKind::First);
        ledger.arrived(3, &sent(6), HONEST);
        ledger.view.certain(3, receiver_record(1, 3), image.clone());
        ledger.restarted(3);
        judged(&mut ledger, 5, verdict);
        assert_eq!(ledger.finish().len(), usize::from(breaks), "{image:?} {verdict:?}");
    }
}
