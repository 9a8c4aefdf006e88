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
    let mut plan = Ledger::plan();
    plan.engines.slots = Some(plan::Slots { slots: 3, floor: 2, pool: 2, inbox: 1, self_share: 1 });
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
    for (own, breaks) in [(0, 1), (1, 1), (2, 0), (3, 0)] {
        let mut ledger = ledger();
        (0..own).for_each(|origin| admitted(&mut ledger, origin, Introducer::Slot(slot(0))));
        (4..6).for_each(|origin| admitted(&mut ledger, origin, Introducer::Slot(slot(1))));
        refused(&mut ledger, 6, Introducer::Slot(slot(0)));
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
