//! Every number of a plan, with the value that it has where nothing is special about it, and how hard it is to read.
//!
//! Promise: what is simplest depends on the number alone; a new field of the format is one line here.

use crate::plan::{
    Act, ClockFault, Defaults, DiskFault, Fault, FaultKind, LinkFault, MailAct, Plan, Sections, When,
};
use std::sync::LazyLock;

/// A number of any width.
pub(super) trait Number {
    fn get(&self) -> i128;
    /// Sets it, if it has room for the value.
    fn set(&mut self, value: i128) -> bool;
}

macro_rules! number {
    ($($width:ty),*) => { $(
        impl Number for $width {
            fn get(&self) -> i128 {
                i128::from(*self)
            }

            fn set(&mut self, value: i128) -> bool {
                <$width>::try_from(value).map(|value| *self = value).is_ok()
            }
        }
    )* };
}

number!(u8, u16, u32, u64, i32, i64);

/// How hard a number is to read: nothing where it is what it always is, else by its length, then by its digits before
/// the trailing zeros.
pub(super) fn cost(value: i128, resting: i128) -> u64 {
    if value == resting {
        return 0;
    }
    let magnitude = value.unsigned_abs();
    let bits = u64::from(u128::BITS - magnitude.leading_zeros());
    1 + 8 * bits + u64::from(digits_that_count(magnitude)) + u64::from(value < 0)
}

fn digits_that_count(mut magnitude: u128) -> u32 {
    while magnitude > 0 && magnitude.is_multiple_of(10) {
        magnitude /= 10;
    }
    magnitude.checked_ilog10().map_or(0, |log| log + 1)
}

/// Every value that may be simpler than one, simplest first.
pub(super) fn simpler_than(value: i128, resting: i128) -> Vec<i128> {
    let magnitude = value.unsigned_abs().min(u128::from(u64::MAX)).cast_signed();
    let sign = if value < 0 { -1 } else { 1 };
    let mut found = vec![0, 1, 2, 3, resting];
    let mut power = 1;
    while power <= magnitude {
        found.extend([1, 2, 5].map(|digit| sign * digit * power));
        if power * 100 > magnitude {
            // The value itself, rounded down and up to its first digits.
            let down = magnitude / power * power;
            found.extend([sign * down, sign * (down + power)]);
        }
        power *= 10;
    }
    found.extend([sign * (magnitude / 2), sign * (magnitude - 1)]);
    let (before, size) = (cost(value, resting), value.unsigned_abs());
    found.retain(|other| {
        let cost = cost(*other, resting);
        cost < before || (cost == before && other.unsigned_abs() < size)
    });
    found.sort_unstable_by_key(|other| (cost(*other, resting), *other));
    found.dedup();
    found
}

/// The values of engines, machines and links where a scenario says nothing.
static USUAL: LazyLock<Sections> = LazyLock::new(|| {
    let Ok(sections) = Sections::read(&mut Defaults);
    sections
});

type Visit<'v> = dyn FnMut(&mut dyn Number, i128) + 'v;

/// Shows every number of a plan and the value that it has where nothing is special about it, always in the same order.
/// Seeds are not among them.
pub(super) fn numbers(plan: &mut Plan, visit: &mut Visit<'_>) {
    visit(&mut plan.end_us, 0);
    visit(&mut plan.quiesce_us, 0);
    of_actions(plan, visit);
    for (fault, place) in plan.faults.iter_mut().zip(0..) {
        visit(&mut fault.id.0, place);
        of_fault(fault, visit);
    }
    of_nodes_and_links(plan, visit);
    of_machines(plan, visit);
}

