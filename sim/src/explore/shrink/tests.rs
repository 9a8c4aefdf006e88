//! The shrinker against laws that are predicates of a plan, on plans that nothing runs.

use super::*;
use crate::plan::{Act, Crypto, Death, Fault, FaultKind, When, yardstick};
use crate::units::NodeId;
use proptest::prelude::*;
use std::collections::BTreeSet;

const LAW: &str = "streams/at-most-once";
const OTHER: &str = "streams/honest";

/// Says which law a plan breaks, and runs nothing.
struct Fake<'f> {
    breaks: &'f dyn Fn(&Plan) -> Option<&'static str>,
    fingerprint: &'f dyn Fn(&Plan, u64) -> u8,
    runs: u64,
    most_runs: u64,
}

impl<'f> Fake<'f> {
    fn new(breaks: &'f dyn Fn(&Plan) -> Option<&'static str>) -> Self {
        Self { breaks, fingerprint: &|_, _| 1, runs: 0, most_runs: u64::MAX }
    }

    fn seen(&mut self, law: &str, plan: &Plan) -> Seen {
        assert!(plan.check().is_ok(), "only plans are run: {:?}", plan.check());
        self.runs += 1;
        let at = SimTime::from_us(plan.end_us / 2);
        let saw = |law| Violation { law, at, node: None, saw: "twice".to_owned() };
        Seen {
            fingerprint: [(self.fingerprint)(plan, self.runs); 32],
            broken: (self.breaks)(plan).filter(|broken| *broken == law).map(saw),
            began: plan.faults.iter().map(|fault| (fault.id, SimTime(1))).collect(),
            covered: SimTime::from_us(plan.end_us),
            cut: None,
        }
    }
}

impl Runner for Fake<'_> {
    fn first_broken(&mut self, law: &str, batch: &Batch<'_>) -> Result<Option<(usize, Seen)>, Over> {
        for number in 0.. {
            let Some(plan) = batch.plan(number) else { break };
            if self.runs >= self.most_runs {
                return Err(Over);
            }
            let seen = self.seen(law, &plan);
            if seen.breaks() {
                return Ok(Some((number, seen)));
            }
        }
        Ok(None)
    }

    fn run(&mut self, law: &str, plan: &Plan) -> Result<Seen, RunError> {
        Ok(self.seen(law, plan))
    }
}

/// 24 bursts among nine nodes, and eight deaths.
fn plan() -> Plan {
    let mut plan = yardstick::admissions(9, 3, Crypto::Ed25519);
    plan.actions.truncate(24);
    plan.schedule_seed = 7_777;
    plan.quiesce_us = plan.end_us / 2;
    for id in 0..8 {
        let node = NodeId(id % 9);
        let at = When::Time { us: 1_000 * u64::from(id) };
        let kind = FaultKind::Crash { node, death: Death::Power, down_us: 4_321, survivors: None };
        plan.faults.push(Fault { id: FaultId(id.into()), at, until_us: None, kind });
    }
    plan
}

fn ids(plan: &Plan) -> (Vec<u32>, Vec<u32>) {
    let actions = plan.actions.iter().map(|action| action.id.0);
    let faults = plan.faults.iter().map(|fault| fault.id.0);
    (actions.collect(), faults.collect())
}

fn has(plan: &Plan, actions: &[u32], faults: &[u32]) -> bool {
    let (present, faulty) = ids(plan);
    actions.iter().all(|id| present.contains(id)) && faults.iter().all(|id| faulty.contains(id))
}

fn shrunk(breaks: &dyn Fn(&Plan) -> Option<&'static str>) -> Shrunk {
    shrink(&plan(), LAW, &mut Fake::new(breaks), Limits::default()).expect("it shrinks")
}

#[test]
fn exactly_what_the_law_needs_is_left() {
    let shrunk = shrunk(&|plan| has(plan, &[3, 7], &[2]).then_some(LAW));
    assert_eq!(ids(&shrunk.plan), (vec![3, 7], vec![2]));
    assert!(shrunk.one_minimal);
    assert_eq!((shrunk.from.actions, shrunk.from.faults, shrunk.from.nodes), (24, 8, 9));
    assert_eq!((shrunk.to.actions, shrunk.to.faults, shrunk.to.messages), (2, 1, 2));
    // Both bursts and the death can be of one pair of nodes, and everything else is as usual.
    assert_eq!((shrunk.to.nodes, shrunk.plan.links.len()), (2, 1));
    assert_eq!((shrunk.plan.crypto, shrunk.plan.schedule_seed), (Crypto::KeyedHash, 0));
    assert!(matches!(shrunk.plan.faults[0].kind, FaultKind::Crash { death: Death::Process, down_us: 0, .. }));
    assert!(shrunk.to.covered_us <= 1, "{:?}", shrunk.to);
}

#[test]
fn ids_become_places_where_the_law_does_not_mind() {
    let shrunk = shrunk(&|plan| (plan.actions.len() >= 2).then_some(LAW));
    assert_eq!(ids(&shrunk.plan), (vec![0, 1], vec![]));
}

