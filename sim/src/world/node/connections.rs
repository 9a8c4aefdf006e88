//! The connection slots of one life: each connection has one from its first frame until the next connection of the same peer.
//!
//! Promise: what a connection delivered is charged to its slot, also where it is admitted after the connection has closed.

use crate::units::NodeId;
use crate::world::network::LinkGeneration;
use groundhog_engine::flaws::{Flaw, Flaws};
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
    /// The first connection of each peer, kept by no node but a flawed one.
    first: BTreeMap<NodeId, Arc<Link>>,
}

impl Connections {
    /// The slot of a connection, and the connection itself where it `stands`. A peer's new connection retires the one
    /// before it.
    pub fn of(
        &self,
        streams: &Streams,
        peer: (NodeId, Did),
        (generation, stands): (LinkGeneration, bool),
        flaws: Flaws,
    ) -> (SlotIndex, Option<Arc<Link>>) {
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let slot = slots.slot_of(streams, peer, generation);
        let newest = slots.leases.get(&peer.0).filter(|(newest, _)| *newest == generation && stands);
        let link = newest.map(|(_, lease)| Arc::clone(lease.link()));
        if flaws.has(Flaw::VolatileWindowOutlivesLink)
            && let Some(link) = &link
        {
            let first = slots.first.entry(peer.0).or_insert_with(|| Arc::clone(link));
            return (slot, Some(Arc::clone(first)));
        }
        (slot, link)
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
