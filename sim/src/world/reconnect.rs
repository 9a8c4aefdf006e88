//! Connections that are torn down, both ends alive, and made again.
//!
//! Promise: what such a connection carried is lost by a cause; what it had delivered is admitted all the same.

use super::World;
use super::traffic::Direction;
use crate::ledger::event::{Event, LossCause};
use crate::units::NodeId;

impl World {
    /// The connection between two nodes is torn down.
    pub(super) fn drop_connection(&mut self, (node, peer): (NodeId, NodeId)) {
        let closed = self.traffic.network.drop_connection(node, peer);
        for lost in closed.lost {
            let (frame, message) = (lost.frame.number, lost.frame.sent.message);
            self.record(&Event::FrameLost { frame, message, cause: lost.cause });
        }
        for _ in closed.connections {
            for (from, to) in [(node, peer), (peer, node)] {
                self.close_lanes(Direction { from, to }, LossCause::Partition);
            }
        }
    }

    /// Whoever may be connected again, is.
    pub(super) fn connect_ready(&mut self) {
        for (node, connection) in self.traffic.network.connect_ready() {
            self.open_lanes(node, &connection);
        }
    }
}
