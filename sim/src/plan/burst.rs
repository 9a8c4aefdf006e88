//! How a burst is written down where most of it goes without saying.

use super::act::Burst;
use super::ring::Route;
use crate::units::NodeId;
use groundhog_engine::streams::key::Class;

impl Burst {
    /// One small message of a class to a linked node, sent once, whose callers wait for it. What is different is said beside
    /// it: `Burst { count: 3, ..Burst::one(to, class) }`.
    #[must_use]
    pub const fn one(to: NodeId, class: Class) -> Self {
        Self {
            to,
            via: None,
            route: Route::Links,
            class,
            count: 1,
            every_us: 0,
            bytes: 64,
            copies: 1,
            copy_every_us: 0,
            cancel_reserve_every: 0,
            cancel_admit_every: 0,
            cancel_after_us: 0,
            envelopes: 0,
        }
    }
}
