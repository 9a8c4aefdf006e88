//! Fault by fault: that it changes an outcome while it is on, and that it ends.

use super::*;

/// Sends one frame each way at 0 ms (fault on), and again at 100 ms, with the fault ended at 50 ms.
fn on_and_after(fault: LinkFault, one_way: bool) -> Run {
    let mut run = Run::new(2, &[plain(0, 1)]);
    run.begin(0, 0, 1, one_way, fault);
    assert!(!run.network.is_healed());
    run.send(SimTime(0), 0, 1, Class::Control, 0);
    run.send(SimTime(0), 1, 0, Class::Control, 1);
    run.run_until(at_ms(50));
    run.end(at_ms(50), 0);
    assert!(run.network.is_healed());
    run.send(at_ms(100), 0, 1, Class::Control, 2);
    run.send(at_ms(100), 1, 0, Class::Control, 3);
    run.finish();
    run
}

const AFTER: [(u64, u64); 2] = [(2, 110), (3, 110)];

#[test]
fn a_partition_loses_what_is_sent_until_it_ends() {
    let run = on_and_after(LinkFault::Partition, false);
    assert_eq!(run.arrived(), AFTER);
    assert!(run.lost.iter().all(|(_, cause)| *cause == LossCause::Partition));
    assert_eq!(run.lost.len(), 2);
}

#[test]
fn a_one_way_partition_lets_the_other_way_pass() {
    let run = on_and_after(LinkFault::Partition, true);
    assert_eq!(run.arrived(), [[(1, 10)].as_slice(), &AFTER].concat());
    assert_eq!(run.lost, [(FrameNumber(0), LossCause::Partition)]);
}

#[test]
fn a_partition_loses_what_is_in_flight_when_it_arrives_within() {
    let mut run = Run::new(2, &[plain(0, 1)]);
    run.send(SimTime(0), 0, 1, Class::Control, 0);
    run.send(at_ms(5), 0, 1, Class::Control, 1);
    run.begin(0, 0, 1, false, LinkFault::Partition);
    run.run_until(at_ms(12));
    run.end(at_ms(12), 0);
    run.finish();
    assert_eq!(run.lost, [(FrameNumber(0), LossCause::Partition)]);
    assert_eq!(run.arrived(), [(1, 15)]);
}

#[test]
fn loss_loses_until_it_ends() {
    let run = on_and_after(LinkFault::Loss { per_mille: 1_000 }, false);
    assert_eq!(run.arrived(), AFTER);
    assert!(run.lost.iter().all(|(_, cause)| *cause == LossCause::LinkLoss));
    assert_eq!(run.lost.len(), 2);
}

#[test]
fn duplication_delivers_a_second_time_later_and_marked_until_it_ends() {
    let run = on_and_after(LinkFault::Duplicate { per_mille: 1_000 }, true);
    let of_first: Vec<&Arrival> =
        run.arrivals.iter().filter(|arrival| arrival.frame.number == FrameNumber(0)).collect();
    assert_eq!(of_first.iter().map(|arrival| arrival.duplicate).collect::<Vec<_>>(), [false, true]);
    assert!(of_first[0].at < of_first[1].at);
    assert_eq!(of_first[0].frame, of_first[1].frame);
    assert_eq!(run.arrivals.len(), 5);
}

#[test]
fn a_delay_holds_frames_up_until_it_ends() {
    let run = on_and_after(LinkFault::Delay { us: 20_000 }, true);
    assert_eq!(run.arrived(), [[(1, 10), (0, 30)].as_slice(), &AFTER].concat());
    // What is still on its way when the fault ends is due then, in order.
    let mut run = Run::new(2, &[plain(0, 1)]);
    run.begin(0, 0, 1, false, LinkFault::Delay { us: 3_600_000_000 });
    run.begin(1, 0, 1, false, LinkFault::Delay { us: 7_000 });
    for sequence in 0..4 {
        run.send(at_ms(2 * sequence), 0, 1, Class::Control, sequence);
    }
    run.run_until(at_ms(20));
    run.end(at_ms(20), 0);
    run.finish();
    assert_eq!(run.arrived(), [(0, 20), (1, 20), (2, 21), (3, 23)]);
}

#[test]
fn a_low_bandwidth_queues_frames_until_it_ends() {
    // 1,000 bytes at 1,000,000 bytes a second: 1 ms each.
    let run = on_and_after(LinkFault::Bandwidth { bytes_per_s: 50_000 }, true);
    assert_eq!(run.arrived(), [[(1, 10), (0, 30)].as_slice(), &AFTER].concat());
    let link = LinkPlan { bandwidth_bytes_per_s: 1_000_000, ..plain(0, 1) };
    let mut run = Run::new(2, &[link]);
    run.begin(0, 0, 1, false, LinkFault::Bandwidth { bytes_per_s: 1 });
    for sequence in 0..4 {
        run.send(SimTime(0), 0, 1, Class::Control, sequence);
    }
    run.run_until(at_ms(100));
    run.end(at_ms(100), 0);
    run.send(at_ms(100), 0, 1, Class::Storage, 4);
    run.finish();
    assert_eq!(run.arrived(), [(0, 111), (1, 112), (2, 113), (3, 114), (4, 115)]);
}

