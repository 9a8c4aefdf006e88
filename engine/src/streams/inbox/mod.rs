//! The relay inbox: mail that others hold for a node that is away (facts 6.1).
//!
//! Promise: held mail is judged as of the instant at which its holder took it, by the holder's own signature over that
//! instant; a carrier keeps what it took until it is fetched, spent or named as pushed out, and refuses what it has no room
//! for.

mod carrier;
mod held;

pub use carrier::{Carrier, CarrierConfig, Fetched, HoldRefused, PushedOut, RELAY_INBOX_MAX_ELEMENTS};
pub use held::{HeldMail, WitnessError};

use crate::flaws::{Flaw, Flaws};

/// How long a carrier keeps mail where nothing else is asked for, in milliseconds: a day (facts 5.1).
pub const RELAY_INBOX_LIFETIME_MS: u64 = 86_400_000;

/// How many carriers hold each mail: the owner of the node's place on the ring and its successors.
pub const RELAY_INBOX_COPIES: usize = 3;

/// [`RELAY_INBOX_COPIES`], as a node with these flaws has it.
#[must_use]
pub const fn copies(flaws: Flaws) -> usize {
    if flaws.has(Flaw::SingleCopyRelayInbox) { 1 } else { RELAY_INBOX_COPIES }
}
