//! A plan in words: one sentence for each action and fault, in the order in which they are written down.
//!
//! Promise: every number that decides what an action or fault does is in its sentence, exactly.

use groundhog_sim::ledger::words::death_kind;
use groundhog_sim::plan::{
    Act, Action, Burst, ClockFault, DiskFault, DiskOperation, Fault, FaultKind, FrameName, LinkFault, Phase,
    Plan, When,
};
use groundhog_sim::units::NodeId;

/// Its sentences: actions in order of time, then faults.
pub fn sentences(plan: &Plan) -> Vec<String> {
    let mut actions: Vec<&Action> = plan.actions.iter().collect();
    actions.sort_by_key(|action| (action.at_us, action.id));
    let actions = actions.into_iter().map(action);
    actions.chain(plan.faults.iter().map(|fault_of| fault(plan, fault_of))).collect()
}

/// Simulated time, exactly: `50 ms`, `1.5 s`, `48.213 ms`, `320 us`.
pub fn time(us: u64) -> String {
    let (unit_us, unit) = match us {
        0..1_000 => return format!("{us} us"),
        1_000_000.. if us.is_multiple_of(1_000) => (1_000_000, "s"),
        _ => (1_000, "ms"),
    };
    let (whole, rest) = (us / unit_us, us % unit_us);
    let decimals = format!("{:0width$}", rest, width = if unit_us == 1_000 { 3 } else { 6 });
    let decimals = decimals.trim_end_matches('0');
    if decimals.is_empty() { format!("{whole} {unit}") } else { format!("{whole}.{decimals} {unit}") }
}

/// `1 node`, `2 nodes`.
pub fn counted(count: u64, one: &str) -> String {
    let plural = if count == 1 { "" } else { "s" };
    format!("{}{plural}", format_args!("{} {one}", groundhog_reports::count(count)))
}

/// `1st`, `2nd`, `3rd`, `4th`.
fn nth(number: u64) -> String {
    let ending = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{ending}")
}

fn action(action: &Action) -> String {
    let (at, node) = (time(action.at_us), action.node);
    match &action.act {
        Act::Send(burst) => format!("at {at} {node} sends {}", sent(burst)),
        Act::RotateDelegatee => format!("at {at} {node} takes a fresh delegatee key"),
        Act::Replay { frame, to, lane } => {
            let lane = lane.map_or_else(String::new, |lane| format!(" on the {lane} lane"));
            format!("at {at} an adversary at {node} sends {} to {to} again{lane}", recorded(frame))
        }
    }
}

fn sent(burst: &Burst) -> String {
    let count = u64::from(burst.count);
    let mut text = format!("{} to {}", counted(count, &format!("{} message", burst.class)), burst.to);
    if let Some(via) = burst.via {
        text.push_str(&format!(" through {via}"));
    }
    if burst.bytes > 0 {
        let each = if count > 1 { " each" } else { "" };
        text.push_str(&format!(", {}{each}", counted(burst.bytes.into(), "byte")));
    }
    if count > 1 {
        let apart = match burst.every_us {
            0 => ", all at once".to_owned(),
            every_us => format!(", {} apart", time(every_us)),
        };
        text.push_str(&apart);
    }
    if burst.copies > 1 {
        let every = match burst.copy_every_us {
            0 => "at once".to_owned(),
            every_us => format!("every {}", time(every_us)),
        };
        text.push_str(&format!(", {} copies {every}", burst.copies));
    }
    for (every, what) in
        [(burst.cancel_reserve_every, "reservation"), (burst.cancel_admit_every, "admission")]
    {
        if every > 0 {
            let (caller, after) = (nth(every.into()), time(burst.cancel_after_us));
            let caller = if every == 1 { "every".to_owned() } else { format!("every {caller}") };
            text.push_str(&format!("; {caller} caller gives up its {what} after {after}"));
        }
    }
    text
}

fn recorded(frame: &FrameName) -> String {
    let FrameName { origin, destination, class, sequence, copy } = frame;
    let copy = if *copy == 0 { String::new() } else { format!(", copy {copy}") };
    format!("the recorded frame {class}#{sequence} of {origin} to {destination}{copy}")
}

