//! `streams/at-most-once`: a destination dispatches an exact signed transaction at most once, across crashes.

use super::names::{DigestKey, Names};
use super::{Law, Setting, View};
use crate::ledger::event::Event;
use crate::outcome::Violation;
use crate::units::{NodeId, SimTime};
use rustc_hash::FxHashMap;

/// See the module.
pub struct AtMostOnce {
    names: Names,
    dispatched: FxHashMap<(DigestKey, NodeId), SimTime>,
}

impl AtMostOnce {
    /// Its id.
    pub const ID: &'static str = "streams/at-most-once";
    /// What it states.
    pub const STATES: &'static str =
        "Per node and digest, over all lives, at most one dispatch (000, opening; design section 5).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        Self { names: setting.names.clone(), dispatched: FxHashMap::default() }
    }
}

impl Law for AtMostOnce {
    law_identity!(Outcome reads Dispatched);

    fn event(&mut self, at: SimTime, event: &Event<'_>, _view: &dyn View, broken: &mut Vec<Violation>) {
        let Event::Dispatched { node, transaction, .. } = event else { return };
        if let Some(before) = self.dispatched.insert((DigestKey::of(&transaction.digest), *node), at) {
            let saw = format!(
                "{node} dispatched {} twice (t={before}, t={at})",
                self.names.transaction(transaction)
            );
            broken.push(Violation { law: Self::ID, at, node: Some(*node), saw });
        }
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{Ledger, transaction};

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
