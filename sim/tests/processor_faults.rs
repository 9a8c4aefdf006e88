//! Handlers that stall, processors that slow down, and what work costs: each shows, and ends.

mod support;

use groundhog_engine::streams::key::Class;
use groundhog_sim::ledger::kind::EventKind;
use groundhog_sim::plan::{Act, FaultKind, Plan};
use groundhog_sim::units::NodeId;
use support::{Watched, burst, fault, one_way_plan, watch, with_and_without};

const RECEIVER: NodeId = NodeId(1);

/// Two classes side by side for a second.
fn two_classes() -> Plan {
    let mut plan = one_way_plan();
    let mut action = burst(10, 102_000, 0, 1, Class::Control, 200);
    if let Act::Send(burst) = &mut action.act {
        burst.every_us = 5_000;
    }
    plan.actions.push(action);
    plan
}

fn handled(watched: &Watched, class: Class, from_us: u64, until_us: u64) -> usize {
    let handled =
        watched.of(EventKind::Handled).filter(|told| (from_us..until_us).contains(&told.at.as_us()));
    handled.filter(|told| told.text.contains(&format!(" {class} "))).count()
}

#[test]
fn a_stalled_handler_holds_its_class_and_no_other_and_goes_on_after() {
    let stall = FaultKind::StallHandler { node: RECEIVER, class: Class::Application };
    let (struck, quiet) = with_and_without(&two_classes(), fault(0, 300_000, 700_000, stall));
    let during = |watched: &Watched, class| handled(watched, class, 305_000, 700_000);
    assert_eq!(during(&struck, Class::Application), 0);
    assert!(during(&quiet, Class::Application) > 70);
    assert_eq!(during(&struck, Class::Control), during(&quiet, Class::Control));
    assert!(struck.dispatched_between(305_000, 700_000) < quiet.dispatched_between(305_000, 700_000));
    assert_eq!(struck.outcome.dispatched, struck.outcome.intended, "messages are late, not lost");
    let sent = struck.of(EventKind::FrameSent).filter(|told| told.text.contains(" application "));
    let held = sent.filter(|told| (305_000..700_000).contains(&told.at.as_us())).count();
    assert!((8..=17).contains(&held), "receive credit bounds what is sent: {held}");
}

#[test]
fn a_handler_stall_ends_at_quiescence_and_two_of_one_handler_end_with_the_later() {
    let stall = || FaultKind::StallHandler { node: RECEIVER, class: Class::Application };
    let mut plan = two_classes();
    plan.faults.push(fault(0, 300_000, 500_000, stall()));
    let mut lasting = fault(1, 400_000, 0, stall());
    lasting.until_us = None;
    plan.faults.push(lasting);
    let watched = watch(&plan);
    support::assert_held(&watched);
    support::assert_faults_ended(&watched);
    assert_eq!(handled(&watched, Class::Application, 305_000, 2_000_000), 0);
    assert_eq!(watched.outcome.dispatched, watched.outcome.intended);
}

#[test]
fn a_slow_processor_verifies_later_until_it_is_fast_again() {
    let slow = FaultKind::SlowProcessor { node: RECEIVER, factor: 200 };
    let (struck, quiet) = with_and_without(&one_way_plan(), fault(0, 300_000, 700_000, slow));
    let during = |watched: &Watched| watched.dispatched_between(300_000, 700_000);
    assert!(
        during(&struck) > 0 && during(&struck) * 2 < during(&quiet),
        "{} {}",
        during(&struck),
        during(&quiet)
    );
    assert_eq!(struck.outcome.dispatched, struck.outcome.intended);
    let late = |watched: &Watched| watched.outcome.latencies[Class::Application.index()].from_intended.max();
    assert!(late(&struck) > 10 * late(&quiet));
}

#[test]
fn work_that_costs_more_takes_longer() {
    let mut plan = one_way_plan();
    let cheap = watch(&plan);
    plan.profile.costs.verification_ns *= 10;
    plan.profile.costs.handler_ns *= 10;
    let dear = watch(&plan);
    support::assert_held(&dear);
    let least = |watched: &Watched| watched.outcome.latencies[Class::Application.index()].from_intended.min();
    assert!(least(&dear) > least(&cheap) + 500_000, "{} and {} ns", least(&dear), least(&cheap));
    assert_eq!(dear.outcome.dispatched, cheap.outcome.dispatched);
}

#[test]
fn more_cores_verify_more_at_once() {
    let mut plan = one_way_plan();
    plan.profile.costs.verification_ns = 3_000_000;
    plan.actions.push(burst(10, 102_000, 0, 1, Class::Control, 50));
    plan.actions.push(burst(11, 102_000, 0, 1, Class::Storage, 50));
    let last = |cores: u8| {
        let mut plan = plan.clone();
        plan.nodes[1].cores = cores;
        let watched = watch(&plan);
        support::assert_held(&watched);
        let before = watched.of(EventKind::Dispatched).filter(|told| told.at.as_us() < plan.quiesce_us);
        before.last().unwrap().at.as_us()
    };
    assert!(last(1) > last(3) + 100_000, "{} and {}", last(1), last(3));
}
