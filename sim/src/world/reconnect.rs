//! Connections that are retired and admitted anew while both ends live.
//!
//! Promise: what was on its way, or waited in a lane, is lost with the connection and told once; what its receiver had
//! already is admitted under the slot of the connection that brought it.

use super::World;
use super::network::LinkGeneration;
use super::timeline::Due;
use super::traffic::Direction;
use crate::ledger::event::{Event, LossCause};
use crate::plan::{Action, Reconnect};
use crate::units::{Life, NodeId, SimTime};
use std::task::Waker;

/// What happened to a connection of a node, for its life to take in before its next admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ConnectionChange {
    /// The other end.
    pub peer: NodeId,
    /// Which connection.
    pub generation: LinkGeneration,
    /// What became of it.
    pub step: ConnectionStep,
}

/// What happened to a node's connections and its life has not taken in.
#[derive(Debug, Default)]
pub struct Changes {
    waiting: Vec<ConnectionChange>,
    waker: Option<Waker>,
}

impl Changes {
    /// Another happened.
    pub fn push(&mut self, change: ConnectionChange) {
        self.waiting.push(change);
        if let Some(waker) = self.waker.take() {
            waker.wake();
        }
    }

    /// The life is over: nobody takes in what is left.
    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

/// What becomes of a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ConnectionStep {
    /// It was admitted.
    Admitted,
    /// It was retired.
    Retired {
        /// Frames and waiting messages of this end that were lost with it, though neither end had failed.
        under_way: u32,
    },
}

impl World {
    /// The connection is retired, and then admitted anew.
    pub(super) fn reconnect(&mut self, action: &Action, index: u32, ordinal: u32, reconnect: &Reconnect) {
        let (node, peer) = (action.node, reconnect.peer);
        if ordinal == 0 {
            self.retire_connection(node, peer);
            let back = SimTime::from_us(action.at_us.saturating_add(reconnect.after_us));
            return self.timeline.at(back, Due::Act { index, ordinal: 1 });
        }
        if let Some(connection) = self.traffic.network.connect(node, peer) {
            self.connected(node, connection);
        }
    }

    /// The connection between two nodes is retired at both ends, if one stands.
    pub(super) fn retire_connection(&mut self, node: NodeId, peer: NodeId) {
        let closed = self.traffic.network.disconnect(node, peer);
        let mut under_way = [0; 2];
        for lost in closed.lost {
            under_way[usize::from(lost.frame.sent.from == peer)] += 1;
            let (frame, message) = (lost.frame.number, lost.frame.sent.message);
            self.record(&Event::FrameLost { frame, message, cause: lost.cause });
        }
        for connection in closed.connections {
            for ((from, to), on_the_link) in [(node, peer), (peer, node)].into_iter().zip(under_way) {
                let under_way = on_the_link + self.close_lanes(Direction { from, to }, LossCause::Partition);
                let step = ConnectionStep::Retired { under_way };
                let change = ConnectionChange { peer: to, generation: connection.generation, step };
                self.traffic.changes[from.index()].push(change);
            }
        }
        self.members_disconnected(node, peer);
    }

    /// What happened to the connections of a life since it was last asked, in order.
    pub(super) fn take_connection_changes(&mut self, node: NodeId, life: Life) -> Vec<ConnectionChange> {
        if self.is_alive(node, life) {
            std::mem::take(&mut self.traffic.changes[node.index()].waiting)
        } else {
            Vec::new()
        }
    }

    /// Whether something waits to be taken in; if not, the task is woken when it does.
    pub(super) fn changes_wait(&mut self, node: NodeId, life: Life, waker: &Waker) -> bool {
        if !self.is_alive(node, life) {
            return false;
        }
        let changes = &mut self.traffic.changes[node.index()];
        if changes.waiting.is_empty() {
            changes.waker = Some(waker.clone());
        }
        !changes.waiting.is_empty()
    }

    /// Whoever may be connected again, is.
    pub(super) fn connect_ready(&mut self) {
        for (node, connection) in self.traffic.network.connect_ready() {
            self.connected(node, connection);
        }
    }
}
