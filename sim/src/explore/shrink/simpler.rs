//! Simpler kinds of things: cheap signatures, a simpler disk, a process crash in place of a power failure.

use super::Over;
use super::search::Search;
use crate::plan::{
    Act, Crypto, Death, DiskFault, DiskProfile, Fault, FaultKind, LinkFault, Phase, Plan, When,
};

/// Signatures by keyed hash: the same verdicts for the same plan, in a tenth of the time.
pub(super) fn cheap_signatures(search: &mut Search<'_>) -> Result<(), Over> {
    let plan = Plan { crypto: Crypto::KeyedHash, ..search.best().clone() };
    search.try_one(plan)?;
    Ok(())
}

/// Without each flaw.
pub(super) fn flaws(search: &mut Search<'_>) -> Result<(), Over> {
    for place in (0..search.best().flaws.len()).rev() {
        let mut plan = search.best().clone();
        plan.flaws.remove(place);
        search.try_one(plan)?;
    }
    Ok(())
}

/// Everything whose kind can be simpler, one thing after the other.
pub(super) fn kinds(search: &mut Search<'_>) -> Result<(), Over> {
    cheap_signatures(search)?;
    let mut plan = search.best().clone();
    plan.limits.clear();
    search.try_one(plan)?;
    let mut plan = search.best().clone();
    plan.profile.disk = DiskProfile::Strict;
    search.try_one(plan)?;
    for place in 0..search.best().links.len() {
        let mut plan = search.best().clone();
        plan.links[place].ordered = true;
        search.try_one(plan)?;
    }
    for place in 0..search.best().actions.len() {
        let mut plan = search.best().clone();
        match &mut plan.actions[place].act {
            Act::Send(burst) => burst.via = None,
            Act::Replay { lane, .. } => *lane = None,
            Act::RotateDelegatee
            | Act::Flood(_)
            | Act::Reconnect(_)
            | Act::Signalling(_)
            | Act::PutBack(_) => {}
            Act::SecondRuntime(second) => second.lasts_us = None,
            Act::Mail(_) => {}
            Act::Join => {}
            Act::Leave { hand_off } => *hand_off = false,
        }
        search.try_one(plan)?;
    }
    for place in 0..search.best().faults.len() {
        let simpler = faults(&search.best().faults[place]);
        let with = |fault| {
            let mut plan = search.best().clone();
            plan.faults[place] = fault;
            plan
        };
        let candidates = simpler.into_iter().map(with).collect();
        search.try_any(candidates)?;
    }
    Ok(())
}

/// The simpler faults that may stand for one.
fn faults(fault: &Fault) -> Vec<Fault> {
    let mut found = Vec::new();
    let mut kind = |kind| found.push(Fault { kind, ..fault.clone() });
    match &fault.kind {
        FaultKind::Crash { node, down_us, death, .. } => {
            for death in [Death::Process, *death] {
                kind(FaultKind::Crash { node: *node, down_us: *down_us, death, survivors: None });
            }
        }
        FaultKind::Disk { node, fault: disk, operations, skip, count } => {
            let mut disk_fault = |fault, operations| {
                kind(FaultKind::Disk { node: *node, fault, operations, skip: *skip, count: *count });
            };
            disk_fault(*disk, Vec::new());
            match disk {
                DiskFault::FailedDirectoryFlush { read_only: true } => {
                    disk_fault(DiskFault::FailedDirectoryFlush { read_only: false }, operations.clone());
                }
                DiskFault::Stuck { fails: true } => {
                    disk_fault(DiskFault::Stuck { fails: false }, operations.clone());
                }
                _ => {}
            }
        }
        FaultKind::Link { from, to, fault: link, .. } => {
            kind(FaultKind::Link { from: *from, to: *to, one_way: false, fault: LinkFault::Partition });
            kind(FaultKind::Link { from: *from, to: *to, one_way: false, fault: *link });
        }
        FaultKind::Clock { .. }
        | FaultKind::StallHandler { .. }
        | FaultKind::SlowProcessor { .. }
        | FaultKind::Store { .. } => {}
    }
    if fault.until_us.is_some() {
        found.push(Fault { until_us: None, ..fault.clone() });
    }
    if let When::Operation { node, life, operation, phase: Phase::Partly } = fault.at {
        for phase in [Phase::After, Phase::Before] {
            found.push(Fault { at: When::Operation { node, life, operation, phase }, ..fault.clone() });
        }
    }
    found
}
