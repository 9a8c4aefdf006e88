//! `streams/refusal-ends`: a refusal for lack of room ends with the first admission at which the edge has less than its
//! floor, or its share, of streams that are not spent.

use super::per_node::PerNode;
use super::reference_slots::{ReferenceSlots, Seen};
use super::slots::node_of;
use super::{Law, Setting, View};
use crate::ledger::event::Event;
use crate::outcome::Violation;
use crate::units::SimTime;
use groundhog_engine::streams::record::Introducer;
use groundhog_engine::streams::slots::SlotBounds;

/// See the module.
pub struct RefusalEnds {
    bounds: SlotBounds,
    capacity: u64,
    nodes: PerNode<ReferenceSlots>,
}

impl RefusalEnds {
    /// Its id.
    pub const ID: &'static str = "streams/refusal-ends";
    /// What it states.
    pub const STATES: &'static str = "A refusal ends at the first admission after the edge's unspent charge is below its floor or share (000, \
         Receiver streams by connection slot; design section 5).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        let engines = &setting.plan.engines;
        let (bounds, capacity) = (engines.slot_bounds(), engines.stream_capacity.into());
        Self { bounds, capacity, nodes: PerNode::default() }
    }
}

impl Law for RefusalEnds {
    law_identity!(Outcome reads Booted, Arrived, Answered);

