//! What one event costs the ledger: fingerprint, figures and marks, without laws.

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use groundhog_engine::host::observe::{
    BatchNumber, Decision, EngineEvent, RecordName, Roles, Step, TransitionNumber,
};
use groundhog_engine::identity::Did;
use groundhog_engine::streams::Counters;
use groundhog_engine::streams::key::{Class, NetworkId, StreamKey, Table};
use groundhog_engine::streams::window::VerdictKind;
use groundhog_engine::units::{Sequence, WallMs};
use groundhog_sim::laws::{RecordImage, StoreUse, View};
use groundhog_sim::ledger::event::{Answer, Event, Passage, Transaction};
use groundhog_sim::ledger::fingerprint::Fingerprint;
use groundhog_sim::ledger::{Ledger, LedgerOptions};
use groundhog_sim::plan::{
    Act, Action, Burst, ClockPlan, Costs, Crypto, DiskLatency, DiskOperation, DiskProfile, Engines, NodePlan,
    Plan, Profile,
};
use groundhog_sim::units::{ActionId, FrameNumber, Life, MessageId, NodeId, SimTime};
use std::hint::black_box;

/// Messages in one round; each makes the events of one durable admission.
const MESSAGES: u32 = 10_000;

struct NoDisk;

impl View for NoDisk {
    fn surviving_generations(&self, _: NodeId, _: RecordName, _: &mut Vec<Option<u64>>) {}
    fn surviving_images(&self, _: NodeId, _: RecordName) -> Vec<RecordImage> {
        vec![]
    }
    fn visible_image(&self, _: NodeId, _: RecordName) -> RecordImage {
        RecordImage::Absent
    }
    fn visible_records(&self, _: NodeId) -> Vec<(RecordName, bool)> {
        vec![]
    }
    fn visible_orphan_markers(&self, _: NodeId) -> Vec<RecordName> {
        vec![]
    }
    fn store_use(&self, _: NodeId) -> StoreUse {
        StoreUse::default()
    }
    fn counters(&self, _: NodeId) -> Option<Counters> {
        None
    }
}

fn plan() -> Plan {
    let burst = Burst { count: MESSAGES, every_us: 10, ..Burst::one(NodeId(1), Class::Application) };
    let latency = DiskLatency {
        metadata_ns: 1,
        transfer_ns: 1,
        flush_ns: 1,
        flush_directory_ns: 1,
        jitter_per_mille: 0,
    };
    let node = |id| NodePlan { id: NodeId(id), cores: 1, clock: ClockPlan::default() };
    Plan {
        format: groundhog_sim::plan::FORMAT,
        groundhog: String::new(),
        scenario: String::new(),
        seed: 1,
        schedule_seed: 1,
        flaws: vec![],
        crypto: Crypto::KeyedHash,
        profile: Profile {
            disk: DiskProfile::Strict,
            disk_latency: latency,
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
            network_id: 1,
            stream_capacity: 16_384,
            store_budget_bytes: 40 << 20,
            delegation_lifetime_ms: 1,
            transaction_lifetime_ms: 1,
            clock_tolerance_ms: 1,
            quota: None,
            slots: None,
            links: Default::default(),
            mail: None,
        },
        nodes: (0..32).map(node).collect(),
        links: vec![],
        actions: vec![Action { id: ActionId(0), at_us: 0, node: NodeId(0), act: Act::Send(burst) }],
        faults: vec![],
        quiesce_us: 1,
        end_us: 10_000_000,
        limits: Default::default(),
        swarm: Default::default(),
        ring: None,
    }
}

