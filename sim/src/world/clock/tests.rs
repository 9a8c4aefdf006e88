//! Tests of the clocks: fault by fault, the inverse, and quiescence.

use super::*;
use crate::plan::{Fault, FaultKind, NodePlan, When};
use crate::units::NodeId;
use proptest::prelude::*;

const SECOND: u64 = 1_000_000_000;

fn at_s(seconds: u64) -> SimTime {
    SimTime(seconds * SECOND)
}

fn booted(plan: ClockPlan) -> Clock {
    let mut clock = Clock::new(plan);
    let _ = clock.boot(SimTime(0), None);
    clock
}

fn error_ms(clock: &Clock, now: SimTime) -> i128 {
    clock.error_ns(now).div_euclid(1_000_000)
}

#[test]
fn a_true_clock_shows_true_time() {
    let clock = booted(ClockPlan::default());
    assert_eq!(clock.wall_now(at_s(5)), WallMs(EPOCH_MS + 5_000));
    assert_eq!(clock.wall_now(SimTime(1_999_999)), WallMs(EPOCH_MS + 1));
    assert_eq!(clock.monotonic_now(at_s(5)), MonotonicNs(5 * SECOND));
}

#[test]
fn an_offset_moves_the_wall_clock_only_and_drift_moves_both() {
    let clock = booted(ClockPlan { offset_ms: -700, drift_ppm: 100, ..ClockPlan::default() });
    assert_eq!(error_ms(&clock, SimTime(0)), -700);
    assert_eq!(error_ms(&clock, at_s(1_000)), -600);
    assert_eq!(clock.monotonic_now(at_s(1_000)), MonotonicNs(1_000 * SECOND + SECOND / 10));
}

#[test]
fn a_step_moves_the_wall_clock_at_once_and_is_told() {
    let mut clock = booted(ClockPlan::default());
    for by_ms in [2_500, -4_000] {
        let now = at_s(3);
        let before = clock.wall_now(now);
        let change = clock.begin_fault(now, FaultId(0), ClockFault::Step { by_ms });
        let after = WallMs(before.0.checked_add_signed(by_ms).unwrap());
        assert_eq!(change.set, Some((before, after)));
        assert!(!change.monotonic_changed);
        assert_eq!(clock.wall_now(now), after);
        assert_eq!(clock.monotonic_now(now), MonotonicNs(3 * SECOND));
    }
}

#[test]
fn a_drift_moves_both_clocks_until_it_ends() {
    let mut clock = booted(ClockPlan::default());
    let change = clock.begin_fault(at_s(10), FaultId(1), ClockFault::Drift { ppm: -1_000 });
    assert!(change.monotonic_changed && change.set.is_none());
    assert_eq!(error_ms(&clock, at_s(20)), -10);
    assert!(clock.end_fault(at_s(20), FaultId(1)).monotonic_changed);
    assert_eq!(error_ms(&clock, at_s(90)), -10);
    assert_eq!(clock.monotonic_now(at_s(90)), MonotonicNs(90 * SECOND - SECOND / 100));
}

#[test]
fn a_frozen_wall_clock_stands_still_and_then_steps_to_where_it_would_be() {
    let mut clock = booted(ClockPlan::default());
    let _ = clock.begin_fault(at_s(10), FaultId(1), ClockFault::Freeze);
    let _ = clock.begin_fault(at_s(11), FaultId(2), ClockFault::Freeze);
    assert_eq!(clock.wall_now(at_s(15)), WallMs(EPOCH_MS + 10_000));
    assert_eq!(clock.monotonic_now(at_s(15)), MonotonicNs(15 * SECOND));
    assert_eq!(clock.end_fault(at_s(15), FaultId(1)).set, None);
    let change = clock.end_fault(at_s(18), FaultId(2));
    assert_eq!(change.set, Some((WallMs(EPOCH_MS + 10_000), WallMs(EPOCH_MS + 18_000))));
    assert_eq!(clock.wall_now(at_s(19)), WallMs(EPOCH_MS + 19_000));
}

#[test]
fn a_step_moves_a_frozen_clock_too() {
    let mut clock = booted(ClockPlan::default());
    let _ = clock.begin_fault(at_s(10), FaultId(1), ClockFault::Freeze);
    let _ = clock.begin_fault(at_s(12), FaultId(2), ClockFault::Step { by_ms: -3_000 });
    assert_eq!(clock.wall_now(at_s(14)), WallMs(EPOCH_MS + 7_000));
    let _ = clock.end_fault(at_s(14), FaultId(1));
    assert_eq!(clock.wall_now(at_s(14)), WallMs(EPOCH_MS + 11_000));
}

