//! Out-of-band connection signalling: control messages that reach a node over no connection, and are charged to itself.

use super::ensure;
use crate::plan::{Action, PlanError};
use serde::{Deserialize, Serialize};

/// One control message of each of `count` accounts, handed to the action's node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Signalling {
    /// The party whose accounts these are, as for a flood.
    pub keys: u32,
    /// Accounts.
    pub count: u32,
    /// Time between two of them.
    pub every_us: u64,
}

impl Signalling {
    pub(in crate::plan) fn check(&self, action: &Action) -> Result<(), PlanError> {
        ensure(self.count > 0, action, || "it signals nothing".to_owned())
    }
}
