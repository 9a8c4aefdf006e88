//! Destination-scoped streams: a retained destination dispatches an exact signed transaction at most once, across
//! crashes (seed 000).

pub mod chunks;
mod engine;
mod error;
pub mod evidence;
#[cfg(test)]
mod fixtures;
pub mod key;
pub mod lanes;
pub mod link_local;
pub mod message;
pub mod payload;
pub mod quota;
pub mod record;
pub mod references;
mod state_digest;
mod tables;
pub mod transaction;
pub mod verify;
pub mod window;
pub mod wire;

pub use engine::{
    Admitting, Arrival, RELAY_INBOX_MAX_MS, Reservation, Reserving, SEQUENCE_LEASE, STREAM_CAPACITY, Storage,
    Streams, StreamsConfig, spent,
};
pub use error::{AdmitError, OpenError, Refusal, ReserveError};
pub use state_digest::StateDigest;
pub use tables::{Counters, Unrestorable};