#[test]
fn a_pause_stops_the_monotonic_clock_and_not_the_wall_clock() {
    let mut clock = booted(ClockPlan::default());
    assert!(clock.begin_fault(at_s(4), FaultId(1), ClockFault::Pause).monotonic_changed);
    assert!(clock.is_paused());
    assert_eq!(clock.monotonic_now(at_s(9)), MonotonicNs(4 * SECOND));
    assert_eq!(clock.wall_now(at_s(9)), WallMs(EPOCH_MS + 9_000));
    assert_eq!(clock.monotonic_reaches(at_s(9), MonotonicNs(5 * SECOND)), None);
    assert!(clock.end_fault(at_s(9), FaultId(1)).monotonic_changed);
    assert_eq!(clock.monotonic_reaches(at_s(9), MonotonicNs(5 * SECOND)), Some(at_s(10)));
    assert!(!clock.is_paused());
}

#[test]
fn a_process_crash_keeps_both_clocks_and_a_power_failure_restarts_the_monotonic_one() {
    let mut clock = booted(ClockPlan { offset_ms: 40, ..ClockPlan::default() });
    assert_eq!(clock.boot(at_s(5), Some(Death::Process)), ClockChange::default());
    assert_eq!(clock.monotonic_now(at_s(6)), MonotonicNs(6 * SECOND));
    let change = clock.boot(at_s(8), Some(Death::Power));
    assert_eq!((change.set, change.monotonic_changed), (None, true));
    assert_eq!(clock.monotonic_now(at_s(9)), MonotonicNs(SECOND));
    assert_eq!(error_ms(&clock, at_s(9)), 40);
}

#[test]
fn a_wrong_clock_at_boot_is_corrected_later_once() {
    let plan = ClockPlan { wrong_at_boot_ms: -9_000, corrected_after_us: 2_000_000, ..ClockPlan::default() };
    let mut clock = Clock::new(plan);
    assert_eq!(clock.boot(SimTime(0), None).correct_at, Some(at_s(2)));
    assert_eq!(error_ms(&clock, at_s(1)), -9_000);
    assert_eq!(clock.correct(at_s(1)), ClockChange::default());
    assert!(clock.correct(at_s(2)).set.is_some());
    assert_eq!(error_ms(&clock, at_s(2)), 0);
    assert_eq!(clock.correct(at_s(3)), ClockChange::default());
    // A second boot before the correction of the first is not wrong twice.
    for boot_at in [at_s(10), at_s(11)] {
        assert_eq!(clock.boot(boot_at, Some(Death::Power)).correct_at, Some(boot_at.plus_ns(2 * SECOND)));
        assert_eq!(error_ms(&clock, boot_at), -9_000);
    }
    assert_eq!(clock.correct(at_s(12)), ClockChange::default());
    assert_eq!(error_ms(&clock, at_s(12)), -9_000);
}

#[test]
fn a_restored_snapshot_is_behind_from_the_next_machine_boot_until_the_fault_ends() {
    let mut clock = booted(ClockPlan::default());
    let fault = ClockFault::BehindAtBoot { by_ms: 60_000 };
    assert_eq!(clock.begin_fault(at_s(1), FaultId(1), fault), ClockChange::default());
    let _ = clock.boot(at_s(2), Some(Death::Process));
    assert_eq!(error_ms(&clock, at_s(2)), 0);
    let _ = clock.boot(at_s(3), Some(Death::Power));
    assert_eq!(error_ms(&clock, at_s(3)), -60_000);
    let _ = clock.boot(at_s(4), Some(Death::Power));
    assert_eq!(error_ms(&clock, at_s(4)), -60_000);
    let _ = clock.end_fault(at_s(5), FaultId(1));
    assert_eq!(error_ms(&clock, at_s(5)), 0);
    // One that ends before a boot does nothing.
    let _ = clock.begin_fault(at_s(6), FaultId(2), fault);
    let _ = clock.end_fault(at_s(7), FaultId(2));
    let _ = clock.boot(at_s(8), Some(Death::Power));
    assert_eq!(error_ms(&clock, at_s(8)), 0);
}

