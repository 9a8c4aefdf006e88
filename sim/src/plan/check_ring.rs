//! Whether the ring of a plan is one.

use super::check::{PlanError, ensure};
use super::{Act, Action, Plan, Route};
use crate::units::NodeId;

/// The longest time between two maintenance passes: a day.
const MAX_MAINTENANCE_MS: u64 = 86_400_000;

/// The most successors with which no share of the table is lost to its hard bound (000, Load bounds).
const MAX_SUCCESSORS: u8 = 15;

impl Plan {
    /// Checks what the format's types do not.
    pub(super) fn check_ring(&self) -> Result<(), PlanError> {
        let Some(ring) = &self.ring else { return Ok(()) };
        let place = || "ring".to_owned();
        let within = |name: &str, value: u64, least: u64, most: u64| {
            ensure((least..=most).contains(&value), place, || {
                format!("{name} is {value}, and {least} to {most} is possible")
            })
        };
        within("successors", ring.successors.into(), 1, MAX_SUCCESSORS.into())?;
        within("maintenance_ms", ring.maintenance_ms, 1, MAX_MAINTENANCE_MS)?;
        within("hand_off_ms", ring.hand_off_ms, 0, MAX_MAINTENANCE_MS)?;
        within("hop_budget", ring.hop_budget.into(), 1, super::HOP_BUDGET.into())?;
        let links = &ring.links;
        for (name, (least, most), range) in [
            ("latency_us", links.latency_us, (0, super::check::MAX_WAIT_US)),
            ("jitter_us", links.jitter_us, (0, super::check::MAX_WAIT_US)),
            ("bandwidth_bytes_per_s", links.bandwidth_bytes_per_s, (0, u64::MAX)),
            ("channels", links.channels, (1, 4)),
        ] {
            ensure(least <= most, place, || format!("{name} goes from {least} to {most}"))?;
            within(name, least, range.0, range.1)?;
            within(name, most, range.0, range.1)?;
        }
        let shares = [links.ordered_per_mille, links.loss_per_mille, links.duplicate_per_mille];
        ensure(shares.iter().all(|share| *share <= 1_000), place, || "more than 1,000 of 1,000".to_owned())?;
        let exist = ring.outside.iter().all(|node| node.index() < self.nodes.len());
        ensure(exist && ring.outside.is_sorted_by(|one, next| one < next), place, || {
            "the nodes outside do not exist, are not in order, or one stands twice".to_owned()
        })
    }

    /// Checks an act that has to do with the ring.
    pub(super) fn check_membership(&self, action: &Action) -> Result<(), PlanError> {
        let place = || format!("action {}", action.id.0);
        let by_ring = match &action.act {
            Act::Join | Act::Leave { .. } => true,
            Act::Send(burst) => burst.route != Route::Links,
            _ => false,
        };
        ensure(!by_ring || self.ring.is_some(), place, || "the plan has no ring".to_owned())?;
        let late = matches!(action.act, Act::Leave { .. }) && action.at_us > self.quiesce_us;
        ensure(!late, place, || "a member leaves after quiesce_us".to_owned())
    }

    /// Whether two nodes can be connected.
    pub(super) fn can_connect(&self, listed: bool, one: NodeId, other: NodeId) -> bool {
        listed || (self.ring.is_some() && one != other && one.max(other).index() < self.nodes.len())
    }
}
