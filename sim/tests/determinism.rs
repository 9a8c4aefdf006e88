//! A plan alone fixes a run: whoever runs it, beside whatever, and whoever looks on.

mod support;

use groundhog_engine::streams::key::Class;
use groundhog_sim::figures::{Figure, first_unlike_figure};
use groundhog_sim::laws::LawKind;
use groundhog_sim::ledger::kind::EventKind;
use groundhog_sim::ledger::{LawSelection, LedgerOptions};
use groundhog_sim::outcome::{Cut, LastPoll, Outcome};
use groundhog_sim::plan::{
    Act, Action, ClockFault, Crypto, Death, DiskFault, Fault, FaultKind, FrameName, LinkFault, Plan, When,
};
use groundhog_sim::run::{Plant, RunOptions, run};
use groundhog_sim::units::{ActionId, FaultId, Life, NodeId};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use support::{burst, fault, quiet_plan, watch};

/// Four nodes, every class, copies, callers that give up, an adversary, and a fault of each kind.
fn busy_plan(seed: u64) -> Plan {
    let mut plan = quiet_plan(4);
    (plan.seed, plan.schedule_seed) = (seed, seed ^ 0x5eed);
    for (place, class) in (0..).zip(Class::ALL) {
        for (id, (from, to)) in (place * 3..).zip([(1, 0), (2, 1), (2, 3)]) {
            let mut action = burst(id, 100_000, from, to, class, 60);
            if let Act::Send(burst) = &mut action.act {
                (burst.every_us, burst.copies, burst.copy_every_us) = (3_000, 2, 40_000);
                (burst.cancel_reserve_every, burst.cancel_admit_every, burst.cancel_after_us) = (7, 5, 1_500);
            }
            plan.actions.push(action);
        }
    }
    let (origin, destination, class) = (NodeId(1), NodeId(0), Class::Control);
    let frame = FrameName { origin, destination, class, sequence: 3, copy: 0 };
    plan.actions.push(Action {
        id: ActionId(100),
        at_us: 200_000,
        node: NodeId(1),
        act: Act::RotateDelegatee,
    });
    plan.actions.push(Action {
        id: ActionId(101),
        at_us: 400_000,
        node: NodeId(1),
        act: Act::Replay { frame, to: NodeId(0), lane: Some(Class::Application) },
    });
    plan.faults = faults();
    plan.quiesce_us = 700_000;
    plan.end_us = 1_000_000;
    plan
}

fn faults() -> Vec<Fault> {
    let crash =
        |node, death| FaultKind::Crash { node: NodeId(node), death, down_us: 30_000, survivors: None };
    let link = |fault| FaultKind::Link { from: NodeId(1), to: NodeId(0), one_way: true, fault };
    let disk = FaultKind::Disk {
        node: NodeId(1),
        fault: DiskFault::FailedFlush,
        operations: Vec::new(),
        skip: 5,
        count: 4,
    };
    let clock = |fault| FaultKind::Clock { node: NodeId(3), fault };
    let kinds = [
        crash(0, Death::Power),
        link(LinkFault::Loss { per_mille: 100 }),
        link(LinkFault::Duplicate { per_mille: 100 }),
        disk,
        clock(ClockFault::Drift { ppm: 300 }),
        clock(ClockFault::Pause),
        FaultKind::SlowProcessor { node: NodeId(2), factor: 3 },
        FaultKind::StallHandler { node: NodeId(0), class: Class::Storage },
        crash(2, Death::Process),
    ];
    (0..).zip(kinds).map(|(id, kind)| fault(id, 120_000 + 15_000 * u64::from(id), 300_000, kind)).collect()
}

fn outcome_of(plan: &Plan) -> Outcome {
    run(plan, RunOptions::default()).expect("the plan runs")
}

fn fingerprint_of(plan: &Plan) -> [u8; 32] {
    outcome_of(plan).fingerprint
}

#[test]
fn the_busy_plan_is_busy_and_holds() {
    let watched = watch(&busy_plan(1));
    support::assert_held(&watched);
    support::assert_faults_ended(&watched);
    let Outcome { verdicts, losses, deaths, .. } = &watched.outcome;
    assert_eq!(deaths.values().sum::<u64>(), 2);
    assert!(verdicts["replay"] > 0 && verdicts["failed-batch"] > 0, "{verdicts:?}");
    for cause in ["link-loss", "caller-gone", "sender-crash"] {
        assert!(losses.contains_key(cause), "{cause}: {losses:?}");
    }
}

