//! What levels do to a plan, and what they leave alone.

use super::tests::everything;
use super::with_levels;
use crate::plan::swarm::{Kind, Level, levels};
use crate::plan::{Act, Action, Draw, Fault, FaultKind, Plan, Scenario, generate, generate_swarm};
use crate::units::{ActionId, FaultId};
use std::collections::BTreeSet;

const SEEDS: u64 = 12;

/// Seeds within which every kind makes a difference: some need others beside them.
const MOST_SEEDS: u64 = 200;

/// A little of everything that nobody means.
fn scenario() -> Scenario {
    let mut scenario = everything(10, 2_000);
    scenario.sections.links.hubs = Draw::Fixed(2);
    scenario
}

/// The same, and acts of adversaries and of operators.
fn with_acts() -> Scenario {
    let mut scenario = scenario();
    let sections = &mut scenario.sections;
    (sections.adversaries.parties, sections.adversaries.party_slots) = (Draw::Fixed(1), Draw::Fixed(2));
    sections.adversaries.flood_relayed_per_mille = Draw::Fixed(500);
    sections.adversaries.flood_again_per_mille = Draw::Fixed(500);
    (sections.adversaries.flood_keys, sections.adversaries.forged_per_mille) =
        (Draw::Between(1, 9), Draw::Between(0, 500));
    for acts in [
        &mut sections.adversaries.rotations,
        &mut sections.adversaries.reconnects,
        &mut sections.adversaries.signals,
        &mut sections.adversaries.put_backs,
        &mut sections.adversaries.second_runtimes,
        &mut sections.store.records_removed,
        &mut sections.store.markers_removed,
        &mut sections.store.records_renamed,
        &mut sections.store.upper_case,
        &mut sections.store.records_swapped,
        &mut sections.store.records_truncated,
        &mut sections.store.bits_flipped,
        &mut sections.store.unreadable,
        &mut sections.store.unlisted,
        &mut sections.store.roots_removed,
        &mut sections.store.budgets_lowered,
        &mut sections.store.stores_removed,
        &mut sections.store.cleared_receivers,
        &mut sections.store.cleared_senders,
        &mut sections.store.without_charge,
        &mut sections.store.shared_snapshots,
    ] {
        *acts = Draw::Between(0, 1);
    }
    scenario
}

/// The same, and second runtimes, whose traffic moves nothing but itself.
fn with_seconds() -> Scenario {
    let mut scenario = scenario();
    scenario.sections.adversaries.second_runtimes = Draw::Between(0, 1);
    scenario
}

/// The same on a ring.
fn on_ring() -> Scenario {
    let mut scenario = everything(10, 2_000);
    let ring = &mut scenario.sections.ring;
    (ring.successors, ring.outside, ring.leaves) = (Draw::Fixed(3), Draw::Between(0, 3), Draw::Between(0, 3));
    scenario
}

/// The same with mail.
fn with_mail() -> Scenario {
    let mut scenario = everything(10, 20_000);
    scenario.sections.links.hubs = Draw::Fixed(2);
    let mail = &mut scenario.sections.mail;
    (mail.lifetime_ms, mail.drain_every_ms) = (Draw::Fixed(600_000), Draw::Fixed(100));
    for count in [&mut mail.absences, &mut mail.stalls, &mut mail.resets, &mut mail.floods] {
        *count = Draw::Between(0, 2);
    }
    for chance in [
        &mut mail.dies_per_mille,
        &mut mail.carrier_lost_per_mille,
        &mut mail.unreachable_per_mille,
        &mut mail.refusing_per_mille,
        &mut mail.lost_per_mille,
    ] {
        *chance = Draw::Fixed(300);
    }
    scenario
}

/// The scenario that has some of a kind.
fn scenario_of(kind: Kind) -> Scenario {
    match reach(kind) {
        Reach::Members => on_ring(),
        Reach::Mail => with_mail(),
        Reach::Floods | Reach::Acts | Reach::Stores => with_acts(),
        Reach::Seconds => with_seconds(),
        _ => scenario(),
    }
}

/// The plan with one kind at a level, and every other as the scenario says.
fn at(kind: Kind, level: Level, seed: u64) -> Plan {
    with_levels(&scenario_of(kind), seed, |_| [(kind, level)].into())
}