#[test]
fn a_stalled_channel_holds_its_frames_and_no_others_until_it_ends() {
    let mut run = Run::new(2, &[plain(0, 1)]);
    run.begin(0, 0, 1, true, LinkFault::StallChannel { channel: 1 });
    for sequence in 0..3 {
        run.send(at_ms(sequence), 0, 1, Class::Storage, sequence);
        run.send(at_ms(sequence), 0, 1, Class::Control, 10 + sequence);
        run.send(at_ms(sequence), 1, 0, Class::Storage, 20 + sequence);
    }
    run.run_until(at_ms(50));
    assert_eq!(run.arrived(), [(10, 10), (20, 10), (11, 11), (21, 11), (12, 12), (22, 12)]);
    assert_eq!(run.network.in_flight(), 3);
    run.send(at_ms(50), 0, 1, Class::Storage, 3);
    // Due exactly when the stall ends: still behind those that were held.
    run.run_until(SimTime(60 * MS - 1));
    run.end(at_ms(60), 0);
    run.finish();
    assert_eq!(run.arrived()[6..], [(0, 60), (1, 60), (2, 60), (3, 60)]);
}

#[test]
fn a_stall_holds_second_deliveries_too() {
    let mut run = Run::new(2, &[LinkPlan { duplicate_per_mille: 1_000, ..plain(0, 1) }]);
    run.send(SimTime(0), 0, 1, Class::Control, 0);
    run.run_until(at_ms(10));
    run.begin(0, 0, 1, false, LinkFault::StallChannel { channel: 0 });
    run.run_until(at_ms(90));
    assert_eq!(run.arrivals.len(), 1);
    run.end(at_ms(90), 0);
    run.finish();
    assert_eq!(run.arrived(), [(0, 10), (0, 90)]);
}

#[test]
fn faults_compose_and_each_ends_by_itself() {
    let mut run = Run::new(2, &[plain(0, 1)]);
    run.begin(0, 0, 1, false, LinkFault::StallChannel { channel: 0 });
    run.begin(1, 1, 0, false, LinkFault::StallChannel { channel: 0 });
    run.begin(2, 0, 1, false, LinkFault::Delay { us: 1_000 });
    run.begin(3, 0, 1, false, LinkFault::Delay { us: 2_000 });
    run.send(SimTime(0), 0, 1, Class::Control, 0);
    run.send(SimTime(0), 0, 1, Class::Storage, 1);
    run.run_until(at_ms(20));
    assert_eq!(run.arrived(), [(1, 13)]);
    run.end(at_ms(20), 0);
    run.run_until(at_ms(30));
    assert_eq!(run.arrived().len(), 1);
    run.end(at_ms(30), 1);
    run.end(at_ms(30), 2);
    run.send(at_ms(30), 0, 1, Class::Storage, 2);
    run.finish();
    assert_eq!(run.arrived()[1..], [(0, 30), (2, 42)]);
}

#[test]
fn faults_that_cannot_begin_say_why_and_change_nothing() {
    let mut network = Network::new(0, 3, &[LinkPlan { channels: 2, ..plain(0, 1) }]).unwrap();
    let mut begin = |id, to, fault| network.begin_fault(FaultId(id), (node(0), node(to)), false, fault);
    let no_link = FaultError::NoLink { fault: FaultId(0), from: node(0), to: node(2) };
    assert_eq!(begin(0, 2, LinkFault::Partition), Err(no_link));
    let stall = LinkFault::StallChannel { channel: 2 };
    let no_channel =
        FaultError::NoChannel { fault: FaultId(0), from: node(0), to: node(1), channel: 2, channels: 2 };
    assert_eq!(begin(0, 1, stall), Err(no_channel));
    assert_eq!(begin(1, 1, LinkFault::Partition), Ok(()));
    assert_eq!(begin(1, 1, LinkFault::Partition), Err(FaultError::On { fault: FaultId(1) }));
    assert!(network.end_fault(SimTime(0), FaultId(0)).is_empty());
    assert!(!network.is_healed());
    network.end_fault(SimTime(0), FaultId(1));
    assert!(network.is_healed());
}

const EVERY_KIND: [LinkFault; 8] = [
    LinkFault::Partition,
    LinkFault::Loss { per_mille: 1_000 },
    LinkFault::Duplicate { per_mille: 1_000 },
    LinkFault::Delay { us: 60_000_000 },
    LinkFault::Bandwidth { bytes_per_s: 10 },
    LinkFault::StallChannel { channel: 0 },
    LinkFault::StallReceiver { channel: 0 },
    LinkFault::DropConnection,
];

