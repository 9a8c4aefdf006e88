//! An origin flood: transactions of accounts that nobody knows, each free to mint.

use super::{Links, ensure, exists, linked, wrong};
use crate::plan::{Action, Plan, PlanError};
use crate::units::NodeId;
use groundhog_engine::streams::key::Class;
use serde::{Deserialize, Serialize};

/// The most data in one message of a flood.
const MAX_BYTES: u32 = 61_440;

/// The furthest that an origin may set its stamp from its clock: a day.
const MAX_STAMP_MS: u64 = 86_400_000;

/// What is wrong with a proof, so that nothing of it may be admitted.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Forgery {
    /// The origin's signature is another's.
    Transaction,
    /// The last hop's signature is another's.
    Payload,
    /// The account never delegated to the key that signs.
    Delegation,
}

impl Forgery {
    /// The name in kebab case.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Transaction => "transaction",
            Self::Payload => "payload",
            Self::Delegation => "delegation",
        }
    }
}

/// One transaction of each of `count` accounts, pushed past the adversary's own lanes: it keeps no window and waits for no
/// credit, and its link's bandwidth alone holds it back.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Flood {
    /// The destination.
    pub to: NodeId,
    /// An honest relay on the way; `None` over the adversary's own connection, or, on a ring where it has none to the
    /// destination, from member to member.
    pub via: Option<NodeId>,
    /// The class.
    pub class: Class,
    /// The party whose accounts these are: the same number gives the same accounts, whichever node sends.
    pub keys: u32,
    /// The first account of the party that sends.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub first_key: u32,
    /// The sequence that each account signs.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub sequence: u32,
    /// Accounts.
    pub count: u32,
    /// Time between two of them.
    pub every_us: u64,
    /// Bytes of data in each message.
    pub bytes: u32,
    /// How far the stamp is ahead of the adversary's clock, in milliseconds; negative for behind.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub stamp_ms: i64,
    /// What is forged of each.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub forgery: Option<Forgery>,
}

fn is_zero<T: Default + PartialEq>(number: &T) -> bool {
    *number == T::default()
}

impl Flood {
    pub(in crate::plan) fn check(
        &self,
        plan: &Plan,
        action: &Action,
        links: &Links,
    ) -> Result<(), PlanError> {
        exists(plan, action, self.to)?;
        ensure(self.count > 0, action, || "it sends nothing".to_owned())?;
        ensure(self.bytes <= MAX_BYTES, action, || {
            format!("{} bytes a message, and a frame takes at most {MAX_BYTES}", self.bytes)
        })?;
        ensure(self.stamp_ms.unsigned_abs() <= MAX_STAMP_MS, action, || {
            format!("a stamp {} ms from the clock, and {MAX_STAMP_MS} is the most", self.stamp_ms)
        })?;
        match self.via {
            None if plan.can_connect(false, action.node, self.to) => Ok(()),
            Some(_) if plan.ring.is_some() => {
                Err(wrong(action, "the ring finds the relays itself".to_owned()))
            }
            None => linked(action, links, action.node, self.to),
            Some(via) => {
                linked(action, links, action.node, via)?;
                linked(action, links, via, self.to)
            }
        }
    }
}
