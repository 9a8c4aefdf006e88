use super::*;
use crate::streams::key::{Class, NetworkId};
use bytes::Bytes;
use proptest::prelude::*;
use std::collections::BTreeMap;

const PEER: Did = Did([1; 20]);
const OTHER: Did = Did([2; 20]);

fn stream(origin: Did) -> StreamKey {
    StreamKey { network_id: NetworkId(1), origin, destination: Did([9; 20]), class: Class::Application }
}

fn namespaces() -> Namespaces {
    let mut namespaces = Namespaces::default();
    for (name, replay, message_limit) in
        [("onion", true, true), ("cells", false, true), ("once", true, false)]
    {
        namespaces.declare(Namespace::new(name, Delegates { replay, message_limit }).unwrap()).unwrap();
    }
    namespaces
}

fn data(kind: MessageKind, name: &str) -> Vec<u8> {
    [&[kind as u8, u8::try_from(name.len()).unwrap()], name.as_bytes(), b"..."].concat()
}

#[test]
fn a_transaction_is_link_local_when_all_three_conditions_hold_and_not_otherwise() {
    use MessageKind::{Custom, StreamFrame};
    let (own, other) = (Link::authenticated(PEER), Link::authenticated(OTHER));
    let cases = [
        ("its origin's own link, and declared", data(Custom, "onion"), Some(&own), (true, true)),
        ("the limit alone is delegated", data(Custom, "cells"), Some(&own), (false, true)),
        ("replay alone is delegated", data(Custom, "once"), Some(&own), (true, false)),
        ("a relayed copy", data(Custom, "onion"), Some(&other), (false, false)),
        ("mail, or a link that is gone", data(Custom, "onion"), None, (false, false)),
        ("no such namespace", data(Custom, "onions"), Some(&own), (false, false)),
        ("a name that begins like one", data(Custom, "onion."), Some(&own), (false, false)),
        ("a name that one begins with", data(Custom, "onio"), Some(&own), (false, false)),
        ("no application traffic", data(StreamFrame, "onion"), Some(&own), (false, false)),
        ("too short for a name", vec![Custom as u8], Some(&own), (false, false)),
    ];
    for (name, data, link, expected) in cases {
        let treatment = namespaces().treatment(&stream(PEER), &data, link, Flaws::NONE);
        let found = (treatment.link_local.is_some(), treatment.limit == MessageLimit::Delegated);
        assert_eq!(found, expected, "{name}");
    }
}

#[test]
fn a_namespace_has_a_name_and_is_declared_once() {
    let delegates = Delegates { replay: true, message_limit: true };
    for name in [String::new(), "x".repeat(256)] {
        assert_eq!(Namespace::new(&name, delegates), Err(NamespaceError::Name { name }));
    }
    let again = Namespace::new("onion", Delegates::default()).unwrap();
    assert_eq!(namespaces().declare(again), Err(NamespaceError::Twice { name: "onion".to_owned() }));
    assert_eq!(Namespace::new(&"x".repeat(255), delegates).unwrap().name().len(), 255);
}

#[test]
fn a_links_window_judges_as_any_window_does_and_ends_with_the_link() {
    let link = Link::authenticated(PEER);
    let observe = |link: &Link, sequence| link.observe(Sequence(sequence), &[7; 32]).0.kind().id();
    assert!(!link.has_window());
    assert_eq!(observe(&link, 50), "first");
    assert_eq!(observe(&link, 50), "replay");
    assert_eq!(observe(&link, 49), "late");
    assert_eq!(observe(&link, 90), "advance");
    assert_eq!(observe(&link, 50), "stale");
    assert_eq!(link.observe(Sequence(90), &[8; 32]).0.kind().id(), "fork");
    let next_generation = Link::authenticated(PEER);
    assert_eq!(observe(&next_generation, 50), "first");
}

#[test]
fn an_acceptance_that_outlives_its_link_is_taken_back_without_harm() {
    let link = Link::authenticated(PEER);
    let (_, first) = link.observe(Sequence(1), &[1; 32]);
    let (_, second) = link.observe(Sequence(2), &[2; 32]);
    drop(link);
    second.unwrap().undo();
    first.unwrap().undo();
}

proptest! {
    #[test]
    fn taking_acceptances_back_in_reverse_order_restores_the_window(
        kept in proptest::collection::vec((0u64..90, 0u8..2), 0..20),
        undone in proptest::collection::vec((0u64..90, 0u8..2), 1..20),
    ) {
        let link = Link::authenticated(PEER);
        for (sequence, content) in kept {
            let _ = link.observe(Sequence(sequence), &[content; 32]);
        }
        let before = link.window.locked().clone();
        let undos: Vec<LinkUndo> =
            undone.iter().filter_map(|(sequence, content)| link.observe(Sequence(*sequence), &[*content; 32]).1).collect();
        undos.into_iter().rev().for_each(LinkUndo::undo);
        prop_assert_eq!(&*link.window.locked(), &before);
    }
}

