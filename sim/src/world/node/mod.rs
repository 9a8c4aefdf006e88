//! The program of a simulated node: it opens its engines, signs what the workload asks for, and admits what arrives.
//!
//! Promise: it does what a real node's daemon does around the same engines, in the same order: reserve, sign, push; and
//! decode, verify, admit, dispatch, give credit back.

mod identity;
mod lane;
mod sender;

pub use identity::Identity;

use super::machine::SimMachine;
use super::{Shared, World};
use crate::units::{Life, NodeId};
use groundhog_engine::flaws::{Flaw, Flaws};
use groundhog_engine::host::Host;
use groundhog_engine::host::disk::DiskPath;
use groundhog_engine::identity::{Crypto, Did};
use groundhog_engine::streams::key::{Class, NetworkId};
use groundhog_engine::streams::verify::Verifier;
use groundhog_engine::streams::{Streams, StreamsConfig};
use std::sync::{Arc, Mutex};
use std::task::Poll;

/// The directory that exists on a node's disk before its first boot; the engine makes its own below it.
pub const DATA_DIRECTORY: &str = "data";

/// The store's directory. Its parent does not exist before the first boot, so that its ancestors need flushing.
#[must_use]
pub fn store_root() -> DiskPath {
    DiskPath::new(DATA_DIRECTORY).join("node").join("transaction-replay")
}

/// What every task of one life works with.
pub struct LifeContext {
    shared: Shared,
    host: Host,
    machine: SimMachine,
    streams: Streams,
    verifier: Mutex<Verifier>,
    node: NodeId,
    life: Life,
    did: Did,
    network_id: NetworkId,
    crypto: Crypto,
    lifetime_ms: u64,
    handler_ns: u64,
}

/// The engine's flaws, by the ids that a plan names.
///
/// # Panics
/// When an id is unknown: plans are validated when they are read.
#[must_use]
pub fn flaws_of(ids: &[String]) -> Flaws {
    ids.iter().fold(Flaws::NONE, |flaws, id| {
        flaws.with(Flaw::from_id(id).unwrap_or_else(|| panic!("no flaw is called {id:?}")))
    })
}

impl World {
    fn streams_config(&self, node: NodeId) -> StreamsConfig {
        let engines = &self.plan.engines;
        StreamsConfig {
            network_id: NetworkId(engines.network_id),
            account: self.nodes[node.index()].identity.did(),
            stream_capacity: engines.stream_capacity,
            store_budget_bytes: engines.store_budget_bytes,
            flaws: self.flaws,
        }
    }

    fn crypto(&self) -> Crypto {
        match self.plan.crypto {
            crate::plan::Crypto::Ed25519 => Crypto::Ed25519,
            crate::plan::Crypto::KeyedHash => Crypto::KeyedHash,
        }
    }
}

/// One life, from boot to death.
pub async fn live(shared: Shared, host: Host, machine: SimMachine, node: NodeId, life: Life) {
    let config = shared.with(|world| world.streams_config(node));
    let streams = match Streams::open(host.clone(), store_root(), config).await {
        Ok(streams) => streams,
        Err(error) => {
            shared.with(|world| world.open_failed(node, life, error.id()));
            return;
        }
    };
    let context = Arc::new(shared.with(|world| {
        let network_id = NetworkId(world.plan.engines.network_id);
        LifeContext {
            shared: shared.clone(),
            host,
            machine,
            streams,
            verifier: Mutex::new(Verifier::new(network_id, world.crypto(), world.flaws)),
            node,
            life,
            did: world.nodes[node.index()].identity.did(),
            network_id,
            crypto: world.crypto(),
            lifetime_ms: world.plan.engines.transaction_lifetime_ms,
            handler_ns: world.plan.profile.costs.handler_ns,
        }
    }));
    for class in Class::ALL {
        context.machine.start(Box::pin(sender::run(Arc::clone(&context), class)));
    }
    shared.with(|world| world.ready(node, life));
    loop {
        let (peer, class) = std::future::poll_fn(|task| {
            let opened = shared.with(|world| world.take_new_lane(node, life, task.waker()));
            opened.map_or(Poll::Pending, Poll::Ready)
        })
        .await;
        context.machine.start(Box::pin(lane::run(Arc::clone(&context), peer, class)));
    }
}
