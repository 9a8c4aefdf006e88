use super::*;
use crate::laws::fake::{Ledger, transaction};
use crate::laws::lifespan::spent;
use crate::ledger::event::{MailStep, Passage, Transaction};
use crate::units::NodeId;
use groundhog_engine::streams::window::VerdictKind;
use groundhog_engine::units::WallMs;

const INBOX: Passage = Passage::FROM_INBOX;

fn mail(sequence: u8, expires: u64) -> Transaction {
    let mut mail = transaction(1, 3, sequence.into(), sequence);
    mail.expires = WallMs(expires);
    mail
}

fn deliver(ledger: &mut Ledger<StallEnds>, wall: u64, mail: &Transaction, answer: Answer) {
    ledger.arrived_at(3, WallMs(wall), mail, INBOX);
    ledger.answered(3, mail, INBOX, answer);
}

/// So many deliveries are in custody, the first of which is spent after `spent`; then one more is answered at `wall`.
fn after(held: u8, taken: bool, wall: u64, answer: Answer) -> usize {
    let mut ledger = Ledger::over(StallEnds::new(&Ledger::setting()));
    for sequence in 1..=held {
        let expires = if sequence == 1 { 1_000 } else { 2_000 };
        deliver(&mut ledger, 0, &mail(sequence, expires), Answer::Verdict(VerdictKind::Advance));
    }
    if taken {
        let (message, node, life) = (None, NodeId(3), ledger.life(3));
        for step in [MailStep::Taking, MailStep::Taken] {
            ledger.event(&Event::Mail { message, node, life, transaction: &mail(2, 2_000), step });
        }
    }
    deliver(&mut ledger, wall, &mail(200, 9_000_000_000), answer);
    ledger.finish().len()
}

#[test]
fn a_refusal_needs_64_deliveries_that_may_be_in_custody() {
    let full = Answer::Refused(CUSTODY_FULL);
    assert_eq!(after(64, false, 0, full), 0);
    assert_eq!(after(63, false, 0, full), 1);
    assert_eq!(after(64, true, 0, full), 1, "one of them was taken");
    assert_eq!(after(64, false, 0, Answer::Refused("message-rate-exhausted")), 0);
}

#[test]
fn a_65th_does_not_enter_custody() {
    let first = Answer::Verdict(VerdictKind::First);
    assert_eq!(after(63, false, 0, first), 0);
    assert_eq!(after(64, false, 0, first), 1);
    assert_eq!(after(64, true, 0, first), 0);
}

#[test]
fn a_stall_ends_with_the_first_of_them_that_is_spent() {
    let last = spent(&mail(1, 1_000)).0;
    let (full, first) = (Answer::Refused(CUSTODY_FULL), Answer::Verdict(VerdictKind::First));
    assert_eq!((after(64, false, last, full), after(64, false, last, first)), (0, 1));
    assert_eq!((after(64, false, last + 1, full), after(64, false, last + 1, first)), (1, 0));
}

#[test]
fn a_store_that_is_removed_ends_a_stall_at_once() {
    use crate::plan::{Fault, FaultKind, RecordOf, StoreAct, When};
    use crate::units::FaultId;
    use groundhog_engine::streams::key::{Class, Table};
    let of = |origin| RecordOf {
        origin: NodeId(origin),
        destination: NodeId(3),
        class: Class::Application,
        table: Table::Receiver,
    };
    let (full, first) = (Answer::Refused(CUSTODY_FULL), Answer::Verdict(VerdictKind::First));
    let cases = [
        (StoreAct::RemoveStore, 1, (1, 0)),
        (StoreAct::Clear { of: of(1) }, 1, (1, 0)),
        (StoreAct::Clear { of: of(2) }, 1, (0, 1)),
        (StoreAct::RemoveRecord { of: of(1) }, 1, (0, 1)),
        // In memory it may be full still.
        (StoreAct::RemoveStore, 0, (0, 0)),
    ];
    for (act, stopped_us, expected) in cases {
        let broken = |answer| {
            let mut plan = Ledger::plan();
            let (kind, id) = (FaultKind::Store { node: NodeId(3), act, stopped_us }, FaultId(7));
            plan.faults.push(Fault { id, at: When::Time { us: 0 }, until_us: None, kind });
            let mut ledger = Ledger::over(StallEnds::new(&Ledger::setting_of(plan)));
            for sequence in 1..=64 {
                let advance = Answer::Verdict(VerdictKind::Advance);
                deliver(&mut ledger, 0, &mail(sequence, 2_000), advance);
            }
            ledger.event(&Event::FaultBegan { fault: id });
            deliver(&mut ledger, 0, &mail(200, 2_000), answer);
            ledger.finish().len()
        };
        assert_eq!((broken(full), broken(first)), expected, "{act:?} {stopped_us}");
    }
}
