//! Quotas in a world: what passes, what is refused and why, and what failures of disks and deaths leave of them.

mod support;

use groundhog_engine::streams::key::Class;
use groundhog_sim::plan::{Act, Action, Death, DiskFault, Fault, FaultKind, Plan, Quota, When};
use groundhog_sim::units::{FaultId, NodeId};
use support::{Watched, assert_held, burst, fault, quiet_plan, watch};

const RECEIVER: NodeId = NodeId(1);

/// The seed's limits.
const SEED: Quota = Quota {
    messages_per_s: 8,
    message_burst: 32,
    bytes_per_s: 4 << 20,
    byte_burst: 64 << 20,
    records: 1_024,
};

fn plan(nodes: u16, quota: Quota, actions: Vec<Action>) -> Plan {
    let mut plan = quiet_plan(nodes);
    plan.engines.quota = Some(quota);
    plan.actions = actions;
    plan
}

fn refused(watched: &Watched, reason: &str) -> u64 {
    watched.outcome.refusals.get(reason).copied().unwrap_or(0)
}

fn held(plan: &Plan) -> Watched {
    let watched = watch(plan);
    assert_held(&watched);
    watched
}

#[test]
fn of_a_long_burst_the_quotas_burst_passes_and_then_its_rate() {
    // 160 messages in 16 ms, and 100 a second later.
    let actions = [(0, 100_000, 160), (1, 1_100_000, 100)];
    let actions =
        actions.map(|(id, at_us, count)| burst(id, at_us, 0, RECEIVER.0, Class::Application, count));
    let watched = held(&plan(2, SEED, actions.to_vec()));
    assert_eq!(watched.dispatched_between(0, 1_000_000), 32);
    assert_eq!(watched.outcome.dispatched, 32 + 8, "a second gains eight");
    assert_eq!(refused(&watched, "message-rate-exhausted"), 260 - 40);
    assert_eq!(watched.outcome.losses["refused"], 260 - 40);

    let mut without = plan(2, SEED, actions.to_vec());
    without.engines.quota = None;
    assert_eq!(held(&without).outcome.dispatched, 260);
}

#[test]
fn a_message_that_is_too_long_for_what_is_left_is_refused_and_a_shorter_one_passes() {
    let bytes = |id, at_us, bytes| {
        let mut one = burst(id, at_us, 0, RECEIVER.0, Class::Storage, 1);
        let Act::Send(burst) = &mut one.act else { panic!("a burst") };
        burst.bytes = bytes;
        one
    };
    let limits = Quota { bytes_per_s: 100, byte_burst: 1_000, ..SEED };
    let actions = vec![bytes(0, 100_000, 800), bytes(1, 200_000, 300), bytes(2, 300_000, 200)];
    let watched = held(&plan(2, limits, actions));
    assert_eq!((watched.outcome.dispatched, refused(&watched, "byte-rate-exhausted")), (2, 1));
}

#[test]
fn copies_cost_nothing() {
    let mut copies = burst(0, 100_000, 0, RECEIVER.0, Class::E2e, 20);
    let Act::Send(sent) = &mut copies.act else { panic!("a burst") };
    (sent.copies, sent.copy_every_us) = (5, 20_000);
    let later = burst(1, 300_000, 0, RECEIVER.0, Class::E2e, 12);
    let watched = held(&plan(2, SEED, vec![copies, later]));
    assert_eq!(watched.outcome.dispatched, 32);
    assert_eq!((watched.outcome.verdicts["replay"], watched.outcome.refusals.len()), (80, 0));
}

#[test]
fn what_a_relay_carries_is_held_against_its_origin() {
    let mut relayed = burst(0, 100_000, 0, 2, Class::Application, 100);
    let Act::Send(sent) = &mut relayed.act else { panic!("a burst") };
    sent.via = Some(RECEIVER);
    let own = burst(1, 100_000, 1, 2, Class::Application, 20);
    let watched = held(&plan(4, SEED, vec![relayed, own]));
    assert_eq!(watched.outcome.dispatched, 32 + 20, "the relay's own messages have a quota of their own");
    assert_eq!(refused(&watched, "message-rate-exhausted"), 68);
}

