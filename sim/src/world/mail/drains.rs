//! When a member of the ring drains its inbox: at its maintenance passes, where something waits for it.
//!
//! Promise: a pass that would read nothing, after one that read nothing, is not begun.

use crate::units::{Life, NodeId};
use crate::world::World;
use std::task::{Poll, Waker};

/// The drain passes of one node.
#[derive(Debug, Default)]
pub(super) struct Drains {
    /// Mails for it that a carrier keeps.
    pub(super) waiting: u32,
    /// Whether its last maintenance pass was one to drain at.
    due: bool,
    /// Whether something waited at the maintenance pass before.
    read: bool,
    waker: Option<Waker>,
}

impl Drains {
    /// The process died, and its drain passes with it.
    pub(super) fn end_life(&mut self) {
        (self.due, self.read, self.waker) = (false, false, None);
    }
}

impl World {
    /// A member looks around: it reads its inbox, too.
    pub(in crate::world) fn drain_at_maintenance(&mut self, node: NodeId) {
        let drains = &mut self.mail.drains[node.index()];
        let waits = drains.waiting > 0;
        if std::mem::replace(&mut drains.read, waits) || waits {
            drains.due = true;
            if let Some(waker) = drains.waker.take() {
                waker.wake();
            }
        }
    }

    /// The next drain pass of a life, once it is due.
    pub(in crate::world) fn next_drain(&mut self, node: NodeId, life: Life, waker: &Waker) -> Poll<()> {
        if !self.is_alive(node, life) {
            return Poll::Pending;
        }
        let drains = &mut self.mail.drains[node.index()];
        if std::mem::take(&mut drains.due) {
            return Poll::Ready(());
        }
        drains.waker = Some(waker.clone());
        Poll::Pending
    }

    /// Whether messages find the node: a ready one, and on a ring a member that has not said that it leaves.
    pub(in crate::world) fn can_be_reached(&self, node: NodeId) -> bool {
        self.ring.as_ref().map_or_else(|| self.is_ready(node), |ring| ring.is_present(node))
    }
}
