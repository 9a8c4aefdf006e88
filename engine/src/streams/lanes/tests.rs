//! The scheduler's promises over every order of pushes, sends, deliveries and credits.

use super::*;
use proptest::prelude::*;
use smallvec::smallvec;

fn config() -> LanesConfig {
    LanesConfig { pool_channels: 4, queue_max_frames: 1_000, flaws: Flaws::NONE }
}

fn single(lanes: &mut Outbound<u32>, class: Class, count: u32) {
    for frame in 0..count {
        lanes.push(class, smallvec![frame]).unwrap();
    }
}

fn classes(lanes: &mut Outbound<u32>, count: usize) -> Vec<Class> {
    let mut served = Vec::new();
    while served.len() < count {
        let Some(out) = lanes.next_frame() else { break };
        served.push(out.transfer.class);
        if out.is_last {
            lanes.delivered(out.transfer).unwrap();
        }
        lanes.credit(out.transfer.class, 1).unwrap();
    }
    served
}

#[test]
fn control_goes_first_but_four_in_a_row_and_then_the_others_in_turn() {
    use Class::{Application as A, Control as C, E2e as E, Storage as S};
    let mut lanes = Outbound::new(config());
    for class in Class::ALL {
        single(&mut lanes, class, 20);
    }
    let expected = [C, C, C, C, S, C, C, C, C, E, C, C, C, C, A, C, C, C, C, S, C, C, C, C, E, A, S, E];
    assert_eq!(classes(&mut lanes, expected.len()), expected);
}

#[test]
fn control_alone_is_not_held_back_and_a_latecomer_goes_next() {
    let mut lanes = Outbound::new(config());
    single(&mut lanes, Class::Control, 20);
    assert_eq!(classes(&mut lanes, 10), [Class::Control; 10]);
    single(&mut lanes, Class::E2e, 1);
    assert_eq!(classes(&mut lanes, 2), [Class::E2e, Class::Control]);
}

#[test]
fn the_ninth_transfer_waits_for_the_first_whatever_else_is_delivered() {
    let mut lanes = Outbound::new(config());
    single(&mut lanes, Class::Storage, 12);
    let sent: Vec<_> = std::iter::from_fn(|| lanes.next_frame()).map(|out| out.transfer).collect();
    assert_eq!(sent.len(), 8);
    for transfer in &sent[1..] {
        lanes.delivered(*transfer).unwrap();
    }
    assert!(lanes.next_frame().is_none());
    assert_eq!(lanes.in_flight(Class::Storage), 1);
    lanes.delivered(sent[0]).unwrap();
    assert_eq!(std::iter::from_fn(|| lanes.next_frame()).count(), 4);
    assert_eq!(lanes.delivered(sent[0]), Err(LaneError::NotInFlight { class: Class::Storage, number: 0 }));
}

#[test]
fn a_transfer_of_many_frames_is_not_cut_by_its_lane_but_by_others() {
    let mut lanes = Outbound::new(config());
    lanes.push(Class::Storage, smallvec![0, 1, 2]).unwrap();
    lanes.push(Class::Storage, smallvec![3]).unwrap();
    lanes.push(Class::E2e, smallvec![10]).unwrap();
    let out: Vec<_> =
        std::iter::from_fn(|| lanes.next_frame()).map(|out| (out.frame, out.is_first, out.is_last)).collect();
    let expected = [(0, true, false), (10, true, true), (1, false, false), (2, false, true), (3, true, true)];
    assert_eq!(out, expected);
}

#[test]
fn a_lane_without_credit_rests_and_delays_no_other() {
    let mut lanes = Outbound::new(config());
    lanes.push(Class::Application, (0..40).collect::<Vec<_>>()).unwrap();
    single(&mut lanes, Class::Storage, 3);
    let mut served = Vec::new();
    while let Some(out) = lanes.next_frame() {
        served.push(out.transfer.class);
    }
    assert_eq!(served.iter().filter(|class| **class == Class::Application).count(), 16);
    assert_eq!(served.iter().filter(|class| **class == Class::Storage).count(), 3);
    let overrun = LaneError::CreditOverrun { class: Class::Application, frames: 17 };
    assert_eq!(lanes.credit(Class::Application, 17), Err(overrun));
    lanes.credit(Class::Application, 2).unwrap();
    assert_eq!(std::iter::from_fn(|| lanes.next_frame()).count(), 2);
}