fn fault(plan: &Plan, fault: &Fault) -> String {
    let what = what(fault);
    let when = when(fault);
    match &fault.kind {
        FaultKind::Crash { down_us, .. } => format!("{what} {when}, down {}", time(*down_us)),
        FaultKind::Clock { fault: ClockFault::Step { .. } | ClockFault::BehindAtBoot { .. }, .. } => {
            // Both tell a moment, and last no time.
            format!("{what} {when}")
        }
        _ => {
            let until_us = fault.until_us.unwrap_or(plan.quiesce_us);
            format!("{what} {when}, until {}", time(until_us))
        }
    }
}

fn when(fault: &Fault) -> String {
    match fault.at {
        When::Time { us } if lasts(&fault.kind) => format!("from {}", time(us)),
        // "... at its first boot after 20 ms".
        When::Time { us }
            if matches!(fault.kind, FaultKind::Clock { fault: ClockFault::BehindAtBoot { .. }, .. }) =>
        {
            time(us)
        }
        When::Time { us } => format!("at {}", time(us)),
        When::Operation { life, operation, phase, .. } => {
            let phase = match phase {
                Phase::Before => "before",
                Phase::Partly => "in the middle of",
                Phase::After => "just after",
            };
            format!("{phase} disk operation {operation}{}", in_life(life.0))
        }
        When::Step { life, step, table, count, .. } => {
            let table = match table {
                None => "",
                Some(groundhog_engine::streams::key::Table::Sender) => " of sender records",
                Some(groundhog_engine::streams::key::Table::Receiver) => " of receiver records",
            };
            format!("at its {} step {}{table}{}", nth(count.into()), step.0.id(), in_life(life.0))
        }
        When::Poll { life, poll, .. } => format!("at poll {poll}{}", in_life(life.0)),
    }
}

const fn lasts(kind: &FaultKind) -> bool {
    !matches!(
        kind,
        FaultKind::Crash { .. }
            | FaultKind::Clock { fault: ClockFault::Step { .. } | ClockFault::BehindAtBoot { .. }, .. }
    )
}

fn in_life(life: u32) -> String {
    if life == 0 { String::new() } else { format!(" in its {} life", nth(u64::from(life) + 1)) }
}

fn what(fault: &Fault) -> String {
    match &fault.kind {
        FaultKind::Crash { node, death, .. } => {
            format!("{} at {node}", death_kind(*death).replace('-', " "))
        }
        FaultKind::Disk { node, fault: disk, operations, skip, count } => {
            disk_fault(*node, *disk, operations, *skip, *count)
        }
        FaultKind::Link { from, to, one_way, fault } => link_fault(*from, *to, *one_way, *fault),
        FaultKind::Clock { node, fault } => match fault {
            ClockFault::Step { by_ms } => format!("the wall clock of {node} steps by {by_ms} ms"),
            ClockFault::Drift { ppm } => format!("the clocks of {node} run wrong by {ppm} ppm"),
            ClockFault::Freeze => format!("the wall clock of {node} stands still"),
            ClockFault::Pause => format!("the machine of {node} is paused"),
            ClockFault::BehindAtBoot { by_ms } => {
                format!("the wall clock of {node} is {by_ms} ms behind at its first boot after")
            }
        },
        FaultKind::StallHandler { node, class } => {
            format!("the {class} handler of {node} finishes nothing")
        }
        FaultKind::SlowProcessor { node, factor } => {
            format!("the processors of {node} are {factor} times slower")
        }
    }
}

