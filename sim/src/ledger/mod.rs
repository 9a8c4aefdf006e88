//! What did happen: events in their order, and the fingerprint of them all.
//!
//! Promise: every event goes once, in order, to the fingerprint, the figures, the marks and the laws that read its kind;
//! none of them can change what the run does.

mod allocator_marks;
pub mod batches;
pub mod collector;
pub mod compare;
pub mod doer;
pub mod encode;
pub mod event;
pub mod fates;
#[cfg(test)]
mod figures_tests;
pub mod fingerprint;
pub mod floods;
pub mod kind;
pub mod lanes;
pub mod link_event;
mod link_marks;
mod mail_counter;
pub mod mark_counter;
pub mod marks;
pub mod onlooker;
#[cfg(test)]
pub(crate) mod samples;
mod slot_marks;
mod store_marks;
pub mod subjects;
#[cfg(test)]
mod tests;
pub mod timeline;
mod usage;
pub mod words;

use crate::laws::{Law, LawKind, View};
use crate::outcome::{Outcome, Violation};
use crate::plan::Plan;
use crate::units::SimTime;
use batches::Batches;
use collector::Collector;
use doer::Doer;
use event::Event;
use fingerprint::Fingerprint;
use kind::{EventKind, KIND_NUMBERS};
use lanes::Lanes;
use mark_counter::Marks;
use onlooker::{Onlooker, Sink};
use std::collections::{BTreeMap, BTreeSet};

/// How often one law may be broken before it is no longer asked: enough to see a pattern, and a bound on what a run that
/// breaks at every event keeps.
pub const MOST_VIOLATIONS_PER_LAW: usize = 16;

/// Which laws a run checks.
#[derive(Clone, Debug, PartialEq, Eq, Default)]
pub enum LawSelection {
    /// All that were given.
    #[default]
    All,
    /// None: for measuring, and for runs whose laws were checked before.
    None,
    /// Those of one kind.
    Kind(LawKind),
    /// Those with these ids.
    Ids(BTreeSet<String>),
}

impl LawSelection {
    /// Whether a law is checked.
    #[must_use]
    pub fn takes(&self, law: &dyn Law) -> bool {
        match self {
            Self::All => true,
            Self::None => false,
            Self::Kind(kind) => law.kind() == *kind,
            Self::Ids(ids) => ids.contains(law.id()),
        }
    }
}

/// What a ledger keeps beside the outcome.
#[derive(Default)]
pub struct LedgerOptions {
    /// Which laws are checked.
    pub laws: LawSelection,
    /// No fingerprint is taken, and the outcome's is that of no events: to measure what it costs.
    pub unhashed: bool,
    /// Takes every event as a line of the timeline.
    pub sink: Option<Sink>,
    /// Whose account a DID is, for the lines.
    pub account_of: Option<timeline::AccountOf>,
}

/// The ledger of one run.
pub struct Ledger {
    fingerprint: Fingerprint,
    hashed: bool,
    collector: Option<Collector>,
    batches: Batches,
    lanes: Lanes,
    marks: Marks,
    onlooker: Option<Box<Onlooker>>,
    laws: Vec<Box<dyn Law>>,
    /// For each kind's number, the places in `laws` of those that read it.
    readers: [Vec<u16>; KIND_NUMBERS],
    broken_by_law: Vec<usize>,
    broken: Vec<Violation>,
}

impl std::fmt::Debug for Ledger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ledger").field("events", &self.fingerprint.events()).finish_non_exhaustive()
    }
}

impl Ledger {
    /// An empty ledger for one run of `plan`.
    ///
    /// # Panics
    /// When there are more than `u16::MAX` laws.
    #[must_use]
    pub fn new(plan: &Plan, laws: Vec<Box<dyn Law>>, options: LedgerOptions) -> Self {
        let laws: Vec<_> = laws.into_iter().filter(|law| options.laws.takes(&**law)).collect();
        let mut readers = [const { Vec::new() }; KIND_NUMBERS];
        for (place, law) in laws.iter().enumerate() {
            let place = u16::try_from(place).expect("a handful of laws");
            for kind in EventKind::ALL.iter().filter(|kind| law.reads().holds(**kind)) {
                readers[*kind as usize].push(place);
            }
        }
        Self {
            fingerprint: Fingerprint::default(),
            hashed: !options.unhashed,
            collector: Some(Collector::new(plan)),
            batches: Batches::new(plan.nodes.len()),
            lanes: Lanes::default(),
            marks: Marks::new(plan),
            onlooker: Onlooker::new(plan, options).map(Box::new),
            broken_by_law: vec![0; laws.len()],
            laws,
            readers,
            broken: Vec::new(),
        }
    }