#[test]
fn quiescing_steps_a_clock_forwards_and_slows_one_that_is_ahead() {
    let mut behind = booted(ClockPlan { offset_ms: -800, ..ClockPlan::default() });
    let change = behind.quiesce(at_s(10));
    assert_eq!(change.set, Some((WallMs(EPOCH_MS + 9_200), WallMs(EPOCH_MS + 10_000))));
    assert!(behind.is_true(at_s(10)));

    let mut ahead = booted(ClockPlan { offset_ms: 800, drift_ppm: 0, ..ClockPlan::default() });
    assert_eq!(ahead.quiesce(at_s(10)).set, None);
    assert_eq!(error_ms(&ahead, at_s(11)), 300);
    assert!(!ahead.is_true(SimTime(11_599_999_999)));
    assert!(ahead.is_true(SimTime(11_600_000_000)));
    assert_eq!(error_ms(&ahead, at_s(5_000)), 0);
}

#[test]
fn quiescing_leaves_no_fault_on_and_keeps_the_drift_on_the_monotonic_clock_only() {
    let plan = ClockPlan {
        drift_ppm: 200,
        wrong_at_boot_ms: 5_000,
        corrected_after_us: 99_000_000,
        ..ClockPlan::default()
    };
    let mut clock = booted(plan);
    let faults = [
        ClockFault::Drift { ppm: 900 },
        ClockFault::Freeze,
        ClockFault::Pause,
        ClockFault::BehindAtBoot { by_ms: 1 },
        ClockFault::Step { by_ms: 1 },
    ];
    for (id, fault) in (0..).zip(faults) {
        let _ = clock.begin_fault(at_s(1), FaultId(id), fault);
    }
    assert!(clock.quiesce(at_s(2)).monotonic_changed);
    assert!(!clock.is_paused());
    let (monotonic, later) = (clock.monotonic_now(at_s(20)), clock.monotonic_now(at_s(30)));
    assert_eq!(later.0 - monotonic.0, 10 * SECOND + 2_000_000);
    assert!(clock.is_true(at_s(20)));
    // Neither a late correction nor a late boot makes it wrong again.
    assert_eq!(clock.correct(at_s(100)), ClockChange::default());
    assert_eq!(clock.boot(at_s(101), Some(Death::Power)).correct_at, None);
    assert!(clock.is_true(at_s(102)));
}

#[test]
fn extremes_are_clamped_to_a_century() {
    let mut clock = booted(ClockPlan { offset_ms: i64::MIN, drift_ppm: i32::MIN, ..ClockPlan::default() });
    assert_eq!(clock.wall_now(at_s(1)), WallMs(0));
    assert_eq!(clock.monotonic_reaches(at_s(1), MonotonicNs(u64::MAX)), Some(SimTime(CENTURY_NS)));
    for by_ms in [i64::MAX, i64::MAX, i64::MIN] {
        let _ = clock.begin_fault(at_s(2), FaultId(1), ClockFault::Step { by_ms });
        assert!(clock.wall_now(SimTime(u64::MAX)).0 < EPOCH_MS + 7 * CENTURY_MS);
    }
}

fn node(id: u16, clock: ClockPlan) -> NodePlan {
    NodePlan { id: NodeId(id), cores: 1, clock }
}

fn clock_fault(id: u32, at: When, until_us: Option<u64>, node: u16, fault: ClockFault) -> Fault {
    Fault { id: FaultId(id), at, until_us, kind: FaultKind::Clock { node: NodeId(node), fault } }
}

const MS: u128 = 1_000_000;

#[test]
fn the_spread_counts_offset_drift_steps_freezes_and_wrong_boots() {
    let still = node(0, ClockPlan::default());
    let timed = |us| When::Time { us };
    let offset = |offset_ms| ClockPlan { offset_ms, ..ClockPlan::default() };
    let drift = |drift_ppm| ClockPlan { drift_ppm, ..ClockPlan::default() };
    let wrong = ClockPlan { wrong_at_boot_ms: 1_200, corrected_after_us: 4_000_000, ..ClockPlan::default() };
    let drift_fault = ClockFault::Drift { ppm: 1_000 };
    let step = |id, us, by_ms| clock_fault(id, timed(us), None, 1, ClockFault::Step { by_ms });
    let table: Vec<(&str, ClockPlan, Vec<Fault>, u128)> = vec![
        ("offset", offset(-300), vec![], 300),
        ("drift over 100 s", drift(100), vec![], 10),
        ("wrong at boot", wrong, vec![], 1_200),
        ("step", offset(0), vec![step(0, 5_000_000, -2_000)], 2_000),
        ("steps that cancel", offset(0), vec![step(0, 5_000_000, 700), step(1, 6_000_000, -700)], 700),
        ("after quiescence", offset(0), vec![step(0, 100_000_000, 700)], 0),
        ("freeze", offset(0), vec![clock_fault(0, timed(1), Some(3_000_001), 1, ClockFault::Freeze)], 3_000),
        ("drift fault", offset(0), vec![clock_fault(0, timed(0), Some(9_000_000), 1, drift_fault)], 9),
        ("endless drift fault", offset(0), vec![clock_fault(0, timed(0), None, 1, drift_fault)], 100),
        ("pause", offset(0), vec![clock_fault(0, timed(0), Some(9), 1, ClockFault::Pause)], 0),
    ];
    for (what, plan, faults, ms) in table {
        let spread = spread(&[still.clone(), node(1, plan)], &faults, at_s(100));
        assert_eq!(spread, Spread { certain_ns: ms * MS, possible_ns: ms * MS }, "{what}");
    }
}

