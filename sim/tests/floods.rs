//! Adversaries in a world: what floods take, what they cannot take, and what is refused before it is admitted.

mod support;

use groundhog_engine::streams::key::Class;
use groundhog_sim::ledger::kind::EventKind;
use groundhog_sim::plan::{Act, Action, Flood, Forgery, Plan, PutBack, Reconnect, Signalling, Slots};
use groundhog_sim::units::{ActionId, NodeId};
use support::{Watched, assert_held, burst, quiet_plan, watch};

/// Node 0 has two neighbours, 1 and 3.
fn plan(slots: Slots, actions: Vec<Action>) -> Plan {
    let mut plan = quiet_plan(4);
    plan.engines.slots = Some(slots);
    plan.engines.transaction_lifetime_ms = 200;
    plan.actions = actions;
    (plan.quiesce_us, plan.end_us) = (5_000_000, 6_000_000);
    plan
}

const SMALL: Slots = Slots { slots: 3, floor: 2, pool: 4, inbox: 1, self_share: 3 };

fn flood(id: u32, at_us: u64, from: u16, count: u32) -> Action {
    let flood = Flood {
        to: NodeId(0),
        via: None,
        class: Class::Storage,
        keys: id,
        first_key: 0,
        sequence: 0,
        count,
        every_us: 100,
        bytes: 16,
        stamp_ms: 0,
        forgery: None,
    };
    Action { id: ActionId(id), at_us, node: NodeId(from), act: Act::Flood(flood) }
}

fn changed(mut action: Action, change: impl FnOnce(&mut Flood)) -> Action {
    let Act::Flood(flood) = &mut action.act else { panic!("a flood") };
    change(flood);
    action
}

fn held(plan: &Plan) -> Watched {
    let watched = watch(plan);
    assert_held(&watched);
    watched
}

fn refused(watched: &Watched) -> u64 {
    watched.outcome.refusals.get("stream-capacity-exceeded").copied().unwrap_or(0)
}

#[test]
fn a_flood_takes_its_floor_and_the_pool_and_nobody_else_is_refused() {
    let honest = Class::ALL.map(|class| burst(2 + class.index() as u32, 400_000, 3, 0, class, 3));
    let mut actions = vec![flood(1, 100_000, 1, 50)];
    actions.extend(honest.into_iter().take(2));
    let watched = held(&plan(SMALL, actions));
    let [figures] = &watched.outcome.floods[..] else { panic!("one node is flooded") };
    assert_eq!((figures.slots, figures.taken, figures.refused), (1, 2 + 4, 44));
    assert_eq!((figures.honest_refused_below_floor, figures.honest_refused_above_floor), (0, 0));
    assert_eq!(watched.outcome.dispatched, 6);
}

#[test]
fn a_flood_through_a_relay_is_charged_to_the_relay() {
    let through = changed(flood(1, 100_000, 2, 20), |flood| flood.via = Some(NodeId(1)));
    let actions =
        vec![through, burst(2, 600_000, 1, 0, Class::Control, 1), burst(3, 600_000, 3, 0, Class::Control, 1)];
    let watched = held(&plan(SMALL, actions));
    assert_eq!(watched.outcome.floods[0].taken, 6);
    assert_eq!(watched.outcome.floods[0].honest_refused_above_floor, 1, "the relay's own stream");
    assert_eq!(watched.outcome.dispatched, 1);
}

#[test]
fn a_refusal_ends_although_more_is_spent_than_one_admission_retires() {
    let slots = Slots { slots: 3, floor: 1, pool: 400, inbox: 1, self_share: 1 };
    let actions = vec![
        flood(1, 100_000, 1, 391),
        flood(2, 2_500_000, 3, 10),
        burst(3, 4_000_000, 1, 0, Class::Control, 1),
    ];
    let watched = held(&plan(slots, actions));
    assert_eq!(watched.outcome.floods[0].taken, 401);
    assert_eq!(
        watched.outcome.dispatched, 1,
        "everything of its edge is spent: {:?}",
        watched.outcome.refusals
    );
}

