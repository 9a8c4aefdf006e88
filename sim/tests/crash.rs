//! Deaths: each kind, at each kind of place, that it strikes there and that the node comes back.

mod support;

use groundhog_engine::host::observe::Step;
use groundhog_engine::streams::key::Table;
use groundhog_sim::ledger::kind::EventKind;
use groundhog_sim::plan::{Death, Fault, FaultKind, Phase, Plan, StepId, When};
use groundhog_sim::units::{FaultId, Life, NodeId, SimTime};
use support::{Watched, one_way_plan, with_and_without};

const RECEIVER: NodeId = NodeId(1);

fn crash(at: When, death: Death) -> Fault {
    let kind = FaultKind::Crash { node: RECEIVER, death, down_us: 100_000, survivors: None };
    Fault { id: FaultId(0), at, until_us: None, kind }
}

/// The receiver dies so, and boots again; messages are lost meanwhile, and none after.
fn dies(plan: &Plan, at: When, death: Death) -> (Watched, Watched) {
    let (struck, quiet) = with_and_without(plan, crash(at, death));
    let died: Vec<_> = struck.of(EventKind::Died).collect();
    assert_eq!(died.len(), 1, "one death");
    assert_eq!(struck.outcome.deaths.len(), 1);
    let boots: Vec<_> = struck.of(EventKind::Booted).filter(|told| told.node == Some(RECEIVER)).collect();
    assert_eq!(boots.len(), 2);
    assert_eq!(boots[1].at.as_us() - died[0].at.as_us(), 100_000, "it is down as long as the plan says");
    assert_eq!(struck.of(EventKind::PowerLost).count(), usize::from(death == Death::Power));
    assert_eq!(quiet.outcome.dispatched, quiet.outcome.intended);
    assert!(struck.outcome.dispatched < struck.outcome.intended, "messages are lost while it is down");
    let lost: u64 = struck.outcome.losses.values().sum();
    assert_eq!(struck.outcome.dispatched + lost, struck.outcome.intended);
    let ready = struck.of(EventKind::Ready).last().expect("it opens again").at;
    assert!(struck.of(EventKind::Dispatched).any(|told| told.at > ready), "and works again");
    (struck, quiet)
}

const DEATHS: [Death; 2] = [Death::Process, Death::Power];

#[test]
fn a_node_dies_at_a_time_and_comes_back() {
    for death in DEATHS {
        let (struck, _) = dies(&one_way_plan(), When::Time { us: 500_000 }, death);
        assert_eq!(struck.of(EventKind::Died).next().unwrap().at, SimTime::from_us(500_000));
    }
}

#[test]
fn a_node_dies_before_in_the_middle_of_and_after_a_disk_operation() {
    for death in DEATHS {
        for phase in [Phase::Before, Phase::Partly, Phase::After] {
            let operation = 60;
            let at = When::Operation { node: RECEIVER, life: Life(0), operation, phase };
            let (struck, _) = dies(&one_way_plan(), at, death);
            let died = struck.told.iter().position(|told| told.kind == EventKind::Died).unwrap();
            let answered = |number: u64| {
                let word = format!("op {number} ");
                struck.told[..died].iter().any(|told| {
                    let here = told.kind == EventKind::DiskAnswered && told.node == Some(RECEIVER);
                    here && told.text.contains(&word)
                })
            };
            assert!(answered(operation - 1), "{phase:?}: operations before it are answered");
            assert!(!answered(operation), "{phase:?}: it is not");
        }
    }
}

#[test]
fn a_node_dies_at_a_step_of_its_engine_counted_by_table() {
    for death in DEATHS {
        for (step, count) in [(Step::Gathering, 3), (Step::Renamed, 2), (Step::BeforeRelease, 1)] {
            for table in [None, Some(Table::Receiver)] {
                let (node, life) = (RECEIVER, Life(0));
                let at = When::Step { node, life, step: StepId(step), table, count };
                let (struck, _) = dies(&one_way_plan(), at, death);
                let died = struck.told.iter().position(|told| told.kind == EventKind::Died).unwrap();
                let steps = struck.told[..died].iter().filter(|told| {
                    let here = told.kind == EventKind::EngineStep && told.node == Some(RECEIVER);
                    here && told.text[35..].starts_with(step.id())
                });
                assert_eq!(steps.count(), count as usize, "{step:?}");
            }
        }
    }
}

