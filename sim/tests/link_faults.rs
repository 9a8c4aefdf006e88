//! Faults of links: each holds, loses, repeats or slows what it should, and ends.

mod support;

use groundhog_engine::streams::key::Class;
use groundhog_sim::ledger::kind::EventKind;
use groundhog_sim::plan::{FaultKind, LinkFault, Plan};
use groundhog_sim::units::NodeId;
use support::{Watched, burst, fault, one_way_plan, with_and_without};

fn on_link(from: u16, to: u16, one_way: bool, fault: LinkFault) -> FaultKind {
    FaultKind::Link { from: NodeId(from), to: NodeId(to), one_way, fault }
}

/// From 300 to 700 ms.
fn struck_by(plan: &Plan, kind: FaultKind) -> (Watched, Watched) {
    with_and_without(plan, fault(0, 300_000, 700_000, kind))
}

fn lost(watched: &Watched, cause: &str) -> u64 {
    watched.outcome.losses.get(cause).copied().unwrap_or(0)
}

/// Dispatches of a class between two times.
fn of_class(watched: &Watched, class: Class, from_us: u64, until_us: u64) -> usize {
    let dispatched =
        watched.of(EventKind::Dispatched).filter(|told| (from_us..until_us).contains(&told.at.as_us()));
    dispatched.filter(|told| told.text.contains(&format!("/{class}#"))).count()
}

#[test]
fn a_partition_of_the_senders_way_loses_what_is_sent_and_no_later_message() {
    for one_way in [false, true] {
        let (struck, quiet) = struck_by(&one_way_plan(), on_link(0, 1, one_way, LinkFault::Partition));
        assert_eq!(struck.dispatched_between(302_000, 700_000), 0);
        assert!(lost(&struck, "partition") >= 8 && lost(&quiet, "partition") == 0);
        assert!(struck.dispatched_between(700_000, 2_000_000) > 50, "messages pass again");
        assert_eq!(struck.outcome.dispatched + lost(&struck, "partition"), struck.outcome.intended);
    }
}

#[test]
fn a_partition_of_the_way_back_alone_holds_the_lane_and_loses_nothing() {
    let (struck, quiet) = struck_by(&one_way_plan(), on_link(1, 0, true, LinkFault::Partition));
    assert_eq!(struck.outcome.dispatched, struck.outcome.intended, "messages are late, not lost");
    let during = |watched: &Watched| watched.dispatched_between(300_000, 700_000);
    assert!(
        during(&struck) * 2 < during(&quiet),
        "the window fills: {} of {}",
        during(&struck),
        during(&quiet)
    );
}

#[test]
fn lost_frames_are_lost_messages() {
    let (struck, quiet) = struck_by(&one_way_plan(), on_link(0, 1, true, LinkFault::Loss { per_mille: 500 }));
    let (losses, sent) = (lost(&struck, "link-loss"), quiet.dispatched_between(300_000, 700_000) as u64);
    assert!((sent / 4..=sent * 3 / 4).contains(&losses), "about half of {sent}: {losses}");
    let last = struck.of(EventKind::FrameLost).last().unwrap();
    assert!(last.at.as_us() <= 701_000, "none is lost after the fault");
    assert_eq!(lost(&quiet, "link-loss"), 0);
}

#[test]
fn frames_delivered_twice_are_replays_and_never_dispatched_twice() {
    let (struck, quiet) =
        struck_by(&one_way_plan(), on_link(0, 1, true, LinkFault::Duplicate { per_mille: 1_000 }));
    let duplicates = |watched: &Watched| {
        watched.of(EventKind::FrameDelivered).filter(|told| told.text.contains("(duplicate)")).count() as u64
    };
    assert!(duplicates(&struck) > 70 && duplicates(&quiet) == 0);
    assert_eq!(struck.outcome.verdicts["replay"], duplicates(&struck));
    assert_eq!(struck.outcome.dispatched, quiet.outcome.dispatched);
    assert_eq!(struck.of(EventKind::Dispatched).count(), quiet.of(EventKind::Dispatched).count());
}

