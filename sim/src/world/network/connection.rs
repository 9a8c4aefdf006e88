//! Connections: up while both ends live and are ready, closed when either dies.

use super::Network;
use super::frame::{Frame, LinkGeneration, Slab};
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
            if self.ready[peer.index()] && !link.on_demand {
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
        for (peer, index) in &self.peers[node.index()] {
            let link = &mut self.links[*index as usize];
            if !std::mem::replace(&mut link.up, false) {
                continue;
            }
            closed.connections.push(Connection {
                peer: *peer,
                generation: link.generation,
                channels: link.plan.channels,
            });
            empty(link, &mut self.frames, |frame| {
                let sender_died = frame.sent.from == node;
                let cause = if sender_died { LossCause::SenderCrash } else { LossCause::ReceiverCrash };
                closed.lost.push(LostFrame { frame, cause });
            });
        }
        closed.lost.sort_unstable_by_key(|lost| lost.frame.number);
        closed
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

    /// Makes a connection over a link on demand; `None` where there is no link or an end is not ready, or it stands already.
    pub fn connect(&mut self, from: NodeId, to: NodeId) -> Option<Connection> {
        let index = self.link_between(from, to)?;
        let link = &mut self.links[index as usize];
        let can = link.on_demand && !link.up && self.ready[from.index()] && self.ready[to.index()];
        can.then(|| {
            link.up = true;
            link.generation = LinkGeneration(link.generation.0 + 1);
            Connection { peer: to, generation: link.generation, channels: link.plan.channels }
        })
    }

    /// Closes one connection: what was in flight and held on it is lost by `cause`, in order of sending. Nothing closes where
    /// none stands.
    pub fn disconnect(&mut self, from: NodeId, to: NodeId, cause: LossCause) -> Vec<LostFrame> {
        let mut lost = Vec::new();
        if let Some(index) = self.link_between(from, to) {
            let link = &mut self.links[index as usize];
            if std::mem::replace(&mut link.up, false) {
                empty(link, &mut self.frames, |frame| lost.push(LostFrame { frame, cause }));
            }
        }
        lost.sort_unstable_by_key(|lost| lost.frame.number);
        lost
    }

    /// The connection that stands between two nodes, or the last that stood; 0 before the first.
    #[must_use]
    pub fn generation(&self, one: NodeId, other: NodeId) -> LinkGeneration {
        let link = self.link_between(one, other).map(|index| &self.links[index as usize]);
        link.map_or(LinkGeneration(0), |link| link.generation)
    }

    /// Whether a fault cuts either direction between two nodes.
    #[must_use]
    pub fn is_cut(&self, one: NodeId, other: NodeId) -> bool {
        let link = self.link_between(one, other).map(|index| &self.links[index as usize]);
        link.is_some_and(|link| link.directions.iter().any(|direction| direction.effective.partition))
    }

    /// The connection that stands from one node to another, as the first sees it.
    #[must_use]
    pub fn connection(&self, from: NodeId, to: NodeId) -> Option<Connection> {
        let link = &self.links[self.link_between(from, to)? as usize];
        link.up.then_some(Connection { peer: to, generation: link.generation, channels: link.plan.channels })
    }
}

/// Takes every frame off a link whose connection has closed; second deliveries are no loss.
fn empty(link: &mut Link, frames: &mut Slab, mut lose: impl FnMut(Frame)) {
    for direction in &mut link.directions {
        direction.busy_until = SimTime(0);
        while let Some(slot) = direction.duplicates.head() {
            frames.remove(&mut direction.duplicates, slot);
        }
        for channel in &mut direction.channels {
            channel.last_deliver_at = SimTime(0);
            while let Some(slot) = channel.chain.head() {
                lose(frames.remove(&mut channel.chain, slot).frame);
            }
        }
    }
}
