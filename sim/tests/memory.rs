//! Runs leave nothing behind: the memory of a process does not grow with the runs that it made.

mod support;

use groundhog_engine::streams::key::Class;
use groundhog_sim::plan::{Act, Death, FaultKind, Plan};
use groundhog_sim::run::{RunOptions, run};
use groundhog_sim::units::NodeId;
use support::{burst, fault, quiet_plan};

/// Resident memory of this process in KiB.
fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells it");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("it is among them");
    line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number")
}

/// Four nodes that all send, wait, die and boot, cut off by the end of the run while tasks, timers and frames wait.
fn plan(seed: u64) -> Plan {
    let mut plan = quiet_plan(4);
    (plan.seed, plan.schedule_seed) = (seed, seed);
    for (id, from) in (0..).zip(0..4_u16) {
        let mut action = burst(id, 10_000, from, (from + 1) % 4, Class::ALL[usize::from(from)], 20);
        if let Act::Send(burst) = &mut action.act {
            (burst.every_us, burst.cancel_admit_every, burst.cancel_after_us) = (2_000, 2, 1_000_000);
        }
        plan.actions.push(action);
    }
    let crash = FaultKind::Crash { node: NodeId(1), death: Death::Power, down_us: 5_000, survivors: None };
    plan.faults.push(fault(0, 30_000, 30_000, crash));
    (plan.quiesce_us, plan.end_us) = (48_000, 50_000);
    plan
}

fn run_all(seeds: std::ops::Range<u64>) {
    let laws = groundhog_sim::ledger::LawSelection::None;
    for seed in seeds {
        let mut options = RunOptions::default();
        options.ledger.laws = laws.clone();
        let outcome = run(&plan(seed), options).expect("the plan runs");
        assert!(outcome.dispatched > 20, "{}", outcome.dispatched);
    }
}

#[test]
fn a_thousand_runs_take_no_more_memory_than_a_hundred() {
    run_all(0..100);
    let after_100 = resident_kib();
    run_all(100..1_000);
    let after_1_000 = resident_kib();
    println!("{after_100} KiB after 100 runs, {after_1_000} KiB after 1,000");
    assert!(after_1_000 * 10 <= after_100 * 12, "{after_100} KiB grew to {after_1_000} KiB");
}
