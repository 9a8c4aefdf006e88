//! What holds for every schedule of sends, faults, deaths and boots.

use super::*;
use proptest::prelude::*;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Clone, Debug)]
enum Step {
    Send { from: u16, to: u16, class: Class },
    Pass { us: u64 },
    Begin { from: u16, to: u16, one_way: bool, fault: LinkFault },
    End { nth: u32 },
    Die { node: u16 },
    Boot { node: u16 },
}

const NODES: u16 = 3;

fn any_class() -> impl Strategy<Value = Class> {
    (0usize..4).prop_map(|index| Class::ALL[index])
}

fn any_fault() -> impl Strategy<Value = LinkFault> {
    prop_oneof![
        Just(LinkFault::Partition),
        (0u16..=1_000).prop_map(|per_mille| LinkFault::Loss { per_mille }),
        (0u16..=1_000).prop_map(|per_mille| LinkFault::Duplicate { per_mille }),
        (0u64..200_000).prop_map(|us| LinkFault::Delay { us }),
        (0u64..500_000).prop_map(|bytes_per_s| LinkFault::Bandwidth { bytes_per_s }),
        (0u8..2).prop_map(|channel| LinkFault::StallChannel { channel }),
    ]
}

fn any_step() -> impl Strategy<Value = Step> {
    let ends = || (0..NODES, 1..NODES).prop_map(|(from, by)| (from, (from + by) % NODES));
    prop_oneof![
        8 => (ends(), any_class()).prop_map(|((from, to), class)| Step::Send { from, to, class }),
        4 => (0u64..15_000).prop_map(|us| Step::Pass { us }),
        2 => (ends(), any::<bool>(), any_fault())
            .prop_map(|((from, to), one_way, fault)| Step::Begin { from, to, one_way, fault }),
        1 => (0u32..8).prop_map(|nth| Step::End { nth }),
        1 => (0..NODES).prop_map(|node| Step::Die { node }),
        2 => (0..NODES).prop_map(|node| Step::Boot { node }),
    ]
}

fn any_link(a: u16, b: u16) -> impl Strategy<Value = LinkPlan> {
    (0u64..20_000, 0u64..20_000, prop_oneof![Just(0), 10_000u64..900_000], 2u8..=4, any::<bool>(), 0u16..300)
        .prop_map(move |(latency_us, jitter_us, bandwidth_bytes_per_s, channels, ordered, per_mille)| {
            LinkPlan {
                latency_us,
                jitter_us,
                bandwidth_bytes_per_s,
                channels,
                ordered,
                loss_per_mille: per_mille / 3,
                duplicate_per_mille: per_mille,
                ..plain(a, b)
            }
        })
}

/// Plays the steps, ends every fault, and takes what is left; says how many frames were sent.
fn play(run: &mut Run, steps: &[Step]) -> u64 {
    let (mut now, mut sent, mut begun) = (SimTime(0), 0u64, 0);
    let mut alive = [true; NODES as usize];
    for step in steps {
        match *step {
            Step::Send { from, to, class } if alive[usize::from(from)] => {
                run.send(now, from, to, class, sent);
                sent += 1;
            }
            Step::Send { .. } => {}
            Step::Pass { us } => {
                now = now.plus_ns(us * 1_000);
                run.run_until(now);
            }
            Step::Begin { from, to, one_way, fault } => {
                run.begin(begun, from, to, one_way, fault);
                begun += 1;
            }
            Step::End { nth } => run.end(now, nth),
            Step::Die { node } => {
                alive[usize::from(node)] = false;
                run.die(node);
            }
            Step::Boot { node: id } => {
                if !std::mem::replace(&mut alive[usize::from(id)], true) {
                    run.network.ready(node(id));
                }
            }
        }
    }
    let scheduled = run.network.heal_all(now);
    run.schedule(scheduled);
    run.finish();
    sent
}

fn any_run() -> impl Strategy<Value = (Vec<LinkPlan>, Vec<Step>)> {
    let links = (any_link(0, 1), any_link(0, 2), any_link(1, 2));
    (links.prop_map(|(a, b, c)| vec![a, b, c]), proptest::collection::vec(any_step(), 0..200))
}

