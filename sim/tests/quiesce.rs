//! Quiescence heals everything that can be on: whatever faults of whatever kinds are on then, no fault event follows, every
//! node works again within a bound, and what is sent is dispatched within a bound.

mod support;

use groundhog_engine::host::disk::DiskErrorKind;
use groundhog_engine::host::observe::Step;
use groundhog_engine::streams::key::{Class, Table};
use groundhog_sim::ledger::event::Event;
use groundhog_sim::ledger::onlooker::Line;
use groundhog_sim::outcome::Outcome;
use groundhog_sim::plan::{
    Act, Action, ClockFault, Death, DiskFault, DiskOperation, DiskProfile, Fault, FaultKind, LinkFault,
    Phase, Plan, RecordOf, StepId, StoreAct, When,
};
use groundhog_sim::run::{RunOptions, run};
use groundhog_sim::units::{ActionId, FaultId, FrameNumber, Life, MessageId, NodeId, SimTime};
use groundhog_sim::world::clock::EPOCH_MS;
use proptest::prelude::*;
use proptest::test_runner::RngSeed;
use std::collections::{BTreeMap, BTreeSet};
use std::sync::{Arc, Mutex};
use support::{burst, quiet_plan};

const NODES: u16 = 4;
const QUIESCE_US: u64 = 400_000;
/// Every node works again this soon after quiescence: it boots, and opens its store.
const READY_WITHIN_US: u64 = 200_000;
/// A message is dispatched this soon: a transport tries again what did not pass every 200 ms.
const DISPATCHED_WITHIN_US: u64 = 500_000;
/// Every clock is true again this soon: one that was ahead runs at half speed until then.
const TRUE_WITHIN_US: u64 = 12_000_000;
/// The most that one fault puts a clock wrong, in milliseconds.
const WRONG_MS: i64 = 700;
const FAULTS: usize = 8;

/// Kinds of faults, deaths and damages told apart.
const KINDS: usize = 33;

/// The place of a kind among all. A kind that is new has none, and this does not compile until it has, and until [`kind`]
/// makes it.
fn place_of(kind: &FaultKind) -> usize {
    match kind {
        FaultKind::Crash { death: Death::Process, .. } => 0,
        FaultKind::Crash { death: Death::Power, .. } => 1,
        FaultKind::StallHandler { .. } => 2,
        FaultKind::SlowProcessor { .. } => 3,
        FaultKind::Store { .. } => 31,
        FaultKind::Disk { fault, .. } => match fault {
            DiskFault::Error => 4,
            DiskFault::NoSpace => 5,
            DiskFault::FailedFlush => 6,
            DiskFault::FailedDirectoryFlush { read_only: false } => 7,
            DiskFault::FailedDirectoryFlush { read_only: true } => 8,
            DiskFault::LyingFlush => 9,
            DiskFault::BadSector => 10,
            DiskFault::FlippedBit => 11,
            DiskFault::WriteBack => 12,
            DiskFault::Slow { .. } => 13,
            DiskFault::Stuck { fails: false } => 14,
            DiskFault::Stuck { fails: true } => 15,
        },
        FaultKind::Link { fault, one_way, .. } => match fault {
            LinkFault::Partition if *one_way => 16,
            LinkFault::Partition => 17,
            LinkFault::Loss { .. } => 18,
            LinkFault::Duplicate { .. } => 19,
            LinkFault::Delay { .. } => 20,
            LinkFault::Bandwidth { .. } => 21,
            LinkFault::StallChannel { .. } => 22,
            LinkFault::StallReceiver { .. } => 23,
            LinkFault::DropConnection => 32,
        },
        FaultKind::Clock { fault, .. } => match fault {
            ClockFault::Step { by_ms: 0.. } => 24,
            ClockFault::Step { .. } => 25,
            ClockFault::Drift { ppm: 0.. } => 26,
            ClockFault::Drift { .. } => 27,
            ClockFault::Freeze => 28,
            ClockFault::Pause => 29,
            ClockFault::BehindAtBoot { .. } => 30,
        },
    }
}

