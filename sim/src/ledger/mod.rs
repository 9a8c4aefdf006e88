//! What did happen: events in their order, and the fingerprint of them all.

pub mod event;