#[test]
fn the_same_plan_gives_the_same_run_and_other_seeds_give_others() {
    let alone = fingerprint_of(&busy_plan(1));
    let other = fingerprint_of(&busy_plan(2));
    assert_eq!(fingerprint_of(&busy_plan(1)), alone, "after another in one process");
    assert_ne!(other, alone);
    let scheduled_otherwise = Plan { schedule_seed: 99, ..busy_plan(1) };
    assert_ne!(fingerprint_of(&scheduled_otherwise), alone, "the order of ready tasks is part of the plan");
}

#[test]
fn runs_at_once_on_several_threads_are_as_alone() {
    let alone = [1, 2].map(|seed| fingerprint_of(&busy_plan(seed)));
    std::thread::scope(|scope| {
        let running = [1, 2, 1, 2].map(|seed| scope.spawn(move || fingerprint_of(&busy_plan(seed))));
        let beside = running.map(|run| run.join().expect("the run ends"));
        assert_eq!(beside, [alone[0], alone[1], alone[0], alone[1]]);
    });
}

#[test]
fn whoever_looks_on_changes_nothing() {
    let plan = busy_plan(1);
    let alone = outcome_of(&plan);
    let looks = [
        LedgerOptions { sink: Some(Box::new(|_| {})), ..LedgerOptions::default() },
        LedgerOptions { account_of: Some(Box::new(|_| None)), ..LedgerOptions::default() },
    ];
    for ledger in looks {
        let looked_at = run(&plan, RunOptions { ledger, ..RunOptions::default() }).expect("the plan runs");
        assert_eq!(first_unlike_figure(&looked_at.figures(), &alone.figures()), None);
        assert!(looked_at == alone);
    }
}

#[test]
fn whichever_laws_are_asked_and_whether_events_are_hashed_changes_no_event_and_no_other_figure() {
    let plan = busy_plan(1);
    let alone = outcome_of(&plan);
    let of_laws =
        |figure: &Figure| figure.name.starts_with("limit ") || figure.name.starts_with("violation ");
    let others = |outcome: &Outcome| -> Vec<Figure> {
        outcome.figures().into_iter().filter(|figure| !of_laws(figure)).collect()
    };
    let selections = [
        LawSelection::None,
        LawSelection::Kind(LawKind::Outcome),
        LawSelection::Kind(LawKind::Mechanism),
        LawSelection::Ids(["streams/at-most-once".to_owned()].into()),
    ];
    for laws in selections {
        let ledger = LedgerOptions { laws, ..LedgerOptions::default() };
        let judged = run(&plan, RunOptions { ledger, ..RunOptions::default() }).expect("the plan runs");
        assert_eq!((judged.fingerprint, &judged.checkpoints), (alone.fingerprint, &alone.checkpoints));
        assert_eq!(first_unlike_figure(&others(&judged), &others(&alone)), None);
    }
    let ledger = LedgerOptions { unhashed: true, ..LedgerOptions::default() };
    let unhashed = run(&plan, RunOptions { ledger, ..RunOptions::default() }).expect("the plan runs");
    assert_eq!(first_unlike_figure(&unhashed.figures(), &alone.figures()), None);
}

/// Every event of a run is somebody's: a task of the node that the event names, or the world's.
#[test]
fn every_event_has_a_doer_and_those_of_a_sender_or_reader_are_at_its_own_node() {
    let told = Arc::new(std::sync::Mutex::new(std::collections::BTreeMap::<String, u64>::new()));
    let mut options = RunOptions::default();
    let into = Arc::clone(&told);
    options.ledger.sink = Some(Box::new(move |line| {
        if let (Some((at, _)), Some(node)) = (line.doer.place(), line.node) {
            assert_eq!(at, node, "{} by {}", line.text, line.doer);
        }
        *into.lock().unwrap().entry(line.doer.task()).or_default() += 1;
    }));
    run(&busy_plan(1), options).expect("the plan runs");
    let told = told.lock().unwrap();
    for task in [
        "open (opens the engines, starts readers)",
        "sender of control",
        "reader of application from node 1",
        "commit-writer (of the engine)",
        "none: the disk answers",
        "none: a frame arrives",
        "none: a fault begins",
        "none: the workload or an adversary acts",
        "none: every fault ends",
    ] {
        assert!(told.get(task).is_some_and(|events| *events > 0), "{task}: {told:?}");
    }
    assert!(!told.keys().any(|task| task.contains("nothing was due")), "{told:?}");
}

