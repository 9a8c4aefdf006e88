//! `engine/no-thread`: an engine starts no thread of the operating system; its tasks are all that runs.

use super::{Law, Setting, View};
use crate::ledger::event::Event;
use crate::outcome::Violation;
use crate::units::SimTime;

/// See the module.
pub struct NoThread;

impl NoThread {
    /// Its id.
    pub const ID: &'static str = "engine/no-thread";
    /// What it states.
    pub const STATES: &'static str = "No task of a node starts a thread inside the run: what a thread does, no seed repeats (design section 3).";

    /// A checker for one run.
    #[must_use]
    pub fn new(_setting: &Setting) -> Self {
        Self
    }
}

impl Law for NoThread {
    law_identity!(Outcome reads ThreadStarted);

    fn event(&mut self, at: SimTime, event: &Event<'_>, _view: &dyn View, broken: &mut Vec<Violation>) {
        let Event::ThreadStarted { node, life, task } = event else { return };
        let saw = format!("a thread was started inside the run by {task}, in life {}", life.0);
        broken.push(Violation { law: Self::ID, at, node: Some(*node), saw });
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::Ledger;
    use crate::ledger::doer::Task;
    use crate::units::NodeId;
    use groundhog_engine::streams::key::Class;

    #[test]
    fn a_thread_breaks_it_with_node_and_task_and_a_panic_does_not() {
        let mut ledger = Ledger::over(NoThread);
        let life = ledger.life(2);
        ledger.event(&Event::Panicked { node: NodeId(2), life, message: "a window with no top" });
        assert_eq!(ledger.finish(), Vec::<String>::new());

        let mut ledger = Ledger::over(NoThread);
        let life = ledger.life(2);
        let task = Task::Sender(Class::Control);
        ledger.event(&Event::ThreadStarted { node: NodeId(2), life, task });
        let saw = "a thread was started inside the run by sender of control, in life 0";
        assert_eq!(ledger.finish(), [saw]);
    }
}
