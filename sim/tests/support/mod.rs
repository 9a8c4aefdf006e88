//! Small plans to run in tests.

#![allow(dead_code, reason = "each test file uses some of it")]

pub mod ring;

use groundhog_engine::streams::key::Class;
use groundhog_sim::ledger::kind::EventKind;
use groundhog_sim::outcome::Outcome;
use groundhog_sim::plan::{
    Act, Action, Burst, ClockPlan, Costs, Crypto, DiskLatency, DiskProfile, Engines, FORMAT, Fault,
    FaultKind, LinkPlan, NodePlan, Plan, Profile, When,
};
use groundhog_sim::run::{RunOptions, run};
use groundhog_sim::units::{ActionId, FaultId, NodeId, SimTime};
use std::sync::{Arc, Mutex};

/// Nodes in a ring of links, real figures everywhere, nothing to do and nothing that goes wrong.
pub fn quiet_plan(nodes: u16) -> Plan {
    let link = |a: u16, b: u16| LinkPlan {
        a: NodeId(a.min(b)),
        b: NodeId(a.max(b)),
        latency_us: 500,
        jitter_us: 200,
        bandwidth_bytes_per_s: 0,
        channels: 4,
        ordered: true,
        loss_per_mille: 0,
        duplicate_per_mille: 0,
    };
    let mut links: Vec<LinkPlan> = (1..nodes).map(|node| link(node - 1, node)).collect();
    if nodes > 2 {
        links.push(link(nodes - 1, 0));
    }
    Plan {
        format: FORMAT,
        groundhog: env!("CARGO_PKG_VERSION").to_owned(),
        scenario: "test".to_owned(),
        seed: 7,
        schedule_seed: 7,
        flaws: Vec::new(),
        crypto: Crypto::KeyedHash,
        profile: Profile {
            disk: DiskProfile::Strict,
            disk_latency: DiskLatency {
                metadata_ns: 20_000,
                transfer_ns: 10_000,
                flush_ns: 500_000,
                flush_directory_ns: 800_000,
                jitter_per_mille: 300,
            },
            costs: Costs {
                signature_ns: 25_000,
                verification_ns: 53_000,
                hash_kib_ns: 700,
                code_kib_ns: 300,
                handler_ns: 10_000,
            },
            disk_capacity_bytes: 0,
            disk_ignores_case: false,
        },
        engines: Engines {
            network_id: 1,
            stream_capacity: 16_384,
            store_budget_bytes: 40 * 1024 * 1024,
            delegation_lifetime_ms: 30 * 86_400_000,
            transaction_lifetime_ms: 600_000,
            clock_tolerance_ms: 3_000,
            quota: None,
            slots: None,
            links: Default::default(),
            mail: None,
        },
        nodes: (0..nodes)
            .map(|id| NodePlan { id: NodeId(id), cores: 2, clock: ClockPlan::default() })
            .collect(),
        links,
        actions: Vec::new(),
        faults: Vec::new(),
        quiesce_us: 2_000_000,
        end_us: 3_000_000,
        limits: Default::default(),
        swarm: Default::default(),
        ring: None,
    }
}

/// A burst of messages that begins at `at_us`.
pub fn burst(id: u32, at_us: u64, from: u16, to: u16, class: Class, count: u32) -> Action {
    Action {
        id: ActionId(id),
        at_us,
        node: NodeId(from),
        act: Act::Send(Burst { count, every_us: 100, ..Burst::one(NodeId(to), class) }),
    }
}

/// One event of a run, as its timeline tells it.
#[derive(Clone, Debug)]
pub struct Told {
    /// True simulated time.
    pub at: SimTime,
    /// Where, if at one node.
    pub node: Option<NodeId>,
    /// What kind of event.
    pub kind: EventKind,
    /// The line.
    pub text: String,
}

/// A run and every line of its timeline.
#[derive(Debug)]
pub struct Watched {
    /// What it gave.
    pub outcome: Outcome,
    /// All events, in order.
    pub told: Vec<Told>,
}

impl Watched {
    /// Every event of a kind.
    pub fn of(&self, kind: EventKind) -> impl Iterator<Item = &Told> {
        self.told.iter().filter(move |told| told.kind == kind)
    }

    /// How many events of a kind happened at a node.
    pub fn count_at(&self, node: u16, kind: EventKind) -> usize {
        self.of(kind).filter(|told| told.node == Some(NodeId(node))).count()
    }

    /// When the last message was dispatched.
    pub fn last_dispatch(&self) -> SimTime {
        self.of(EventKind::Dispatched).last().expect("something was dispatched").at
    }

