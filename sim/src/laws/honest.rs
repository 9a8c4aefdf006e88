//! `streams/honest`: the first arrival of an honest transaction is never refused by its stream's window.
//!
//! The premise is the world's to establish ([`crate::ledger::event::Passage::honest`]): pushed in signing order, one link
//! generation, one channel, straight from its origin, the original copy. A stream that the plan sends over more than one
//! way has no one lane that keeps its order, and is not judged. Nor is what is stale because somebody else brought a frame
//! of the stream so far ahead of its own lane that the window had moved on: the window is meant to follow what is authentic,
//! whoever brings it.

use super::names::{DigestKey, Names};
use super::{Law, Setting, View};
use crate::ledger::event::{Answer, Event, Transaction};
use crate::outcome::Violation;
use crate::plan::Act;
use crate::units::{NodeId, SimTime};
use groundhog_engine::streams::key::{Class, StreamKey};
use groundhog_engine::streams::window::{VerdictKind, WINDOW_SLOTS};
use groundhog_engine::units::Sequence;
use rustc_hash::FxHashMap;
use std::collections::{BTreeMap, BTreeSet};

/// See the module.
pub struct Honest {
    names: Names,
    /// Whether the first arrival of a transaction at its destination was the honest one.
    first_was_honest: FxHashMap<(DigestKey, NodeId), bool>,
    /// The highest sequence of a stream whose first arrival at its destination was not the honest one.
    brought_ahead: FxHashMap<(StreamKey, NodeId), Sequence>,
    /// Origin, destination and class of streams that are sent over more than one way.
    mixed: BTreeSet<(NodeId, NodeId, Class)>,
}

impl Honest {
    /// Its id.
    pub const ID: &'static str = "streams/honest";
    /// What it states.
    pub const STATES: &'static str = "One stream per class never rejects an honest sender's transaction as stale, however the lanes are interleaved; \
         nor as a fork, nor as a replay of what never arrived (000, Stream and transcript; design section 5).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        let accounts = setting.plan.accounts();
        let mut ways = BTreeMap::new();
        let mut mixed = BTreeSet::new();
        for action in &setting.plan.actions {
            let Act::Send(burst) = &action.act else { continue };
            let [from, to] = [action.node, burst.to].map(|node| accounts.of(node));
            let stream = (from, to, burst.class);
            if *ways.entry(stream).or_insert(burst.via) != burst.via {
                mixed.insert(stream);
            }
        }
        Self {
            names: setting.names.clone(),
            first_was_honest: FxHashMap::default(),
            brought_ahead: FxHashMap::default(),
            mixed,
        }
    }

    /// A transaction arrives for the first time, and not by its own lane.
    fn brought(&mut self, transaction: &Transaction, node: NodeId) {
        let highest = self.brought_ahead.entry((transaction.stream, node)).or_insert(transaction.sequence);
        *highest = transaction.sequence.max(*highest);
    }

    /// Whether somebody else moved the window past this transaction.
    fn is_overtaken(&self, transaction: &Transaction, node: NodeId, verdict: VerdictKind) -> bool {
        let ahead = self.brought_ahead.get(&(transaction.stream, node));
        let behind = ahead.and_then(|ahead| ahead.0.checked_sub(transaction.sequence.0));
        verdict == VerdictKind::Stale && behind.is_some_and(|behind| behind >= WINDOW_SLOTS)
    }

    fn is_mixed(&self, stream: &StreamKey) -> bool {
        let ends = self.names.node(&stream.origin).zip(self.names.node(&stream.destination));
        ends.is_some_and(|(origin, destination)| self.mixed.contains(&(origin, destination, stream.class)))
    }
}

impl Law for Honest {
    law_identity!(Outcome reads Arrived, Answered);

