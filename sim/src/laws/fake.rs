//! A hand-made ledger over a hand-made disk, for the tests of the laws.

pub use super::fake_view::{BRIEF_SPENT_MS, FakeView, Image};

use super::fake_view::read;
use super::lifespan::CLOCK_TOLERANCE_MS;
use super::names::Names;
use super::reading::RecordReader;
use super::{Law, Setting, View};
use crate::ledger::event::{Answer, Event, Passage, Transaction};
use crate::ledger::kind::{EventKind, EventMask};
use crate::outcome::Violation;
use crate::plan::{
    Act, Action, Burst, ClockPlan, Costs, Death, DiskLatency, Engines, NodePlan, Plan, Profile,
};
use crate::units::{ActionId, Life, MessageId, NodeId, SimTime};
use groundhog_engine::host::observe::{BatchNumber, Decision, EngineEvent, RecordName, TransitionNumber};
use groundhog_engine::identity::Did;
use groundhog_engine::streams::key::{Class, NetworkId, StreamKey, Table};
use groundhog_engine::streams::record::Introducer;
use groundhog_engine::streams::window::VerdictKind;
use groundhog_engine::units::{Sequence, WallMs};
use std::collections::BTreeMap;
use std::sync::Arc;

/// The original copy, on an honest way.
pub const HONEST: Passage = Passage { honest: true, copy: 0, link: None };
/// A retransmission.
pub const COPY: Passage = Passage { honest: false, copy: 1, link: None };

/// The account of a node.
pub fn did(node: u16) -> Did {
    let mut bytes = [0; 20];
    bytes[..2].copy_from_slice(&(node + 1).to_be_bytes());
    Did(bytes)
}

/// The application stream from one node to another.
pub fn stream(origin: u16, destination: u16) -> StreamKey {
    StreamKey {
        network_id: NetworkId(1),
        origin: did(origin),
        destination: did(destination),
        class: Class::Application,
    }
}

/// A transaction of the application stream from one node to another that never expires; `tag` makes its digest.
pub fn transaction(origin: u16, destination: u16, sequence: u64, tag: u8) -> Transaction {
    let (stream, sequence) = (stream(origin, destination), Sequence(sequence));
    Transaction { stream, sequence, digest: [tag; 32], expires: WallMs(u64::MAX) }
}

/// A message of action 0.
pub fn message(ordinal: u32) -> MessageId {
    MessageId { action: ActionId(0), ordinal }
}

/// [`Ledger::plan`] with four nodes and one burst of application messages, action 0.
pub fn plan_of_a_burst(node: u16, to: u16, count: u32) -> Plan {
    let burst = Burst { count, bytes: 1, ..Burst::one(NodeId(to), Class::Application) };
    let clock = ClockPlan::default();
    let nodes = (0..4).map(|node| NodePlan { id: NodeId(node), cores: 1, clock }).collect();
    let action = Action { id: ActionId(0), at_us: 0, node: NodeId(node), act: Act::Send(burst) };
    Plan { nodes, actions: vec![action], ..Ledger::plan() }
}

/// A record's name out of a number.
pub fn record(number: u8) -> RecordName {
    RecordName([number; 20])
}

/// The receiver's record of the application stream from one node to another, as [`Ledger::setting`] names it.
pub fn receiver_record(origin: u16, destination: u16) -> RecordName {
    name(Table::Receiver, &stream(origin, destination))
}

/// The sender's record, likewise.
pub fn sender_record(origin: u16, destination: u16) -> RecordName {
    name(Table::Sender, &stream(origin, destination))
}

/// The receiver's record of a transaction's stream.
pub fn record_of(transaction: &Transaction) -> RecordName {
    name(Table::Receiver, &transaction.stream)
}

fn name(table: Table, stream: &StreamKey) -> RecordName {
    let mut name = [0; 20];
    name[..4].copy_from_slice(&stream.origin.0[..4]);
    name[4..8].copy_from_slice(&stream.destination.0[..4]);
    (name[8], name[9]) = (stream.class as u8, table as u8);
    RecordName(name)
}

