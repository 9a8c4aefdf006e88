//! The program of a simulated node: it opens its engines, signs what the workload asks for, and admits what arrives.
//!
//! Promise: it does what a real node's daemon does around the same engines, in the same order: reserve, sign, push; and
//! decode, verify, admit, dispatch, give credit back.

mod chunks;
mod connections;
mod identity;
mod lane;
mod mail;
mod namespace;
mod sender;
mod settling;

use connections::Connections;
pub use identity::{Identity, account};
use namespace::Application;

use super::disk::{Disk, DiskConfig};
use super::machine::SimMachine;
use super::plants::Planted;
use super::{Shared, World};
use crate::ledger::doer::Task;
use crate::plan::{ChunksPlan, Plan};
use crate::units::{Life, NodeId};
use groundhog_engine::flaws::{Flaw, Flaws};
use groundhog_engine::host::Host;
use groundhog_engine::host::disk::DiskPath;
use groundhog_engine::identity::Did;
use groundhog_engine::identity::signing::Crypto;
use groundhog_engine::store::frame;
use groundhog_engine::store::name::FileName;
use groundhog_engine::streams::chunks::Reassembly;
use groundhog_engine::streams::key::{Class, NetworkId};
use groundhog_engine::streams::verify::Verifier;
use groundhog_engine::streams::{OpenError, Storage, Streams, StreamsConfig};
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
    connections: Connections,
    verifier: Mutex<Verifier>,
    node: NodeId,
    life: Life,
    did: Did,
    network_id: NetworkId,
    crypto: Crypto,
    lifetime_ms: u64,
    handler_ns: u64,
    planted: Option<Arc<Planted>>,
    /// The namespace that looks after its own replays, where the plan declares it.
    application: Option<Application>,
    flaws: Flaws,
    chunks: Option<ChunksPlan>,
    reassembly: Mutex<Reassembly>,
}

impl LifeContext {
    /// Whether a transaction with this data is one of the namespace's.
    fn owns(&self, data: &[u8]) -> bool {
        self.application.as_ref().is_some_and(|application| application.owns(data))
    }
}

/// The engine's flaws, by the ids that a plan names.
///
/// # Errors
/// Says which id no flaw has.
pub fn flaws_of(ids: &[String]) -> Result<Flaws, String> {
    ids.iter().try_fold(Flaws::NONE, |flaws, id| {
        Flaw::from_id(id).map(|flaw| flaws.with(flaw)).ok_or_else(|| format!("no flaw is called {id:?}"))
    })
}

/// How a plan's nodes sign.
pub const fn crypto_of(plan: &Plan) -> Crypto {
    match plan.crypto {
        crate::plan::Crypto::Ed25519 => Crypto::Ed25519,
        crate::plan::Crypto::KeyedHash => Crypto::KeyedHash,
    }
}

impl World {
    fn streams_config(&self, node: NodeId) -> StreamsConfig {
        let engines = &self.plan.engines;
        let budget_bytes = self.nodes[node.index()].budget_bytes;
        StreamsConfig {
            network_id: NetworkId(engines.network_id),
            account: self.nodes[node.index()].identity.did(),
            crypto: crypto_of(&self.plan),
            storage: Storage::Authoritative {
                capacity_bytes: budget_bytes.unwrap_or(engines.store_budget_bytes),
            },
            capacity: engines.stream_capacity as usize,
            quota: engines.quota.map(|quota| quota.config().expect("a checked plan has no limit of zero")),
            slots: engines.slot_bounds(),
            flaws: self.flaws,
        }
    }
}

