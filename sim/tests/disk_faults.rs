//! Faults of disks: each strikes, is seen by what the engine or the workload meets, and ends.

mod support;

use groundhog_engine::host::observe::Step;
use groundhog_engine::streams::key::Class;
use groundhog_sim::ledger::kind::EventKind;
use groundhog_sim::ledger::words::kebab;
use groundhog_sim::plan::DiskOperation as Op;
use groundhog_sim::plan::{Act, Death, DiskFault, Fault, FaultKind, Plan, StepId, When};
use groundhog_sim::units::{FaultId, Life, NodeId};
use support::{Watched, burst, fault, one_way_plan, watch, with_and_without};

const RECEIVER: NodeId = NodeId(1);

fn on_disk(fault: DiskFault, operations: &[Op], skip: u32, count: u32) -> FaultKind {
    FaultKind::Disk { node: RECEIVER, fault, operations: operations.to_vec(), skip, count }
}

fn failed_batches(watched: &Watched) -> u64 {
    watched.outcome.verdicts.get("failed-batch").copied().unwrap_or(0)
}

/// A fault that strikes three operations from 300 ms on.
fn three_of(kind: DiskFault, operations: &[Op]) -> Fault {
    fault(0, 300_000, 900_000, on_disk(kind, operations, 0, 3))
}

/// An event's lines with this text at the receiver.
fn lines(watched: &Watched, kind: EventKind, word: &str) -> usize {
    watched.of(kind).filter(|told| told.node == Some(RECEIVER) && told.text.contains(word)).count()
}

#[test]
fn an_operation_that_fails_fails_its_batch_and_no_later_one() {
    for operation in [Op::Create, Op::Write, Op::Rename] {
        let (struck, quiet) = with_and_without(&one_way_plan(), three_of(DiskFault::Error, &[operation]));
        assert_eq!(struck.injected(), 3, "{operation:?}");
        assert_eq!(
            lines(&struck, EventKind::DiskAnswered, &format!("{} failed: io", kebab(operation))),
            match operation {
                Op::Write => 0,
                _ => 3,
            }
        );
        assert!(failed_batches(&struck) > 0 && failed_batches(&quiet) == 0, "{operation:?}");
        assert_eq!(struck.outcome.losses["failed-batch"], failed_batches(&struck));
        let lost: u64 = struck.outcome.losses.values().sum();
        assert_eq!(struck.outcome.dispatched + lost, struck.outcome.intended);
    }
}

#[test]
fn a_disk_without_space_fails_what_needs_space() {
    for operation in [Op::Create, Op::Write, Op::Flush, Op::Rename] {
        let (struck, _) = with_and_without(&one_way_plan(), three_of(DiskFault::NoSpace, &[operation]));
        assert_eq!(lines(&struck, EventKind::DiskAnswered, "no-space"), 3, "{operation:?}");
        assert!(failed_batches(&struck) > 0, "{operation:?}");
    }
}

#[test]
fn a_failed_flush_of_a_file_or_a_directory_fails_its_batch() {
    let failed_directory_flush = DiskFault::FailedDirectoryFlush { read_only: false };
    for (kind, operation) in
        [(DiskFault::FailedFlush, Op::Flush), (failed_directory_flush, Op::FlushDirectory)]
    {
        let (struck, _) = with_and_without(&one_way_plan(), three_of(kind, &[]));
        assert_eq!(lines(&struck, EventKind::DiskAnswered, &format!("{} failed", kebab(operation))), 3);
        assert_eq!(struck.injected(), 3);
        assert!(failed_batches(&struck) > 0);
    }
}

#[test]
fn a_disk_that_turns_read_only_stays_so_until_the_node_restarts() {
    let kind = DiskFault::FailedDirectoryFlush { read_only: true };
    let (struck, _) = with_and_without(&one_way_plan(), fault(0, 300_000, 900_000, on_disk(kind, &[], 0, 1)));
    assert_eq!(struck.injected(), 1);
    assert!(lines(&struck, EventKind::DiskAnswered, "read-only") > 0);
    assert_eq!(struck.dispatched_between(320_000, 2_000_000), 0, "nothing is admitted on a read-only disk");
    let died = struck.of(EventKind::Died).next().expect("its process is restarted at quiescence");
    assert_eq!((died.at.as_us(), died.node), (2_000_000, Some(RECEIVER)));
}

