//! What every drawn plan holds, whatever the scenario says.

use crate::plan::{
    Act, ClockFault, Crypto, Defaults, DiskProfile, Draw, FaultKind, Plan, Scenario, Sections, When,
    generate, generate_swarm,
};
use proptest::prelude::*;
use std::collections::BTreeMap;

/// A scenario with a little of everything, on so many nodes.
pub(super) fn everything(nodes: u32, chaos_ms: i64) -> Scenario {
    let Ok(mut sections) = Sections::read(&mut Defaults);
    let some = || Draw::Between(0, 3);
    let often = || Draw::OneOf(vec![(0, 1), (500, 1), (1_000, 1)]);
    sections.time.chaos_ms = Draw::Fixed(chaos_ms);
    sections.links.hubs = Draw::Between(0, 4);
    sections.load.relayed_per_mille = often();
    sections.load.copies = Draw::Between(1, 3);
    sections.load.cancel_reserve_every = Draw::OneOf(vec![(0, 1), (3, 1)]);
    sections.load.cancel_admit_every = Draw::OneOf(vec![(0, 1), (5, 1)]);
    sections.links.loss_per_mille = Draw::Between(0, 30);
    sections.links.duplicate_per_mille = Draw::Between(0, 30);
    sections.load.rotate_every_ms = Draw::OneOf(vec![(0, 1), (300, 1)]);
    sections.peers.chunk_bytes = Draw::Fixed(4_000);
    sections.engines.quota_messages_per_s = Draw::OneOf(vec![(0, 1), (8, 1)]);
    sections.engines.delegation_lifetime_ms = Draw::OneOf(vec![(900, 1), (2_592_000_000, 1)]);
    for count in [
        &mut sections.crashes.in_commit,
        &mut sections.crashes.at_operation,
        &mut sections.crashes.at_poll,
        &mut sections.crashes.at_time,
        &mut sections.disks.failing_batches,
        &mut sections.disks.lost_markers,
        &mut sections.disks.errors,
        &mut sections.disks.no_space,
        &mut sections.disks.failed_flushes,
        &mut sections.disks.failed_directory_flushes,
        &mut sections.disks.read_only,
        &mut sections.disks.slow,
        &mut sections.disks.stuck,
        &mut sections.disks.write_backs,
        &mut sections.network.partitions,
        &mut sections.network.losses,
        &mut sections.network.duplicates,
        &mut sections.network.delays,
        &mut sections.network.narrow,
        &mut sections.network.stalled_channels,
        &mut sections.scenes.stalled_classes,
        &mut sections.scenes.stalled_channels,
        &mut sections.scenes.stalled_receivers,
        &mut sections.scenes.floods,
        &mut sections.handlers.stalls,
        &mut sections.handlers.slow_processors,
        &mut sections.peers.dropped_connections,
        &mut sections.peers.namespace_bursts,
        &mut sections.peers.long_bursts,
        &mut sections.clocks.steps,
        &mut sections.clocks.drifts,
        &mut sections.clocks.freezes,
        &mut sections.clocks.pauses,
        &mut sections.clocks.snapshots,
        &mut sections.adversaries.replays,
    ] {
        *count = some();
    }
    sections.crashes.in_open_per_mille = often();
    sections.disks.power_after_failure_per_mille = often();
    sections.clocks.skewed_per_mille = often();
    sections.clocks.offset_ms = Draw::Between(-4_000, 4_000);
    sections.clocks.drift_ppm = Draw::Between(-100_000, 100_000);
    sections.clocks.wrong_at_boot_per_mille = often();
    sections.clocks.wrong_at_boot_ms = Draw::Between(-4_000, 4_000);
    sections.clocks.step_ms = Draw::Between(-4_000, 4_000);
    sections.clocks.drifts_ppm = Draw::Between(-500_000, 500_000);
    sections.clocks.snapshot_behind_ms = Draw::Between(0, 4_000);
    Scenario {
        name: "everything".to_owned(),
        about: String::new(),
        nodes,
        counts_for: 8,
        crypto: vec![(Crypto::Ed25519, 1)],
        disk: vec![(DiskProfile::Strict, 1), (DiskProfile::Ordered, 1)],
        sections,
        seeds_per_thousand: 1_000,
        limits: BTreeMap::new(),
    }
}

