//! Connections: up while both ends live and are ready, closed when either dies.

use super::Network;
use super::frame::{Frame, LinkGeneration};
use super::link::Link;
use crate::ledger::event::LossCause;
use crate::plan::LinkPlan;
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

impl Link {
    /// The next connection of the link is made, `peer` being the end that the other one sees.
    pub(super) fn connect(&mut self, peer: NodeId) -> Connection {
        assert!(!self.up, "no connection outlives an end");
        self.up = true;
        self.generation = LinkGeneration(self.generation.0 + 1);
        Connection { peer, generation: self.generation, channels: self.plan.channels }
    }
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
            let link = &mut self.links[*index as usize];
            if self.ready[peer.index()] && !link.on_demand && !link.is_torn_down() {
                made.push(link.connect(*peer));
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
        let cause = |frame: &Frame| match frame.sent.from == node {
            true => LossCause::SenderCrash,
            false => LossCause::ReceiverCrash,
        };
        for (peer, index) in self.peers[node.index()].clone() {
            self.close(index, peer, &mut closed, cause);
        }
        closed.lost.sort_unstable_by_key(|lost| lost.frame.number);
        closed
    }

    /// The connection of a link closes, if it stands; `peer` is its end as the other one sees it.
    pub(super) fn close(
        &mut self,
        index: u32,
        peer: NodeId,
        closed: &mut Closed,
        cause: impl Fn(&Frame) -> LossCause,
    ) {
        let link = &mut self.links[index as usize];
        if !std::mem::replace(&mut link.up, false) {
            return;
        }
        let (generation, channels) = (link.generation, link.plan.channels);
        closed.connections.push(Connection { peer, generation, channels });
        for direction in &mut link.directions {
            direction.busy_until = SimTime(0);
            while let Some(slot) = direction.duplicates.head() {
                self.frames.remove(&mut direction.duplicates, slot);
            }
            for channel in &mut direction.channels {
                channel.last_deliver_at = SimTime(0);
                while let Some(slot) = channel.chain.head() {
                    let frame = self.frames.remove(&mut channel.chain, slot).frame;
                    let cause = cause(&frame);
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
            // Nobody died: the frames have no connection any more.
            self.close(index, peer, &mut closed, |_| LossCause::Partition);
        }
        closed.lost.sort_unstable_by_key(|lost| lost.frame.number);
        closed
    }

    /// A connection between two nodes is admitted, if both are ready, none stands, and no fault keeps them apart; as the
    /// first sees it.
    pub fn connect(&mut self, node: NodeId, peer: NodeId) -> Option<Connection> {
        let index = self.link_between(node, peer)?;
        let link = &mut self.links[index as usize];
        let can = !link.up && self.ready[node.index()] && self.ready[peer.index()] && !link.is_torn_down();
        can.then(|| link.connect(peer))
    }

    /// The link between two nodes, there from now on, that connections are made over one by one.
    ///
    /// # Panics
    /// When `plan` is no link of the network's nodes.
    pub fn on_demand(&mut self, plan: LinkPlan) {
        let (a, b) = (plan.a, plan.b);
        assert!(a < b && b.index() < self.peers.len(), "a link has two ends, in order");
        let Err(place) = self.peers[a.index()].binary_search_by_key(&b, |(peer, _)| *peer) else { return };
        let index = u32::try_from(self.links.len()).expect("pairs of nodes are fewer than 2^32");
        self.peers[a.index()].insert(place, (b, index));
        let place = self.peers[b.index()].partition_point(|(peer, _)| *peer < a);
        self.peers[b.index()].insert(place, (a, index));
        self.links.push(Link { on_demand: true, ..Link::new(plan) });
    }

    /// Whether a fault cuts either direction between two nodes, or keeps them from being connected.
    #[must_use]
    pub fn is_cut(&self, one: NodeId, other: NodeId) -> bool {
        let link = self.link_between(one, other).map(|index| &self.links[index as usize]);
        link.is_some_and(|link| {
            link.is_torn_down() || link.directions.iter().any(|direction| direction.effective.partition)
        })
    }

    /// The connection that stands from one node to another, as the first sees it.
    #[must_use]
    pub fn connection(&self, from: NodeId, to: NodeId) -> Option<Connection> {
        let link = &self.links[self.link_between(from, to)? as usize];
        link.up.then_some(Connection { peer: to, generation: link.generation, channels: link.plan.channels })
    }
}
