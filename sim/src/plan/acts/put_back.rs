//! A backup of a node's disk that is put back between two lives: the node signs again what it had signed since, as two
//! runtimes on one allocator would.

use super::ensure;
use crate::plan::{Action, PlanError};
use serde::{Deserialize, Serialize};

/// See the module. The life that runs when the act comes ends; the next one opens the copy.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PutBack {
    /// When the copy was taken.
    pub taken_us: u64,
    /// How long the node is down meanwhile.
    pub down_us: u64,
}

impl PutBack {
    pub(in crate::plan) fn check(&self, action: &Action) -> Result<(), PlanError> {
        ensure(self.taken_us <= action.at_us, action, || {
            format!("a copy taken at {} us is put back at {} us, before", self.taken_us, action.at_us)
        })
    }
}