/// What a kind's level may change in a plan.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Reach {
    /// It adds faults of its own, and moves nothing that stands without them.
    Faults,
    /// The same with acts of adversaries.
    Replays,
    /// What links are like.
    Links,
    /// What the messages of a burst are like; and with how many copies there are, which of them is replayed.
    Messages,
    /// Deaths: one that is aimed at a life is aimed at the next one after those before it.
    Deaths,
    /// Clocks: what one error uses up of a node's tolerance is not left for the next.
    Clocks,
    /// Traffic, and with it which nodes and links are busy.
    Traffic,
    /// What floods send.
    Floods,
    /// Acts of adversaries that are no traffic.
    Acts,
    /// Who joins and leaves, and what a newcomer sends.
    Members,
    /// Scenes of mail, which share the time that there is.
    Mail,
    /// Acts on stores, each on a node that no other strikes, and traffic of their streams after it.
    Stores,
    /// More nodes, and their traffic.
    Seconds,
}

const fn reach(kind: Kind) -> Reach {
    match kind {
        Kind::UnorderedChannels | Kind::SteadyLoss | Kind::SteadyDuplicates => Reach::Links,
        Kind::Copies | Kind::CancelledReservations | Kind::CancelledAdmissions => Reach::Messages,
        Kind::DeathsInCommit | Kind::DeathsInOpen | Kind::DeathsAtOperations | Kind::DeathsAtPolls => {
            Reach::Deaths
        }
        Kind::DeathsAtTimes
        | Kind::FailingBatches
        | Kind::PowerAfterFailure
        | Kind::LostMarkers
        | Kind::DiskErrors
        | Kind::NoSpace
        | Kind::FailedFlushes
        | Kind::FailedDirectoryFlushes
        | Kind::ReadOnly
        | Kind::SlowDisks
        | Kind::StuckDisks
        | Kind::WriteBacks
        | Kind::Partitions
        | Kind::Losses
        | Kind::Duplicates
        | Kind::Delays
        | Kind::NarrowLinks
        | Kind::StalledChannels
        | Kind::StalledHandlers
        | Kind::DroppedConnections
        | Kind::SlowProcessors
        | Kind::ClockPauses => Reach::Faults,
        Kind::SceneClass | Kind::SceneChannel | Kind::SceneReceiver | Kind::Floods => Reach::Traffic,
        Kind::ClockOffsets
        | Kind::ClockDrift
        | Kind::WrongAtBoot
        | Kind::ClockSteps
        | Kind::ClockDriftTimes
        | Kind::ClockFreezes
        | Kind::Snapshots => Reach::Clocks,
        Kind::Replays => Reach::Replays,
        Kind::OriginFloods | Kind::ForgedFloods => Reach::Floods,
        Kind::Rotations | Kind::Reconnects | Kind::Signals | Kind::PutBacks => Reach::Acts,
        Kind::SecondRuntimes => Reach::Seconds,
        Kind::LateJoins | Kind::Leaves => Reach::Members,
        Kind::MailAbsences
        | Kind::MailDeaths
        | Kind::LostCarriers
        | Kind::UnreachableCarriers
        | Kind::RefusingApplications
        | Kind::LostMail
        | Kind::CustodyStalls
        | Kind::CustodyResets
        | Kind::MailFloods => Reach::Mail,
        Kind::RecordsRemoved
        | Kind::MarkersRemoved
        | Kind::RecordsRenamed
        | Kind::UpperCase
        | Kind::RecordsSwapped
        | Kind::RecordsTruncated
        | Kind::BitsFlipped
        | Kind::Unreadable
        | Kind::Unlisted
        | Kind::RootsRemoved
        | Kind::BudgetsLowered
        | Kind::StoresRemoved
        | Kind::ClearedReceivers
        | Kind::ClearedSenders
        | Kind::WithoutCharge
        | Kind::SharedSnapshots => Reach::Stores,
    }
}

fn unnumbered(faults: &[Fault]) -> Vec<Fault> {
    faults.iter().map(|fault| Fault { id: FaultId(0), ..fault.clone() }).collect()
}

fn acts(plan: &Plan, of: impl Fn(&Act) -> bool) -> Vec<Action> {
    let acts = plan.actions.iter().filter(|action| of(&action.act));
    acts.map(|action| Action { id: ActionId(0), ..action.clone() }).collect()
}

/// Whether an act is one that a kind of this reach adds.
const fn is_own(reach: Reach, act: &Act) -> bool {
    match reach {
        Reach::Floods => matches!(act, Act::Flood(_)),
        Reach::Acts => matches!(act, Act::Reconnect(_) | Act::Signalling(_) | Act::PutBack(_)),
        Reach::Mail | Reach::Stores => matches!(act, Act::Mail(_) | Act::Send(_) | Act::Replay { .. }),
        _ => false,
    }
}

