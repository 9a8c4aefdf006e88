//! Adversaries on a ring: behind honest relays where they have no connection to their victim, and over their own where they
//! opened one.

mod support;

use groundhog_engine::streams::key::Class;
use groundhog_sim::ledger::kind::EventKind;
use groundhog_sim::plan::{Act, Action, Flood, Forgery, FrameName, Plan, Route, Slots};
use groundhog_sim::ring::{Order, View};
use groundhog_sim::units::{ActionId, NodeId};
use groundhog_sim::world::account;
use support::ring::{S, act, by, ring_plan};
use support::{Watched, assert_held, burst, watch};

const NODES: u16 = 24;
const SMALL: Slots = Slots { slots: 24, floor: 2, pool: 4, inbox: 1, self_share: 3 };

/// An adversary, its victim that it has no connection to, and those who have one to that.
struct Parts {
    adversary: NodeId,
    victim: NodeId,
    peers: Vec<NodeId>,
}

fn parts(plan: &Plan) -> Parts {
    let nodes = || (0..NODES).map(NodeId);
    let order = Order::new(nodes().map(|node| account(plan.seed, node)));
    let view = |node| {
        let mut view = View::default();
        view.refresh(&order, node, 3, |_| true);
        view
    };
    let views: Vec<View> = nodes().map(view).collect();
    let connected = |one: NodeId, other: NodeId| {
        one != other && (views[one.index()].holds(other) || views[other.index()].holds(one))
    };
    let victim = NodeId(0);
    let peers: Vec<NodeId> = nodes().filter(|node| connected(*node, victim)).collect();
    let adversary =
        nodes().skip(1).find(|node| !connected(*node, victim)).expect("not everybody is connected");
    Parts { adversary, victim, peers }
}

fn flood(id: u32, at_us: u64, parts: &Parts, forgery: Option<Forgery>) -> Action {
    let flood = Flood {
        to: parts.victim,
        via: None,
        class: Class::Storage,
        keys: 1,
        first_key: 0,
        sequence: 0,
        count: 20,
        every_us: 100,
        bytes: 16,
        stamp_ms: 0,
        forgery,
    };
    Action { id: ActionId(id), at_us, node: parts.adversary, act: Act::Flood(flood) }
}

/// Small slots, what an adversary does at 10 s, and one message of each peer of the victim after it.
fn plan(acts: impl FnOnce(&Parts) -> Vec<Action>) -> (Plan, Parts) {
    let mut plan = ring_plan(NODES);
    plan.engines.slots = Some(SMALL);
    let parts = parts(&plan);
    plan.actions = acts(&parts);
    let first = plan.actions.len() as u32;
    for (peer, id) in parts.peers.iter().zip(first..) {
        plan.actions.push(by(Route::Ring, burst(id, 14 * S, peer.0, parts.victim.0, Class::Control, 1)));
    }
    (plan, parts)
}

fn held(plan: &Plan) -> Watched {
    let watched = watch(plan);
    assert_held(&watched);
    watched
}

/// Frames of the adversary that members sent on.
fn relayed(watched: &Watched) -> usize {
    watched.of(EventKind::Relayed).filter(|told| !told.text.contains("message")).count()
}

#[test]
fn a_flood_without_a_connection_is_charged_to_the_honest_member_that_brings_it() {
    let (plan, parts) = plan(|parts| vec![flood(0, 10 * S, parts, None)]);
    let watched = held(&plan);
    assert!(relayed(&watched) >= 20, "{}", relayed(&watched));
    let [figures] = &watched.outcome.floods[..] else { panic!("one node is flooded") };
    assert_eq!((figures.taken, figures.refused), (2 + 4, 14), "the floor of one slot and the pool");
    assert_eq!(figures.honest_refused_below_floor, 0);
    assert_eq!(
        figures.honest_refused_above_floor, 1,
        "the relay's own stream, and no other of {:?}",
        parts.peers
    );
    assert!(watched.outcome.marks["ring/adversary-relayed"] >= 20);
}

#[test]
fn a_flood_over_a_connection_that_the_adversary_opened_passes_nobody() {
    let (plan, parts) = plan(|parts| {
        let hello = burst(0, 9 * S, parts.adversary.0, parts.victim.0, Class::Control, 1);
        vec![by(Route::OutOfBand, hello), flood(1, 9 * S + 200_000, parts, None)]
    });
    let watched = held(&plan);
    assert_eq!(relayed(&watched), 0);
    let [figures] = &watched.outcome.floods[..] else { panic!("one node is flooded") };
    assert_eq!((figures.taken, figures.honest_refused_above_floor), (2 + 4, 0));
    assert_eq!(watched.outcome.dispatched, 1 + parts.peers.len() as u64);
}

#[test]
fn what_is_forged_ends_at_the_first_honest_member() {
    for forgery in [Forgery::Transaction, Forgery::Payload, Forgery::Delegation] {
        let (plan, parts) = plan(|parts| vec![flood(0, 10 * S, parts, Some(forgery))]);
        let watched = held(&plan);
        let at: Vec<_> = watched.of(EventKind::Unverified).map(|told| told.node).collect();
        assert_eq!(at.len(), 20, "{forgery:?}");
        assert!(!at.contains(&Some(parts.victim)), "{forgery:?}: {at:?}");
        assert_eq!(relayed(&watched), 0);
    }
}

#[test]
fn a_recorded_frame_comes_again_by_the_ring_and_is_known() {
    let (plan, _) = plan(|parts| {
        let origin = parts.peers[0];
        let frame = FrameName { origin, destination: parts.victim, class: Class::E2e, sequence: 1, copy: 0 };
        let replay = Act::Replay { frame, to: parts.victim, lane: Some(Class::Storage) };
        vec![
            by(Route::Ring, burst(0, 8 * S, origin.0, parts.victim.0, Class::E2e, 3)),
            act(1, 10 * S, parts.adversary.0, replay),
        ]
    });
    let watched = held(&plan);
    assert!(relayed(&watched) >= 1);
    assert_eq!(watched.outcome.verdicts.get("replay"), Some(&1), "{:?}", watched.outcome.verdicts);
    assert_eq!(watched.of(EventKind::ReplayMissed).count(), 0);
}

#[test]
fn an_adversary_whose_node_is_away_sends_nothing() {
    let (mut plan, parts) = plan(|parts| vec![flood(1, 10 * S, parts, None)]);
    plan.actions.insert(0, act(0, 9 * S, parts.adversary.0, Act::Leave { hand_off: false }));
    for (action, id) in plan.actions.iter_mut().zip(0..) {
        action.id = ActionId(id);
    }
    let watched = held(&plan);
    assert_eq!((relayed(&watched), watched.of(EventKind::ReplayMissed).count()), (0, 20));
}
