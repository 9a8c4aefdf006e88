//! Every law, and which law convicts which flaw.
//!
//! Promise: `list` and `explain` read this table and nothing else; every flaw has an outcome law.

use super::at_most_once::AtMostOnce;
use super::honest::Honest;
use super::one_digest::OneDigest;
use super::release::Release;
use super::{Law, LawKind, Setting};

/// One law of the catalogue.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its id, such as `streams/at-most-once`.
    pub id: &'static str,
    /// What it reads.
    pub kind: LawKind,
    /// The seed's sentence, or the decision, that it states.
    pub states: &'static str,
    /// A checker for one run.
    pub build: fn(&Setting) -> Box<dyn Law>,
}

macro_rules! law {
    ($law:ident, $kind:ident) => {
        Entry {
            id: $law::ID,
            kind: LawKind::$kind,
            states: $law::STATES,
            build: |setting| Box::new($law::new(setting)),
        }
    };
}

/// Every law, outcome laws first.
pub const LAWS: &[Entry] =
    &[law!(AtMostOnce, Outcome), law!(Honest, Outcome), law!(OneDigest, Outcome), law!(Release, Mechanism)];

/// The law of this id.
#[must_use]
pub fn by_id(id: &str) -> Option<&'static Entry> {
    LAWS.iter().find(|law| law.id == id)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{Ledger, assert_well_formed};

    #[test]
    fn every_law_is_what_the_catalogue_says() {
        for entry in LAWS {
            let law = (entry.build)(&Ledger::setting());
            assert_well_formed(&*law);
            assert_eq!((law.id(), law.kind(), law.states()), (entry.id, entry.kind, entry.states));
            assert_eq!(by_id(entry.id).map(|found| found.states), Some(entry.states));
        }
    }
}
