//! The plans of a sweep: the plan that is swept, and deaths in it.
//!
//! Promise: such a plan is an ordinary one. It can be run, shrunk and kept, and needs nothing of the sweep.

use crate::ledger::words;
use crate::plan::{Death, Fault, FaultKind, Phase, Plan, Survivors, When};
use crate::units::{FaultId, Life, NodeId};
use crate::world::disk::State;
use serde::{Deserialize, Serialize};
use std::fmt;

/// One death that a sweep adds to a plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SweptDeath {
    /// Where it strikes.
    pub at: When,
    /// How the life ends.
    pub death: Death,
    /// What of the disk survives.
    pub survivors: Survivors,
    /// What that leaves, as it was foreseen.
    pub state: State,
    /// Deaths of the plan's own that strike at the very place, and give way.
    pub instead_of: Vec<FaultId>,
}

impl SweptDeath {
    /// Whose life it ends, and which.
    pub(super) fn life(&self) -> (NodeId, Life) {
        match self.at {
            When::Operation { node, life, .. }
            | When::Step { node, life, .. }
            | When::Poll { node, life, .. } => (node, life),
            When::Time { .. } => unreachable!("a sweep strikes at places"),
        }
    }
}

impl fmt::Display for SweptDeath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (node, Life(life)) = self.life();
        let death = words::death_kind(self.death).replace('-', " ");
        write!(f, "{death} of {node} in life {life} ")?;
        match self.at {
            When::Operation { operation, phase: Phase::Before, .. } => {
                write!(f, "before operation {operation}")?
            }
            When::Operation { operation, phase: Phase::Partly, .. } => {
                write!(f, "within operation {operation}")?
            }
            When::Operation { operation, phase: Phase::After, .. } => {
                write!(f, "after operation {operation}")?
            }
            When::Step { step, count, .. } => write!(f, "at step {} {count}", step.0.id())?,
            When::Time { .. } | When::Poll { .. } => unreachable!("a sweep strikes at operations and steps"),
        }
        match self.survivors.of {
            0 => Ok(()),
            of => write!(f, ", keeping {} of {of} changes", self.survivors.kept.len()),
        }
    }
}

/// A plan with deaths added to it, each of which keeps its node down for so long.
#[must_use]
pub fn struck(plan: &Plan, deaths: &[SweptDeath], down_us: u64) -> Plan {
    let ids = first_id(plan)..;
    let mut plan = plan.clone();
    plan.faults.retain(|fault| !deaths.iter().any(|death| death.instead_of.contains(&fault.id)));
    for (death, id) in deaths.iter().zip(ids) {
        let survivors = Some(death.survivors.clone());
        let kind = FaultKind::Crash { node: death.life().0, death: death.death, down_us, survivors };
        plan.faults.push(Fault { id: FaultId(id), at: death.at, until_us: None, kind });
    }
    plan
}

/// An id above every one of the plan.
pub(super) fn first_id(plan: &Plan) -> u32 {
    plan.faults.iter().map(|fault| fault.id.0.saturating_add(1)).max().unwrap_or(0)
}