/// Integers that a fault is made of.
#[derive(Clone, Copy, Debug)]
struct Dice {
    node: u16,
    next: bool,
    both: bool,
    small: u16,
    large: u32,
}

/// The kind at this place: small figures as often as absurd ones.
fn kind(place: usize, dice: Dice) -> FaultKind {
    let Dice { next, both, small, large, .. } = dice;
    let node = NodeId(dice.node);
    let to = NodeId((dice.node + if next { 1 } else { NODES - 1 }) % NODES);
    let per_mille = 1 + small % 1_000;
    let channel = u8::try_from(small % 4).expect("below 4");
    let ms = i64::from(small) % WRONG_MS;
    let ppm = 1 + i32::from(small % 1_000) * 499;
    let disk = |fault| FaultKind::Disk {
        node,
        fault,
        operations: operations(fault, small),
        skip: u32::from(small % 5),
        count: if both { 0 } else { 1 + u32::from(small % 4) },
    };
    let link = |one_way, fault| FaultKind::Link { from: node, to, one_way, fault };
    let clock = |fault| FaultKind::Clock { node, fault };
    match place {
        0 => FaultKind::Crash { node, death: Death::Process, down_us: large.into(), survivors: None },
        1 => FaultKind::Crash { node, death: Death::Power, down_us: large.into(), survivors: None },
        2 => FaultKind::StallHandler { node, class: Class::ALL[usize::from(small % 4)] },
        3 => FaultKind::SlowProcessor { node, factor: large.max(2) },
        4 => disk(DiskFault::Error),
        5 => disk(DiskFault::NoSpace),
        6 => disk(DiskFault::FailedFlush),
        7 => disk(DiskFault::FailedDirectoryFlush { read_only: false }),
        8 => disk(DiskFault::FailedDirectoryFlush { read_only: true }),
        9 => disk(DiskFault::LyingFlush),
        10 => disk(DiskFault::BadSector),
        11 => disk(DiskFault::FlippedBit),
        12 => disk(DiskFault::WriteBack),
        13 => disk(DiskFault::Slow { factor: large.max(2) }),
        14 => disk(DiskFault::Stuck { fails: false }),
        15 => disk(DiskFault::Stuck { fails: true }),
        16 => link(true, LinkFault::Partition),
        17 => link(false, LinkFault::Partition),
        18 => link(both, LinkFault::Loss { per_mille }),
        19 => link(both, LinkFault::Duplicate { per_mille }),
        20 => link(both, LinkFault::Delay { us: large.into() }),
        21 => link(both, LinkFault::Bandwidth { bytes_per_s: 1 + u64::from(large) }),
        22 => link(both, LinkFault::StallChannel { channel }),
        23 => link(both, LinkFault::StallReceiver { channel }),
        32 => link(false, LinkFault::DropConnection),
        24 => clock(ClockFault::Step { by_ms: ms }),
        25 => clock(ClockFault::Step { by_ms: -1 - ms }),
        26 => clock(ClockFault::Drift { ppm }),
        27 => clock(ClockFault::Drift { ppm: -ppm }),
        28 => clock(ClockFault::Freeze),
        29 => clock(ClockFault::Pause),
        30 => clock(ClockFault::BehindAtBoot { by_ms: ms.unsigned_abs() }),
        31 => {
            let (class, table) = (Class::ALL[usize::from(small % 4)], Table::Receiver);
            let of = RecordOf { origin: to, destination: node, class, table };
            let act = StoreAct::RemoveMarker { of };
            FaultKind::Store { node, act, stopped_us: if both { 0 } else { large.into() } }
        }
        _ => unreachable!("there are {KINDS} kinds"),
    }
}

