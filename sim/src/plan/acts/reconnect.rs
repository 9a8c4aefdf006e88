//! A connection that is retired at both ends and admitted anew.

use super::{Links, linked};
use crate::plan::{Action, PlanError};
use crate::units::NodeId;
use serde::{Deserialize, Serialize};

/// See the module. What was in flight is lost with the old connection; the new one takes the cleanest free slot at each
/// end.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Reconnect {
    /// The other end.
    pub peer: NodeId,
    /// How long there is no connection.
    pub after_us: u64,
}

impl Reconnect {
    pub(in crate::plan) fn check(&self, action: &Action, links: &Links) -> Result<(), PlanError> {
        linked(action, links, action.node, self.peer)
    }
}