fn of_machines(plan: &mut Plan, visit: &mut Visit<'_>) {
    let usual = |draw: &crate::plan::Draw, unit: i128| i128::from(draw.bounds().0) * unit;
    let (machines, bounds) = (&USUAL.machines, &USUAL.engines);
    let latency = &mut plan.profile.disk_latency;
    visit(&mut latency.metadata_ns, usual(&machines.metadata_us, 1_000));
    visit(&mut latency.transfer_ns, usual(&machines.transfer_us, 1_000));
    visit(&mut latency.flush_ns, usual(&machines.flush_us, 1_000));
    visit(&mut latency.flush_directory_ns, usual(&machines.flush_directory_us, 1_000));
    visit(&mut latency.jitter_per_mille, 0);
    let costs = &mut plan.profile.costs;
    visit(&mut costs.signature_ns, usual(&machines.signature_ns, 1));
    visit(&mut costs.verification_ns, usual(&machines.verification_ns, 1));
    visit(&mut costs.hash_kib_ns, usual(&machines.hash_kib_ns, 1));
    visit(&mut costs.code_kib_ns, usual(&machines.code_kib_ns, 1));
    visit(&mut costs.handler_ns, usual(&machines.handler_ns, 1));
    visit(&mut plan.profile.disk_capacity_bytes, 0);
    let engines = &mut plan.engines;
    visit(&mut engines.network_id, usual(&bounds.network_id, 1));
    visit(&mut engines.stream_capacity, usual(&bounds.stream_capacity, 1));
    visit(&mut engines.store_budget_bytes, usual(&bounds.store_budget_bytes, 1));
    visit(&mut engines.delegation_lifetime_ms, usual(&bounds.delegation_lifetime_ms, 1));
    visit(&mut engines.transaction_lifetime_ms, usual(&bounds.transaction_lifetime_ms, 1));
    visit(&mut engines.clock_tolerance_ms, usual(&bounds.clock_tolerance_ms, 1));
}

fn of_nodes_and_links(plan: &mut Plan, visit: &mut Visit<'_>) {
    for node in &mut plan.nodes {
        visit(&mut node.cores, i128::from(USUAL.machines.cores.bounds().0));
        visit(&mut node.clock.offset_ms, 0);
        visit(&mut node.clock.drift_ppm, 0);
        visit(&mut node.clock.wrong_at_boot_ms, 0);
        visit(&mut node.clock.corrected_after_us, 0);
    }
    for link in &mut plan.links {
        visit(&mut link.jitter_us, 0);
        visit(&mut link.latency_us, i128::from(USUAL.links.latency_us.bounds().0));
        visit(&mut link.bandwidth_bytes_per_s, 0);
        visit(&mut link.loss_per_mille, 0);
        visit(&mut link.duplicate_per_mille, 0);
        visit(&mut link.channels, 1);
    }
}

fn of_actions(plan: &mut Plan, visit: &mut Visit<'_>) {
    for (action, place) in plan.actions.iter_mut().zip(0..) {
        visit(&mut action.id.0, place);
        visit(&mut action.at_us, 0);
        match &mut action.act {
            Act::Send(burst) => {
                visit(&mut burst.count, 1);
                visit(&mut burst.copies, 1);
                visit(&mut burst.every_us, 0);
                visit(&mut burst.copy_every_us, 0);
                visit(&mut burst.bytes, 0);
                visit(&mut burst.cancel_reserve_every, 0);
                visit(&mut burst.cancel_admit_every, 0);
                visit(&mut burst.cancel_after_us, 0);
                visit(&mut burst.envelopes, 0);
            }
            Act::RotateDelegatee => {}
            Act::Mail(act) => match act {
                MailAct::Lose | MailAct::LoseOne | MailAct::Taking { after_us: None } => {}
                MailAct::Unreachable { for_us } => visit(for_us, 0),
                MailAct::Taking { after_us: Some(after_us) } => visit(after_us, 0),
                MailAct::Flood { mails, every_us } => {
                    visit(mails, 1);
                    visit(every_us, 0);
                }
            },
            Act::Join | Act::Leave { .. } => {}
            Act::Replay { frame, .. } => {
                visit(&mut frame.sequence, 0);
                visit(&mut frame.copy, 0);
            }
            Act::Flood(flood) => {
                visit(&mut flood.keys, 0);
                visit(&mut flood.first_key, 0);
                visit(&mut flood.sequence, 0);
                visit(&mut flood.count, 1);
                visit(&mut flood.every_us, 0);
                visit(&mut flood.bytes, 0);
            }
            Act::Reconnect(reconnect) => visit(&mut reconnect.after_us, 0),
            Act::Signalling(signalling) => {
                visit(&mut signalling.keys, 0);
                visit(&mut signalling.count, 1);
                visit(&mut signalling.every_us, 0);
            }
            Act::SecondRuntime(second) => {
                second.lasts_us.iter_mut().for_each(|lasts_us| visit(lasts_us, 0));
            }
            Act::PutBack(put_back) => {
                visit(&mut put_back.taken_us, 0);
                visit(&mut put_back.down_us, 0);
            }
        }
    }
}

