//! After any sequence of transitions, cancellations and failures the disk follows memory.

use super::*;
use proptest::prelude::*;

/// One step of a caller.
#[derive(Clone, Debug)]
enum Act {
    Set(u8, u64),
    Remove(u8),
    Look(u8),
    Cancel,
    Fail(usize, bool),
    Run(u8),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let act = prop_oneof![
        4 => (0u8..6, any::<u64>()).prop_map(|(key, value)| Act::Set(key, value)),
        2 => (0u8..6).prop_map(Act::Remove),
        2 => (0u8..6).prop_map(Act::Look),
        1 => Just(Act::Cancel),
        2 => (0usize..6, any::<bool>()).prop_map(|(verb, after)| Act::Fail(verb, after)),
        3 => (0u8..60).prop_map(Act::Run),
    ];
    proptest::collection::vec(act, 1..60)
}

/// Runs the acts, then one batch without a failure; the disk must hold exactly what is in memory, in this life and
/// after a restart.
async fn disk_follows_memory(acts: Vec<Act>) {
    const VERBS: [&str; 6] = ["create", "write", "flush", "rename", "remove", "flush directory"];
    let life = Life::begin().await;
    let mut tickets = Vec::new();
    for act in acts {
        match act {
            Act::Set(key, value) => tickets.push(life.set(key, value).map(drop_value).boxed()),
            Act::Remove(key) => tickets.push(life.remove(key).boxed()),
            Act::Look(key) => tickets.push(life.look(key).map(|looked| looked.map(|_| ())).boxed()),
            Act::Cancel => drop(tickets.pop()),
            Act::Fail(verb, false) => life.machine.fail(VERBS[verb], "", DiskErrorKind::Io),
            Act::Fail(verb, true) => {
                if VERBS[verb] != "remove" {
                    life.machine.fail_after_effect(VERBS[verb], "", DiskErrorKind::Io);
                }
            }
            Act::Run(yields) => {
                for _ in 0..yields {
                    tokio::task::yield_now().await;
                }
            }
        }
    }
    while life.set(7, 7).await.is_err() {}
    for ticket in tickets {
        let _either = ticket.await;
    }
    while life.machine.take_failure() {}
    life.set(7, 8).await.expect("nothing fails any more");
    settle().await;
    let values = life.values();
    for key in 0..8 {
        assert_eq!(life.on_disk(key).map(|(value, _)| value), values.get(&key).copied(), "key {key}");
    }
    life.machine.crash();
    settle().await;
    let next = Life::of(&life.machine, Flaws::NONE).await;
    assert_eq!(next.values(), values);
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]
    #[test]
    fn after_any_failures_the_disk_follows_memory(acts in acts()) {
        let runtime = tokio::runtime::Builder::new_current_thread().build().expect("a runtime");
        runtime.block_on(disk_follows_memory(acts));
    }
}