    /// How many messages were dispatched between two true times, the second excluded.
    pub fn dispatched_between(&self, from_us: u64, until_us: u64) -> usize {
        let span = SimTime::from_us(from_us)..SimTime::from_us(until_us);
        self.of(EventKind::Dispatched).filter(|told| span.contains(&told.at)).count()
    }

    /// Disk answers that a fault made what they are.
    pub fn injected(&self) -> usize {
        self.of(EventKind::DiskAnswered).filter(|told| told.text.ends_with("(fault)")).count()
    }
}

/// Runs a plan with every law, and keeps its timeline.
pub fn watch(plan: &Plan) -> Watched {
    let lines = Arc::new(Mutex::new(Vec::new()));
    let kept = Arc::clone(&lines);
    let mut options = RunOptions::default();
    options.ledger.sink = Some(Box::new(move |line| {
        let kind = EventKind::ALL.iter().copied().find(|kind| *kind as u8 == line.encoded[0]);
        kept.lock().unwrap().push(Told {
            at: line.at,
            node: line.node,
            kind: kind.expect("an encoding opens with its kind"),
            text: line.text.to_owned(),
        });
    }));
    let outcome = run(plan, options).expect("the plan runs");
    let told = std::mem::take(&mut *lines.lock().unwrap());
    Watched { outcome, told }
}

/// Every law held, and the run was whole.
pub fn assert_held(watched: &Watched) {
    let Watched { outcome, told } = watched;
    if !outcome.held() {
        for line in told.iter().rev().take(60).rev() {
            println!("{}", line.text);
        }
    }
    assert_eq!(outcome.violations, [], "a law was broken");
    assert_eq!(outcome.cut, None);
}

/// Each fault that began ended, once, and none did anything after quiescence.
pub fn assert_faults_ended(watched: &Watched) {
    let (began, ended) = (EventKind::FaultBegan, EventKind::FaultEnded);
    let faults = |kind| {
        let mut ids: Vec<_> = watched.of(kind).map(|told| told.text[35..].to_owned()).collect();
        ids.sort();
        ids
    };
    assert_eq!(faults(began), faults(ended), "what began has ended, once");
    let mut after = watched.told.iter().skip_while(|told| told.kind != EventKind::Quiesced);
    assert!(after.next().is_some(), "every run reaches quiescence");
    for told in after {
        let by_plan = told.kind == EventKind::Died && told.text.contains(", fault ");
        let of_fault = [began, ended].contains(&told.kind) || by_plan || told.text.ends_with("(fault)");
        assert!(!of_fault, "after quiescence: {}", told.text);
    }
}

/// A fault from one true time to another.
pub fn fault(id: u32, from_us: u64, until_us: u64, kind: FaultKind) -> Fault {
    Fault { id: FaultId(id), at: When::Time { us: from_us }, until_us: Some(until_us), kind }
}

/// A plan with a fault, run beside the same plan without it: its laws held, it told its begin and its end, and the two
/// runs differ. What was sent after it, or after quiescence, was dispatched all the same.
pub fn with_and_without(plan: &Plan, fault: Fault) -> (Watched, Watched) {
    let quiet = watch(plan);
    assert_held(&quiet);
    let mut faulty = plan.clone();
    faulty.faults.push(fault);
    let struck = watch(&faulty);
    assert_held(&struck);
    assert_faults_ended(&struck);
    assert_eq!(struck.of(EventKind::FaultBegan).count(), 1, "the fault began");
    assert_ne!(struck.outcome.fingerprint, quiet.outcome.fingerprint, "the fault changes the run");
    // What the fault held is dispatched before the first message after quiescence is sent.
    let after = |watched: &Watched| watched.dispatched_between(plan.quiesce_us + 100_000, plan.end_us);
    assert!(after(&quiet) > 0, "something is sent after quiescence");
    assert_eq!(after(&struck), after(&quiet), "what is sent after quiescence is dispatched");
    (struck, quiet)
}

/// Two nodes, of which the first sends 200 messages over the first second, and 50 after quiescence.
pub fn one_way_plan() -> Plan {
    let mut plan = quiet_plan(2);
    plan.actions.push(slow_burst(0, 100_000, 200, 5_000));
    plan.actions.push(slow_burst(1, plan.quiesce_us + 100_000, 50, 5_000));
    plan
}

fn slow_burst(id: u32, at_us: u64, count: u32, every_us: u64) -> Action {
    let mut action = burst(id, at_us, 0, 1, Class::Application, count);
    if let Act::Send(burst) = &mut action.act {
        burst.every_us = every_us;
    }
    action
}