fn disk_fault(node: NodeId, fault: DiskFault, operations: &[DiskOperation], skip: u32, count: u32) -> String {
    let does = match fault {
        DiskFault::Error => "fails".to_owned(),
        DiskFault::NoSpace => "finds no space".to_owned(),
        DiskFault::FailedFlush | DiskFault::FailedDirectoryFlush { read_only: false } => "fails".to_owned(),
        DiskFault::FailedDirectoryFlush { read_only: true } => {
            "fails and leaves the file system read-only".to_owned()
        }
        DiskFault::LyingFlush => "reports success and makes nothing durable".to_owned(),
        DiskFault::BadSector => "leaves a bad sector".to_owned(),
        DiskFault::FlippedBit => "flips a bit".to_owned(),
        DiskFault::WriteBack => "makes the kernel write back".to_owned(),
        DiskFault::Slow { factor } => format!("is {factor} times slower"),
        DiskFault::Stuck { fails: false } => "is stuck, then succeeds".to_owned(),
        DiskFault::Stuck { fails: true } => "is stuck, then fails".to_owned(),
    };
    let kinds: Vec<String> = operations.iter().map(|operation| kebab(*operation)).collect();
    let kinds = if kinds.is_empty() { struck(fault).to_owned() } else { kinds.join(" or ") };
    let (first, last) = (u64::from(skip) + 1, u64::from(skip) + u64::from(count));
    let which = match (skip, count) {
        (0, 0) => format!("each {kinds}"),
        (_, 0) => format!("each {kinds} from the {} on", nth(first)),
        (_, 1) => format!("the {} {kinds}", nth(first)),
        _ => format!("the {} to {} {kinds}", nth(first), nth(last)),
    };
    format!("{which} at the disk of {node} {does}")
}

/// What a fault strikes that names no operations: all that it can strike.
const fn struck(fault: DiskFault) -> &'static str {
    match fault {
        DiskFault::Error => "operation other than a flush",
        DiskFault::NoSpace => "operation that needs space",
        DiskFault::FailedFlush => "flush of a file",
        DiskFault::FailedDirectoryFlush { .. } => "flush of a directory",
        DiskFault::LyingFlush => "flush",
        DiskFault::BadSector | DiskFault::FlippedBit => "write",
        DiskFault::WriteBack | DiskFault::Slow { .. } | DiskFault::Stuck { .. } => "operation",
    }
}

/// As plans spell it, with spaces.
fn kebab(operation: DiskOperation) -> String {
    let spelled = serde_json::to_value(operation).ok();
    let spelled = spelled.as_ref().and_then(serde_json::Value::as_str).unwrap_or_default();
    spelled.replace('-', " ")
}

fn link_fault(from: NodeId, to: NodeId, one_way: bool, fault: LinkFault) -> String {
    let way = if one_way { format!("from {from} to {to}") } else { format!("between {from} and {to}") };
    match fault {
        LinkFault::Partition => format!("nothing passes {way}"),
        LinkFault::Loss { per_mille: 1_000 } => format!("every frame {way} is lost"),
        LinkFault::Loss { per_mille } => format!("{per_mille} of 1,000 frames {way} are lost"),
        LinkFault::Duplicate { per_mille: 1_000 } => format!("every frame {way} is delivered twice"),
        LinkFault::Duplicate { per_mille } => {
            format!("{per_mille} of 1,000 frames {way} are delivered twice")
        }
        LinkFault::Delay { us } => format!("frames {way} take {} longer", time(us)),
        LinkFault::Bandwidth { bytes_per_s } => {
            format!("the link {way} carries {} bytes a second", groundhog_reports::count(bytes_per_s))
        }
        LinkFault::StallChannel { channel } => format!("channel {channel} {way} delivers nothing"),
        LinkFault::StallReceiver { channel } => {
            format!("the receiver's transport holds what arrives on channel {channel} {way}")
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use groundhog_engine::host::observe::Step;
    use groundhog_engine::streams::key::{Class, Table};
    use groundhog_sim::plan::{Death, StepId};
    use groundhog_sim::units::{ActionId, FaultId, Life};

    fn plan() -> Plan {
        let mut plan =
            groundhog_sim::plan::yardstick::admissions(9, 1, groundhog_sim::plan::Crypto::KeyedHash);
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
            to: NodeId(1),
            via: None,
            class: Class::Application,
            count: 2,
            every_us: 0,
            bytes: 0,
            copies: 4,
            copy_every_us: 40_000,
            cancel_reserve_every: 0,
            cancel_admit_every: 0,
            cancel_after_us: 0,
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
        let frame = FrameName {
            origin: NodeId(0),
            destination: NodeId(1),
            class: Class::Control,
            sequence: 4,
            copy: 0,
        };
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
        let crash = |death| FaultKind::Crash { node, death, down_us: 20_000 };
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
}
