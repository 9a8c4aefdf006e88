//! The table of edge cases, and the window against a model that copies whole states.

use super::*;
use proptest::prelude::*;

fn digest(seed: u8) -> Digest {
    [seed; 32]
}

/// The seed's state, kept as it is written there: 32 slots that are shifted, a new state for each acceptance.
#[derive(Clone, Debug, PartialEq)]
struct Model {
    high: u64,
    slots: [Option<Digest>; 32],
}

fn model_observe(state: &Option<Model>, sequence: u64, digest: Digest) -> (Verdict, Option<Model>) {
    let Some(state) = state else {
        let mut slots = [None; 32];
        slots[31] = Some(digest);
        return (Verdict::First, Some(Model { high: sequence, slots }));
    };
    if sequence > state.high {
        let gap = sequence - state.high;
        let mut slots = [None; 32];
        if gap < 32 {
            let gap = usize::try_from(gap).unwrap();
            slots[..32 - gap].copy_from_slice(&state.slots[gap..]);
        }
        slots[31] = Some(digest);
        return (Verdict::Advance, Some(Model { high: sequence, slots }));
    }
    let retained_min = state.high.saturating_sub(31);
    if sequence < retained_min {
        return (Verdict::Stale { retained_min: Sequence(retained_min) }, Some(state.clone()));
    }
    let slot = 31 - usize::try_from(state.high - sequence).unwrap();
    match state.slots[slot] {
        None => {
            let mut next = state.clone();
            next.slots[slot] = Some(digest);
            (Verdict::Late, Some(next))
        }
        Some(accepted) if accepted == digest => (Verdict::Replay, Some(state.clone())),
        Some(accepted) => (Verdict::Fork { accepted, incoming: digest }, Some(state.clone())),
    }
}

fn as_model(window: &Option<Window>) -> Option<Model> {
    window
        .as_ref()
        .map(|window| Model { high: window.high().0, slots: window.slots().map(|slot| slot.copied()) })
}

fn verdicts(sequences: &[(u64, u8)]) -> Vec<VerdictKind> {
    let mut window = None;
    sequences
        .iter()
        .map(|(sequence, seed)| observe(&mut window, Sequence(*sequence), &digest(*seed)).0.kind())
        .collect()
}

