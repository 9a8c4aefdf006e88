//! `streams/at-most-once`: a destination dispatches an exact signed transaction at most once, across crashes.
//!
//! A clock that was past a transaction's last instant and then is before it again makes a node forget what can still come:
//! the limit `clock-excursion`, counted where a transaction arrives in such a time.

use super::custody_book::CustodyBook;
use super::lifespan::{Lifespans, spent};
use super::names::{DigestKey, Names};
use super::store_acts::StoreActs;
use super::{Law, Setting, View};
use crate::ledger::event::{Answer, Event, Transaction};
use crate::outcome::Violation;
use crate::units::{FaultId, NodeId, SimTime};
use groundhog_engine::streams::window::VerdictKind;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::BTreeMap;

/// Dispatched again, out of custody.
const REDELIVERED: Answer = Answer::Verdict(VerdictKind::Redelivered);

/// The limit that is counted, not broken.
pub const CLOCK_EXCURSION: &str = "clock-excursion";

/// The limit that is counted for each dispatch more of a stream that an operator cleared.
pub const CLEARED_RECEIVER: &str = "cleared-receiver";

/// See the module.
pub struct AtMostOnce {
    names: Names,
    dispatched: FxHashMap<(DigestKey, NodeId), SimTime>,
    clocks: Lifespans,
    /// What arrived after a reading at which it was spent, by a clock that is before that again.
    excursions: FxHashSet<(DigestKey, NodeId)>,
    excused: u64,
    acts: StoreActs,
    /// Acts so far that let a stream begin again.
    clears: Vec<FaultId>,
    /// Dispatches beyond the first.
    again: FxHashMap<(DigestKey, NodeId), usize>,
    cleared: u64,
    custody: CustodyBook,
}

impl AtMostOnce {
    /// Its id.
    pub const ID: &'static str = "streams/at-most-once";
    /// What it states.
    pub const STATES: &'static str = "Per node and digest, over all lives, at most one dispatch, and another only while its mail is in custody (000, opening; design section 5).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        Self {
            names: setting.names.clone(),
            dispatched: FxHashMap::default(),
            clocks: Lifespans::default(),
            excursions: FxHashSet::default(),
            excused: 0,
            acts: StoreActs::of(setting),
            clears: Vec::new(),
            again: FxHashMap::default(),
            cleared: 0,
            custody: CustodyBook::of_run(setting),
        }
    }
}

impl AtMostOnce {
    /// Whether an operator's clear of the stream allows one dispatch more.
    fn is_cleared(&mut self, dispatch: (DigestKey, NodeId), transaction: &Transaction) -> bool {
        let again = self.again.entry(dispatch).or_default();
        *again += 1;
        let forgotten = |act: &&FaultId| {
            self.acts.get(**act).is_some_and(|touch| touch.forgets_receiver(dispatch.1, &transaction.stream))
        };
        self.clears.iter().filter(forgotten).count() >= *again
    }
}

impl Law for AtMostOnce {
    law_identity!(Outcome reads FaultBegan, Arrived, Answered, Dispatched, Mail);

    fn event(&mut self, at: SimTime, event: &Event<'_>, _view: &dyn View, broken: &mut Vec<Violation>) {
        if let Event::Answered { node, life, transaction, passage, answer: REDELIVERED, .. } = event
            && (!passage.is_from_inbox() || !self.custody.may_hold(*node, *life, transaction))
        {
            let sent = self.names.transaction(transaction);
            let saw = format!("{node} dispatches {sent} again, and it was not in custody");
            broken.push(Violation { law: Self::ID, at, node: Some(*node), saw });
        }
        self.custody.event(event);
        let (node, transaction) = match event {
            // Judged by its answer.
            Event::Dispatched { verdict: VerdictKind::Redelivered, .. } => return,
            Event::Arrived { node, wall, transaction, .. } => {
                self.clocks.arrived(*node, *wall);
                let spent = spent(transaction);
                if *wall <= spent && self.clocks.is_past(*node, spent) {
                    self.excursions.insert((DigestKey::of(&transaction.digest), *node));
                }
                return;
            }
            Event::FaultBegan { fault } => {
                self.clears.extend(self.acts.get(*fault).filter(|touch| touch.act.forgets()).map(|_| *fault));
                return;
            }
            Event::Dispatched { node, transaction, .. } => (node, transaction),
            _ => return,
        };
        let dispatch = (DigestKey::of(&transaction.digest), *node);
        if let Some(before) = self.dispatched.insert(dispatch, at) {
            if self.excursions.contains(&dispatch) {
                self.excused += 1;
                return;
            }
            if self.is_cleared(dispatch, transaction) {
                self.cleared += 1;
                return;
            }
            let saw = format!(
                "{node} dispatched {} twice (t={before}, t={at})",
                self.names.transaction(transaction)
            );
            broken.push(Violation { law: Self::ID, at, node: Some(*node), saw });
        }
    }

