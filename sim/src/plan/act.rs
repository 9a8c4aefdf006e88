//! Inputs of the workload and acts of adversaries.

use super::mail::MailAct;
use super::ring::Route;
use crate::units::{ActionId, NodeId};
use groundhog_engine::streams::key::Class;
use serde::{Deserialize, Serialize};

/// One thing that somebody does at a time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Action {
    /// Its id, kept when other actions are cut.
    pub id: ActionId,
    /// True simulated time.
    pub at_us: u64,
    /// Who does it.
    pub node: NodeId,
    /// What is done.
    #[serde(rename = "do")]
    pub act: Act,
}

/// What is done.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum Act {
    /// The node signs and sends a burst of messages.
    Send(Burst),
    /// The node's account delegates to a fresh delegatee key; the old one signs no more.
    RotateDelegatee,
    /// An adversary at `node`'s place sends a recorded frame again, byte for byte, to `to`.
    Replay {
        /// Which frame. Nothing happens, and that is counted, when it was never recorded.
        frame: FrameName,
        /// Who receives it.
        to: NodeId,
        /// The lane that it travels on; the frame's own class when absent.
        lane: Option<Class>,
    },
    /// An adversary at `node`'s place sends transactions of fresh accounts.
    Flood(super::Flood),
    /// The connection to a peer is retired at both ends, and admitted anew later.
    Reconnect(super::Reconnect),
    /// Out-of-band signalling reaches the node.
    Signalling(super::Signalling),
    /// A backup of the node's disk is put back.
    PutBack(super::PutBack),
    /// A second runtime of another node's account begins on this one.
    SecondRuntime(super::SecondRuntime),
    /// Something happens to the mail that is held for `node`.
    Mail(MailAct),
    /// The node becomes a member of the ring: it boots, with the store that it has. Nothing happens when it is one.
    Join,
    /// The node stops being a member and does not come back by itself. Nothing happens when it is none.
    Leave {
        /// Whether it says so and hands over what it holds, or is gone as by a crash.
        hand_off: bool,
    },
}

/// A burst of messages from one node to another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Burst {
    /// The destination.
    pub to: NodeId,
    /// A fixed relay on the way; `None` when the two are linked.
    pub via: Option<NodeId>,
    /// How its messages find their way.
    #[serde(default, skip_serializing_if = "Route::is_links")]
    pub route: Route,
    /// The class.
    pub class: Class,
    /// Messages.
    pub count: u32,
    /// Time between two intended sends.
    pub every_us: u64,
    /// Bytes of data in each.
    pub bytes: u32,
    /// Sent in all this many times, the same signed bytes each time, whatever became of the earlier copies.
    pub copies: u32,
    /// Time between two copies.
    pub copy_every_us: u64,
    /// Every this-many-th message's caller gives up waiting for its reservation; 0 for never.
    pub cancel_reserve_every: u32,
    /// Every this-many-th message's admission at the destination is abandoned by its caller; 0 for never.
    pub cancel_admit_every: u32,
    /// How long a caller that gives up has waited.
    pub cancel_after_us: u64,
    /// How many messages carry each payload of the plan's namespace, one after another; 0 where these are no messages of it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub envelopes: u32,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde asks by reference")]
const fn is_zero(number: &u32) -> bool {
    *number == 0
}

/// A frame, named by what it carries and never by a number of the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FrameName {
    /// The node whose account signed it.
    pub origin: NodeId,
    /// Its destination.
    pub destination: NodeId,
    /// Its class.
    pub class: Class,
    /// Its sequence.
    pub sequence: u64,
    /// Which copy on the wire, from 0.
    pub copy: u32,
}