/// The control stream from one node to another, at a sequence that its tag is, spent after [`BRIEF_SPENT_MS`].
pub fn brief(origin: u16, destination: u16, sequence: u8) -> Transaction {
    let mut brief = transaction(origin, destination, u64::from(sequence), sequence);
    (brief.stream.class, brief.expires) = (Class::Control, WallMs(BRIEF_SPENT_MS - CLOCK_TOLERANCE_MS));
    brief
}

/// A verdict on the transaction of `sequence` from node 1 to node 3 whose digest is all ones.
pub fn judgement(
    transition: u64,
    sequence: u64,
    verdict: VerdictKind,
    staged: Option<u64>,
) -> EngineEvent<'static> {
    EngineEvent::Transition {
        transition: TransitionNumber(transition),
        stream: &STREAM,
        table: Table::Receiver,
        record: receiver_record(1, 3),
        decision: Decision::Verdict { verdict, sequence: Sequence(sequence), digest: [1; 32] },
        staged: staged.map(BatchNumber),
    }
}

/// An admission by advance that staged its record; its digest is all `tag`.
pub fn admission(transition: u64, sequence: u64, tag: u8, batch: u64) -> EngineEvent<'static> {
    let (verdict, digest) = (VerdictKind::Advance, [tag; 32]);
    EngineEvent::Transition {
        transition: TransitionNumber(transition),
        stream: &STREAM,
        table: Table::Receiver,
        record: receiver_record(1, 3),
        decision: Decision::Verdict { verdict, sequence: Sequence(sequence), digest },
        staged: Some(BatchNumber(batch)),
    }
}

/// A reservation of one sequence from node 1 to node 3.
pub fn reservation(transition: u64, first: u64, lease: u64, staged: Option<u64>) -> EngineEvent<'static> {
    let (first, lease) = (Sequence(first), Sequence(lease));
    EngineEvent::Transition {
        transition: TransitionNumber(transition),
        stream: &STREAM,
        table: Table::Sender,
        record: sender_record(1, 3),
        decision: Decision::Reserved { first, last: first, lease },
        staged: staged.map(BatchNumber),
    }
}

static STREAM: std::sync::LazyLock<StreamKey> = std::sync::LazyLock::new(|| stream(1, 3));

/// A ledger by hand, read by one law.
pub struct Ledger<L> {
    law: L,
    at: SimTime,
    lives: BTreeMap<u16, u32>,
    broken: Vec<Violation>,
    /// The disks.
    pub view: FakeView,
}

impl Ledger<()> {
    /// A plan of no nodes, links, actions and faults.
    pub fn plan() -> Plan {
        Plan {
            format: crate::plan::FORMAT,
            groundhog: String::new(),
            scenario: String::from("by-hand"),
            seed: 0,
            schedule_seed: 0,
            flaws: Vec::new(),
            crypto: crate::plan::Crypto::default(),
            profile: Profile {
                disk: crate::plan::DiskProfile::Strict,
                disk_latency: DiskLatency {
                    metadata_ns: 1_000,
                    transfer_ns: 1_000,
                    flush_ns: 100_000,
                    flush_directory_ns: 100_000,
                    jitter_per_mille: 0,
                },
                costs: Costs {
                    signature_ns: 0,
                    verification_ns: 0,
                    hash_kib_ns: 0,
                    code_kib_ns: 0,
                    handler_ns: 0,
                },
                disk_capacity_bytes: 0,
                disk_ignores_case: false,
            },
            engines: Engines {
                network_id: 1,
                stream_capacity: 16_384,
                store_budget_bytes: 40 << 20,
                delegation_lifetime_ms: 3_600_000,
                transaction_lifetime_ms: 600_000,
                clock_tolerance_ms: 3_000,
                quota: None,
                slots: None,
                links: Default::default(),
                mail: None,
            },
            nodes: Vec::new(),
            links: Vec::new(),
            actions: Vec::new(),
            faults: Vec::new(),
            quiesce_us: 1_000_000,
            end_us: 2_000_000,
            limits: BTreeMap::new(),
            swarm: BTreeMap::new(),
            ring: None,
        }
    }

