//! What came of all runs so far.
//!
//! Promise: it does not grow with the number of seeds, and depends on the seeds alone, not on when they were done.

use super::{Ended, check::Difference};
use groundhog_reports::Totals;
use groundhog_sim::outcome::Outcome;
use groundhog_sim::plan::Plan;
use sha2::{Digest, Sha256};

/// What came of one target's runs.
pub struct Lane {
    /// Sums and first failures.
    pub totals: Totals,
    fingerprints: Sha256,
    /// The first run that another run of the same plan parted from.
    pub differs: Option<(u64, Difference)>,
    /// The first plan that could not be run, because of what was asked for.
    pub wrong: Option<(u64, String)>,
    /// The first run that Groundhog itself failed at.
    pub failed: Option<(u64, String)>,
}

/// What came of all of them.
pub struct Tally {
    /// Target by target.
    pub lanes: Vec<Lane>,
    /// The run itself, where only one was asked for.
    pub only: Option<(Plan, Outcome)>,
    keep_only: bool,
}

impl Tally {
    /// Nothing yet, of scenarios with these names. With `keep_only` the one run is kept whole.
    pub fn new<'n>(scenarios: impl Iterator<Item = &'n str>, keep_only: bool) -> Self {
        let lanes = scenarios.map(|scenario| Lane {
            totals: Totals::new(scenario),
            fingerprints: Sha256::new_with_prefix(b"groundhog campaign\0"),
            differs: None,
            wrong: None,
            failed: None,
        });
        Self { lanes: lanes.collect(), only: None, keep_only }
    }

    /// Adds one run; those of one target come in order of seed.
    pub fn add(&mut self, target: usize, plan: Plan, ended: Ended) {
        let lane = &mut self.lanes[target];
        match ended {
            Ended::NotBegun => {}
            Ended::Wrong(why) => {
                lane.wrong.get_or_insert((plan.seed, why));
            }
            Ended::Failed(why) => {
                lane.failed.get_or_insert((plan.seed, why));
            }
            Ended::Outcome(outcome, difference) => {
                lane.totals.absorb(&plan, &outcome);
                lane.fingerprints.update(plan.seed.to_le_bytes());
                lane.fingerprints.update(outcome.fingerprint);
                if let Some(difference) = difference {
                    lane.totals.absorb_difference(&outcome);
                    lane.differs.get_or_insert((plan.seed, difference));
                }
                if self.keep_only {
                    self.only = Some((plan, *outcome));
                }
            }
        }
    }

    /// Runs that did not hold.
    pub fn failed(&self) -> u64 {
        let of = |lane: &Lane| {
            lane.totals.seeds - lane.totals.held
                + u64::from(lane.wrong.is_some())
                + u64::from(lane.failed.is_some())
        };
        self.lanes.iter().map(of).sum()
    }
}

impl Lane {
    /// SHA-256 over seeds and fingerprints, in order of seed.
    pub fn fingerprint(&self) -> [u8; 32] {
        self.fingerprints.clone().finalize().into()
    }
}

/// Bytes as hex digits.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}
