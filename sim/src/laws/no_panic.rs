//! `engine/no-panic`: whatever comes from outside, the engine answers with a typed error and not with a panic.

use super::{Law, Setting, View};
use crate::ledger::event::Event;
use crate::outcome::Violation;
use crate::units::SimTime;

/// See the module.
pub struct NoPanic;

impl NoPanic {
    /// Its id.
    pub const ID: &'static str = "engine/no-panic";
    /// What it states.
    pub const STATES: &'static str =
        "No task of a node panics: errors are typed (design section 6, exit codes).";

    /// A checker for one run.
    #[must_use]
    pub fn new(_setting: &Setting) -> Self {
        Self
    }
}

impl Law for NoPanic {
    law_identity!(Outcome reads Panicked);

    fn event(&mut self, at: SimTime, event: &Event<'_>, _view: &dyn View, broken: &mut Vec<Violation>) {
        let Event::Panicked { node, life, message } = event else { return };
        let saw = format!("a task of {node} panicked in its life {}: {message}", life.0);
        broken.push(Violation { law: Self::ID, at, node: Some(*node), saw });
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::Ledger;
    use crate::units::NodeId;

    #[test]
    fn a_panic_breaks_it_and_a_death_does_not() {
        let mut ledger = Ledger::over(NoPanic);
        ledger.restarted(2);
        assert_eq!(ledger.finish(), Vec::<String>::new());

        let mut ledger = Ledger::over(NoPanic);
        let life = ledger.life(2);
        ledger.event(&Event::Panicked { node: NodeId(2), life, message: "a window with no top" });
        assert_eq!(ledger.finish(), ["a task of node 2 panicked in its life 0: a window with no top"]);
    }
}
