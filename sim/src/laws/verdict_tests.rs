//! Ledgers by hand for `streams/verdict`.

use super::*;
use crate::laws::fake::{COPY, HONEST, Image, Ledger, brief, receiver_record, record_of, transaction};
use crate::plan::{DiskOperation, Fault, FaultKind, StoreAct, When};
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

/// A control stream that is spent after 4,000 ms took sequence 5; then 6 arrives, spent much later, and is judged.
fn next_of_a_spent_stream(clocks: &[u64], verdict: VerdictKind) -> usize {
    let mut ledger = ledger();
    ledger.admitted(3, &brief(1, 3, 5), COPY, VerdictKind::First);
    let (last, before) = clocks.split_last().unwrap();
    before.iter().for_each(|clock| ledger.clock_shows(*clock));
    let next = Transaction { expires: WallMs(50_000), ..brief(1, 3, 6) };
    ledger.arrived_at(3, WallMs(*last), &next, COPY);
    ledger.answered(3, &next, COPY, Answer::Verdict(verdict));
    // What it began with, or went on with, is in its window.
    ledger.arrived_at(3, WallMs(*last), &next, COPY);
    ledger.answered(3, &next, COPY, Answer::Verdict(VerdictKind::Replay));
    ledger.finish().len()
}

#[test]
fn a_stream_begins_anew_once_all_that_it_accepted_is_spent() {
    for (clocks, verdict, breaks) in [
        (&[4_000][..], VerdictKind::Advance, 0),
        (&[4_000], VerdictKind::First, 1),
        (&[4_001], VerdictKind::First, 0),
        (&[4_001], VerdictKind::Advance, 1),
        (&[4_001, 4_000], VerdictKind::First, 0),
        (&[4_001, 4_000], VerdictKind::Advance, 0),
        (&[4_001, 4_000], VerdictKind::Late, 1),
    ] {
        assert_eq!(next_of_a_spent_stream(clocks, verdict), breaks, "{clocks:?} {verdict:?}");
    }
}

#[test]
fn a_life_begins_with_the_age_that_the_disk_shows() {
    for (clock, verdict, breaks) in [
        (4_000, VerdictKind::Replay, 0),
        (4_000, VerdictKind::First, 1),
        (4_001, VerdictKind::First, 0),
        (4_001, VerdictKind::Replay, 1),
    ] {
        let mut ledger = ledger();
        let sent = brief(1, 3, 5);
        ledger.view.certain(3, record_of(&sent), Image::Brief(1, (1, 3), vec![(5, 5)]));
        ledger.arrived_at(3, WallMs(clock), &sent, COPY);
        ledger.answered(3, &sent, COPY, Answer::Verdict(verdict));
        assert_eq!(ledger.finish().len(), breaks, "{clock} {verdict:?}");
    }
}

#[test]
fn a_failed_retirement_never_was() {
    let mut ledger = ledger();
    ledger.admitted(3, &brief(1, 3, 5), COPY, VerdictKind::First);
    let next = Transaction { expires: WallMs(50_000), ..brief(1, 3, 6) };
    ledger.arrived_at(3, WallMs(4_001), &next, COPY);
    ledger.answered(3, &next, COPY, Answer::FailedBatch);
    // The clock was set back meanwhile.
    ledger.admitted(3, &next, COPY, VerdictKind::Advance);
    assert_eq!(ledger.finish(), Vec::<String>::new());
}

#[test]
fn a_life_goes_on_from_what_its_open_read_whatever_is_done_to_its_store_since() {
    for (touched, told, breaks) in
        [(true, VerdictKind::Replay, 0), (true, VerdictKind::First, 1), (false, VerdictKind::First, 0)]
    {
        let mut plan = Ledger::plan();
        let kind = FaultKind::Store { node: NodeId(3), act: StoreAct::RemoveStore, stopped_us: 0 };
        plan.faults.push(Fault { id: FaultId(0), at: When::Time { us: 0 }, until_us: None, kind });
        let mut ledger = Ledger::over(Verdict::new(&Ledger::setting_of(plan)));
        ledger.view.visible(3, receiver_record(1, 3), Image::Window(1, (1, 3), vec![(5, 6)]), true);
        ledger.restarted(3);
        ledger.event(&Event::FaultBegan { fault: FaultId(0) });
        ledger.view = Default::default();
        if !touched {
            ledger.restarted(3);
        }
        judged(&mut ledger, 5, told);
        assert_eq!(ledger.finish().len(), breaks, "{told:?}");
    }
}
