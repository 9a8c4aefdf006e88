//! The connection slots of one life: each connection has one from its first frame until the next connection of the same peer.
//!
//! Promise: what a connection delivered is charged to its slot, also where it is admitted after the connection has closed.

use crate::units::NodeId;
use crate::world::network::LinkGeneration;
use crate::world::receiving::Notice;
use groundhog_engine::identity::Did;
use groundhog_engine::streams::Streams;
use groundhog_engine::streams::link_local::Link;
use groundhog_engine::streams::slots::{SlotIndex, SlotLease};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

/// See the module.
#[derive(Debug, Default)]
pub struct Connections(Mutex<Slots>);

#[derive(Debug, Default)]
struct Slots {
    /// The newest connection of each peer.
    leases: BTreeMap<NodeId, (LinkGeneration, SlotLease)>,
    /// The slot of every connection of this life.
    of: BTreeMap<(NodeId, LinkGeneration), SlotIndex>,
}

impl Connections {
    /// The slot of a connection, and the connection itself unless it has ended. A peer's new connection retires the one
    /// before it.
    pub fn of(
        &self,
        streams: &Streams,
        peer: (NodeId, Did),
        generation: LinkGeneration,
    ) -> (SlotIndex, Option<Arc<Link>>) {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = slots.slot_of(streams, peer, generation);
        let newest = slots.leases.get(&peer.0).filter(|(newest, _)| *newest == generation);
        (slot, newest.map(|(_, lease)| Arc::clone(lease.link())))
    }
}

impl Connections {
    /// A connection of the ring is admitted to a slot, or retired, which frees it.
    pub fn notice(&self, streams: &Streams, did: Did, notice: Notice) {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let Notice { peer, generation, admitted } = notice;
        if admitted {
            slots.slot_of(streams, (peer, did), generation);
        } else if slots.leases.get(&peer).is_some_and(|(newest, _)| *newest == generation) {
            slots.leases.remove(&peer);
        }
    }
}

impl Slots {
    fn slot_of(
        &mut self,
        streams: &Streams,
        (peer, did): (NodeId, Did),
        generation: LinkGeneration,
    ) -> SlotIndex {
        if let Some(slot) = self.of.get(&(peer, generation)) {
            return *slot;
        }
        let slot = match self.leases.get(&peer) {
            // Its frames were overtaken by those of the peer's next connection, and no slot was ever asked for it.
            Some((newest, lease)) if *newest > generation => lease.slot(),
            _ => {
                self.leases.remove(&peer);
                let lease =
                    streams.connected(did).expect("a plan gives a node no more peers than it has slots");
                let slot = lease.slot();
                self.leases.insert(peer, (generation, lease));
                slot
            }
        };
        self.of.insert((peer, generation), slot);
        slot
    }
}
