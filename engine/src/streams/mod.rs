//! Destination-scoped streams: a retained destination dispatches an exact signed transaction at most once, across
//! crashes (seed 000).

pub mod key;
pub mod lanes;
pub mod message;
pub mod payload;
pub mod transaction;
pub mod verify;
pub mod window;
pub mod wire;
