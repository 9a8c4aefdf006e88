//! Events and plans for tests: at least one event of every kind, and for every field one that differs in it alone.

mod engine;
mod links;
mod machine;
mod messages;

use super::doer::Task;
use super::event::{Answer, Event, LossCause, MailGone, MailStep, Passage, Transaction};
use super::link_event::LinkEvent;
use crate::laws::{RecordImage, StoreUse, View};
use crate::plan::{
    Act, Action, Burst, ClockPlan, Costs, Crypto, Death, DiskLatency, DiskOperation, DiskProfile, Engines,
    Fault, FaultKind, LinkPlan, NodePlan, Plan, Profile, When,
};
use crate::units::{ActionId, FaultId, FrameNumber, Life, MessageId, NodeId};
use engine::engine;
use groundhog_engine::host::disk::DiskErrorKind;
use groundhog_engine::host::observe::{
    BatchNumber, CustodyChange, CustodyStall, Decision, EngineEvent, RecordName, Roles, Step,
    TransitionNumber,
};
use groundhog_engine::identity::Did;
use groundhog_engine::streams::TableUse;
use groundhog_engine::streams::key::{Class, NetworkId, StreamKey, Table};
use groundhog_engine::streams::quota::{MessageLimit, QuotaCharge};
use groundhog_engine::streams::record::Introducer;
use groundhog_engine::streams::slots::CapacityBound;
use groundhog_engine::streams::window::VerdictKind;
use groundhog_engine::units::{MonotonicNs, Sequence, WallMs};
use links::link_events;
use machine::{machine, ring};
use messages::{admission, journey};

/// A plan of `nodes` nodes in which node 0 sends `messages` messages to node 1, with these faults, of 24 s.
pub fn plan(nodes: u16, messages: u32, faults: Vec<FaultKind>) -> Plan {
    let burst = Burst { count: messages, every_us: 1_000, ..Burst::one(NodeId(1), Class::Application) };
    let fault = |(id, kind)| Fault { id: FaultId(id), at: When::Time { us: 1 }, until_us: None, kind };
    Plan {
        format: crate::plan::FORMAT,
        groundhog: String::new(),
        scenario: "crash-mid-batch".into(),
        seed: 1,
        schedule_seed: 1,
        flaws: vec![],
        crypto: Crypto::KeyedHash,
        profile: Profile {
            disk: DiskProfile::Strict,
            disk_latency: DiskLatency {
                metadata_ns: 1,
                transfer_ns: 1,
                flush_ns: 1,
                flush_directory_ns: 1,
                jitter_per_mille: 0,
            },
            costs: Costs {
                signature_ns: 1,
                verification_ns: 1,
                hash_kib_ns: 1,
                code_kib_ns: 1,
                handler_ns: 1,
            },
            disk_capacity_bytes: 0,
            disk_ignores_case: false,
        },
        engines: Engines {
            network_id: 7,
            stream_capacity: 100,
            store_budget_bytes: 1_000_000,
            delegation_lifetime_ms: 1,
            transaction_lifetime_ms: 1,
            clock_tolerance_ms: 1,
            quota: None,
            slots: None,
            links: Default::default(),
            mail: None,
        },
        nodes: (0..nodes)
            .map(|id| NodePlan { id: NodeId(id), cores: 1, clock: ClockPlan::default() })
            .collect(),
        links: Vec::<LinkPlan>::new(),
        actions: vec![Action { id: ActionId(3), at_us: 0, node: NodeId(0), act: Act::Send(burst) }],
        faults: (0..).zip(faults).map(fault).collect(),
        quiesce_us: 12_000_000,
        end_us: 24_000_000,
        limits: Default::default(),
        swarm: Default::default(),
        ring: None,
    }
}

/// A message of [`plan`].
pub const fn message(ordinal: u32) -> MessageId {
    MessageId { action: ActionId(3), ordinal }
}

/// A store of which every file is whole, of one generation, and of one size.
pub struct Store {
    pub generation: u64,
    pub bytes: u64,
    pub records: u64,
}

/// A store without a file.
pub const EMPTY: Store = Store { generation: 0, bytes: 0, records: 0 };

