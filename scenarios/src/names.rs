//! Everything that has a name: scenarios, laws, flaws, marks, known limits.

use crate::catalogue::{CATALOGUE, PLANS};
use crate::command::convict::SEEDS;
use crate::conviction::scenario_of;
use crate::recorded::{Answer, RECORDED, Recorded};
use groundhog_engine::flaws::Flaw;
use groundhog_sim::laws::LawKind;
use groundhog_sim::laws::catalogue::{LAWS, convicted_by};
use groundhog_sim::laws::excuses::LIMITS;
use groundhog_sim::ledger::marks::MARKS;
use groundhog_sim::plan::swarm;
use groundhog_sim::run::Plant;
use std::collections::BTreeMap;

/// What a mark's share stands under.
pub const DUE: &str = "due";

/// A kind of thing that has a name.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, clap::ValueEnum)]
pub enum Kind {
    /// What can be run.
    Scenarios,
    /// What is checked.
    Laws,
    /// What can be made wrong on purpose.
    Flaws,
    /// Recorded behaviours that are no flaw, and why.
    Behaviours,
    /// What many seeds must reach.
    Marks,
    /// What is known not to be guaranteed.
    Limits,
    /// Kinds of fault that swarm switches off or makes heavy.
    Faults,
    /// What is planted in runs to examine the examination: for whoever works on Groundhog itself.
    #[value(hide = true)]
    Plants,
}

impl Kind {
    /// Every kind that a user has to do with, in the order of lists.
    pub const ALL: [Kind; 7] =
        [Kind::Scenarios, Kind::Laws, Kind::Flaws, Kind::Behaviours, Kind::Marks, Kind::Limits, Kind::Faults];

    /// All of them, and what is for whoever works on Groundhog itself.
    pub const WITH_HIDDEN: [Kind; 8] = [
        Kind::Scenarios,
        Kind::Laws,
        Kind::Flaws,
        Kind::Behaviours,
        Kind::Marks,
        Kind::Limits,
        Kind::Faults,
        Kind::Plants,
    ];

    /// The word for one of it.
    pub const fn one(self) -> &'static str {
        match self {
            Self::Scenarios => "scenario",
            Self::Laws => "law",
            Self::Flaws => "flaw",
            Self::Behaviours => "behaviour",
            Self::Marks => "mark",
            Self::Limits => "limit",
            Self::Faults => "fault",
            Self::Plants => "plant",
        }
    }
}

/// One thing that has a name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Named {
    /// Which kind of thing.
    pub kind: Kind,
    /// Its name.
    pub name: &'static str,
    /// What it is, in a sentence.
    pub about: String,
    /// More that `explain` says, line by line: what, and which.
    pub more: Vec<(&'static str, String)>,
}

/// Everything of one kind, in its own order.
pub fn all(kind: Kind) -> Vec<Named> {
    match kind {
        Kind::Scenarios => CATALOGUE
            .iter()
            .map(|entry| Named {
                kind,
                name: entry.name,
                about: entry.about(),
                more: scenario_marks(entry.name),
            })
            .chain(PLANS.iter().map(|plan| Named {
                kind,
                name: plan.name,
                about: plan.about.to_owned(),
                more: Vec::new(),
            }))
            .collect(),
        Kind::Laws => LAWS
            .iter()
            .map(|law| Named {
                kind,
                name: law.id,
                about: stated(law.states).0.to_owned(),
                more: law_more(law.id, law.kind, law.states),
            })
            .collect(),
        Kind::Flaws => Flaw::ALL
            .iter()
            .map(|flaw| Named {
                kind,
                name: flaw.id(),
                about: flaw.summary().trim().to_owned(),
                more: convicted(*flaw),
            })
            .collect(),
        Kind::Behaviours => RECORDED.iter().map(behaviour).collect(),
        Kind::Marks => MARKS
            .iter()
            .map(|mark| Named {
                kind,
                name: mark.id,
                about: mark.says.to_owned(),
                more: vec![(
                    DUE,
                    format!(
                        "{} times in 1,000 seeds of {}",
                        mark.per_thousand_seeds,
                        mark.scenarios.join(", ")
                    ),
                )],
            })
            .collect(),
        Kind::Limits => LIMITS
            .iter()
            .map(|limit| Named {
                kind,
                name: limit.id,
                about: limit.means.to_owned(),
                more: vec![("excuses", limit.laws.join(", "))],
            })
            .collect(),
        Kind::Faults => swarm::Kind::ALL
            .iter()
            .map(|kind| Named {
                kind: Kind::Faults,
                name: kind.id(),
                about: kind.about().to_owned(),
                more: vec![
                    ("key", format!("{}.{}", kind.key().0, kind.key().1)),
                    ("heavy", format!("{} times as much", kind.heavy())),
                ],
            })
            .collect(),
        Kind::Plants => Plant::ALL
            .iter()
            .map(|plant| Named {
                kind,
                name: plant.id(),
                about: plant.says().to_owned(),
                more: vec![(
                    "planted by",
                    format!("groundhog run crash-mid-batch --plant {} --check", plant.id()),
                )],
            })
            .collect(),
    }
}

