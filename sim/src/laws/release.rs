//! `commit/release`: no result is returned before every table state that it was computed from is certain on the disk.

use super::{Law, Setting, View};
use crate::ledger::event::Event;
use crate::outcome::Violation;
use crate::units::SimTime;
use groundhog_engine::host::observe::EngineEvent;

/// See the module.
#[derive(Default)]
pub struct Release {
    surviving: Vec<Option<u64>>,
}

impl Release {
    /// A checker for one run.
    #[must_use]
    pub fn new(_setting: &Setting) -> Self {
        Self::default()
    }

    /// Its id.
    pub const ID: &'static str = "commit/release";
    /// What it states.
    pub const STATES: &'static str = "No result is returned before its batch is durable: a refusal, and a reservation inside its lease, too \
         (000, group commit, Release).";
}

impl Law for Release {
    law_identity!(Mechanism reads EngineReleased);

    fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View, broken: &mut Vec<Violation>) {
        let Event::Engine { node, event: EngineEvent::Released { transition, depends }, .. } = event else {
            return;
        };
        for (record, batch) in *depends {
            self.surviving.clear();
            view.surviving_generations(*node, *record, &mut self.surviving);
            // No surviving state at all would be a fault of the view, and is told as one: a record is there or it is not.
            let uncertain = self.surviving.iter().find(|found| found.is_none_or(|found| found < batch.0));
            let found = match (uncertain, self.surviving.is_empty()) {
                (None, false) => continue,
                (Some(Some(generation)), _) => format!("the value of batch {generation}"),
                (Some(None), _) | (None, true) => String::from("nothing whole"),
            };
            let saw = format!(
                "{node} returned the result of transition {} computed from batch {} of record {record}; a power failure then \
                 could leave {found}",
                transition.0, batch.0
            );
            broken.push(Violation { law: Self::ID, at, node: Some(*node), saw });
        }
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{Image, Ledger, record};

    fn released_over(images: &[Image]) -> Vec<String> {
        let mut ledger = Ledger::over(Release::default());
        ledger.view.surviving(3, record(1), images);
        ledger.released(3, 0, &[(record(1), 5)]);
        ledger.finish()
    }

    #[test]
    fn a_result_waits_until_every_surviving_state_holds_it() {
        assert_eq!(released_over(&[Image::Generation(5)]), Vec::<String>::new());
        assert_eq!(released_over(&[Image::Generation(5), Image::Generation(6)]), Vec::<String>::new());
        assert_eq!(released_over(&[Image::Generation(4), Image::Generation(5)]).len(), 1);
        assert_eq!(released_over(&[Image::Absent, Image::Generation(5)]).len(), 1);
        assert_eq!(released_over(&[Image::Torn]).len(), 1);
        assert_eq!(released_over(&[]).len(), 1);
    }
}
