//! Sentences for every kind of action and fault.

use super::*;
use groundhog_engine::host::observe::Step;
use groundhog_engine::streams::key::{Class, Table};
use groundhog_sim::plan::{
    ClockFault, Crypto, Death, DiskFault, DiskOperation, Fault, FaultKind, LinkFault, Phase, SecondRuntime,
    StepId, When, yardstick,
};
use groundhog_sim::units::{ActionId, FaultId, Life, NodeId};

fn plan() -> Plan {
    let mut plan = yardstick::admissions(9, 1, Crypto::KeyedHash);
    plan.actions.clear();
    plan.quiesce_us = 60_000;
    plan
}

#[test]
fn times_are_exact_and_short() {
    for (us, text) in [
        (0, "0 us"),
        (320, "320 us"),
        (50_000, "50 ms"),
        (48_213, "48.213 ms"),
        (1_500_000, "1.5 s"),
        (1_234_567, "1234.567 ms"),
        (90_000_000, "90 s"),
    ] {
        assert_eq!(time(us), text);
    }
}

#[test]
fn an_action_is_a_sentence() {
    let burst = Burst {
        count: 2,
        bytes: 0,
        copies: 4,
        copy_every_us: 40_000,
        ..Burst::one(NodeId(1), Class::Application)
    };
    let relayed = Burst {
        via: Some(NodeId(2)),
        class: Class::E2e,
        count: 1,
        bytes: 64,
        copies: 1,
        cancel_admit_every: 3,
        cancel_after_us: 300,
        ..burst.clone()
    };
    let frame =
        FrameName { origin: NodeId(0), destination: NodeId(1), class: Class::Control, sequence: 4, copy: 0 };
    let mut plan = plan();
    for (act, sentence) in [
        (
            Act::Send(burst),
            "at 50 ms node 0 sends 2 application messages to node 1, all at once, 4 copies every 40 ms",
        ),
        (
            Act::Send(relayed),
            "at 50 ms node 0 sends 1 e2e message to node 1 through node 2, 64 bytes; every 3rd caller gives up its admission after 300 us",
        ),
        (Act::Join, "at 50 ms node 0 joins the ring"),
        (Act::Leave { hand_off: true }, "at 50 ms node 0 leaves the ring and hands over what it holds"),
        (Act::Leave { hand_off: false }, "at 50 ms node 0 leaves the ring without a word"),
        (
            Act::SecondRuntime(SecondRuntime { of: NodeId(1), lasts_us: None }),
            "at 50 ms node 0 runs a copy of node 1 under its account, from what is durable on its disk",
        ),
        (
            Act::SecondRuntime(SecondRuntime { of: NodeId(1), lasts_us: Some(40_000) }),
            "at 50 ms node 0 runs a copy of node 1 under its account, from what is durable on its disk, for 40 ms",
        ),
        (Act::RotateDelegatee, "at 50 ms node 0 takes a fresh delegatee key"),
        (
            Act::Replay { frame, to: NodeId(1), lane: Some(Class::Storage) },
            "at 50 ms an adversary at node 0 sends the recorded frame control#4 of node 0 to node 1 to node 1 again on the storage lane",
        ),
    ] {
        plan.actions = vec![Action { id: ActionId(0), at_us: 50_000, node: NodeId(0), act }];
        assert_eq!(sentences(&plan), [sentence]);
    }
}

#[test]
fn a_fault_is_a_sentence() {
    let (node, time) = (NodeId(1), When::Time { us: 20_000 });
    let (life, step) = (Life(2), StepId(Step::Marked));
    let step = When::Step { node, life, step, table: Some(Table::Receiver), count: 2 };
    let operation = When::Operation { node, life: Life(0), operation: 31, phase: Phase::Partly };
    let crash = |death| FaultKind::Crash { node, death, down_us: 20_000, survivors: None };
    let disk = |fault, operations: &[DiskOperation], skip, count| FaultKind::Disk {
        node,
        fault,
        operations: operations.to_vec(),
        skip,
        count,
    };
    let link = |one_way, fault| FaultKind::Link { from: NodeId(0), to: node, one_way, fault };
    let mut plan = plan();
    for (at, until_us, kind, sentence) in [
        (
            step,
            None,
            crash(Death::Power),
            "power failure at node 1 at its 2nd step marked of receiver records in its 3rd life, down 20 ms",
        ),
        (
            operation,
            None,
            crash(Death::Process),
            "process crash at node 1 in the middle of disk operation 31, down 20 ms",
        ),
        (
            time,
            Some(50_000),
            disk(DiskFault::Error, &[DiskOperation::Write, DiskOperation::FlushDirectory], 0, 0),
            "each write or flush directory at the disk of node 1 fails from 20 ms, until 50 ms",
        ),
        (
            time,
            None,
            disk(DiskFault::Slow { factor: 10 }, &[], 2, 3),
            "the 3rd to 5th operation at the disk of node 1 is 10 times slower from 20 ms, until 60 ms",
        ),
        (
            time,
            None,
            link(true, LinkFault::Partition),
            "nothing passes from node 0 to node 1 from 20 ms, until 60 ms",
        ),
        (
            time,
            None,
            link(false, LinkFault::Duplicate { per_mille: 1_000 }),
            "every frame between node 0 and node 1 is delivered twice from 20 ms, until 60 ms",
        ),
        (
            time,
            None,
            FaultKind::Clock { node, fault: ClockFault::Step { by_ms: -400 } },
            "the wall clock of node 1 steps by -400 ms at 20 ms",
        ),
    ] {
        plan.faults = vec![Fault { id: FaultId(0), at, until_us, kind }];
        assert_eq!(sentences(&plan), [sentence]);
    }
}
