//! The page: one file, readable without scripts and without a network.
//!
//! Promise: the verdict stands first, and where a law was broken, what it saw and the command that repeats it; the page
//! refers to nothing outside itself.

mod campaign;
mod frame;
mod run;
mod sizing;
mod tables;

pub(crate) use campaign::of_campaign;
pub(crate) use frame::{cut_words, real, simulated, verdict_word, whereabouts};
pub(crate) use run::of_run;
pub use sizing::{CurvePoints, Sizing, of_sizing};
