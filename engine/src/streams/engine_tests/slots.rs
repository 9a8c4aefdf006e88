//! Whom streams are charged to, who is refused, and which slot a connection gets.

use super::*;
use crate::host::disk::DiskErrorKind;
use crate::streams::fixtures::{NOW, sign};
use crate::streams::slots::{CapacityBound, NoFreeSlot, SlotBounds, SlotLease};
use crate::streams::window::{Window, observe};
use crate::streams::{RefusedByBound, TableUse};
use proptest::prelude::*;
use std::collections::BTreeMap;

const SMALL: SlotBounds = SlotBounds { slots: 3, floor: 2, pool: 3, inbox: 2, self_share: 1 };

fn slot(index: u16) -> Introducer {
    Introducer::Slot(SlotIndex::new(index))
}

fn small() -> StreamsConfig {
    StreamsConfig { slots: SMALL, ..fixtures::config(Flaws::NONE) }
}

fn lasting(origin: u8, sequence: u64, lifetime_ms: u64) -> Transaction {
    sign(&signer(origin, 2), receiver().account(), Class::Control, sequence, 0, (NOW, lifetime_ms))
}

fn new(origin: u8) -> Transaction {
    lasting(origin, 1, 600_000)
}

fn stream(origin: u8) -> StreamKey {
    *fixtures::verified(new(origin), Flaws::NONE).stream()
}

#[tokio::test]
async fn a_stream_stays_charged_to_who_brought_its_first_transaction() {
    let mut node = Node::start().await;
    let introducers = [slot(0), Introducer::Inbox, Introducer::Own];
    for (origin, introducer) in (1..).zip(introducers) {
        assert_eq!(word(node.admit_by(introducer, new(origin)).await), "first");
        for (sequence, other) in (2..).zip(introducers.iter().chain([&slot(327)])) {
            assert_eq!(word(node.admit_by(*other, lasting(origin, sequence, 600_000)).await), "advance");
        }
        assert_eq!(node.streams.introducer(&stream(origin)), Some(introducer));
    }
    let charges = node.streams.charges();
    assert_eq!(introducers.map(|introducer| charges.of(introducer)), [1, 1, 1]);
    assert_eq!(charges.of(slot(327)), 0);
    node.restart().await;
    assert_eq!(node.streams.charges(), charges, "a restart rebuilds it from the records");
}

#[tokio::test]
async fn what_is_in_use_is_told_when_it_changes_and_only_then() {
    let mut node = Node::start_with(small()).await;
    assert_eq!(node.machine.table_use(), (TableUse::default(), 1), "at open");
    for (origin, introducer) in [(1, slot(1)), (2, slot(1)), (3, slot(1)), (4, Introducer::Inbox)] {
        assert_eq!(word(node.admit_by(introducer, new(origin)).await), "first");
    }
    let used = TableUse { streams: 4, fullest_slot: 3, pool: 1, inbox: 1, own: 0, custody: 1 };
    assert_eq!(node.machine.table_use(), (used, 5));
    assert_eq!(word(node.admit_by(slot(1), lasting(1, 2, 600_000)).await), "advance");
    assert_eq!(node.machine.table_use(), (used, 5), "nothing changed");
    node.machine.fail("flush directory", "", DiskErrorKind::Io);
    assert_eq!(word(node.admit_by(Introducer::Own, new(5)).await), "persistence");
    assert_eq!(node.machine.table_use(), (TableUse { streams: 5, own: 1, ..used }, 6));
    assert_eq!(word(node.admit_by(slot(1), lasting(1, 3, 600_000)).await), "advance");
    assert_eq!(node.machine.table_use(), (used, 7), "what a failed batch takes back");
    node.restart().await;
    assert_eq!(node.machine.table_use(), (used, 8), "what was restored");
}