#[test]
fn an_origin_for_which_the_table_has_no_place_passes_when_another_is_replenished() {
    let to_receiver = |id, at_us, from| burst(id, at_us, from, RECEIVER.0, Class::Control, 4);
    let actions = vec![to_receiver(0, 100_000, 0), to_receiver(1, 200_000, 2), to_receiver(2, 700_000, 2)];
    let watched = held(&plan(3, Quota { records: 1, ..SEED }, actions));
    assert_eq!(refused(&watched, "quota-table-capacity-exhausted"), 4);
    assert_eq!(watched.outcome.dispatched, 8);
}

#[test]
fn a_restart_forgets_what_an_origin_has_used() {
    let long = |id, at_us| burst(id, at_us, 0, RECEIVER.0, Class::Application, 60);
    let mut crashed = plan(2, Quota { messages_per_s: 1, ..SEED }, vec![long(0, 100_000), long(1, 500_000)]);
    let kind = FaultKind::Crash { node: RECEIVER, death: Death::Process, down_us: 20_000, survivors: None };
    crashed.faults.push(Fault { id: FaultId(0), at: When::Time { us: 300_000 }, until_us: None, kind });
    assert_eq!(held(&crashed).outcome.dispatched, 64);
    crashed.faults.clear();
    assert_eq!(held(&crashed).outcome.dispatched, 32);
}

#[test]
fn what_failed_batches_were_charged_is_given_back() {
    let limits = Quota { messages_per_s: 200, message_burst: 20, records: 2, ..SEED };
    let actions = (0..12).map(|id| {
        let (from, class) = ([0, 2][id as usize % 2], Class::ALL[id as usize % 4]);
        let mut long = burst(id, 100_000 + 40_000 * u64::from(id), from, RECEIVER.0, class, 120);
        let Act::Send(sent) = &mut long.act else { panic!("a burst") };
        sent.every_us = 400;
        long
    });
    let mut failing = plan(3, limits, actions.collect());
    for (id, at_us, kind) in [
        (0, 150_000, DiskFault::FailedFlush),
        (1, 250_000, DiskFault::FailedDirectoryFlush { read_only: false }),
        (2, 350_000, DiskFault::Error),
        (3, 450_000, DiskFault::FailedDirectoryFlush { read_only: false }),
    ] {
        let on_disk =
            FaultKind::Disk { node: RECEIVER, fault: kind, operations: Vec::new(), skip: 3, count: 2 };
        failing.faults.push(fault(id, at_us, at_us + 80_000, on_disk));
    }
    let watched = held(&failing);
    assert!(watched.outcome.verdicts["failed-batch"] > 10);
    assert!(refused(&watched, "message-rate-exhausted") > 100);
    let lost: u64 = watched.outcome.losses.values().sum();
    assert_eq!(watched.outcome.dispatched + lost, watched.outcome.intended);
}

#[test]
fn a_plan_without_a_quota_says_nothing_of_one_and_a_limit_of_zero_is_refused() {
    let plan = plan(2, SEED, Vec::new());
    let text = plan.to_json();
    assert_eq!(Plan::from_json(&text).unwrap(), plan);
    let zero = text.replace("\"message_burst\": 32", "\"message_burst\": 0");
    let error = Plan::from_json(&zero).unwrap_err().to_string();
    assert_eq!(
        error,
        "engines: the quota of lane control has message_burst = 0, and nothing would ever pass: give it at least 1"
    );
    let mut without = plan;
    without.engines.quota = None;
    assert!(!without.to_json().contains("quota"));
    assert_eq!(Plan::from_json(&without.to_json()).unwrap(), without);
}
