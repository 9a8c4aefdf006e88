//! The connection slots of one life: each connection has one from when it is admitted until it is retired.
//!
//! Promise: what a connection delivered is charged to its slot, also where it is admitted after the connection has closed.

use crate::units::NodeId;
use crate::world::network::LinkGeneration;
use crate::world::reconnect::{ConnectionChange, ConnectionStep};
use groundhog_engine::flaws::{Flaw, Flaws};
use groundhog_engine::identity::Did;
use groundhog_engine::streams::Streams;
use groundhog_engine::streams::link_local::Link;
use groundhog_engine::streams::slots::{SlotIndex, SlotLease};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

/// See the module.
#[derive(Debug, Default)]
pub struct Connections(Mutex<Slots>);

#[derive(Debug, Default)]
struct Slots {
    /// The connection of each peer that has one.
    leases: BTreeMap<NodeId, (LinkGeneration, SlotLease)>,
    /// The slot of every connection of this life.
    of: BTreeMap<(NodeId, LinkGeneration), SlotIndex>,
    /// The first connection of each peer, kept by no node but a flawed one.
    first: BTreeMap<NodeId, Arc<Link>>,
}

/// A slot that was given to a connection, or freed by it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Slotted {
    /// The other end of the connection.
    pub peer: NodeId,
    /// The slot.
    pub slot: SlotIndex,
    /// What became of the connection.
    pub step: ConnectionStep,
}

impl Connections {
    /// Takes in what happened to connections, in order; says what that did to slots.
    pub fn settle(
        &self,
        streams: &Streams,
        changes: impl IntoIterator<Item = (ConnectionChange, Did)>,
    ) -> Vec<Slotted> {
        let mut slots = self.locked();
        changes.into_iter().filter_map(|(change, did)| slots.change(streams, change, did)).collect()
    }

    /// The slot of a connection, and the connection itself unless it has ended.
    pub fn of(
        &self,
        peer: NodeId,
        generation: LinkGeneration,
        flaws: Flaws,
    ) -> (SlotIndex, Option<Arc<Link>>) {
        let mut slots = self.locked();
        let slot = *slots.of.get(&(peer, generation)).expect("a connection is admitted before it delivers");
        let standing = slots.leases.get(&peer).filter(|(standing, _)| *standing == generation);
        let link = standing.map(|(_, lease)| Arc::clone(lease.link()));
        if flaws.has(Flaw::VolatileWindowOutlivesLink)
            && let Some(link) = &link
        {
            let first = slots.first.entry(peer).or_insert_with(|| Arc::clone(link));
            return (slot, Some(Arc::clone(first)));
        }
        (slot, link)
    }

    /// No panic can happen while this lock is held but one of the engine's.
    fn locked(&self) -> MutexGuard<'_, Slots> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Slots {
    fn change(&mut self, streams: &Streams, change: ConnectionChange, did: Did) -> Option<Slotted> {
        let ConnectionChange { peer, generation, step } = change;
        if step != ConnectionStep::Admitted {
            let (_, lease) = self.leases.remove(&peer)?;
            return Some(Slotted { peer, slot: lease.slot(), step });
        }
        let lease = streams.connected(did).expect("no node is connected to more peers than it has slots");
        let slot = lease.slot();
        self.leases.insert(peer, (generation, lease));
        self.of.insert((peer, generation), slot);
        Some(Slotted { peer, slot, step })
    }
}
