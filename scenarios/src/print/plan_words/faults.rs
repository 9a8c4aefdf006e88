//! A fault in words.

use super::{nth, time};
use groundhog_engine::streams::key::Table;
use groundhog_sim::ledger::words::{death_kind, record_label};
use groundhog_sim::plan::{
    ClockFault, DiskFault, DiskOperation, Fault, FaultKind, LinkFault, Phase, Plan, RecordOf, StoreAct, When,
};
use groundhog_sim::units::NodeId;

/// Its sentence.
pub(super) fn sentence(plan: &Plan, fault: &Fault) -> String {
    let what = what(fault);
    let when = when(fault);
    match &fault.kind {
        FaultKind::Crash { down_us, survivors, .. } => {
            let kept = survivors.as_ref().map_or_else(String::new, |survivors| {
                format!(", {} of {} pending changes survive", survivors.kept.len(), survivors.of)
            });
            format!("{what} {when}, down {}{kept}", time(*down_us))
        }
        FaultKind::Clock { fault: ClockFault::Step { .. } | ClockFault::BehindAtBoot { .. }, .. } => {
            // Both tell a moment, and last no time.
            format!("{what} {when}")
        }
        FaultKind::Store { act: StoreAct::LowerBudget { .. }, .. } => {
            format!("{what} {when}, until {}", time(fault.until_us.unwrap_or(plan.quiesce_us)))
        }
        FaultKind::Store { node, stopped_us, .. } => match stopped_us {
            0 => format!("{what} {when}, while it runs"),
            stopped => format!("{what} {when}, with {node} stopped for {}", time(*stopped)),
        },
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
                Some(Table::Sender) => " of sender records",
                Some(Table::Receiver) => " of receiver records",
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
            | FaultKind::Store { .. }
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
        FaultKind::Store { node, act, .. } => store_act(*node, act),
        FaultKind::StallHandler { node, class } => {
            format!("the {class} handler of {node} finishes nothing")
        }
        FaultKind::SlowProcessor { node, factor } => {
            format!("the processors of {node} are {factor} times slower")
        }
    }
}

/// An act on a store, as a sentence begins.
fn store_act(node: NodeId, act: &StoreAct) -> String {
    let record = |of: &RecordOf| format!("the record of {} at {node}", record_label(of));
    match act {
        StoreAct::RemoveRecord { of } => format!("{} is removed, and its marker stays,", record(of)),
        StoreAct::RemoveMarker { of } => format!("the marker of {} is removed", record(of)),
        StoreAct::Rename { of, to } => {
            format!("{} takes the name of that of {}", record(of), record_label(to))
        }
        StoreAct::UpperCase { of } => format!("{} takes its name in upper case", record(of)),
        StoreAct::Swap { of, with } => {
            format!("{} changes places with that of {}", record(of), record_label(with))
        }
        StoreAct::Truncate { of, to_bytes } => format!("{} is cut to {to_bytes} bytes", record(of)),
        StoreAct::FlipBit { of, bit } => format!("bit {bit} of {} is flipped", record(of)),
        StoreAct::Unreadable { of, sector } => format!("sector {sector} of {} goes bad", record(of)),
        StoreAct::RemoveStore => format!("the whole store of {node} is removed"),
        StoreAct::LowerBudget { to_bytes } => {
            format!(
                "the budget of the store of {node} is lowered to {} bytes",
                groundhog_reports::count(*to_bytes)
            )
        }
        StoreAct::Clear { of } => format!("an operator clears {}", record(of)),
        StoreAct::WithoutCharge { of } => format!("{} is of a build without charges", record(of)),
        StoreAct::SharedSnapshot => format!("the store of {node} holds the shared snapshot of an old build"),
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
