//! Destination-scoped streams: a retained destination dispatches an exact signed transaction at most once, across
//! crashes (seed 000).

pub mod chunks;
pub mod custody;
mod engine;
mod error;
pub mod evidence;
#[cfg(test)]
mod fixtures;
pub mod inbox;
pub mod inspect;
pub mod key;
pub mod lanes;
pub mod link_local;
pub mod message;
pub mod payload;
pub mod quota;
pub mod record;
pub mod references;
pub mod slots;
mod spent;
mod state_digest;
mod tables;
pub mod transaction;
pub mod verify;
mod waits;
pub mod window;
pub mod wire;

pub use engine::{Arrival, CountersWatch, SEQUENCE_LEASE, STREAM_CAPACITY, Storage, Streams, StreamsConfig};
pub use error::{AdmitError, OpenError, Refusal, ReserveError, TakeError};
pub use spent::{RELAY_INBOX_MAX_MS, spent};
pub use state_digest::StateDigest;
pub use tables::{BadStream, Counters, RefusedByBound, SWEPT_AT_A_TIME, TableUse, Unrestorable};
pub use waits::{Admitting, Reservation, Reserving, Taking};