fn is_replay(act: &Act) -> bool {
    matches!(act, Act::Replay { .. })
}

/// Bursts without what a level of copies or cancellations changes in them.
fn plain_bursts(plan: &Plan) -> Vec<Action> {
    let mut bursts = acts(plan, |act| !is_replay(act));
    for action in &mut bursts {
        if let Act::Send(burst) = &mut action.act {
            (burst.copies, burst.cancel_reserve_every, burst.cancel_admit_every) = (1, 0, 0);
        }
    }
    bursts
}

/// Whether every item of `few`, as often as it stands there, stands in `many`.
fn within<T: PartialEq + Clone>(few: &[T], many: &[T]) -> bool {
    let mut left = many.to_vec();
    few.iter().all(|item| {
        let place = left.iter().position(|other| other == item);
        place.map(|place| left.swap_remove(place)).is_some()
    })
}

fn faults_of(plan: &Plan, of: impl Fn(&FaultKind) -> bool) -> Vec<Fault> {
    unnumbered(&plan.faults).into_iter().filter(|fault| of(&fault.kind)).collect()
}

/// Asserts that `more` is `less` and what its kind adds.
fn assert_nothing_else_moved(kind: Kind, less: &Plan, more: &Plan) {
    let (reach, seed) = (reach(kind), less.seed);
    let same = |one: bool, what: &str| assert!(one, "{kind}, seed {seed}: {what} moved");
    same(matches!(reach, Reach::Links | Reach::Seconds) || less.links == more.links, "links");
    same(matches!(reach, Reach::Clocks | Reach::Seconds) || less.nodes == more.nodes, "nodes");
    same(less.profile == more.profile && less.engines == more.engines, "machines");
    same((less.quiesce_us, less.end_us) == (more.quiesce_us, more.end_us), "times");
    match reach {
        Reach::Traffic | Reach::Members | Reach::Seconds => {
            return same(within(&plain_bursts(less), &plain_bursts(more)), "bursts");
        }
        Reach::Floods | Reach::Acts | Reach::Mail | Reach::Stores => {
            let others = |plan| acts(plan, |act| !is_own(reach, act));
            same(others(less) == others(more), "other acts");
        }
        Reach::Messages => same(plain_bursts(less) == plain_bursts(more), "bursts"),
        _ => same(acts(less, |act| !is_replay(act)) == acts(more, |act| !is_replay(act)), "bursts"),
    }
    match reach {
        Reach::Replays => same(within(&acts(less, is_replay), &acts(more, is_replay)), "replays"),
        Reach::Messages => same(acts(less, is_replay).len() == acts(more, is_replay).len(), "replays"),
        Reach::Mail | Reach::Stores => {}
        _ => same(acts(less, is_replay) == acts(more, is_replay), "replays"),
    }
    let (faults, all) = (unnumbered(&less.faults), unnumbered(&more.faults));
    let death = |kind: &FaultKind| matches!(kind, FaultKind::Crash { .. });
    let clock = |kind: &FaultKind| matches!(kind, FaultKind::Clock { .. });
    match reach {
        Reach::Faults => same(within(&faults, &all), "faults"),
        Reach::Deaths => {
            same(faults_of(less, |kind| !death(kind)) == faults_of(more, |kind| !death(kind)), "faults")
        }
        Reach::Clocks => {
            // A snapshot comes with a death, and none comes where no tolerance is left for it.
            let others = |plan| faults_of(plan, |fault| !clock(fault) && !death(fault));
            same(others(less) == others(more), "faults");
        }
        // Who is busy has changed, and with it whom other kinds strike; never which links.
        Reach::Mail | Reach::Stores => {
            let links = |plan| faults_of(plan, |fault| matches!(fault, FaultKind::Link { .. }));
            same(links(less) == links(more), "faults of links");
        }
        _ => same(faults == all, "faults"),
    }
}

#[test]
fn one_kinds_level_moves_nothing_of_any_other_kind() {
    for kind in Kind::ALL {
        let mut moved = [false; 2];
        for seed in 0..MOST_SEEDS {
            if seed >= SEEDS && moved == [true; 2] {
                break;
            }
            let [off, light, heavy] = Level::ALL.map(|level| at(*kind, level, seed));
            assert_nothing_else_moved(*kind, &off, &light);
            assert_nothing_else_moved(*kind, &light, &heavy);
            let differ =
                |one: &Plan, other: &Plan| Plan { swarm: other.swarm.clone(), ..one.clone() } != *other;
            moved[0] |= differ(&off, &light);
            moved[1] |= differ(&light, &heavy);
        }
        assert_eq!(moved, [true; 2], "{kind}: its levels are one and the same");
    }
}

