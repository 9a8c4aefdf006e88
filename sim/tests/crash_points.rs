//! Every point of one group commit at which a life can end, each tried once: all laws hold at every one of them.

mod support;

use groundhog_engine::host::observe::Step;
use groundhog_engine::streams::key::Class;
use groundhog_sim::ledger::LawSelection;
use groundhog_sim::ledger::kind::EventKind;
use groundhog_sim::plan::{Act, Action, Death, DiskProfile, Fault, FaultKind, Phase, Plan, StepId, When};
use groundhog_sim::run::{RunOptions, run};
use groundhog_sim::units::{FaultId, Life, NodeId};
use support::{Watched, burst, quiet_plan, watch};

const SENDER: NodeId = NodeId(0);
const RECEIVER: NodeId = NodeId(1);
const DEATHS: [Death; 2] = [Death::Process, Death::Power];
const PHASES: [Phase; 3] = [Phase::Before, Phase::Partly, Phase::After];

/// Eight messages of four streams at once, each sent four times, so that copies cross a restart; then one more of each.
fn plan_of(disk: DiskProfile) -> Plan {
    let mut plan = quiet_plan(2);
    plan.profile.disk = disk;
    plan.actions = (0..).zip(Class::ALL).map(|(id, class)| eight_messages_share(id, class)).collect();
    plan.actions.extend((4..).zip(Class::ALL).map(|(id, class)| burst(id, 190_000, 0, 1, class, 1)));
    plan.quiesce_us = 250_000;
    plan.end_us = 400_000;
    plan
}

fn eight_messages_share(id: u32, class: Class) -> Action {
    let mut action = burst(id, 50_000, SENDER.0, RECEIVER.0, class, 2);
    if let Act::Send(burst) = &mut action.act {
        (burst.every_us, burst.copies, burst.copy_every_us) = (0, 4, 40_000);
    }
    action
}

fn crash(id: u32, node: NodeId, at: When, death: Death) -> Fault {
    Fault {
        id: FaultId(id),
        at,
        until_us: None,
        kind: FaultKind::Crash { node, death, down_us: 20_000, survivors: None },
    }
}

/// Disk operations of one life of a node.
fn operations(watched: &Watched, node: NodeId, life: Life) -> u64 {
    let of = format!("n{}.{} ", node.0, life.0);
    let answered = watched.of(EventKind::DiskAnswered).filter(|told| told.text.contains(&of));
    let numbers = answered.filter_map(|told| {
        let number = told.text.split("op ").nth(1)?.split(' ').next()?;
        number.parse::<u64>().ok()
    });
    numbers.max().map_or(0, |most| most + 1)
}

fn at_operations(watched: &Watched, node: NodeId, life: Life) -> Vec<When> {
    let at = |operation| PHASES.map(|phase| When::Operation { node, life, operation, phase });
    (0..operations(watched, node, life)).flat_map(at).collect()
}

fn at_steps(watched: &Watched, node: NodeId) -> Vec<When> {
    let life = Life(0);
    let mut points = Vec::new();
    for step in Step::ALL {
        let word = format!("{} of batch", step.id());
        let reported = watched.of(EventKind::EngineStep).filter(|told| told.node == Some(node));
        let times =
            u32::try_from(reported.filter(|told| told.text[35..].starts_with(&word)).count()).unwrap();
        points.extend((1..=times).map(|count| When::Step {
            node,
            life,
            step: StepId(*step),
            table: None,
            count,
        }));
    }
    points
}

/// Runs the plan with these crashes: all of them come, and every law holds.
fn holds(plan: &Plan, crashes: Vec<Fault>) {
    let mut plan = plan.clone();
    plan.faults = crashes;
    let outcome = run(&plan, RunOptions::default()).expect("the plan runs");
    let deaths: u64 = outcome.deaths.values().sum();
    if outcome.held() && deaths == plan.faults.len() as u64 {
        return;
    }
    for told in watch(&plan).told {
        println!("{}", told.text);
    }
    panic!("{:?}: {deaths} deaths, {:#?}", plan.faults, outcome.violations);
}