#[test]
fn what_has_no_time_is_possible_and_not_certain() {
    let nodes = [node(0, ClockPlan::default()), node(1, ClockPlan { offset_ms: 50, ..ClockPlan::default() })];
    let untimed = When::Poll { node: NodeId(1), life: crate::units::Life(0), poll: 9 };
    let step = clock_fault(0, untimed, None, 1, ClockFault::Step { by_ms: -400 });
    let power = FaultKind::Crash { node: NodeId(1), death: Death::Power, down_us: 1, survivors: None };
    let crash = Fault { id: FaultId(2), at: untimed, until_us: None, kind: power };
    let behind = clock_fault(3, When::Time { us: 1 }, None, 1, ClockFault::BehindAtBoot { by_ms: 900 });
    let of = |faults: &[Fault]| spread(&nodes, faults, at_s(1));
    assert_eq!(of(&[step]), Spread { certain_ns: 0, possible_ns: 400 * MS });
    assert_eq!(of(std::slice::from_ref(&behind)), Spread { certain_ns: 50 * MS, possible_ns: 50 * MS });
    assert_eq!(of(&[behind, crash]).possible_ns, 900 * MS);
    assert_eq!(spread(&[], &[], at_s(1)), Spread { certain_ns: 0, possible_ns: 0 });
}

fn any_fault() -> impl Strategy<Value = ClockFault> {
    prop_oneof![
        (-5_000i64..5_000).prop_map(|by_ms| ClockFault::Step { by_ms }),
        (-600_000i32..600_000).prop_map(|ppm| ClockFault::Drift { ppm }),
        Just(ClockFault::Freeze),
        Just(ClockFault::Pause),
        (0u64..5_000).prop_map(|by_ms| ClockFault::BehindAtBoot { by_ms }),
    ]
}

/// Time to pass, and a fault that then begins, or ends.
type Script = Vec<(u64, bool, u32, ClockFault)>;

fn any_script() -> impl Strategy<Value = Script> {
    proptest::collection::vec((0..5 * SECOND, any::<bool>(), 0u32..6, any_fault()), 0..24)
}

fn any_plan() -> impl Strategy<Value = ClockPlan> {
    (-9_000i64..9_000, -700i32..700, -9_000i64..9_000, 0u64..9_000_000).prop_map(
        |(offset_ms, drift_ppm, wrong_at_boot_ms, corrected_after_us)| ClockPlan {
            offset_ms,
            drift_ppm,
            wrong_at_boot_ms,
            corrected_after_us,
        },
    )
}

/// Plays a script; `look` sees the clock after each change.
fn play(clock: &mut Clock, script: &Script, mut look: impl FnMut(&mut Clock, SimTime)) -> SimTime {
    let mut now = SimTime(0);
    for (id, (pass, begins, ended, fault)) in (0u32..).zip(script) {
        now = now.plus_ns(*pass);
        let _ = if *begins {
            clock.begin_fault(now, FaultId(id), *fault)
        } else {
            clock.end_fault(now, FaultId(*ended))
        };
        look(clock, now);
    }
    now
}

