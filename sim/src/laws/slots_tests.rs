use super::*;
use crate::laws::available::CAPACITY;
use crate::laws::fake::{COPY, Ledger, brief};
use crate::plan;
use crate::units::NodeId;
use groundhog_engine::streams::slots::SlotIndex;
use groundhog_engine::units::WallMs;

fn slot(index: u16) -> SlotIndex {
    serde_json::from_value(index.into()).expect("a slot is a number")
}

/// Three slots with floors of two and a pool of two.
fn ledger() -> Ledger<Slots> {
    ledger_with_pool(2)
}

fn ledger_with_pool(pool: u32) -> Ledger<Slots> {
    let mut plan = Ledger::plan();
    plan.engines.slots = Some(plan::Slots { slots: 3, floor: 2, pool, inbox: 1, self_share: 1 });
    Ledger::over(Slots::new(&Ledger::setting_of(plan)))
}

fn ask(ledger: &mut Ledger<Slots>, origin: u16, introducer: Introducer, answer: Answer) {
    let first = brief(origin, 3, 1);
    ledger.introduced(3, WallMs(1), &first, (COPY, introducer));
    ledger.answered(3, &first, COPY, answer);
}

fn admitted(ledger: &mut Ledger<Slots>, origin: u16, introducer: Introducer) {
    ask(ledger, origin, introducer, Answer::Verdict(VerdictKind::First));
}

fn refused(ledger: &mut Ledger<Slots>, origin: u16, introducer: Introducer) {
    ask(ledger, origin, introducer, Answer::Refused(CAPACITY));
}

#[test]
fn below_its_floor_nobody_is_refused_whatever_the_others_have() {
    // With four it has all of the pool.
    for (own, breaks) in [(0, 1), (1, 1), (2, 1), (3, 1), (4, 0)] {
        let mut ledger = ledger();
        (0..own).for_each(|origin| admitted(&mut ledger, origin, Introducer::Slot(slot(0))));
        (5..7).for_each(|origin| admitted(&mut ledger, origin, Introducer::Slot(slot(1))));
        refused(&mut ledger, 7, Introducer::Slot(slot(0)));
        assert_eq!(ledger.finish().len(), breaks, "{own} streams of its own");
    }
}

#[test]
fn the_shares_and_the_pool_hold_for_what_is_not_spent() {
    let beyond = |introducers: &[Introducer]| {
        let mut ledger = ledger();
        (0..).zip(introducers).for_each(|(origin, introducer)| admitted(&mut ledger, origin, *introducer));
        ledger.finish().len()
    };
    let on = |index| Introducer::Slot(slot(index));
    assert_eq!(beyond(&[on(0), on(0), on(0), on(0), on(1), on(1)]), 0);
    assert_eq!(beyond(&[on(0), on(0), on(0), on(0), on(1), on(1), on(1)]), 1, "the pool has two");
    assert_eq!(beyond(&[Introducer::Own, Introducer::Inbox]), 0);
    assert_eq!(beyond(&[Introducer::Own, Introducer::Own]), 1);
    assert_eq!(beyond(&[Introducer::Inbox, Introducer::Inbox]), 1);
}

#[test]
fn a_restart_keeps_what_is_charged() {
    let mut ledger = ledger();
    (0..4).for_each(|origin| admitted(&mut ledger, origin, Introducer::Slot(slot(0))));
    ledger.restarted(3);
    (4..7).for_each(|origin| admitted(&mut ledger, origin, Introducer::Slot(slot(1))));
    assert_eq!(ledger.finish().len(), 1, "three of the pool");
}

#[test]
fn a_connection_takes_the_cleanest_free_slot() {
    for (slots, breaks) in [(&[2, 1, 0][..], 0), (&[2, 0], 1), (&[1], 1), (&[0, 1], 2)] {
        let mut ledger = ledger();
        let (node, life) = (NodeId(3), ledger.life(3));
        for (origin, index) in [(0, 0), (1, 0), (2, 0), (4, 1), (5, 1)] {
            admitted(&mut ledger, origin, Introducer::Slot(slot(index)));
        }
        for index in slots {
            ledger.event(&Event::ConnectionAdmitted { node, life, peer: NodeId(1), slot: slot(*index) });
        }
        let broken = ledger.finish();
        assert_eq!(broken.len(), breaks, "{slots:?}: {broken:?}");
    }
}

/// Two slots have so many streams of floors of two and a pool of four; then a stream comes through the first.
fn one_more(streams: [u16; 2], pending: u16, answer: Answer) -> usize {
    let mut ledger = ledger_with_pool(4);
    let mut origins = (10..).step_by(1);
    for (index, streams) in (0..).zip(streams) {
        for _ in 0..streams {
            admitted(&mut ledger, origins.next().unwrap(), Introducer::Slot(slot(index)));
        }
    }
    for _ in 0..pending {
        let first = brief(origins.next().unwrap(), 3, 1);
        ledger.introduced(3, WallMs(1), &first, (COPY, Introducer::Slot(slot(1))));
    }
    ask(&mut ledger, origins.next().unwrap(), Introducer::Slot(slot(0)), answer);
    ledger.finish().len()
}

#[test]
fn above_its_floor_a_slot_has_its_fair_claim_and_no_more() {
    let first = Answer::Verdict(VerdictKind::First);
    for (streams, claim_left) in
        [([2, 2], true), ([5, 2], true), ([3, 3], true), ([4, 3], false), ([5, 3], false), ([2, 5], true)]
    {
        let (admits, refuses) =
            (one_more(streams, 0, first), one_more(streams, 0, Answer::Refused(CAPACITY)));
        assert_eq!((admits, refuses), (usize::from(!claim_left), usize::from(claim_left)), "{streams:?}");
    }
    let full = [4, 4];
    assert_eq!(one_more(full, 0, Answer::Refused(CAPACITY)), 0, "the pool is full, and the claim taken");
}

#[test]
fn what_may_be_charged_meanwhile_lets_a_refusal_be_right() {
    assert_eq!(one_more([4, 2], 0, Answer::Refused(CAPACITY)), 1);
    assert_eq!(one_more([4, 2], 1, Answer::Refused(CAPACITY)), 0, "the other may be above its floor by now");
    assert_eq!(one_more([4, 2], 1, Answer::Verdict(VerdictKind::First)), 0, "and may not be");
}
