//! What connections carry beside plain frames: a namespace that looks after its own replays, delegation references, chunks.
//!
//! Promise: a part that is left out changes nothing, so that a plan from before it was there is the run that it was.

use serde::{Deserialize, Serialize};

/// See the module.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinksPlan {
    /// The namespace that delegates its replay protection; absent where none is declared.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub namespace: Option<NamespacePlan>,
    /// How many delegations each end remembers, so that frames may refer to them; absent where every frame carries them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub references: Option<ReferencesPlan>,
    /// How messages too long for a frame travel; absent where none may be that long.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub chunks: Option<ChunksPlan>,
    /// Messages of a class that an application takes before it has handled one; 0 where it takes any number. One more is
    /// dropped, after it was admitted.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub mailbox_messages: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

impl LinksPlan {
    /// Whether connections carry plain frames and nothing else.
    #[must_use]
    pub fn is_plain(&self) -> bool {
        *self == Self::default()
    }
}

/// A namespace of application traffic that acts on each payload at most once by a key of its own.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NamespacePlan {
    /// Whether it bounds its messages itself too, so that on its origin's own connection they need no token of the quota.
    pub delegates_message_limit: bool,
}

/// The tables of delegation references, a connection and direction.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReferencesPlan {
    /// Delegations that a sender refers to.
    pub sent: u32,
    /// Delegations that a receiver keeps.
    pub received: u32,
}

/// How long messages are cut and put together again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ChunksPlan {
    /// Bytes of a piece; a message that is longer than one, encoded, is cut.
    pub chunk_bytes: u32,
    /// Messages of one peer that may wait for pieces.
    pub pending_messages: u32,
    /// Bytes that everything that waits may cost.
    pub cost_bytes: u64,
    /// Bytes that what waits of one peer may cost.
    pub peer_cost_bytes: u64,
    /// Messages of one peer that are remembered as complete.
    pub tombstones: u32,
}
