//! Acts of adversaries that need more than a line, one file each.
//!
//! Promise: an act says whose budget it is drawn on: which keys, which connection, how many frames, how fast.

mod flood;
mod put_back;
mod reconnect;
mod second_runtime;
mod signalling;

pub use flood::{Flood, Forgery};
pub use put_back::PutBack;
pub use reconnect::Reconnect;
pub use second_runtime::{Accounts, SecondRuntime};
pub use signalling::Signalling;

use super::{Action, Plan, PlanError};
use crate::units::NodeId;
use std::collections::BTreeSet;

/// The links of a plan, each by its ends in order.
pub(super) type Links = BTreeSet<(NodeId, NodeId)>;

/// What is wrong with an act, at its action.
fn wrong(action: &Action, what: String) -> PlanError {
    PlanError::Wrong { place: format!("action {}", action.id.0), what }
}

fn ensure(holds: bool, action: &Action, what: impl FnOnce() -> String) -> Result<(), PlanError> {
    if holds { Ok(()) } else { Err(wrong(action, what())) }
}

fn linked(action: &Action, links: &Links, one: NodeId, other: NodeId) -> Result<(), PlanError> {
    let found = links.contains(&(one.min(other), one.max(other)));
    ensure(found, action, || format!("{one} and {other} are not linked"))
}

fn exists(plan: &Plan, action: &Action, node: NodeId) -> Result<(), PlanError> {
    ensure(node.index() < plan.nodes.len(), action, || format!("there is no {node}"))
}