    fn event(&mut self, at: SimTime, event: &Event<'_>, _view: &dyn View, broken: &mut Vec<Violation>) {
        let Some(node) = node_of(event) else { return };
        let Some(Seen::Refused(refused)) = self.nodes.at(node).event(event) else { return };
        let SlotBounds { floor, inbox, self_share, .. } = self.bounds;
        let (share, what) = match refused.introducer {
            Introducer::Slot(_) => (floor, "floor"),
            Introducer::Inbox => (inbox, "share"),
            Introducer::Own => (self_share, "share"),
        };
        let Some(most) = refused.most_unspent else { return };
        if most < u64::from(share) && self.capacity >= self.bounds.most_streams() {
            let introducer = refused.introducer;
            let saw = format!(
                "{node} refused a new stream of {introducer}, of whose {share} streams of its {what} at most {most} were not spent"
            );
            broken.push(Violation { law: Self::ID, at, node: Some(node), saw });
        }
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::available::CAPACITY;
    use crate::laws::fake::{BRIEF_SPENT_MS, COPY, Ledger, brief};
    use crate::ledger::event::{Answer, Transaction};
    use crate::plan::Slots;
    use groundhog_engine::streams::window::VerdictKind;
    use groundhog_engine::units::WallMs;

    /// One slot with a floor of two; two streams are charged to it, and a third is refused when the clock shows `wall`.
    fn refused_at(wall: u64, streams: u16) -> usize {
        let mut plan = Ledger::plan();
        plan.engines.slots = Some(Slots { slots: 1, floor: 2, pool: 0, inbox: 1, self_share: 1 });
        let mut ledger = Ledger::over(RefusalEnds::new(&Ledger::setting_of(plan)));
        let slot: Introducer =
            serde_json::from_value(serde_json::json!({ "Slot": 0 })).expect("an introducer");
        for origin in 0..streams {
            let first = brief(origin, 3, 1);
            ledger.introduced(3, WallMs(1), &first, (COPY, slot));
            ledger.answered(3, &first, COPY, Answer::Verdict(VerdictKind::First));
        }
        let third = brief(5, 3, 1);
        ledger.introduced(3, WallMs(wall), &third, (COPY, slot));
        ledger.answered(3, &third, COPY, Answer::Refused(CAPACITY));
        ledger.finish().len()
    }

    #[test]
    fn an_edge_is_refused_while_its_floor_is_taken_by_what_is_not_spent() {
        assert_eq!(refused_at(BRIEF_SPENT_MS, 2), 0);
        assert_eq!(refused_at(BRIEF_SPENT_MS + 1, 2), 1, "what was there is spent");
        assert_eq!(refused_at(2, 1), 1, "one stream of two");
    }

    #[test]
    fn what_follows_a_first_and_is_told_before_it_counts_for_as_long_as_it_lasts() {
        for (told, second, breaks) in [
            ([0, 1], VerdictKind::Advance, 0),
            ([1, 0], VerdictKind::Advance, 0),
            ([1, 0], VerdictKind::Stale, 1),
        ] {
            let mut plan = Ledger::plan();
            plan.engines.slots = Some(Slots { slots: 1, floor: 1, pool: 0, inbox: 1, self_share: 1 });
            let mut ledger = Ledger::over(RefusalEnds::new(&Ledger::setting_of(plan)));
            let slot: Introducer =
                serde_json::from_value(serde_json::json!({ "Slot": 0 })).expect("an introducer");
            // One batch holds a first, and what is spent later.
            let of_batch = [(brief(0, 3, 1), VerdictKind::First), (later(brief(0, 3, 2)), second)];
            for (transaction, _) in &of_batch {
                ledger.introduced(3, WallMs(1), transaction, (COPY, slot));
            }
            for (transaction, verdict) in told.map(|place: usize| &of_batch[place]) {
                ledger.answered(3, transaction, COPY, Answer::Verdict(*verdict));
            }
            let new = brief(5, 3, 1);
            ledger.introduced(3, WallMs(BRIEF_SPENT_MS + 1), &new, (COPY, slot));
            ledger.answered(3, &new, COPY, Answer::Refused(CAPACITY));
            assert_eq!(ledger.finish().len(), breaks, "{told:?}, {second:?}");
        }
    }

    fn slot(index: u16) -> Introducer {
        serde_json::from_value(serde_json::json!({ "Slot": index })).expect("an introducer")
    }

    fn two_slots_with_a_floor_of_one() -> Ledger<RefusalEnds> {
        let mut plan = Ledger::plan();
        plan.engines.slots = Some(Slots { slots: 2, floor: 1, pool: 0, inbox: 1, self_share: 1 });
        Ledger::over(RefusalEnds::new(&Ledger::setting_of(plan)))
    }

    #[test]
    fn what_went_on_through_another_slot_and_is_not_told_yet_lasts_all_the_same() {
        for (goes_on, breaks) in [(true, 0), (false, 1)] {
            let mut ledger = two_slots_with_a_floor_of_one();
            let first = brief(0, 3, 1);
            ledger.introduced(3, WallMs(1), &first, (COPY, slot(0)));
            if goes_on {
                ledger.introduced(3, WallMs(1), &later(brief(0, 3, 2)), (COPY, slot(1)));
            }
            ledger.answered(3, &first, COPY, Answer::Verdict(VerdictKind::First));
            let new = brief(5, 3, 1);
            ledger.introduced(3, WallMs(BRIEF_SPENT_MS + 1), &new, (COPY, slot(0)));
            ledger.answered(3, &new, COPY, Answer::Refused(CAPACITY));
            assert_eq!(ledger.finish().len(), breaks, "goes on: {goes_on}");
        }
    }

    #[test]
    fn what_left_after_a_refusal_was_there_when_it_was_refused() {
        for (leaves, breaks) in [(true, 0), (false, 1)] {
            let mut ledger = two_slots_with_a_floor_of_one();
            let first = brief(0, 3, 1);
            // Where it does not leave, it was never this slot's.
            let begins = if leaves { slot(0) } else { slot(1) };
            ledger.introduced(3, WallMs(1), &first, (COPY, begins));
            ledger.answered(3, &first, COPY, Answer::Verdict(VerdictKind::First));
            let new = brief(5, 3, 1);
            ledger.introduced(3, WallMs(2), &new, (COPY, slot(0)));
            let anew = later(brief(0, 3, 2));
            ledger.introduced(3, WallMs(BRIEF_SPENT_MS + 1), &anew, (COPY, slot(1)));
            ledger.answered(3, &anew, COPY, Answer::Verdict(VerdictKind::First));
            ledger.answered(3, &new, COPY, Answer::Refused(CAPACITY));
            assert_eq!(ledger.finish().len(), breaks, "leaves: {leaves}");
        }
    }

    fn later(mut transaction: Transaction) -> Transaction {
        transaction.expires = transaction.expires.plus_ms(60_000);
        transaction
    }

    #[test]
    fn by_a_clock_that_was_set_back_nothing_is_judged() {
        assert_eq!(refused_at(0, 1), 0);
    }
}
