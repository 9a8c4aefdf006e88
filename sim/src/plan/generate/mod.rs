//! `scenario + seed -> plan`: pure, integers only, each part drawn from its own keyed stream.
//!
//! Promise: one scenario and one seed give one plan, in any process; what a plan names exists, every fault ends before
//! quiescence, and no two clocks part further than the tolerance.

mod adversaries;
mod clocks;
mod crashes;
mod disks;
mod flooders;
mod links;
mod load;
mod mail;
mod mail_reset;
mod network;
mod ring;
mod ring_floods;
mod scenes;
mod second_runtimes;
mod shape;
mod store;
#[cfg(test)]
mod swarm_tests;
#[cfg(test)]
mod tests;

use super::check::MAX_RUN_US;
use super::dice::Dice;
use super::fault::{DiskFault, DiskOperation, LinkFault};
use super::rest::at_rest_us;
use super::swarm::{self, Intensity, Kind, Levels};
use super::{Action, Engines, Fault, FaultKind, Plan, Profile, Quota, Scenario, Slots, When};
use super::{Costs, DiskLatency};
use crate::units::{ActionId, FaultId, NodeId};
use groundhog_engine::streams::slots::DEFAULT_SUCCESSORS;
use shape::Shape;
use std::collections::BTreeMap;

/// What is drawn so far, and what every part needs to know.
struct Draft<'a> {
    scenario: &'a Scenario,
    seed: u64,
    /// What the seed has of each kind of fault; empty without swarm.
    levels: Levels,
    chaos_us: u64,
    end_us: u64,
    shape: Shape,
    ring: Option<super::RingPlan>,
    actions: Vec<Action>,
    faults: Vec<Fault>,
    /// The life in which the next death aimed at a node by its life will strike.
    lives: BTreeMap<NodeId, u32>,
    /// Whose second runtime each node beyond the scenario's is.
    seconds: Vec<NodeId>,
}

impl Draft<'_> {
    fn dice(&self, purpose: &str, place: u64) -> Dice {
        Dice::new(self.seed, purpose, place)
    }

    /// How many of something this seed has, scaled to the number of nodes.
    fn count(&self, purpose: &str, draw: &super::Draw) -> u64 {
        self.scenario.scaled(draw, &mut self.dice(purpose, u64::MAX))
    }

    /// What the seed makes of what is drawn for a kind of fault.
    fn intensity(&self, kind: Kind) -> Intensity {
        Intensity::of(&self.levels, kind)
    }

    /// How many of a kind of fault this seed has.
    fn faults_of(&self, kind: Kind, purpose: &str) -> u64 {
        self.intensity(kind).count(self.count(purpose, kind.of(&self.scenario.sections)))
    }

    fn fault(&mut self, at: When, until_us: Option<u64>, kind: FaultKind) {
        // Ids are given in the end, in order of begin.
        self.faults.push(Fault { id: FaultId(0), at, until_us, kind });
    }

    fn disk_fault(&mut self, node: NodeId, span: Span, fault: DiskFault, strikes: Strikes) {
        let Strikes { operations, skip, count } = strikes;
        let kind = FaultKind::Disk { node, fault, operations, skip, count };
        self.fault(When::Time { us: span.from_us }, Some(span.until_us), kind);
    }

    fn link_fault(&mut self, (from, to): (NodeId, NodeId), one_way: bool, span: Span, fault: LinkFault) {
        let kind = FaultKind::Link { from, to, one_way, fault };
        self.fault(When::Time { us: span.from_us }, Some(span.until_us), kind);
    }

    /// A span of about `lasts_ms` that begins and ends within the chaos.
    fn span(&self, dice: &mut Dice, lasts_ms: u64) -> Span {
        let from_us = dice.below(self.chaos_us * 9 / 10 + 1);
        self.span_from(from_us, lasts_ms)
    }

    fn span_from(&self, from_us: u64, lasts_ms: u64) -> Span {
        let from_us = from_us.min(self.chaos_us - 1);
        let until_us =
            from_us.saturating_add(lasts_ms.saturating_mul(1_000)).clamp(from_us + 1, self.chaos_us);
        Span { from_us, until_us }
    }

    /// A node that takes part in the workload; a hub more often than not.
    fn busy_node(&self, dice: &mut Dice) -> NodeId {
        if dice.per_mille(700)
            && let Some(hub) = dice.pick(&self.shape.hubs)
        {
            return hub.node;
        }
        let sends: Vec<&Action> =
            self.actions.iter().filter(|action| matches!(action.act, super::Act::Send(_))).collect();
        match dice.pick(&sends) {
            Some(action) => action.node,
            None => NodeId(dice.below(u64::from(self.scenario.nodes)) as u16),
        }
    }
}

