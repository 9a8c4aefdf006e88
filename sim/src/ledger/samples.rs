//! Events and plans for tests: at least one event of every kind, and for every field one that differs in it alone.

use super::doer::Task;
use super::event::{Answer, Event, LossCause, MailGone, MailStep, Passage, Transaction};
use super::link_event::LinkEvent;
use crate::laws::{RecordImage, StoreUse, View};
use crate::plan::{
    Act, Action, Burst, ClockPlan, Costs, Crypto, Death, DiskLatency, DiskOperation, DiskProfile, Engines,
    Fault, FaultKind, LinkPlan, NodePlan, Plan, Profile, When,
};
use crate::units::{ActionId, FaultId, FrameNumber, Life, MessageId, NodeId};
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

/// A plan of `nodes` nodes in which node 0 sends `messages` messages to node 1, with these faults, of 24 s.
pub fn plan(nodes: u16, messages: u32, faults: Vec<FaultKind>) -> Plan {
    let burst = Burst {
        to: NodeId(1),
        via: None,
        route: Default::default(),
        class: Class::Application,
        count: messages,
        every_us: 1_000,
        bytes: 64,
        copies: 1,
        copy_every_us: 0,
        cancel_reserve_every: 0,
        cancel_admit_every: 0,
        cancel_after_us: 0,
        envelopes: 0,
    };
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

#[rustfmt::skip]
fn ring() -> Vec<Event<'static>> {
    let routed = |message, node, next, hops, stale| Event::Routed { message, node, next, hops, stale };
    vec![
        Event::Joined { node: N }, Event::Joined { node: N2 },
        Event::Left { node: N, life: L, hand_off: true }, Event::Left { node: N2, life: L, hand_off: true },
        Event::Left { node: N, life: L2, hand_off: true }, Event::Left { node: N, life: L, hand_off: false },
        routed(Some(message(4)), N, N2, 1, false), routed(None, N, N2, 1, false), routed(Some(message(4)), N2, N2, 1, false),
        routed(Some(message(4)), N, N, 1, false), routed(Some(message(4)), N, N2, 64, false), routed(Some(message(4)), N, N2, 1, true),
        Event::HandedOff { from: N, to: N2, mails: 0 }, Event::HandedOff { from: N2, to: N2, mails: 0 },
        Event::HandedOff { from: N, to: N, mails: 0 }, Event::HandedOff { from: N, to: N2, mails: 3 },
    ]
}