proptest! {
    #[test]
    fn each_frame_is_delivered_once_or_lost_once((links, steps) in any_run()) {
        let mut run = Run::new(NODES, &links);
        let sent = play(&mut run, &steps);
        prop_assert_eq!(run.network.in_flight(), 0);
        let mut ends: BTreeMap<FrameNumber, u32> = BTreeMap::new();
        let mut delivered = BTreeSet::new();
        let mut twice = BTreeSet::new();
        for arrival in &run.arrivals {
            if arrival.duplicate {
                prop_assert!(delivered.contains(&arrival.frame.number), "a duplicate follows its original");
                prop_assert!(twice.insert(arrival.frame.number), "at most one duplicate");
            } else {
                delivered.insert(arrival.frame.number);
                *ends.entry(arrival.frame.number).or_default() += 1;
            }
        }
        for (number, _) in &run.lost {
            *ends.entry(*number).or_default() += 1;
        }
        prop_assert_eq!(ends.len() as u64, sent);
        prop_assert!(ends.values().all(|count| *count == 1));
    }

    #[test]
    fn an_ordered_channel_never_reorders((links, steps) in any_run()) {
        let mut run = Run::new(NODES, &links);
        play(&mut run, &steps);
        let mut last: BTreeMap<(NodeId, NodeId, u8), FrameNumber> = BTreeMap::new();
        for arrival in run.arrivals.iter().filter(|arrival| !arrival.duplicate) {
            let Outgoing { from, to, channel, .. } = arrival.frame.sent;
            let link = links.iter().find(|link| link.a == from.min(to) && link.b == from.max(to)).unwrap();
            if link.ordered && let Some(earlier) = last.insert((from, to, channel), arrival.frame.number) {
                prop_assert!(earlier < arrival.frame.number);
            }
        }
    }

    #[test]
    fn the_same_calls_give_the_same_run((links, steps) in any_run()) {
        let runs = [(); 2].map(|()| {
            let mut run = Run::new(NODES, &links);
            play(&mut run, &steps);
            (run.arrivals, run.lost)
        });
        prop_assert_eq!(&runs[0], &runs[1]);
    }

    #[test]
    fn cutting_one_message_moves_no_other(
        mut sends in proptest::collection::vec((0u64..50_000, any_class(), any::<bool>()), 2..60),
        cut: prop::sample::Index,
        loss_per_mille in 0u16..500,
        duplicate_per_mille in 0u16..500,
    ) {
        let link = LinkPlan {
            jitter_us: 30_000, ordered: false, loss_per_mille, duplicate_per_mille, ..plain(0, 1)
        };
        sends.sort_by_key(|(us, ..)| *us);
        let cut = cut.index(sends.len()) as u64;
        let outcome = |without: Option<u64>| {
            let mut run = Run::new(2, std::slice::from_ref(&link));
            for (sequence, (us, class, back)) in (0u64..).zip(&sends).filter(|(at, _)| Some(*at) != without) {
                let (from, to) = if *back { (1, 0) } else { (0, 1) };
                run.send(SimTime(us * 1_000), from, to, *class, sequence);
            }
            run.finish();
            let mut arrivals: Vec<(u64, bool, SimTime)> = run.arrivals.iter()
                .map(|arrival| (arrival.frame.sent.name.sequence, arrival.duplicate, arrival.at))
                .filter(|(sequence, ..)| *sequence != cut)
                .collect();
            arrivals.sort_unstable();
            arrivals
        };
        prop_assert_eq!(outcome(None), outcome(Some(cut)));
    }

    #[test]
    fn cutting_one_message_moves_no_draw_of_another_in_ordered_and_narrow_links(
        count in 2u64..40, cut: prop::sample::Index, jitter_us in 0u64..50_000,
    ) {
        let link = LinkPlan {
            jitter_us, bandwidth_bytes_per_s: 200_000, loss_per_mille: 200, ..plain(0, 1)
        };
        let cut = cut.index(count as usize) as u64;
        let draws = |without: Option<u64>| {
            let mut run = Run::new(2, std::slice::from_ref(&link));
            let send = |sequence| match run.send(SimTime(sequence * 1_000), 0, 1, Class::E2e, sequence) {
                Sent::InFlight { latency_ns, .. } => (sequence, Some(latency_ns)),
                Sent::Lost { .. } => (sequence, None),
            };
            (0..count).filter(|at| Some(*at) != without).map(send).collect::<Vec<_>>()
        };
        let mut whole = draws(None);
        whole.retain(|(sequence, _)| *sequence != cut);
        prop_assert_eq!(whole, draws(Some(cut)));
    }
}
