//! Nodes without engines: their messages go straight to the network, to measure the network alone.
//!
//! Promise: links, heap, driver and ledger do for such a frame what they do for any other; there is no lane, no credit, no
//! signature, no task and no disk behind it.

use super::World;
use super::lives::Status;
use super::network::{Outgoing, Tag};
use crate::plan::{Burst, FrameName};
use crate::units::NodeId;
use bytes::Bytes;

/// What the nodes of a world run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Program {
    /// Their engines, as a real node does.
    Engines,
    /// Nothing: what a burst of the plan sends is handed to the network as it is, and is done with once delivered.
    TransportAlone,
}

/// The longest message that is sent without engines.
const ZEROS: &[u8] = &[0; 65_536];

impl World {
    /// A node without engines is ready as soon as it boots.
    pub(super) fn boot_transport(&mut self, node: NodeId) {
        let life = self.nodes[node.index()].life;
        self.node(node).status = Status::Opening;
        self.ready(node, life, None);
    }

    /// Hands the `ordinal`-th message of a burst to the network.
    pub(super) fn send_alone(&mut self, from: NodeId, burst: &Burst, ordinal: u32) {
        let (to, class) = (burst.to, burst.class);
        let Some(connection) = self.connection(from, to) else { return };
        let length = usize::try_from(burst.bytes).map_or(ZEROS.len(), |bytes| bytes.min(ZEROS.len()));
        let now = self.now();
        self.send(Outgoing {
            from,
            to,
            class,
            channel: u8::try_from(class.index()).expect("four classes") % connection.channels,
            generation: connection.generation,
            message: None,
            name: FrameName { origin: from, destination: to, class, sequence: ordinal.into(), copy: 0 },
            replay: None,
            tag: Tag { transfer: None, intended: now, sent: now, ends: true, ..Tag::default() },
            bytes: Bytes::from_static(&ZEROS[..length]),
        });
    }
}