#[test]
fn a_class_stays_on_its_channel() {
    for pool_channels in 1..=POOL_MAX_CHANNELS {
        let mut lanes = Outbound::new(LanesConfig { pool_channels, ..config() });
        for class in Class::ALL {
            single(&mut lanes, class, 8);
        }
        while let Some(out) = lanes.next_frame() {
            let expected = out.transfer.class.index() % usize::from(pool_channels);
            assert_eq!(usize::from(out.channel), expected);
        }
    }
}

#[test]
fn a_full_queue_takes_none_of_a_transfer() {
    let mut lanes = Outbound::new(LanesConfig { queue_max_frames: 3, ..config() });
    lanes.push(Class::E2e, smallvec![1, 2]).unwrap();
    let full = LaneError::QueueFull { class: Class::E2e, queued: 2, limit: 3, frames: 2 };
    assert_eq!(lanes.push(Class::E2e, smallvec![3, 4]), Err(full));
    assert_eq!(lanes.push(Class::E2e, SmallVec::new()), Err(LaneError::Empty { class: Class::E2e }));
    lanes.push(Class::E2e, smallvec![5]).unwrap();
    assert_eq!(lanes.queued_frames(Class::E2e), 3);
    lanes.push(Class::Storage, smallvec![6]).unwrap();
}

#[test]
fn closing_names_everything_that_is_not_delivered() {
    let mut lanes = Outbound::new(config());
    single(&mut lanes, Class::Control, 3);
    lanes.push(Class::Application, smallvec![1, 2]).unwrap();
    let sent: Vec<_> = (0..4).map(|_| lanes.next_frame().unwrap()).collect();
    lanes.delivered(sent[1].transfer).unwrap();
    let id = |class, number| TransferId { class, number };
    let half_sent = lanes.delivered(id(Class::Application, 0));
    assert_eq!(half_sent, Err(LaneError::NotInFlight { class: Class::Application, number: 0 }));
    let expected = [id(Class::Control, 0), id(Class::Control, 2), id(Class::Application, 0)];
    assert_eq!(lanes.close(), expected);
}

#[cfg(feature = "flaws")]
#[test]
fn the_flawed_lanes_are_what_they_say() {
    let mut wide = Outbound::new(LanesConfig { flaws: Flaws::NONE.with(Flaw::LaneWindow64), ..config() });
    single(&mut wide, Class::E2e, 100);
    let mut sent = 0;
    while let Some(out) = wide.next_frame() {
        sent += 1;
        wide.credit(out.transfer.class, 1).unwrap();
    }
    assert_eq!(sent, 64);
    let mut spread =
        Outbound::new(LanesConfig { flaws: Flaws::NONE.with(Flaw::ClassSpreadOverChannels), ..config() });
    single(&mut spread, Class::E2e, 8);
    let channels: Vec<_> = std::iter::from_fn(|| spread.next_frame()).map(|out| out.channel).collect();
    assert_eq!(channels, [0, 1, 2, 3, 0, 1, 2, 3]);
}

#[derive(Clone, Debug)]
enum Act {
    Push(Class, u8),
    Send,
    /// Delivers one of the transfers in flight, in any order.
    Deliver(usize),
    /// Gives back one frame of credit, if any is outstanding.
    Credit(Class),
}

fn acts() -> impl Strategy<Value = Vec<Act>> {
    let class = || proptest::sample::select(&Class::ALL[..]);
    let act = prop_oneof![
        3 => (class(), 1u8..5).prop_map(|(class, frames)| Act::Push(class, frames)),
        6 => Just(Act::Send),
        3 => any::<usize>().prop_map(Act::Deliver),
        4 => class().prop_map(Act::Credit),
    ];
    proptest::collection::vec(act, 1..400)
}

/// What an onlooker knows of one lane.
#[derive(Clone, Debug, Default)]
struct Seen {
    pushed: Vec<u8>,
    /// The transfer and the frame in it that must come next.
    expected: (u64, u8),
    delivered: Vec<bool>,
    outstanding: u32,
}

