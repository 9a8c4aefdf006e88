//! Mail end to end: held while its destination is away, drained, taken, and what deaths and lost carriers make of it.

mod support;

use groundhog_engine::streams::key::Class;
use groundhog_sim::outcome::Outcome;
use groundhog_sim::plan::{Act, Action, Burst, Death, Fault, FaultKind, MailAct, MailPlan, Plan, When};
use groundhog_sim::run::{RunOptions, run};
use groundhog_sim::units::{ActionId, FaultId, NodeId};

const MS: u64 = 1_000;
const DAY_US: u64 = 86_400_000_000;

/// Node 0 is away from 100 ms on for 400 ms; node 1 sends it `mails` messages meanwhile; then these acts happen.
fn away(mails: u32, acts: &[(u64, MailAct)]) -> Plan {
    let mut plan = support::quiet_plan(5);
    plan.engines.mail = Some(MailPlan {
        lifetime_ms: 86_400_000,
        carrier_bytes: 1 << 20,
        drain_every_us: 100 * MS,
        take_after_us: 10 * MS,
    });
    plan.actions = vec![send(0, 200 * MS, mails)];
    plan.actions.extend((1..).zip(acts).map(|(id, (at_us, act))| Action {
        id: ActionId(id),
        at_us: *at_us,
        node: NodeId(0),
        act: Act::Mail(*act),
    }));
    plan.faults = vec![dies(0, 100 * MS, 400 * MS)];
    (plan.quiesce_us, plan.end_us) = (4_000 * MS, 6_000 * MS);
    plan
}

fn send(id: u32, at_us: u64, count: u32) -> Action {
    let burst = Burst { count, every_us: 100, ..Burst::one(NodeId(0), Class::Application) };
    Action { id: ActionId(id), at_us, node: NodeId(1), act: Act::Send(burst) }
}

fn dies(id: u32, us: u64, down_us: u64) -> Fault {
    let kind = FaultKind::Crash { node: NodeId(0), death: Death::Process, down_us, survivors: None };
    Fault { id: FaultId(id), at: When::Time { us }, until_us: None, kind }
}

fn outcome(plan: &Plan) -> Outcome {
    run(plan, RunOptions::default()).unwrap()
}

fn mail(outcome: &Outcome, what: &str) -> u64 {
    outcome.mail.get(what).copied().unwrap_or(0)
}

#[test]
fn mail_is_held_while_its_destination_is_away_and_taken_when_it_is_back() {
    let outcome = outcome(&away(5, &[]));
    assert_eq!(outcome.violations, []);
    assert_eq!((mail(&outcome, "held"), mail(&outcome, "taken"), mail(&outcome, "fetched")), (5, 5, 5));
    assert_eq!((outcome.intended, outcome.dispatched), (5, 5));
}

#[test]
fn without_mail_in_the_plan_a_message_to_who_is_away_is_lost() {
    let mut plan = away(5, &[]);
    plan.engines.mail = None;
    let outcome = outcome(&plan);
    assert_eq!((outcome.dispatched, outcome.losses.get("partition")), (0, Some(&5)));
    assert!(outcome.mail.is_empty());
}

#[test]
fn mail_that_was_not_taken_before_a_death_comes_again_and_is_taken_once() {
    let mut plan = away(
        40,
        &[
            (300 * MS, MailAct::Taking { after_us: None }),
            (2_000 * MS, MailAct::Taking { after_us: Some(0) }),
        ],
    );
    plan.faults.push(dies(1, 1_000 * MS, 100 * MS));
    let outcome = outcome(&plan);
    assert_eq!(outcome.violations, []);
    assert_eq!((mail(&outcome, "held"), mail(&outcome, "taken")), (40, 40));
    assert_eq!(outcome.verdicts.get("redelivered"), Some(&40));
    assert!(outcome.marks["custody/redelivered-below-window"] > 0);
    assert_eq!(outcome.marks["custody/died-before-taking"], 1);
}

#[test]
fn an_accident_at_every_carrier_is_a_named_loss_and_one_at_a_carrier_is_none() {
    let lost = outcome(&away(3, &[(400 * MS, MailAct::Lose)]));
    assert_eq!((lost.violations.len(), lost.losses.get("lost-at-carriers")), (0, Some(&3)));
    let one = outcome(&away(3, &[(400 * MS, MailAct::LoseOne)]));
    assert_eq!((one.violations.len(), mail(&one, "taken")), (0, 3));
}

#[test]
fn carriers_out_of_reach_delay_mail_and_lose_none() {
    let plan = away(3, &[(450 * MS, MailAct::Unreachable { for_us: 1_000 * MS })]);
    let outcome = outcome(&plan);
    assert_eq!((outcome.violations.len(), mail(&outcome, "taken")), (0, 3));
}

#[test]
fn an_inbox_keeps_the_newest_64_and_says_what_it_pushed_out() {
    let outcome = outcome(&away(70, &[]));
    assert_eq!(outcome.violations, []);
    assert_eq!((mail(&outcome, "held"), mail(&outcome, "taken"), mail(&outcome, "pushed-out")), (70, 64, 6));
    assert_eq!(outcome.losses.get("pushed-out"), Some(&6));
}

#[test]
fn a_carrier_without_room_refuses_and_keeps_what_it_has() {
    let mut plan = away(5, &[]);
    plan.engines.mail.as_mut().unwrap().carrier_bytes = 2_000;
    let outcome = outcome(&plan);
    assert_eq!(outcome.violations, []);
    let (held, refused) = (mail(&outcome, "held"), mail(&outcome, "not held"));
    assert!(held > 0 && refused > 0 && held + refused == 5, "{held} held, {refused} refused");
    assert_eq!(outcome.losses.get("hold-refused"), Some(&refused));
    assert_eq!(mail(&outcome, "taken"), held);
}

#[test]
fn mail_that_nobody_takes_is_told_as_undelivered_or_in_custody_and_idle_days_cost_nothing() {
    let mut plan = away(3, &[(300 * MS, MailAct::Taking { after_us: None })]);
    plan.engines.mail.as_mut().unwrap().drain_every_us = DAY_US / 24;
    (plan.quiesce_us, plan.end_us) = (5 * DAY_US, 6 * DAY_US);
    let outcome = outcome(&plan);
    assert_eq!(outcome.violations, []);
    assert_eq!(
        (mail(&outcome, "taken"), mail(&outcome, "expired")),
        (0, 3),
        "a day, and the carriers let it go"
    );
    assert!(outcome.events < 5_000, "{} events", outcome.events);
}

#[test]
fn a_flood_of_fresh_accounts_is_mail_like_any_other() {
    let mut plan = away(0, &[(1_000 * MS, MailAct::Flood { mails: 10, every_us: 100 })]);
    plan.actions.remove(0);
    plan.faults.clear();
    let outcome = outcome(&plan);
    assert_eq!((outcome.violations.len(), mail(&outcome, "held"), mail(&outcome, "taken")), (0, 10, 10));
}
