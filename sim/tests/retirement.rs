//! Streams that are spent are retired, and every point of the batch that removes them at which a life can end or a disk can
//! fail holds all laws: nothing is missing for ever, and nothing is dispatched again.

mod support;

use groundhog_engine::host::observe::Step;
use groundhog_engine::streams::key::Class;
use groundhog_sim::ledger::kind::EventKind;
use groundhog_sim::plan::{
    Act, Death, DiskFault, DiskOperation, DiskProfile, Fault, FaultKind, Phase, Plan, StepId, When,
};
use groundhog_sim::run::{RunOptions, run};
use groundhog_sim::units::{FaultId, Life, NodeId, SimTime};
use support::{Watched, burst, quiet_plan, watch};

const RECEIVER: NodeId = NodeId(1);
const DEATHS: [Death; 2] = [Death::Process, Death::Power];
const PHASES: [Phase; 3] = [Phase::Before, Phase::Partly, Phase::After];

/// Everything that was admitted before this is spent, application traffic aside.
const SPENT_US: u64 = 3_400_000;

/// One message in each class, which lives 200 ms; when it is spent, another in control, and a copy of each first one. Later
/// one in storage, and after quiescence one in each class again.
fn plan_of(disk: DiskProfile) -> Plan {
    let mut plan = quiet_plan(2);
    plan.profile.disk = disk;
    plan.engines.transaction_lifetime_ms = 200;
    for (id, class) in (0..).zip(Class::ALL) {
        let mut first = burst(id, 50_000, 0, RECEIVER.0, class, 1);
        if let Act::Send(burst) = &mut first.act {
            (burst.copies, burst.copy_every_us) = (2, SPENT_US);
        }
        plan.actions.push(first);
    }
    let mut retires = burst(4, SPENT_US, 0, RECEIVER.0, Class::Control, 1);
    if let Act::Send(burst) = &mut retires.act {
        (burst.copies, burst.copy_every_us) = (4, 20_000);
    }
    plan.actions.push(retires);
    plan.actions.push(burst(5, SPENT_US + 30_000, 0, RECEIVER.0, Class::Storage, 1));
    plan.actions
        .extend((6..).zip(Class::ALL).map(|(id, class)| burst(id, 3_550_000, 0, RECEIVER.0, class, 1)));
    (plan.quiesce_us, plan.end_us) = (3_600_000, 3_900_000);
    plan.actions
        .extend((10..).zip(Class::ALL).map(|(id, class)| burst(id, 3_700_000, 0, RECEIVER.0, class, 1)));
    plan
}

fn crash(id: u32, at: When, death: Death) -> Fault {
    let kind = FaultKind::Crash { node: RECEIVER, death, down_us: 20_000 };
    Fault { id: FaultId(id), at, until_us: None, kind }
}

/// The receiver's disk operations of one life that were answered from a time on.
fn operations(watched: &Watched, life: Life, from_us: u64) -> Vec<u64> {
    let of = format!("n{}.{} ", RECEIVER.0, life.0);
    let answered = watched.of(EventKind::DiskAnswered);
    let later = answered.filter(|told| told.at >= SimTime::from_us(from_us) && told.text.contains(&of));
    later.filter_map(|told| told.text.split("op ").nth(1)?.split(' ').next()?.parse().ok()).collect()
}

fn at_operations(watched: &Watched, life: Life, from_us: u64) -> Vec<When> {
    let at = |operation| PHASES.map(|phase| When::Operation { node: RECEIVER, life, operation, phase });
    operations(watched, life, from_us).into_iter().flat_map(at).collect()
}

/// Runs the plan with these faults: every law holds, and all messages after quiescence are dispatched.
fn holds(plan: &Plan, faults: Vec<Fault>) {
    let mut plan = plan.clone();
    plan.faults = faults;
    let outcome = run(&plan, RunOptions::default()).expect("the plan runs");
    if outcome.held() {
        return;
    }
    for told in watch(&plan).told {
        println!("{}", told.text);
    }
    panic!("{:?}: {:#?}", plan.faults, outcome.violations);
}

fn retired(watched: &Watched) -> Vec<String> {
    let lines = watched.of(EventKind::EngineRetired);
    let class = |text: &str| text.split("->").nth(1)?.split('/').nth(1)?.split(' ').next().map(str::to_owned);
    lines.filter_map(|told| class(&told.text)).collect()
}