/// All operations, or one.
fn operations(fault: DiskFault, small: u16) -> Vec<DiskOperation> {
    use DiskOperation as Op;
    let some: &[DiskOperation] = match fault {
        DiskFault::Error => &[Op::Create, Op::Write, Op::Rename, Op::Remove, Op::Read, Op::List],
        DiskFault::Stuck { .. } | DiskFault::Slow { .. } => {
            &[Op::Write, Op::Flush, Op::Rename, Op::FlushDirectory]
        }
        _ => &[],
    };
    some.get(usize::from(small % 8)).map_or_else(Vec::new, |operation| vec![*operation])
}

/// Whether the records of a node may be damaged or rolled back, or have been unreadable to the life that goes on: what
/// happens to its streams then is a known limit, and no longer a matter of healing.
fn leaves_damage(kind: &FaultKind) -> Option<NodeId> {
    match kind {
        FaultKind::Disk {
            node,
            fault: DiskFault::LyingFlush | DiskFault::BadSector | DiskFault::FlippedBit,
            ..
        } => Some(*node),
        FaultKind::Disk { node, fault: DiskFault::Error, operations, .. } => {
            use DiskOperation as Op;
            let reads = [Op::Open, Op::Read, Op::List];
            let read = operations.is_empty() || operations.iter().any(|operation| reads.contains(operation));
            read.then_some(*node)
        }
        _ => None,
    }
}

/// A fault that is on at quiescence, or begins then, or whose moment never comes.
fn fault() -> impl Strategy<Value = (When, Option<u64>, FaultKind)> {
    let large = prop_oneof![2..60u32, 1_000..2_000_000u32, Just(u32::MAX)];
    let dice = (0..NODES, any::<bool>(), any::<bool>(), any::<u16>(), large)
        .prop_map(|(node, next, both, small, large)| Dice { node, next, both, small, large });
    let until = prop_oneof![6 => Just(None), 2 => Just(Some(QUIESCE_US)), 1 => (1..1_000u64).prop_map(Some)];
    (0..KINDS, dice, when(), until).prop_map(|(place, dice, at, until)| {
        let kind = kind(place, dice);
        let at = match (at, &kind) {
            // An operation is struck by its own node's death.
            (When::Operation { life, operation, phase, .. }, FaultKind::Crash { node, .. }) => {
                When::Operation { node: *node, life, operation, phase }
            }
            (at, _) => at,
        };
        let until = match (until, at) {
            (Some(after_us), When::Time { us }) => Some((us + after_us).min(QUIESCE_US)),
            (until, _) => until,
        };
        (at, until, kind)
    })
}

fn when() -> impl Strategy<Value = When> {
    let place = || (0..NODES).prop_map(NodeId);
    let life = || (0..2u32).prop_map(Life);
    let phases = prop_oneof![Just(Phase::Before), Just(Phase::Partly), Just(Phase::After)];
    let steps = proptest::sample::select(Step::ALL).prop_map(StepId);
    let tables = prop_oneof![Just(None), Just(Some(Table::Sender)), Just(Some(Table::Receiver))];
    prop_oneof![
        2 => (0..QUIESCE_US).prop_map(|us| When::Time { us }),
        6 => (QUIESCE_US - 60_000..=QUIESCE_US).prop_map(|us| When::Time { us }),
        2 => Just(When::Time { us: QUIESCE_US }),
        1 => (place(), life(), 0..400u64, phases)
            .prop_map(|(node, life, operation, phase)| When::Operation { node, life, operation, phase }),
        1 => (place(), life(), steps, tables, 1..20u32)
            .prop_map(|(node, life, step, table, count)| When::Step { node, life, step, table, count }),
        1 => (place(), life(), 0..2_000u64).prop_map(|(node, life, poll)| When::Poll { node, life, poll }),
    ]
}

