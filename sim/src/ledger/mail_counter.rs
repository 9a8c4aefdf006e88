//! Counts what became of mail, and how long custody refused what was held.
//!
//! Promise: counted from events alone; a stall lasts from the first refusal for a full custody to the next delivery that is
//! admitted at that node, or to the end.

use super::event::{Answer, Event, MailStep};
use crate::laws::stall_ends::CUSTODY_FULL;
use crate::units::{NodeId, SimTime};
use std::collections::BTreeMap;

/// See the module.
#[derive(Debug, Default)]
pub struct MailCounter {
    counts: BTreeMap<&'static str, u64>,
    /// Since when each node refuses, and how often it did.
    stalled: BTreeMap<NodeId, SimTime>,
    stalls: u64,
    refused: u64,
    longest_ns: u64,
}

impl MailCounter {
    /// Reads one event.
    #[inline]
    pub fn event(&mut self, at: SimTime, event: &Event<'_>) {
        match *event {
            Event::Mail { step, .. } => self.stepped(step),
            Event::Answered { node, passage, answer, .. } if passage.is_from_inbox() => {
                self.delivered(at, node, answer);
            }
            _ => {}
        }
    }

    fn stepped(&mut self, step: MailStep) {
        let what = match step {
            MailStep::Held { .. } => "held",
            MailStep::HoldRefused { .. } => "not held",
            MailStep::Gone { why } => why.id(),
            MailStep::Taking => return,
            MailStep::Taken => "taken",
            MailStep::NotTaken { .. } => "not taken",
            MailStep::Stored => "undelivered at the end",
        };
        *self.counts.entry(what).or_default() += 1;
    }

    fn delivered(&mut self, at: SimTime, node: NodeId, answer: Answer) {
        match answer {
            Answer::Refused(CUSTODY_FULL) => {
                self.refused += 1;
                if !self.stalled.contains_key(&node) {
                    self.stalls += 1;
                    self.stalled.insert(node, at);
                }
            }
            Answer::Verdict(verdict) if verdict.admits() => self.ended(at, node),
            _ => {}
        }
    }

    fn ended(&mut self, at: SimTime, node: NodeId) {
        if let Some(since) = self.stalled.remove(&node) {
            self.longest_ns = self.longest_ns.max(at.0 - since.0);
        }
    }

    /// The figures of a run that ends now.
    #[must_use]
    pub fn figures(mut self, at: SimTime) -> BTreeMap<&'static str, u64> {
        let going_on = self.stalled.len() as u64;
        for node in self.stalled.keys().copied().collect::<Vec<_>>() {
            self.ended(at, node);
        }
        if self.stalls > 0 {
            let seconds = self.longest_ns / 1_000_000_000;
            let stalls = [
                ("custody stalls", self.stalls),
                ("custody stalls at the end", going_on),
                ("deliveries refused by a stall", self.refused),
                ("longest stall in seconds", seconds),
            ];
            self.counts.extend(stalls.into_iter().filter(|(_, count)| *count > 0));
        }
        self.counts
    }
}
