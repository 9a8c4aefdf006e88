//! The world that nodes live in.
//!
//! Promise: every part of it is a state machine that is told what happens; time and chance come from its caller.

pub mod disk;
