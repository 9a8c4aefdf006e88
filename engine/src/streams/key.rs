//! Which stream a transaction belongs to: network, origin, destination, class.
//!
//! Promise: the key is computed from signed data on both sides; no field of it travels as a claim (seed 000, Stream and
//! transcript).

use crate::identity::Did;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The overlay that a node is configured for; bound into every signature through the signing domain.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct NetworkId(pub u32);

/// A traffic class; also the index of its lane, and its place in the order of streams.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Class {
    /// DHT control.
    Control = 0,
    /// Storage.
    Storage = 1,
    /// End to end.
    E2e = 2,
    /// Application.
    Application = 3,
}

impl Class {
    /// Every class, in lane order.
    pub const ALL: [Class; 4] = [Class::Control, Class::Storage, Class::E2e, Class::Application];

    /// The class's lane.
    #[must_use]
    pub const fn index(self) -> usize {
        self as usize
    }

    /// The name as the command line and reports spell it.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Class::Control => "control",
            Class::Storage => "storage",
            Class::E2e => "e2e",
            Class::Application => "application",
        }
    }
}

impl fmt::Display for Class {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.id())
    }
}

/// Whose record: the sender's lease or the receiver's window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[repr(u8)]
pub enum Table {
    /// Streams that this node signs for.
    Sender,
    /// Streams that this node admits.
    Receiver,
}

/// One stream. Ordered field by field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct StreamKey {
    /// The receiver's overlay.
    pub network_id: NetworkId,
    /// The delegator of the delegation in the transaction's proof: never the delegatee, never a relay.
    pub origin: Did,
    /// The final destination.
    pub destination: Did,
    /// Derived from the signed data.
    pub class: Class,
}

impl fmt::Display for StreamKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}->{}/{}", self.origin.short(), self.destination.short(), self.class)
    }
}