fn of_fault(fault: &mut Fault, visit: &mut Visit<'_>) {
    match &mut fault.at {
        When::Time { us } => visit(us, 0),
        When::Operation { life, operation, .. } => {
            visit(&mut life.0, 0);
            visit(operation, 0);
        }
        When::Step { life, count, .. } => {
            visit(&mut life.0, 0);
            visit(count, 1);
        }
        When::Poll { life, poll, .. } => {
            visit(&mut life.0, 0);
            visit(poll, 0);
        }
    }
    if let Some(until_us) = &mut fault.until_us {
        visit(until_us, 0);
    }
    match &mut fault.kind {
        FaultKind::Crash { down_us, .. } => visit(down_us, 0),
        FaultKind::Disk { fault, skip, count, .. } => {
            visit(skip, 0);
            visit(count, 1);
            if let DiskFault::Slow { factor } = fault {
                visit(factor, 2);
            }
        }
        FaultKind::Link { fault, .. } => match fault {
            LinkFault::Partition | LinkFault::DropConnection => {}
            LinkFault::Loss { per_mille } | LinkFault::Duplicate { per_mille } => visit(per_mille, 1_000),
            LinkFault::Delay { us } => visit(us, 0),
            LinkFault::Bandwidth { bytes_per_s } => visit(bytes_per_s, 1_000),
            LinkFault::StallChannel { channel } | LinkFault::StallReceiver { channel } => visit(channel, 0),
        },
        FaultKind::Clock { fault, .. } => match fault {
            ClockFault::Step { by_ms } => visit(by_ms, 0),
            ClockFault::Drift { ppm } => visit(ppm, 0),
            ClockFault::BehindAtBoot { by_ms } => visit(by_ms, 0),
            ClockFault::Freeze | ClockFault::Pause => {}
        },
        FaultKind::StallHandler { .. } => {}
        FaultKind::SlowProcessor { factor, .. } => visit(factor, 2),
        FaultKind::Store { stopped_us, .. } => visit(stopped_us, 1),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn simpler_values_come_simplest_first() {
        assert_eq!(simpler_than(0, 0), Vec::<i128>::new());
        assert_eq!(simpler_than(1_000, 1_000), Vec::<i128>::new());
        assert_eq!(simpler_than(2, 1), [1, 0]);
        assert!(simpler_than(6, 1).contains(&5), "a count of things is less by one");
        let of = simpler_than(48_213, 0);
        assert_eq!(of[0], 0);
        for expected in [50_000, 40_000, 48_000, 20_000, 10_000, 1] {
            assert!(of.contains(&expected), "{expected} is not among {of:?}");
        }
        for value in [3, 48_213, -1_234, 1_000_001, i128::from(u64::MAX)] {
            for other in simpler_than(value, 0) {
                assert!(cost(other, 0) <= cost(value, 0) && other != value, "{other} for {value}");
            }
        }
        assert!(simpler_than(-1_234, 0).contains(&-1_000));
    }
}