/// The most that each node's wall clock may be wrong at any time, in microseconds: all errors that it is dealt, summed.
fn most_wrong_us(plan: &Plan) -> Vec<i128> {
    let end = i128::from(plan.end_us);
    let at_start = plan.nodes.iter().map(|node| {
        let boot = i128::from(node.clock.wrong_at_boot_ms.abs()) * 1_000;
        let drift = i128::from(node.clock.drift_ppm.abs()) * end / 1_000_000;
        i128::from(node.clock.offset_ms.abs()) * 1_000 + boot + drift
    });
    let mut wrong: Vec<i128> = at_start.collect();
    for fault in &plan.faults {
        let FaultKind::Clock { node, fault: kind } = &fault.kind else { continue };
        let When::Time { us } = fault.at else { unreachable!("clocks fail at times") };
        let lasts = i128::from(fault.until_us.unwrap_or(us) - us);
        wrong[node.index()] += match kind {
            ClockFault::Step { by_ms } => i128::from(by_ms.abs()) * 1_000,
            ClockFault::Drift { ppm } => i128::from(ppm.abs()) * lasts / 1_000_000,
            ClockFault::Freeze => lasts,
            ClockFault::Pause => 0,
            ClockFault::BehindAtBoot { by_ms } => i128::from(*by_ms) * 1_000,
        };
    }
    wrong
}

#[test]
fn a_quota_is_drawn_where_a_scenario_asks_for_one_and_moves_nothing_else() {
    let mut scenario = everything(6, 500);
    let mut plan = |messages_per_s| {
        scenario.sections.engines.quota_messages_per_s = Draw::Fixed(messages_per_s);
        generate(&scenario, 3)
    };
    let (none, some) = (plan(0), plan(9));
    let quota = some.engines.quota.expect("a quota");
    let seeds = (quota.message_burst, quota.bytes_per_s, quota.byte_burst, quota.records);
    assert_eq!((quota.messages_per_s, seeds), (9, (32, 4_194_304, 67_108_864, 1_024)));
    let engines = crate::plan::Engines { quota: None, ..some.engines };
    assert_eq!(none, Plan { engines, ..some });
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, ..ProptestConfig::default() })]

    #[test]
    fn a_plan_is_valid_and_a_function_of_scenario_and_seed(
        nodes in 2_u32..40, chaos_ms in 1_i64..4_000, seed in any::<u64>(),
    ) {
        let scenario = everything(nodes, chaos_ms);
        for draw in [generate, generate_swarm] {
            let plan = draw(&scenario, seed);
            prop_assert_eq!(plan.check().map_err(|error| error.to_string()), Ok(()));
            prop_assert_eq!(&plan, &draw(&scenario, seed));
            prop_assert_ne!(plan.schedule_seed, draw(&scenario, seed.wrapping_add(1)).schedule_seed);
            let read = Plan::from_json(&plan.to_json()).map_err(|error| error.to_string());
            prop_assert_eq!(read.as_ref(), Ok(&plan));
        }
    }

    #[test]
    fn faults_end_before_quiescence_and_nodes_are_up_before_anything_must_arrive(
        nodes in 2_u32..40, chaos_ms in 1_i64..4_000, seed in any::<u64>(), swarm in any::<bool>(),
    ) {
        let draw = if swarm { generate_swarm } else { generate };
        let plan = draw(&everything(nodes, chaos_ms), seed);
        let settle_us = plan.end_us - plan.quiesce_us;
        for fault in &plan.faults {
            if let When::Time { us } = fault.at {
                prop_assert!(us < plan.quiesce_us, "{:?}", fault);
                prop_assert!(fault.until_us.is_none_or(|until| us < until && until <= plan.quiesce_us), "{:?}", fault);
            }
            if let FaultKind::Crash { down_us, .. } = fault.kind {
                prop_assert!((1..=settle_us / 8).contains(&down_us), "{:?}", fault);
            }
        }
        for action in &plan.actions {
            let after = action.at_us >= plan.quiesce_us;
            prop_assert!(!after || action.at_us >= plan.quiesce_us + settle_us / 4, "{:?}", action);
            prop_assert!(action.at_us < plan.end_us);
        }
    }

    #[test]
    fn any_two_clocks_differ_by_at_most_the_tolerance(
        nodes in 2_u32..40, chaos_ms in 1_i64..4_000, seed in any::<u64>(), swarm in any::<bool>(),
    ) {
        let draw = if swarm { generate_swarm } else { generate };
        let plan = draw(&everything(nodes, chaos_ms), seed);
        let wrong = most_wrong_us(&plan);
        let most = wrong.iter().max().copied().unwrap_or(0);
        let tolerance = i128::from(plan.engines.clock_tolerance_ms) * 1_000;
        prop_assert!(2 * most <= tolerance, "{} us of {} us", 2 * most, tolerance);
    }
}

