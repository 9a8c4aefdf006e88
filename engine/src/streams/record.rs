//! Records: what the store holds of one stream, and what it is filed under (decision 10).
//!
//! Promise: a record has the seed's size to the byte, and holds all its fields from the first day. What does not decode
//! whole, or holds no valid window, is an error that says why.

use super::key::{StreamKey, Table};
use super::slots::SlotIndex;
use super::window::{Digest, InvalidWindow, WINDOW_SLOTS, Window};
use super::wire::{put_did, put_number};
use crate::units::{Sequence, WallMs};
use bytes::Bytes;
use serde::{Deserialize, Serialize};
use std::fmt;
use std::sync::Arc;

/// How every storage key begins. Of the seed's length, so that its sizes hold.
pub const STORAGE_KEY_PREFIX: &str = "groundhog:transaction-replay:streams";

/// What earlier builds filed one snapshot of all streams under. It is not converted (seed 000, Stream and transcript).
pub const SHARED_SNAPSHOT_KEY: &str = "groundhog:transaction-replay";

/// Deliveries in relay custody, for the whole store (seed 000, Receiver streams by connection slot).
pub const CUSTODY_MAX_ENTRIES: usize = 64;

/// An encoded stream key at its longest, in bytes.
pub const KEY_MAX_BYTES: usize = 92;

/// An encoded window at its longest, in bytes.
pub const WINDOW_MAX_BYTES: usize = 1_066;

/// An encoded custody entry at its longest, in bytes.
pub const CUSTODY_ENTRY_MAX_BYTES: usize = 61;

/// An encoded introducer and spent instant at their longest, in bytes.
pub const CHARGE_MAX_BYTES: usize = 23;

/// A sender record at its longest, in bytes.
pub const SENDER_RECORD_MAX_BYTES: usize = 1 + KEY_MAX_BYTES + 10;

/// A receiver record at its longest, as a stored byte string: with the two bytes of its length (seed 000, Persistence and
/// bounds).
pub const RECEIVER_RECORD_MAX_BYTES: usize = 2
    + 1
    + KEY_MAX_BYTES
    + WINDOW_MAX_BYTES
    + 1
    + CUSTODY_MAX_ENTRIES * CUSTODY_ENTRY_MAX_BYTES
    + CHARGE_MAX_BYTES;

/// Through whom a stream came into the receiver's table (seed 000, Receiver streams by connection slot).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub enum Introducer {
    /// The slot of the authenticated connection that delivered its first transaction.
    Slot(SlotIndex),
    /// Mail out of this node's own relay inbox.
    Inbox,
    /// This node itself, for out-of-band connection signalling.
    Own,
}

impl fmt::Display for Introducer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Introducer::Slot(slot) => slot.fmt(f),
            Introducer::Inbox => f.write_str("the inbox"),
            Introducer::Own => f.write_str("this node itself"),
        }
    }
}

/// One delivery of mail that is admitted and not yet taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CustodyEntry {
    /// Its sequence.
    pub sequence: Sequence,
    /// Its digest.
    pub digest: Digest,
    /// When its transaction can no longer be delivered.
    #[serde(with = "instant")]
    pub spent: WallMs,
}

/// A record as it is decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Stored {
    /// A sender's lease.
    Sender {
        /// Its stream.
        key: StreamKey,
        /// The last leased sequence.
        leased: Sequence,
    },
    /// A receiver's window.
    Receiver {
        /// Its stream.
        key: StreamKey,
        /// The window.
        window: Window,
        /// Mail that is admitted and not yet taken.
        custody: Vec<CustodyEntry>,
        /// Whom the stream is charged to.
        introducer: Introducer,
        /// When nothing that the stream admitted can be delivered any more.
        spent: WallMs,
    },
}

impl Stored {
    /// Whose record.
    #[must_use]
    pub const fn table(&self) -> Table {
        match self {
            Stored::Sender { .. } => Table::Sender,
            Stored::Receiver { .. } => Table::Receiver,
        }
    }

