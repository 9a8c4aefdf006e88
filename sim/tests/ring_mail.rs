//! Mail on a ring: held where a message's route ends, handed over when who answers for its destination changes.

mod support;

use groundhog_engine::streams::key::Class;
use groundhog_sim::ledger::kind::EventKind;
use groundhog_sim::plan::{Act, MailPlan, Plan, Route};
use groundhog_sim::ring::Order;
use groundhog_sim::units::NodeId;
use groundhog_sim::world::account;
use support::ring::{S, act, by, ring_plan};
use support::{Watched, assert_held, burst, watch};

const ABSENT: u16 = 4;

fn mail_plan(nodes: u16) -> Plan {
    let mut plan = ring_plan(nodes);
    plan.engines.mail = Some(MailPlan {
        lifetime_ms: 86_400_000,
        carrier_bytes: 1 << 20,
        drain_every_us: 1,
        take_after_us: 10_000,
    });
    plan
}

fn mail(seen: &Watched, what: &str) -> u64 {
    seen.outcome.mail.get(what).copied().unwrap_or(0)
}

/// The nodes after the absent one, nearest first clockwise.
fn after_it(plan: &Plan) -> Vec<u16> {
    let nodes = u16::try_from(plan.nodes.len()).unwrap();
    let order = Order::new((0..nodes).map(|node| account(plan.seed, NodeId(node))));
    order.after(NodeId(ABSENT)).map(|node| node.0).collect()
}

#[test]
fn a_message_by_the_ring_to_an_absent_member_is_held_where_its_route_ends_and_delivered_when_that_is_back() {
    let mut plan = mail_plan(12);
    plan.actions = vec![act(0, 2 * S, ABSENT, Act::Leave { hand_off: false })];
    for (from, id) in (0..12).filter(|from| *from != ABSENT).zip(1..) {
        plan.actions.push(by(Route::Ring, burst(id, 5 * S, from, ABSENT, Class::Application, 2)));
    }
    plan.actions.push(by(Route::Ring, burst(12, 5 * S, 0, ABSENT, Class::E2e, 1)));
    plan.actions.push(act(13, 9 * S, ABSENT, Act::Join));
    let seen = watch(&plan);
    assert_held(&seen);
    assert!(seen.of(EventKind::Relayed).count() > 2, "most routes end at another node");
    assert_eq!((mail(&seen, "held"), mail(&seen, "fetched"), mail(&seen, "taken")), (22, 22, 22));
    assert_eq!(seen.dispatched_between(9 * S, 12 * S), 22, "at a maintenance pass of its own");
    assert_eq!(seen.outcome.losses.get("no-route"), Some(&1), "only an application's message is mail");
}

/// Mail is held for a node that is absent; the node before all of its carriers joins; then those leave.
fn carriers_change(hand_off_ms: u64) -> Watched {
    let mut plan = mail_plan(12);
    let after = after_it(&plan);
    let ring = plan.ring.as_mut().unwrap();
    (ring.hand_off_ms, ring.outside) = (hand_off_ms, vec![NodeId(after[0])]);
    let sender = after[10];
    plan.actions = vec![
        act(0, 2 * S, ABSENT, Act::Leave { hand_off: false }),
        by(Route::Ring, burst(1, 5 * S, sender, ABSENT, Class::Application, 3)),
        act(2, 6 * S, after[0], Act::Join),
    ];
    for (carrier, id) in after[1..6].iter().zip(3..) {
        plan.actions.push(act(id, 8 * S, *carrier, Act::Leave { hand_off: false }));
    }
    plan.actions.push(act(8, 12 * S, ABSENT, Act::Join));
    let seen = watch(&plan);
    assert_held(&seen);
    seen
}

#[test]
fn mail_is_handed_to_the_member_that_answers_for_its_destination_now() {
    let seen = carriers_change(20);
    let with_mail = seen.of(EventKind::HandedOff).filter(|told| told.text.ends_with("with 3 mails"));
    assert_eq!(with_mail.count(), 1);
    assert_eq!(seen.outcome.marks["ring/mail-handed-off"], 1);
    assert_eq!((mail(&seen, "held"), mail(&seen, "taken")), (3, 3));

    let seen = carriers_change(86_400_000);
    assert_eq!((mail(&seen, "held"), mail(&seen, "taken")), (3, 0), "nobody who is there was given it");
    assert_eq!(seen.outcome.losses.get("still-held"), Some(&3));
}

#[test]
fn an_idle_member_gives_a_slot_back_when_its_connection_is_retired() {
    let mut plan = ring_plan(12);
    plan.actions = vec![act(0, 5 * S, ABSENT, Act::Leave { hand_off: false })];
    let seen = watch(&plan);
    assert_held(&seen);
    let retired: Vec<_> =
        seen.of(EventKind::ConnectionRetired).filter(|told| told.at.as_us() >= 5 * S).collect();
    assert!(retired.len() >= 3, "nothing is admitted anywhere: {retired:?}");
    assert!(retired.iter().any(|told| told.at.as_us() < 5 * S + 1_000), "{retired:?}");
}
