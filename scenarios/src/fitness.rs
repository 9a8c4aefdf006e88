//! Whether a target's plan can be run at all, and what of the call is at fault where it cannot.
//!
//! Promise: what a user asks for and cannot be is told as theirs, with the setting that does it; only a scenario of the
//! catalogue as it stands that gives such a plan is a defect.

use crate::scenario_file::Setting;
use crate::target::{self, Source, Target, TargetError};
use groundhog_engine::flaws::Flaw;

/// Refuses a target whose plan of this seed cannot be run.
///
/// # Errors
/// [`TargetError::Unfit`].
pub fn check(target: &Target, seed: u64, flaws: &[Flaw], settings: &[Setting]) -> Result<(), TargetError> {
    let Err(why) = target.plan(seed, flaws).check() else { return Ok(()) };
    // What was written down was checked when it was read: only a flaw that is asked for twice is left, and that is none.
    let Source::Scenario(_) = &target.source else { return Ok(()) };
    if target.pristine && !target.swarm {
        return Ok(());
    }
    Err(TargetError::Unfit { culprit: culprit(target, seed, flaws, settings), why: why.to_string() })
}

/// The one setting without which the plan can be run, or everything that was asked for.
fn culprit(target: &Target, seed: u64, flaws: &[Flaw], settings: &[Setting]) -> String {
    let without = |place: usize| {
        let mut fewer = settings.to_vec();
        fewer.remove(place);
        let found = target::find(&target.spelled, &fewer).ok()?.pop()?;
        Target { swarm: target.swarm, ..found }.plan(seed, flaws).check().ok()
    };
    let spelled = |setting: &Setting| format!("--set {}={}", setting.key, setting.value);
    let guilty = (0..settings.len()).find(|place| without(*place).is_some());
    match (guilty, settings) {
        (Some(place), _) => spelled(&settings[place]),
        (None, []) => target.spelled.clone(),
        (None, several) => several.iter().map(spelled).collect::<Vec<_>>().join(" "),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn refused(scenario: &str, settings: &[&str]) -> Option<String> {
        let settings: Vec<String> = settings.iter().map(|text| (*text).to_owned()).collect();
        let settings = target::settings(&settings).expect("they are settings");
        let targets = target::find(scenario, &settings).expect("it is in the catalogue");
        check(&targets[0], 0, &[], &settings).err().map(|error| error.to_string())
    }

    #[test]
    fn the_setting_that_makes_a_plan_impossible_is_named() {
        for (scenario, settings, culprit) in [
            ("chunked-transfers", &["nodes=8", "links.latency_us=1000000000"][..], "links.latency_us"),
            ("crash-mid-batch", &["crashes.at_time=1000000"], "crashes.at_time"),
            ("reference-misses", &["peers.chunk_bytes=1000"], "peers.chunk_bytes"),
            ("skewed-clocks", &["engines.slots=1"], "engines.slots"),
            ("ring-churn", &["scenes.floods=1"], "scenes.floods"),
            ("retirement", &["peers.long_bursts=1"], "peers.long_bursts"),
        ] {
            let error =
                refused(scenario, settings).unwrap_or_else(|| panic!("{scenario} {settings:?} can be run"));
            assert!(error.starts_with(&format!("--set {culprit}=")), "{error}");
        }
        assert_eq!(refused("crash-mid-batch", &["nodes=8"]), None);
    }
}
