//! `streams/available`: no stream is refused as unavailable, and none for lack of room while there is room.
//!
//! Only damage that the plan did licenses an unavailable stream (see `excuses`).

use super::{Law, Setting, View};
use crate::ledger::event::{Answer, Event};
use crate::outcome::Violation;
use crate::units::{NodeId, SimTime};

/// The engine's reason for a stream whose record does not restore.
pub const UNAVAILABLE: &str = "stream-unavailable";

/// The engine's reason for a new stream that finds its table full.
pub const CAPACITY: &str = "stream-capacity-exceeded";

/// See the module.
pub struct Available {
    capacity: u64,
}

impl Available {
    /// Its id.
    pub const ID: &'static str = "streams/available";
    /// What it states.
    pub const STATES: &'static str = "A stream fails closed only where its record is damaged or missing, and a new one only where the table is full \
         (000, Persistence and bounds; Bad records).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        Self { capacity: u64::from(setting.plan.engines.stream_capacity) }
    }

    fn refused(&self, at: SimTime, node: NodeId, reason: &str, view: &dyn View, broken: &mut Vec<Violation>) {
        let saw = if reason == UNAVAILABLE {
            format!("{node} refused a stream as unavailable, and no fault had damaged a record of it")
        } else if reason == CAPACITY {
            let (_, records) = view.store_use(node);
            if records >= self.capacity {
                return;
            }
            let capacity = self.capacity;
            format!(
                "{node} refused a new stream for lack of room with {records} records, and a table holds {capacity}"
            )
        } else {
            return;
        };
        broken.push(Violation { law: Self::ID, at, node: Some(node), saw });
    }
}

impl Law for Available {
    law_identity!(Outcome reads Answered, ReserveAnswered);

    fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View, broken: &mut Vec<Violation>) {
        match event {
            Event::Answered { node, answer: Answer::Refused(reason), .. }
            | Event::ReserveAnswered { node, refusal: Some(reason), .. } => {
                self.refused(at, *node, reason, view, broken);
            }
            _ => {}
        }
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{HONEST, Ledger, transaction};

    fn refused(reason: &'static str, records: u64) -> usize {
        let mut ledger = Ledger::over(Available::new(&Ledger::setting()));
        ledger.view.store_use = (0, records);
        ledger.arrived(3, &transaction(1, 3, 1, 1), HONEST);
        ledger.answered(3, &transaction(1, 3, 1, 1), HONEST, Answer::Refused(reason));
        ledger.finish().len()
    }

    #[test]
    fn an_unavailable_stream_and_a_lack_of_room_with_room_break_it() {
        assert_eq!(refused(UNAVAILABLE, 1), 1);
        assert_eq!(refused(CAPACITY, 16_383), 1);
        assert_eq!(refused(CAPACITY, 16_384), 0);
        assert_eq!(refused("sequence-exhausted", 0), 0);
    }
}