/// The events of one durable admission, whole path; returns how many.
fn admission(ordinal: u32, record: &mut impl FnMut(SimTime, &Event<'_>)) -> u64 {
    let (node, to, life, class) = (NodeId(0), NodeId(1), Life(0), Class::Application);
    let id = MessageId { action: ActionId(0), ordinal };
    let message = Some(id);
    let at = SimTime(u64::from(ordinal) * 10_000);
    let stream =
        StreamKey { network_id: NetworkId(1), origin: Did([1; 20]), destination: Did([2; 20]), class };
    let transaction = &Transaction {
        stream,
        sequence: Sequence(u64::from(ordinal)),
        digest: [ordinal as u8; 32],
        expires: WallMs(u64::MAX),
    };
    let (frame, batch, transition) = (
        FrameNumber(u64::from(ordinal)),
        BatchNumber(u64::from(ordinal)),
        TransitionNumber(u64::from(ordinal)),
    );
    let name = RecordName([7; 20]);
    let (records, depends) = ([(name, Some(1_100))], [(name, batch)]);
    let verdict = VerdictKind::Advance;
    let passage = Passage { honest: true, copy: 0, link: None };
    let engine = |event| Event::Engine { node: to, life, event };
    let step = |step| engine(EngineEvent::Step { step, batch, roles: Roles::one(Table::Receiver) });
    let disk = |number, operation| Event::DiskAnswered {
        node: to,
        life,
        number: u64::from(ordinal) * 4 + number,
        operation,
        bytes: 1_100,
        error: None,
        injected: false,
    };
    let decision = Decision::Verdict { verdict, sequence: transaction.sequence, digest: transaction.digest };
    let events = [
        Event::Intended { message: id, node, to, class },
        Event::ReserveAnswered { message: id, node, life, answer: Some(transaction.sequence), refusal: None },
        Event::Exposed { message: id, node, life, transaction },
        Event::FrameSent { frame, message, copy: 0, from: node, to, class, channel: 0, bytes: 400 },
        Event::FrameDelivered { frame, message, to, duplicate: false },
        Event::Arrived {
            message,
            node: to,
            life,
            wall: WallMs(1_700_000_000_000),
            transaction,
            passage,
            introducer: groundhog_engine::streams::record::Introducer::Inbox,
        },
        engine(EngineEvent::Transition {
            transition,
            stream: &transaction.stream,
            table: Table::Receiver,
            record: name,
            decision,
            staged: Some(batch),
        }),
        step(Step::Gathering),
        engine(EngineEvent::BatchClosed { batch, records: &records, transitions: 1 }),
        disk(0, DiskOperation::Create),
        disk(1, DiskOperation::Write),
        disk(2, DiskOperation::Flush),
        step(Step::TemporaryFlushed),
        step(Step::Renamed),
        disk(3, DiskOperation::FlushDirectory),
        step(Step::DirectoryFlushed),
        step(Step::BeforeRelease),
        engine(EngineEvent::BatchDurable { batch }),
        engine(EngineEvent::Released { transition, depends: &depends }),
        Event::Answered {
            message,
            node: to,
            life,
            transaction,
            record: name,
            passage,
            answer: Answer::Verdict(verdict),
        },
        Event::Dispatched { message, node: to, life, transaction, verdict, intended_ns: at.0, sent_ns: at.0 },
        Event::Handled { message, node: to, life, class },
    ];
    for event in &events {
        record(at, black_box(event));
    }
    events.len() as u64
}

fn ledger(c: &mut Criterion) {
    let plan = plan();
    let events = admission(0, &mut |_, _| {}) * u64::from(MESSAGES);
    let mut group = c.benchmark_group("ledger");
    group.throughput(Throughput::Elements(events)).sample_size(20);
    group.bench_function("fingerprint alone, an event", |b| {
        b.iter(|| {
            let mut fingerprint = Fingerprint::default();
            for ordinal in 0..MESSAGES {
                admission(ordinal, &mut |at, event| fingerprint.record(at, event));
            }
            fingerprint.finish()
        });
    });
    group.bench_function("record without laws, an event", |b| {
        b.iter(|| {
            let mut ledger = Ledger::new(&plan, vec![], LedgerOptions::default());
            for ordinal in 0..MESSAGES {
                admission(ordinal, &mut |at, event| ledger.record(at, event, &NoDisk));
            }
            ledger.finish(SimTime(1), &NoDisk)
        });
    });
    group.finish();
}

criterion_group!(benches, ledger);
criterion_main!(benches);