#[test]
fn a_delay_makes_messages_late_and_is_over_when_it_ends() {
    let (struck, quiet) = struck_by(&one_way_plan(), on_link(0, 1, true, LinkFault::Delay { us: 50_000 }));
    assert_eq!(struck.outcome.dispatched, struck.outcome.intended);
    assert_eq!(struck.dispatched_between(303_000, 350_000), 0, "what is sent first arrives 50 ms later");
    assert!(quiet.dispatched_between(303_000, 350_000) > 5);
    let late = struck.outcome.latencies[Class::Application.index()].from_intended.max();
    assert!(late >= 50_000_000, "{late} ns");
    let arrivals = |watched: &Watched| -> Vec<_> {
        let delivered = watched.of(EventKind::FrameDelivered).filter(|told| told.at.as_us() > 720_000);
        delivered.map(|told| told.at).collect()
    };
    assert_eq!(arrivals(&struck), arrivals(&quiet), "frames sent later are as fast as without the fault");
}

#[test]
fn a_low_bandwidth_lets_less_pass_until_it_ends() {
    let narrow = LinkFault::Bandwidth { bytes_per_s: 20_000 };
    let (struck, quiet) = struck_by(&one_way_plan(), on_link(0, 1, true, narrow));
    let during = |watched: &Watched| watched.dispatched_between(320_000, 700_000);
    assert!(during(&struck) > 0, "some pass");
    assert!(during(&struck) * 2 < during(&quiet), "{} of {}", during(&struck), during(&quiet));
    assert_eq!(struck.outcome.dispatched, struck.outcome.intended, "the rest passes afterwards");
}

#[test]
fn a_link_with_little_bandwidth_of_its_own_delivers_later() {
    let mut plan = one_way_plan();
    let fast = support::watch(&plan);
    plan.links[0].bandwidth_bytes_per_s = 500_000;
    let slow = support::watch(&plan);
    support::assert_held(&slow);
    let most = |watched: &Watched| watched.outcome.latencies[Class::Application.index()].from_sent.min();
    assert!(most(&slow) > most(&fast) + 500_000, "{} and {} ns", most(&slow), most(&fast));
    assert_eq!(slow.outcome.dispatched, slow.outcome.intended);
}

#[test]
fn a_stalled_channel_holds_its_class_and_no_other() {
    for kind in [LinkFault::StallChannel { channel: 1 }, LinkFault::StallReceiver { channel: 1 }] {
        let mut plan = one_way_plan();
        for (id, class) in (10..).zip(Class::ALL) {
            let mut action = burst(id, 310_000, 0, 1, class, 30);
            if let groundhog_sim::plan::Act::Send(burst) = &mut action.act {
                burst.every_us = 2_000;
            }
            plan.actions.push(action);
        }
        let (struck, quiet) = struck_by(&plan, on_link(0, 1, true, kind));
        let held = Class::ALL[1];
        assert_eq!(of_class(&struck, held, 310_000, 700_000), 0, "{kind:?}");
        assert_eq!(of_class(&quiet, held, 310_000, 700_000), 30);
        assert_eq!(of_class(&struck, held, 700_000, 2_000_000), 30, "{kind:?}: all of it passes after");
        for class in Class::ALL.into_iter().filter(|class| *class != held) {
            let during = |watched| of_class(watched, class, 310_000, 700_000);
            assert_eq!(during(&struck), during(&quiet), "{class}");
        }
    }
}

#[test]
fn a_link_fault_that_lasts_ends_at_quiescence() {
    for kind in
        [LinkFault::Partition, LinkFault::StallChannel { channel: 3 }, LinkFault::Loss { per_mille: 1_000 }]
    {
        let mut lasting = fault(0, 300_000, 0, on_link(0, 1, false, kind));
        lasting.until_us = None;
        let (struck, _) = with_and_without(&one_way_plan(), lasting);
        assert_eq!(struck.dispatched_between(302_000, 2_000_000), 0, "{kind:?}");
        let ended = struck.of(EventKind::FaultEnded).next().unwrap();
        assert_eq!(ended.at.as_us(), 2_000_000);
    }
}
