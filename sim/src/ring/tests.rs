use super::position::BITS;
use super::*;
use crate::units::NodeId;
use groundhog_engine::identity::Did;
use proptest::prelude::*;
use std::collections::BTreeSet;

fn did(high: u32, low: u128) -> Did {
    let mut bytes = [0; 20];
    bytes[..4].copy_from_slice(&high.to_be_bytes());
    bytes[4..].copy_from_slice(&low.to_be_bytes());
    Did(bytes)
}

fn at(high: u32, low: u128) -> Position {
    Position::of(&did(high, low))
}

/// Nodes 0, 1, ... at these multiples of 2^152.
fn nodes(places: &[u8]) -> Order {
    Order::new(places.iter().map(|place| did(u32::from(*place) << 24, 0)))
}

#[test]
fn distances_are_exact_over_the_carry_and_over_zero() {
    let (last, most) = (at(u32::MAX, u128::MAX), at(0, u128::MAX));
    for (from, distance, to) in [
        (at(0, 0), Distance::ZERO, at(0, 0)),
        (most, Distance::power(0), at(1, 0)),
        (last, Distance::power(0), at(0, 0)),
        (at(0, 1), Distance::power(159), at(1 << 31, 1)),
        (at(1 << 31, 1), Distance::power(159), at(0, 1)),
        (at(7, 1 << 127), Distance::power(127), at(8, 0)),
        (at(0, 0), Distance::power(128), at(1, 0)),
    ] {
        assert_eq!(from.plus(distance), to);
        assert_eq!(from.to(to), distance);
    }
    assert!(at(0, 0).to(last) > Distance::power(BITS - 1));
}

#[test]
fn a_member_answers_for_what_lies_after_its_predecessor_up_to_itself() {
    for (predecessor, own, position, answers) in [
        (10, 20, 10, false),
        (10, 20, 11, true),
        (10, 20, 20, true),
        (10, 20, 21, false),
        (20, 10, 20, false),
        (20, 10, 21, true),
        (20, 10, 0, true),
        (20, 10, 10, true),
        (20, 10, 15, false),
        (10, 10, 10, true),
        (10, 10, 99, true),
    ] {
        let found = at(0, position).is_answered_by(at(0, predecessor), at(0, own));
        assert_eq!(found, answers, "{position} in ({predecessor}, {own}]");
    }
}

#[test]
fn a_view_has_the_nearest_on_either_side_and_a_finger_for_each_power_of_two() {
    let order = nodes(&[0, 16, 32, 64, 128, 200, 250]);
    let mut view = View::default();
    view.refresh(&order, NodeId(0), 3, |_| true);
    assert_eq!(view.predecessor(), Some(NodeId(6)));
    assert_eq!(view.successors(), [1, 2, 3].map(NodeId));
    assert_eq!(view.fingers(), [4, 3, 2].map(NodeId), "at halves, from the farthest on");
    assert_eq!(view.peers(), [1, 2, 3, 4, 6].map(NodeId));

    view.refresh(&order, NodeId(0), 3, |node| ![1, 3, 6].map(NodeId).contains(&node));
    assert_eq!(view.predecessor(), Some(NodeId(5)));
    assert_eq!(view.successors(), [2, 4, 5].map(NodeId));
    assert_eq!(view.fingers(), [NodeId(4)]);

    let held = view.holders_of(&order, NodeId(0), order.position(NodeId(3)), 3);
    assert_eq!(held, Holders { owner: NodeId(4), chain: [5, 0].map(NodeId).to_vec() }, "node 3 is absent");
    let own = view.holders_of(&order, NodeId(0), order.position(NodeId(6)), 3);
    assert_eq!(own, Holders { owner: NodeId(0), chain: [2, 4].map(NodeId).to_vec() });

    view.drop_member(NodeId(4));
    assert_eq!((view.successors(), view.fingers()), (&[NodeId(2), NodeId(5)][..], &[][..]));
    assert!(!view.holds(NodeId(4)));

    view.refresh(&order, NodeId(0), 3, |_| false);
    assert_eq!(view, View::default(), "nobody is reached");
    assert!(view.answers_for(&order, NodeId(0), order.position(NodeId(3))), "who is alone answers for all");
}

#[test]
fn a_message_hops_to_the_nearest_before_its_destination() {
    let order = nodes(&[0, 16, 32, 64, 128, 200, 250]);
    let hop = |own: u16, to: u16, known: &[u16]| {
        next_hop(&order, NodeId(own), order.position(NodeId(to)), known.iter().copied().map(NodeId))
    };
    assert_eq!(hop(0, 5, &[1, 2, 4]), Some(NodeId(4)));
    assert_eq!(hop(0, 5, &[1, 5, 4]), Some(NodeId(5)));
    assert_eq!(hop(4, 1, &[5, 3, 6]), Some(NodeId(6)), "over zero");
    assert_eq!(hop(0, 2, &[3, 4, 6]), None, "all of them lie beyond");
    assert_eq!(hop(0, 2, &[]), None);
}

fn rings() -> impl Strategy<Value = (Order, Vec<Vec<bool>>)> {
    (2_usize..24).prop_flat_map(|count| {
        let accounts = prop::collection::vec(any::<[u8; 20]>(), count);
        let present = prop::collection::vec(any::<bool>(), count);
        let stale = prop::collection::vec(prop::collection::vec(any::<bool>(), count), count);
        (accounts, present, stale).prop_map(|(accounts, present, stale)| {
            let order = Order::new(accounts.into_iter().map(Did));
            (order, [vec![present], stale].concat())
        })
    })
}

proptest! {
    #[test]
    fn settled_views_lead_every_message_to_its_destination((order, members) in rings()) {
        let present: Vec<NodeId> = (0..).map(NodeId).zip(&members[0]).filter(|(_, is)| **is).map(|(node, _)| node).collect();
        let mut views = vec![View::default(); members[0].len()];
        for node in &present {
            views[node.index()].refresh(&order, *node, 3, |other| members[0][other.index()]);
        }
        for (from, to) in present.iter().flat_map(|from| present.iter().map(move |to| (*from, *to))) {
            let (mut here, mut hops) = (from, 0_usize);
            while here != to {
                let peers = views[here.index()].peers().iter().copied();
                here = next_hop(&order, here, order.position(to), peers).expect("a settled view knows a way");
                hops += 1;
            }
            prop_assert!(hops <= present.len(), "{hops} hops among {}", present.len());
        }
        for target in (0..).map(NodeId).take(members[0].len()) {
            let position = order.position(target);
            let answering: Vec<&NodeId> = present.iter().filter(|own| views[own.index()].answers_for(&order, **own, position)).collect();
            prop_assert_eq!(answering.len(), usize::from(!present.is_empty()), "one member answers for each position");
            for own in &answering {
                prop_assert_eq!(views[own.index()].owner_of(&order, **own, position), **own);
            }
        }
    }

    #[test]
    fn views_that_differ_lead_no_message_in_a_circle((order, members) in rings(), to in any::<prop::sample::Index>()) {
        let to = NodeId(to.index(members[0].len()) as u16);
        for start in (0..).map(NodeId).take(members[0].len()) {
            let mut seen = BTreeSet::from([start]);
            let mut here = start;
            loop {
                let mut view = View::default();
                view.refresh(&order, here, 3, |other| members[1 + here.index()][other.index()]);
                let Some(next) = next_hop(&order, here, order.position(to), view.peers().iter().copied()) else { break };
                prop_assert!(seen.insert(next), "{next} twice on the way to {to}");
                here = next;
            }
        }
    }
}
