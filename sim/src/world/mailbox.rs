//! The application's mailbox: messages of a class that were dispatched and are not handled yet, bounded where the plan says so.
//!
//! Promise: what does not fit is dropped after its admission, which stands (seed 000: not exactly-once), and is counted.

use super::World;
use crate::units::NodeId;
use groundhog_engine::streams::key::Class;

impl World {
    /// Takes a place in the mailbox; `false` where there is none.
    pub(super) fn takes_into_mailbox(&mut self, node: NodeId, class: Class) -> bool {
        let bound = self.plan.engines.links.mailbox_messages;
        let held = &mut self.node(node).in_mailbox[class.index()];
        if bound > 0 && *held >= bound {
            return false;
        }
        *held += 1;
        true
    }

    /// A message was handled: its place is free.
    pub(super) fn leaves_mailbox(&mut self, node: NodeId, class: Class) {
        self.node(node).in_mailbox[class.index()] -= 1;
    }
}
