//! The world without faults, and fault by fault: that each happens, and that it ends.

mod support;

use groundhog_engine::streams::key::Class;
use groundhog_sim::run::{RunOptions, run};
use support::{burst, quiet_plan};

#[test]
fn every_message_of_a_quiet_world_is_dispatched_once() {
    let mut plan = quiet_plan(3);
    plan.actions.push(burst(0, 100_000, 0, 1, Class::Application, 50));
    plan.actions.push(burst(1, 100_000, 1, 2, Class::Control, 50));
    let outcome = run(&plan, RunOptions::default()).expect("the plan runs");
    println!("{outcome:#?}");
    assert_eq!((outcome.intended, outcome.dispatched), (100, 100));
}

#[test]
fn the_same_plan_gives_the_same_fingerprint() {
    let mut plan = quiet_plan(4);
    plan.actions.push(burst(0, 100_000, 0, 1, Class::Application, 50));
    plan.actions.push(burst(1, 100_000, 1, 2, Class::Control, 50));
    let fingerprints: Vec<_> =
        (0..3).map(|_| run(&plan, RunOptions::default()).expect("the plan runs").fingerprint).collect();
    assert!(fingerprints.windows(2).all(|pair| pair[0] == pair[1]));
}