#[tokio::test]
async fn a_refusal_names_introducer_and_bound_and_changes_nothing() {
    let node = Node::start_with(StreamsConfig { capacity: 10, ..small() }).await;
    let mut origins = 1..;
    let mut fill = async |introducer, room: u8| {
        for _ in 0..room {
            let new = new(origins.next().unwrap());
            assert_eq!(word(node.admit_by(introducer, new).await), "first", "{introducer}");
        }
        let (origin, digest) = (origins.next().unwrap(), node.streams.state_digest());
        let refused = node.admit_by(introducer, new(origin)).await.unwrap_err();
        assert_eq!(node.streams.state_digest(), digest);
        let AdmitError::Refused(Refusal::StreamCapacityExceeded { stream: of, introducer: named, bound }) =
            refused
        else {
            panic!("{refused}");
        };
        assert_eq!((of, named), (stream(origin), introducer));
        bound
    };
    assert_eq!(fill(slot(0), 5).await, CapacityBound::Claim { claim: 3, over_floor: 1 });
    assert_eq!(fill(slot(1), 2).await, CapacityBound::Pool { pool: 3 });
    assert_eq!(fill(Introducer::Inbox, 2).await, CapacityBound::Inbox { share: 2 });
    assert_eq!(fill(Introducer::Own, 1).await, CapacityBound::SelfShare { share: 1 });
    assert_eq!(fill(slot(2), 0).await, CapacityBound::Table { capacity: 10 });
    assert_eq!(fill(slot(3), 0).await, CapacityBound::Floor { floor: 0 });
    let expected =
        RefusedByBound { floor: 1, claim: 1, pool: 1, inbox: 1, self_share: 1, table: 1, sender_table: 0 };
    assert_eq!(node.streams.counters().stream_capacity_exceeded, expected);
    let met = |seen: Seen| match seen {
        Seen::BoundMet(_, introducer, bound) => Some((introducer, bound.id())),
        _ => None,
    };
    let met: Vec<_> = node.machine.take_seen().into_iter().filter_map(met).collect();
    let expected = [
        (slot(0), "claim"),
        (slot(1), "pool"),
        (Introducer::Inbox, "inbox"),
        (Introducer::Own, "self"),
        (slot(2), "table"),
        (slot(3), "floor"),
    ];
    assert_eq!(met, expected);
    assert_eq!(word(node.admit_by(slot(0), lasting(1, 2, 600_000)).await), "advance", "old streams go on");
}

#[tokio::test]
async fn a_refusal_reads_well() {
    let node = Node::start_with(small()).await;
    assert_eq!(word(node.admit_by(Introducer::Own, new(1)).await), "first");
    let refused = node.admit_by(Introducer::Own, new(2)).await.unwrap_err().to_string();
    let ending =
        "is new, and this node itself may bring no more: it has met the node's own share of 1 streams";
    assert!(refused.ends_with(ending), "{refused}");
}

#[tokio::test]
async fn a_connection_takes_the_cleanest_free_slot_also_after_a_restart() {
    let mut node = Node::start_with(small()).await;
    let connect = |node: &Node| node.streams.connected(Did([1; 20]));
    let leases: Vec<SlotLease> = (0..3).map(|_| connect(&node).unwrap()).collect();
    assert_eq!(connect(&node).unwrap_err(), NoFreeSlot { slots: 3 });
    for (origin, lease) in [(1, 0), (2, 0), (3, 1)] {
        let introducer = Introducer::Slot(leases[lease].slot());
        assert_eq!(word(node.admit_by(introducer, new(origin)).await), "first");
    }
    node.restart().await;
    let again: Vec<SlotLease> = (0..3).map(|_| connect(&node).unwrap()).collect();
    let slots: Vec<u16> = again.iter().map(|lease| lease.slot().get()).collect();
    assert_eq!(slots, [2, 1, 0], "all are free, and charged as they were");
    drop(leases);
    assert_eq!(connect(&node).unwrap_err(), NoFreeSlot { slots: 3 }, "leases of a dead life free nothing");
}

#[tokio::test]
async fn a_stream_whose_slot_no_longer_exists_holds_a_place_in_the_table_alone() {
    let mut node = Node::start_with(small()).await;
    for origin in 1..=4 {
        assert_eq!(word(node.admit_by(slot(2), new(origin)).await), "first");
    }
    assert_eq!(node.streams.charges().pooled(), 2);
    node.config.slots = SlotBounds { slots: 2, ..SMALL };
    node.restart().await;
    let charges = node.streams.charges();
    assert_eq!((charges.no_slot(), charges.pooled(), charges.slots()), (4, 0, &[0, 0][..]));
    assert_eq!(node.verdict(lasting(1, 2, 600_000)).await, "advance", "it goes on");
    assert_eq!(node.streams.introducer(&stream(1)), Some(slot(2)), "and is not charged to another");
    node.config.slots = SMALL;
    node.restart().await;
    assert_eq!(node.streams.charges().of(slot(2)), 4, "a slot that exists again has its streams");
}

