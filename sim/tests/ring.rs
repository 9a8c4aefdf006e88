//! Nodes on a ring: they find each other without a list of links, messages hop over real members, and members come and go.

mod support;

use groundhog_engine::streams::key::Class;
use groundhog_sim::ledger::kind::EventKind;
use groundhog_sim::outcome::Outcome;
use groundhog_sim::plan::{Act, Fault, FaultKind, LinkFault, Plan, Route, When};
use groundhog_sim::units::{FaultId, NodeId};
use std::collections::BTreeMap;
use support::ring::{S, act, by, ring_plan};
use support::{Watched, assert_held, burst, watch};

/// From every node to every other, at one time.
fn everywhere(plan: &mut Plan, at_us: u64) {
    let nodes = u16::try_from(plan.nodes.len()).unwrap();
    for (from, to) in (0..nodes).flat_map(|from| (0..nodes).map(move |to| (from, to))) {
        if from != to {
            let id = u32::try_from(plan.actions.len()).unwrap();
            plan.actions
                .push(by(Route::Ring, burst(id, at_us, from, to, Class::ALL[usize::from(to % 4)], 1)));
        }
    }
}

fn watched(plan: &Plan) -> Watched {
    let watched = watch(plan);
    assert_held(&watched);
    watched
}

fn held(plan: &Plan) -> Outcome {
    watched(plan).outcome
}

fn losses(plan: &Plan) -> (u64, BTreeMap<&'static str, u64>) {
    let outcome = held(plan);
    (outcome.dispatched, outcome.losses)
}

#[test]
fn everybody_reaches_everybody_and_some_only_over_relays() {
    let mut plan = ring_plan(24);
    everywhere(&mut plan, 5 * S);
    let seen = watched(&plan);
    assert_eq!(seen.outcome.dispatched, 24 * 23);
    assert!(seen.of(EventKind::Relayed).count() > 100, "most pairs are not connected");
    let ends = seen.of(EventKind::ConnectionAdmitted).count();
    assert!((24 * 3..24 * 23).contains(&ends), "{ends} ends of connections");
}

#[test]
fn members_come_and_go_with_and_without_a_word() {
    let mut plan = ring_plan(12);
    plan.ring.as_mut().unwrap().outside = vec![NodeId(4)];
    plan.actions = vec![
        act(0, 2 * S, 4, Act::Join),
        by(Route::OutOfBand, burst(1, 3 * S, 4, 9, Class::Control, 1)),
        act(2, 4 * S, 5, Act::Leave { hand_off: true }),
        act(3, 4 * S, 6, Act::Leave { hand_off: false }),
        act(4, 9 * S, 5, Act::Join),
        act(5, 9 * S, 5, Act::Join),
        act(6, 9 * S, 6, Act::Join),
    ];
    everywhere(&mut plan, 25 * S);
    let seen = watched(&plan);
    assert_eq!(seen.outcome.dispatched, 12 * 11 + 1, "who came back is found again");
    let at = |kind, node| seen.count_at(node, kind);
    assert_eq!((at(EventKind::Joined, 4), at(EventKind::Joined, 5), at(EventKind::Joined, 6)), (1, 1, 1));
    assert_eq!((at(EventKind::Booted, 4), at(EventKind::Booted, 5), at(EventKind::Died, 6)), (1, 2, 1));
    assert_eq!(seen.outcome.marks["ring/self-charged"], 1, "the first contact is the receiver's own");
    let by_leave = seen.of(EventKind::HandedOff).filter(|told| told.node == Some(NodeId(5)));
    assert_eq!(by_leave.filter(|told| (4 * S..5 * S).contains(&told.at.as_us())).count(), 1);
    let of_6 = seen.of(EventKind::HandedOff).filter(|told| told.node == Some(NodeId(6)));
    assert_eq!(of_6.filter(|told| (4 * S..5 * S).contains(&told.at.as_us())).count(), 0, "without a word");
}

#[test]
fn what_is_meant_for_an_absent_member_has_no_route_and_a_spent_budget_is_told() {
    let mut plan = ring_plan(12);
    plan.ring.as_mut().unwrap().outside = vec![NodeId(4)];
    plan.actions = vec![by(Route::Ring, burst(0, 5 * S, 0, 4, Class::E2e, 3))];
    assert_eq!(losses(&plan), (0, BTreeMap::from([("no-route", 3)])));

    let mut plan = ring_plan(24);
    plan.ring.as_mut().unwrap().hop_budget = 1;
    everywhere(&mut plan, 5 * S);
    let (dispatched, losses) = losses(&plan);
    assert_eq!(losses.keys().copied().collect::<Vec<_>>(), ["hop-budget"]);
    assert_eq!(dispatched + losses["hop-budget"], 24 * 23);
    assert!(dispatched > 24 * 4, "neighbours are one hop away");
}

#[test]
fn a_cut_link_is_gone_from_the_views_at_the_next_pass_and_back_when_it_is_whole() {
    let mut plan = ring_plan(8);
    let pairs = (0..8_u16).flat_map(|one| (one + 1..8).map(move |other| (one, other)));
    // Nodes 0 to 3 and nodes 4 to 7 do not reach each other.
    for ((from, to), id) in pairs.filter(|(one, other)| *one < 4 && *other >= 4).zip(0..) {
        let kind = FaultKind::Link {
            from: NodeId(from),
            to: NodeId(to),
            one_way: false,
            fault: LinkFault::Partition,
        };
        plan.faults.push(Fault {
            id: FaultId(id),
            at: When::Time { us: 2 * S },
            until_us: Some(10 * S),
            kind,
        });
    }
    everywhere(&mut plan, 5 * S);
    let (dispatched, losses) = losses(&plan);
    assert_eq!(dispatched, 2 * 4 * 3, "each half is a ring of its own");
    assert_eq!(losses, BTreeMap::from([("no-route", 2 * 4 * 4)]));

    plan.actions.clear();
    everywhere(&mut plan, 13 * S);
    assert_eq!(held(&plan).dispatched, 8 * 7);
}

#[test]
fn equal_plans_give_equal_runs_on_a_ring() {
    let mut plan = ring_plan(12);
    plan.actions = vec![act(0, 2 * S, 3, Act::Leave { hand_off: true }), act(1, 6 * S, 3, Act::Join)];
    everywhere(&mut plan, 4 * S);
    assert_eq!(held(&plan).fingerprint, held(&plan).fingerprint);
    assert_eq!(Plan::from_json(&plan.to_json()).unwrap(), plan);
}