/// Two nodes, of which the first sends a few messages of one class, so that it is known who signs.
fn one_sender_plan() -> Plan {
    let mut plan = quiet_plan(2);
    plan.actions.push(burst(0, 100_000, 0, 1, Class::Control, 5));
    plan
}

fn planted(plant: Plant) -> Outcome {
    let options = RunOptions { plant: Some(plant), ..RunOptions::default() };
    run(&one_sender_plan(), options).expect("the plan runs")
}

#[test]
fn a_task_that_wakes_itself_for_ever_is_ended_and_named() {
    let outcome = planted(Plant::TaskWithoutEnd);
    let last = LastPoll { node: NodeId(0), life: Life(0), task: "sender of control".to_owned() };
    assert!(
        matches!(&outcome.cut, Some(Cut::Livelock { last: Some(by), .. }) if *by == last),
        "{:?}",
        outcome.cut
    );
    assert!(!outcome.held() && outcome.events > 0);
    assert!(planted(Plant::TaskWithoutEnd) == outcome, "at the same event each time");
}

#[test]
fn a_thread_that_a_task_starts_is_refused_named_and_ends_its_life_alone() {
    let outcome = planted(Plant::ThreadInside);
    let [broken] = &outcome.violations[..] else { panic!("{:?}", outcome.violations) };
    assert_eq!((broken.law, broken.node), ("engine/no-thread", Some(NodeId(0))));
    assert_eq!(broken.saw, "a thread was started inside the run by sender of control, in life 0");
    assert_eq!(outcome.cut, None);
    assert!(planted(Plant::ThreadInside) == outcome, "a refused thread leaves the run deterministic");
}

#[test]
fn a_thread_that_the_simulator_itself_starts_is_its_own_defect_and_named() {
    let mut options = RunOptions::default();
    options.ledger.sink = Some(Box::new(|_| {
        let thread = std::thread::Builder::new();
        drop(thread.spawn(|| ()));
    }));
    let error = run(&busy_plan(1), options).expect_err("the run fails").to_string();
    assert_eq!(error, "the simulator failed: a thread was started inside the run");
}

#[test]
fn what_is_planted_before_a_run_makes_two_runs_differ_and_what_madsim_simulates_does_not() {
    let outcome = |plant| run(&busy_plan(1), RunOptions { plant: Some(plant), ..RunOptions::default() });
    for (plant, equal) in [
        (Plant::MapBefore, false),
        (Plant::CounterBefore, false),
        (Plant::EntropyInside, false),
        (Plant::MapInside, true),
        (Plant::ClockInside, true),
    ] {
        let [one, other] = [(); 2].map(|()| outcome(plant).expect("the plan runs"));
        assert_eq!(one == other, equal, "{}", plant.id());
        assert_ne!(one.fingerprint, fingerprint_of(&busy_plan(1)), "{} does something", plant.id());
    }
}

#[test]
fn a_plan_read_back_from_its_text_gives_the_same_run() {
    let plan = busy_plan(1);
    let again = Plan::from_json(&plan.to_json()).expect("a plan reads back");
    assert_eq!(again, plan);
    assert_eq!(fingerprint_of(&again), fingerprint_of(&plan));
}

#[test]
fn real_signatures_and_keyed_hashes_give_the_same_verdicts() {
    let hashed = outcome_of(&busy_plan(1));
    let signed = outcome_of(&Plan { crypto: Crypto::Ed25519, ..busy_plan(1) });
    assert_eq!(signed.verdicts, hashed.verdicts);
    assert_eq!(signed.losses, hashed.losses);
    assert_eq!((signed.intended, signed.dispatched), (hashed.intended, hashed.dispatched));
    assert_eq!((signed.events, signed.violations), (hashed.events, hashed.violations));
}