#[test]
fn forged_proofs_are_counted_and_never_admitted() {
    for (forgery, reason) in [
        (Forgery::Transaction, "bad-transaction-signature"),
        (Forgery::Payload, "bad-payload-signature"),
        (Forgery::Delegation, "delegation"),
    ] {
        let watched =
            held(&plan(SMALL, vec![changed(flood(1, 100_000, 1, 5), |flood| flood.forgery = Some(forgery))]));
        let told: Vec<_> = watched.of(EventKind::Unverified).map(|told| told.text.clone()).collect();
        assert_eq!(told.len(), 5, "{reason}: {told:?}");
        assert_eq!(watched.of(EventKind::Arrived).count(), 0, "{forgery:?}");
    }
}

#[test]
fn a_stamp_counts_up_to_the_tolerance() {
    for (stamp_ms, taken) in [(3_000, 1), (3_100, 0), (-190, 1), (-300, 0)] {
        let flood = changed(flood(1, 100_000, 1, 1), |flood| flood.stamp_ms = stamp_ms);
        let watched = held(&plan(SMALL, vec![flood]));
        assert_eq!(watched.outcome.floods[0].taken, taken, "{stamp_ms} ms");
    }
}

#[test]
fn signals_are_charged_to_the_node_itself() {
    let signals = Signalling { keys: 9, count: 8, every_us: 100 };
    let signals = Action { id: ActionId(1), at_us: 100_000, node: NodeId(0), act: Act::Signalling(signals) };
    let watched = held(&plan(SMALL, vec![signals, burst(2, 300_000, 1, 0, Class::Control, 1)]));
    assert_eq!(watched.outcome.verdicts["first"], 3 + 1);
    assert_eq!(refused(&watched), 5, "the node's own share has three");
}

#[test]
fn a_connection_that_is_admitted_anew_takes_the_cleanest_free_slot() {
    let reconnect = |id, at_us| {
        let act = Act::Reconnect(Reconnect { peer: NodeId(0), after_us: 10_000 });
        Action { id: ActionId(id), at_us, node: NodeId(1), act }
    };
    let actions = vec![
        flood(1, 100_000, 1, 3),
        reconnect(2, 300_000),
        flood(3, 400_000, 1, 3),
        burst(4, 500_000, 1, 0, Class::Control, 2),
    ];
    let watched = held(&plan(SMALL, actions));
    let told =
        |kind| watched.of(kind).filter(|told| told.node == Some(NodeId(0))).map(|told| told.text.clone());
    let admitted: Vec<_> = told(EventKind::ConnectionAdmitted).collect();
    assert_eq!(admitted.len(), 3, "{admitted:?}");
    assert!(admitted[2].ends_with("to n1 on slot 2"), "{admitted:?}");
    assert_eq!(told(EventKind::ConnectionRetired).count(), 1);
    assert_eq!(watched.outcome.dispatched, 2);
}

#[test]
fn a_disk_that_is_put_back_shows_an_honest_node_as_forking_and_is_a_known_limit() {
    let put_back = Act::PutBack(PutBack { taken_us: 200_000, down_us: 20_000 });
    let put_back = Action { id: ActionId(3), at_us: 400_000, node: NodeId(1), act: put_back };
    let actions = vec![
        burst(1, 100_000, 1, 0, Class::E2e, 4),
        burst(2, 300_000, 1, 0, Class::E2e, 100),
        put_back,
        burst(4, 600_000, 1, 0, Class::E2e, 60),
    ];
    let mut plan = plan(SMALL, actions);
    plan.engines.transaction_lifetime_ms = 600_000;
    let watched = held(&plan);
    assert!(
        watched.outcome.verdicts.get("fork").is_some_and(|forks| *forks > 0),
        "{:?}",
        watched.outcome.verdicts
    );
    assert!(watched.outcome.limits["forks-by-two-allocators"] > 0);
}
