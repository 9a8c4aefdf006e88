//! The fair claim and every other bound, at their edges.

use super::*;
use crate::streams::slots::DEFAULT_SUCCESSORS;
use proptest::prelude::*;

fn slot(index: u16) -> Introducer {
    Introducer::Slot(SlotIndex::new(index))
}

fn seeds() -> SlotBounds {
    SlotBounds::for_successors(DEFAULT_SUCCESSORS)
}

/// Charges as much as the introducer may have; says how much that was, and by which bound it ended.
fn fill(charges: &mut Charges, introducer: Introducer) -> (u32, CapacityBound) {
    let before = charges.of(introducer);
    loop {
        match charges.room_for(introducer) {
            Ok(()) => charges.add(introducer),
            Err(bound) => return (charges.of(introducer) - before, bound),
        }
    }
}

#[test]
fn one_slot_may_have_its_floor_and_the_whole_pool() {
    let mut charges = Charges::new(seeds());
    let claim = CapacityBound::Claim { claim: 3_328, over_floor: 1 };
    assert_eq!(fill(&mut charges, slot(5)), (32 + 3_328, claim));
    assert_eq!((charges.pooled(), charges.over_floor()), (3_328, 1));
    assert_eq!(
        fill(&mut charges, slot(6)),
        (32, CapacityBound::Pool { pool: 3_328 }),
        "its floor is its own"
    );
}

#[test]
fn a_slot_that_crosses_its_floor_counts_among_those_that_share() {
    let mut charges = Charges::new(seeds());
    (0..32 + 1_664).for_each(|_| charges.add(slot(0)));
    assert_eq!(charges.room_for(slot(0)), Ok(()), "alone above its floor");
    assert_eq!(fill(&mut charges, slot(1)).0, 32 + 1_664);
    let claim = CapacityBound::Claim { claim: 1_664, over_floor: 2 };
    assert_eq!(charges.room_for(slot(0)), Err(claim));
    assert_eq!(charges.pooled(), 3_328, "two even shares are the whole pool");
}

#[test]
fn a_claim_that_shrinks_takes_nothing_away_and_gives_nothing_more() {
    let mut charges = Charges::new(seeds());
    (0..32 + 3_000).for_each(|_| charges.add(slot(0)));
    let claim = CapacityBound::Claim { claim: 1_664, over_floor: 2 };
    assert_eq!(fill(&mut charges, slot(1)), (32 + 328, CapacityBound::Pool { pool: 3_328 }));
    assert_eq!(charges.of(slot(0)), 3_032);
    assert_eq!(charges.room_for(slot(0)), Err(claim));
    (0..1_336).for_each(|_| charges.remove(slot(0)));
    assert_eq!(charges.of(slot(0)), 32 + 1_664);
    assert_eq!(charges.room_for(slot(0)), Err(claim), "exactly its claim");
    charges.remove(slot(0));
    assert_eq!(charges.room_for(slot(0)), Ok(()), "below it");
}

#[test]
fn the_pool_is_never_passed_though_claims_are_rounded_up() {
    for (over_floor, claim) in [(100, 34), (328, 11)] {
        let mut charges = Charges::new(seeds());
        // In turn, so that all cross their floors before any has its claim.
        for _ in 0..32 + claim {
            for index in 0..over_floor {
                if charges.room_for(slot(index)).is_ok() {
                    charges.add(slot(index));
                }
            }
        }
        assert_eq!(charges.pooled(), 3_328, "{over_floor} slots of {claim} each would be more");
        assert_eq!(charges.over_floor(), u32::from(over_floor));
        let last = slot(over_floor - 1);
        assert!(charges.of(last) < 32 + claim);
        assert_eq!(charges.room_for(last), Err(CapacityBound::Pool { pool: 3_328 }));
        assert_eq!(
            charges.room_for(slot(0)),
            Err(CapacityBound::Claim { claim, over_floor: u32::from(over_floor) })
        );
    }
}

#[test]
fn a_whole_table_of_shares_is_15_616_streams() {
    let mut charges = Charges::new(seeds());
    let total: u32 = (0..328)
        .map(slot)
        .chain([Introducer::Inbox, Introducer::Own])
        .map(|introducer| fill(&mut charges, introducer).0)
        .sum();
    assert_eq!(total, 15_616);
    assert_eq!(u64::from(total), seeds().most_streams());
}