#[test]
fn cutting_an_action_moves_no_latency_of_another_link() {
    let mut plan = quiet_plan(4);
    plan.actions.push(burst(0, 100_000, 0, 1, Class::Application, 100));
    plan.actions.push(burst(1, 100_000, 2, 3, Class::Application, 100));
    plan.actions.push(burst(2, 100_000, 2, 3, Class::Control, 100));
    let arrivals = |plan: &Plan| {
        let watched = watch(plan);
        let delivered = watched.told.into_iter().filter(|told| told.node == Some(NodeId(1)));
        let arrivals = delivered.filter(|told| told.kind == EventKind::Dispatched);
        arrivals.map(|told| (told.at, told.text)).collect::<Vec<_>>()
    };
    let whole = arrivals(&plan);
    assert_eq!(whole.len(), 100);
    for cut in [1, 2] {
        let mut plan = plan.clone();
        plan.actions.remove(cut);
        assert_eq!(arrivals(&plan), whole);
    }
}

#[test]
fn cutting_a_message_moves_no_latency_of_the_others() {
    let mut plan = quiet_plan(2);
    // Far enough apart that no frame waits for another in its channel.
    for (id, class) in [(0, Class::Control), (1, Class::Storage)] {
        let mut action = burst(id, 100_000, 0, 1, class, 40);
        if let Act::Send(burst) = &mut action.act {
            burst.every_us = 3_000;
        }
        plan.actions.push(action);
    }
    let transits = |plan: &Plan| {
        let watched = watch(plan);
        let mut sent = std::collections::BTreeMap::new();
        let mut transits = Vec::new();
        for told in &watched.told {
            let words: Vec<&str> = told.text.split_whitespace().collect();
            match told.kind {
                EventKind::FrameSent => drop(sent.insert(words[5].to_owned(), told.at.0)),
                EventKind::FrameDelivered => transits.push((words[7].to_owned(), told.at.0 - sent[words[5]])),
                _ => {}
            }
        }
        transits.retain(|(message, _)| message.starts_with("1#"));
        transits
    };
    let whole = transits(&plan);
    assert_eq!(whole.len(), 40);
    plan.actions.remove(0);
    assert_eq!(transits(&plan), whole);
}

#[test]
fn a_poll_budget_that_is_too_small_ends_the_run() {
    let options = RunOptions { poll_budget: 1_000, ..RunOptions::default() };
    let cut = run(&busy_plan(1), options).expect("the plan runs");
    assert!(matches!(cut.cut, Some(Cut::Polls { limit: 1_000, last: Some(_) })), "{:?}", cut.cut);
    assert!(!cut.held() && cut.events > 0 && cut.covered.as_us() < 1_000_000);
    let whole = run(&busy_plan(1), RunOptions { poll_budget: 10_000_000, ..RunOptions::default() });
    assert_eq!(whole.expect("the plan runs").cut, None);
}

#[test]
fn a_run_is_interrupted_from_outside() {
    let stop = Arc::new(AtomicBool::new(false));
    let mut options = RunOptions { stop: Arc::clone(&stop), ..RunOptions::default() };
    let mut events = 0;
    options.ledger.sink = Some(Box::new(move |_| {
        events += 1;
        stop.store(events >= 500, Ordering::Relaxed);
    }));
    let outcome = run(&busy_plan(1), options).expect("the plan runs");
    assert_eq!(outcome.cut, Some(Cut::Interrupted));
    assert!((500..1_000).contains(&outcome.events), "{} events", outcome.events);
}

#[test]
fn a_plan_that_names_what_does_not_exist_is_not_run() {
    let crash =
        |node| FaultKind::Crash { node: NodeId(node), death: Death::Power, down_us: 0, survivors: None };
    let stalled = LinkFault::StallChannel { channel: 4 };
    let link = FaultKind::Link { from: NodeId(0), to: NodeId(1), one_way: false, fault: stalled };
    let phase = groundhog_sim::plan::Phase::Before;
    let elsewhere = When::Operation { node: NodeId(0), life: Life(0), operation: 1, phase };
    for (at, kind, says) in [
        (When::Time { us: 0 }, crash(9), "there is no node 9"),
        (When::Time { us: 0 }, link, "no channel 4"),
        (elsewhere, crash(1), "own death"),
    ] {
        let mut plan = quiet_plan(2);
        plan.faults.push(Fault { id: FaultId(0), at, until_us: None, kind });
        let error = run(&plan, RunOptions::default()).expect_err("the plan cannot be").to_string();
        assert!(error.contains(says), "{error}");
    }
}