    /// Whether somebody looks on who wants to know, before each event, who is at work.
    #[must_use]
    pub fn asks_who(&self) -> bool {
        self.onlooker.as_ref().is_some_and(|onlooker| onlooker.asks_who())
    }

    /// Who is at work when the next event is recorded.
    pub fn at_work(&mut self, doer: Doer) {
        if let Some(onlooker) = &mut self.onlooker {
            onlooker.at_work(doer);
        }
    }

    /// Takes one event, which happens at `at`.
    ///
    /// # Panics
    /// When the ledger is finished.
    #[inline]
    pub fn record(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View) {
        let collector = self.collector.as_mut().expect("no event is recorded after the end");
        if self.hashed {
            self.fingerprint.record(at, event);
        } else {
            self.fingerprint.skip();
        }
        let reordered = self.lanes.event(event);
        self.marks.event(at, event, &self.batches, collector.fates(), reordered);
        match event {
            Event::Booted { node, .. } | Event::Died { node, .. } => self.batches.forget(*node),
            Event::Engine { node, event, .. } => {
                if let Some(failed) = self.batches.event(*node, event) {
                    self.marks.failed(*node, failed, view);
                }
            }
            _ => {}
        }
        collector.event(at, event, &self.batches, view);
        let broken_before = self.broken.len();
        self.ask_laws(at, event, view);
        if let Some(onlooker) = &mut self.onlooker {
            let broken = &self.broken[broken_before..];
            onlooker.event(at, event, self.fingerprint.last_encoded(), broken);
        }
    }

    /// Events so far.
    #[must_use]
    pub const fn events(&self) -> u64 {
        self.fingerprint.events()
    }

    /// Laws broken so far, in the order in which they were seen to be.
    #[must_use]
    pub fn broken(&self) -> &[Violation] {
        &self.broken
    }

    /// The run is over: asks the laws for their last word and gives the outcome.
    ///
    /// # Panics
    /// When it was called before.
    #[must_use]
    pub fn finish(&mut self, at: SimTime, view: &dyn View) -> Outcome {
        for law in &mut self.laws {
            law.end(at, view, &mut self.broken);
        }
        self.finish_cut(at, view)
    }

    /// The run was cut short: what it saw stands, but the laws are not asked for their last word, since what was still to
    /// come is not lost.
    ///
    /// # Panics
    /// When the ledger is finished already.
    #[must_use]
    pub fn finish_cut(&mut self, at: SimTime, view: &dyn View) -> Outcome {
        let collector = self.collector.take().expect("a ledger is finished once");
        let mut limits = BTreeMap::new();
        for law in &self.laws {
            law.limits(&mut limits);
        }
        let mut violations = std::mem::take(&mut self.broken);
        violations.sort_by_key(|violation| violation.at);
        let events = self.fingerprint.events();
        let (fingerprint, checkpoints) = std::mem::take(&mut self.fingerprint).finish();
        let figures = collector.finish(at, &self.lanes, view);
        let marks = self.marks.reached();
        Outcome { fingerprint, checkpoints, events, violations, limits, marks, ..figures }
    }

    #[inline]
    fn ask_laws(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View) {
        for &place in &self.readers[EventKind::of(event) as usize] {
            let place = usize::from(place);
            let broken_before = self.broken.len();
            if self.broken_by_law[place] >= MOST_VIOLATIONS_PER_LAW {
                continue;
            }
            self.laws[place].event(at, event, view, &mut self.broken);
            self.broken_by_law[place] += self.broken.len() - broken_before;
        }
    }
}