#[rustfmt::skip]
fn machine() -> Vec<Event<'static>> {
    let died = |node, life, death, during, gathering, fault| Event::Died { node, life, death, during, gathering, fault };
    let disk = |node, life, number, operation, bytes, error, injected| {
        Event::DiskAnswered { node, life, number, operation, bytes, error, injected }
    };
    let renamed = Some((Step::Renamed, B, ONE));
    let mut all = vec![
        Event::Booted { node: N, life: L, wall: WallMs(1) },
        Event::Booted { node: N2, life: L, wall: WallMs(1) },
        Event::Booted { node: N, life: L2, wall: WallMs(1) },
        Event::Booted { node: N, life: L, wall: WallMs(u64::MAX) },
        Event::Ready { node: N, life: L }, Event::Ready { node: N2, life: L }, Event::Ready { node: N, life: L2 },
        Event::OpenFailed { node: N, life: L, reason: "locked" },
        Event::OpenFailed { node: N, life: L, reason: "lock" },
        Event::OpenFailed { node: N2, life: L, reason: "locked" }, Event::OpenFailed { node: N, life: L2, reason: "locked" },
        died(N, L, Death::Process, None, false, None),
        died(N2, L, Death::Process, None, false, None),
        died(N, L2, Death::Process, None, false, None),
        died(N, L, Death::Power, None, false, None),
        died(N, L, Death::Process, renamed, false, None),
        died(N, L, Death::Process, Some((Step::Gathering, B, ONE)), false, None),
        died(N, L, Death::Process, Some((Step::Renamed, B2, ONE)), false, None),
        died(N, L, Death::Process, Some((Step::Renamed, B, MANY)), false, None),
        died(N, L, Death::Process, None, true, None),
        died(N, L, Death::Process, None, false, Some(FaultId(0))),
        died(N2, L2, Death::Power, Some((Step::OpenTemporaryRemoved, B2, MANY)), true, Some(FaultId(u32::MAX))),
        Event::PowerLost { node: N, kept: 1, lost: 2 }, Event::PowerLost { node: N2, kept: 1, lost: 2 },
        Event::PowerLost { node: N, kept: 2, lost: 2 }, Event::PowerLost { node: N, kept: 1, lost: 1 },
        Event::Panicked { node: N, life: L, message: "why" }, Event::Panicked { node: N2, life: L, message: "why" }, Event::Panicked { node: N, life: L2, message: "why" }, Event::Panicked { node: N, life: L, message: "else" },
        Event::ReplayMissed { node: N }, Event::ReplayMissed { node: N2 },
        Event::ClockSet { node: N, from: WallMs(9), to: WallMs(8) }, Event::ClockSet { node: N2, from: WallMs(9), to: WallMs(8) },
        Event::ClockSet { node: N, from: WallMs(8), to: WallMs(8) }, Event::ClockSet { node: N, from: WallMs(9), to: WallMs(9) },
        disk(N, L, 0, DiskOperation::Write, 512, None, false),
        disk(N2, L, 0, DiskOperation::Write, 512, None, false),
        disk(N, L2, 0, DiskOperation::Write, 512, None, false),
        disk(N, L, 1, DiskOperation::Write, 512, None, false),
        disk(N, L, 0, DiskOperation::Flush, 512, None, false),
        disk(N, L, 0, DiskOperation::Write, 0, None, false),
        disk(N, L, 0, DiskOperation::Write, 512, Some(DiskErrorKind::NotFound), false),
        disk(N, L, 0, DiskOperation::Write, 512, Some(DiskErrorKind::Io), false),
        disk(N, L, 0, DiskOperation::Write, 512, None, true),
        disk(N2, L2, u64::MAX, DiskOperation::CreateDirectory, u32::MAX, Some(DiskErrorKind::PermissionDenied), true),
        Event::FaultBegan { fault: FaultId(0) }, Event::FaultBegan { fault: FaultId(1) },
        Event::FaultEnded { fault: FaultId(0) }, Event::FaultEnded { fault: FaultId(1) },
        Event::Quiesced,
    ];
    all.extend(link_events());
    all.push(Event::Booted { node: N2, life: L2, wall: WallMs(u64::MAX) });
    let tasks = [
        Task::Open, Task::Sender(Class::Control), Task::Sender(Class::E2e), Task::Engine("commit-writer"), Task::Engine("commit"),
        Task::Reader { peer: N, class: Class::Control }, Task::Reader { peer: N2, class: Class::Control },
        Task::Reader { peer: N, class: Class::E2e },
    ];
    all.extend(tasks.map(|task| Event::ThreadStarted { node: N, life: L, task }));
    all.extend([(N2, L), (N, L2)].map(|(node, life)| Event::ThreadStarted { node, life, task: Task::Open }));
    all
}

