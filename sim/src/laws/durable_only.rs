//! Laws of the durable window are not shown what a connection's volatile window judges: it is never written, and ends with
//! the connection.
//!
//! Promise: everything else passes, in order. What is hidden is the business of `streams/link-local`.

use super::per_node::PerNode;
use super::{Law, LawKind, Setting, View};
use crate::ledger::event::Event;
use crate::ledger::kind::{EventKind, EventMask};
use crate::outcome::Violation;
use crate::units::SimTime;
use std::collections::BTreeMap;

/// Laws of the durable window.
const LAWS: &[&str] = &[
    "streams/at-most-once",
    "streams/old-or-new",
    "streams/verdict",
    "streams/refusal-true",
    "streams/refusals-change-nothing",
    "store/markers",
    "streams/store-bounds",
    "streams/slots",
    "streams/refusal-ends",
];

/// The law of a quota that a namespace may have taken upon itself.
const QUOTA: &str = "streams/origin-rate";

/// See the module.
pub struct DurableOnly {
    law: Box<dyn Law>,
    /// Whether what was answered last at each node was judged by a connection's window: its dispatch follows at once.
    by_link: PerNode<bool>,
}

impl DurableOnly {
    /// The law as a run of this setting checks it.
    #[must_use]
    pub fn over(law: Box<dyn Law>, setting: &Setting) -> Box<dyn Law> {
        let Some(namespace) = setting.plan.engines.links.namespace else { return law };
        let hides = LAWS.contains(&law.id()) || namespace.delegates_message_limit && law.id() == QUOTA;
        if hides { Box::new(Self { law, by_link: PerNode::default() }) } else { law }
    }

    fn hides(&mut self, event: &Event<'_>) -> bool {
        match event {
            Event::Arrived { passage, .. } => passage.link.is_some(),
            Event::Answered { node, passage, .. } => {
                *self.by_link.at(*node) = passage.link.is_some();
                passage.link.is_some()
            }
            Event::Dispatched { node, .. } => *self.by_link.at(*node),
            _ => false,
        }
    }
}

impl Law for DurableOnly {
    fn id(&self) -> &'static str {
        self.law.id()
    }

    fn kind(&self) -> LawKind {
        self.law.kind()
    }

    fn states(&self) -> &'static str {
        self.law.states()
    }

    fn reads(&self) -> EventMask {
        self.law.reads().with(EventMask::of(&[EventKind::Answered]))
    }

    fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View, broken: &mut Vec<Violation>) {
        if !self.hides(event) && self.law.reads().holds(EventKind::of(event)) {
            self.law.event(at, event, view, broken);
        }
    }

    fn limits(&self, into: &mut BTreeMap<&'static str, u64>) {
        self.law.limits(into);
    }

    fn end(&mut self, at: SimTime, view: &dyn View, broken: &mut Vec<Violation>) {
        self.law.end(at, view, broken);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::at_most_once::AtMostOnce;
    use crate::laws::fake::{HONEST, Ledger, transaction};
    use crate::ledger::event::Passage;
    use crate::plan::NamespacePlan;
    use groundhog_engine::streams::window::VerdictKind;

    /// What a law of the durable window sees of two dispatches by way of these connections.
    fn seen(links: [Option<u32>; 2]) -> usize {
        let mut plan = Ledger::plan();
        plan.engines.links.namespace = Some(NamespacePlan { delegates_message_limit: false });
        let setting = Ledger::setting_of(plan);
        let law = DurableOnly::over(Box::new(AtMostOnce::new(&setting)), &setting);
        let mut ledger = Ledger::over(law);
        for link in links {
            let sent = transaction(1, 3, 41, 7);
            ledger.admitted(3, &sent, Passage { link, ..HONEST }, VerdictKind::First);
            ledger.dispatched(3, &sent);
        }
        ledger.finish().len()
    }

    #[test]
    fn a_law_of_the_durable_window_sees_only_what_that_judged() {
        assert_eq!((seen([None, None]), seen([Some(1), None]), seen([Some(1), Some(1)])), (1, 0, 0));
    }
}
