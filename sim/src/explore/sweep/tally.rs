//! What a sweep counts.
//!
//! Promise: tallies of parts add up to that of the whole, in any order but for which finding is the first.

use super::SweptDeath;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// Counts of one depth: of first deaths, or of deaths in a recovery.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Level {
    /// Points that were looked at.
    pub points: u64,
    /// Distinct states that each of their deaths could leave, added up.
    pub images: u64,
    /// Runs made: of every one of these states at depth 0, and further down of those not yet run from the same first point.
    pub runs: u64,
    /// Deaths that could leave more states than the bound.
    pub beyond: u64,
    /// Runs whose recovery was not over at quiescence: from there on no fault may strike it.
    pub late: u64,
}

/// Where something was found, and what was seen there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Finding {
    /// The deaths that lead there.
    pub deaths: Vec<SweptDeath>,
    /// What was seen, in one line.
    pub saw: String,
}

/// Runs that one thing was found in.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Broken {
    /// How many.
    pub runs: u64,
    /// The first of them.
    pub first: Finding,
}

/// What came of some or all of a sweep.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Tally {
    /// By depth.
    pub levels: Vec<Level>,
    /// Laws broken, by id.
    pub broken: BTreeMap<String, Broken>,
    /// Runs that a bound cut short.
    pub cut: Option<Broken>,
    /// Runs that Groundhog itself failed at, or in which a death did not come as it was foreseen.
    pub failed: Option<Broken>,
}

impl Tally {
    /// The counts of one depth.
    pub(super) fn level(&mut self, depth: usize) -> &mut Level {
        if self.levels.len() <= depth {
            self.levels.resize_with(depth + 1, Level::default);
        }
        &mut self.levels[depth]
    }

    /// Adds what came later in the same sweep.
    pub fn add(&mut self, later: Tally) {
        for (depth, level) in later.levels.into_iter().enumerate() {
            let Level { points, images, runs, beyond, late } = self.level(depth);
            *points += level.points;
            *images += level.images;
            *runs += level.runs;
            *beyond += level.beyond;
            *late += level.late;
        }
        for (law, broken) in later.broken {
            let Broken { runs, first } = broken;
            self.broken.entry(law).or_insert(Broken { runs: 0, first }).runs += runs;
        }
        for (mine, theirs) in [(&mut self.cut, later.cut), (&mut self.failed, later.failed)] {
            if let Some(Broken { runs, first }) = theirs {
                mine.get_or_insert(Broken { runs: 0, first }).runs += runs;
            }
        }
    }

    /// Runs in all.
    #[must_use]
    pub fn runs(&self) -> u64 {
        self.levels.iter().map(|level| level.runs).sum()
    }

    /// Whether every law held in every run, and each run was whole and as it was foreseen.
    #[must_use]
    pub fn held(&self) -> bool {
        self.broken.is_empty() && self.cut.is_none() && self.failed.is_none()
    }

    /// Whether every state of every death was run.
    #[must_use]
    pub fn is_complete(&self) -> bool {
        self.levels.iter().all(|level| level.beyond == 0)
    }
}