proptest! {
    #[test]
    fn the_monotonic_clock_never_goes_back(plan in any_plan(), script in any_script()) {
        let mut clock = booted(plan);
        let mut last = MonotonicNs(0);
        play(&mut clock, &script, |clock, now| {
            for ns in [0, 1, 1_000] {
                let reading = clock.monotonic_now(now.plus_ns(ns));
                assert!(reading >= last);
                if ns == 0 { last = reading; }
            }
        });
    }

    #[test]
    fn a_sleeper_wakes_at_the_first_nanosecond_that_is_not_early(
        plan in any_plan(), script in any_script(), sleep_ns in 0..100 * SECOND,
    ) {
        let mut clock = booted(plan);
        play(&mut clock, &script, |clock, now| {
            let wake = MonotonicNs(clock.monotonic_now(now).0 + sleep_ns);
            match clock.monotonic_reaches(now, wake) {
                None => assert!(clock.is_paused()),
                Some(at) => {
                    assert!(at >= now && clock.monotonic_now(at) >= wake);
                    assert!(at == now || clock.monotonic_now(SimTime(at.0 - 1)) < wake);
                }
            }
        });
    }

    #[test]
    fn what_a_change_says_is_what_the_clock_shows(plan in any_plan(), script in any_script()) {
        let mut clock = booted(plan);
        let mut now = SimTime(0);
        for (id, (pass, _, _, fault)) in (0u32..).zip(&script) {
            now = now.plus_ns(*pass);
            let (before, slept) = (clock.wall_now(now), clock.monotonic_now(now));
            let change = clock.begin_fault(now, FaultId(id), *fault);
            let after = clock.wall_now(now);
            prop_assert_eq!(change.set, (before != after).then_some((before, after)));
            prop_assert_eq!(clock.monotonic_now(now), slept);
        }
    }

    #[test]
    fn after_quiescence_the_wall_clock_never_goes_back_and_becomes_true(
        plan in any_plan(), script in any_script(),
    ) {
        let mut clock = booted(plan);
        let now = play(&mut clock, &script, |_, _| {});
        let before = clock.wall_now(now);
        let _ = clock.quiesce(now);
        let ahead_ns = clock.error_ns(now);
        let mut last = before;
        for tenth in 0..=10 {
            let at = now.plus_ns(u64::try_from(ahead_ns * 2 / 10 * tenth).unwrap());
            prop_assert!(clock.wall_now(at) >= last);
            last = clock.wall_now(at);
        }
        let caught_up = now.plus_ns(u64::try_from(ahead_ns * 2 + 2).unwrap());
        prop_assert!(clock.is_true(caught_up));
    }

    #[test]
    fn no_moment_of_a_run_passes_the_possible_spread(
        plans in proptest::collection::vec(any_plan(), 1..4),
        faults in proptest::collection::vec((0u64..20_000_000, 0u64..9_000_000, 0u16..4, any_fault()), 0..8),
        moments in proptest::collection::vec(0..20 * SECOND, 1..8),
    ) {
        let nodes: Vec<NodePlan> = (0..).zip(&plans).map(|(id, plan)| node(id, *plan)).collect();
        let faults: Vec<Fault> = (0..).zip(&faults).map(|(id, (us, lasts, of, fault))| {
            clock_fault(id, When::Time { us: *us }, Some(us + lasts), *of % nodes.len() as u16, *fault)
        }).collect();
        let quiesce = at_s(20);
        let spread = spread(&nodes, &faults, quiesce);
        prop_assert!(spread.certain_ns <= spread.possible_ns);
        for moment in moments {
            let errors: Vec<i128> = nodes.iter().map(|of| error_at(of, &faults, SimTime(moment))).collect();
            let apart = errors.iter().max().unwrap() - errors.iter().min().unwrap();
            prop_assert!(apart.unsigned_abs() <= spread.possible_ns + 1);
        }
    }
}

/// Plays the timed faults of one node up to a moment, apart from the code under test.
fn error_at(of: &NodePlan, faults: &[Fault], moment: SimTime) -> i128 {
    let mut clock = booted(of.clock);
    let mut changes: Vec<(SimTime, Option<ClockFault>, FaultId)> = Vec::new();
    for fault in faults {
        let (When::Time { us }, FaultKind::Clock { node, fault: kind }) = (fault.at, &fault.kind) else {
            unreachable!("every fault here is a timed one of a clock")
        };
        if *node == of.id {
            changes.push((SimTime::from_us(us), Some(*kind), fault.id));
            changes.push((SimTime::from_us(fault.until_us.unwrap()), None, fault.id));
        }
    }
    changes.sort_by_key(|(at, ..)| *at);
    let correct_at = SimTime::from_us(of.clock.corrected_after_us);
    for (at, begins, id) in changes.into_iter().filter(|(at, ..)| *at <= moment) {
        if at > correct_at {
            let _ = clock.correct(at);
        }
        let _ = match begins {
            Some(fault) => clock.begin_fault(at, id, fault),
            None => clock.end_fault(at, id),
        };
    }
    let _ = clock.correct(moment);
    clock.error_ns(moment)
}
