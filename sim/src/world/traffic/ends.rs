//! What ends traffic, or lets it go on: deaths, and faults of links.
//!
//! Promise: everything that a dead life held is told as lost, once, with its cause.

use super::Direction;
use crate::ledger::event::{Event, LossCause};
use crate::plan::LinkFault;
use crate::units::{FaultId, FrameNumber, MessageId, NodeId};
use crate::world::World;
use crate::world::network::Scheduled;
use crate::world::reconnect::{ConnectionChange, ConnectionStep};
use crate::world::timeline::Due;

impl World {
    /// What a dead life's connections held is lost.
    pub(in crate::world) fn end_traffic(&mut self, node: NodeId) {
        let closed = self.traffic.network.die(node);
        for lost in closed.lost {
            let (frame, message) = (lost.frame.number, lost.frame.sent.message);
            self.record(&Event::FrameLost { frame, message, cause: lost.cause });
        }
        for connection in closed.connections {
            let peer = connection.peer;
            let sides = [(node, peer, LossCause::SenderCrash), (peer, node, LossCause::ReceiverCrash)];
            for (from, to, cause) in sides {
                self.close_lanes(Direction { from, to }, cause);
            }
            let step = ConnectionStep::Retired { under_way: 0 };
            let change = ConnectionChange { peer: node, generation: connection.generation, step };
            self.traffic.changes[peer.index()].push(change);
        }
        self.traffic.changes[node.index()].clear();
        let receiving = std::mem::take(&mut self.traffic.receiving[node.index()]);
        let mut lost: Vec<(FrameNumber, Option<MessageId>)> = Vec::new();
        let cause = LossCause::ReceiverCrash;
        for (_, receiver) in
            self.traffic.stalled.iter_mut().filter(|((direction, _), _)| direction.to == node)
        {
            for (frame, duplicate) in std::mem::take(&mut receiver.held) {
                if !duplicate {
                    lost.push((frame.number, frame.sent.message));
                }
            }
        }
        for (frame, message) in lost {
            self.record(&Event::FrameLost { frame, message, cause });
        }
        for inbound in receiving.lanes.into_values().flat_map(|lane| lane.frames) {
            if !inbound.duplicate {
                self.record(&Event::FrameLost { frame: inbound.frame, message: inbound.message, cause });
            }
        }
        let mut in_hand = std::mem::take(&mut self.node(node).frames_in_hand);
        in_hand.sort_unstable_keys();
        for (frame, message) in in_hand {
            self.record(&Event::FrameLost { frame, message, cause });
        }
    }

    /// A fault of a link begins.
    pub(in crate::world) fn begin_link_fault(
        &mut self,
        fault: FaultId,
        ends: (NodeId, NodeId),
        one_way: bool,
        kind: LinkFault,
    ) {
        if let LinkFault::StallReceiver { channel } = kind {
            self.stall_receivers(fault, ends, one_way, channel);
        }
        self.link_on_demand(ends);
        let begun = self.traffic.network.begin_fault(fault, ends, one_way, kind);
        begun.expect("a plan is validated: its link faults name links that it has");
        if kind == LinkFault::DropConnection {
            self.retire_connection(ends.0, ends.1);
        }
        if matches!(kind, LinkFault::Partition | LinkFault::DropConnection) {
            self.reachability_changed();
        }
    }

    /// A fault of a link ends.
    pub(in crate::world) fn end_link_fault(&mut self, fault: FaultId) {
        let now = self.now();
        self.release_receivers(fault);
        let scheduled = self.traffic.network.end_fault(now, fault);
        self.reachability_changed();
        self.schedule_deliveries(&scheduled);
        self.connect_ready();
    }

    /// Every fault of every link ends.
    pub(in crate::world) fn heal_network(&mut self) {
        let now = self.now();
        let scheduled = self.traffic.network.heal_all(now);
        self.schedule_deliveries(&scheduled);
        self.connect_ready();
    }

    fn schedule_deliveries(&mut self, scheduled: &[Scheduled]) {
        for delivery in scheduled {
            if let Some(to) = self.traffic.network.receiver(delivery.handle) {
                self.timeline.at(delivery.deliver_at, Due::Deliver { to, frame: delivery.handle });
            }
        }
    }
}