#[tokio::test]
async fn without_a_store_connections_are_admitted_and_nothing_is_charged() {
    let config = StreamsConfig { storage: Storage::Unavailable, ..small() };
    let node = Node::start_with(config).await;
    assert_eq!(node.streams.connected(Did([1; 20])).unwrap().slot().get(), 0);
    assert_eq!(node.streams.charges().slots(), [0, 0, 0]);
}

/// A retained stream, as the model has it.
#[derive(Clone)]
struct Retained {
    introducer: Introducer,
    spent: u64,
    window: Option<Window>,
    /// What came out of the inbox; nobody takes it.
    custody: Vec<[u8; 32]>,
}

/// The accounting in the seed's words, over plain lists: what an onlooker rebuilds from released results alone.
#[derive(Clone, Default)]
struct Model {
    streams: BTreeMap<u8, Retained>,
    taken: [bool; 3],
}

impl Model {
    fn charged(&self, introducer: Introducer) -> u32 {
        self.streams.values().filter(|stream| stream.introducer == introducer).count() as u32
    }

    fn has_room(&self, introducer: Introducer, capacity: usize) -> bool {
        let charged = self.charged(introducer);
        let within_share = match introducer {
            Introducer::Inbox => charged < SMALL.inbox,
            Introducer::Own => charged < SMALL.self_share,
            Introducer::Slot(_) => {
                let slots = (0..SMALL.slots).map(slot);
                let over_floor = slots
                    .clone()
                    .filter(|other| self.charged(*other) + u32::from(*other == introducer) > SMALL.floor);
                let claim = SMALL.pool.div_ceil(over_floor.count().max(1) as u32);
                let pooled: u32 = slots.map(|other| self.charged(other).saturating_sub(SMALL.floor)).sum();
                charged < SMALL.floor || (charged - SMALL.floor < claim && pooled < SMALL.pool)
            }
        };
        within_share && self.streams.len() < capacity
    }

    /// An admission at `now`, with the word that it must be answered with.
    fn admit(&mut self, call: &Call, now: u64, capacity: usize) -> &'static str {
        let Call::Admit { origin, sequence, lifetime_ms, introducer } = *call else {
            unreachable!("time is no call")
        };
        self.streams.retain(|_, stream| now <= stream.spent);
        let spent = NOW.0 + lifetime_ms + 3_000;
        if now > spent {
            return "spent";
        }
        if !self.streams.contains_key(&origin) && !self.has_room(introducer, capacity) {
            return "stream-capacity-exceeded";
        }
        let new = Retained { introducer, spent, window: None, custody: Vec::new() };
        let stream = self.streams.entry(origin).or_insert(new);
        let digest = lasting(origin, sequence, lifetime_ms).digest();
        if introducer == Introducer::Inbox && stream.custody.contains(&digest) {
            return "redelivered";
        }
        let verdict = observe(&mut stream.window, Sequence(sequence), &digest).0.kind();
        if verdict.admits() {
            stream.spent = stream.spent.max(spent);
            stream.custody.extend((introducer == Introducer::Inbox).then_some(digest));
        }
        verdict.id()
    }

    fn cleanest_free_slot(&self) -> Option<u16> {
        let free = (0..SMALL.slots).filter(|index| !self.taken[usize::from(*index)]);
        free.min_by_key(|index| (self.charged(slot(*index)), *index))
    }
}

/// An admission, or time that passes before the next one.
#[derive(Clone, Debug)]
enum Call {
    Admit { origin: u8, sequence: u64, lifetime_ms: u64, introducer: Introducer },
    Wait(u64),
}

/// Calls of which some may fail, and what happens once all are answered.
#[derive(Clone, Debug)]
struct Round {
    calls: Vec<Call>,
    failure: Option<&'static str>,
    disconnect: Option<usize>,
    connects: usize,
    restart: bool,
}

fn calls() -> impl Strategy<Value = Call> {
    let introducer =
        prop_oneof![4 => (0u16..3).prop_map(slot), 1 => Just(Introducer::Inbox), 1 => Just(Introducer::Own)];
    let lifetime_ms = proptest::sample::select(&[0u64, 1_000, 2_000, 4_000, 8_000][..]);
    let admit = (1u8..14, 0u64..5, lifetime_ms, introducer).prop_map(
        |(origin, sequence, lifetime_ms, introducer)| Call::Admit {
            origin,
            sequence,
            lifetime_ms,
            introducer,
        },
    );
    prop_oneof![4 => admit, 1 => (1u64..1_500).prop_map(Call::Wait)]
}