    fn limits(&self, into: &mut BTreeMap<&'static str, u64>) {
        if self.excused > 0 {
            *into.entry(CLOCK_EXCURSION).or_default() += self.excused;
        }
        if self.cleared > 0 {
            *into.entry(CLEARED_RECEIVER).or_default() += self.cleared;
        }
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{COPY, Ledger, transaction};
    use groundhog_engine::streams::key::Class;
    use groundhog_engine::units::WallMs;

    /// A transaction is dispatched, its clock shows these times at later arrivals, and it is dispatched again.
    fn again_after(walls: &[u64]) -> (usize, u64) {
        let mut sent = transaction(1, 3, 41, 7);
        (sent.stream.class, sent.expires) = (Class::Control, WallMs(1_000));
        let mut ledger = Ledger::over(AtMostOnce::new(&Ledger::setting()));
        ledger.dispatched(3, &sent);
        for wall in walls {
            ledger.arrived_at(3, WallMs(*wall), &sent, COPY);
        }
        ledger.dispatched(3, &sent);
        let (saw, limits) = ledger.finish_with_limits();
        (saw.len(), limits.get(CLOCK_EXCURSION).copied().unwrap_or(0))
    }

    #[test]
    fn only_a_clock_that_was_past_the_last_instant_and_is_before_it_again_is_a_limit() {
        assert_eq!(again_after(&[4_001, 4_000]), (0, 1));
        assert_eq!(again_after(&[4_000, 3_000]), (1, 0), "never past it");
        assert_eq!(again_after(&[4_001]), (1, 0), "past it still: nothing may be dispatched");
        assert_eq!(again_after(&[]), (1, 0));
    }

    #[test]
    fn each_clear_of_its_stream_allows_one_dispatch_more() {
        use crate::plan::{Fault, FaultKind, RecordOf, StoreAct, When};
        use groundhog_engine::streams::key::Table;
        let of = |origin| RecordOf {
            origin: NodeId(origin),
            destination: NodeId(3),
            class: Class::Application,
            table: Table::Receiver,
        };
        let cases = [
            (StoreAct::Clear { of: of(1) }, 1, 0),
            (StoreAct::RemoveStore, 1, 0),
            (StoreAct::Clear { of: of(1) }, 2, 1),
            (StoreAct::Clear { of: of(2) }, 1, 1),
            (StoreAct::RemoveRecord { of: of(1) }, 1, 1),
        ];
        for (act, again, breaks) in cases {
            let mut plan = Ledger::plan();
            let (kind, id) = (FaultKind::Store { node: NodeId(3), act, stopped_us: 1 }, FaultId(7));
            plan.faults.push(Fault { id, at: When::Time { us: 0 }, until_us: None, kind });
            let mut ledger = Ledger::over(AtMostOnce::new(&Ledger::setting_of(plan)));
            ledger.dispatched(3, &transaction(1, 3, 41, 7));
            ledger.event(&Event::FaultBegan { fault: id });
            (0..again).for_each(|_| ledger.dispatched(3, &transaction(1, 3, 41, 7)));
            assert_eq!(ledger.finish().len(), breaks, "{act:?} {again}");
        }
    }

    #[test]
    fn one_dispatch_of_each_transaction_holds_and_a_second_breaks() {
        let mut ledger = Ledger::over(AtMostOnce::new(&Ledger::setting()));
        ledger.dispatched(3, &transaction(1, 3, 41, 7));
        ledger.dispatched(3, &transaction(1, 3, 42, 8));
        assert_eq!(ledger.finish(), Vec::<String>::new());

        let mut ledger = Ledger::over(AtMostOnce::new(&Ledger::setting()));
        ledger.dispatched(3, &transaction(1, 3, 41, 7));
        ledger.restarted(3);
        ledger.dispatched(3, &transaction(1, 3, 41, 7));
        let saw = ledger.finish();
        assert_eq!(saw.len(), 1);
        assert!(saw[0].starts_with("node 3 dispatched node 1->node 3/application#41 twice"), "{saw:?}");
    }
}
