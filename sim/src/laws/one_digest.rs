//! `streams/one-digest`: over all lives, one sequence of one stream is exposed with one transaction digest.

use super::names::{DigestKey, Names};
use super::{Law, Setting, View};
use crate::ledger::event::Event;
use crate::outcome::Violation;
use crate::units::SimTime;
use groundhog_engine::streams::key::StreamKey;
use rustc_hash::FxHashMap;

/// See the module.
pub struct OneDigest {
    names: Names,
    exposed: FxHashMap<StreamKey, FxHashMap<u64, (DigestKey, SimTime)>>,
}

impl OneDigest {
    /// Its id.
    pub const ID: &'static str = "streams/one-digest";
    /// What it states.
    pub const STATES: &'static str =
        "A restart resumes past the durable lease: a sequence is never reused (000, Persistence and bounds).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        Self { names: setting.names.clone(), exposed: FxHashMap::default() }
    }
}

impl Law for OneDigest {
    law_identity!(Outcome reads Exposed);

    fn event(&mut self, at: SimTime, event: &Event<'_>, _view: &dyn View, broken: &mut Vec<Violation>) {
        let Event::Exposed { node, transaction, .. } = event else { return };
        let digest = DigestKey::of(&transaction.digest);
        let stream = self.exposed.entry(transaction.stream).or_default();
        let (first, before) = *stream.entry(transaction.sequence.0).or_insert((digest, at));
        if first != digest {
            let saw = format!(
                "{node} signed two transactions as {} (t={before}, t={at})",
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
    fn a_sequence_of_one_digest_holds_and_of_two_breaks() {
        let mut ledger = Ledger::over(OneDigest::new(&Ledger::setting()));
        ledger.exposed(1, &transaction(1, 3, 41, 7));
        ledger.exposed(1, &transaction(1, 3, 41, 7));
        ledger.exposed(1, &transaction(1, 2, 41, 8));
        assert_eq!(ledger.finish(), Vec::<String>::new());

        let mut ledger = Ledger::over(OneDigest::new(&Ledger::setting()));
        ledger.exposed(1, &transaction(1, 3, 41, 7));
        ledger.restarted(1);
        ledger.exposed(1, &transaction(1, 3, 41, 9));
        let saw = ledger.finish();
        assert_eq!(saw.len(), 1);
        assert!(
            saw[0].starts_with("node 1 signed two transactions as node 1->node 3/application#41"),
            "{saw:?}"
        );
    }
}