#[test]
fn a_failure_of_another_law_is_not_accepted() {
    let breaks = |plan: &Plan| {
        let law = if has(plan, &[3, 7], &[]) { LAW } else { OTHER };
        Some(law)
    };
    let shrunk = shrunk(&breaks);
    assert_eq!(ids(&shrunk.plan), (vec![3, 7], vec![]));
    assert_eq!(shrunk.violation.law, LAW);
}

#[test]
fn a_law_that_breaks_under_another_schedule_is_followed_there() {
    let breaks = |plan: &Plan| {
        let whole = plan.actions.len() == 24 && plan.schedule_seed == 7_777;
        (whole || (has(plan, &[5], &[]) && plan.schedule_seed == 11)).then_some(LAW)
    };
    let shrunk = shrunk(&breaks);
    assert_eq!((ids(&shrunk.plan), shrunk.plan.schedule_seed), ((vec![5], vec![]), 11));
}

#[test]
fn no_more_schedules_are_tried_than_allowed() {
    let beyond = SCHEDULE_SEEDS as u64;
    let breaks = |plan: &Plan| {
        let whole = plan.actions.len() == 24;
        (whole || plan.schedule_seed == beyond).then_some(LAW)
    };
    let shrunk = shrunk(&breaks);
    assert_eq!(shrunk.to.actions, 24);
    assert!(shrunk.one_minimal, "under every schedule seed that was tried");
}

#[test]
fn at_the_deadline_the_smallest_so_far_is_handed_over_and_said_not_to_be_minimal() {
    let breaks = |plan: &Plan| has(plan, &[3, 7], &[2]).then_some(LAW);
    let mut sizes = BTreeSet::new();
    for most_runs in [0, 5, 12, 40, 10_000_000] {
        let mut runner = Fake { most_runs, ..Fake::new(&breaks) };
        let shrunk = shrink(&plan(), LAW, &mut runner, Limits::default()).expect("it breaks");
        assert!(has(&shrunk.plan, &[3, 7], &[2]));
        assert_eq!(shrunk.one_minimal, most_runs == 10_000_000, "{most_runs}");
        sizes.insert(shrunk.to.actions + shrunk.to.faults);
    }
    assert!(sizes.len() > 2 && sizes.contains(&32) && sizes.contains(&3), "{sizes:?}");
}

#[test]
fn a_plan_that_breaks_nothing_is_no_failure_to_shrink() {
    let mut runner = Fake::new(&|_| Some(OTHER));
    let error = shrink(&plan(), LAW, &mut runner, Limits::default()).unwrap_err();
    assert!(matches!(&error, ShrinkError::NotBroken { law } if law == LAW), "{error}");
    assert_eq!(runner.runs, 1);
}

fn flaky(runner: &mut Fake<'_>, limits: Limits) -> Flaky {
    match shrink(&plan(), LAW, runner, limits) {
        Err(ShrinkError::Flaky(flaky)) => *flaky,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_plan_that_gives_another_run_the_second_time_is_said_not_to_be_deterministic() {
    let always = |_: &Plan| Some(LAW);
    let differs = |_: &Plan, run: u64| run as u8;
    let found = flaky(&mut Fake { fingerprint: &differs, ..Fake::new(&always) }, Limits::default());
    assert_eq!((found.stage, found.first, found.again), (Stage::Original, [1; 32], [2; 32]));
    let message = ShrinkError::Flaky(Box::new(found)).to_string();
    assert!(message.contains(&"01".repeat(32)) && message.contains(&"02".repeat(32)), "{message}");
    assert!(message.starts_with("not deterministic: the plan gave"), "{message}");

    let known = Limits { fingerprint: Some([9; 32]), ..Limits::default() };
    let found = flaky(&mut Fake::new(&always), known);
    assert_eq!((found.first, found.again, found.broke_again), ([9; 32], [1; 32], true));

    let known = Limits { fingerprint: Some([1; 32]), ..Limits::default() };
    let found = flaky(&mut Fake::new(&|_| None), known);
    assert_eq!((found.broke_first, found.broke_again), (true, false), "the same run, and another verdict");
}

#[test]
fn a_shrunk_plan_that_does_not_repeat_is_not_handed_over() {
    let always = |_: &Plan| Some(LAW);
    let small_differs = |plan: &Plan, run: u64| if plan.actions.len() < 24 { run as u8 } else { 1 };
    let found = flaky(&mut Fake { fingerprint: &small_differs, ..Fake::new(&always) }, Limits::default());
    assert_eq!(found.stage, Stage::Shrunk);
    assert_ne!(found.first, found.again);
}

#[test]
fn what_breaks_without_the_flaw_is_another_failure() {
    let flawed = Plan { flaws: vec!["early-release".to_owned()], ..plan() };
    // Without the flaw the law breaks too as soon as message 3 is gone.
    let breaks = |plan: &Plan| {
        let other = !has(plan, &[3], &[]);
        (other || !plan.flaws.is_empty()).then_some(LAW)
    };
    let shrunk = shrink(&flawed, LAW, &mut Fake::new(&breaks), Limits::default()).expect("it shrinks");
    assert_eq!(ids(&shrunk.plan), (vec![3], vec![]));
    assert_eq!((shrunk.plan.flaws.len(), shrunk.holds_without_flaws), (1, Some(true)));

    // Without the flaw the law breaks as soon as there are fewer messages: still another failure.
    let breaks = |plan: &Plan| (!plan.flaws.is_empty() || plan.actions.len() < 24).then_some(LAW);
    let shrunk = shrink(&flawed, LAW, &mut Fake::new(&breaks), Limits::default()).expect("it shrinks");
    assert_eq!((shrunk.to.actions, shrunk.plan.flaws.len()), (24, 1));

    let needless = |_: &Plan| Some(LAW);
    let shrunk = shrink(&flawed, LAW, &mut Fake::new(&needless), Limits::default()).expect("it shrinks");
    assert_eq!((shrunk.plan.flaws.len(), shrunk.holds_without_flaws), (0, None));
}

#[test]
fn messages_keep_the_time_that_they_had_where_only_time_tells_that_one_is_lost() {
    let breaks = |plan: &Plan| has(plan, &[3], &[]).then_some(LAW);
    struct AtTheEnd<'f>(Fake<'f>);
    impl Runner for AtTheEnd<'_> {
        fn first_broken(&mut self, law: &str, batch: &Batch<'_>) -> Result<Option<(usize, Seen)>, Over> {
            let found = self.0.first_broken(law, batch)?;
            Ok(found.map(|(number, seen)| (number, at_the_end(seen))))
        }
        fn run(&mut self, law: &str, plan: &Plan) -> Result<Seen, RunError> {
            self.0.run(law, plan).map(at_the_end)
        }
    }
    fn at_the_end(mut seen: Seen) -> Seen {
        let covered = seen.covered;
        if let Some(broken) = &mut seen.broken {
            broken.at = covered;
        }
        seen
    }
    let original = plan();
    let shrunk = shrink(&original, LAW, &mut AtTheEnd(Fake::new(&breaks)), Limits::default());
    let shrunk = shrunk.expect("it shrinks").plan;
    assert!(shrunk.end_us - shrunk.quiesce_us >= original.end_us - original.quiesce_us);
    assert_eq!(ids(&shrunk), (vec![3], vec![]));
}