#[test]
fn a_seed_without_swarm_and_one_in_which_all_is_light_have_one_plan() {
    let scenarios = [scenario(), with_acts(), on_ring(), with_mail()];
    for (seed, scenario) in (0..SEEDS).flat_map(|seed| scenarios.iter().map(move |of| (seed, of))) {
        let plain = generate(scenario, seed);
        assert!(!plain.to_json().contains("swarm"), "a plan without swarm says nothing of it");
        let all_light = Kind::ALL.iter().map(|kind| (*kind, Level::Light)).collect();
        let light = with_levels(scenario, seed, |_| all_light);
        assert_eq!(Plan { swarm: plain.swarm.clone(), ..light }, plain);
    }
}

#[test]
fn a_plan_says_what_its_seed_has_and_reads_it_back() {
    let scenario = scenario();
    let plan = generate_swarm(&scenario, 3);
    assert_eq!(plan.swarm, levels(&scenario, 3));
    let scenarios = [scenario, with_acts(), on_ring(), with_mail()];
    let all: BTreeSet<Kind> =
        scenarios.iter().flat_map(|scenario| generate_swarm(scenario, 3).swarm.into_keys()).collect();
    assert_eq!(all.len(), Kind::ALL.len(), "these scenarios have a little of everything");
    let text = plan.to_json();
    assert!(text.contains("\"swarm\": {") && text.contains("\"partitions\": \""), "{text}");
    assert_eq!(Plan::from_json(&text).map_err(|error| error.to_string()), Ok(plan));
    let unknown = text.replace("\"partitions\": \"", "\"partition\": \"");
    let refused = Plan::from_json(&unknown).expect_err("there is no such kind").to_string();
    assert!(refused.contains("unknown variant `partition`"), "{refused}");
}

#[test]
fn a_seed_that_is_quiet_has_the_kinds_that_are_left_in_it() {
    let mut scenario = scenario();
    scenario.sections.scenes.quiet_per_mille = Draw::Fixed(1_000);
    let plan = generate_swarm(&scenario, 1);
    assert!(plan.swarm.contains_key(&Kind::SceneClass) && plan.swarm.contains_key(&Kind::Copies));
    assert!(!plan.swarm.contains_key(&Kind::Partitions) && !plan.swarm.contains_key(&Kind::ClockSteps));
}

#[test]
fn what_is_off_is_not_in_the_plan() {
    let scenarios = [scenario(), with_acts(), on_ring(), with_mail()];
    let all_off = Kind::ALL.iter().map(|kind| (*kind, Level::Off)).collect::<crate::plan::swarm::Levels>();
    for (seed, scenario) in (0..SEEDS).flat_map(|seed| scenarios.iter().map(move |of| (seed, of))) {
        let plan = with_levels(scenario, seed, |_| all_off.clone());
        assert_eq!(plan.faults, []);
        assert!(plan.nodes.iter().all(|node| node.clock == crate::plan::ClockPlan::default()));
        let quiet = |link: &crate::plan::LinkPlan| {
            link.ordered && link.loss_per_mille + link.duplicate_per_mille == 0
        };
        assert!(plan.links.iter().all(quiet));
        for action in &plan.actions {
            let Act::Send(burst) = &action.act else {
                assert_eq!(action.act, Act::RotateDelegatee);
                continue;
            };
            assert_eq!((burst.copies, burst.cancel_reserve_every, burst.cancel_admit_every), (1, 0, 0));
        }
    }
}

#[test]
fn a_limits_ceiling_grows_with_what_is_heavy_and_never_from_nothing() {
    let mut scenario = scenario();
    scenario.limits = [("failed-batch-landed".to_owned(), 5), ("cancelled-caller".to_owned(), 0)].into();
    let ceilings = |level| {
        let plan = with_levels(&scenario, 1, |_| [(Kind::FailingBatches, level)].into());
        (plan.limits["failed-batch-landed"], plan.limits["cancelled-caller"])
    };
    assert_eq!([Level::Off, Level::Light].map(ceilings), [(5, 0); 2]);
    assert_eq!(ceilings(Level::Heavy), (5 * u64::from(Kind::FailingBatches.heavy()), 0));
}
