//! Faults of clocks: each shows on the clock that it names, has its effect, and ends.

mod support;

use groundhog_sim::ledger::kind::EventKind;
use groundhog_sim::plan::{Act, ClockFault, Death, Fault, FaultKind, Plan, When};
use groundhog_sim::units::{FaultId, NodeId};
use support::{Watched, fault, one_way_plan, watch, with_and_without};

const RECEIVER: NodeId = NodeId(1);

fn on_clock(fault: ClockFault) -> FaultKind {
    FaultKind::Clock { node: RECEIVER, fault }
}

/// Each time that the receiver's wall clock was set: when, and by how many milliseconds.
fn sets(watched: &Watched) -> Vec<(u64, i64)> {
    let set = watched.of(EventKind::ClockSet).filter(|told| told.node == Some(RECEIVER));
    let by_ms = |text: &str| {
        let words = text.split("by ").nth(1).and_then(|words| words.split(" ms").next());
        words.expect("the line says by how much").parse().expect("a number")
    };
    set.map(|told| (told.at.as_us(), by_ms(&told.text))).collect()
}

fn unverified(watched: &Watched) -> usize {
    watched.of(EventKind::Unverified).count()
}

#[test]
fn a_clock_that_steps_back_takes_messages_for_unborn_until_quiescence_corrects_it() {
    let back = ClockFault::Step { by_ms: -700_000 };
    let (struck, quiet) = with_and_without(&one_way_plan(), fault(0, 300_000, 300_000, on_clock(back)));
    assert_eq!(sets(&struck), [(300_000, -700_000), (2_000_000, 700_000)]);
    assert_eq!(struck.dispatched_between(310_000, 2_000_000), 0, "what is sent now lies in its future");
    assert!(unverified(&struck) > 100 && unverified(&quiet) == 0);
    assert_eq!(struck.outcome.losses["unverified"], unverified(&struck) as u64);
}

#[test]
fn a_clock_that_steps_forwards_and_back_takes_messages_for_expired_in_between() {
    let mut plan = one_way_plan();
    plan.faults.push(fault(1, 700_000, 700_000, on_clock(ClockFault::Step { by_ms: -700_000 })));
    plan.faults.push(fault(0, 300_000, 300_000, on_clock(ClockFault::Step { by_ms: 700_000 })));
    let watched = watch(&plan);
    support::assert_held(&watched);
    support::assert_faults_ended(&watched);
    assert_eq!(sets(&watched), [(300_000, 700_000), (700_000, -700_000)]);
    assert_eq!(watched.dispatched_between(310_000, 700_000), 0);
    assert!(unverified(&watched) > 70);
    assert!(watched.of(EventKind::Unverified).all(|told| (300_000..710_000).contains(&told.at.as_us())));
    assert!(watched.dispatched_between(700_000, 2_000_000) > 50);
    assert_eq!(watched.dispatched_between(2_000_000, 3_000_000), 50);
}

#[test]
fn a_wrong_oscillator_moves_the_wall_clock_away_while_it_lasts() {
    let drift = ClockFault::Drift { ppm: -100_000 };
    let (struck, quiet) = with_and_without(&one_way_plan(), fault(0, 300_000, 700_000, on_clock(drift)));
    assert_eq!(sets(&struck), [(2_000_000, 40)], "a tenth of 400 ms, and no more after its end");
    assert_eq!(sets(&quiet), []);
}

/// Every admission's caller gives up after 2.2 ms of its own monotonic time.
fn impatient() -> Plan {
    let mut plan = one_way_plan();
    if let Act::Send(burst) = &mut plan.actions[0].act {
        (burst.cancel_admit_every, burst.cancel_after_us) = (1, 2_200);
    }
    plan
}

#[test]
fn a_wrong_oscillator_hastens_sleeps_while_it_lasts() {
    let drift = ClockFault::Drift { ppm: 500_000 };
    let (struck, quiet) = with_and_without(&impatient(), fault(0, 300_000, 700_000, on_clock(drift)));
    let abandoned: Vec<_> = struck.of(EventKind::AdmissionAbandoned).map(|told| told.at.as_us()).collect();
    assert_eq!(quiet.of(EventKind::AdmissionAbandoned).count(), 0, "that suffices by a true clock");
    assert!(abandoned.len() > 10, "and not by one that is half as fast again: {abandoned:?}");
    assert!(abandoned.iter().all(|at| (300_000..706_000).contains(at)), "{abandoned:?}");
}

#[test]
fn a_frozen_clock_stands_still_and_then_is_where_it_would_be() {
    let (struck, quiet) =
        with_and_without(&one_way_plan(), fault(0, 300_000, 700_000, on_clock(ClockFault::Freeze)));
    assert_eq!(sets(&struck), [(700_000, 400)], "it stood for 400 ms, and is true since");
    assert_eq!(sets(&quiet), []);
}

#[test]
fn a_clock_that_is_frozen_long_enough_takes_messages_for_unborn() {
    let mut plan = one_way_plan();
    // Frozen while it is 2.9 s behind, it soon is further behind than the tolerance allows.
    plan.nodes[1].clock.offset_ms = -2_900;
    let (struck, quiet) = with_and_without(&plan, fault(0, 300_000, 700_000, on_clock(ClockFault::Freeze)));
    assert!(unverified(&struck) > 0 && unverified(&quiet) == 0);
    assert!(struck.of(EventKind::Unverified).all(|told| (400_000..702_000).contains(&told.at.as_us())));
}

