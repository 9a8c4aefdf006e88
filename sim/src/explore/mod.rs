//! Looking for failures and making them small: more than one run, decided from outcomes alone.
//!
//! Promise: nothing in here starts a thread or reads a real clock; who runs plans, on how many cores and until when, is
//! the caller's. The same plans and outcomes lead to the same steps.

pub mod schedules;
pub mod shrink;
pub mod sweep;
