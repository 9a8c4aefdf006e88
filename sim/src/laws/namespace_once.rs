//! `streams/namespace-once`: a namespace that delegates its replays acts on a payload at most once, over connections,
//! generations, envelopes and restarts.

use super::{Law, Setting, View};
use crate::ledger::event::Event;
use crate::ledger::link_event::LinkEvent;
use crate::outcome::Violation;
use crate::units::{NodeId, SimTime};
use rustc_hash::FxHashMap;

/// See the module.
#[derive(Default)]
pub struct NamespaceOnce {
    acted: FxHashMap<(NodeId, [u8; 32]), SimTime>,
}

impl NamespaceOnce {
    /// Its id.
    pub const ID: &'static str = "streams/namespace-once";
    /// What it states.
    pub const STATES: &'static str = "A namespace that declares delegated replay acts on each of its payloads at most once, across connections, \
         generations, envelopes and restarts (000, Persistence and bounds).";

    /// A checker for one run.
    #[must_use]
    pub fn new(_setting: &Setting) -> Self {
        Self::default()
    }
}

impl Law for NamespaceOnce {
    law_identity!(Outcome reads Link);

    fn event(&mut self, at: SimTime, event: &Event<'_>, _view: &dyn View, broken: &mut Vec<Violation>) {
        let Event::Link { node, event: LinkEvent::Acted { payload, refused: None, .. }, .. } = event else {
            return;
        };
        if let Some(before) = self.acted.insert((*node, *payload), at) {
            let [a, b, c, d, ..] = payload;
            let saw = format!(
                "the namespace at {node} acted twice on payload {a:02x}{b:02x}{c:02x}{d:02x} (t={before}, t={at})"
            );
            broken.push(Violation { law: Self::ID, at, node: Some(*node), saw });
        }
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::Ledger;
    use crate::units::Life;

    fn seen(acts: &[(u16, u32, u8, Option<&'static str>)]) -> usize {
        let mut ledger = Ledger::over(NamespaceOnce::new(&Ledger::setting()));
        for (node, life, payload, refused) in acts {
            let event = LinkEvent::Acted { message: None, payload: [*payload; 32], refused: *refused };
            ledger.event(&Event::Link { node: NodeId(*node), life: Life(*life), event });
        }
        ledger.finish().len()
    }

    #[test]
    fn a_second_act_breaks_it_in_whatever_life_and_a_refusal_does_not() {
        assert_eq!(seen(&[(3, 0, 1, None), (3, 1, 1, Some("other-epoch")), (2, 0, 1, None)]), 0);
        assert_eq!(seen(&[(3, 0, 1, None), (3, 0, 1, None)]), 1);
        assert_eq!(seen(&[(3, 0, 1, None), (3, 1, 1, None)]), 1);
    }
}
