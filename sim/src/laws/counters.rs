//! `streams/counters`: what a node counts is what its callers were told.
//!
//! A node is asked for its counters when it dies, when all faults have ended, when the run is over. Each of them is no less
//! than what its life told its callers, and no more than that and what was asked and is not told: callers that still wait, or
//! gave up. How often a reservation waits is not seen: of what only reservations are refused for, the lower bound alone is
//! judged here. A node that dies while a transition holds its lock cannot be asked.

use super::available::{CAPACITY, SPENT, UNAVAILABLE};
use super::counters_asked::{Expected, Lives};
use super::stall_ends::CUSTODY_FULL;
use super::{Law, Setting, View};
use crate::ledger::event::{Answer, Event, MailStep};
use crate::outcome::Violation;
use crate::units::SimTime;
use groundhog_engine::streams::Counters as Counted;
use groundhog_engine::streams::key::Class;
use groundhog_engine::streams::quota::QuotaCounters;
use groundhog_engine::streams::window::VerdictKind;

/// The engine's reason for a reservation whose sequences would wrap.
pub(super) const EXHAUSTED: &str = "sequence-exhausted";

/// The engine's reason for mail that is to be taken and is not in custody.
pub(super) const NOT_IN_CUSTODY: &str = "not-in-custody";

/// The engine's reason for what failed with its batch.
const FAILED: &str = "persistence";

/// What the callers of one life were told.
#[derive(Default)]
struct Node {
    told: Told,
    /// Admissions asked for.
    arrived: u64,
    /// Admissions answered.
    answered: u64,
    /// The mail that is being taken: one is at a time.
    taking: Option<[u8; 32]>,
}

#[derive(Default)]
struct Told {
    replay: u64,
    fork: u64,
    stale: u64,
    spent: u64,
    unavailable_stream: u64,
    of_receivers: u64,
    of_senders: u64,
    sequence_exhausted: u64,
    quota: QuotaCounters,
    redelivered: u64,
    custody_full: u64,
    not_in_custody: u64,
    taken: u64,
    failed: bool,
}

/// What counts refusals by a quota for this reason.
pub(super) fn of_quota<'a>(quota: &'a mut QuotaCounters, reason: &str, lane: Class) -> Option<&'a mut u64> {
    let counters = match reason {
        "message-rate-exhausted" => &mut quota.message_rate_exhausted,
        "byte-rate-exhausted" => &mut quota.byte_rate_exhausted,
        "quota-table-capacity-exhausted" => &mut quota.table_capacity_exhausted,
        "quota-clock-regressed" => &mut quota.arithmetic_failure,
        _ => return None,
    };
    Some(&mut counters[lane.index()])
}

/// Each of a quota's counters, with its name.
pub(super) fn quota_rows(quota: &QuotaCounters) -> impl Iterator<Item = (String, u64)> + use<> {
    let QuotaCounters {
        message_rate_exhausted,
        byte_rate_exhausted,
        table_capacity_exhausted,
        arithmetic_failure,
    } = *quota;
    let rows = [
        ("message-rate-exhausted", message_rate_exhausted),
        ("byte-rate-exhausted", byte_rate_exhausted),
        ("quota-table-capacity-exhausted", table_capacity_exhausted),
        ("quota-clock-regressed", arithmetic_failure),
    ];
    rows.into_iter().flat_map(|(name, lanes)| {
        Class::ALL.into_iter().zip(lanes).map(move |(lane, count)| (format!("{name} of {lane}"), count))
    })
}

impl Told {
    fn answered(&mut self, lane: Class, answer: Answer) {
        let counter = match answer {
            Answer::Verdict(VerdictKind::Replay) => &mut self.replay,
            Answer::Verdict(VerdictKind::Fork) => &mut self.fork,
            Answer::Verdict(VerdictKind::Stale) => &mut self.stale,
            Answer::Verdict(VerdictKind::Redelivered) => &mut self.redelivered,
            Answer::Refused(SPENT) => &mut self.spent,
            Answer::Refused(UNAVAILABLE) => &mut self.unavailable_stream,
            Answer::Refused(CAPACITY) => &mut self.of_receivers,
            Answer::Refused(CUSTODY_FULL) => &mut self.custody_full,
            Answer::Refused(reason) => match of_quota(&mut self.quota, reason, lane) {
                Some(counter) => counter,
                None => return,
            },
            Answer::FailedBatch => return self.failed = true,
            Answer::Verdict(_) | Answer::Unscheduled => return,
        };
        *counter += 1;
    }

    fn reserved(&mut self, refusal: &str) {
        match refusal {
            UNAVAILABLE => self.unavailable_stream += 1,
            CAPACITY => self.of_senders += 1,
            EXHAUSTED => self.sequence_exhausted += 1,
            FAILED => self.failed = true,
            _ => {}
        }
    }
}