#[test]
fn a_paused_machine_does_nothing_and_then_everything_that_waited() {
    let (struck, quiet) =
        with_and_without(&one_way_plan(), fault(0, 300_000, 700_000, on_clock(ClockFault::Pause)));
    let doing = struck.told.iter().filter(|told| told.node == Some(RECEIVER));
    let during: Vec<_> =
        doing.filter(|told| told.at.as_us() > 300_000 && told.at.as_us() < 700_000).collect();
    assert!(during.is_empty(), "{during:?}");
    assert!(quiet.dispatched_between(300_000, 700_000) > 70);
    assert_eq!(struck.outcome.dispatched, struck.outcome.intended, "messages are late, not lost");
    assert_eq!(sets(&struck), [], "its wall clock moved on");
}

#[test]
fn a_pause_stops_the_monotonic_clock_that_sleeps_are_measured_by() {
    // Stuck across the pause, so that each admission waits until 900 ms.
    let mut plan = one_way_plan();
    if let Act::Send(burst) = &mut plan.actions[0].act {
        (burst.cancel_admit_every, burst.cancel_after_us) = (1, 100_000);
    }
    let stuck = FaultKind::Disk {
        node: RECEIVER,
        fault: groundhog_sim::plan::DiskFault::Stuck { fails: false },
        operations: Vec::new(),
        skip: 0,
        count: 0,
    };
    plan.faults.push(fault(5, 300_000, 900_000, stuck));
    let first_abandoned = |pause: bool| {
        let mut plan = plan.clone();
        if pause {
            plan.faults.push(fault(6, 350_000, 750_000, on_clock(ClockFault::Pause)));
        }
        let watched = watch(&plan);
        support::assert_held(&watched);
        support::assert_faults_ended(&watched);
        watched.of(EventKind::AdmissionAbandoned).next().expect("somebody gives up").at.as_us()
    };
    let (running, paused) = (first_abandoned(false), first_abandoned(true));
    assert_eq!(paused, running + 400_000);
}

#[test]
fn messages_of_a_machine_that_loses_power_while_paused_are_all_accounted_for() {
    let mut plan = one_way_plan();
    let pause = FaultKind::Clock { node: NodeId(0), fault: ClockFault::Pause };
    plan.faults.push(fault(0, 300_000, 700_000, pause));
    let kind = FaultKind::Crash { node: NodeId(0), death: Death::Power, down_us: 50_000, survivors: None };
    plan.faults.push(Fault { id: FaultId(1), at: When::Time { us: 500_000 }, until_us: None, kind });
    let watched = watch(&plan);
    support::assert_held(&watched);
    support::assert_faults_ended(&watched);
    assert_eq!(watched.outcome.intended, 250, "the burst goes on after the pause");
    assert_eq!(watched.outcome.dispatched + watched.outcome.losses.values().sum::<u64>(), 250);
    assert!(watched.outcome.losses["sender-crash"] > 0);
    let boots = watched.of(EventKind::Booted).filter(|told| told.node == Some(NodeId(0)));
    assert_eq!(boots.last().unwrap().at.as_us(), 700_000, "a paused machine does not boot");
}

#[test]
fn a_restored_snapshot_boots_behind_and_is_corrected() {
    let mut plan = one_way_plan();
    let kind = FaultKind::Crash { node: RECEIVER, death: Death::Power, down_us: 50_000, survivors: None };
    plan.faults.push(Fault { id: FaultId(1), at: When::Time { us: 400_000 }, until_us: None, kind });
    let quiet = watch(&plan);
    let behind = ClockFault::BehindAtBoot { by_ms: 700_000 };
    plan.faults.push(fault(0, 300_000, 700_000, on_clock(behind)));
    let watched = watch(&plan);
    support::assert_held(&watched);
    support::assert_faults_ended(&watched);
    assert_ne!(watched.outcome.fingerprint, quiet.outcome.fingerprint);
    assert_eq!(watched.dispatched_between(460_000, 700_000), 0, "it takes messages for unborn");
    assert!(unverified(&watched) > 10 && unverified(&quiet) == 0);
    assert_eq!(sets(&watched).last(), Some(&(700_000, 700_000)));
    assert_eq!(watched.dispatched_between(710_000, 3_000_000), quiet.dispatched_between(710_000, 3_000_000));
}

#[test]
fn a_process_crash_keeps_the_clock_that_a_snapshot_would_set_back() {
    let mut plan = one_way_plan();
    let kind = FaultKind::Crash { node: RECEIVER, death: Death::Process, down_us: 50_000, survivors: None };
    plan.faults.push(Fault { id: FaultId(1), at: When::Time { us: 400_000 }, until_us: None, kind });
    let behind = ClockFault::BehindAtBoot { by_ms: 700_000 };
    plan.faults.push(fault(0, 300_000, 700_000, on_clock(behind)));
    let watched = watch(&plan);
    support::assert_held(&watched);
    assert_eq!((sets(&watched), unverified(&watched)), (Vec::new(), 0));
}

#[test]
fn a_clock_that_is_wrong_at_boot_is_corrected_later() {
    let mut plan = one_way_plan();
    plan.nodes[1].clock.wrong_at_boot_ms = -700_000;
    plan.nodes[1].clock.corrected_after_us = 400_000;
    let watched = watch(&plan);
    support::assert_held(&watched);
    assert_eq!(sets(&watched).last(), Some(&(400_000, 700_000)));
    assert_eq!(watched.dispatched_between(0, 400_000), 0);
    assert!(watched.dispatched_between(400_000, 2_000_000) > 100);
}