    /// What laws are told of a run of eight nodes under a plan.
    pub fn setting_of(plan: Plan) -> Setting {
        let names = Names::new((0..8).map(|node| (NodeId(node), did(node))));
        Setting { plan: Arc::new(plan), names, reader: RecordReader { name, read } }
    }

    /// The same under [`Ledger::plan`].
    pub fn setting() -> Setting {
        Self::setting_of(Self::plan())
    }
}

impl<L: Law> Ledger<L> {
    /// A ledger that `law` reads.
    pub fn over(law: L) -> Self {
        Self { law, at: SimTime(0), lives: BTreeMap::new(), broken: Vec::new(), view: FakeView::default() }
    }

    /// The life of a node.
    pub fn life(&self, node: u16) -> Life {
        Life(self.lives.get(&node).copied().unwrap_or(0))
    }

    /// Time passes.
    pub fn wait_us(&mut self, us: u64) {
        self.at = self.at.plus_ns(us * 1_000);
    }

    /// Any event.
    pub fn event(&mut self, event: &Event<'_>) {
        self.at = self.at.plus_ns(1_000);
        if self.law.reads().holds(EventKind::of(event)) {
            self.law.event(self.at, event, &self.view, &mut self.broken);
        }
    }

    /// A life ends by process death or loss of power, and no other begins.
    pub fn died_unopened(&mut self, node: u16, death: Death) {
        let life = self.life(node);
        let at = NodeId(node);
        self.event(&Event::Died { node: at, life, death, during: None, gathering: false, fault: None });
        if death == Death::Power {
            self.event(&Event::PowerLost { node: at, kept: 0, lost: 0 });
        }
    }

    /// A life ends by process death or loss of power and the next is ready.
    pub fn died(&mut self, node: u16, death: Death) {
        self.died_unopened(node, death);
        let life = self.life(node);
        let at = NodeId(node);
        let life = Life(life.0 + 1);
        self.lives.insert(node, life.0);
        self.event(&Event::Booted { node: at, life, wall: WallMs(0) });
        self.event(&Event::Ready { node: at, life });
    }

    /// As [`Ledger::died`], of the process.
    pub fn restarted(&mut self, node: u16) {
        self.died(node, Death::Process);
    }

    /// A dispatch, advancing.
    pub fn dispatched(&mut self, node: u16, transaction: &Transaction) {
        let life = self.life(node);
        let verdict = VerdictKind::Advance;
        let node = NodeId(node);
        self.event(&Event::Dispatched {
            message: None,
            node,
            life,
            transaction,
            verdict,
            intended_ns: 0,
            sent_ns: 0,
        });
    }

    /// A signature leaves its node.
    pub fn exposed(&mut self, node: u16, transaction: &Transaction) {
        let life = self.life(node);
        let message = message(u32::try_from(transaction.sequence.0).unwrap());
        self.event(&Event::Exposed { message, node: NodeId(node), life, transaction });
    }

    /// An arrival at admission, when the node's clock shows 0.
    pub fn arrived(&mut self, node: u16, transaction: &Transaction, passage: Passage) {
        self.arrived_at(node, WallMs(0), transaction, passage);
    }

    /// An arrival at admission, and what the node's clock shows.
    pub fn arrived_at(&mut self, node: u16, wall: WallMs, transaction: &Transaction, passage: Passage) {
        self.introduced(node, wall, transaction, (passage, Introducer::Inbox));
    }

    /// An arrival at admission, and whom it is charged to.
    pub fn introduced(
        &mut self,
        node: u16,
        wall: WallMs,
        transaction: &Transaction,
        (passage, introducer): (Passage, Introducer),
    ) {
        let life = self.life(node);
        let node = NodeId(node);
        self.event(&Event::Arrived { message: None, node, life, wall, transaction, passage, introducer });
    }

    /// Node 3 admits something of another stream when its clock shows this.
    pub fn clock_shows(&mut self, wall: u64) {
        self.arrived_at(3, WallMs(wall), &transaction(7, 3, 0, 77), COPY);
    }