#[test]
fn a_fault_lets_the_operations_pass_that_it_is_to_skip() {
    let kind = |skip| on_disk(DiskFault::FailedFlush, &[Op::Flush], skip, 1);
    let times = [0, 10].map(|skip| {
        let (struck, _) = with_and_without(&one_way_plan(), fault(0, 300_000, 900_000, kind(skip)));
        assert_eq!(struck.injected(), 1);
        let struck_at = struck.of(EventKind::DiskAnswered).find(|told| told.text.ends_with("(fault)"));
        struck_at.unwrap().at.as_us()
    });
    assert!(times[0] + 10_000 < times[1], "ten flushes lie between: {times:?}");
}

#[test]
fn a_disk_fault_can_begin_at_an_operation_a_step_or_a_poll() {
    let (node, life) = (RECEIVER, Life(0));
    let places = [
        When::Operation { node, life, operation: 50, phase: groundhog_sim::plan::Phase::Before },
        When::Step { node, life, step: StepId(Step::Renamed), table: None, count: 5 },
        When::Poll { node, life, poll: 100 },
    ];
    for at in places {
        let kind = on_disk(DiskFault::Error, &[Op::Create], 0, 2);
        let (struck, _) =
            with_and_without(&one_way_plan(), Fault { at, until_us: None, ..fault(0, 0, 0, kind) });
        assert_eq!(struck.injected(), 2, "{at:?}");
        assert!(failed_batches(&struck) > 0, "{at:?}");
    }
}

/// The receiver dies at 600 ms.
fn dies(mut plan: Plan, death: Death) -> Plan {
    let kind = FaultKind::Crash { node: RECEIVER, death, down_us: 20_000, survivors: None };
    plan.faults.push(Fault { id: FaultId(9), at: When::Time { us: 600_000 }, until_us: None, kind });
    plan
}

/// A plan with both faults, whose second stream begins after quiescence.
fn dies_of(kind: DiskFault, operations: &[Op], from_us: u64) -> Watched {
    let mut plan = dies(one_way_plan(), Death::Power);
    plan.actions.push(burst(7, plan.quiesce_us + 200_000, 0, 1, Class::Control, 20));
    plan.faults.push(fault(0, from_us, 620_000, on_disk(kind, operations, 0, 0)));
    let watched = watch(&plan);
    support::assert_held(&watched);
    support::assert_faults_ended(&watched);
    watched
}

/// Pending changes that the power failure took.
fn lost_with_the_power(watched: &Watched) -> u64 {
    let line = &watched.of(EventKind::PowerLost).next().expect("the power fails").text;
    let lost = line.rsplit(", ").next().and_then(|lost| lost.strip_suffix(" lost"));
    lost.expect("the line says how many were lost").parse().expect("a number")
}

#[test]
fn a_flush_that_lies_loses_at_a_power_failure_what_it_said_was_durable() {
    let mut plan = dies(one_way_plan(), Death::Power);
    for action in &mut plan.actions {
        if let Act::Send(burst) = &mut action.act {
            (burst.copies, burst.copy_every_us) = (3, 150_000);
        }
    }
    let honest = watch(&plan);
    support::assert_held(&honest);
    plan.faults.push(fault(0, 50_000, 620_000, on_disk(DiskFault::LyingFlush, &[], 0, 0)));
    let lied = watch(&plan);
    support::assert_held(&lied);
    support::assert_faults_ended(&lied);
    assert!(lost_with_the_power(&lied) > 10 * lost_with_the_power(&honest).max(1));
    assert!(lied.outcome.limits.get("rolled-back-by-lying-flush").is_some_and(|count| *count > 0));
    assert_eq!(honest.outcome.limits.get("rolled-back-by-lying-flush"), None);
    let stale = |watched: &Watched| watched.outcome.verdicts.clone();
    assert_ne!(stale(&lied), stale(&honest), "copies of what was rolled back are admitted again");
}