    /// Whose stream.
    #[must_use]
    pub const fn key(&self) -> &StreamKey {
        match self {
            Stored::Sender { key, .. } | Stored::Receiver { key, .. } => key,
        }
    }
}

/// Why bytes are not a record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// They do not decode, or not whole.
    #[error("the bytes do not decode whole")]
    Undecodable,
    /// They are the record of a build that did not charge streams to anybody (seed 000, Hard cutover).
    #[error("the record is of an older build, without a charge: nothing tells when its stream is spent")]
    WithoutCharge,
    /// The window is not one.
    #[error(transparent)]
    InvalidWindow(#[from] InvalidWindow),
    /// More custody than the whole store may hold.
    #[error("{entries} entries in custody are more than {CUSTODY_MAX_ENTRIES}")]
    CustodyTooLong {
        /// How many.
        entries: usize,
    },
}

/// The layout, as postcard sees it.
#[derive(Serialize, Deserialize)]
enum Layout {
    Sender(StreamKey, Sequence),
    Receiver(StreamKey, Box<LayoutWindow>, Vec<CustodyEntry>, Introducer, #[serde(with = "instant")] WallMs),
}

#[derive(Serialize, Deserialize)]
struct LayoutWindow {
    high: Sequence,
    accepted: [Option<Digest>; WINDOW_SLOTS as usize],
}

/// Instants are 128 bits wide in a record and 64 in memory; one beyond 64 bits does not decode.
mod instant {
    use crate::units::WallMs;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    pub fn serialize<S: Serializer>(instant: &WallMs, serializer: S) -> Result<S::Ok, S::Error> {
        u128::from(instant.0).serialize(serializer)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(deserializer: D) -> Result<WallMs, D::Error> {
        let instant = u128::deserialize(deserializer)?;
        u64::try_from(instant).map(WallMs).map_err(serde::de::Error::custom)
    }
}

/// Reads a record's value.
///
/// # Errors
/// [`RecordError`].
pub fn decode(value: &[u8]) -> Result<Stored, RecordError> {
    let Ok((layout, rest)) = postcard::take_from_bytes::<Layout>(value) else {
        return Err(if is_without_charge(value) {
            RecordError::WithoutCharge
        } else {
            RecordError::Undecodable
        });
    };
    if !rest.is_empty() {
        return Err(RecordError::Undecodable);
    }
    match layout {
        Layout::Sender(key, leased) => Ok(Stored::Sender { key, leased }),
        Layout::Receiver(key, window, custody, introducer, spent) => {
            let window = Window::restore(window.high, &window.accepted)?;
            if custody.len() > CUSTODY_MAX_ENTRIES {
                return Err(RecordError::CustodyTooLong { entries: custody.len() });
            }
            Ok(Stored::Receiver { key, window, custody, introducer, spent })
        }
    }
}

/// Whether this is, whole, the receiver record of a build before streams were charged: key and window, with custody or not.
fn is_without_charge(value: &[u8]) -> bool {
    #[derive(Deserialize)]
    enum Older {
        #[expect(dead_code, reason = "it stands for a place in the order of variants")]
        Sender(StreamKey, Sequence),
        #[expect(dead_code, reason = "what it holds is not looked at")]
        Receiver(StreamKey, Box<LayoutWindow>),
    }
    match postcard::take_from_bytes::<Older>(value) {
        Ok((Older::Receiver(..), rest)) => {
            let custody = postcard::take_from_bytes::<Vec<CustodyEntry>>(rest);
            rest.is_empty() || custody.is_ok_and(|(_, rest)| rest.is_empty())
        }
        _ => false,
    }
}

/// The value of a sender record.
#[must_use]
pub fn encode_sender(key: &StreamKey, leased: Sequence) -> Bytes {
    let mut out = Vec::with_capacity(SENDER_RECORD_MAX_BYTES);
    out.push(0);
    put_key(&mut out, key);
    put_number(&mut out, leased.0);
    out.into()
}

/// The value of a receiver record. Written by hand, for this is done for every admission.
#[must_use]
pub fn encode_receiver(
    key: &StreamKey,
    window: &Window,
    custody: &[CustodyEntry],
    introducer: Introducer,
    spent: WallMs,
) -> Bytes {
    assert!(custody.len() <= CUSTODY_MAX_ENTRIES, "custody is bounded for the whole store");
    let custody_bytes = custody.len() * CUSTODY_ENTRY_MAX_BYTES;
    let mut out =
        Vec::with_capacity(1 + KEY_MAX_BYTES + WINDOW_MAX_BYTES + 1 + custody_bytes + CHARGE_MAX_BYTES);
    out.push(1);
    put_key(&mut out, key);
    put_number(&mut out, window.high().0);
    for digest in window.slots() {
        match digest {
            None => out.push(0),
            Some(digest) => {
                out.push(1);
                out.extend_from_slice(digest);
            }
        }
    }
    put_number(&mut out, custody.len() as u64);
    for entry in custody {
        put_number(&mut out, entry.sequence.0);
        out.extend_from_slice(&entry.digest);
        put_number(&mut out, entry.spent.0);
    }
    match introducer {
        Introducer::Slot(slot) => {
            out.push(0);
            put_number(&mut out, u64::from(slot.get()));
        }
        Introducer::Inbox => out.push(1),
        Introducer::Own => out.push(2),
    }
    put_number(&mut out, spent.0);
    out.into()
}

fn put_key(out: &mut Vec<u8>, key: &StreamKey) {
    put_number(out, u64::from(key.network_id.0));
    put_did(out, &key.origin);
    put_did(out, &key.destination);
    out.push(key.class as u8);
}

/// What a stream's record is filed under: prefix, table, and the encoded key in lower-case hex (facts 4.3).
#[must_use]
pub fn storage_key(table: Table, key: &StreamKey) -> Arc<str> {
    const HEX: &[u8; 16] = b"0123456789abcdef";
    let table = match table {
        Table::Sender => ":sender:",
        Table::Receiver => ":receiver:",
    };
    let mut encoded = Vec::with_capacity(KEY_MAX_BYTES);
    put_key(&mut encoded, key);
    let mut text = String::with_capacity(STORAGE_KEY_PREFIX.len() + table.len() + 2 * encoded.len());
    text.push_str(STORAGE_KEY_PREFIX);
    text.push_str(table);
    for byte in encoded {
        text.push(char::from(HEX[usize::from(byte >> 4)]));
        text.push(char::from(HEX[usize::from(byte & 15)]));
    }
    text.into()
}

/// The table and the stream that a storage key spells; `None` where it is not one of a stream's record.
#[must_use]
pub fn parse_storage_key(text: &str) -> Option<(Table, StreamKey)> {
    let rest = text.strip_prefix(STORAGE_KEY_PREFIX)?;
    let (table, digits) = [(Table::Sender, ":sender:"), (Table::Receiver, ":receiver:")]
        .into_iter()
        .find_map(|(table, word)| Some((table, rest.strip_prefix(word)?)))?;
    let pairs = digits.as_bytes().chunks_exact(2);
    if !pairs.remainder().is_empty() {
        return None;
    }
    let byte = |pair: &[u8]| u8::from_str_radix(std::str::from_utf8(pair).ok()?, 16).ok();
    let encoded = pairs.map(byte).collect::<Option<Vec<u8>>>()?;
    let (key, rest) = postcard::take_from_bytes::<StreamKey>(&encoded).ok()?;
    // Only what is spelled as it would be written is believed.
    (rest.is_empty() && *storage_key(table, &key) == *text).then_some((table, key))
}

#[cfg(test)]
#[path = "record_tests.rs"]
mod tests;
