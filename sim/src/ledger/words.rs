//! Faults in words, for shading a plot and for a timeline.

use super::event::MailStep;
use crate::plan::{ClockFault, Death, DiskFault, FaultKind, LinkFault, RecordOf, Survivors};
use groundhog_engine::streams::key::Table;

/// The kind of a fault, as counted: `power-failure`, `failed-flush`.
#[must_use]
pub const fn fault_kind(kind: &FaultKind) -> &'static str {
    match kind {
        FaultKind::Crash { death, .. } => death_kind(*death),
        FaultKind::Disk { fault, .. } => match fault {
            DiskFault::Error => "disk-error",
            DiskFault::NoSpace => "no-space",
            DiskFault::FailedFlush => "failed-flush",
            DiskFault::FailedDirectoryFlush { .. } => "failed-directory-flush",
            DiskFault::LyingFlush => "lying-flush",
            DiskFault::BadSector => "bad-sector",
            DiskFault::FlippedBit => "flipped-bit",
            DiskFault::WriteBack => "write-back",
            DiskFault::Slow { .. } => "slow-disk",
            DiskFault::Stuck { .. } => "stuck-disk",
        },
        FaultKind::Link { fault, .. } => match fault {
            LinkFault::Partition => "partition",
            LinkFault::Loss { .. } => "link-loss",
            LinkFault::Duplicate { .. } => "duplicates",
            LinkFault::Delay { .. } => "delay",
            LinkFault::Bandwidth { .. } => "low-bandwidth",
            LinkFault::StallChannel { .. } => "stalled-channel",
            LinkFault::StallReceiver { .. } => "stalled-receiver",
            LinkFault::DropConnection => "dropped-connection",
        },
        FaultKind::Clock { fault, .. } => match fault {
            ClockFault::Step { .. } => "clock-step",
            ClockFault::Drift { .. } => "clock-drift",
            ClockFault::Freeze => "clock-frozen",
            ClockFault::Pause => "machine-paused",
            ClockFault::BehindAtBoot { .. } => "clock-behind-at-boot",
        },
        FaultKind::StallHandler { .. } => "stalled-handler",
        FaultKind::SlowProcessor { .. } => "slow-processor",
        FaultKind::Store { act, .. } => act.id(),
    }
}

/// The kind of a death, as counted.
#[must_use]
pub const fn death_kind(death: Death) -> &'static str {
    match death {
        Death::Process => "process-crash",
        Death::Power => "power-failure",
    }
}

/// The name of a variant as plans and lines spell it: `FlushDirectory` is `flush-directory`.
#[must_use]
pub fn kebab(variant: impl std::fmt::Debug) -> String {
    let mut words = String::new();
    for (place, letter) in format!("{variant:?}").char_indices() {
        if letter.is_ascii_uppercase() && place > 0 {
            words.push('-');
        }
        words.push(letter.to_ascii_lowercase());
    }
    words
}

/// A record in words: `node 1->node 3/control sender`.
#[must_use]
pub fn record_label(of: &RecordOf) -> String {
    let table = match of.table {
        Table::Sender => "sender",
        Table::Receiver => "receiver",
    };
    format!("{}->{}/{} {table}", of.origin, of.destination, of.class)
}

/// A fault and its subject in words: `power failure, node 3`.
#[must_use]
pub fn fault_label(kind: &FaultKind) -> String {
    let words = fault_kind(kind).replace('-', " ");
    match kind {
        FaultKind::Crash { node, survivors: Some(Survivors { of, kept }), .. } => {
            format!("{words}, {node}, keeping {} of {of} changes", kept.len())
        }
        FaultKind::Crash { node, .. } | FaultKind::Clock { node, .. } => format!("{words}, {node}"),
        FaultKind::Store { node, act, .. } => match act.records().first() {
            None => format!("{words}, {node}"),
            Some(of) => format!("{words} {}, {node}", record_label(of)),
        },
        FaultKind::SlowProcessor { node, factor } => format!("{words} x{factor}, {node}"),
        FaultKind::StallHandler { node, class } => format!("{words}, {node} {class}"),
        FaultKind::Disk { node, fault, .. } => match fault {
            DiskFault::Slow { factor } => format!("{words} x{factor}, {node}"),
            _ => format!("{words}, {node}"),
        },
        FaultKind::Link { from, to, one_way, fault } => {
            let arrow = if *one_way { "->" } else { "<->" };
            let ends = format!("node {}{arrow}{}", from.0, to.0);
            match fault {
                LinkFault::Loss { per_mille } | LinkFault::Duplicate { per_mille } => {
                    format!("{words} {per_mille}/1000, {ends}")
                }
                LinkFault::Delay { us } => format!("{words} {us} us, {ends}"),
                LinkFault::Bandwidth { bytes_per_s } => format!("{words} {bytes_per_s} B/s, {ends}"),
                LinkFault::StallChannel { channel } | LinkFault::StallReceiver { channel } => {
                    format!("{words} {channel}, {ends}")
                }
                LinkFault::Partition | LinkFault::DropConnection => format!("{words}, {ends}"),
            }
        }
    }
}

/// What happens to mail, in words.
#[must_use]
pub fn mail_step(step: MailStep) -> String {
    match step {
        MailStep::Held { owner, copies, asked } => {
            format!("held by n{}, at {copies} of {asked} carriers", owner.0)
        }
        MailStep::HoldRefused { reason } => format!("not held: {reason}"),
        MailStep::Gone { why } => format!("kept by no carrier any more: {}", why.id()),
        MailStep::Taking => "is being taken".to_owned(),
        MailStep::Taken => "taken".to_owned(),
        MailStep::NotTaken { reason } => format!("not taken: {reason}"),
        MailStep::Stored => "still held at the end".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::NodeId;

    #[test]
    fn a_variant_reads_as_plans_spell_it() {
        let operation = crate::plan::DiskOperation::FlushDirectory;
        assert_eq!(kebab(operation), "flush-directory");
        assert_eq!(serde_json::to_string(&operation).expect("it is data"), "\"flush-directory\"");
        assert_eq!(kebab(Death::Power), "power");
    }

    #[test]
    fn a_label_says_kind_and_subject() {
        let (node, from, to) = (NodeId(3), NodeId(3), NodeId(5));
        let cases = [
            (
                FaultKind::Crash { node, death: Death::Power, down_us: 1, survivors: None },
                "power failure, node 3",
            ),
            (
                FaultKind::Crash {
                    node,
                    death: Death::Power,
                    down_us: 1,
                    survivors: Some(Survivors { of: 5, kept: vec![0, 3] }),
                },
                "power failure, node 3, keeping 2 of 5 changes",
            ),
            (FaultKind::Clock { node, fault: ClockFault::Step { by_ms: -4 } }, "clock step, node 3"),
            (FaultKind::SlowProcessor { node, factor: 4 }, "slow processor x4, node 3"),
            (
                FaultKind::Link { from, to, one_way: true, fault: LinkFault::Loss { per_mille: 20 } },
                "link loss 20/1000, node 3->5",
            ),
            (
                FaultKind::Link { from, to, one_way: false, fault: LinkFault::Partition },
                "partition, node 3<->5",
            ),
        ];
        for (kind, label) in cases {
            assert_eq!(fault_label(&kind), label);
        }
    }
}
