//! A failed batch: what it takes back, and what it does not.

use super::*;
use crate::host::disk::DiskErrorKind;
use crate::streams::record;
use crate::streams::window::{Window, observe};
use proptest::prelude::*;
use std::collections::BTreeMap;

#[tokio::test]
async fn a_failed_batch_takes_back_its_own_transitions_and_those_gathering_on_top() {
    let node = Node::start().await;
    let (alice, bob) = (signer(1, 2), signer(3, 2));
    assert_eq!(node.verdict(transaction(&alice, 1, 0)).await, "first");
    assert_eq!(node.reserved(1).await, (0, 0));
    let digest = node.streams.state_digest();

    node.machine.hold("flush directory");
    node.machine.fail("flush directory", "", DiskErrorKind::Io);
    let mut waiting = vec![node.admit(transaction(&alice, 2, 0))];
    tokio::task::yield_now().await;
    waiting.push(node.admit(transaction(&alice, 40, 0)));
    waiting.push(node.admit(transaction(&alice, 1, 0)));
    waiting.push(node.admit(transaction(&bob, 1, 0)));
    let reserving = node.reserve(70);
    node.machine.let_go();
    for admitting in waiting {
        assert_eq!(word(admitting.await), "persistence");
    }
    assert_eq!(reserving.await.unwrap_err().id(), "persistence");
    assert_eq!(node.streams.state_digest(), digest);
    assert_eq!(node.streams.counters().persistence_failure, 1);

    assert_eq!(node.verdict(transaction(&alice, 2, 0)).await, "advance");
    assert_eq!(node.verdict(transaction(&bob, 1, 0)).await, "first");
    assert_eq!(node.reserved(1).await, (1, 1));
}

#[tokio::test]
async fn a_reservation_that_wrote_nothing_is_taken_back_with_the_batch_it_waited_for() {
    let node = Node::start().await;
    assert_eq!(node.reserved(1).await, (0, 0));
    node.machine.hold("flush directory");
    node.machine.fail("flush directory", "", DiskErrorKind::Io);
    let admitting = node.admit(transaction(&signer(3, 2), 1, 0));
    tokio::task::yield_now().await;
    let in_flight = node.reserve(1);
    node.machine.let_go();
    assert_eq!(in_flight.await.unwrap_err().id(), "persistence");
    assert_eq!(word(admitting.await), "persistence");
    assert_eq!(node.reserved(1).await, (1, 1), "nothing was exposed, so nothing is skipped");
}

#[tokio::test]
async fn a_released_reservation_stays_when_a_later_batch_fails() {
    let node = Node::start().await;
    assert_eq!(node.reserved(1).await, (0, 0));
    assert_eq!(node.reserved(1).await, (1, 1), "nothing was pending");
    node.machine.fail("flush directory", "", DiskErrorKind::Io);
    assert_eq!(word(node.admit(transaction(&signer(3, 2), 1, 0)).await), "persistence");
    assert_eq!(node.reserved(1).await, (2, 2));
}

/// What an onlooker rebuilds from released results alone.
#[derive(Clone, Default)]
struct Reference {
    windows: BTreeMap<u8, Option<Window>>,
    leases: BTreeMap<u8, crate::reserve::Counter>,
}

impl Reference {
    fn digest(&self) -> [u8; 32] {
        let mut digest = StateDigest::default();
        for (origin, window) in &self.windows {
            let tx = transaction(&signer(*origin, 2), 0, 0);
            let key = *fixtures::verified(tx.clone(), Flaws::NONE).stream();
            let window = window.as_ref().expect("a window");
            digest.add(&record::encode_receiver(
                &key,
                window,
                &[],
                Introducer::Slot(SlotIndex::new(3)),
                spent(&tx),
            ));
        }
        for (origin, counter) in &self.leases {
            let origin = signer(*origin, 2).account();
            let key = StreamKey {
                network_id: fixtures::NETWORK,
                origin,
                destination: Did([9; 20]),
                class: Class::Application,
            };
            digest.add(&record::encode_sender(&key, Sequence(counter.lease().expect("a lease"))));
        }
        digest.to_bytes()
    }
}

#[derive(Clone, Debug)]
enum Call {
    Admit(u8, u64, u8),
    Reserve(u8, u64),
}

fn rounds() -> impl Strategy<Value = Vec<(Vec<Call>, Option<&'static str>)>> {
    let call = prop_oneof![
        3 => (1u8..4, 0u64..60, 0u8..2).prop_map(|(origin, sequence, content)| Call::Admit(origin, sequence, content)),
        1 => (1u8..4, 1u64..90).prop_map(|(origin, count)| Call::Reserve(origin, count)),
    ];
    let failure = prop_oneof![
        3 => Just(None),
        1 => proptest::sample::select(&["write", "flush", "rename", "flush directory"][..]).prop_map(Some),
    ];
    proptest::collection::vec((proptest::collection::vec(call, 1..8), failure), 1..12)
}

enum Wait {
    Admit(u8, u64, u8, Admitting),
    Reserve(u8, u64, Reserving),
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn after_failures_the_tables_are_those_of_a_reference_that_saw_only_what_was_released(rounds in rounds()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().unwrap();
        runtime.block_on(async {
            let node = Node::start().await;
            let mut reference = Reference::default();
            for (calls, failure) in rounds {
                node.machine.hold("flush directory");
                if let Some(verb) = failure {
                    node.machine.fail(verb, "", DiskErrorKind::Io);
                }
                let mut waiting = Vec::new();
                for call in calls {
                    waiting.push(match call {
                        Call::Admit(origin, sequence, content) => {
                            let admitting = node.admit(transaction(&signer(origin, 2), sequence, content));
                            Wait::Admit(origin, sequence, content, admitting)
                        }
                        Call::Reserve(origin, count) => {
                            let reserving = node.reserve_of(&signer(origin, 2), Class::Application, count);
                            Wait::Reserve(origin, count, reserving)
                        }
                    });
                    tokio::task::yield_now().await;
                }
                node.machine.let_go();
                for wait in waiting {
                    match wait {
                        Wait::Admit(origin, sequence, content, admitting) => {
                            let released = word(admitting.await);
                            if released == "persistence" {
                                continue;
                            }
                            let digest = transaction(&signer(origin, 2), sequence, content).digest();
                            let window = reference.windows.entry(origin).or_default();
                            let (expected, _) = observe(window, Sequence(sequence), &digest);
                            prop_assert_eq!(released, expected.kind().id());
                        }
                        Wait::Reserve(origin, count, reserving) => {
                            let Ok(released) = reserving.await else { continue };
                            let counter = reference.leases.entry(origin).or_default();
                            let count = NonZeroU64::new(count).unwrap();
                            let expected = counter.reserve(count, SEQUENCE_LEASE).unwrap();
                            prop_assert_eq!((released.first.0, released.last.0), (expected.first, expected.last));
                        }
                    }
                }
                while node.machine.take_failure() {}
                prop_assert_eq!(node.streams.state_digest(), reference.digest());
            }
            Ok(())
        })?;
    }
}