    /// The answer of an admission.
    pub fn answered(&mut self, node: u16, transaction: &Transaction, passage: Passage, answer: Answer) {
        let life = self.life(node);
        let record = name(Table::Receiver, &transaction.stream);
        let node = NodeId(node);
        self.event(&Event::Answered { message: None, node, life, transaction, record, passage, answer });
    }

    /// Arrival and verdict at once.
    pub fn admitted(&mut self, node: u16, transaction: &Transaction, passage: Passage, verdict: VerdictKind) {
        self.arrived(node, transaction, passage);
        self.answered(node, transaction, passage, Answer::Verdict(verdict));
    }

    /// An engine reports.
    pub fn engine(&mut self, node: u16, event: EngineEvent<'_>) {
        let life = self.life(node);
        self.event(&Event::Engine { node: NodeId(node), life, event });
    }

    /// An engine retires the stream of a transaction.
    pub fn retired(&mut self, node: u16, transaction: &Transaction, batch: u64) {
        let (record, staged) = (record_of(transaction), BatchNumber(batch));
        self.engine(
            node,
            EngineEvent::Retired {
                transition: TransitionNumber(0),
                stream: &transaction.stream,
                record,
                introducer: Introducer::Inbox,
                spent: WallMs(0),
                staged,
            },
        );
    }

    /// An engine returns a result.
    pub fn released(&mut self, node: u16, transition: u64, depends: &[(RecordName, u64)]) {
        let depends: Vec<_> = depends.iter().map(|(record, batch)| (*record, BatchNumber(*batch))).collect();
        self.engine(
            node,
            EngineEvent::Released { transition: TransitionNumber(transition), depends: &depends },
        );
    }

    /// A batch begins to be written.
    pub fn closed(&mut self, node: u16, batch: u64) {
        self.engine(
            node,
            EngineEvent::BatchClosed { batch: BatchNumber(batch), records: &[], transitions: 0 },
        );
    }

    /// A batch is durable.
    pub fn durable(&mut self, node: u16, batch: u64) {
        self.engine(node, EngineEvent::BatchDurable { batch: BatchNumber(batch) });
    }

    /// A batch failed.
    pub fn failed(&mut self, node: u16, batch: u64, undone: u32) {
        let batch = BatchNumber(batch);
        self.engine(node, EngineEvent::BatchFailed { batch, undone, state_digest: [0; 32] });
    }

    /// The run ends; what was broken, in words.
    pub fn finish(self) -> Vec<String> {
        self.finish_with_limits().0
    }

    /// The run ends; what was broken, in words, and the limits that the law counted.
    pub fn finish_with_limits(mut self) -> (Vec<String>, BTreeMap<&'static str, u64>) {
        self.law.end(self.at, &self.view, &mut self.broken);
        self.broken.iter().for_each(|violation| assert_eq!(violation.law, self.law.id()));
        let mut limits = BTreeMap::new();
        self.law.limits(&mut limits);
        (self.broken.into_iter().map(|violation| violation.saw).collect(), limits)
    }
}

impl Law for Box<dyn Law> {
    fn id(&self) -> &'static str {
        (**self).id()
    }

    fn kind(&self) -> super::LawKind {
        (**self).kind()
    }

    fn states(&self) -> &'static str {
        (**self).states()
    }

    fn reads(&self) -> EventMask {
        (**self).reads()
    }

    fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View, broken: &mut Vec<Violation>) {
        (**self).event(at, event, view, broken);
    }

    fn limits(&self, into: &mut BTreeMap<&'static str, u64>) {
        (**self).limits(into);
    }

    fn end(&mut self, at: SimTime, view: &dyn View, broken: &mut Vec<Violation>) {
        (**self).end(at, view, broken);
    }
}

/// Every law names itself and reads something.
pub fn assert_well_formed(law: &dyn Law) {
    assert!(
        law.id().contains('/') && !law.states().is_empty() && law.reads() != EventMask::NONE,
        "{}",
        law.id()
    );
}
