//! Connections: up while both ends live and are ready, closed when either dies.

use super::Network;
use super::frame::{Frame, LinkGeneration};
use crate::ledger::event::LossCause;
use crate::units::{NodeId, SimTime};

/// A connection that stands, as one end sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Connection {
    /// The other end.
    pub peer: NodeId,
    /// Which connection of the link.
    pub generation: LinkGeneration,
    /// Channels of its pool.
    pub channels: u8,
}

/// A frame that closed with its connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostFrame {
    /// The frame.
    pub frame: Frame,
    /// Which end died.
    pub cause: LossCause,
}

/// What a death closes.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Closed {
    /// Connections, as the dead end saw them, in order of peers.
    pub connections: Vec<Connection>,
    /// Frames in flight and held, each exactly once, in order of sending; second deliveries are no loss.
    pub lost: Vec<LostFrame>,
}

impl Network {
    /// The node's engines are open: connections with every ready peer are made, in order of peers.
    ///
    /// # Panics
    /// When the node is ready already.
    pub fn ready(&mut self, node: NodeId) -> Vec<Connection> {
        assert!(!self.ready[node.index()], "{node} is ready already");
        self.ready[node.index()] = true;
        let mut made = Vec::new();
        for (peer, index) in &self.peers[node.index()] {
            if self.ready[peer.index()] {
                let link = &mut self.links[*index as usize];
                assert!(!link.up, "no connection outlives an end");
                link.up = true;
                link.generation = LinkGeneration(link.generation.0 + 1);
                made.push(Connection {
                    peer: *peer,
                    generation: link.generation,
                    channels: link.plan.channels,
                });
            }
        }
        made
    }

    /// The node's life has ended: its connections close, and what was in flight and held on them is lost. Nothing closes
    /// when the node was not ready.
    pub fn die(&mut self, node: NodeId) -> Closed {
        let mut closed = Closed::default();
        if !std::mem::replace(&mut self.ready[node.index()], false) {
            return closed;
        }
        let cause = |sender: NodeId| match sender == node {
            true => LossCause::SenderCrash,
            false => LossCause::ReceiverCrash,
        };
        for (peer, index) in self.peers[node.index()].clone() {
            self.close(index, peer, &cause, &mut closed);
        }
        closed.lost.sort_unstable_by_key(|lost| lost.frame.number);
        closed
    }

    /// Closes the connection of a link, if one stands.
    fn close(&mut self, index: u32, peer: NodeId, cause: &dyn Fn(NodeId) -> LossCause, closed: &mut Closed) {
        let link = &mut self.links[index as usize];
        if !std::mem::replace(&mut link.up, false) {
            return;
        }
        closed.connections.push(Connection {
            peer,
            generation: link.generation,
            channels: link.plan.channels,
        });
        for direction in &mut link.directions {
            direction.busy_until = SimTime(0);
            while let Some(slot) = direction.duplicates.head() {
                self.frames.remove(&mut direction.duplicates, slot);
            }
            for channel in &mut direction.channels {
                channel.last_deliver_at = SimTime(0);
                while let Some(slot) = channel.chain.head() {
                    let frame = self.frames.remove(&mut channel.chain, slot).frame;
                    let cause = cause(frame.sent.from);
                    closed.lost.push(LostFrame { frame, cause });
                }
            }
        }
    }

    /// The connection between two nodes is retired at both ends: what was in flight and held on it is lost. Nothing closes
    /// when none stands.
    pub fn disconnect(&mut self, node: NodeId, peer: NodeId) -> Closed {
        let mut closed = Closed::default();
        if let Some(index) = self.link_between(node, peer) {
            self.close(index, peer, &|_| LossCause::Partition, &mut closed);
        }
        closed.lost.sort_unstable_by_key(|lost| lost.frame.number);
        closed
    }

    /// A connection between two nodes is admitted, if both are ready and none stands; as the first sees it.
    pub fn connect(&mut self, node: NodeId, peer: NodeId) -> Option<Connection> {
        let index = self.link_between(node, peer)?;
        let link = &mut self.links[index as usize];
        if link.up || !self.ready[node.index()] || !self.ready[peer.index()] {
            return None;
        }
        link.up = true;
        link.generation = LinkGeneration(link.generation.0 + 1);
        Some(Connection { peer, generation: link.generation, channels: link.plan.channels })
    }

    /// The connection that stands from one node to another, as the first sees it.
    #[must_use]
    pub fn connection(&self, from: NodeId, to: NodeId) -> Option<Connection> {
        let link = &self.links[self.link_between(from, to)? as usize];
        link.up.then_some(Connection { peer: to, generation: link.generation, channels: link.plan.channels })
    }
}