impl Seen {
    fn may_start(&self) -> bool {
        let (transfer, frame) = self.expected;
        let before = usize::try_from(transfer.saturating_sub(LANE_WINDOW - 1)).unwrap();
        let waits = usize::try_from(transfer).unwrap() < self.pushed.len();
        waits && (frame > 0 || self.delivered[..before].iter().all(|delivered| *delivered))
    }

    fn is_runnable(&self) -> bool {
        self.outstanding < RECEIVE_CREDIT_FRAMES && self.may_start()
    }
}

proptest! {
    #[test]
    fn order_window_contiguity_credit_and_turns_hold(acts in acts()) {
        let mut lanes = Outbound::new(config());
        let mut seen: [Seen; 4] = Default::default();
        let mut in_flight: Vec<TransferId> = Vec::new();
        let mut control_in_a_row = 0;
        let mut passed_over = [0u32; 4];
        for act in acts {
            match act {
                Act::Push(class, frames) => {
                    let lane = &mut seen[class.index()];
                    let number = lane.pushed.len() as u64;
                    let content: SmallVec<[(u64, u8); 1]> = (0..frames).map(|frame| (number, frame)).collect();
                    prop_assert_eq!(lanes.push(class, content), Ok(TransferId { class, number }));
                    lane.pushed.push(frames);
                    lane.delivered.push(false);
                }
                Act::Send => {
                    let runnable: Vec<bool> = seen.iter().map(Seen::is_runnable).collect();
                    let Some(out) = lanes.next_frame() else {
                        prop_assert!(!runnable.contains(&true), "a runnable lane was not served");
                        continue;
                    };
                    let class = out.transfer.class;
                    prop_assert!(runnable[class.index()], "window, credit or contiguity was broken");
                    let lane = &mut seen[class.index()];
                    prop_assert_eq!(out.frame, lane.expected);
                    prop_assert_eq!(out.transfer.number, lane.expected.0);
                    prop_assert_eq!(out.is_first, lane.expected.1 == 0);
                    let last = lane.expected.1 + 1 == lane.pushed[usize::try_from(lane.expected.0).unwrap()];
                    prop_assert_eq!(out.is_last, last);
                    lane.outstanding += 1;
                    lane.expected = if last { (lane.expected.0 + 1, 0) } else { (lane.expected.0, lane.expected.1 + 1) };
                    if last {
                        in_flight.push(out.transfer);
                    }
                    let lower_waits = runnable[1..].contains(&true);
                    control_in_a_row = if class == Class::Control && lower_waits { control_in_a_row + 1 } else { 0 };
                    prop_assert!(control_in_a_row <= CONTROL_BURST, "control starved the others");
                    for other in Class::ALL {
                        let count = &mut passed_over[other.index()];
                        *count = if other == class || !runnable[other.index()] { 0 } else { *count + 1 };
                        // Three classes in turn, and at most four control frames before each.
                        let bound = if other == Class::Control { 1 } else { 14 };
                        prop_assert!(*count <= bound, "{} was passed over {} times", other, count);
                    }
                }
                Act::Deliver(which) if !in_flight.is_empty() => {
                    let transfer = in_flight.swap_remove(which % in_flight.len());
                    prop_assert_eq!(lanes.delivered(transfer), Ok(()));
                    seen[transfer.class.index()].delivered[usize::try_from(transfer.number).unwrap()] = true;
                }
                Act::Credit(class) if seen[class.index()].outstanding > 0 => {
                    prop_assert_eq!(lanes.credit(class, 1), Ok(()));
                    seen[class.index()].outstanding -= 1;
                }
                Act::Deliver(_) | Act::Credit(_) => {}
            }
            for class in Class::ALL {
                prop_assert!(u64::from(lanes.in_flight(class)) <= LANE_WINDOW);
            }
        }
        let undelivered = lanes.close().len();
        let expected: usize = seen.iter().map(|lane| lane.delivered.iter().filter(|one| !**one).count()).sum();
        prop_assert_eq!(undelivered, expected);
    }
}
