//! What each key allows alone, and all of them together do not.

use super::ScenarioError;
use super::reader::Reader;
use groundhog_sim::plan::{Draw, Scenario};

/// Refuses a scenario that asks for what cannot be, or for nothing at all.
pub fn check(scenario: &Scenario, reader: &mut Reader<'_>) -> Result<(), ScenarioError> {
    let found = hubs(scenario, reader).or_else(|| traffic(scenario, reader));
    found.map_or(Ok(()), Err)
}

/// Only hubs that somebody asked for: a file of few nodes that says nothing of hubs has as many as there are nodes.
fn hubs(scenario: &Scenario, reader: &mut Reader<'_>) -> Option<ScenarioError> {
    let hubs = scenario.for_nodes(most(&scenario.sections.links.hubs));
    let nodes = scenario.nodes;
    if hubs <= u64::from(nodes) {
        return None;
    }
    let what = format!(
        "expected at most as many hubs as nodes, for a hub is one of them, found up to {hubs} and {nodes}"
    );
    reader.error_at("links", "hubs", what)
}

fn traffic(scenario: &Scenario, reader: &mut Reader<'_>) -> Option<ScenarioError> {
    let (load, scenes) = (&scenario.sections.load, &scenario.sections.scenes);
    let sending = [
        &load.bursts,
        &load.after_quiesce_bursts,
        &scenes.stalled_classes,
        &scenes.stalled_channels,
        &scenes.stalled_receivers,
        &scenes.floods,
    ];
    if sending.into_iter().any(|count| most(count) > 0) {
        return None;
    }
    let what =
        "expected something that is sent: no burst here, none in load.after_quiesce_bursts and no scene";
    reader.error_at("load", "bursts", what.to_owned())
}

/// The most of something that is counted.
fn most(count: &Draw) -> u64 {
    u64::try_from(count.bounds().1).unwrap_or(0)
}
