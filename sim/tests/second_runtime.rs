//! Two live runtimes on one allocator: what receivers make of it, what is licensed by it, and how it begins and ends.

mod support;

use groundhog_engine::streams::key::Class;
use groundhog_sim::ledger::kind::EventKind;
use groundhog_sim::plan::{Act, Action, Plan, SecondRuntime};
use groundhog_sim::units::{ActionId, NodeId};
use std::collections::BTreeSet;
use support::{Watched, assert_held, burst, quiet_plan, watch};

const LIMIT: &str = "forks-by-two-allocators";
const MARK: &str = "allocator/two-at-once";

fn second(id: u32, at_us: u64, node: u16, lasts_us: Option<u64>) -> Action {
    let act = Act::SecondRuntime(SecondRuntime { of: NodeId(1), lasts_us });
    Action { id: ActionId(id), at_us, node: NodeId(node), act }
}

/// Nodes 1 and 3 are linked to node 0; node 3 is a second runtime of node 1 from 200 ms on. Both use one stream.
fn both(lasts_us: Option<u64>, counts: (u32, u32)) -> Plan {
    let mut plan = quiet_plan(4);
    plan.actions = vec![
        burst(0, 100_000, 1, 0, Class::E2e, 4),
        second(1, 200_000, 3, lasts_us),
        burst(2, 300_000, 1, 0, Class::E2e, counts.0),
        burst(3, 300_000, 3, 0, Class::E2e, counts.1),
    ];
    plan
}

fn held(plan: &Plan) -> Watched {
    let watched = watch(plan);
    assert_held(&watched);
    watched
}

/// What stands after `#` in the lines of a kind at a node.
fn sequences(watched: &Watched, kind: EventKind, node: u16) -> Vec<String> {
    let lines = watched.of(kind).filter(|told| told.node == Some(NodeId(node)));
    let after = |text: &str| {
        let stream = text.split_whitespace().find(|word| word.contains("->"))?;
        Some(stream.split_once('#')?.1.to_owned())
    };
    lines.filter_map(|told| after(&told.text)).collect()
}

#[test]
fn both_sign_one_sequence_and_the_receiver_dispatches_each_sequence_once() {
    let watched = held(&both(None, (100, 40)));
    let outcome = &watched.outcome;
    assert!(
        outcome.marks[MARK] > 10 && outcome.limits[LIMIT] > 0,
        "{:?} {:?}",
        outcome.marks,
        outcome.limits
    );
    let refused: u64 =
        ["fork", "stale", "replay"].iter().filter_map(|verdict| outcome.verdicts.get(verdict)).sum();
    assert!(outcome.verdicts.get("fork").is_some_and(|forks| *forks > 0), "{:?}", outcome.verdicts);
    assert_eq!(outcome.dispatched + refused, 144, "{:?}", outcome.verdicts);
    let dispatched = sequences(&watched, EventKind::Dispatched, 0);
    assert_eq!(dispatched.len(), dispatched.iter().collect::<BTreeSet<_>>().len(), "{dispatched:?}");
    assert_eq!(dispatched.len() as u64, outcome.dispatched);
}

#[test]
fn it_begins_past_the_lease_that_was_durable_on_the_disk_that_it_has_a_copy_of() {
    let watched = held(&both(None, (1, 3)));
    assert_eq!(sequences(&watched, EventKind::Exposed, 3), ["64", "65", "66"]);
    assert_eq!(sequences(&watched, EventKind::Exposed, 1), ["0", "1", "2", "3", "4"]);
    assert!(!watched.outcome.marks.contains_key(MARK), "no sequence was signed twice");
}

#[test]
fn it_is_down_before_its_time_and_after_it() {
    let mut plan = both(Some(400_000), (1, 3));
    plan.actions.insert(0, Action { id: ActionId(0), ..burst(0, 100_000, 3, 0, Class::E2e, 2) });
    plan.actions.push(burst(0, 700_000, 3, 0, Class::E2e, 5));
    plan.actions.push(burst(0, 2_500_000, 3, 0, Class::E2e, 7));
    for (action, id) in plan.actions.iter_mut().zip(0..) {
        action.id = ActionId(id);
    }
    let watched = held(&plan);
    assert_eq!(watched.count_at(3, EventKind::SecondRuntime), 1);
    assert_eq!((watched.count_at(3, EventKind::Booted), watched.count_at(3, EventKind::Died)), (1, 1));
    assert_eq!(
        watched.outcome.losses.get("sender-crash"),
        Some(&(2 + 5 + 7)),
        "{:?}",
        watched.outcome.losses
    );
}

#[test]
fn nothing_is_licensed_before_it_begins_or_where_nobody_begins() {
    let mut plan = both(None, (100, 40));
    plan.actions.remove(1);
    let watched = held(&plan);
    assert_eq!(watched.outcome.dispatched, 144, "an account of its own");
    assert!(!watched.outcome.limits.contains_key(LIMIT));
}

#[test]
fn it_receives_what_is_sent_to_it_and_both_windows_hold() {
    let mut plan = both(None, (100, 40));
    plan.actions
        .extend([burst(4, 400_000, 0, 3, Class::Control, 9), burst(5, 400_000, 0, 1, Class::Control, 9)]);
    let watched = held(&plan);
    assert_eq!(sequences(&watched, EventKind::Dispatched, 3).len(), 9);
    assert_eq!(sequences(&watched, EventKind::Dispatched, 1).len(), 9);
}

#[test]
fn a_plan_whose_second_runtime_cannot_be_says_why() {
    let with = |change: &dyn Fn(&mut Plan)| {
        let mut plan = both(None, (1, 1));
        change(&mut plan);
        plan.check().expect_err("it cannot be").to_string()
    };
    let of = |plan: &mut Plan, node: u16| {
        plan.actions[1].act = Act::SecondRuntime(SecondRuntime { of: NodeId(node), lasts_us: None });
    };
    assert_eq!(with(&|plan| of(plan, 3)), "action 1: node 3 is no second runtime of its own");
    assert_eq!(with(&|plan| of(plan, 9)), "action 1: there is no node 9");
    let twice = with(&|plan| plan.actions.push(second(4, 500_000, 3, None)));
    assert_eq!(twice, "action 1: node 3 begins as a second runtime 2 times");
    let chain = with(&|plan| {
        let act = Act::SecondRuntime(SecondRuntime { of: NodeId(3), lasts_us: None });
        plan.actions.push(Action { id: ActionId(4), at_us: 500_000, node: NodeId(2), act });
    });
    assert_eq!(chain, "action 4: node 3 is itself a second runtime");
}
