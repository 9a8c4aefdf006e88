//! `streams/conservation`: sent = dispatched + lost, each loss with exactly one cause, and nothing unexplained at the end.

use super::{Law, Setting, View};
use crate::ledger::event::{Event, LossCause};
use crate::ledger::fates::{Ending, Fates};
use crate::outcome::Violation;
use crate::units::{MessageId, SimTime};
use std::collections::BTreeMap;

/// The limit that stands for messages whose caller gave up.
pub const CANCELLED_CALLER: &str = "cancelled-caller";

/// See the module.
pub struct Conservation {
    fates: Fates,
    cancelled: u64,
}

impl Conservation {
    /// Its id.
    pub const ID: &'static str = "streams/conservation";
    /// What it states.
    pub const STATES: &'static str = "Sent = dispatched + held + lost, each loss with exactly one cause; unexplained = 0 (design section 5).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        Self { fates: Fates::new(&setting.plan), cancelled: 0 }
    }
}

impl Law for Conservation {
    law_identity!(Outcome reads Booted, Died, Intended, NotSent, ReserveAnswered, Exposed, FrameSent, FrameLost,
        FrameDelivered, Relayed, Unverified, Arrived, Answered, AdmissionAbandoned, Dispatched, Link, Mail);

    fn event(&mut self, _at: SimTime, event: &Event<'_>, _view: &dyn View, _broken: &mut Vec<Violation>) {
        self.fates.event(event);
    }

    fn limits(&self, into: &mut BTreeMap<&'static str, u64>) {
        if self.cancelled > 0 {
            *into.entry(CANCELLED_CALLER).or_default() += self.cancelled;
        }
    }

    fn end(&mut self, at: SimTime, _view: &dyn View, broken: &mut Vec<Violation>) {
        let mut unexplained = 0u64;
        let mut first: Option<MessageId> = None;
        for (message, ending) in self.fates.endings() {
            match ending {
                Ending::Unexplained => {
                    unexplained += 1;
                    first.get_or_insert(message);
                }
                Ending::Lost(LossCause::CallerGone) => self.cancelled += 1,
                Ending::NotIntended | Ending::Dispatched | Ending::Held | Ending::Lost(_) => {}
            }
        }
        if let Some(first) = first {
            let saw = format!(
                "{unexplained} messages were neither dispatched nor lost by any cause, the first is {first}"
            );
            broken.push(Violation { law: Self::ID, at, node: None, saw });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{Ledger, message, plan_of_a_burst, transaction};
    use crate::units::{Life, NodeId};
    use groundhog_engine::streams::key::Class;
    use groundhog_engine::streams::window::VerdictKind;

    fn intended(ledger: &mut Ledger<Conservation>, ordinal: u32) {
        let (node, to, class) = (NodeId(1), NodeId(3), Class::Application);
        ledger.event(&Event::Intended { message: message(ordinal), node, to, class });
    }

    #[test]
    fn every_message_is_dispatched_or_lost_by_a_cause() {
        let mut ledger = Ledger::over(Conservation::new(&Ledger::setting_of(plan_of_a_burst(1, 3, 3))));
        ledger.restarted(1);
        (0..3).for_each(|ordinal| intended(&mut ledger, ordinal));
        let sent = transaction(1, 3, 0, 1);
        let verdict = VerdictKind::First;
        let (message_0, node, life) = (Some(message(0)), NodeId(3), Life(0));
        let (intended_ns, sent_ns) = (0, 0);
        ledger.event(&Event::Dispatched {
            message: message_0,
            node,
            life,
            transaction: &sent,
            verdict,
            intended_ns,
            sent_ns,
        });
        ledger.event(&Event::NotSent { message: message(1), node: NodeId(1), cause: LossCause::CallerGone });
        let saw = ledger.finish();
        assert_eq!(saw, ["1 messages were neither dispatched nor lost by any cause, the first is 0#2"]);
    }

    #[test]
    fn a_caller_that_gave_up_is_a_counted_limit() {
        let mut ledger = Ledger::over(Conservation::new(&Ledger::setting_of(plan_of_a_burst(1, 3, 1))));
        intended(&mut ledger, 0);
        ledger.event(&Event::NotSent { message: message(0), node: NodeId(1), cause: LossCause::CallerGone });
        let (saw, limits) = ledger.finish_with_limits();
        assert_eq!((saw.len(), limits.get(CANCELLED_CALLER)), (0, Some(&1)));
    }
}
