//! The world that nodes live in: it knows the engine, and nothing of scenarios or reports.
//!
//! Promise: `plan -> outcome` is a function. The same plan gives the same events, bit for bit, in any process.

#[cfg(not(madsim))]
compile_error!(
    "the simulator needs `--cfg madsim`: run cargo from the repository root, whose .cargo/config.toml sets it"
);

pub mod draw;
pub mod explore;
pub mod figures;
pub mod laws;
pub mod ledger;
pub mod outcome;
pub mod plan;
pub mod ring;
pub mod run;
pub mod units;
pub mod world;
