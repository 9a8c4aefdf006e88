//! What somebody does to a store costs the streams that it touches, as the seed says, and no other.

mod support;

use groundhog_engine::streams::key::{Class, Table};
use groundhog_sim::ledger::kind::EventKind;
use groundhog_sim::plan::{
    Act, Action, Death, Fault, FaultKind, FrameName, Plan, RecordOf, StoreAct, Survivors, When,
};
use groundhog_sim::units::{ActionId, FaultId, NodeId};
use support::{Watched, assert_held, burst, quiet_plan, watch};

const RECEIVER: NodeId = NodeId(1);
const ACT_US: u64 = 200_000;

/// Three messages of each of two streams, an act, and then one more of each and the very first once again.
fn plan_of(act: StoreAct, stopped_us: u64) -> Plan {
    let mut plan = quiet_plan(2);
    plan.actions.push(burst(0, 50_000, 0, RECEIVER.0, Class::Control, 3));
    plan.actions.push(burst(1, 50_000, 0, RECEIVER.0, Class::Storage, 3));
    plan.actions.push(burst(2, 400_000, 0, RECEIVER.0, Class::Control, 1));
    plan.actions.push(burst(3, 400_000, 0, RECEIVER.0, Class::Storage, 1));
    let frame =
        FrameName { origin: NodeId(0), destination: RECEIVER, class: Class::Control, sequence: 0, copy: 0 };
    let act_again = Act::Replay { frame, to: RECEIVER, lane: None };
    plan.actions.push(Action { id: ActionId(4), at_us: 450_000, node: NodeId(0), act: act_again });
    let node = act.records().first().map_or(RECEIVER, RecordOf::holder);
    let kind = FaultKind::Store { node, act, stopped_us };
    plan.faults.push(Fault { id: FaultId(0), at: When::Time { us: ACT_US }, until_us: None, kind });
    (plan.quiesce_us, plan.end_us) = (600_000, 900_000);
    plan
}

const fn record(class: Class, table: Table) -> RecordOf {
    RecordOf { origin: NodeId(0), destination: RECEIVER, class, table }
}

/// Why records did not restore; calls refused as unavailable; dispatches after the act.
fn told(watched: &Watched) -> (Vec<String>, usize, usize) {
    let reason = |text: &str| {
        let reason = text.split(" is ").nth(1).unwrap_or_default();
        reason.split([',', ' ']).next().unwrap_or_default().to_owned()
    };
    let mut why: Vec<String> =
        watched.of(EventKind::EngineUnrestorable).map(|told| reason(&told.text)).collect();
    why.sort();
    let answers = watched.of(EventKind::Answered).chain(watched.of(EventKind::ReserveAnswered));
    let refused = answers.filter(|told| told.text.contains("stream-unavailable")).count();
    (why, refused, watched.dispatched_between(ACT_US, 600_000))
}

#[test]
fn each_act_on_a_receiver_s_record_costs_what_the_seed_says() {
    let (of, other) = (record(Class::Control, Table::Receiver), record(Class::Storage, Table::Receiver));
    // The act; why records do not restore; calls refused; dispatches of the three that come after; of these, again.
    let cases: [(StoreAct, &[&str], usize, usize, u64); 13] = [
        (StoreAct::RemoveRecord { of }, &["missing"], 2, 1, 0),
        (StoreAct::RemoveMarker { of }, &[], 0, 2, 0),
        (StoreAct::UpperCase { of }, &["missing"], 2, 1, 0),
        (StoreAct::Rename { of, to: other }, &["misfiled", "missing"], 3, 0, 0),
        (StoreAct::Swap { of, with: other }, &["misfiled", "misfiled"], 3, 0, 0),
        (StoreAct::Truncate { of, to_bytes: 0 }, &["undecodable"], 2, 1, 0),
        (StoreAct::Truncate { of, to_bytes: u32::MAX }, &["undecodable"], 2, 1, 0),
        (StoreAct::FlipBit { of, bit: 1_000 }, &["undecodable"], 2, 1, 0),
        (StoreAct::Unreadable { of, sector: 0 }, &["unreadable"], 2, 1, 0),
        (StoreAct::WithoutCharge { of }, &["without-charge"], 2, 1, 0),
        (StoreAct::SharedSnapshot, &["shared-snapshot"], 0, 2, 0),
        (StoreAct::Clear { of }, &[], 0, 3, 1),
        (StoreAct::RemoveStore, &[], 0, 3, 1),
    ];
    for (act, why, refused, dispatched, again) in cases {
        let watched = watch(&plan_of(act, 20_000));
        assert_held(&watched);
        let expected = (why.iter().map(|why| (*why).to_owned()).collect(), refused, dispatched);
        assert_eq!(told(&watched), expected, "{act:?}");
        let limits = &watched.outcome.limits;
        assert_eq!(limits.get("cleared-receiver").copied().unwrap_or(0), again, "{act:?}");
    }
}