impl View for Store {
    fn surviving_generations(&self, _: NodeId, _: RecordName, into: &mut Vec<Option<u64>>) {
        into.push(Some(self.generation));
    }
    fn surviving_images(&self, node: NodeId, record: RecordName) -> Vec<RecordImage> {
        vec![self.visible_image(node, record)]
    }
    fn visible_image(&self, _: NodeId, _: RecordName) -> RecordImage {
        RecordImage::Whole { generation: self.generation, value: bytes::Bytes::new() }
    }
    fn visible_records(&self, _: NodeId) -> Vec<(RecordName, bool)> {
        vec![]
    }
    fn visible_orphan_markers(&self, _: NodeId) -> Vec<RecordName> {
        vec![]
    }
    fn store_use(&self, node: NodeId) -> StoreUse {
        // Each node holds a little more than the one before it.
        StoreUse { bytes: self.bytes + u64::from(node.0), records: self.records + u64::from(node.0) }
    }
    fn counters(&self, _: NodeId) -> Option<groundhog_engine::streams::Counters> {
        None
    }
}

pub const fn stream(network: u32, origin: u8, destination: u8, class: Class) -> StreamKey {
    StreamKey {
        network_id: NetworkId(network),
        origin: Did([origin; 20]),
        destination: Did([destination; 20]),
        class,
    }
}

pub const STREAM: StreamKey = stream(7, 1, 2, Class::Application);
pub const TRANSACTION: Transaction =
    Transaction { stream: STREAM, sequence: Sequence(41), digest: [9; 32], expires: WallMs(5) };
pub const RECORD: RecordName = RecordName([5; 20]);
pub const OTHER_RECORD: RecordName = RecordName([6; 20]);
const N: NodeId = NodeId(3);
const N2: NodeId = NodeId(u16::MAX);
const L: Life = Life(1);
const L2: Life = Life(u32::MAX);
const M: Option<MessageId> = Some(message(4));
const M2: Option<MessageId> = Some(MessageId { action: ActionId(u32::MAX), ordinal: u32::MAX });
const M3: Option<MessageId> = Some(MessageId { action: ActionId(0), ordinal: 0 });
const P: Passage = Passage { honest: true, copy: 0, link: None };
const P2: Passage = Passage { honest: false, copy: 0, link: None };
const P3: Passage = Passage { honest: true, copy: u32::MAX, link: None };
const B: BatchNumber = BatchNumber(5);
const B2: BatchNumber = BatchNumber(u64::MAX);
const ONE: Roles = Roles { leases: 1, windows: 0 };
const MANY: Roles = Roles { leases: u32::MAX, windows: u32::MAX };

/// A slot is given by a lease alone, or found in a record.
static SLOTS: std::sync::LazyLock<[Introducer; 2]> = std::sync::LazyLock::new(|| [0, u16::MAX].map(slot));

fn slot_of(index: u16) -> groundhog_engine::streams::slots::SlotIndex {
    serde_json::from_value(index.into()).unwrap()
}

fn slot(index: u16) -> Introducer {
    Introducer::Slot(serde_json::from_value(index.into()).unwrap())
}

static OTHERS: [Transaction; 6] = [
    Transaction { stream: stream(8, 1, 2, Class::Application), ..TRANSACTION },
    Transaction { stream: stream(7, 3, 2, Class::Application), ..TRANSACTION },
    Transaction { stream: stream(7, 1, 3, Class::Application), ..TRANSACTION },
    Transaction { stream: stream(7, 1, 2, Class::Control), ..TRANSACTION },
    Transaction { sequence: Sequence(u64::MAX), ..TRANSACTION },
    Transaction { digest: [8; 32], ..TRANSACTION },
];

/// Events that all differ; of each field at least one event differs from another in that field alone.
pub fn distinct() -> Vec<Event<'static>> {
    let mut all = machine();
    all.extend(journey());
    all.extend(admission());
    all.extend(engine().into_iter().flat_map(|event| {
        [(N, L), (N2, L), (N, L2)].map(|(node, life)| Event::Engine { node, life, event })
    }));
    all.extend(ring());
    all.extend([(N, N2), (N2, N2), (N, N)].map(|(node, of)| Event::SecondRuntime { node, of }));
    all
}
