//! Two bursts become one, where one does what both did.

use super::Over;
use super::search::Search;
use crate::plan::{Act, Action, Burst, Plan};

/// Bursts beyond this many are not paired: leaving out comes first.
const MOST_BURSTS: usize = 24;

/// Merges pairs of bursts from one node to one node.
pub(super) fn bursts(search: &mut Search<'_>) -> Result<(), Over> {
    loop {
        let plan = search.best();
        let sends: Vec<usize> = (0..plan.actions.len())
            .filter(|place| matches!(plan.actions[*place].act, Act::Send(_)))
            .take(MOST_BURSTS)
            .collect();
        let pairs = sends.iter().flat_map(|first| sends.iter().map(move |second| (*first, *second)));
        let candidates = pairs.flat_map(|(first, second)| merged(plan, first, second)).collect();
        if search.try_any(candidates)?.is_none() {
            return Ok(());
        }
    }
}

/// The plans in which the burst at place `first` sends for the one at `second` too: in its own time between messages, or
/// with the second's first message when it was sent before.
fn merged(plan: &Plan, first: usize, second: usize) -> Vec<Plan> {
    let (one, other) = (&plan.actions[first], &plan.actions[second]);
    let (Act::Send(burst), Act::Send(more)) = (&one.act, &other.act) else { return Vec::new() };
    if first == second || one.node != other.node || burst.to != more.to || one.at_us > other.at_us {
        return Vec::new();
    }
    let apart_us = (other.at_us - one.at_us) / u64::from(burst.count).max(1);
    let count = burst.count.saturating_add(more.count);
    let copies = burst.copies.max(more.copies);
    let every = [apart_us, burst.every_us, more.every_us, 0];
    let merged = every.into_iter().map(|every_us| Burst { count, copies, every_us, ..burst.clone() });
    merged
        .map(|burst| {
            let mut plan = plan.clone();
            plan.actions[first] = Action { act: Act::Send(burst), ..one.clone() };
            plan.actions.remove(second);
            plan
        })
        .collect()
}