/// From when until when a fault lasts.
#[derive(Clone, Copy)]
struct Span {
    from_us: u64,
    until_us: u64,
}

/// Which operations a disk fault strikes.
struct Strikes {
    operations: Vec<DiskOperation>,
    skip: u32,
    count: u32,
}

/// The plan of one seed.
///
/// # Panics
/// When the scenario breaks a range of its keys, or has fewer than 2 or more than [`super::MAX_NODES`] nodes: readers of
/// scenarios check both.
#[must_use]
pub fn generate(scenario: &Scenario, seed: u64) -> Plan {
    with_levels(scenario, seed, |_| Levels::new())
}

/// The plan of one seed in which each kind of fault of the scenario is off, light or heavy.
///
/// # Panics
/// As [`generate`].
#[must_use]
pub fn generate_swarm(scenario: &Scenario, seed: u64) -> Plan {
    with_levels(scenario, seed, |scenario| swarm::levels(scenario, seed))
}

/// `levels` is asked once the scenario is the one that the seed draws from.
fn with_levels(scenario: &Scenario, seed: u64, levels: impl FnOnce(&Scenario) -> Levels) -> Plan {
    assert!((2..=super::MAX_NODES as u32).contains(&scenario.nodes), "{} nodes", scenario.nodes);
    let quiet_per_mille = scenario.sections.scenes.quiet_per_mille.roll_u64(&mut Dice::new(seed, "quiet", 0));
    let quieted = Dice::new(seed, "quiet", 1).per_mille(quiet_per_mille).then(|| scenario.quieted());
    let scenario = quieted.as_ref().unwrap_or(scenario);
    let mut dice = Dice::new(seed, "time", 0);
    let chaos_us = scenario.sections.time.chaos_ms.roll_u64(&mut dice) * 1_000;
    let end_us = chaos_us + scenario.sections.time.settle_ms.roll_u64(&mut dice) * 1_000;
    let levels = levels(scenario);
    let ring = ring::draw(scenario, seed, &levels);
    let shape = match &ring {
        None => Shape::draw(scenario, seed, chaos_us, &levels),
        Some(ring) => Shape::unlinked(scenario, seed, ring.successors),
    };
    let (actions, faults, lives, seconds) = Default::default();
    let mut draft =
        Draft { scenario, seed, levels, chaos_us, end_us, shape, ring, actions, faults, lives, seconds };
    let engines = engines(&draft);
    load::draw(&mut draft, &engines);
    ring::membership(&mut draft);
    scenes::draw(&mut draft);
    links::draw(&mut draft);
    mail::draw(&mut draft, &engines);
    adversaries::draw(&mut draft);
    flooders::draw(&mut draft);
    second_runtimes::draw(&mut draft);
    crashes::draw(&mut draft);
    disks::draw(&mut draft);
    network::draw(&mut draft);
    store::draw(&mut draft);
    links::draw_faults(&mut draft);
    let clocks = clocks::draw(&mut draft);
    finish(draft, engines, clocks)
}

fn finish(draft: Draft<'_>, engines: Engines, nodes: Vec<super::NodePlan>) -> Plan {
    let profile = profile(&draft);
    let Draft { scenario, seed, levels, chaos_us, end_us, shape, ring, mut actions, mut faults, .. } = draft;
    actions.sort_by_key(|action| (action.at_us, action.node));
    for (action, id) in actions.iter_mut().zip(0..) {
        action.id = ActionId(id);
    }
    faults.sort_by_key(|fault| match fault.at {
        When::Time { us } => us,
        _ => 0,
    });
    for (fault, id) in faults.iter_mut().zip(0..) {
        fault.id = FaultId(id);
    }
    let mut plan = Plan {
        format: super::FORMAT,
        groundhog: env!("CARGO_PKG_VERSION").to_owned(),
        scenario: scenario.name.clone(),
        seed,
        schedule_seed: Dice::new(seed, "schedule", 0).bits(),
        flaws: Vec::new(),
        crypto: Dice::new(seed, "crypto", 0).weighted(&scenario.crypto),
        profile,
        engines,
        nodes,
        links: shape.links,
        actions,
        faults,
        quiesce_us: chaos_us,
        end_us,
        limits: scenario
            .limits
            .iter()
            .map(|(id, most)| (id.clone(), swarm::ceiling(&levels, *most)))
            .collect(),
        swarm: levels,
        ring,
    };
    plan.end_us = plan.end_us.max(at_rest_us(&plan)).min(MAX_RUN_US);
    plan
}

