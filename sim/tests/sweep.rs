//! The sweep: every crash point of a small group commit holds, planted flaws do not, and what it finds is an ordinary plan.

mod support;

use groundhog_engine::host::observe::Step;
use groundhog_engine::streams::key::Class;
use groundhog_sim::explore::sweep::{
    Done, Job, Level, Probe, ProbedLife, Runner, Settings, Stopped, Survey, Tally, explore, struck,
};
use groundhog_sim::ledger::LawSelection;
use groundhog_sim::plan::{
    Act, Action, Death, DiskProfile, Fault, FaultKind, Phase, Plan, StepId, Survivors, When,
};
use groundhog_sim::run::{RunError, RunOptions, run, run_probed};
use groundhog_sim::units::{FaultId, Life, NodeId};
use groundhog_sim::world::probe::Point;
use std::ops::Range;
use support::{burst, quiet_plan};

const SENDER: NodeId = NodeId(0);
const RECEIVER: NodeId = NodeId(1);

/// Eight messages of four streams at once, each sent four times, so that copies cross a restart; then one more of each.
fn plan_of(disk: DiskProfile) -> Plan {
    let mut plan = quiet_plan(2);
    plan.profile.disk = disk;
    plan.actions = (0..).zip(Class::ALL).map(|(id, class)| eight_messages_share(id, class)).collect();
    plan.actions.extend((4..).zip(Class::ALL).map(|(id, class)| burst(id, 260_000, 0, 1, class, 1)));
    plan.quiesce_us = 230_000;
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

/// Makes runs one after the other.
struct OneByOne {
    laws: LawSelection,
    /// Runs after which it is interrupted.
    left: usize,
    /// It is interrupted by itself after a run that broke a law.
    first: bool,
    broken: bool,
}

impl OneByOne {
    fn all() -> Self {
        Self { laws: LawSelection::All, left: usize::MAX, first: false, broken: false }
    }
}

impl Runner for OneByOne {
    fn run(&mut self, jobs: Vec<Job>) -> Option<Vec<Result<Done, RunError>>> {
        if self.first && self.broken {
            return None;
        }
        let mut all = Vec::new();
        for job in jobs {
            if self.left == 0 {
                return None;
            }
            self.left -= 1;
            let mut options = RunOptions::default();
            options.ledger.laws = self.laws.clone();
            options.ledger.unhashed = true;
            all.push(job.run(options));
            self.broken |= all.iter().flatten().any(|done| !done.violations.is_empty());
        }
        Some(all)
    }
}

fn settings(depth: u8) -> Settings {
    Settings { depth, ..Settings::default() }
}

/// Explores so many points a node from the number that the second or third tell; all of them where it is 0.
fn held(plan: &Plan, node: NodeId, points: Range<u64>, depth: u8) -> Vec<Level> {
    let holds = Survey::default();
    let (tally, stopped) = explore(plan, &holds, &settings(depth), node, points, &mut OneByOne::all());
    assert_eq!(stopped, None);
    assert!(tally.held() && tally.is_complete(), "{tally:#?}");
    tally.levels
}

/// Every point of both nodes' first lives, each with every image of both deaths. Says points, images and runs.
fn every_point(disk: DiskProfile) -> (u64, u64, u64) {
    let plan = plan_of(disk);
    let Survey { nodes, broken } = Survey::of(&plan, &settings(0), &mut OneByOne::all()).expect("it runs");
    assert_eq!(broken, []);
    let mut all = Tally::default();
    for node in &nodes {
        let count = node.at_operations + node.at_steps;
        assert_eq!(count, node.points.end - node.points.start);
        assert!(node.at_operations <= 3 * node.operations);
        let levels = held(&plan, node.node, node.points.clone(), 0);
        assert_eq!(levels[0].points, count, "N of N");
        assert_eq!(levels[0].images, levels[0].runs, "each image is one run");
        all.add(Tally { levels, ..Tally::default() });
    }
    let Level { points, images, runs, .. } = all.levels[0];
    (points, images, runs)
}

#[test]
fn every_point_of_a_group_commit_holds_on_a_strict_disk() {
    let (points, images, runs) = every_point(DiskProfile::Strict);
    println!("{points} points, {images} images, {runs} runs");
    assert!(points >= 280, "points were lost: {points} of 280");
    assert!(images >= 1_459, "images were lost: {images} of 1,459");
}

#[test]
fn every_point_of_a_group_commit_holds_on_an_ordered_disk() {
    let (points, images, runs) = every_point(DiskProfile::Ordered);
    println!("{points} points, {images} images, {runs} runs");
    assert!(points >= 280, "points were lost: {points} of 280");
    assert!(images >= 983, "images were lost: {images} of 983");
}

/// The points of a node's first life.
fn points(plan: &Plan, node: NodeId) -> Vec<Point> {
    let life = ProbedLife {
        node,
        life: Life(0),
        opening: false,
        images_of: 0..u64::MAX,
        once: false,
        most_images: 1_000,
    };
    let probe = Probe { life: Some(life) };
    run_probed(plan, RunOptions::default(), probe).expect("the plan runs").1.points
}

fn at_step(point: &Point, wanted: Step, wanted_count: u32) -> bool {
    matches!(point.at, When::Step { step: StepId(step), count, .. } if step == wanted && count == wanted_count)
}

#[test]
fn recoveries_hold_two_deep_and_no_point_of_them_is_lost() {
    let mut levels = Tally::default();
    for (disk, step) in [(DiskProfile::Strict, Step::Renamed), (DiskProfile::Ordered, Step::Marked)] {
        let plan = plan_of(disk);
        let all = points(&plan, RECEIVER);
        let number = all.iter().position(|point| at_step(point, step, 2)).expect("two of four") as u64;
        levels.add(Tally { levels: held(&plan, RECEIVER, number..number + 1, 2), ..Tally::default() });
    }
    println!("{:#?}", levels.levels);
    assert_eq!(levels.levels.len(), 3);
    assert_eq!(levels.levels[0].points, 2);
    for (level, (points, images, runs)) in
        levels.levels.iter().zip([(2, 14, 14), (1_503, 3_321, 63), (7_259, 15_694, 16)])
    {
        assert!(level.points >= points, "points were lost: {level:?}");
        assert!(level.images >= images, "images were lost: {level:?}");
        assert!(level.runs >= runs, "images were lost: {level:?}");
        assert_eq!(level.late, 0, "each recovery is over before quiescence");
    }
}

#[test]
fn looking_changes_no_event() {
    let plan = plan_of(DiskProfile::Strict);
    let alone = run(&plan, RunOptions::default()).expect("the plan runs");
    for node in [SENDER, RECEIVER] {
        for (life, opening) in [(Life(0), false), (Life(0), true), (Life(1), true)] {
            let life =
                ProbedLife { node, life, opening, images_of: 0..u64::MAX, once: opening, most_images: 9 };
            let probe = Probe { life: Some(life) };
            let (seen, _) = run_probed(&plan, RunOptions::default(), probe).expect("the plan runs");
            assert_eq!(seen.fingerprint, alone.fingerprint);
        }
    }
}

#[test]
fn a_life_gives_nothing_out_before_it_is_open_and_what_it_gives_out_later_is_told() {
    let all = points(&plan_of(DiskProfile::Strict), SENDER);
    let opened = all.iter().position(|point| at_step(point, Step::Opened, 1)).expect("it opens");
    assert!(all[..=opened].iter().all(|point| point.given_out == 0));
    let last = all.last().expect("points").given_out;
    assert!(last != 0 && all.iter().filter(|point| point.given_out != last).count() > opened);
}

fn crash(id: u32, at: When, death: Death, survivors: Option<Survivors>) -> Fault {
    let kind = FaultKind::Crash { node: RECEIVER, death, down_us: 20_000, survivors };
    Fault { id: FaultId(id), at, until_us: None, kind }
}

#[test]
fn what_a_plan_says_survives_is_what_is_left() {
    let mut plan = plan_of(DiskProfile::Strict);
    let all = points(&plan, RECEIVER);
    let point = all.iter().max_by_key(|point| point.power.images.len()).expect("points");
    assert!(point.power.images.len() >= 8 && !point.power.more);
    for image in &point.power.images {
        plan.faults = vec![crash(4, point.at, Death::Power, Some(image.survivors.clone()))];
        let again = Plan::from_json(&plan.to_json()).expect("the plan is read back");
        assert_eq!(again, plan);
        let (outcome, probed) = run_probed(&again, RunOptions::default(), Probe::default()).expect("it runs");
        assert!(outcome.held(), "{:?}", outcome.violations);
        let [death] = probed.deaths[..] else { panic!("one death: {:?}", probed.deaths) };
        assert_eq!((death.fault, death.of, death.state), (FaultId(4), image.survivors.of, image.state));
    }
}

#[test]
fn a_plan_without_survivors_is_written_and_drawn_as_before() {
    let mut plan = plan_of(DiskProfile::Strict);
    plan.faults = vec![crash(0, When::Time { us: 56_000 }, Death::Power, None)];
    assert!(!plan.to_json().contains("survivors"));
    let (outcome, probed) = run_probed(&plan, RunOptions::default(), Probe::default()).expect("it runs");
    assert_eq!((outcome.deaths["power-failure"], probed.deaths), (1, Vec::new()));
}

#[test]
fn survivors_that_cannot_be_are_refused_with_the_plan() {
    let survivors = |of, kept| Some(Survivors { of, kept });
    for (survivors, why) in [
        (survivors(3, vec![1, 0]), "not in order"),
        (survivors(3, vec![1, 1]), "stands twice"),
        (survivors(3, vec![3]), "beyond the 3 changes"),
        (survivors(u32::MAX, vec![]), "more than"),
    ] {
        let mut plan = plan_of(DiskProfile::Strict);
        plan.faults = vec![crash(0, When::Time { us: 1 }, Death::Power, survivors)];
        let error = plan.check().expect_err(why).to_string();
        assert!(error.contains("fault 0") && error.contains(why), "{error}");
    }
}

#[test]
fn a_death_of_the_plans_own_gives_way_at_the_very_place_alone() {
    let mut plan = plan_of(DiskProfile::Strict);
    let operation = |operation, phase| When::Operation { node: RECEIVER, life: Life(0), operation, phase };
    plan.faults = vec![crash(3, operation(30, Phase::After), Death::Process, None)];
    let all = points(&plan, RECEIVER);
    let last = all.last().expect("points");
    assert_eq!((last.at, &last.own[..]), (operation(30, Phase::After), &[FaultId(3)][..]));
    let from = all.len() as u64 - 4;
    let levels = held(&plan, RECEIVER, from..all.len() as u64, 0);
    assert_eq!(levels[0].points, 4);
    assert!(levels[0].runs >= 8);
}

#[test]
fn what_was_done_before_an_interruption_and_the_rest_add_up() {
    let plan = plan_of(DiskProfile::Strict);
    let whole = held(&plan, RECEIVER, 60..66, 1);
    let mut interrupted = OneByOne { left: 9, ..OneByOne::all() };
    let (_, stopped) = explore(&plan, &Survey::default(), &settings(1), RECEIVER, 60..66, &mut interrupted);
    assert_eq!(stopped, Some(Stopped::Interrupted));
    let mut sum = Tally::default();
    for part in [60..62, 62..65, 65..66] {
        sum.add(Tally { levels: held(&plan, RECEIVER, part, 1), ..Tally::default() });
    }
    assert_eq!(sum.levels, whole);
}

/// The first failing point of a plan with this flaw, as the sweep finds it: the law, and the plan that it writes.
fn convicted(flaw: &str, law: &str, node: NodeId, depth: u8) -> Plan {
    let mut plan = plan_of(DiskProfile::Strict);
    plan.flaws = vec![flaw.to_owned()];
    // A few images of each death are enough to find a flaw, where there are thousands of torn ones.
    let settings = Settings { most_images: 40, ..settings(depth) };
    let laws = LawSelection::Ids([law.to_owned()].into());
    let mut runner = OneByOne { laws, first: true, ..OneByOne::all() };
    let survey = Survey::of(&plan, &settings, &mut runner).expect("it runs");
    assert_eq!(survey.broken, [], "nothing is seen while nobody dies");
    let points = survey.nodes.iter().find(|swept| swept.node == node).expect("it has points").points.clone();
    for number in points {
        let (tally, _) = explore(&plan, &survey, &settings, node, number..number + 1, &mut runner);
        assert_eq!(tally.failed, None);
        if let Some(broken) = tally.broken.get(law) {
            return struck(&plan, &broken.first.deaths, settings.down_us);
        }
    }
    panic!("{flaw} is not found");
}

#[test]
fn a_flaw_is_found_by_a_crash_point_and_the_plan_written_for_it_fails_again() {
    for (flaw, law, node, depth) in [
        ("no-flush-before-rename", "streams/old-or-new", RECEIVER, 0),
        ("no-directory-flush", "streams/old-or-new", RECEIVER, 0),
        ("early-release", "streams/at-most-once", RECEIVER, 0),
        ("lease-written-after-exposure", "streams/one-digest", SENDER, 0),
        ("one-flush-for-marker-and-record", "store/markers", RECEIVER, 0),
        ("memory-store-after-restart", "streams/at-most-once", RECEIVER, 0),
        ("ancestors-not-flushed", "streams/old-or-new", RECEIVER, 0),
        ("mark-before-flush-at-open", "store/markers", RECEIVER, 1),
    ] {
        let plan = convicted(flaw, law, node, depth);
        let plan = Plan::from_json(&plan.to_json()).expect("an ordinary plan");
        let outcome = run(&plan, RunOptions::default()).expect("the plan runs");
        assert!(outcome.violations.iter().any(|violation| violation.law == law), "{flaw}: {:?}", plan.faults);
        let blameless = Plan { flaws: Vec::new(), ..plan };
        assert!(run(&blameless, RunOptions::default()).expect("the plan runs").held(), "{flaw}");
    }
}

#[test]
fn laws_that_break_without_a_death_are_told_once_and_not_at_every_point() {
    let mut plan = plan_of(DiskProfile::Strict);
    let nobody = Settings { nodes: vec![NodeId(2)], ..settings(0) };
    let refused = Survey::of(&plan, &nobody, &mut OneByOne::all());
    assert_eq!(refused, Err(Stopped::NoNode(NodeId(2))));
    plan.flaws = vec!["early-release".to_owned()];
    let survey = Survey::of(&plan, &settings(0), &mut OneByOne::all()).expect("it runs");
    assert!(survey.breaks("commit/release"));
    let (tally, _) = explore(&plan, &survey, &settings(0), RECEIVER, 80..90, &mut OneByOne::all());
    assert!(!tally.broken.is_empty() && !tally.broken.contains_key("commit/release"), "{tally:?}");
}