#[rustfmt::skip]
fn journey() -> Vec<Event<'static>> {
    let reserve = |message: Option<MessageId>, node, life, answer, refusal| {
        Event::ReserveAnswered { message: message.expect("one"), node, life, answer, refusal }
    };
    let sent = |frame, message, copy, from, to, class, channel, bytes| {
        Event::FrameSent { frame: FrameNumber(frame), message, copy, from, to, class, channel, bytes }
    };
    let lost = |frame, message, cause| Event::FrameLost { frame: FrameNumber(frame), message, cause };
    let delivered = |frame, message, to, duplicate| Event::FrameDelivered { frame: FrameNumber(frame), message, to, duplicate };
    let mut all = vec![
        Event::Intended { message: message(0), node: N, to: N2, class: Class::E2e },
        Event::Intended { message: message(1), node: N, to: N2, class: Class::E2e },
        Event::Intended { message: message(0), node: N2, to: N2, class: Class::E2e },
        Event::Intended { message: message(0), node: N, to: N, class: Class::E2e },
        Event::Intended { message: message(0), node: N, to: N2, class: Class::Storage },
        Event::NotSent { message: message(0), node: N, cause: LossCause::CallerGone },
        Event::NotSent { message: message(1), node: N, cause: LossCause::CallerGone },
        Event::NotSent { message: message(0), node: N2, cause: LossCause::CallerGone },
        Event::NotSent { message: message(0), node: N, cause: LossCause::LaneFull },
        reserve(M, N, L, Some(Sequence(0)), None), reserve(M2, N, L, Some(Sequence(0)), None),
        reserve(M, N2, L, Some(Sequence(0)), None), reserve(M, N, L2, Some(Sequence(0)), None),
        reserve(M, N, L, Some(Sequence(1)), None), reserve(M, N, L, None, None),
        reserve(M, N, L, None, Some("exhausted")), reserve(M, N, L, None, Some("unscheduled")),
        sent(0, M, 0, N, N2, Class::E2e, 0, 64), sent(1, M, 0, N, N2, Class::E2e, 0, 64),
        sent(0, None, 0, N, N2, Class::E2e, 0, 64), sent(0, M3, 0, N, N2, Class::E2e, 0, 64),
        sent(0, M, 1, N, N2, Class::E2e, 0, 64), sent(0, M, 0, N2, N2, Class::E2e, 0, 64),
        sent(0, M, 0, N, N, Class::E2e, 0, 64), sent(0, M, 0, N, N2, Class::Control, 0, 64),
        sent(0, M, 0, N, N2, Class::E2e, 1, 64), sent(0, M, 0, N, N2, Class::E2e, 0, 65),
        sent(u64::MAX, M2, u32::MAX, N2, N2, Class::Application, u8::MAX, u32::MAX),
        lost(0, M, LossCause::LinkLoss), lost(1, M, LossCause::LinkLoss), lost(0, None, LossCause::LinkLoss),
        lost(0, M, LossCause::Partition),
        delivered(0, M, N, false), delivered(1, M, N, false), delivered(0, None, N, false), delivered(0, M, N2, false),
        delivered(0, M, N, true), delivered(u64::MAX, M2, N2, true),
        Event::Relayed { message: M, node: N, life: L }, Event::Relayed { message: None, node: N, life: L },
        Event::ConnectionAdmitted { node: N, life: L, peer: N2, slot: slot_of(0) },
        Event::ConnectionAdmitted { node: N2, life: L, peer: N2, slot: slot_of(0) },
        Event::ConnectionAdmitted { node: N, life: L2, peer: N2, slot: slot_of(0) },
        Event::ConnectionAdmitted { node: N, life: L, peer: N, slot: slot_of(0) },
        Event::ConnectionAdmitted { node: N, life: L, peer: N2, slot: slot_of(1) },
        Event::ConnectionRetired { node: N, life: L, peer: N2, slot: slot_of(0), under_way: 0 },
        Event::ConnectionRetired { node: N, life: L, peer: N2, slot: slot_of(1), under_way: 0 },
        Event::ConnectionRetired { node: N, life: L, peer: N2, slot: slot_of(0), under_way: 2 },
        Event::Relayed { message: M, node: N2, life: L }, Event::Relayed { message: M, node: N, life: L2 },
    ];
    all.extend(transactions().map(|transaction| Event::Exposed { message: message(0), node: N, life: L, transaction }));
    all.push(Event::Exposed { message: message(1), node: N, life: L, transaction: &TRANSACTION });
    all
}