#[test]
fn quiescence_leaves_nothing_on() {
    // A match without a rest: a new kind of fault does not compile until it stands in the table above.
    for fault in EVERY_KIND {
        match fault {
            LinkFault::Partition
            | LinkFault::Loss { .. }
            | LinkFault::Duplicate { .. }
            | LinkFault::Delay { .. }
            | LinkFault::Bandwidth { .. }
            | LinkFault::StallChannel { .. }
            | LinkFault::StallReceiver { .. }
            | LinkFault::DropConnection => {}
        }
    }
    let links = [plain(0, 1), plain(1, 2), LinkPlan { ordered: false, ..plain(0, 2) }];
    for kinds in 1u32..256 {
        let mut run = Run::new(3, &links);
        for (place, fault) in (0u32..).zip(EVERY_KIND).filter(|(place, _)| kinds >> place & 1 == 1) {
            run.begin(10 * place, 0, 1, true, fault);
            run.begin(10 * place + 1, 2, 1, false, fault);
            run.begin(10 * place + 2, 0, 2, false, fault);
        }
        for sequence in 0..20 {
            run.send(at_ms(sequence), 0, 1, Class::Control, sequence);
            run.send(at_ms(sequence), 1, 2, Class::Control, sequence);
            run.send(at_ms(sequence), 2, 0, Class::Control, sequence);
        }
        run.run_until(at_ms(500));
        let scheduled = run.network.heal_all(at_ms(500));
        run.schedule(scheduled);
        assert!(run.network.is_healed());
        // All that was on its way arrives within one latency, and what is sent now passes as if nothing had been.
        run.arrivals.retain(|arrival| !arrival.duplicate);
        let (before, lost) = (run.arrivals.len(), run.lost.len());
        for (from, to) in [(0, 1), (1, 0), (1, 2), (2, 1), (0, 2), (2, 0)] {
            run.send(at_ms(500), from, to, Class::Storage, 77);
        }
        run.run_until(at_ms(510));
        run.arrivals.retain(|arrival| !arrival.duplicate);
        assert_eq!(run.arrivals.len() + lost, 66, "kinds {kinds:b}");
        assert!(run.arrivals.len() - before >= 6);
        assert_eq!(run.lost.len(), lost);
        run.finish();
        assert_eq!(run.network.in_flight(), 0);
    }
}

#[test]
fn a_signal_passes_once_the_partition_or_delay_in_its_way_has_ended() {
    for (fault, retries) in [(LinkFault::Partition, 3), (LinkFault::Delay { us: 3_600_000_000 }, 4)] {
        let mut run = Run::new(2, &[plain(0, 1)]);
        run.send(SimTime(0), 0, 1, Class::Control, 0);
        run.finish();
        // Only its own direction is touched.
        run.begin(0, 1, 0, true, fault);
        let path = run.arrivals[0].frame.return_path();
        let (signal, mut due) = run.network.signal(at_ms(10), SignalKind::Credit, &path).unwrap();
        assert_eq!(due, at_ms(20));
        let mut asked = 0;
        let arrived_at = loop {
            if due >= at_ms(500) {
                run.end(at_ms(500), 0);
            }
            match run.network.signal_arrives(due, &signal) {
                SignalArrival::Arrived => break due,
                SignalArrival::Retry(later) => {
                    assert!(later > due);
                    due = later;
                    asked += 1;
                }
                SignalArrival::Gone => panic!("the connection stands"),
            }
        };
        assert!(arrived_at < SimTime(500 * MS + RETRY_NS), "{arrived_at}");
        assert!(asked >= 3 && asked <= retries, "{asked}");
    }
}

#[test]
fn a_fault_of_another_link_changes_nothing() {
    let arrivals = |faulty: bool| {
        let mut run = Run::new(3, &[LinkPlan { jitter_us: 9_000, ..plain(0, 1) }, plain(1, 2)]);
        if faulty {
            for (id, fault) in (0..).zip(EVERY_KIND) {
                run.begin(id, 1, 2, false, fault);
            }
        }
        for sequence in 0..50 {
            run.send(at_ms(sequence), 0, 1, Class::Control, sequence);
        }
        run.finish();
        assert_eq!(run.arrivals.len(), 50);
        run.arrivals
    };
    assert_eq!(arrivals(false), arrivals(true));
}

#[test]
fn a_lost_frame_is_given_up_soon_even_at_the_lowest_bandwidth() {
    let mut run = Run::new(2, &[plain(0, 1)]);
    run.begin(0, 0, 1, false, LinkFault::Bandwidth { bytes_per_s: 1 });
    run.begin(1, 0, 1, false, LinkFault::Loss { per_mille: 1_000 });
    let sent = run.send(SimTime(0), 0, 1, Class::Control, 0);
    let given_up_at = SimTime(RETRY_NS + 20 * MS);
    assert_eq!(sent, Sent::Lost { number: FrameNumber(0), cause: LossCause::LinkLoss, given_up_at });
    assert_eq!(SECOND / RETRY_NS, 5);
}
