//! The world that nodes live in: pure parts that know no driver, no task and no real time.
//!
//! Promise: each part is a state machine over true simulated time: the same calls give the same answers.

pub mod adversary;
pub mod clock;
pub mod network;
pub mod processor;
