//! Plans that once failed, kept: what each must show, and whether it still does.
//!
//! Promise: an entry is two files, the plan as it ran (`NAME.json`) and why it was kept (`NAME.toml`), and both are needed.
//! A plan with flaws must still break its law; without them, and where there are none, that law must hold.

mod examine;
mod run;
mod store;

use examine::{Examined, Finding, examine};
pub use run::{Account, examine_all, left};
pub use store::{CorpusError, default_folder, keep, name_of, read};

use groundhog_sim::plan::Plan;
use serde::{Deserialize, Serialize};

/// The format of the second file.
const FORMAT: u32 = 1;

/// Why a plan was kept: the second file of an entry.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Why {
    /// The format of this file.
    format: u32,
    /// The law that the plan broke when it was kept.
    pub law: String,
    /// The day on which it was kept, in UTC, such as 2026-11-30.
    pub kept: String,
    /// Why, in a sentence.
    pub reason: String,
}

/// One kept plan.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its name, which both files bear.
    pub name: String,
    /// The plan.
    pub plan: Plan,
    /// Why it was kept.
    pub why: Why,
}
