//! What a node runs: replay protections that know a [`host::Host`] and never the simulator.
//!
//! Promise: nothing in this crate reads real time, draws randomness, starts a thread or iterates a randomly ordered
//! map, except the native host, which is the real machine. The same inputs through the same host give the same outputs.

pub mod commit;
pub mod flaws;
pub mod host;
pub mod identity;
pub mod store;
pub mod streams;
pub mod units;