#[test]
fn inbox_and_self_have_shares_of_their_own() {
    let mut charges = Charges::new(seeds());
    assert_eq!(fill(&mut charges, Introducer::Inbox), (768, CapacityBound::Inbox { share: 768 }));
    assert_eq!(charges.room_for(Introducer::Own), Ok(()), "a flood of mail never refuses signalling");
    assert_eq!(fill(&mut charges, Introducer::Own), (1_024, CapacityBound::SelfShare { share: 1_024 }));
    assert_eq!((charges.pooled(), charges.over_floor()), (0, 0), "neither takes from the pool");
    assert_eq!(charges.room_for(slot(0)), Ok(()));
}

#[test]
fn a_slot_that_does_not_exist_keeps_its_charges_and_gets_no_more() {
    let mut charges = Charges::new(seeds());
    (0..100).for_each(|_| charges.add(slot(328)));
    charges.add(slot(340));
    assert_eq!((charges.no_slot(), charges.pooled(), charges.over_floor()), (101, 0, 0));
    assert_eq!(charges.room_for(slot(328)), Err(CapacityBound::Floor { floor: 0 }));
    assert!(charges.slots().iter().all(|charged| *charged == 0));
    (0..100).for_each(|_| charges.remove(slot(328)));
    assert_eq!(charges.no_slot(), 1);
}

#[test]
fn without_a_pool_the_floor_is_the_bound() {
    let mut charges = Charges::new(SlotBounds { pool: 0, ..seeds() });
    assert_eq!(fill(&mut charges, slot(0)), (32, CapacityBound::Floor { floor: 32 }));
    let mut charges = Charges::new(SlotBounds { floor: 0, pool: 3, ..seeds() });
    assert_eq!(fill(&mut charges, slot(0)), (3, CapacityBound::Claim { claim: 3, over_floor: 1 }));
}

/// Small bounds, so that random walks meet them all.
const SMALL: SlotBounds = SlotBounds { slots: 4, floor: 2, pool: 5, inbox: 2, self_share: 3 };

fn introducers() -> impl Strategy<Value = Introducer> {
    prop_oneof![8 => (0u16..6).prop_map(slot), 1 => Just(Introducer::Inbox), 1 => Just(Introducer::Own)]
}

/// What a stream by stream recount finds: the rules in the seed's words, over a plain list.
fn may_have(streams: &[Introducer], introducer: Introducer) -> bool {
    let of = |introducer| streams.iter().filter(|stream| **stream == introducer).count() as u32;
    let Introducer::Slot(index) = introducer else {
        let share = if introducer == Introducer::Inbox { SMALL.inbox } else { SMALL.self_share };
        return of(introducer) < share;
    };
    if index.get() >= SMALL.slots {
        return false;
    }
    let charged = of(introducer);
    let with_it = |other: u16| of(slot(other)) + u32::from(slot(other) == introducer);
    let over_floor = (0..SMALL.slots).filter(|other| with_it(*other) > SMALL.floor).count() as u32;
    let pooled: u32 = (0..SMALL.slots).map(|other| of(slot(other)).saturating_sub(SMALL.floor)).sum();
    charged < SMALL.floor
        || (charged - SMALL.floor < SMALL.pool.div_ceil(over_floor.max(1)) && pooled < SMALL.pool)
}

proptest! {
    #[test]
    fn charges_follow_a_recount_over_any_comings_and_goings(
        steps in proptest::collection::vec((introducers(), 0usize..3), 1..120),
    ) {
        let mut charges = Charges::new(SMALL);
        let mut streams = Vec::new();
        for (introducer, act) in steps {
            let room = charges.room_for(introducer);
            prop_assert_eq!(room.is_ok(), may_have(&streams, introducer), "{:?} of {:?}", introducer, streams);
            let below_floor = matches!(introducer, Introducer::Slot(index) if index.get() < SMALL.slots)
                && charges.of(introducer) < SMALL.floor;
            prop_assert!(!below_floor || room.is_ok(), "below its floor no slot is refused");
            match act {
                0 => if let Some(at) = streams.iter().position(|stream| *stream == introducer) {
                    charges.remove(streams.swap_remove(at));
                },
                // A restart under lowered bounds restores what no admission would take in.
                1 if room.is_err() => {}
                _ => {
                    charges.add(introducer);
                    streams.push(introducer);
                }
            }
            let mut recounted = Charges::new(SMALL);
            streams.iter().for_each(|stream| recounted.add(*stream));
            prop_assert_eq!(&recounted, &charges, "in whatever order");
        }
    }
}