fn transactions() -> impl Iterator<Item = &'static Transaction> {
    std::iter::once(&TRANSACTION).chain(&OTHERS)
}

#[rustfmt::skip]
fn admission() -> Vec<Event<'static>> {
    let transaction = &TRANSACTION;
    let wall = WallMs(7);
    let arrived = |message, node, life, wall, passage| Event::Arrived { message, node, life, wall, transaction, passage, introducer: Introducer::Inbox };
    let answered = |message, node, life, record, passage, answer| {
        Event::Answered { message, node, life, transaction, record, passage, answer }
    };
    let first = Answer::Verdict(VerdictKind::First);
    let dispatched = |message, node, life, verdict, intended_ns, sent_ns| {
        Event::Dispatched { message, node, life, transaction, verdict, intended_ns, sent_ns }
    };
    let late = VerdictKind::Late;
    let mail = |message, node, life, step| Event::Mail { message, node, life, transaction, step };
    let mut all = vec![
        Event::Unverified { message: M, node: N, life: L, reason: "delegation-expired" },
        Event::Unverified { message: None, node: N, life: L, reason: "delegation-expired" },
        Event::Unverified { message: M, node: N2, life: L, reason: "delegation-expired" },
        Event::Unverified { message: M, node: N, life: L2, reason: "delegation-expired" },
        Event::Unverified { message: M, node: N, life: L, reason: "bad-signature" },
        arrived(None, N, L, wall, P), arrived(M, N2, L, wall, P), arrived(M, N, L2, wall, P), arrived(M, N, L, WallMs(8), P),
        arrived(M, N, L, wall, P2), arrived(M, N, L, wall, P3), arrived(M2, N2, L2, WallMs(u64::MAX), P3),
        answered(None, N, L, RECORD, P, first), answered(M, N2, L, RECORD, P, first), answered(M, N, L2, RECORD, P, first),
        answered(M, N, L, OTHER_RECORD, P, first), answered(M, N, L, RECORD, P2, first), answered(M, N, L, RECORD, P3, first),
        answered(M, N, L, RECORD, P, Answer::Verdict(VerdictKind::Stale)),
        answered(M, N, L, RECORD, P, Answer::Refused("stream-capacity-exceeded")),
        answered(M, N, L, RECORD, P, Answer::Refused("unscheduled")),
        answered(M, N, L, RECORD, P, Answer::FailedBatch), answered(M, N, L, RECORD, P, Answer::Unscheduled),
        dispatched(None, N, L, late, 1, 2), dispatched(M, N2, L, late, 1, 2), dispatched(M, N, L2, late, 1, 2),
        dispatched(M, N, L, VerdictKind::First, 1, 2), dispatched(M, N, L, late, 2, 2), dispatched(M, N, L, late, 1, 1),
        Event::AdmissionAbandoned { message: None, node: N, life: L, transaction },
        Event::Handled { message: M, node: N, life: L, class: Class::E2e },
        Event::Handled { message: None, node: N, life: L, class: Class::E2e },
        Event::Handled { message: M, node: N2, life: L, class: Class::E2e },
        Event::Handled { message: M, node: N, life: L2, class: Class::E2e },
        Event::Handled { message: M, node: N, life: L, class: Class::Control },
        mail(None, N, L, MailStep::Taken), mail(M, N, L, MailStep::Taken), mail(M, N2, L, MailStep::Taken),
        mail(M, N, L2, MailStep::Taken), mail(M, N, L, MailStep::Taking), mail(M, N, L, MailStep::Stored),
        mail(M, N, L, MailStep::Held { owner: N, copies: 3, asked: 3 }), mail(M, N, L, MailStep::Held { owner: N2, copies: 3, asked: 3 }),
        mail(M, N, L, MailStep::Held { owner: N, copies: 3, asked: 4 }),
        mail(M, N, L, MailStep::Held { owner: N, copies: 1, asked: 3 }), mail(M, N, L, MailStep::HoldRefused { reason: "no-room" }),
        mail(M, N, L, MailStep::HoldRefused { reason: "no-carrier" }), mail(M, N, L, MailStep::NotTaken { reason: "no-room" }),
        mail(M, N, L, MailStep::Gone { why: MailGone::Fetched }), mail(M, N, L, MailStep::Gone { why: MailGone::PushedOut }),
        mail(M, N, L, MailStep::Gone { why: MailGone::Expired }), mail(M, N, L, MailStep::Gone { why: MailGone::LostEverywhere }),
        mail(M, N, L, MailStep::Gone { why: MailGone::CarrierLost }),
        answered(M, N, L, RECORD, Passage::FROM_INBOX, Answer::Verdict(VerdictKind::Redelivered)),
    ];
    for transaction in transactions() {
        all.push(Event::Arrived { message: M, node: N, life: L, wall, transaction, passage: P, introducer: Introducer::Inbox });
        all.push(Event::Answered { message: M, node: N, life: L, transaction, record: RECORD, passage: P, answer: first });
        all.push(Event::AdmissionAbandoned { message: M, node: N, life: L, transaction });
        all.push(Event::Dispatched { message: M, node: N, life: L, transaction, verdict: late, intended_ns: 1, sent_ns: 2 });
    }
    all
}