#[test]
fn a_volume_that_ignores_case_still_reads_a_file_in_upper_case() {
    let mut plan = plan_of(StoreAct::UpperCase { of: record(Class::Control, Table::Receiver) }, 20_000);
    plan.profile.disk_ignores_case = true;
    let watched = watch(&plan);
    assert_held(&watched);
    assert_eq!(told(&watched), (Vec::new(), 0, 2));
}

#[test]
fn a_cleared_sender_begins_again_below_its_receiver_s_window_and_a_lost_one_signs_nothing() {
    let of = record(Class::Control, Table::Sender);
    let watched = watch(&plan_of(StoreAct::Clear { of }, 20_000));
    assert_held(&watched);
    assert_eq!(told(&watched), (Vec::new(), 0, 1), "the message at sequence 0 is a fork");
    assert!(watched.of(EventKind::Answered).any(|told| told.text.contains("control#0 fork")));
    assert!(watched.outcome.limits["cleared-sender"] >= 2, "signed twice, and refused");

    let watched = watch(&plan_of(StoreAct::RemoveRecord { of }, 20_000));
    assert_held(&watched);
    assert_eq!(told(&watched), (vec!["missing".to_owned()], 1, 1));
}

#[test]
fn a_store_is_not_made_anew_under_a_running_node() {
    let watched = watch(&plan_of(StoreAct::RemoveStore, 0));
    assert_held(&watched);
    assert_eq!(told(&watched), (Vec::new(), 0, 0), "every write fails");
    assert_eq!(watched.of(EventKind::EngineBatchFailed).count(), 2);
}

#[test]
fn a_store_beyond_its_budget_does_not_open_until_the_budget_is_raised() {
    let mut plan = plan_of(StoreAct::LowerBudget { to_bytes: 100 }, 20_000);
    plan.faults[0].until_us = Some(ACT_US + 120_000);
    let watched = watch(&plan);
    assert_held(&watched);
    let failed: Vec<_> = watched.of(EventKind::OpenFailed).collect();
    assert!(failed.len() >= 2 && failed.iter().all(|told| told.text.contains("budget-lowered")));
    assert_eq!(watched.of(EventKind::EngineLoadFailed).count(), failed.len());
    assert_eq!(told(&watched), (Vec::new(), 0, 2), "nothing was lost meanwhile");
}

#[test]
fn a_record_that_is_not_marked_yet_is_not_taken_away() {
    for act in [
        StoreAct::RemoveRecord { of: record(Class::Control, Table::Sender) },
        StoreAct::UpperCase { of: record(Class::Control, Table::Sender) },
    ] {
        let mut plan = plan_of(act, 20_000);
        let kind = FaultKind::Crash {
            node: NodeId(0),
            death: Death::Power,
            down_us: 50_000,
            survivors: Some(Survivors { of: 0, kept: Vec::new() }),
        };
        plan.faults.push(Fault { id: FaultId(1), at: When::Time { us: 100_000 }, until_us: None, kind });
        // The node opens between its death and the act where it marks its records.
        for (down_us, missing) in [(50_000, 1), (150_000, 0)] {
            let FaultKind::Crash { down_us: down, .. } = &mut plan.faults[1].kind else { unreachable!() };
            *down = down_us;
            let watched = watch(&plan);
            assert_held(&watched);
            assert_eq!(watched.of(EventKind::EngineUnrestorable).count(), missing, "{act:?}");
        }
    }
}

#[test]
fn a_life_that_opened_with_a_lower_budget_ends_when_it_is_raised() {
    let mut plan = plan_of(StoreAct::LowerBudget { to_bytes: 64 }, 1_000);
    // Nothing is in the store yet, so that it opens, and has no room for anything.
    plan.faults[0].at = When::Time { us: 10_000 };
    plan.faults[0].until_us = Some(30_000);
    let watched = watch(&plan);
    assert_held(&watched);
    assert_eq!(watched.of(EventKind::Died).count(), 2, "of the act, and of its end");
    assert_eq!(watched.dispatched_between(30_000, 600_000), 8);
}