/// Messages on every link and in every class all the time, and again once every node is to work, and once clocks are true.
fn actions() -> Vec<Action> {
    let times =
        [(20_000, 60, 6_000), (QUIESCE_US + READY_WITHIN_US, 3, 20_000), (QUIESCE_US + TRUE_WITHIN_US, 1, 0)];
    let mut actions: Vec<Action> = Vec::new();
    for (at_us, count, every_us) in times {
        for from in 0..NODES {
            for to in [(from + 1) % NODES, (from + NODES - 1) % NODES] {
                for class in Class::ALL {
                    let id = u32::try_from(actions.len()).expect("a few");
                    let mut action = burst(id, at_us + u64::from(id % 16) * 300, from, to, class, count);
                    if let Act::Send(burst) = &mut action.act {
                        burst.every_us = every_us;
                        burst.bytes = 20 + id * 7;
                    }
                    actions.push(action);
                }
            }
        }
    }
    actions
}

/// A plan that says, when it fails, what is drawn and not all that is fixed.
#[derive(Clone)]
struct Drawn(Plan);

impl std::fmt::Debug for Drawn {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let Plan { seed, profile, links, nodes, faults, .. } = &self.0;
        writeln!(f, "seed {seed}, {:?}, links ordered {}", profile.disk, links[0].ordered)?;
        nodes.iter().try_for_each(|node| writeln!(f, "{:?}", node.clock))?;
        faults
            .iter()
            .try_for_each(|fault| writeln!(f, "{:?} until {:?}: {:?}", fault.at, fault.until_us, fault.kind))
    }
}

prop_compose! {
    fn plan()(
        seed in any::<u64>(),
        strict in any::<bool>(),
        ordered in any::<bool>(),
        faults in proptest::collection::vec(fault(), 1..=FAULTS),
        offsets_ms in proptest::collection::vec(-WRONG_MS..=WRONG_MS, usize::from(NODES)),
        wrong_at_boot_ms in -WRONG_MS..=WRONG_MS,
        corrected_after_us in prop_oneof![Just(0), 1..2 * QUIESCE_US],
    ) -> Drawn {
        let mut plan = quiet_plan(NODES);
        (plan.seed, plan.schedule_seed) = (seed, seed.rotate_left(17));
        plan.profile.disk = if strict { DiskProfile::Strict } else { DiskProfile::Ordered };
        plan.links.iter_mut().for_each(|link| link.ordered = ordered);
        for (node, offset_ms) in plan.nodes.iter_mut().zip(offsets_ms) {
            node.clock.offset_ms = offset_ms;
        }
        plan.nodes[0].clock.wrong_at_boot_ms = wrong_at_boot_ms;
        plan.nodes[0].clock.corrected_after_us = corrected_after_us;
        plan.nodes[1].clock.drift_ppm = 300;
        plan.actions = actions();
        plan.faults = (0..).zip(faults).map(|(id, (at, until_us, kind))| Fault { id: FaultId(id), at, until_us, kind }).collect();
        plan.quiesce_us = QUIESCE_US;
        plan.end_us = QUIESCE_US + TRUE_WITHIN_US + DISPATCHED_WITHIN_US + 100_000;
        Drawn(plan)
    }
}

/// What is wrong after quiescence, read from the events as they come.
#[derive(Default)]
struct Watch {
    /// Nodes that refuse what a damaged record makes them refuse.
    damaged: BTreeSet<NodeId>,
    quiesced: bool,
    /// Faults that are on.
    on: BTreeSet<FaultId>,
    /// Those that were on when everything was healed.
    healed: BTreeSet<FaultId>,
    ready: BTreeSet<NodeId>,
    sent_after: BTreeSet<FrameNumber>,
    due: BTreeMap<MessageId, (SimTime, NodeId, NodeId)>,
    ahead_ms: BTreeMap<NodeId, u64>,
    wrong: Vec<String>,
}