/// One life, from boot to death.
pub async fn live(shared: Shared, host: Host, machine: SimMachine, node: NodeId, life: Life) {
    let config = shared.with(|world| world.streams_config(node));
    let streams = match Streams::open(&host, store_root(), config).await {
        Ok(streams) => streams,
        Err(error) => {
            shared.with(|world| world.open_failed(node, life, open_reason(&error)));
            return;
        }
    };
    let (streams, application) = match declared(&shared, &host, streams).await {
        Ok(opened) => opened,
        Err(reason) => {
            shared.with(|world| world.open_failed(node, life, reason));
            return;
        }
    };
    let context = Arc::new(shared.with(|world| {
        world.node(node).epoch = application.as_ref().map(Application::epoch);
        let network_id = NetworkId(world.plan.engines.network_id);
        LifeContext {
            shared: shared.clone(),
            host,
            machine,
            streams,
            connections: Connections::default(),
            verifier: Mutex::new(Verifier::new(network_id, crypto_of(&world.plan), world.flaws)),
            node,
            life,
            did: world.nodes[node.index()].identity.did(),
            network_id,
            crypto: crypto_of(&world.plan),
            lifetime_ms: world.plan.engines.transaction_lifetime_ms,
            handler_ns: world.plan.profile.costs.handler_ns,
            planted: world.planted.clone(),
            application,
            flaws: world.flaws,
            chunks: world.plan.engines.links.chunks,
            reassembly: Mutex::new(chunks::reassembly(&world.plan)),
        }
    }));
    for class in Class::ALL {
        context.machine.start(Task::Sender(class), Box::pin(sender::run(Arc::clone(&context), class)));
    }
    if let Some(mail) = shared.with(|world| world.plan.engines.mail) {
        let drains = mail::drain(Arc::clone(&context), mail.drain_every_us);
        context.machine.start(Task::Mail("drain"), Box::pin(drains));
        context.machine.start(Task::Mail("taker"), Box::pin(mail::take(Arc::clone(&context))));
    }
    if shared.with(|world| world.plan.ring.is_some()) {
        context.machine.start(Task::Connections, Box::pin(settling::at_once(Arc::clone(&context))));
    }
    shared.with(|world| world.ready(node, life, Some(context.streams.watch_counters())));
    loop {
        let (peer, class) = std::future::poll_fn(|task| {
            let opened = shared.with(|world| world.take_new_lane(node, life, task.waker()));
            opened.map_or(Poll::Pending, Poll::Ready)
        })
        .await;
        let reader = Task::Reader { peer, class };
        context.machine.start(reader, Box::pin(lane::run(Arc::clone(&context), peer, class)));
    }
}

/// The streams with the plan's namespace declared, and the namespace in this life; or why the node does not open.
async fn declared(
    shared: &Shared,
    host: &Host,
    streams: Streams,
) -> Result<(Streams, Option<Application>), &'static str> {
    let (namespace, forgets) = shared
        .with(|world| (world.plan.engines.links.namespace, world.flaws.has(Flaw::NamespaceForgetsAtRestart)));
    let Some(namespace) = namespace else { return Ok((streams, None)) };
    let number = if forgets { 1 } else { namespace::next_life(host).await.map_err(|_| "disk")? };
    let opened = Application::declared(namespace.delegates_message_limit)
        .and_then(|declared| Ok((streams.declaring(declared), Some(Application::open(number)?))));
    opened.map_err(|_| "namespace")
}

/// A node's disk before its first boot.
pub fn new_disk(plan: &Plan) -> Disk {
    let capacity = plan.profile.disk_capacity_bytes;
    let mut disk = Disk::new(DiskConfig {
        profile: plan.profile.disk,
        capacity_bytes: (capacity > 0).then_some(capacity),
        directories: vec![DiskPath::new(DATA_DIRECTORY)],
        tag: |bytes| frame::generation(bytes).ok().map(|generation| generation.0),
    });
    disk.count_files(store_root(), |name| matches!(FileName::parse(name), FileName::Record(_)));
    if plan.profile.disk_ignores_case {
        disk.ignore_case();
    }
    disk
}

/// The name of a failed open in kebab case.
fn open_reason(error: &OpenError) -> &'static str {
    match error {
        OpenError::Unscheduled(_) => "unscheduled",
        OpenError::Store(error) => error.id(),
    }
}
