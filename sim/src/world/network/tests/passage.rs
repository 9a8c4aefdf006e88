//! How frames pass without faults, and how connections come and go.

use super::*;

#[test]
fn links_that_cannot_be_are_named() {
    let (a, b) = (node(0), node(1));
    let channels = |channels| LinkPlan { channels, ..plain(0, 1) };
    let table = [
        (vec![plain(1, 0)], LinkError::Ends { a: b, b: a }),
        (vec![plain(1, 1)], LinkError::Ends { a: b, b }),
        (vec![plain(0, 2)], LinkError::NoNode { a, b: node(2), nodes: 2 }),
        (vec![plain(0, 1), plain(0, 1)], LinkError::Twice { a, b }),
        (vec![channels(0)], LinkError::Channels { a, b, channels: 0 }),
        (vec![channels(5)], LinkError::Channels { a, b, channels: 5 }),
    ];
    for (links, error) in table {
        assert_eq!(Network::new(0, 2, &links).unwrap_err(), error);
    }
}

#[test]
fn a_frame_takes_its_latency_and_arrives_whole() {
    let mut run = Run::new(2, &[plain(0, 1)]);
    run.send(at_ms(5), 0, 1, Class::E2e, 3);
    run.finish();
    let [arrival] = &run.arrivals[..] else { panic!("one arrival") };
    assert_eq!((arrival.at, arrival.duplicate), (at_ms(15), false));
    assert_eq!(arrival.frame.sent, outgoing(0, 1, Class::E2e, 2, LinkGeneration(1), 3));
    assert_eq!(run.network.in_flight(), 0);
}

#[test]
fn an_ordered_channel_keeps_order_under_jitter_and_an_unordered_one_does_not() {
    for ordered in [true, false] {
        let mut run = Run::new(2, &[LinkPlan { jitter_us: 20_000, ordered, ..plain(0, 1) }]);
        for sequence in 0..100 {
            run.send(at_ms(sequence), 0, 1, Class::Control, sequence);
        }
        run.finish();
        let sequences = run.sequences();
        assert_eq!(sequences.len(), 100);
        assert_eq!(sequences.is_sorted(), ordered);
    }
}

#[test]
fn channels_do_not_wait_for_each_other() {
    let mut run = Run::new(2, &[LinkPlan { jitter_us: 20_000, ..plain(0, 1) }]);
    for sequence in 0..100 {
        run.send(at_ms(sequence / 4), 0, 1, Class::ALL[(sequence % 4) as usize], sequence);
    }
    run.finish();
    assert!(!run.sequences().is_sorted());
    for class in Class::ALL {
        let of_class = run.arrivals.iter().filter(|arrival| arrival.frame.sent.class == class);
        assert!(of_class.map(|arrival| arrival.frame.number).is_sorted());
    }
}

#[test]
fn jitter_stays_within_its_bound_and_is_used() {
    let mut run = Run::new(2, &[LinkPlan { jitter_us: 2_000, ordered: false, ..plain(0, 1) }]);
    let mut drawn = Vec::new();
    for sequence in 0..500 {
        let Sent::InFlight { latency_ns, scheduled, .. } =
            run.send(SimTime(0), 0, 1, Class::Control, sequence)
        else {
            panic!("nothing is lost here")
        };
        assert_eq!(scheduled.deliver_at, SimTime(latency_ns));
        drawn.push(latency_ns);
    }
    drawn.sort_unstable();
    drawn.dedup();
    assert!(drawn.len() > 490);
    assert!(drawn[0] >= 10 * MS && drawn[0] < 10 * MS + 100_000);
    assert!(drawn.last().is_some_and(|most| (12 * MS - 100_000..=12 * MS).contains(most)));
}

#[test]
fn bandwidth_sends_one_frame_after_the_other_in_each_direction() {
    // 1,000 bytes at 100,000 bytes a second: 10 ms each.
    let mut run = Run::new(2, &[LinkPlan { bandwidth_bytes_per_s: 100_000, ..plain(0, 1) }]);
    for sequence in 0..3 {
        run.send(SimTime(0), 0, 1, Class::ALL[sequence as usize], sequence);
    }
    run.send(SimTime(0), 1, 0, Class::Control, 9);
    run.send(at_ms(100), 0, 1, Class::Control, 4);
    run.finish();
    assert_eq!(run.arrived(), [(0, 20), (9, 20), (1, 30), (2, 40), (4, 120)]);
}

#[test]
fn standing_loss_and_duplication_of_a_plan_are_met() {
    let link = LinkPlan { loss_per_mille: 200, duplicate_per_mille: 100, ..plain(0, 1) };
    let mut run = Run::new(2, &[link]);
    for sequence in 0..2_000 {
        run.send(SimTime(sequence), 0, 1, Class::Control, sequence);
    }
    run.finish();
    let duplicates = run.arrivals.iter().filter(|arrival| arrival.duplicate).count();
    assert!(run.lost.len().abs_diff(400) < 80, "{}", run.lost.len());
    assert!(duplicates.abs_diff(160) < 50, "{duplicates}");
    assert_eq!(run.arrivals.len(), 2_000 - run.lost.len() + duplicates);
    assert!(run.lost.iter().all(|(_, cause)| *cause == LossCause::LinkLoss));
}