impl Watch {
    fn event(&mut self, line: &Line<'_>) {
        match *line.event {
            Event::FaultBegan { fault } => drop(self.on.insert(fault)),
            Event::FaultEnded { fault } => {
                if line.at == SimTime::from_us(QUIESCE_US) {
                    self.healed.insert(fault);
                }
                self.on.remove(&fault);
            }
            Event::Ready { node, .. } => drop(self.ready.insert(node)),
            Event::Booted { node, .. } | Event::Died { node, .. } => drop(self.ready.remove(&node)),
            Event::Quiesced => {
                self.quiesced = true;
                if !self.on.is_empty() {
                    self.wrong.push(format!("still on: {:?}", self.on));
                }
                return;
            }
            _ => {}
        }
        if self.quiesced {
            self.after(line);
        }
    }

    fn after(&mut self, line: &Line<'_>) {
        let at = line.at;
        let is_wrong = match *line.event {
            Event::FaultBegan { .. }
            | Event::FaultEnded { .. }
            | Event::Died { .. }
            | Event::OpenFailed { .. }
            | Event::Panicked { .. }
            | Event::ThreadStarted { .. }
            | Event::PowerLost { .. }
            | Event::ClockSet { .. }
            | Event::FrameLost { .. } => true,
            Event::DiskAnswered { injected, error, .. } => injected || error.is_some_and(is_of_a_fault),
            Event::FrameSent { frame, .. } => {
                self.sent_after.insert(frame);
                false
            }
            Event::FrameDelivered { frame, duplicate, .. } => duplicate && self.sent_after.contains(&frame),
            Event::NotSent { node, .. } => {
                at >= SimTime::from_us(QUIESCE_US + READY_WITHIN_US) && !self.damaged.contains(&node)
            }
            Event::Booted { wall, node, .. } | Event::Arrived { wall, node, .. } => {
                self.clock(at, node, wall.0)
            }
            Event::Intended { message, node, to, .. } => {
                if at >= SimTime::from_us(QUIESCE_US + READY_WITHIN_US) {
                    self.due.insert(message, (at, node, to));
                }
                false
            }
            Event::Dispatched { message: Some(message), .. } => {
                let sent = self.due.remove(&message);
                sent.is_some_and(|(sent, ..)| at > sent.plus_ns(DISPATCHED_WITHIN_US * 1_000))
            }
            _ => false,
        };
        if is_wrong {
            self.wrong.push(line.text.to_owned());
        }
        let first_due = SimTime::from_us(QUIESCE_US + READY_WITHIN_US);
        if at >= first_due && self.ready.len() < usize::from(NODES) {
            self.wrong.push(format!("ready at {at}: {:?}", self.ready));
        }
    }

    /// A clock is not behind, comes nearer to true time, and is true in the end.
    fn clock(&mut self, at: SimTime, node: NodeId, wall_ms: u64) -> bool {
        let true_ms = EPOCH_MS + at.as_us() / 1_000;
        let Some(ahead_ms) = wall_ms.checked_sub(true_ms) else { return true };
        let before_ms = self.ahead_ms.insert(node, ahead_ms).unwrap_or(u64::MAX);
        let is_to_be_true = at >= SimTime::from_us(QUIESCE_US + TRUE_WITHIN_US);
        // Both are whole milliseconds, rounded down.
        ahead_ms > before_ms.saturating_add(1) || (is_to_be_true && ahead_ms > 0)
    }
}

/// The others are answers to what was asked.
fn is_of_a_fault(error: DiskErrorKind) -> bool {
    !matches!(error, DiskErrorKind::NotFound | DiskErrorKind::AlreadyExists)
}

fn watch(plan: &Plan) -> (Outcome, Watch) {
    let damaged = plan.faults.iter().filter_map(|fault| leaves_damage(&fault.kind)).collect();
    let watch = Arc::new(Mutex::new(Watch { damaged, ..Watch::default() }));
    let inside = Arc::clone(&watch);
    let mut options = RunOptions::default();
    options.ledger.sink = Some(Box::new(move |line| inside.lock().unwrap().event(line)));
    let outcome = run(plan, options).expect("the plan runs");
    let watch = std::mem::take(&mut *watch.lock().unwrap());
    (outcome, watch)
}