#[test]
fn spent_streams_are_retired_with_the_next_admission_and_begin_anew() {
    let watched = watch(&plan_of(DiskProfile::Strict));
    support::assert_held(&watched);
    assert_eq!(
        retired(&watched),
        ["control", "e2e", "storage"],
        "its own first, and application mail may still come"
    );
    assert_eq!((watched.outcome.intended, watched.outcome.dispatched), (14, 14));
    assert_eq!(watched.outcome.verdicts["first"], 4 + 3, "three begin anew: {:?}", watched.outcome.verdicts);
    let refused = watched.of(EventKind::Unverified).filter(|told| told.text.contains("expired")).count();
    assert_eq!(refused, 4, "copies of what is spent are not even admitted");
}

#[test]
fn a_death_at_every_operation_of_a_retirement_holds() {
    for disk in [DiskProfile::Strict, DiskProfile::Ordered] {
        let plan = plan_of(disk);
        let points = at_operations(&watch(&plan), Life(0), SPENT_US);
        assert!(points.len() >= 3 * 20, "{} points", points.len());
        for at in points {
            for death in DEATHS {
                holds(&plan, vec![crash(0, at, death)]);
            }
        }
    }
}

#[test]
fn a_death_at_every_operation_of_the_recovery_from_a_retirement_holds() {
    let mut tried = 0;
    for (disk, death, step, count) in [
        (DiskProfile::Strict, Death::Power, Step::Renamed, 5),
        (DiskProfile::Ordered, Death::Power, Step::Renamed, 5),
        (DiskProfile::Strict, Death::Power, Step::BeforeRelease, 2),
        (DiskProfile::Strict, Death::Process, Step::BeforeRelease, 2),
        (DiskProfile::Strict, Death::Process, Step::DirectoryFlushed, 2),
    ] {
        let plan = plan_of(disk);
        let at = When::Step { node: RECEIVER, life: Life(0), step: StepId(step), table: None, count };
        let first = crash(0, at, death);
        let once = watch(&Plan { faults: vec![first.clone()], ..plan.clone() });
        support::assert_held(&once);
        for at in at_operations(&once, Life(1), 0) {
            for death in DEATHS {
                holds(&plan, vec![first.clone(), crash(1, at, death)]);
                tried += 1;
            }
        }
    }
    assert!(tried >= 600, "points of recoveries were lost: {tried}");
}

#[test]
fn a_failure_of_every_operation_of_a_retirement_holds_and_undoes_it() {
    let plan = plan_of(DiskProfile::Strict);
    let mut undone = 0;
    for operation in [
        DiskOperation::Create,
        DiskOperation::Write,
        DiskOperation::Flush,
        DiskOperation::Rename,
        DiskOperation::Remove,
        DiskOperation::FlushDirectory,
    ] {
        for skip in 0..4 {
            let kind = FaultKind::Disk {
                node: RECEIVER,
                fault: DiskFault::Error,
                operations: vec![operation],
                skip,
                count: 1,
            };
            let at = When::Time { us: SPENT_US };
            let failing = Fault { id: FaultId(0), at, until_us: Some(3_500_000), kind };
            holds(&plan, vec![failing.clone()]);
            let watched = watch(&Plan { faults: vec![failing], ..plan.clone() });
            undone += usize::from(retired(&watched).len() > 3);
        }
    }
    assert!(undone >= 6, "retirements that failed are made again: {undone}");
}

#[test]
fn an_engine_that_retires_never_or_too_early_is_convicted_by_its_verdicts() {
    for (flaw, at_us) in [("never-retired", SPENT_US), ("retired-too-early", 1_000_000)] {
        let mut plan = plan_of(DiskProfile::Strict);
        plan.actions.push(burst(20, at_us, 0, RECEIVER.0, Class::E2e, 1));
        assert!(run(&plan, RunOptions::default()).expect("the plan runs").held());
        plan.flaws = vec![flaw.to_owned()];
        let outcome = run(&plan, RunOptions::default()).expect("the plan runs");
        assert!(outcome.violations.iter().any(|broken| broken.law == "streams/verdict"), "{flaw}");
    }
}
