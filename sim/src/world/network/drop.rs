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
            let waits = !link.on_demand
                && !link.up
                && self.ready[a.index()]
                && self.ready[b.index()]
                && !link.is_torn_down();
            if waits {
                made.push((a, link.connect(b)));
            }
        }
        made
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::LinkPlan;
    use crate::units::{FaultId, SimTime};

    #[test]
    fn a_connection_that_was_torn_down_is_made_again_as_another_generation_once_nothing_keeps_it_apart() {
        let link = LinkPlan {
            a: NodeId(0),
            b: NodeId(1),
            latency_us: 1,
            jitter_us: 0,
            bandwidth_bytes_per_s: 0,
            channels: 1,
            ordered: true,
            loss_per_mille: 0,
            duplicate_per_mille: 0,
        };
        let (one, other, fault) = (NodeId(0), NodeId(1), FaultId(7));
        let mut network = Network::new(1, 2, &[link]).unwrap();
        network.ready(one);
        let first = network.ready(other)[0].generation;
        network.begin_fault(fault, (one, other), false, LinkFault::DropConnection).unwrap();
        assert_eq!(network.disconnect(one, other).connections.len(), 1);
        assert_eq!(network.disconnect(one, other).connections.len(), 0, "it is gone");
        assert_eq!((network.connection(one, other), network.connect_ready().len()), (None, 0));
        network.die(other);
        assert_eq!(network.ready(other).len(), 0, "a restart does not bring it back");
        network.end_fault(SimTime(0), fault);
        let again = network.connect_ready();
        assert_eq!(again.len(), 1);
        assert!(again[0].1.generation > first);
        assert_eq!(network.connect_ready().len(), 0, "it stands");
    }
}
