//! The laws of one run together: which are on, which events each reads, what was broken, and what was excused.
//!
//! Promise: a law's break leaves here as a violation or as a counted limit, never as nothing.

use super::excuses::Excuses;
use super::wants::{EVENT_KINDS, kind_of};
use super::{Law, Setting, View, catalogue};
use crate::ledger::event::Event;
use crate::outcome::Violation;
use crate::units::SimTime;
use std::collections::BTreeMap;

/// Violations of one law that are kept whole; beyond these they are counted only.
pub const MOST_KEPT: u64 = 16;

/// The laws of one run.
pub struct LawSet {
    laws: Vec<Box<dyn Law>>,
    readers: [Vec<u8>; EVENT_KINDS],
    excuses: Excuses,
    fresh: Vec<Violation>,
    broken: Vec<Violation>,
    kept: BTreeMap<&'static str, u64>,
    limits: BTreeMap<&'static str, u64>,
}

impl LawSet {
    /// The laws of the catalogue that `chosen` names by id and kind.
    #[must_use]
    pub fn new(setting: &Setting, chosen: impl Fn(&catalogue::Entry) -> bool) -> Self {
        let laws = catalogue::LAWS.iter().filter(|entry| chosen(entry)).map(|entry| (entry.build)(setting));
        Self::of(laws.collect(), Excuses::new(&setting.plan, setting.names.clone()))
    }

    fn of(laws: Vec<Box<dyn Law>>, excuses: Excuses) -> Self {
        let mut readers: [Vec<u8>; EVENT_KINDS] = std::array::from_fn(|_| Vec::new());
        for (law, index) in laws.iter().zip(0u8..) {
            for (kind, readers) in readers.iter_mut().enumerate() {
                if law.wants().has(kind) {
                    readers.push(index);
                }
            }
        }
        Self {
            laws,
            readers,
            excuses,
            fresh: Vec::new(),
            broken: Vec::new(),
            kept: BTreeMap::new(),
            limits: BTreeMap::new(),
        }
    }

    /// Gives one event to every law that reads its kind.
    pub fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View) {
        if let Event::FaultBegan { fault } = event {
            self.excuses.began(*fault, at);
        }
        for law in &self.readers[kind_of(event)] {
            self.laws[usize::from(*law)].event(at, event, view, &mut self.fresh);
        }
        if !self.fresh.is_empty() {
            self.settle(Some(event));
        }
    }

    /// The run is over. `ceilings` are the plan's: a limit beyond its ceiling, or without one, breaks the law that it excuses.
    pub fn end(&mut self, at: SimTime, view: &dyn View) {
        for law in &mut self.laws {
            law.end(at, view, &mut self.fresh);
        }
        self.settle(None);
        for law in &self.laws {
            for (limit, count) in law.limits() {
                if *count > 0 {
                    *self.limits.entry(limit).or_default() += count;
                }
            }
        }
        self.excuses.passed(at, &self.limits, &mut self.fresh);
        self.broken.append(&mut self.fresh);
    }

    /// What was broken so far, in order of time: at most [`MOST_KEPT`] of each law.
    #[must_use]
    pub fn broken(&self) -> &[Violation] {
        &self.broken
    }

    /// Known limits met, once the run is over: id -> how often.
    #[must_use]
    pub const fn limits(&self) -> &BTreeMap<&'static str, u64> {
        &self.limits
    }

    /// How often each law was broken, the violations that were not kept included.
    #[must_use]
    pub const fn counts(&self) -> &BTreeMap<&'static str, u64> {
        &self.kept
    }

    fn settle(&mut self, event: Option<&Event<'_>>) {
        for violation in self.fresh.drain(..) {
            if let Some(limit) = self.excuses.limit_of(&violation, event) {
                *self.limits.entry(limit).or_default() += 1;
                continue;
            }
            let count = self.kept.entry(violation.law).or_default();
            *count += 1;
            if *count <= MOST_KEPT {
                self.broken.push(violation);
            }
        }
    }
}