#[rustfmt::skip]
fn engine() -> Vec<EngineEvent<'static>> {
    let t = TransitionNumber(2);
    let verdict = Decision::Verdict { verdict: VerdictKind::Advance, sequence: Sequence(41), digest: [9; 32] };
    let transition = |transition, stream, table, record, decision, staged| {
        EngineEvent::Transition { transition, stream, table, record, decision, staged }
    };
    let reserved = |first, last, lease| {
        let decision = Decision::Reserved { first: Sequence(first), last: Sequence(last), lease: Sequence(lease) };
        transition(t, &STREAM, Table::Sender, RECORD, decision, None)
    };
    let opened = |restored, unrestorable, batch| EngineEvent::Opened { restored, unrestorable, next_batch: BatchNumber(batch) };
    let receiver = Table::Receiver;
    let retired = |transition, stream, record, introducer, spent, staged| {
        EngineEvent::Retired { transition, stream, record, introducer, spent: WallMs(spent), staged }
    };
    let by_link = |transition, stream, decision| EngineEvent::LinkLocal { transition, stream, decision };
    let charge = |transition, stream, at, data_bytes, limit, refused| {
        let charge = QuotaCharge { at: MonotonicNs(at), data_bytes, limit, refused };
        EngineEvent::Quota { transition, stream, charge }
    };
    let bad = |record, reason, spells| EngineEvent::Unrestorable { record, reason, spells };
    let unavailable = |transition, record, refused| EngineEvent::UnavailableRefused { transition, record, refused };
    let met = |transition, introducer, bound| EngineEvent::BoundMet { transition, introducer, bound };
    let used = |used| EngineEvent::TableUse { used };
    let empty = TableUse::default();
    let custody = |transition, stream, sequence, digest, change, held| {
        EngineEvent::Custody { transition, stream, sequence: Sequence(sequence), digest: [digest; 32], change, held }
    };
    let stall = |transition, stall, held| EngineEvent::CustodyStall { transition, stall, held };
    vec![
        used(empty), used(TableUse { streams: 1, ..empty }), used(TableUse { fullest_slot: 1, ..empty }),
        used(TableUse { pool: 1, ..empty }), used(TableUse { inbox: 1, ..empty }), used(TableUse { own: u32::MAX, ..empty }), used(TableUse { custody: 1, ..empty }),
        opened(1, 2, 3), opened(2, 2, 3), opened(1, 1, 3), opened(1, 2, 2), opened(u32::MAX, u32::MAX, u64::MAX),
        transition(t, &STREAM, receiver, RECORD, verdict, Some(B)),
        transition(TransitionNumber(u64::MAX), &STREAM, receiver, RECORD, verdict, Some(B)),
        transition(t, &OTHERS[0].stream, receiver, RECORD, verdict, Some(B)),
        transition(t, &OTHERS[1].stream, receiver, RECORD, verdict, Some(B)),
        transition(t, &STREAM, Table::Sender, RECORD, verdict, Some(B)),
        transition(t, &STREAM, receiver, OTHER_RECORD, verdict, Some(B)),
        transition(t, &STREAM, receiver, RECORD, verdict, None),
        transition(t, &STREAM, receiver, RECORD, verdict, Some(BatchNumber(0))),
        transition(t, &STREAM, receiver, RECORD, Decision::Refused { reason: "stream-capacity-exceeded" }, None),
        transition(t, &STREAM, receiver, RECORD, Decision::Refused { reason: "relay-custody-full" }, None),
        transition(t, &STREAM, receiver, RECORD, Decision::Verdict { verdict: VerdictKind::Late, sequence: Sequence(41), digest: [9; 32] }, Some(B)),
        transition(t, &STREAM, receiver, RECORD, Decision::Verdict { verdict: VerdictKind::Advance, sequence: Sequence(40), digest: [9; 32] }, Some(B)),
        transition(t, &STREAM, receiver, RECORD, Decision::Verdict { verdict: VerdictKind::Advance, sequence: Sequence(41), digest: [8; 32] }, Some(B)),
        reserved(1, 2, 64), reserved(0, 2, 64), reserved(1, 1, 64), reserved(1, 2, 65), reserved(u64::MAX, u64::MAX, u64::MAX),
        EngineEvent::Released { transition: t, depends: &[] },
        EngineEvent::Released { transition: TransitionNumber(3), depends: &[] },
        EngineEvent::Released { transition: t, depends: &[(RECORD, B)] },
        EngineEvent::Released { transition: t, depends: &[(OTHER_RECORD, B)] },
        EngineEvent::Released { transition: t, depends: &[(RECORD, B2)] },
        EngineEvent::Released { transition: t, depends: &[(RECORD, B), (OTHER_RECORD, B), (RECORD, B2)] },
        EngineEvent::BatchClosed { batch: B, records: &[], transitions: 1 },
        EngineEvent::BatchClosed { batch: B2, records: &[], transitions: 1 },
        EngineEvent::BatchClosed { batch: B, records: &[], transitions: 2 },
        EngineEvent::BatchClosed { batch: B, records: &[(RECORD, None)], transitions: 1 },
        EngineEvent::BatchClosed { batch: B, records: &[(RECORD, Some(0))], transitions: 1 },
        EngineEvent::BatchClosed { batch: B, records: &[(OTHER_RECORD, None)], transitions: 1 },
        EngineEvent::BatchClosed { batch: B2, records: &[(RECORD, Some(u32::MAX)), (OTHER_RECORD, None)], transitions: u32::MAX },
        EngineEvent::Step { step: Step::Renamed, batch: B, roles: ONE },
        EngineEvent::Step { step: Step::Marked, batch: B, roles: ONE },
        EngineEvent::Step { step: Step::Renamed, batch: B2, roles: ONE },
        EngineEvent::Step { step: Step::Renamed, batch: B, roles: Roles { leases: 0, windows: 1 } },
        EngineEvent::Step { step: Step::OpenDirectoryFlushed, batch: B2, roles: MANY },
        EngineEvent::BatchDurable { batch: B }, EngineEvent::BatchDurable { batch: B2 },
        EngineEvent::BatchFailed { batch: B, undone: 1, state_digest: [0; 32] },
        EngineEvent::BatchFailed { batch: B2, undone: 1, state_digest: [0; 32] },
        EngineEvent::BatchFailed { batch: B, undone: u32::MAX, state_digest: [0; 32] },
        EngineEvent::BatchFailed { batch: B, undone: 1, state_digest: [1; 32] },
        EngineEvent::CallerGone { transition: t }, EngineEvent::CallerGone { transition: TransitionNumber(3) },
        retired(t, &STREAM, RECORD, Introducer::Inbox, 7, B),
        retired(TransitionNumber(3), &STREAM, RECORD, Introducer::Inbox, 7, B),
        retired(t, &OTHERS[0].stream, RECORD, Introducer::Inbox, 7, B),
        retired(t, &STREAM, OTHER_RECORD, Introducer::Inbox, 7, B),
        retired(t, &STREAM, RECORD, Introducer::Own, 7, B), retired(t, &STREAM, RECORD, SLOTS[0], 7, B),
        retired(t, &STREAM, RECORD, SLOTS[1], u64::MAX, B2), retired(t, &STREAM, RECORD, Introducer::Inbox, 8, B),
        retired(t, &STREAM, RECORD, Introducer::Inbox, 7, B2),
        met(t, Introducer::Inbox, CapacityBound::Inbox { share: 768 }),
        met(TransitionNumber(3), Introducer::Inbox, CapacityBound::Inbox { share: 768 }),
        met(t, Introducer::Own, CapacityBound::Inbox { share: 768 }),
        met(t, Introducer::Inbox, CapacityBound::Inbox { share: 767 }),
        met(t, Introducer::Inbox, CapacityBound::SelfShare { share: 768 }),
        met(t, Introducer::Inbox, CapacityBound::Pool { pool: 768 }),
        met(t, Introducer::Inbox, CapacityBound::Floor { floor: 768 }),
        met(t, Introducer::Inbox, CapacityBound::Table { capacity: usize::MAX }),
        met(t, Introducer::Inbox, CapacityBound::Claim { claim: u32::MAX, over_floor: 1 }),
        met(t, Introducer::Inbox, CapacityBound::Claim { claim: u32::MAX, over_floor: u32::MAX }),
        by_link(t, &STREAM, verdict), by_link(TransitionNumber(3), &STREAM, verdict),
        by_link(t, &OTHERS[0].stream, verdict), by_link(t, &STREAM, Decision::Refused { reason: "byte-rate-exhausted" }),
        by_link(t, &STREAM, Decision::Verdict { verdict: VerdictKind::Replay, sequence: Sequence(41), digest: [9; 32] }),
        charge(t, &STREAM, 5, 64, MessageLimit::Enforced, None), charge(TransitionNumber(3), &STREAM, 5, 64, MessageLimit::Enforced, None),
        charge(t, &OTHERS[0].stream, 5, 64, MessageLimit::Enforced, None), charge(t, &STREAM, 6, 64, MessageLimit::Enforced, None),
        charge(t, &STREAM, 5, 65, MessageLimit::Enforced, None), charge(t, &STREAM, 5, 64, MessageLimit::Delegated, None),
        charge(t, &STREAM, 5, 64, MessageLimit::Enforced, Some("message-rate-exhausted")),
        charge(t, &STREAM, u64::MAX, u64::MAX, MessageLimit::Enforced, Some("byte-rate-exhausted")),
        bad(RECORD, "missing", None), bad(OTHER_RECORD, "missing", None), bad(RECORD, "misfiled", None),
        bad(RECORD, "misfiled", Some((receiver, &STREAM))), bad(RECORD, "misfiled", Some((Table::Sender, &STREAM))),
        bad(RECORD, "misfiled", Some((receiver, &OTHERS[0].stream))),
        EngineEvent::LoadFailed { reason: "disk" }, EngineEvent::LoadFailed { reason: "root-missing" },
        unavailable(t, RECORD, 1), unavailable(TransitionNumber(3), RECORD, 1), unavailable(t, OTHER_RECORD, 1),
        unavailable(t, RECORD, u64::MAX),
        transition(t, &STREAM, receiver, RECORD, Decision::Taken { sequence: Sequence(41), digest: [9; 32] }, Some(B)),
        transition(t, &STREAM, receiver, RECORD, Decision::Taken { sequence: Sequence(40), digest: [9; 32] }, Some(B)),
        transition(t, &STREAM, receiver, RECORD, Decision::Taken { sequence: Sequence(41), digest: [8; 32] }, Some(B)),
        custody(t, &STREAM, 41, 9, CustodyChange::Taken, 5), custody(TransitionNumber(3), &STREAM, 41, 9, CustodyChange::Taken, 5),
        custody(t, &OTHERS[0].stream, 41, 9, CustodyChange::Taken, 5), custody(t, &STREAM, 40, 9, CustodyChange::Taken, 5),
        custody(t, &STREAM, 41, 8, CustodyChange::Taken, 5), custody(t, &STREAM, 41, 9, CustodyChange::Taken, 6),
        custody(t, &STREAM, 41, 9, CustodyChange::Redelivered, 5), custody(t, &STREAM, 41, 9, CustodyChange::Dropped, 5),
        custody(t, &STREAM, 41, 9, CustodyChange::TakenIn { spent: WallMs(7) }, 5),
        custody(t, &STREAM, 41, 9, CustodyChange::TakenIn { spent: WallMs(8) }, 5),
        custody(t, &STREAM, 41, 9, CustodyChange::Expired { spent: WallMs(7) }, 5),
        stall(t, CustodyStall::Full { until: WallMs(7) }, 64), stall(TransitionNumber(3), CustodyStall::Full { until: WallMs(7) }, 64),
        stall(t, CustodyStall::Full { until: WallMs(8) }, 64), stall(t, CustodyStall::Full { until: WallMs(7) }, 65),
        stall(t, CustodyStall::Refused { until: WallMs(7) }, 64), stall(t, CustodyStall::Over, 64),
    ]
}