/// What is wrong with how a plan heals.
fn wrong(plan: &Plan) -> (Vec<String>, BTreeSet<usize>) {
    let (outcome, mut watch) = watch(plan);
    for (message, (sent, from, to)) in std::mem::take(&mut watch.due) {
        if !watch.damaged.contains(&from) && !watch.damaged.contains(&to) {
            watch
                .wrong
                .push(format!("message {message} of {from} to {to}, sent at {sent}, was not dispatched"));
        }
    }
    if !watch.quiesced || outcome.cut.is_some() {
        watch.wrong.push("the run was not whole".to_owned());
    }
    watch.wrong.extend(outcome.violations.iter().map(|broken| format!("{broken:?}")));
    let healed = watch.healed.iter().map(|id| place_of(&plan.faults[id.0 as usize].kind));
    let healed = healed.collect();
    (watch.wrong, healed)
}

#[test]
fn every_kind_is_made_and_has_a_place_of_its_own() {
    let dice = Dice { node: 1, next: true, both: true, small: 6, large: 9 };
    for place in 0..KINDS {
        assert_eq!(place_of(&kind(place, dice)), place);
    }
}

#[test]
fn whatever_is_on_at_quiescence_ends_there_and_everything_works_again() {
    let cases = std::env::var("GROUNDHOG_TEST_SEEDS").ok().and_then(|cases| cases.parse().ok());
    let seed = std::env::var("GROUNDHOG_TEST_FROM").ok().and_then(|seed| seed.parse().ok());
    let config = ProptestConfig {
        cases: cases.unwrap_or(60),
        rng_seed: RngSeed::Fixed(seed.unwrap_or(1)),
        failure_persistence: None,
        ..ProptestConfig::default()
    };
    let healed: Mutex<BTreeMap<usize, u32>> = Mutex::default();
    let mut runner = proptest::test_runner::TestRunner::new(config);
    let checked = runner.run(&plan(), |Drawn(plan)| {
        let (wrong, kinds) = wrong(&plan);
        kinds.into_iter().for_each(|kind| *healed.lock().unwrap().entry(kind).or_default() += 1);
        prop_assert!(wrong.is_empty(), "{:#?}", &wrong[..wrong.len().min(12)]);
        Ok(())
    });
    if let Err(error) = checked {
        panic!("{error}");
    }
    let healed = healed.into_inner().unwrap();
    for place in 0..KINDS {
        assert!(healed.contains_key(&place), "kind {place} was never on at quiescence: {healed:?}");
    }
}

#[test]
fn all_kinds_at_once_are_healed() {
    let mut plan = quiet_plan(NODES);
    plan.actions = actions();
    (plan.quiesce_us, plan.end_us) =
        (QUIESCE_US, QUIESCE_US + TRUE_WITHIN_US + DISPATCHED_WITHIN_US + 100_000);
    for place in 0..KINDS {
        let id = u32::try_from(place).expect("a few");
        // Deaths last, so that what they end was on before.
        let at = When::Time { us: QUIESCE_US - if place < 2 { 1_000 } else { 20_000 } };
        let small = u16::try_from(place).expect("a few") * 37;
        let dice = Dice { node: small % NODES, next: place % 2 == 0, both: true, small, large: 1_000_000 };
        plan.faults.push(Fault { id: FaultId(id), at, until_us: None, kind: kind(place, dice) });
    }
    let (wrong, healed) = wrong(&plan);
    assert_eq!(wrong, Vec::<String>::new());
    assert_eq!(healed.len(), KINDS, "{healed:?}");
    assert_eq!(plan.actions.last().map(|action| action.id), Some(ActionId(95)));
}