impl Node {
    /// What becomes of mail. Also of what is no mail it is said that it is not taken; nobody began to.
    fn mail(&mut self, digest: &[u8; 32], step: MailStep) {
        if step == MailStep::Taking {
            self.taking = Some(*digest);
        }
        if self.taking.as_ref() != Some(digest) {
            return;
        }
        match step {
            MailStep::Taken => self.told.taken += 1,
            MailStep::NotTaken { reason: NOT_IN_CUSTODY } => self.told.not_in_custody += 1,
            MailStep::NotTaken { reason } => self.told.failed |= reason == FAILED,
            _ => return,
        }
        self.taking = None;
    }
}

impl Expected for Node {
    fn wrong(&self, counted: &Counted) -> Option<String> {
        const NO_BOUND: u64 = u64::MAX;
        let untold = self.arrived - self.answered;
        let untaken = u64::from(self.taking.is_some());
        let Self { told, .. } = self;
        let refused = &counted.stream_capacity_exceeded;
        let custody = &counted.custody;
        let rows = [
            ("replay", counted.replay, told.replay, untold),
            ("fork", counted.fork, told.fork, untold),
            ("stale", counted.stale, told.stale, untold),
            ("spent", counted.spent, told.spent, untold),
            ("unavailable-stream", counted.unavailable_stream, told.unavailable_stream, NO_BOUND),
            ("stream-capacity-exceeded", refused.of_receivers(), told.of_receivers, untold),
            ("sender-table-full", refused.sender_table, told.of_senders, NO_BOUND),
            ("sequence-exhausted", counted.sequence_exhausted, told.sequence_exhausted, NO_BOUND),
            ("redelivered", custody.redelivered, told.redelivered, untold),
            ("relay-custody-full", custody.refused_full, told.custody_full, untold),
            ("taken", custody.taken, told.taken, untaken),
            ("not-in-custody", custody.not_in_custody, told.not_in_custody, untaken),
            ("persistence-failure", counted.persistence_failure, told.failed.into(), NO_BOUND),
        ];
        let wrong =
            |counted: u64, told: u64, untold: u64| counted < told || counted > told.saturating_add(untold);
        let say = |name: &str, counted: u64, told: u64| {
            format!(
                "counts {counted} of {name}, and told its callers {told}, and at most {untold} admissions are not told"
            )
        };
        rows.into_iter()
            .find(|(_, counted, told, untold)| wrong(*counted, *told, *untold))
            .map(|(name, counted, told, _)| say(name, counted, told))
            .or_else(|| {
                quota_rows(&counted.quota)
                    .zip(quota_rows(&told.quota))
                    .find(|((_, counted), (_, told))| wrong(*counted, *told, untold))
                    .map(|((name, counted), (_, told))| say(&name, counted, told))
            })
    }
}

/// See the module.
#[derive(Default)]
pub struct Counters {
    nodes: Lives<Node>,
}

impl Counters {
    /// Its id.
    pub const ID: &'static str = "streams/counters";
    /// What it states.
    pub const STATES: &'static str = "Counters expose Replay, Fork, Stale, persistence failures, unrestorable records and the calls refused, and \
         each is what callers were told: what fails with its batch is counted as one persistence failure and as nothing else \
         (000, Persistence and bounds).";

    /// A checker for one run.
    #[must_use]
    pub fn new(_setting: &Setting) -> Self {
        Self::default()
    }
}

impl Law for Counters {
    law_identity!(Outcome reads Booted, Died, Quiesced, Arrived, Answered, ReserveAnswered, Mail);

    fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View, broken: &mut Vec<Violation>) {
        match event {
            Event::Booted { node, .. } => self.nodes.begin(*node),
            Event::Died { node, .. } => self.nodes.ask(Self::ID, at, *node, view, broken),
            Event::Quiesced => self.nodes.ask_all(Self::ID, at, view, broken),
            Event::Arrived { node, .. } => self.nodes.at(*node).arrived += 1,
            Event::Answered { node, transaction, answer, .. } => {
                let state = self.nodes.at(*node);
                state.answered += 1;
                state.told.answered(transaction.stream.class, *answer);
            }
            Event::ReserveAnswered { node, refusal: Some(refusal), .. } => {
                self.nodes.at(*node).told.reserved(refusal);
            }
            Event::Mail { node, transaction, step, .. } => {
                self.nodes.at(*node).mail(&transaction.digest, *step);
            }
            _ => {}
        }
    }

    fn end(&mut self, at: SimTime, view: &dyn View, broken: &mut Vec<Violation>) {
        self.nodes.ask_all(Self::ID, at, view, broken);
    }
}

#[cfg(test)]
#[path = "counters_tests.rs"]
mod tests;
