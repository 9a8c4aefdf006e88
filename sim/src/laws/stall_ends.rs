//! `streams/stall-ends`: relay custody holds at most 64 deliveries, refuses only while it does, and a stall ends at the first
//! delivery after the earliest of them is spent.
//!
//! Both sides are bounded from what was seen: a refusal needs 64 deliveries that may be in custody by the clock of that
//! arrival, and a new one must not find 64 that are certain to be.

use super::custody_book::{CUSTODY_MAX, CustodyBook};
use super::lifespan::{CLOCK_TOLERANCE_MS, RELAY_INBOX_MAX_MS};
use super::names::Names;
use super::{Law, Setting, View};
use crate::ledger::event::{Answer, Event};
use crate::outcome::Violation;
use crate::units::SimTime;

/// The refusal's name.
pub const CUSTODY_FULL: &str = "relay-custody-full";

/// See the module.
pub struct StallEnds {
    names: Names,
    custody: CustodyBook,
    longest_ms: u64,
}

impl StallEnds {
    /// Its id.
    pub const ID: &'static str = "streams/stall-ends";
    /// What it states.
    pub const STATES: &'static str = "Custody holds 64 deliveries at most; a stall ends at the first inbox delivery after the earliest spent instant, \
         at most lifetime + 7 d + 4 sigma after its admission (000, Receiver streams by connection slot; design section 5).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        let lifetime_ms = setting.plan.engines.transaction_lifetime_ms;
        Self {
            names: setting.names.clone(),
            custody: CustodyBook::of_run(setting),
            longest_ms: lifetime_ms + RELAY_INBOX_MAX_MS + 4 * CLOCK_TOLERANCE_MS,
        }
    }
}

impl Law for StallEnds {
    law_identity!(Outcome reads FaultBegan, Arrived, Answered, Mail);

    fn event(&mut self, at: SimTime, event: &Event<'_>, _view: &dyn View, broken: &mut Vec<Violation>) {
        let saw = match event {
            Event::Answered { node, life, transaction, passage, answer, .. } if passage.is_from_inbox() => {
                let Some(own) = self.custody.get(*node, transaction) else { return };
                let (now, named) = (own.wall, self.names.transaction(transaction));
                let certain = self.custody.of_node(*node).filter(|delivery| delivery.is_held(now)).count();
                let mut may = 0;
                let mut too_long = false;
                for delivery in self.custody.of_node(*node) {
                    if delivery.may_have_entered(*life, now) {
                        may += 1;
                        too_long |= now > delivery.first_wall.plus_ms(self.longest_ms);
                    }
                }
                // What is refused is not in custody itself.
                may -= usize::from(own.may_have_entered(*life, now));
                let wrong = match answer {
                    Answer::Refused(CUSTODY_FULL) if may < CUSTODY_MAX => Some(format!(
                        "refused {named} for a full custody, and at most {may} deliveries are in it"
                    )),
                    Answer::Refused(CUSTODY_FULL) if too_long => {
                        Some(format!("refused {named} for deliveries longer in custody than they may be"))
                    }
                    Answer::Verdict(verdict)
                        if verdict.admits() && !own.is_held(now) && certain >= CUSTODY_MAX =>
                    {
                        Some(format!(
                            "admitted {named} out of its inbox, and {certain} deliveries were in custody"
                        ))
                    }
                    _ => None,
                };
                wrong.map(|wrong| (*node, format!("{node} {wrong}")))
            }
            _ => None,
        };
        self.custody.event(event);
        if let Some((node, saw)) = saw {
            broken.push(Violation { law: Self::ID, at, node: Some(node), saw });
        }
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
#[path = "stall_ends_tests.rs"]
mod tests;