    fn event(&mut self, at: SimTime, event: &Event<'_>, _view: &dyn View, broken: &mut Vec<Violation>) {
        match event {
            Event::Arrived { node, transaction, passage, .. } => {
                let arrival = (DigestKey::of(&transaction.digest), *node);
                let is_first = !self.first_was_honest.contains_key(&arrival);
                self.first_was_honest.entry(arrival).or_insert(passage.honest);
                if is_first && !passage.honest {
                    self.brought(transaction, *node);
                }
            }
            Event::Answered { node, transaction, passage, answer: Answer::Verdict(verdict), .. }
                if passage.honest && !verdict.dispatches() =>
            {
                // Only one arrival of a transaction is honest, so an honest answer is the first arrival's iff that was honest.
                let arrival = (DigestKey::of(&transaction.digest), *node);
                if self.first_was_honest.get(&arrival) == Some(&true)
                    && !self.is_mixed(&transaction.stream)
                    && !self.is_overtaken(transaction, *node, *verdict)
                {
                    let name = self.names.transaction(transaction);
                    let verdict = VerdictKind::id(*verdict);
                    let saw = format!("{node} refused the honest {name} at its first arrival: {verdict}");
                    broken.push(Violation { law: Self::ID, at, node: Some(*node), saw });
                }
            }
            _ => {}
        }
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{COPY, HONEST, Ledger, plan_of_a_burst, transaction};

    #[test]
    fn an_honest_first_arrival_may_not_be_refused_by_verdict() {
        for verdict in [VerdictKind::Stale, VerdictKind::Fork, VerdictKind::Replay] {
            let mut ledger = Ledger::over(Honest::new(&Ledger::setting()));
            ledger.arrived(3, &transaction(1, 3, 41, 7), HONEST);
            ledger.answered(3, &transaction(1, 3, 41, 7), HONEST, Answer::Verdict(verdict));
            assert_eq!(ledger.finish().len(), 1, "{verdict:?}");
        }
    }

    #[test]
    fn copies_and_originals_overtaken_by_a_copy_are_not_judged() {
        let mut ledger = Ledger::over(Honest::new(&Ledger::setting()));
        ledger.arrived(3, &transaction(1, 3, 41, 7), HONEST);
        ledger.answered(3, &transaction(1, 3, 41, 7), HONEST, Answer::Verdict(VerdictKind::Advance));
        ledger.arrived(3, &transaction(1, 3, 41, 7), COPY);
        ledger.answered(3, &transaction(1, 3, 41, 7), COPY, Answer::Verdict(VerdictKind::Replay));
        ledger.arrived(3, &transaction(1, 3, 42, 8), COPY);
        ledger.arrived(3, &transaction(1, 3, 42, 8), HONEST);
        ledger.answered(3, &transaction(1, 3, 42, 8), HONEST, Answer::Verdict(VerdictKind::Replay));
        assert_eq!(ledger.finish(), Vec::<String>::new());
    }

    #[test]
    fn what_somebody_else_overtook_by_a_window_may_be_stale_and_nothing_else_of_it() {
        for (ahead, verdict, breaks) in [
            (WINDOW_SLOTS, VerdictKind::Stale, 0),
            (WINDOW_SLOTS - 1, VerdictKind::Stale, 1),
            (WINDOW_SLOTS, VerdictKind::Fork, 1),
        ] {
            let mut ledger = Ledger::over(Honest::new(&Ledger::setting()));
            ledger.admitted(3, &transaction(1, 3, 41 + ahead, 8), COPY, VerdictKind::Advance);
            ledger.admitted(3, &transaction(1, 3, 41, 7), HONEST, verdict);
            assert_eq!(ledger.finish().len(), breaks, "{ahead} ahead, {verdict:?}");
        }
        let mut ledger = Ledger::over(Honest::new(&Ledger::setting()));
        ledger.admitted(3, &transaction(1, 3, 141, 8), HONEST, VerdictKind::Advance);
        ledger.admitted(3, &transaction(1, 3, 41, 7), HONEST, VerdictKind::Stale);
        assert_eq!(ledger.finish().len(), 1, "its own lane overtook nothing");
    }

    #[test]
    fn a_stream_of_two_ways_is_not_judged() {
        for (via, breaks) in [(None, true), (Some(NodeId(2)), false)] {
            let mut plan = plan_of_a_burst(1, 3, 1);
            let mut other = plan.actions[0].clone();
            let Act::Send(burst) = &mut other.act else { unreachable!("the plan is one burst") };
            burst.via = via;
            plan.actions.push(other);
            let mut ledger = Ledger::over(Honest::new(&Ledger::setting_of(plan)));
            ledger.admitted(3, &transaction(1, 3, 41, 7), HONEST, VerdictKind::Stale);
            assert_eq!(ledger.finish().len(), usize::from(breaks), "{via:?}");
        }
    }
}
