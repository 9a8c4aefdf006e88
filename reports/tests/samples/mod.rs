//! Plans and outcomes as runs give them, for looking at reports and for testing them.

use groundhog_engine::streams::TableUse;
use groundhog_engine::streams::key::Class;
use groundhog_sim::outcome::{BoundUse, FaultSpan, Latency, Outcome, Slice, Stall, Violation};
use groundhog_sim::plan::{
    Act, Action, Burst, ClockPlan, Costs, Crypto, Death, DiskLatency, DiskProfile, Engines, FORMAT, Fault,
    FaultKind, LinkPlan, NodePlan, Phase, Plan, Profile, When,
};
use groundhog_sim::units::{ActionId, FaultId, Life, NodeId, SimTime};
use hdrhistogram::Histogram;
use std::collections::BTreeMap;

const MS: u64 = 1_000_000;
const SLICES: u64 = 300;
const SLICE_NS: u64 = 50 * MS;

/// Numbers that look random and are the same everywhere.
struct Draw(u64);

impl Draw {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (self.0 >> 33) % bound
    }
}

/// A plan of 32 nodes.
pub fn plan(scenario: &str, seed: u64) -> Plan {
    Plan {
        format: FORMAT,
        groundhog: "0.1.0".to_owned(),
        scenario: scenario.to_owned(),
        seed,
        schedule_seed: seed ^ 0x9e37,
        flaws: Vec::new(),
        crypto: Crypto::Ed25519,
        profile: Profile {
            disk: DiskProfile::Strict,
            disk_latency: DiskLatency {
                metadata_ns: 20_000,
                transfer_ns: 8_000,
                flush_ns: 900_000,
                flush_directory_ns: 700_000,
                jitter_per_mille: 250,
            },
            costs: Costs {
                signature_ns: 20_000,
                verification_ns: 53_000,
                hash_kib_ns: 600,
                code_kib_ns: 400,
                handler_ns: 5_000,
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
        nodes: (0..32).map(|id| NodePlan { id: NodeId(id), cores: 2, clock: ClockPlan::default() }).collect(),
        links: (1..32).map(link).collect(),
        actions: (0..64).map(action).collect(),
        faults: (0..40).map(fault).collect(),
        quiesce_us: 12_000_000,
        end_us: 15_000_000,
        limits: BTreeMap::from([("failed-batch-landed".to_owned(), 20)]),
        swarm: BTreeMap::new(),
        ring: None,
    }
}

fn link(b: u16) -> LinkPlan {
    LinkPlan {
        a: NodeId(0),
        b: NodeId(b),
        latency_us: 800,
        jitter_us: 300,
        bandwidth_bytes_per_s: 12_500_000,
        channels: 1 + (b % 4) as u8,
        ordered: b.is_multiple_of(2),
        loss_per_mille: 2,
        duplicate_per_mille: 1,
    }
}

fn action(id: u32) -> Action {
    Action {
        id: ActionId(id),
        at_us: u64::from(id) * 150_000,
        node: NodeId((id % 31 + 1) as u16),
        act: Act::Send(Burst {
            count: 300,
            every_us: 2_000,
            bytes: 256,
            cancel_admit_every: 50,
            cancel_after_us: 900,
            ..Burst::one(NodeId(0), Class::ALL[id as usize % 4])
        }),
    }
}

fn fault(id: u32) -> Fault {
    let node = NodeId((id % 32) as u16);
    Fault {
        id: FaultId(id),
        at: When::Operation { node, life: Life(0), operation: u64::from(id) * 7, phase: Phase::Partly },
        until_us: None,
        kind: FaultKind::Crash { node, death: Death::Power, down_us: 40_000, survivors: None },
    }
}

/// An outcome of that plan in which every law held.
pub fn held(seed: u64) -> Outcome {
    let mut draw = Draw(seed);
    let slices: Vec<Slice> = (0..SLICES).map(|index| slice(index, &mut draw)).collect();
    let intended = slices.iter().map(|slice| slice.intended).sum::<u64>();
    let losses = BTreeMap::from([
        ("link-loss", 30 + draw.below(9)),
        ("sender-crash", 41),
        ("receiver-crash", 77),
        ("caller-gone", 12),
        ("failed-batch", 9),
        ("refused", 5),
    ]);
    Outcome {
        fingerprint: std::array::from_fn(|place| (seed as u8).wrapping_mul(31).wrapping_add(place as u8 * 7)),
        checkpoints: vec![[1; 8]; 4],
        events: 184_000 + draw.below(900),
        covered: SimTime(SLICES * SLICE_NS),
        violations: Vec::new(),
        limits: BTreeMap::from([("failed-batch-landed", 3 + draw.below(4))]),
        marks: BTreeMap::from([
            ("death/power/receiver/renames", 2),
            ("death/process/sender/directory-flush", draw.below(3)),
            ("failed-batch-with-another-on-top", 1),
        ]),
        latencies: Class::ALL.iter().map(|class| latency(*class, &mut draw)).collect(),
        slice_ns: SLICE_NS,
        slices,
        fault_spans: (0..40).map(|id| span(id, &mut draw)).collect(),
        intended,
        dispatched: intended - losses.values().sum::<u64>(),
        losses,
        verdicts: BTreeMap::from([
            ("first", 64),
            ("advance", 17_950),
            ("late", 211),
            ("replay", 96),
            ("stale", 3),
        ]),
        refusals: BTreeMap::from([("unavailable", 4), ("storage", 1)]),
        faults: BTreeMap::from([
            ("crash", 22),
            ("disk-failed-flush", 9),
            ("link-partition", 6),
            ("disk-slow", 3),
        ]),
        deaths: BTreeMap::from([("power", 14), ("process", 8)]),
        bounds: vec![
            BoundUse {
                name: "store bytes at the fullest node".to_owned(),
                most: 3_145_728,
                bound: 41_943_040,
            },
            BoundUse { name: "unhandled frames of a lane".to_owned(), most: 16, bound: 16 },
            bound("streams of the fullest table", 5_200 + draw.below(5), 15_616),
            bound("streams of the fullest slot", 1_832, 3_360),
            bound("streams of one table's pool", 3_328, 3_328),
            bound("streams of one table's inbox share", 720, 768),
            bound("streams of one table's own share", 40, 1_024),
            bound("deliveries in one table's custody", 60, 64),
        ],
        batch_sizes: (1..90).map(|size| (size, 2_400 / (u64::from(size) * u64::from(size)) + 1)).collect(),
        floods: Vec::new(),
        mail: BTreeMap::from([("custody stalls", 1), ("held", 90)]),
        stalls: vec![Stall {
            node: NodeId(4),
            from: SimTime(120 * SLICE_NS),
            until: SimTime(180 * SLICE_NS),
            refused: 61,
            over: true,
        }],
        cut: None,
    }
}

fn slice(index: u64, draw: &mut Draw) -> Slice {
    if index >= 240 {
        return Slice { dispatched: [u64::from(index < 250), 0, 0, 0], ..Slice::default() };
    }
    let dip = u64::from((90..110).contains(&index) || (170..176).contains(&index));
    let dispatched = std::array::from_fn(|class| (22 - 4 * class as u64) * (4 - 3 * dip) / 4 + draw.below(6));
    Slice {
        intended: 70 + draw.below(12),
        dispatched,
        refused: dip * draw.below(5),
        batches: 9 + draw.below(4) - 6 * dip,
        records: 40 + draw.below(30) - 35 * dip,
        tables: tables(index),
    }
}

fn bound(name: &str, most: u64, bound: u64) -> BoundUse {
    BoundUse { name: name.to_owned(), most, bound }
}

fn tables(index: u64) -> TableUse {
    let grown = u32::try_from(index).expect("a slice");
    let pool = (grown.saturating_sub(60) * 20).min(3_328);
    TableUse {
        streams: 900 + 12 * grown,
        fullest_slot: 32 + pool / 2,
        pool,
        inbox: 3 * grown,
        own: 40,
        custody: grown / 4,
    }
}

fn latency(class: Class, draw: &mut Draw) -> Latency {
    let mut from_intended = Histogram::new(3).expect("three digits");
    let mut from_sent = Histogram::new(3).expect("three digits");
    let samples = [60_000, 12_000, 900, 15][class.index()];
    for _ in 0..samples {
        let base = 2 * MS + class.index() as u64 * MS / 2 + draw.below(2 * MS);
        let tail = match draw.below(1_000) {
            0 => draw.below(1_500) * MS,
            1..10 => draw.below(120) * MS,
            10..100 => draw.below(9) * MS,
            _ => 0,
        };
        from_sent.record(base + tail / 3).expect("it resizes");
        from_intended.record(base + tail).expect("it resizes");
    }
    Latency { class, from_intended, from_sent }
}

fn span(id: u64, draw: &mut Draw) -> FaultSpan {
    let from = id * 300 * MS + draw.below(90 * MS);
    let lasts = if id.is_multiple_of(3) { 0 } else { draw.below(700 * MS) };
    let kind = ["power failure", "process crash", "partition", "failed flush"][id as usize % 4];
    FaultSpan {
        fault: FaultId(id as u32),
        label: format!("{kind}, node {}", id % 32),
        from: SimTime(from),
        until: SimTime(from + lasts),
    }
}

/// An outcome in which laws were broken.
pub fn failed(seed: u64) -> Outcome {
    let violation = |law, at_ms: u64, saw: &str| Violation {
        law,
        at: SimTime(at_ms * MS),
        node: Some(NodeId(3)),
        saw: saw.to_owned(),
    };
    let twice = "node 3 dispatched 5a1f09c2->91be77d0/application#41 twice (t=8.214 s, t=11.090 s)";
    let early = "generation 12 of <record & name> was certain on no disk when its result was returned";
    Outcome {
        violations: vec![
            violation("streams/at-most-once", 11_090, twice),
            violation("commit/release", 11_250, early),
            violation("streams/at-most-once", 11_300, twice),
        ],
        ..held(seed)
    }
}

/// Marks that runs of the scenario should reach.
pub fn marks() -> BTreeMap<String, u64> {
    BTreeMap::from([
        ("death/power/receiver/renames".to_owned(), 1),
        ("death/process/sender/directory-flush".to_owned(), 50),
        ("failed-batch-with-another-on-top".to_owned(), 1),
    ])
}