/// What transports and applications do beside admissions.
fn link_events() -> Vec<Event<'static>> {
    let at = |node, life, event| Event::Link { node, life, event };
    let acted = |message, payload, refused| LinkEvent::Acted { message, payload: [payload; 32], refused };
    let chunk = |message, outcome, cost_bytes, pending, expired, overflowed| LinkEvent::Chunk {
        message,
        outcome,
        cost_bytes,
        pending,
        expired,
        overflowed,
    };
    let (one, other) = (Some(message(0)), Some(message(1)));
    let events = [
        acted(one, 1, None),
        acted(None, 1, None),
        acted(one, 2, None),
        acted(one, 1, Some("already-acted")),
        acted(one, 1, Some("other-epoch")),
        LinkEvent::Referenced { message: one, to: N, references: 1 },
        LinkEvent::Referenced { message: other, to: N, references: 1 },
        LinkEvent::Referenced { message: one, to: N2, references: 1 },
        LinkEvent::Referenced { message: one, to: N, references: 2 },
        LinkEvent::Resolved { frame: FrameNumber(0), references: 1 },
        LinkEvent::Resolved { frame: FrameNumber(1), references: 1 },
        LinkEvent::Resolved { frame: FrameNumber(0), references: 2 },
        LinkEvent::Told { peer: N, known: true },
        LinkEvent::Told { peer: N2, known: true },
        LinkEvent::Told { peer: N, known: false },
        chunk(one, "waits", 1, 1, 0, 0),
        chunk(other, "waits", 1, 1, 0, 0),
        chunk(one, "complete", 1, 1, 0, 0),
        chunk(one, "waits", 2, 1, 0, 0),
        chunk(one, "waits", 1, 2, 0, 0),
        chunk(one, "waits", 1, 1, 1, 0),
        chunk(one, "waits", 1, 1, 0, 1),
        LinkEvent::Dropped { message: one },
        LinkEvent::Dropped { message: None },
    ];
    let placed = [(N2, L), (N, L2)].map(|(node, life)| at(node, life, LinkEvent::Dropped { message: one }));
    events.into_iter().map(|event| at(N, L, event)).chain(placed).collect()
}