#[test]
fn a_step_that_touches_another_table_kills_nobody() {
    let (node, life, step) = (RECEIVER, Life(0), StepId(Step::Renamed));
    let at = When::Step { node, life, step, table: Some(Table::Sender), count: 1 };
    let mut plan = one_way_plan();
    plan.faults.push(crash(at, Death::Power));
    let watched = support::watch(&plan);
    support::assert_held(&watched);
    assert_eq!(watched.of(EventKind::Died).count(), 0, "the receiver writes no leases");
    assert_eq!(watched.of(EventKind::FaultBegan).count(), 0);
}

#[test]
fn a_node_dies_at_a_poll_of_its_tasks() {
    for death in DEATHS {
        let mut deaths = Vec::new();
        for poll in [200, 400] {
            let at = When::Poll { node: RECEIVER, life: Life(0), poll };
            let (struck, _) = dies(&one_way_plan(), at, death);
            deaths.push(struck.of(EventKind::Died).next().unwrap().at);
        }
        assert!(deaths[0] < deaths[1], "a later poll is later");
    }
}

#[test]
fn a_death_in_a_later_life_waits_for_that_life() {
    let mut plan = one_way_plan();
    plan.faults.push(crash(When::Time { us: 300_000 }, Death::Process));
    let at = When::Operation { node: RECEIVER, life: Life(1), operation: 2, phase: Phase::Partly };
    plan.faults.push(Fault { id: FaultId(1), ..crash(at, Death::Power) });
    let watched = support::watch(&plan);
    support::assert_held(&watched);
    support::assert_faults_ended(&watched);
    let died: Vec<_> = watched.of(EventKind::Died).map(|told| told.text.as_str()).collect();
    assert!(died[0].contains("n1.0") && died[0].contains("process-crash"), "{died:?}");
    assert!(died[1].contains("n1.1") && died[1].contains("power-failure"), "while it opens: {died:?}");
    assert_eq!(watched.outcome.deaths.values().sum::<u64>(), 2);
}

#[test]
fn a_node_that_is_down_at_quiescence_boots_then() {
    let mut plan = one_way_plan();
    let mut fault = crash(When::Time { us: 1_900_000 }, Death::Power);
    fault.kind =
        FaultKind::Crash { node: RECEIVER, death: Death::Power, down_us: 10_000_000, survivors: None };
    plan.faults.push(fault);
    let watched = support::watch(&plan);
    support::assert_held(&watched);
    support::assert_faults_ended(&watched);
    let booted = watched.of(EventKind::Booted).last().unwrap();
    assert_eq!((booted.at, booted.node), (SimTime::from_us(plan.quiesce_us), Some(RECEIVER)));
    assert_eq!(watched.dispatched_between(plan.quiesce_us, plan.end_us), 50);
}

#[test]
fn a_death_whose_place_is_reached_only_after_quiescence_never_comes() {
    let mut plan = one_way_plan();
    let quiet = support::watch(&plan);
    let operations = |until: u64| {
        let answered = quiet.of(EventKind::DiskAnswered);
        answered.filter(|told| told.node == Some(RECEIVER) && told.at < SimTime::from_us(until)).count()
            as u64
    };
    let operation = operations(plan.quiesce_us) + 3;
    assert!(operation < operations(plan.end_us), "the operation happens");
    let at = When::Operation { node: RECEIVER, life: Life(0), operation, phase: Phase::After };
    plan.faults.push(crash(at, Death::Power));
    let watched = support::watch(&plan);
    support::assert_held(&watched);
    assert_eq!(watched.outcome.fingerprint, quiet.outcome.fingerprint);
}

#[test]
fn a_second_crash_of_a_node_that_is_down_is_no_crash() {
    let mut plan = one_way_plan();
    plan.faults.push(crash(When::Time { us: 300_000 }, Death::Process));
    plan.faults.push(Fault { id: FaultId(1), ..crash(When::Time { us: 350_000 }, Death::Power) });
    let watched = support::watch(&plan);
    support::assert_held(&watched);
    support::assert_faults_ended(&watched);
    assert_eq!(watched.of(EventKind::Died).count(), 1);
    assert_eq!(watched.of(EventKind::FaultBegan).count(), 1);
}
