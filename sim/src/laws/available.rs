//! `streams/available`: no stream is refused as unavailable, none for lack of room while there is room, and no transaction
//! as spent while it can be delivered.
//!
//! Only damage that the plan did licenses an unavailable stream (see `excuses`). Through whom a stream came is not seen here:
//! a share may be met once as many records are held as it takes to meet the smallest.

use super::lifespan::{Lifespans, spent};
use super::per_node::PerNode;
use super::{Law, Setting, View};
use crate::ledger::event::{Answer, Event};
use crate::outcome::Violation;
use crate::units::{NodeId, SimTime};
use groundhog_engine::streams::slots::SlotBounds;

/// The engine's reason for a stream whose record does not restore.
pub const UNAVAILABLE: &str = "stream-unavailable";

/// The engine's reason for a new stream that finds its table full, or its introducer at a bound.
pub const CAPACITY: &str = "stream-capacity-exceeded";

/// The engine's reason for a transaction that came to its admission too late.
pub const SPENT: &str = "spent";

/// See the module.
pub struct Available {
    capacity: u64,
    /// Streams without which no introducer is at a bound.
    least_at_bound: u64,
    clocks: Lifespans,
    refusals: PerNode<u64>,
}

impl Available {
    /// Its id.
    pub const ID: &'static str = "streams/available";
    /// What it states.
    pub const STATES: &'static str = "A stream fails closed only where its record is damaged or missing, a new one only where a bound is met, and a \
         transaction as too late only where it is (000, Persistence and bounds; Bad records; decision 5).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        let engines = &setting.plan.engines;
        let capacity = u64::from(engines.stream_capacity);
        let least_at_bound = capacity.min(least_at_bound(&engines.slot_bounds()));
        Self { capacity, least_at_bound, clocks: Lifespans::default(), refusals: PerNode::default() }
    }

    /// A look at a store reads all of it: of many refusals at a node for lack of room only some are looked at, the first
    /// ones all.
    fn looks(&mut self, node: NodeId) -> bool {
        let refusals = self.refusals.at(node);
        *refusals += 1;
        *refusals <= 16 || refusals.is_multiple_of(64)
    }

    fn refused(&mut self, node: NodeId, reason: &str, needs: u64, view: &dyn View) -> Option<String> {
        if reason == UNAVAILABLE {
            let saw = "refused a stream as unavailable, and no fault had damaged a record of it";
            return Some(format!("{node} {saw}"));
        }
        if reason != CAPACITY || !self.looks(node) {
            return None;
        }
        let records = view.store_use(node).records;
        (records < needs).then(|| {
            format!("{node} refused a new stream for lack of room with {records} records, and no bound is met before {needs}")
        })
    }
}

/// The fewest streams with which some introducer is at a bound: a share of its own is full, or so many slots are above their
/// floors that one of them has its claim.
fn least_at_bound(bounds: &SlotBounds) -> u64 {
    let claimed = (1..=u32::from(bounds.slots)).map(|over_floor| {
        let others = u64::from(over_floor - 1) * u64::from(bounds.floor + 1);
        u64::from(bounds.floor + bounds.fair_claim(over_floor)) + others
    });
    let shares = [bounds.inbox, bounds.self_share].map(u64::from);
    claimed.chain(shares).min().unwrap_or(0)
}

impl Law for Available {
    law_identity!(Outcome reads Arrived, Answered, ReserveAnswered);

    fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View, broken: &mut Vec<Violation>) {
        let (node, saw) = match event {
            Event::Arrived { node, wall, .. } => return self.clocks.arrived(*node, *wall),
            Event::Answered { node, transaction, answer: Answer::Refused(SPENT), .. } => {
                let early = !self.clocks.is_past(*node, spent(transaction));
                let saw =
                    || format!("{node} refused a transaction as spent, and its clock was never past that");
                (node, early.then(saw))
            }
            Event::Answered { node, answer: Answer::Refused(reason), .. } => {
                (node, self.refused(*node, reason, self.least_at_bound, view))
            }
            Event::ReserveAnswered { node, refusal: Some(reason), .. } => {
                (node, self.refused(*node, reason, self.capacity, view))
            }
            _ => return,
        };
        broken.extend(saw.map(|saw| Violation { law: Self::ID, at, node: Some(*node), saw }));
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use groundhog_engine::streams::slots::DEFAULT_SUCCESSORS;

    const SLOTS: SlotBounds = SlotBounds::for_successors(DEFAULT_SUCCESSORS);
    use crate::laws::StoreUse;
    use crate::laws::fake::{HONEST, Ledger, brief, message, transaction};

    fn refused(reason: &'static str, records: u64) -> usize {
        let mut ledger = Ledger::over(Available::new(&Ledger::setting()));
        ledger.view.store_use = StoreUse { records, bytes: 0 };
        ledger.arrived(3, &transaction(1, 3, 1, 1), HONEST);
        ledger.answered(3, &transaction(1, 3, 1, 1), HONEST, Answer::Refused(reason));
        ledger.finish().len()
    }

    #[test]
    fn an_unavailable_stream_and_a_lack_of_room_with_room_break_it() {
        assert_eq!(refused(UNAVAILABLE, 1), 1);
        assert_eq!(refused(CAPACITY, 661), 1);
        assert_eq!(refused(CAPACITY, 662), 0);
        assert_eq!(refused("sequence-exhausted", 0), 0);
    }

    #[test]
    fn the_sender_s_table_has_no_bound_but_its_own() {
        for (records, breaks) in [(16_383, 1), (16_384, 0)] {
            let mut ledger = Ledger::over(Available::new(&Ledger::setting()));
            ledger.view.store_use = StoreUse { records, bytes: 0 };
            let (message, node, life) = (message(0), NodeId(3), ledger.life(3));
            let refusal = Some(CAPACITY);
            ledger.event(&Event::ReserveAnswered { message, node, life, answer: None, refusal });
            assert_eq!(ledger.finish().len(), breaks, "{records}");
        }
    }

    #[test]
    fn ten_slots_above_their_floors_are_the_fewest_streams_with_which_one_has_its_claim() {
        assert_eq!(least_at_bound(&SLOTS), 32 + 333 + 9 * 33);
        assert_eq!(least_at_bound(&SlotBounds { inbox: 5, ..SLOTS }), 5);
    }

    #[test]
    fn a_transaction_is_spent_once_the_clock_was_past_its_last_instant() {
        for (clock, breaks) in [(4_000, 1), (4_001, 0)] {
            let mut ledger = Ledger::over(Available::new(&Ledger::setting()));
            ledger.clock_shows(clock);
            ledger.answered(3, &brief(1, 3, 1), HONEST, Answer::Refused(SPENT));
            assert_eq!(ledger.finish().len(), breaks, "{clock}");
        }
    }
}