#[test]
fn two_bursts_of_one_pair_become_one_where_that_is_enough() {
    let messages = |plan: &Plan| {
        let sent = plan.actions.iter().map(|action| match &action.act {
            Act::Send(burst) => burst.count,
            _ => 0,
        });
        sent.sum::<u32>()
    };
    let shrunk = shrunk(&|plan| (messages(plan) >= 5).then_some(LAW));
    assert_eq!((shrunk.to.actions, shrunk.to.messages), (1, 5));
}

#[test]
fn clocks_stay_within_the_tolerance_that_they_kept_to() {
    let mut skewed = plan();
    let step = |id, by_ms| Fault {
        id: FaultId(id),
        at: When::Time { us: u64::from(id) },
        until_us: None,
        kind: FaultKind::Clock { node: NodeId(1), fault: crate::plan::ClockFault::Step { by_ms } },
    };
    skewed.faults = vec![step(1, 2_000), step(2, -2_000), step(3, 2_000)];
    // Without the second step the clock is wrong by four seconds, beyond the tolerance of three.
    let breaks = |plan: &Plan| has(plan, &[], &[1, 3]).then_some(LAW);
    let shrunk = shrink(&skewed, LAW, &mut Fake::new(&breaks), Limits::default()).expect("it shrinks");
    let by_ms = |fault: &Fault| match fault.kind {
        FaultKind::Clock { fault: crate::plan::ClockFault::Step { by_ms }, .. } => by_ms,
        _ => 0,
    };
    let most: i64 = shrunk.plan.faults.iter().map(by_ms).sum::<i64>().abs();
    assert!(most <= 3_000, "{:?}", shrunk.plan.faults);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    /// A monotone law: it breaks where one of some sets of actions and faults is whole.
    #[test]
    fn whatever_a_monotone_law_needs_nothing_more_can_be_left_out(
        needs in proptest::collection::vec(proptest::collection::btree_set(0u32..32, 1..7), 1..4)
    ) {
        let present = |plan: &Plan| -> BTreeSet<u32> {
            let (actions, faults) = ids(plan);
            actions.into_iter().chain(faults.into_iter().map(|id| 24 + id)).collect()
        };
        let breaks = |plan: &Plan| {
            let present = present(plan);
            needs.iter().any(|need| need.is_subset(&present)).then_some(LAW)
        };
        let shrunk = shrunk(&breaks);
        prop_assert!(shrunk.one_minimal);
        let left = present(&shrunk.plan);
        prop_assert!(needs.iter().any(|need| need.is_subset(&left)));
        for item in &left {
            let mut fewer = left.clone();
            fewer.remove(item);
            prop_assert!(!needs.iter().any(|need| need.is_subset(&fewer)), "{item} can be left out of {left:?}");
        }
    }
}
