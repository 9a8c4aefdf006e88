//! Less simulated time: the run ends where the law is broken, and nothing happens for no long time between.

use super::Over;
use super::cut;
use super::search::Search;
use crate::plan::{Act, FaultKind, Plan, When};
use std::collections::BTreeSet;

/// Gaps that are closed, at most: what has more of them is still to be cut.
const MOST_GAPS: usize = 64;

/// Nothing after the failure: the run ends at it, or as soon after it as the law is still broken.
pub(super) fn end_after_failure(search: &mut Search<'_>) -> Result<(), Over> {
    let Some(broken) = &search.seen().broken else { return Ok(()) };
    let at_us = broken.at.0.div_ceil(1_000);
    let plan = search.best();
    let mut candidates = vec![cut::until(plan, at_us), cut::until(plan, at_us.saturating_add(1))];
    // A law that is judged when the run ends breaks at its end, wherever that is.
    let last_us = instants(plan).into_iter().rfind(|us| *us < plan.quiesce_us).unwrap_or(0);
    let (settle_us, idle_us) = (plan.end_us - plan.quiesce_us, plan.quiesce_us - last_us);
    for share in [1_000, 100, 10, 4, 2] {
        let mut shorter = plan.clone();
        shorter.end_us = plan.quiesce_us + settle_us / share;
        candidates.push(cut::until(&shorter, shorter.end_us));
        candidates.push(moved(plan, plan.quiesce_us, idle_us - idle_us / share));
    }
    search.try_any(candidates)?;
    Ok(())
}

/// Every instant that the plan names, in order.
fn instants(plan: &Plan) -> BTreeSet<u64> {
    let mut instants = BTreeSet::from([plan.quiesce_us, plan.end_us]);
    instants.extend(plan.actions.iter().map(|action| action.at_us));
    for fault in &plan.faults {
        if let When::Time { us } = fault.at {
            instants.insert(us);
        }
        instants.extend(fault.until_us);
    }
    instants
}

/// Everything from `from_us` on happens earlier.
fn moved(plan: &Plan, from_us: u64, earlier_us: u64) -> Plan {
    let mut moved = plan.clone();
    let earlier = |us: &mut u64| {
        if *us >= from_us {
            *us = us.saturating_sub(earlier_us);
        }
    };
    moved.actions.iter_mut().for_each(|action| earlier(&mut action.at_us));
    for fault in &mut moved.faults {
        if let When::Time { us } = &mut fault.at {
            earlier(us);
        }
        fault.until_us.iter_mut().for_each(earlier);
    }
    earlier(&mut moved.quiesce_us);
    earlier(&mut moved.end_us);
    moved
}

/// Everything after the first action happens so many times sooner, and lasts so much shorter.
fn faster(plan: &Plan, times: u64) -> Plan {
    let mut faster = plan.clone();
    let first_us = plan.actions.iter().map(|action| action.at_us).min().unwrap_or(0);
    let sooner = |us: &mut u64| *us = first_us.min(*us) + us.saturating_sub(first_us) / times;
    let shorter = |us: &mut u64| *us /= times;
    for action in &mut faster.actions {
        sooner(&mut action.at_us);
        if let Act::Send(burst) = &mut action.act {
            let spans = [&mut burst.every_us, &mut burst.copy_every_us, &mut burst.cancel_after_us];
            spans.into_iter().for_each(shorter);
        }
        match &mut action.act {
            Act::Flood(flood) => shorter(&mut flood.every_us),
            Act::Signalling(signalling) => shorter(&mut signalling.every_us),
            Act::Reconnect(reconnect) => shorter(&mut reconnect.after_us),
            Act::PutBack(put_back) => sooner(&mut put_back.taken_us),
            Act::SecondRuntime(second) => second.lasts_us.iter_mut().for_each(shorter),
            Act::Mail(act) => act.spans().into_iter().for_each(shorter),
            Act::Send(_) | Act::RotateDelegatee | Act::Replay { .. } => {}
            Act::Join | Act::Leave { .. } => {}
        }
    }
    for fault in &mut faster.faults {
        if let When::Time { us } = &mut fault.at {
            sooner(us);
        }
        fault.until_us.iter_mut().for_each(sooner);
        if let FaultKind::Crash { down_us, .. } = &mut fault.kind {
            shorter(down_us);
        }
    }
    sooner(&mut faster.quiesce_us);
    sooner(&mut faster.end_us);
    faster
}

/// Everything happens sooner; then time in which nothing new happens becomes shorter, the earliest first.
pub(super) fn gaps(search: &mut Search<'_>) -> Result<(), Over> {
    for times in [1_000, 100, 10, 5, 2] {
        let candidate = faster(search.best(), times);
        search.try_one(candidate)?;
    }
    let mut before_us = 0;
    for _ in 0..MOST_GAPS {
        let plan = search.best();
        let Some(next_us) = instants(plan).into_iter().find(|us| *us > before_us) else { return Ok(()) };
        let gap_us = next_us - before_us;
        let shorter = |share: u64| moved(plan, next_us, gap_us - gap_us / share);
        let candidates = [1_000_000_000, 1_000, 100, 30, 10, 5, 3, 2].map(shorter).to_vec();
        search.try_any(candidates)?;
        let after = |us: &u64| *us > before_us;
        before_us = instants(search.best()).into_iter().find(after).unwrap_or(u64::MAX);
    }
    Ok(())
}