#[test]
fn edge_cases_of_the_window() {
    use VerdictKind::{Advance, First, Fork, Late, Replay, Stale};
    const MAX: u64 = u64::MAX;
    type Arrivals<'a> = &'a [(u64, u8)];
    let cases: &[(&str, Arrivals<'_>, &[VerdictKind])] = &[
        ("a first sequence may be zero", &[(0, 1)], &[First]),
        ("a first sequence may be the highest", &[(MAX, 1)], &[First]),
        ("the same again is a replay", &[(5, 1), (5, 1)], &[First, Replay]),
        ("another at the same sequence is a fork", &[(5, 1), (5, 2)], &[First, Fork]),
        ("a fork changes nothing", &[(5, 1), (5, 2), (5, 2), (5, 1)], &[First, Fork, Fork, Replay]),
        ("below 31 nothing is stale", &[(30, 1), (0, 2)], &[First, Late]),
        ("at 31 sequence zero is still retained", &[(31, 1), (0, 2)], &[First, Late]),
        ("at 32 sequence zero is stale", &[(32, 1), (0, 2), (1, 3)], &[First, Stale, Late]),
        ("after a first the 31 below are late", &[(100, 1), (69, 2), (68, 3)], &[First, Late, Stale]),
        ("a gap of 31 keeps the oldest slot", &[(9, 1), (40, 2), (9, 1)], &[First, Advance, Replay]),
        ("a gap of 32 keeps none", &[(9, 1), (41, 2), (9, 1), (10, 3)], &[First, Advance, Stale, Late]),
        ("a huge gap keeps none", &[(0, 1), (MAX, 2), (MAX - 31, 3)], &[First, Advance, Late]),
        ("nothing is above the highest", &[(MAX, 1), (MAX, 1), (MAX - 31, 2)], &[First, Replay, Late]),
        ("below the window of the highest", &[(MAX, 1), (MAX - 32, 1)], &[First, Stale]),
        ("a late one is then a replay", &[(5, 1), (3, 2), (3, 2), (3, 3)], &[First, Late, Replay, Fork]),
    ];
    for (name, sequences, expected) in cases {
        assert_eq!(verdicts(sequences), *expected, "{name}");
    }
}

#[test]
fn verdicts_carry_what_they_found() {
    let mut window = Some(Window::first(Sequence(100), digest(1)));
    let fork = observe(&mut window, Sequence(100), &digest(2)).0;
    assert_eq!(fork, Verdict::Fork { accepted: digest(1), incoming: digest(2) });
    let stale = observe(&mut window, Sequence(68), &digest(2)).0;
    assert_eq!(stale, Verdict::Stale { retained_min: Sequence(69) });
}

#[test]
fn which_stored_slots_are_a_window() {
    let set = |slots: &[usize]| {
        let mut all = [None; 32];
        for slot in slots {
            all[*slot] = Some(digest(7));
        }
        all
    };
    let cases: &[(u64, &[usize], bool)] = &[
        (0, &[31], true),
        (0, &[31, 30], false),
        (0, &[], false),
        (1, &[31, 30], true),
        (1, &[31, 29], false),
        (1, &[30], false),
        (30, &[31, 1], true),
        (30, &[31, 0], false),
        (31, &[31, 0], true),
        (u64::MAX, &[31, 0], true),
        (u64::MAX, &[0], false),
    ];
    for (high, slots, valid) in cases {
        let restored = Window::restore(Sequence(*high), &set(slots));
        assert_eq!(restored.is_ok(), *valid, "high {high}, slots {slots:?}: {restored:?}");
        if let Ok(window) = restored {
            assert_eq!(window.slots().map(|slot| slot.copied()), set(slots));
        }
    }
}

fn steps() -> impl Strategy<Value = Vec<(u64, u8)>> {
    let near = |high: u64| (high.saturating_sub(40)..=high.saturating_add(40), 0u8..3);
    prop_oneof![
        proptest::collection::vec((0u64..100, 0u8..3), 1..80),
        proptest::collection::vec(near(u64::MAX), 1..80),
        proptest::collection::vec((0u64..2_000, 0u8..3), 1..80),
    ]
}

proptest! {
    #[test]
    fn the_window_agrees_with_the_model(steps in steps()) {
        let (mut window, mut model) = (None, None);
        for (sequence, seed) in steps {
            let before = window.clone();
            let (verdict, undo) = observe(&mut window, Sequence(sequence), &digest(seed));
            let (expected, next) = model_observe(&model, sequence, digest(seed));
            prop_assert_eq!(verdict, expected);
            prop_assert_eq!(as_model(&window), next.clone());
            prop_assert_eq!(undo.is_some(), matches!(verdict, Verdict::Advance | Verdict::Late));
            if !verdict.kind().dispatches() {
                prop_assert_eq!(&before, &window);
            }
            model = next;
        }
    }

    #[test]
    fn acceptances_are_undone_in_reverse_order(steps in steps(), keep in 0usize..80) {
        let mut window = None;
        let mut undos = Vec::new();
        let mut states = Vec::new();
        for (sequence, seed) in steps {
            states.push(as_model(&window));
            undos.push(observe(&mut window, Sequence(sequence), &digest(seed)).1);
        }
        while undos.len() > keep.max(1) {
            if let Some(undo) = undos.pop().expect("there is one") {
                window.as_mut().expect("a window").undo(&undo);
            }
            prop_assert_eq!(as_model(&window), states.pop().expect("a state for each step"));
        }
    }

    #[test]
    fn a_stored_window_restores_to_itself(steps in steps()) {
        let mut window = None;
        for (sequence, seed) in steps {
            observe(&mut window, Sequence(sequence), &digest(seed));
        }
        let window = window.expect("at least one step");
        let slots = window.slots().map(|slot| slot.copied());
        prop_assert_eq!(Window::restore(window.high(), &slots), Ok(window));
    }
}