/// Who convicts a flaw, where, and the command that shows it.
fn convicted(flaw: Flaw) -> Vec<(&'static str, String)> {
    let (outcome, mechanism) = convicted_by(flaw);
    let scenario = scenario_of(flaw);
    let mut more = vec![("law", outcome.to_owned())];
    more.extend(mechanism.map(|law| ("and law", law.to_owned())));
    more.push(("scenario", scenario.to_owned()));
    more.push(("shown by", format!("groundhog run {scenario} --flaw {} --seeds {SEEDS}", flaw.id())));
    more.push(("recorded as", recorded_as(flaw.entry())));
    more
}

/// Where something is recorded, and what that is.
pub fn recorded_as(entry: &str) -> String {
    let what = if entry.starts_with("B-R") {
        "a numbered entry of the record of behaviours that were found in the field"
    } else if entry.starts_with("decision") {
        "of the design of these protections, which this breaks"
    } else {
        "a section of the specification of streams, which is numbered 000"
    };
    format!("{entry} ({what})")
}

fn behaviour(recorded: &Recorded) -> Named {
    let answer = match recorded.answer {
        Answer::Shown { scenario, limit: None } => ("shown by", scenario.to_owned()),
        Answer::Shown { scenario, limit: Some(limit) } => {
            ("shown by", format!("{scenario}, counted as limit {limit}"))
        }
        Answer::Outside { because } => ("outside", because.to_owned()),
    };
    let mut more = vec![answer];
    if recorded.entry.starts_with("B-R") {
        more.push(("recorded as", recorded_as(recorded.entry)));
    }
    Named { kind: Kind::Behaviours, name: recorded.entry, about: recorded.about.to_owned(), more }
}

/// What a law states, and the places that it follows from, which stand in brackets at its end.
fn stated(states: &str) -> (&str, Option<&str>) {
    let bracket = states.trim_end_matches('.').strip_suffix(')').and_then(|text| text.rsplit_once(" ("));
    let refers =
        |places: &str| ["000", "design section", "decision"].iter().any(|word| places.contains(word));
    bracket.filter(|(_, places)| refers(places)).map_or((states, None), |(text, places)| (text, Some(places)))
}

/// What a law reads, and the flaws that it is named for.
fn law_more(id: &str, kind: LawKind, states: &str) -> Vec<(&'static str, String)> {
    let mut more = vec![("reads", reads(kind))];
    let places = stated(states).1.map(|places| format!("{places} (000: the specification of streams)"));
    more.extend(places.map(|places| ("follows from", places)));
    let is_named = |flaw: &&Flaw| {
        let (outcome, mechanism) = convicted_by(**flaw);
        outcome == id || mechanism == Some(id)
    };
    let flaws: Vec<&str> = Flaw::ALL.iter().filter(is_named).map(|flaw| flaw.id()).collect();
    more.extend((!flaws.is_empty()).then(|| ("convicts", flaws.join(", "))));
    more
}

fn reads(kind: LawKind) -> String {
    match kind {
        LawKind::Outcome => "only what the world observes".to_owned(),
        LawKind::Mechanism => "also what engines report".to_owned(),
    }
}

fn scenario_marks(scenario: &str) -> Vec<(&'static str, String)> {
    let marks = MARKS.iter().filter(|mark| mark.scenarios.contains(&scenario));
    let texts =
        marks.map(|mark| ("mark", format!("{} ({} times in 1,000 seeds)", mark.id, mark.per_thousand_seeds)));
    texts.collect()
}

/// The marks that seeds of a scenario must reach, each with how often 1,000 seeds must.
pub fn marks_due(scenario: &str) -> BTreeMap<String, u64> {
    let marks = MARKS.iter().filter(|mark| mark.scenarios.contains(&scenario));
    marks.map(|mark| (mark.id.to_owned(), mark.per_thousand_seeds)).collect()
}

/// The ids of known limits.
pub fn limit_ids() -> Vec<&'static str> {
    LIMITS.iter().map(|limit| limit.id).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_name_is_told_apart_and_says_what_it_is() {
        let names: Vec<Named> = Kind::WITH_HIDDEN.into_iter().flat_map(all).collect();
        for (place, named) in names.iter().enumerate() {
            assert!(names[..place].iter().all(|other| other.name != named.name), "{} twice", named.name);
            assert!(named.about.len() > 10, "{}", named.name);
        }
    }

    #[test]
    fn marks_are_due_of_the_scenarios_that_they_name() {
        let due = marks_due("crash-mid-batch");
        assert_eq!(due.get("batch/failed-with-another-gathering"), Some(&50));
        assert_eq!(due.get("death/while-opening"), Some(&1));
        assert_eq!(due.get("clock/stepped-back"), None);
        assert!(marks_due("mine").is_empty());
    }
}
