//! A second runtime on an allocator: a copy of a node's disk that is started beside it with the same account key, so that
//! both reserve, sign and admit at once.

use super::{ensure, exists};
use crate::plan::{Act, Action, Plan, PlanError};
use crate::units::NodeId;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// See the module. The action's node is the machine that it runs on: it boots when the act comes and not before, with what
/// was durable on the disk of the other then.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SecondRuntime {
    /// Whose account and disk it has.
    pub of: NodeId,
    /// How long it runs; until the end of the run when absent.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub lasts_us: Option<u64>,
}

impl SecondRuntime {
    pub(in crate::plan) fn check(&self, plan: &Plan, action: &Action) -> Result<(), PlanError> {
        let (node, of) = (action.node, self.of);
        exists(plan, action, of)?;
        ensure(of != node, action, || format!("{node} is no second runtime of its own"))?;
        ensure(plan.accounts().of(of) == of, action, || format!("{of} is itself a second runtime"))?;
        let begins = plan.second_runtimes().filter(|(second, _)| second.node == node).count();
        ensure(begins == 1, action, || format!("{node} begins as a second runtime {begins} times"))?;
        ensure(plan.ring.is_none(), action, || "two runtimes have one place on a ring".to_owned())?;
        ensure(plan.engines.mail.is_none(), action, || "two runtimes have one relay inbox".to_owned())
    }
}

/// Whose account each node of a plan has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Accounts(BTreeMap<NodeId, NodeId>);

impl Accounts {
    /// The node whose account a node has: itself, unless it is a second runtime of another.
    #[must_use]
    pub fn of(&self, node: NodeId) -> NodeId {
        self.0.get(&node).copied().unwrap_or(node)
    }
}

impl Plan {
    /// The second runtimes that it begins.
    pub fn second_runtimes(&self) -> impl Iterator<Item = (&Action, &SecondRuntime)> {
        self.actions.iter().filter_map(|action| match &action.act {
            Act::SecondRuntime(second) => Some((action, second)),
            _ => None,
        })
    }

    /// Whose account each node has.
    #[must_use]
    pub fn accounts(&self) -> Accounts {
        Accounts(self.second_runtimes().map(|(action, second)| (action.node, second.of)).collect())
    }
}