/// What happens to payloads on their way: an adversary may deliver any of them again, at any time and in any envelope.
#[derive(Clone, Debug)]
enum Act {
    Send,
    Deliver(prop::sample::Index),
    RestartReceiver,
    RestartSender,
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => Just(Act::Send),
        8 => any::<prop::sample::Index>().prop_map(Act::Deliver),
        1 => Just(Act::RestartReceiver),
        1 => Just(Act::RestartSender),
    ];
    proptest::collection::vec(act, 1..400)
}

proptest! {
    #[test]
    fn a_payload_is_acted_on_at_most_once_over_generations_envelopes_and_restarts(acts in acts()) {
        let epoch = |life: u64| Epoch(u128::from(life).to_be_bytes());
        let (mut receiver_life, mut sender_life) = (0, 0);
        let mut receiver = ReferenceNamespace::open("onion", epoch(0)).unwrap();
        let mut sender = ReferenceSender::open("onion", 0).unwrap();
        let mut sent: Vec<Bytes> = Vec::new();
        let mut acted: BTreeMap<Bytes, u32> = BTreeMap::new();
        for act in acts {
            match act {
                Act::Send => sent.push(sender.payload(receiver.epoch(), b"content").into()),
                Act::Deliver(index) if !sent.is_empty() => {
                    let payload = index.get(&sent);
                    if receiver.act(PEER, payload).is_ok() {
                        *acted.entry(payload.clone()).or_default() += 1;
                    }
                }
                Act::Deliver(_) => {}
                Act::RestartReceiver => {
                    receiver_life += 1;
                    receiver = ReferenceNamespace::open("onion", epoch(receiver_life)).unwrap();
                }
                Act::RestartSender => {
                    sender_life += 1;
                    sender = ReferenceSender::open("onion", sender_life).unwrap();
                }
            }
        }
        prop_assert!(acted.values().all(|times| *times == 1));
        prop_assert!(sent.iter().collect::<std::collections::BTreeSet<_>>().len() == sent.len());
    }
}

#[test]
fn what_arrives_in_order_is_acted_on_and_refusals_say_why() {
    let mut receiver = ReferenceNamespace::open("onion", Epoch([5; 16])).unwrap();
    let mut sender = ReferenceSender::open("onion", 3).unwrap();
    let payloads: Vec<Bytes> = (0..70u8).map(|n| sender.payload(Epoch([5; 16]), &[n]).into()).collect();
    for (n, payload) in (0u8..).zip(&payloads).filter(|(n, _)| *n != 4) {
        assert_eq!(receiver.act(PEER, payload), Ok(Bytes::copy_from_slice(&[n])));
    }
    assert_eq!(receiver.act(PEER, &payloads[69]), Err(NotActed::AlreadyActed { number: 69 }));
    assert_eq!(receiver.act(PEER, &payloads[4]), Err(NotActed::TooOld { number: 4, lowest: 6 }));
    let mut earlier = ReferenceSender::open("onion", 2).unwrap();
    let payload = earlier.payload(Epoch([5; 16]), b"").into();
    assert_eq!(receiver.act(PEER, &payload), Err(NotActed::EarlierLife { life: 2, newest: 3 }));
    assert_eq!(receiver.act(OTHER, &payload), Ok(Bytes::new()), "another origin counts for itself");
    let payload = sender.payload(Epoch([6; 16]), b"").into();
    assert_eq!(receiver.act(PEER, &payload), Err(NotActed::OtherEpoch));
    for cut in [0, 3, payload.len() - 1] {
        assert_eq!(receiver.act(PEER, &payload.slice(..cut)), Err(NotActed::Malformed), "{cut} bytes");
    }
}

#[test]
fn an_epoch_acts_for_a_bounded_number_of_origins_and_forgets_none() {
    let epoch = Epoch([5; 16]);
    let mut receiver = ReferenceNamespace::open("onion", epoch).unwrap();
    let payload: Bytes = ReferenceSender::open("onion", 0).unwrap().payload(epoch, b"").into();
    let origin = |n: usize| {
        let mut did = [0; 20];
        did[..8].copy_from_slice(&(n as u64).to_be_bytes());
        Did(did)
    };
    for n in 0..reference_namespace::ORIGINS_MAX {
        assert!(receiver.act(origin(n), &payload).is_ok());
    }
    let stranger = origin(reference_namespace::ORIGINS_MAX);
    assert_eq!(receiver.act(stranger, &payload), Err(NotActed::TooManyOrigins));
    assert_eq!(receiver.act(origin(0), &payload), Err(NotActed::AlreadyActed { number: 0 }));
}
