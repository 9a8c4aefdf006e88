//! What two live runtimes on one allocator license: the limit `forks-by-two-allocators`, for their account alone.
//!
//! Promise: only what follows from one sequence being signed twice is excused, from the time at which the second began.
//! Neither runtime has forgotten anything, so what each has dispatched, holds and refuses is judged as ever.

use crate::plan::Plan;
use crate::units::{NodeId, SimTime};

/// The laws that a second live runtime excuses: of what a backup that is put back does, that which is about what is signed.
pub(super) const LAWS: &[&str] = &["streams/one-digest", "streams/honest"];

/// The nodes of accounts with two runtimes, each from when the second began.
pub(super) fn nodes(plan: &Plan) -> impl Iterator<Item = (NodeId, SimTime)> {
    plan.second_runtimes().flat_map(|(action, second)| {
        let since = SimTime::from_us(action.at_us);
        [(action.node, since), (second.of, since)]
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::catalogue;
    use crate::laws::excuses::{Excused, TWO_ALLOCATORS};
    use crate::laws::fake::{Ledger, transaction};
    use crate::ledger::event::Event;
    use crate::plan::{Act, Action, SecondRuntime};
    use crate::units::ActionId;
    use groundhog_engine::streams::window::VerdictKind;

    /// Broken laws and limits of what `then` does to a law of a plan in which node 2 is a second runtime of node 1.
    fn judged(
        law: &str,
        at_us: u64,
        then: impl FnOnce(&mut Ledger<Box<dyn crate::laws::Law>>),
    ) -> (usize, u64) {
        let mut plan = Ledger::plan();
        let act = Act::SecondRuntime(SecondRuntime { of: NodeId(1), lasts_us: None });
        plan.actions.push(Action { id: ActionId(0), at_us, node: NodeId(2), act });
        let setting = Ledger::setting_of(plan);
        let law = (catalogue::by_id(law).expect("a law").build)(&setting);
        let mut ledger = Ledger::over(Excused::over(law, &setting));
        then(&mut ledger);
        let (saw, limits) = ledger.finish_with_limits();
        (saw.len(), limits.get(TWO_ALLOCATORS).copied().unwrap_or(0))
    }

    #[test]
    fn a_sequence_signed_twice_is_a_limit_for_that_account_from_then_on_and_breaks_the_law_for_every_other() {
        for (at_us, (one, other), origin, expected) in [
            (0, (1, 2), 1, (0, 1)),
            (0, (2, 1), 1, (0, 1)),
            (0, (1, 1), 1, (0, 1)),
            (0, (3, 3), 3, (1, 0)),
            (60_000_000, (1, 2), 1, (1, 0)),
        ] {
            let found = judged("streams/one-digest", at_us, |ledger| {
                ledger.exposed(one, &transaction(origin, 0, 5, 1));
                ledger.exposed(other, &transaction(origin, 0, 5, 2));
            });
            assert_eq!(found, expected, "{at_us} {one} {other} {origin}");
        }
    }

    #[test]
    fn what_either_runtime_or_a_receiver_dispatches_twice_breaks_the_law_all_the_same() {
        for (at, origin) in [(1, 3), (2, 3), (3, 1)] {
            let found = judged("streams/at-most-once", 0, |ledger| {
                let sent = transaction(origin, at, 5, 1);
                let (node, life, verdict) = (NodeId(at), ledger.life(at), VerdictKind::First);
                for _ in 0..2 {
                    ledger.event(&Event::Dispatched {
                        message: None,
                        node,
                        life,
                        transaction: &sent,
                        verdict,
                        intended_ns: 0,
                        sent_ns: 0,
                    });
                }
            });
            assert_eq!(found, (1, 0), "{at} {origin}");
        }
    }
}
