//! How large a plan is: as people read it, and as the shrinker weighs it.

use super::numbers::{cost, numbers};
use crate::plan::{
    Act, Crypto, Death, DiskFault, DiskProfile, Fault, FaultKind, LinkFault, Phase, Plan, When,
};

/// How large a plan is, for people.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Size {
    /// Its actions.
    pub actions: usize,
    /// Messages that they send, copies not counted.
    pub messages: u64,
    /// Its faults.
    pub faults: usize,
    /// Its nodes.
    pub nodes: usize,
    /// Simulated time that it covers, in microseconds.
    pub covered_us: u64,
}

impl Size {
    /// The size of a plan.
    #[must_use]
    pub fn of(plan: &Plan) -> Self {
        let count = |act: &Act| if let Act::Send(burst) = act { u64::from(burst.count) } else { 0 };
        Self {
            actions: plan.actions.len(),
            messages: plan.actions.iter().map(|action| count(&action.act)).sum(),
            faults: plan.faults.len(),
            nodes: plan.nodes.len(),
            covered_us: plan.end_us,
        }
    }
}

/// What a step must make less of, in this order: a lighter plan is simpler to read. Since every accepted step makes it
/// less, and it cannot become less for ever, shrinking ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Weight {
    /// Actions and faults.
    items: usize,
    nodes: usize,
    links: usize,
    flaws: usize,
    frames: u64,
    /// Things that are not the simplest of their kind.
    kinds: u64,
    /// How long its numbers are, apart from those that are what they always are.
    numbers: u64,
}

impl Weight {
    pub(super) fn of(plan: &Plan) -> Self {
        let frames = |act: &Act| match act {
            Act::Send(burst) => u64::from(burst.count) * u64::from(burst.copies),
            Act::Flood(flood) => u64::from(flood.count),
            Act::Signalling(signalling) => u64::from(signalling.count),
            Act::RotateDelegatee | Act::Replay { .. } | Act::Reconnect(_) | Act::PutBack(_) => 1,
            Act::SecondRuntime(_) => 1,
            Act::Mail(act) => act.mails(),
            Act::Join | Act::Leave { .. } => 1,
        };
        let mut sum = 0;
        numbers(&mut plan.clone(), &mut |number, resting| sum += cost(number.get(), resting));
        Self {
            items: plan.actions.len() + plan.faults.len(),
            nodes: plan.nodes.len(),
            links: plan.links.len(),
            flaws: plan.flaws.len(),
            frames: plan.actions.iter().map(|action| frames(&action.act)).sum(),
            kinds: kinds(plan),
            numbers: sum,
        }
    }
}

fn kinds(plan: &Plan) -> u64 {
    let act = |act: &Act| match act {
        Act::Send(burst) => u64::from(burst.via.is_some()),
        Act::Replay { lane, .. } => u64::from(lane.is_some()),
        Act::Flood(flood) => u64::from(flood.via.is_some()) + u64::from(flood.forgery.is_some()),
        Act::RotateDelegatee | Act::Reconnect(_) | Act::Signalling(_) | Act::PutBack(_) => 0,
        Act::SecondRuntime(second) => u64::from(second.lasts_us.is_some()),
        Act::Mail(_) => 0,
        Act::Join => 0,
        Act::Leave { hand_off } => u64::from(*hand_off),
    };
    u64::from(plan.crypto == Crypto::Ed25519)
        + u64::from(plan.profile.disk == DiskProfile::Ordered)
        + plan.limits.len() as u64
        + plan.links.iter().map(|link| u64::from(!link.ordered)).sum::<u64>()
        + plan.actions.iter().map(|action| act(&action.act)).sum::<u64>()
        + plan.faults.iter().map(fault_kinds).sum::<u64>()
}

fn fault_kinds(fault: &Fault) -> u64 {
    let kind = match &fault.kind {
        FaultKind::Crash { death, survivors, .. } => {
            u64::from(*death == Death::Power) + u64::from(survivors.is_some())
        }
        FaultKind::Disk { fault, operations, .. } => {
            let sort = match fault {
                DiskFault::FailedDirectoryFlush { read_only: true } | DiskFault::Stuck { fails: true } => 1,
                _ => 0,
            };
            sort + operations.len() as u64
        }
        FaultKind::Link { one_way, fault, .. } => {
            u64::from(*one_way) + u64::from(!matches!(fault, LinkFault::Partition))
        }
        FaultKind::Clock { .. }
        | FaultKind::StallHandler { .. }
        | FaultKind::SlowProcessor { .. }
        | FaultKind::Store { .. } => 0,
    };
    kind + u64::from(fault.until_us.is_some()) + trigger(fault)
}

/// A death is simplest where it is told by what its node was doing, anything else where it is told by a time.
fn trigger(fault: &Fault) -> u64 {
    let is_death = matches!(fault.kind, FaultKind::Crash { .. });
    match fault.at {
        When::Time { .. } => {
            if is_death {
                4
            } else {
                0
            }
        }
        When::Step { table, .. } => u64::from(!is_death) * 4 + u64::from(table.is_some()),
        When::Operation { phase, .. } => 8 + u64::from(phase == Phase::Partly),
        When::Poll { .. } => 12,
    }
}
