//! The world without faults: everything arrives, once, however it travels.

mod support;

use groundhog_engine::streams::key::Class;
use groundhog_sim::ledger::kind::EventKind;
use groundhog_sim::plan::{Act, Action, Death, FaultKind, FrameName};
use groundhog_sim::run::{RunOptions, run};
use groundhog_sim::units::{ActionId, NodeId};
use support::{burst, quiet_plan, watch};

#[test]
fn every_message_of_a_quiet_world_is_dispatched_once() {
    let mut plan = quiet_plan(3);
    plan.actions.push(burst(0, 100_000, 0, 1, Class::Application, 50));
    plan.actions.push(burst(1, 100_000, 1, 2, Class::Control, 50));
    let outcome = run(&plan, RunOptions::default()).expect("the plan runs");
    assert!(outcome.held(), "{:#?}", outcome.violations);
    assert_eq!((outcome.intended, outcome.dispatched), (100, 100));
}

#[test]
fn a_relay_carries_messages_on_and_writes_nothing() {
    let mut plan = quiet_plan(3);
    let mut action = burst(0, 100_000, 0, 2, Class::E2e, 40);
    if let Act::Send(burst) = &mut action.act {
        burst.via = Some(NodeId(1));
    }
    plan.actions.push(action);
    let watched = watch(&plan);
    support::assert_held(&watched);
    assert_eq!(watched.outcome.dispatched, 40);
    assert_eq!(watched.count_at(1, EventKind::Relayed), 40);
    assert_eq!(watched.count_at(1, EventKind::EngineTransition), 0, "a relay's tables never change");
    assert_eq!(watched.count_at(2, EventKind::Dispatched), 40);
}

#[test]
fn frames_of_unordered_channels_are_admitted_once_each() {
    let mut plan = quiet_plan(2);
    plan.links[0].ordered = false;
    plan.links[0].jitter_us = 5_000;
    plan.actions.push(burst(0, 100_000, 0, 1, Class::Storage, 100));
    let watched = watch(&plan);
    support::assert_held(&watched);
    assert_eq!(watched.outcome.dispatched, 100);
    assert!(watched.outcome.verdicts["late"] > 0, "some overtake others: {:?}", watched.outcome.verdicts);
}

#[test]
fn a_frame_that_an_adversary_sends_again_is_never_dispatched_again() {
    let mut plan = quiet_plan(3);
    plan.actions.push(burst(0, 100_000, 0, 1, Class::Storage, 20));
    let (origin, destination, class) = (NodeId(0), NodeId(1), Class::Storage);
    let frame = FrameName { origin, destination, class, sequence: 7, copy: 0 };
    // By its origin, on another lane, and by a stranger; before the receiver's restart and after it; one never recorded.
    let never = FrameName { sequence: 999, ..frame };
    let replays = [
        (200_000, 0, frame, None),
        (210_000, 0, frame, Some(Class::Control)),
        (220_000, 2, frame, None),
        (600_000, 0, frame, None),
        (610_000, 2, frame, Some(Class::E2e)),
        (620_000, 0, never, None),
    ];
    for (id, (at_us, node, frame, lane)) in (1..).zip(replays) {
        let act = Act::Replay { frame, to: NodeId(1), lane };
        plan.actions.push(Action { id: ActionId(id), at_us, node: NodeId(node), act });
    }
    let crash = FaultKind::Crash { node: NodeId(1), death: Death::Power, down_us: 10_000, survivors: None };
    plan.faults.push(support::fault(0, 400_000, 400_000, crash));
    let watched = watch(&plan);
    support::assert_held(&watched);
    assert_eq!(watched.of(EventKind::Dispatched).count(), 20);
    let arrived = watched.of(EventKind::Arrived).filter(|told| told.text.contains("replayed")).count();
    let unverified = watched.of(EventKind::Unverified).count();
    assert_eq!(arrived + unverified, 5, "each recorded frame is sent again");
    assert_eq!(watched.outcome.verdicts["replay"], arrived as u64, "{:?}", watched.outcome.verdicts);
    assert_eq!(watched.of(EventKind::ReplayMissed).count(), 1);
}