#[test]
fn a_damaged_record_makes_its_stream_unavailable_and_no_other() {
    for kind in [DiskFault::BadSector, DiskFault::FlippedBit] {
        let watched = dies_of(kind, &[Op::Write], 300_000);
        assert!(watched.injected() > 0);
        assert!(watched.outcome.refusals["stream-unavailable"] > 0, "{kind:?}");
        assert!(watched.outcome.limits["damaged-record"] > 0, "{kind:?}");
        let after: Vec<_> =
            watched.of(EventKind::Dispatched).filter(|told| told.at.as_us() > 620_000).collect();
        assert!(after.iter().all(|told| told.text.contains("/control#")), "{kind:?}");
        assert_eq!(after.len(), 20, "{kind:?}: a new stream is admitted");
    }
}

#[test]
fn damage_that_is_written_over_before_a_death_harms_nobody() {
    let mut plan = dies(one_way_plan(), Death::Power);
    plan.faults.push(fault(0, 200_000, 300_000, on_disk(DiskFault::FlippedBit, &[Op::Write], 0, 0)));
    let watched = watch(&plan);
    support::assert_held(&watched);
    assert!(watched.injected() > 10);
    assert_eq!(watched.outcome.refusals.get("stream-unavailable"), None);
    assert_eq!(watched.dispatched_between(plan.quiesce_us, plan.end_us), 50);
}

#[test]
fn what_the_kernel_writes_back_a_power_failure_cannot_take() {
    let mut plan = one_way_plan();
    // In the middle of a batch, whose names are not flushed yet.
    let at = When::Step {
        node: RECEIVER,
        life: Life(0),
        step: StepId(Step::TemporaryFlushed),
        table: None,
        count: 20,
    };
    let kind = FaultKind::Crash { node: RECEIVER, death: Death::Power, down_us: 20_000, survivors: None };
    plan.faults.push(Fault { id: FaultId(9), at, until_us: None, kind });
    let dropped: Vec<_> = [false, true]
        .map(|written_back| {
            let mut plan = plan.clone();
            if written_back {
                plan.faults.push(fault(0, 0, 900_000, on_disk(DiskFault::WriteBack, &[], 0, 0)));
            }
            let watched = watch(&plan);
            support::assert_held(&watched);
            support::assert_faults_ended(&watched);
            watched.of(EventKind::PowerLost).next().unwrap().text.clone()
        })
        .into();
    assert_ne!(dropped[0], dropped[1]);
}

#[test]
fn a_slow_disk_admits_later_until_it_is_fast_again() {
    let kind = on_disk(DiskFault::Slow { factor: 20 }, &[], 0, 0);
    let (struck, quiet) = with_and_without(&one_way_plan(), fault(0, 300_000, 700_000, kind));
    assert_eq!(struck.outcome.dispatched, quiet.outcome.dispatched, "nothing is lost");
    let batches = |watched: &Watched| {
        let durable = watched.of(EventKind::EngineBatchDurable);
        durable
            .filter(|told| told.node == Some(RECEIVER) && (300_000..700_000).contains(&told.at.as_us()))
            .count()
    };
    assert!(batches(&struck) * 5 < batches(&quiet), "{} and {}", batches(&struck), batches(&quiet));
    let most = |watched: &Watched| watched.outcome.latencies[Class::Application.index()].from_intended.max();
    assert!(most(&struck) > 10 * most(&quiet));
    let times = |watched: &Watched| -> Vec<_> {
        watched
            .of(EventKind::Dispatched)
            .filter(|told| told.at.as_us() > 900_000)
            .map(|told| told.at)
            .collect()
    };
    assert_eq!(times(&struck).len(), times(&quiet).len(), "as fast as ever afterwards");
}

#[test]
fn a_stuck_disk_answers_nothing_until_its_end_and_then_as_the_plan_says() {
    for fails in [false, true] {
        let kind = on_disk(DiskFault::Stuck { fails }, &[], 0, 0);
        let (struck, quiet) = with_and_without(&one_way_plan(), fault(0, 300_000, 700_000, kind));
        let answered = struck.of(EventKind::DiskAnswered).filter(|told| told.node == Some(RECEIVER));
        let during = answered.filter(|told| (302_000..700_000).contains(&told.at.as_us()));
        assert_eq!(during.count(), 0, "no answer while it is stuck");
        assert_eq!(struck.dispatched_between(302_000, 700_000), 0);
        assert!(quiet.dispatched_between(302_000, 700_000) > 70);
        assert_eq!(struck.injected() > 0, fails);
        assert_eq!(failed_batches(&struck) > 0, fails);
        if !fails {
            assert_eq!(struck.outcome.dispatched, struck.outcome.intended, "it was only late");
        }
    }
}