#[test]
fn nothing_passes_without_a_link_or_a_live_connection() {
    let mut run = Run::new(3, &[plain(0, 1)]);
    let lost = |sent| matches!(sent, Sent::Lost { cause: LossCause::Partition, .. });
    assert!(lost(run.send(SimTime(0), 0, 2, Class::Control, 0)));
    run.die(1);
    assert!(lost(run.send(SimTime(0), 0, 1, Class::Control, 1)));
    let made = run.network.ready(node(1));
    assert_eq!(made, [Connection { peer: node(0), generation: LinkGeneration(2), channels: 4 }]);
    let stale = outgoing(0, 1, Class::Control, 0, LinkGeneration(1), 2);
    assert!(lost(run.hand_over(SimTime(0), stale)));
    run.send(SimTime(0), 0, 1, Class::Control, 3);
    run.finish();
    assert_eq!(run.sequences(), [3]);
}

#[test]
fn a_death_closes_connections_and_returns_each_frame_once_with_its_cause() {
    let mut run = Run::new(3, &[plain(0, 1), plain(1, 2)]);
    run.begin(0, 2, 1, false, LinkFault::StallChannel { channel: 0 });
    for (from, to, sequence) in [(0, 1, 0), (1, 0, 1), (2, 1, 2), (1, 2, 3)] {
        run.send(SimTime(0), from, to, Class::Control, sequence);
    }
    run.run_until(at_ms(9));
    run.send(at_ms(9), 0, 1, Class::Control, 4);
    run.run_until(at_ms(15));
    assert_eq!(run.sequences(), [0, 1]);
    let closed = run.die(1);
    let peers: Vec<NodeId> = closed.connections.iter().map(|connection| connection.peer).collect();
    assert_eq!(peers, [node(0), node(2)]);
    let causes: Vec<_> = closed.lost.iter().map(|lost| (lost.frame.number.0, lost.cause)).collect();
    let expected =
        [(2, LossCause::ReceiverCrash), (3, LossCause::SenderCrash), (4, LossCause::ReceiverCrash)];
    assert_eq!(causes, expected);
    assert_eq!(run.network.in_flight(), 0);
    // Nothing of them is delivered to the next life.
    run.network.ready(node(1));
    run.end(at_ms(20), 0);
    run.finish();
    assert_eq!(run.sequences(), [0, 1]);
    // A node that is not ready has nothing to close.
    run.die(1);
    assert_eq!(run.die(1), Closed::default());
}

#[test]
fn a_full_direction_refuses_and_the_other_goes_on() {
    let mut run = Run::new(2, &[plain(0, 1)]);
    for sequence in 0..u64::from(MAX_FRAMES_PER_DIRECTION) {
        run.send(SimTime(0), 0, 1, Class::Control, sequence);
    }
    assert!(run.lost.is_empty());
    run.send(SimTime(0), 0, 1, Class::Storage, 1);
    run.send(SimTime(0), 1, 0, Class::Control, 1);
    assert_eq!(run.lost.iter().map(|lost| lost.1).collect::<Vec<_>>(), [LossCause::LaneFull]);
}

#[test]
fn a_replayed_frame_draws_apart_from_the_one_it_copies() {
    let mut run = Run::new(2, &[LinkPlan { jitter_us: 1_000_000, ordered: false, ..plain(0, 1) }]);
    let original = outgoing(0, 1, Class::Control, 0, LinkGeneration(1), 5);
    let mut latencies = Vec::new();
    for replay in [None, None, Some(ActionId(0)), Some(ActionId(1))] {
        let sent = run.hand_over(SimTime(0), Outgoing { replay, ..original.clone() });
        let Sent::InFlight { latency_ns, .. } = sent else { panic!("nothing is lost here") };
        latencies.push(latency_ns);
    }
    assert_eq!(latencies[0], latencies[1]);
    assert!(latencies[1] != latencies[2] && latencies[2] != latencies[3] && latencies[0] != latencies[3]);
    run.finish();
    let copies: Vec<u32> = run.arrivals.iter().map(|arrival| arrival.frame.event_copy()).collect();
    assert_eq!(copies.iter().filter(|copy| **copy == u32::MAX).count(), 2);
}

#[test]
fn signals_return_after_the_latency_of_their_own_direction() {
    let mut run = Run::new(2, &[LinkPlan { jitter_us: 5_000, ..plain(0, 1) }]);
    run.send(SimTime(0), 0, 1, Class::Control, 0);
    run.finish();
    let (path, now) = (run.arrivals[0].frame.return_path(), run.arrivals[0].at);
    let due = |kind| run.network.signal(now, kind, &path).unwrap();
    let (credit, credit_at) = due(SignalKind::Credit);
    let (_, notice_at) = due(SignalKind::DeliveryNotice);
    assert_ne!(credit_at, notice_at);
    for at in [credit_at, notice_at] {
        assert!((now.plus_ns(10 * MS)..=now.plus_ns(15 * MS)).contains(&at));
    }
    assert_eq!(run.network.signal_arrives(credit_at, &credit), SignalArrival::Arrived);
    run.die(0);
    assert_eq!(run.network.signal_arrives(credit_at, &credit), SignalArrival::Gone);
    run.network.ready(node(0));
    assert_eq!(run.network.signal_arrives(credit_at, &credit), SignalArrival::Gone);
    assert_eq!(run.network.signal(credit_at, SignalKind::Credit, &path), None);
}