fn rounds() -> impl Strategy<Value = Vec<Round>> {
    let verbs = &["write", "flush", "remove", "rename", "flush directory"][..];
    let failure = prop_oneof![3 => Just(None), 1 => proptest::sample::select(verbs).prop_map(Some)];
    let disconnect = proptest::option::of(0usize..3);
    let restart = proptest::sample::select(&[false, false, false, false, true][..]);
    let calls = proptest::collection::vec(calls(), 0..10);
    let round = (calls, failure, disconnect, 0usize..3, restart).prop_map(
        |(calls, failure, disconnect, connects, restart)| Round {
            calls,
            failure,
            disconnect,
            connects,
            restart,
        },
    );
    proptest::collection::vec(round, 1..14)
}

/// A node beside the model that it must not differ from.
struct Pair {
    node: Node,
    model: Model,
    leases: Vec<SlotLease>,
    now: u64,
}

impl Pair {
    async fn start() -> Self {
        let node = Node::start_with(StreamsConfig { capacity: 9, ..small() }).await;
        node.at(NOW);
        Self { node, model: Model::default(), leases: Vec::new(), now: NOW.0 }
    }

    async fn round(&mut self, round: Round) -> Result<(), TestCaseError> {
        self.call(round.calls, round.failure).await?;
        self.connect(round.disconnect, round.connects)?;
        self.compare()?;
        if round.restart {
            // What a failed batch left on the disk is written anew, or it would be what the next life begins with.
            self.node.reserved(1).await;
            settle().await;
            self.node.restart().await;
            self.leases.clear();
            self.model.taken = [false; 3];
            self.compare()?;
        }
        Ok(())
    }

    /// What fails the model never sees.
    async fn call(&mut self, calls: Vec<Call>, failure: Option<&'static str>) -> Result<(), TestCaseError> {
        let machine = Arc::clone(&self.node.machine);
        machine.hold("flush directory");
        if let Some(verb) = failure {
            machine.fail(verb, "", DiskErrorKind::Io);
        }
        let mut waiting = Vec::new();
        for call in calls {
            match call {
                Call::Admit { origin, sequence, lifetime_ms, introducer } => {
                    let admitting = self.node.admit_by(introducer, lasting(origin, sequence, lifetime_ms));
                    waiting.push((call, self.now, admitting));
                    tokio::task::yield_now().await;
                }
                Call::Wait(ms) => {
                    self.now += ms;
                    self.node.at(WallMs(self.now));
                }
            }
        }
        machine.let_go();
        for (call, now, admitting) in waiting {
            let released = word(admitting.await);
            if released != "persistence" {
                let expected = self.model.admit(&call, now, self.node.config.capacity);
                prop_assert_eq!(released, expected, "{:?} at {}", call, now);
            }
        }
        while machine.take_failure() {}
        Ok(())
    }

    fn connect(&mut self, disconnect: Option<usize>, connects: usize) -> Result<(), TestCaseError> {
        if let Some(at) = disconnect.filter(|at| *at < self.leases.len()) {
            let lease = self.leases.swap_remove(at);
            self.model.taken[usize::from(lease.slot().get())] = false;
        }
        for _ in 0..connects {
            let expected = self.model.cleanest_free_slot();
            let lease = self.node.streams.connected(Did([1; 20]));
            prop_assert_eq!(lease.as_ref().ok().map(|lease| lease.slot().get()), expected);
            if let Ok(lease) = lease {
                self.model.taken[usize::from(lease.slot().get())] = true;
                self.leases.push(lease);
            }
        }
        Ok(())
    }

    fn compare(&self) -> Result<(), TestCaseError> {
        let (streams, model) = (&self.node.streams, &self.model);
        let charges = streams.charges();
        for introducer in (0..3).map(slot).chain([Introducer::Inbox, Introducer::Own]) {
            prop_assert_eq!(charges.of(introducer), model.charged(introducer), "{}", introducer);
        }
        prop_assert_eq!(streams.streams(Table::Receiver), model.streams.len());
        for (origin, retained) in &model.streams {
            let stream = stream(*origin);
            prop_assert_eq!(streams.introducer(&stream), Some(retained.introducer), "origin {}", origin);
            prop_assert_eq!(streams.spent(&stream), Some(WallMs(retained.spent)), "origin {}", origin);
        }
        Ok(())
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]
    #[test]
    fn accounting_is_that_of_a_model_over_admissions_expiries_failures_and_restarts(rounds in rounds()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let mut pair = Pair::start().await;
            for round in rounds {
                pair.round(round).await?;
            }
            Ok::<(), TestCaseError>(())
        })?;
    }
}