#[test]
fn a_disk_that_is_stuck_at_quiescence_answers_then() {
    for fails in [false, true] {
        let mut plan = one_way_plan();
        let kind = on_disk(DiskFault::Stuck { fails }, &[], 0, 0);
        plan.faults.push(Fault { until_us: None, ..fault(0, 300_000, 0, kind) });
        let watched = watch(&plan);
        support::assert_held(&watched);
        support::assert_faults_ended(&watched);
        assert_eq!(watched.dispatched_between(302_000, 2_000_000), 0);
        assert_eq!(watched.injected() > 0, fails);
        assert_eq!(watched.dispatched_between(plan.quiesce_us + 100_000, plan.end_us), 50);
    }
}

#[test]
fn a_fault_of_an_operation_under_way_at_quiescence_does_not_strike() {
    let mut plan = one_way_plan();
    let quiet = watch(&plan);
    // Quiescence falls into the first flush after 500 ms.
    let mut answered = quiet.of(EventKind::DiskAnswered).filter(|told| told.at.as_us() > 500_000);
    let flush = answered.find(|told| told.text.ends_with(" flush") && told.node == Some(RECEIVER)).unwrap();
    plan.quiesce_us = flush.at.as_us() - 100;
    plan.actions.retain(|action| action.id.0 == 0);
    let kind = on_disk(DiskFault::FailedFlush, &[], 0, 0);
    plan.faults.push(fault(0, plan.quiesce_us - 500, plan.quiesce_us, kind));
    let watched = watch(&plan);
    support::assert_held(&watched);
    support::assert_faults_ended(&watched);
    assert_eq!((watched.injected(), failed_batches(&watched)), (0, 0));
}

/// What a life meets when its second life opens with this fault.
fn opens_with(kind: DiskFault, operation: Op, death: When) -> Watched {
    let mut plan = one_way_plan();
    let crash = FaultKind::Crash { node: RECEIVER, death: Death::Process, down_us: 20_000, survivors: None };
    plan.faults.push(Fault { id: FaultId(9), at: death, until_us: None, kind: crash });
    let phase = groundhog_sim::plan::Phase::Before;
    let at = When::Operation { node: RECEIVER, life: Life(1), operation: 0, phase };
    let on = on_disk(kind, &[operation], 0, 1);
    plan.faults.push(Fault { at, until_us: None, ..fault(0, 0, 0, on) });
    plan.actions.push(burst(7, plan.quiesce_us + 200_000, 0, 1, Class::Control, 20));
    let watched = watch(&plan);
    support::assert_held(&watched);
    support::assert_faults_ended(&watched);
    assert_eq!(watched.injected(), 1, "{operation:?}");
    assert!(watched.of(EventKind::Dispatched).filter(|told| told.text.contains("/control#")).count() == 20);
    watched
}

#[test]
fn a_listing_that_fails_fails_the_open_and_the_next_one_succeeds() {
    let watched = opens_with(DiskFault::Error, Op::List, When::Time { us: 600_000 });
    assert_eq!(watched.of(EventKind::OpenFailed).count(), 1);
    assert_eq!(watched.count_at(RECEIVER.0, EventKind::Booted), 3);
    assert_eq!(watched.dispatched_between(2_000_000, 3_000_000), 70);
}

#[test]
fn a_record_that_cannot_be_read_at_open_is_unavailable_in_that_life() {
    for operation in [Op::Open, Op::Read] {
        let watched = opens_with(DiskFault::Error, operation, When::Time { us: 600_000 });
        assert!(watched.outcome.refusals["stream-unavailable"] > 0, "{operation:?}");
        assert!(watched.outcome.limits["unreadable-record"] > 0, "{operation:?}");
    }
}

#[test]
fn a_stale_temporary_that_cannot_be_removed_is_met_again() {
    let step = StepId(Step::TemporaryFlushed);
    let at = When::Step { node: RECEIVER, life: Life(0), step, table: None, count: 20 };
    let watched = opens_with(DiskFault::Error, Op::Remove, at);
    assert!(lines(&watched, EventKind::DiskAnswered, "remove failed: io") == 1);
}
