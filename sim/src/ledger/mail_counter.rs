//! Counts what became of mail, and how long custody refused what was held.
//!
//! Promise: counted from events alone; a stall lasts from the first refusal for a full custody to the next delivery that is
//! admitted at that node, or to the end.

use super::event::{Answer, Event, MailStep};
use crate::laws::stall_ends::CUSTODY_FULL;
use crate::outcome::Stall;
use crate::units::{NodeId, SimTime};
use std::collections::BTreeMap;

/// See the module.
#[derive(Debug, Default)]
pub struct MailCounter {
    counts: BTreeMap<&'static str, u64>,
    /// Where each node's stall stands among all, while it goes on.
    stalled: BTreeMap<NodeId, usize>,
    stalls: Vec<Stall>,
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
                let place = *self.stalled.entry(node).or_insert_with(|| {
                    self.stalls.push(Stall { node, from: at, until: at, refused: 0, over: false });
                    self.stalls.len() - 1
                });
                self.stalls[place].refused += 1;
            }
            Answer::Verdict(verdict) if verdict.admits() => self.ended(at, node),
            _ => {}
        }
    }

    fn ended(&mut self, at: SimTime, node: NodeId) {
        if let Some(place) = self.stalled.remove(&node) {
            let stall = &mut self.stalls[place];
            (stall.until, stall.over) = (at, true);
        }
    }

    /// The figures of a run that ends now, and every stall.
    #[must_use]
    pub fn figures(mut self, at: SimTime) -> (BTreeMap<&'static str, u64>, Vec<Stall>) {
        let going_on = self.stalled.len() as u64;
        for place in self.stalled.into_values() {
            self.stalls[place].until = at;
        }
        if !self.stalls.is_empty() {
            let longest_ns = self.stalls.iter().map(|stall| stall.until.0 - stall.from.0).max().unwrap_or(0);
            let stalls = [
                ("custody stalls", self.stalls.len() as u64),
                ("custody stalls at the end", going_on),
                ("deliveries refused by a stall", self.stalls.iter().map(|stall| stall.refused).sum()),
                ("longest stall in seconds", longest_ns / 1_000_000_000),
            ];
            self.counts.extend(stalls.into_iter().filter(|(_, count)| *count > 0));
        }
        (self.counts, self.stalls)
    }
}
