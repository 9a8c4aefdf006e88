//! Swarm: in each seed each kind of fault is off, light or heavy, for a run that does a little of everything finds little.
//! What one kind does hides what another would have shown: where nodes die all the time, no life is long enough for a
//! marker to be lost in it.
//!
//! A kind is a key of the scenario, and what it is scaled by stands beside it. Light is what the scenario says. Swarm adds
//! no kind that the scenario does not have: that a scenario leaves one out is a decision of its author's.
//!
//! Promise: a level is drawn by seed and kind alone, and nothing else is drawn by it: one kind's level moves no other
//! kind's draws. Without swarm every kind is light, and a plan is what it was before there was swarm.

mod kind;

pub use kind::Kind;

use super::dice::Dice;
use super::scenario::Scenario;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How much of one kind of fault a seed has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// None.
    Off,
    /// What the scenario says.
    Light,
    /// Several times as much, and never none.
    Heavy,
}

impl Level {
    /// Every level, from none on.
    pub const ALL: [Level; 3] = [Level::Off, Level::Light, Level::Heavy];

    /// The word for it.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Light => "light",
            Self::Heavy => "heavy",
        }
    }
}

/// What a seed has of each kind of fault that its scenario has; empty without swarm.
pub type Levels = BTreeMap<Kind, Level>;

/// How often each level is drawn.
const WEIGHTS: [(Level, u32); 3] = [(Level::Off, 1), (Level::Light, 1), (Level::Heavy, 2)];

/// A count that a scenario drives this far is made no heavier: a plan has a most of everything.
const MOST: u64 = 10_000;

/// The levels that one seed of a scenario has under swarm.
#[must_use]
pub fn levels(scenario: &Scenario, seed: u64) -> Levels {
    let occurring = Kind::ALL.iter().filter(|kind| kind.occurs_in(&scenario.sections));
    occurring.map(|kind| (*kind, level(seed, *kind))).collect()
}

fn level(seed: u64, kind: Kind) -> Level {
    // By name, so that a new kind moves no level of another.
    Dice::new(seed, &format!("swarm {kind}"), 0).weighted(&WEIGHTS)
}

/// What one seed makes of what is drawn for one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Intensity {
    level: Level,
    heavy: u64,
}

impl Intensity {
    pub fn of(levels: &Levels, kind: Kind) -> Self {
        let level = levels.get(&kind).copied().unwrap_or(Level::Light);
        Self { level, heavy: kind.heavy().into() }
    }

    pub fn is_off(self) -> bool {
        self.level == Level::Off
    }

    /// Of things that are counted.
    pub fn count(self, drawn: u64) -> u64 {
        match self.level {
            Level::Off => 0,
            Level::Light => drawn,
            Level::Heavy => drawn.max(1).saturating_mul(self.heavy).min(MOST).max(drawn),
        }
    }

    /// Of a share in thousandths that strikes: heavy spares so many times fewer.
    pub fn share(self, per_mille: u64) -> u64 {
        match self.level {
            Level::Off => 0,
            Level::Light => per_mille,
            Level::Heavy => 1_000 - 1_000_u64.saturating_sub(per_mille) / self.heavy,
        }
    }

    /// Of a share in thousandths of which everything would be too much.
    pub fn thin_share(self, per_mille: u64) -> u64 {
        match self.level {
            Level::Off => 0,
            Level::Light => per_mille,
            Level::Heavy => per_mille.max(1).saturating_mul(self.heavy).min(per_mille.max(500)),
        }
    }

    /// Of a size in either direction.
    pub fn size(self, drawn: i64) -> i64 {
        match self.level {
            Level::Off => 0,
            Level::Light => drawn,
            Level::Heavy => drawn.saturating_mul(self.heavy.cast_signed()),
        }
    }

    /// Of copies of which the first is no fault.
    pub fn copies(self, drawn: u32) -> u32 {
        match self.level {
            Level::Off => 1,
            Level::Light => drawn,
            Level::Heavy => drawn.max(2).saturating_mul(self.heavy as u32).min(drawn.max(100)),
        }
    }

    /// Of what strikes every this-many-th, 0 for none. Heavy never strikes all: somebody has to wait for an answer.
    pub fn every(self, drawn: u32) -> u32 {
        match self.level {
            Level::Off => 0,
            Level::Light => drawn,
            Level::Heavy if drawn == 0 => 4,
            Level::Heavy => (drawn / self.heavy as u32).max(2).min(drawn),
        }
    }
}

/// The ceiling of a known limit in a seed with these levels: where a kind is heavy, what it licenses may be met as many
/// times as often. What must never be met may not be met here either.
pub(super) fn ceiling(levels: &Levels, drawn: u64) -> u64 {
    let heavy = levels.iter().filter(|(_, level)| **level == Level::Heavy).map(|(kind, _)| kind.heavy());
    drawn.saturating_mul(heavy.max().unwrap_or(1).into())
}

#[cfg(test)]
mod tests;