fn engines(draft: &Draft<'_>) -> Engines {
    let bounds = &draft.scenario.sections.engines;
    let mut dice = draft.dice("engines", 0);
    Engines {
        network_id: bounds.network_id.roll_u32(&mut dice),
        stream_capacity: bounds.stream_capacity.roll_u32(&mut dice),
        store_budget_bytes: bounds.store_budget_bytes.roll_u64(&mut dice),
        delegation_lifetime_ms: bounds.delegation_lifetime_ms.roll_u64(&mut dice),
        transaction_lifetime_ms: bounds.transaction_lifetime_ms.roll_u64(&mut dice),
        clock_tolerance_ms: bounds.clock_tolerance_ms.roll_u64(&mut dice),
        quota: quota(draft),
        slots: slots(draft),
        links: links::engines(draft),
        mail: mail::plan(draft),
    }
}

/// Absent where every figure is the seed's.
fn slots(draft: &Draft<'_>) -> Option<Slots> {
    let bounds = &draft.scenario.sections.engines;
    let mut dice = draft.dice("slots", 0);
    let successors = bounds.successors.roll_u32(&mut dice) as u8;
    let of_successors = Slots::of_successors(successors);
    let slots = match bounds.slots.roll_u32(&mut dice) as u16 {
        0 => of_successors.slots,
        slots => slots,
    };
    let drawn = Slots {
        slots,
        floor: bounds.slot_floor.roll_u32(&mut dice),
        pool: bounds.slot_pool.roll_u32(&mut dice),
        inbox: bounds.inbox_share.roll_u32(&mut dice),
        self_share: bounds.self_share.roll_u32(&mut dice),
    };
    (drawn != Slots::of_successors(DEFAULT_SUCCESSORS)).then_some(drawn)
}

fn quota(draft: &Draft<'_>) -> Option<Quota> {
    let bounds = &draft.scenario.sections.engines;
    let mut dice = draft.dice("quota", 0);
    let messages_per_s = bounds.quota_messages_per_s.roll_u64(&mut dice);
    (messages_per_s > 0).then(|| Quota {
        messages_per_s,
        message_burst: bounds.quota_message_burst.roll_u64(&mut dice),
        bytes_per_s: bounds.quota_bytes_per_s.roll_u64(&mut dice),
        byte_burst: bounds.quota_byte_burst.roll_u64(&mut dice),
        records: bounds.quota_records.roll_u32(&mut dice),
    })
}

fn profile(draft: &Draft<'_>) -> Profile {
    let machines = &draft.scenario.sections.machines;
    let mut dice = draft.dice("machines", 0);
    let disk = dice.weighted(&draft.scenario.disk);
    let mut ns = |draw: &super::Draw, unit| draw.roll_u64(&mut dice) * unit;
    Profile {
        disk,
        disk_latency: DiskLatency {
            metadata_ns: ns(&machines.metadata_us, 1_000),
            transfer_ns: ns(&machines.transfer_us, 1_000),
            flush_ns: ns(&machines.flush_us, 1_000),
            flush_directory_ns: ns(&machines.flush_directory_us, 1_000),
            jitter_per_mille: machines.disk_jitter_per_mille.roll_u32(&mut draft.dice("jitter", 0)),
        },
        costs: Costs {
            signature_ns: ns(&machines.signature_ns, 1),
            verification_ns: ns(&machines.verification_ns, 1),
            hash_kib_ns: ns(&machines.hash_kib_ns, 1),
            code_kib_ns: ns(&machines.code_kib_ns, 1),
            handler_ns: ns(&machines.handler_ns, 1),
        },
        disk_capacity_bytes: ns(&machines.disk_capacity_bytes, 1),
        disk_ignores_case: {
            let mut dice = draft.dice("ignores-case", 0);
            let per_mille = machines.disk_ignores_case_per_mille.roll_u64(&mut dice);
            dice.per_mille(per_mille)
        },
    }
}