/// Every point of both nodes' first lives, each with both deaths; says how many there were.
fn every_point(disk: DiskProfile) -> (usize, usize) {
    let plan = plan_of(disk);
    let quiet = watch(&plan);
    support::assert_held(&quiet);
    assert_eq!((quiet.outcome.intended, quiet.outcome.dispatched), (12, 12));
    assert!(quiet.outcome.verdicts["replay"] >= 16, "copies arrive: {:?}", quiet.outcome.verdicts);
    let [operations, steps] = [at_operations_of_both(&quiet), at_steps_of_both(&quiet)];
    for (node, at) in operations.iter().chain(&steps) {
        for death in DEATHS {
            holds(&plan, vec![crash(0, *node, *at, death)]);
        }
    }
    (operations.len() * DEATHS.len(), steps.len() * DEATHS.len())
}

fn at_operations_of_both(quiet: &Watched) -> Vec<(NodeId, When)> {
    let of = |node| at_operations(quiet, node, Life(0)).into_iter().map(move |at| (node, at));
    of(SENDER).chain(of(RECEIVER)).collect()
}

fn at_steps_of_both(quiet: &Watched) -> Vec<(NodeId, When)> {
    let of = |node| at_steps(quiet, node).into_iter().map(move |at| (node, at));
    of(SENDER).chain(of(RECEIVER)).collect()
}

fn at_least((operations, steps): (usize, usize), (least_operations, least_steps): (usize, usize)) {
    println!("{operations} points at operations, {steps} at steps");
    assert!(
        operations >= least_operations,
        "points at operations were lost: {operations} of {least_operations}"
    );
    assert!(steps >= least_steps, "points at steps were lost: {steps} of {least_steps}");
}

#[test]
fn every_point_of_a_group_commit_holds_on_a_strict_disk() {
    at_least(every_point(DiskProfile::Strict), (552, 148));
}

#[test]
fn every_point_of_a_group_commit_holds_on_an_ordered_disk() {
    at_least(every_point(DiskProfile::Ordered), (552, 148));
}

#[test]
fn every_operation_of_a_recovery_after_a_power_failure_holds() {
    let mut tried = 0;
    for (disk, step) in [
        (DiskProfile::Strict, Step::TemporaryFlushed),
        (DiskProfile::Strict, Step::Renamed),
        (DiskProfile::Ordered, Step::Renamed),
        (DiskProfile::Strict, Step::Marked),
    ] {
        let mut plan = plan_of(disk);
        let at = When::Step { node: RECEIVER, life: Life(0), step: StepId(step), table: None, count: 2 };
        let first = crash(0, RECEIVER, at, Death::Power);
        plan.faults = vec![first.clone()];
        let once = watch(&plan);
        support::assert_held(&once);
        for at in at_operations(&once, RECEIVER, Life(1)) {
            for death in DEATHS {
                holds(&plan, vec![first.clone(), crash(1, RECEIVER, at, death)]);
                tried += 1;
            }
        }
    }
    println!("{tried} points of recoveries");
    assert!(tried >= 1_410, "points of a recovery were lost: {tried} of 1,410");
}

/// Laws that a flaw can break only by a death: what is dispatched, signed and refused.
const LAWS: [&str; 3] = ["streams/at-most-once", "streams/one-digest", "streams/available"];

/// Whether one of these laws is broken at some point of a commit with this flaw.
fn convicts(flaw: &str, disk: DiskProfile) -> bool {
    let mut plan = plan_of(disk);
    plan.flaws = vec![flaw.to_owned()];
    let run_with = |crashes: Vec<Fault>| {
        let mut options = RunOptions::default();
        options.ledger.laws = LawSelection::Ids(LAWS.map(str::to_owned).into());
        run(&Plan { faults: crashes, ..plan.clone() }, options).expect("the plan runs")
    };
    assert!(run_with(Vec::new()).held(), "nothing is seen while nobody dies");
    let points = at_operations_of_both(&watch(&plan));
    points.iter().any(|(node, at)| !run_with(vec![crash(0, *node, *at, Death::Power)]).held())
}

#[test]
fn a_commit_that_skips_a_flush_is_convicted_by_its_crash_points() {
    for flaw in
        ["no-flush-before-rename", "no-directory-flush", "early-release", "lease-written-after-exposure"]
    {
        assert!(convicts(flaw, DiskProfile::Strict), "{flaw}");
    }
}