#[test]
fn a_thousand_nodes_have_load_faults_and_links_in_proportion() {
    let small = generate(&everything(8, 1_000), 1);
    let large = generate(&everything(1_000, 1_000), 1);
    assert_eq!(large.check().map_err(|error| error.to_string()), Ok(()));
    assert!(large.actions.len() > 20 * small.actions.len());
    assert!(large.links.len() < 4 * large.nodes.len(), "links exist where they are used");
}

#[test]
fn one_more_crash_moves_no_message() {
    let scenario = everything(12, 2_000);
    let mut crashing = scenario.clone();
    crashing.sections.crashes.at_time = Draw::Fixed(9);
    let (few, many) = (generate(&scenario, 5), generate(&crashing, 5));
    assert_ne!(few.faults, many.faults);
    assert_eq!(few.actions, many.actions);
    assert_eq!(few.links, many.links);
}

#[test]
fn deaths_in_group_commit_are_dealt_evenly_over_kind_role_and_phase() {
    let mut scenario = everything(16, 2_000);
    scenario.sections.links.hubs = Draw::Fixed(3);
    scenario.counts_for = 16;
    scenario.sections.crashes.in_commit = Draw::Fixed(10);
    scenario.sections.crashes.in_open_per_mille = Draw::Fixed(0);
    let mut cells: BTreeMap<String, u32> = BTreeMap::new();
    for seed in 0..200 {
        for fault in generate(&scenario, seed).faults {
            if let (When::Step { step, table: Some(table), .. }, FaultKind::Crash { death, .. }) =
                (fault.at, fault.kind)
            {
                *cells.entry(format!("{death:?} {table:?} {}", step.0.id())).or_default() += 1;
            }
        }
    }
    assert_eq!(cells.len(), 20);
    let expected = 200 * 10 / 20;
    assert!(
        cells.values().all(|count| (expected * 6 / 10..=expected * 14 / 10).contains(count)),
        "{cells:?}"
    );
}

#[test]
fn whoever_signs_with_a_short_delegation_takes_a_fresh_key_before_it_must_be_heard() {
    let mut scenario = everything(8, 2_000);
    scenario.sections.engines.delegation_lifetime_ms = Draw::Fixed(900);
    scenario.sections.links.hubs = Draw::Fixed(3);
    scenario.sections.load.relayed_per_mille = Draw::Fixed(1_000);
    let plan = generate(&scenario, 3);
    for action in plan.actions.iter().filter(|action| action.at_us >= plan.quiesce_us) {
        let Act::Send(burst) = &action.act else { continue };
        for signer in [Some(action.node), burst.via].into_iter().flatten() {
            let fresh = plan.actions.iter().any(|other| {
                other.act == Act::RotateDelegatee
                    && other.node == signer
                    && (plan.quiesce_us..action.at_us).contains(&other.at_us)
            });
            assert!(fresh, "{signer} in {action:?}");
        }
    }
}
