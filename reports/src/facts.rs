//! What a simulation cannot know about itself: the command, the version, the real time.

use crate::totals::Totals;
use std::collections::BTreeMap;
use std::time::Duration;

/// What is told about one run besides its plan and its outcome.
#[derive(Clone, Debug)]
pub struct RunFacts {
    /// The version of Groundhog that ran it.
    pub version: String,
    /// The command that repeats it when pasted, with every option that changes the plan.
    pub repeat: String,
    /// Real time that the run took; the only figure of a report that differs between two runs of one plan.
    pub real: Duration,
}

/// One scenario of a campaign.
#[derive(Clone, Debug)]
pub struct ScenarioFacts {
    /// All of its seeds, absorbed.
    pub totals: Totals,
    /// Marks that seeds of this scenario should reach, each with its least count over 1,000 seeds.
    pub marks: BTreeMap<String, u64>,
    /// Whether a mark that these seeds reached too seldom is a failure.
    pub marks_judged: MarksJudged,
}

/// Whether marks that were reached too seldom are a failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MarksJudged {
    /// They are.
    Judged,
    /// So few seeds may miss a mark by chance.
    TooFewSeeds {
        /// How many it takes.
        needed: u64,
    },
    /// What was run is not what shares are stated for.
    Not {
        /// Why.
        because: &'static str,
    },
}

/// What is told about many seeds, of one scenario or of many.
#[derive(Clone, Copy)]
pub struct CampaignFacts<'a> {
    /// The version of Groundhog that ran them.
    pub version: &'a str,
    /// The command that ran them all.
    pub command: &'a str,
    /// Real time that all of them took, over all cores.
    pub real: Duration,
    /// The scenarios, in the order in which they are reported.
    pub scenarios: &'a [ScenarioFacts],
    /// The command that repeats one seed of one scenario, with every option that changes the plan.
    pub repeat: &'a dyn Fn(&str, u64) -> String,
}
