//! `streams/link-local`: a connection's volatile window judges what that connection brought, and nothing else; and dispatches
//! a transaction at most once.
//!
//! The reference window of each connection begins empty with it. Whether a transaction is its business is seen from outside:
//! the plan declares the namespace, the origin is at the other end, and the connection stands.

use super::names::{DigestKey, Names};
use super::per_node::PerNode;
use super::verdict::{Ending, Mismatch, Stream};
use super::{Law, Setting, View};
use crate::ledger::event::{Answer, Event, Transaction};
use crate::outcome::Violation;
use crate::units::{NodeId, SimTime};
use groundhog_engine::streams::key::StreamKey;
use groundhog_engine::streams::window::VerdictKind;
use rustc_hash::{FxHashMap, FxHashSet};

/// See the module.
pub struct LinkLocal {
    names: Names,
    windows: FxHashMap<(StreamKey, u32), Stream>,
    dispatched: FxHashSet<(DigestKey, NodeId, u32)>,
    answered: PerNode<Option<u32>>,
}

impl LinkLocal {
    /// Its id.
    pub const ID: &'static str = "streams/link-local";
    /// What it states.
    pub const STATES: &'static str = "A link-local transaction is admitted in a volatile window of its stream on that connection, which spans \
         one link generation: at most one dispatch in each (000, Persistence and bounds; decision 7).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        Self {
            names: setting.names.clone(),
            windows: FxHashMap::default(),
            dispatched: FxHashSet::default(),
            answered: PerNode::default(),
        }
    }

    fn answered(
        &mut self,
        transaction: &Transaction,
        link: u32,
        ending: Ending,
        passage: crate::ledger::event::Passage,
    ) -> Option<String> {
        let window = self.windows.get_mut(&(transaction.stream, link))?;
        let word = DigestKey::word(&transaction.digest);
        window.ended(transaction.sequence.0, word, Some(passage), ending);
        let Mismatch { sequence, told, expected } = window.judge(0)?;
        let (stream, told) = (self.names.stream(&transaction.stream), told.id());
        let expected = expected.map_or("nothing", VerdictKind::id);
        Some(format!(
            "judged {stream}#{sequence} as {told} on connection {link}, and what that brought makes it {expected}"
        ))
    }
}

impl Law for LinkLocal {
    law_identity!(Outcome reads Arrived, Answered, Dispatched);

    fn event(&mut self, at: SimTime, event: &Event<'_>, _view: &dyn View, broken: &mut Vec<Violation>) {
        let (node, saw) = match event {
            Event::Arrived { life, transaction, passage, .. } => {
                let Some(link) = passage.link else { return };
                let begin = || Stream::unwritten(*life);
                let window = self.windows.entry((transaction.stream, link)).or_insert_with(begin);
                window.comes(transaction.sequence.0, DigestKey::word(&transaction.digest), *passage);
                return;
            }
            Event::Answered { node, transaction, passage, answer, .. } => {
                *self.answered.at(*node) = passage.link;
                let Some(link) = passage.link else { return };
                let ending = match answer {
                    Answer::Verdict(verdict) => Ending::Verdict(*verdict),
                    Answer::Refused(_) => Ending::Refused,
                    Answer::FailedBatch => Ending::Failed,
                    Answer::Unscheduled => Ending::Untold,
                };
                (*node, self.answered(transaction, link, ending, *passage))
            }
            Event::Dispatched { node, transaction, .. } => {
                let Some(link) = *self.answered.at(*node) else { return };
                let first = self.dispatched.insert((DigestKey::of(&transaction.digest), *node, link));
                let again = || {
                    let transaction = self.names.transaction(transaction);
                    format!("dispatched {transaction} twice on connection {link}")
                };
                (*node, (!first).then(again))
            }
            _ => return,
        };
        if let Some(saw) = saw {
            broken.push(Violation { law: Self::ID, at, node: Some(node), saw: format!("{node} {saw}") });
        }
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{COPY, HONEST, Ledger, transaction};
    use crate::ledger::event::Passage;
    use VerdictKind::{First, Replay};

    /// What is seen where one transaction comes by these connections and is judged so each time.
    fn judged(passages: &[(Passage, u32, VerdictKind)]) -> Vec<String> {
        let mut ledger = Ledger::over(LinkLocal::new(&Ledger::setting()));
        for (passage, link, verdict) in passages {
            let passage = Passage { link: Some(*link), ..*passage };
            ledger.admitted(3, &transaction(1, 3, 41, 7), passage, *verdict);
            if verdict.dispatches() {
                ledger.dispatched(3, &transaction(1, 3, 41, 7));
            }
        }
        ledger.finish()
    }

    #[test]
    fn each_connection_has_a_window_of_its_own() {
        assert_eq!(judged(&[(HONEST, 1, First), (COPY, 1, Replay), (COPY, 2, First)]), Vec::<String>::new());
        let outlived = judged(&[(HONEST, 1, First), (COPY, 2, Replay)]);
        assert!(outlived[0].contains("as replay on connection 2"), "{outlived:?}");
    }

    #[test]
    fn a_second_dispatch_on_one_connection_breaks_it() {
        assert_eq!(judged(&[(HONEST, 1, First), (COPY, 1, First)]).len(), 2, "the verdict and the dispatch");
    }

    #[test]
    fn what_keeps_its_durable_window_is_not_judged() {
        let mut ledger = Ledger::over(LinkLocal::new(&Ledger::setting()));
        ledger.admitted(3, &transaction(1, 3, 41, 7), HONEST, First);
        ledger.admitted(3, &transaction(1, 3, 41, 7), COPY, First);
        assert_eq!(ledger.finish(), Vec::<String>::new());
    }
}
