//! Connections that are torn down while both ends live, and made again.
//!
//! Promise: what was in flight on such a connection is lost, each frame once; the next connection is another generation.

use super::Network;
use super::connection::Connection;
use super::link::Link;
use crate::plan::LinkFault;
use crate::units::NodeId;

impl Link {
    /// Whether a fault keeps the two from being connected.
    pub(super) fn is_torn_down(&self) -> bool {
        self.faults.iter().any(|active| active.fault == LinkFault::DropConnection)
    }
}

impl Network {
    /// Connects every two nodes that are linked, ready and not connected, unless a fault keeps them apart: each new
    /// connection with one of its ends, as that end sees it.
    pub fn connect_ready(&mut self) -> Vec<(NodeId, Connection)> {
        let mut made = Vec::new();
        for link in &mut self.links {
            let (a, b) = (link.plan.a, link.plan.b);
            let waits = !link.up && self.ready[a.index()] && self.ready[b.index()] && !link.is_torn_down();
            if waits {
                made.push((a, link.connect(b)));
            }
        }
        made
    }
}
