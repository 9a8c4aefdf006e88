//! Marks over many seeds: how often each was reached, at which rate, and how that stands to what is due.
//!
//! Promise: a mark that is due and was never reached is always named. Whether one that was reached too seldom is a
//! failure is decided only over as many seeds as chance needs.

use crate::facts::{MarksJudged, ScenarioFacts};
use crate::format::count;
use serde::Serialize;
use std::collections::BTreeMap;

/// How often a mark was reached, against what is due.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Standing {
    /// It is due, and was never reached.
    Unreached,
    /// It was reached, by so many seeds less often than is due.
    BelowShare,
    /// It was reached as often as is due, as far as these seeds can say.
    Reached,
    /// Nobody asked for it.
    NotDue,
}

/// One mark over the seeds of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkRate<'a> {
    /// Its id.
    pub id: &'a str,
    /// How often it was reached.
    pub reached: u64,
    /// Over how many seeds.
    pub seeds: u64,
    /// How often 1,000 seeds are to reach it.
    pub due_per_thousand: Option<u64>,
    /// How the two compare.
    pub standing: Standing,
}

impl MarkRate<'_> {
    /// How often 1,000 seeds reached it, rounded to the nearest.
    #[must_use]
    pub fn per_thousand(&self) -> u64 {
        rounded(self.reached, 1_000, self.seeds)
    }

    /// As people read it: with a decimal where there are few.
    #[must_use]
    pub fn rate(&self) -> String {
        let tenths = rounded(self.reached, 10_000, self.seeds);
        if tenths < 1_000 { format!("{}.{}", tenths / 10, tenths % 10) } else { count(self.per_thousand()) }
    }

    /// What is due of these seeds, rounded down: a share below one is none.
    #[must_use]
    pub fn due(&self) -> u64 {
        self.due_per_thousand.unwrap_or(0).saturating_mul(self.seeds) / 1_000
    }
}

/// `part * scale / whole` to the nearest integer.
fn rounded(part: u64, scale: u64, whole: u64) -> u64 {
    let (part, whole) = (u128::from(part) * u128::from(scale), u128::from(whole.max(1)));
    u64::try_from((part + whole / 2) / whole).unwrap_or(u64::MAX)
}

/// Every mark that is due or was reached, in order of name.
#[must_use]
pub fn rates<'a>(
    reached: &'a BTreeMap<&'static str, u64>,
    due_per_thousand: &'a BTreeMap<String, u64>,
    seeds: u64,
) -> Vec<MarkRate<'a>> {
    let names = due_per_thousand.keys().map(String::as_str).chain(reached.keys().copied());
    let names: std::collections::BTreeSet<&str> = names.collect();
    let rate = |id: &'a str| {
        let (reached, due) = (reached.get(id).copied().unwrap_or(0), due_per_thousand.get(id).copied());
        let mut rate = MarkRate { id, reached, seeds, due_per_thousand: due, standing: Standing::Reached };
        rate.standing = match due {
            None => Standing::NotDue,
            Some(_) if reached == 0 => Standing::Unreached,
            Some(_) if reached < rate.due() => Standing::BelowShare,
            Some(_) => Standing::Reached,
        };
        rate
    };
    names.into_iter().map(rate).collect()
}

impl ScenarioFacts {
    /// Every mark that is due or was reached, in order of name.
    #[must_use]
    pub fn mark_rates(&self) -> Vec<MarkRate<'_>> {
        rates(&self.totals.marks, &self.marks, self.totals.seeds)
    }

    /// Marks that these seeds reached less often than is due, where that is judged: what makes a campaign fail.
    #[must_use]
    pub fn missed(&self) -> Vec<MarkRate<'_>> {
        if self.marks_judged != MarksJudged::Judged {
            return Vec::new();
        }
        let rates = self.mark_rates().into_iter();
        rates.filter(|mark| mark.due_per_thousand.is_some() && mark.reached < mark.due()).collect()
    }
}

impl MarksJudged {
    /// Why nothing is judged, where nothing is.
    #[must_use]
    pub fn why_not(self) -> Option<String> {
        match self {
            Self::Judged => None,
            Self::TooFewSeeds { needed } => {
                Some(format!("not judged yet, that takes {} seeds", count(needed)))
            }
            Self::Not { because } => Some(format!("not judged, for {because}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::totals::Totals;

    fn facts(seeds: u64, marks_judged: MarksJudged) -> ScenarioFacts {
        let mut totals = Totals::new("s");
        totals.seeds = seeds;
        totals.marks = BTreeMap::from([("a", 9), ("b", 10), ("c", 1), ("free", 40_000)]);
        let due = [("a", 50), ("b", 50), ("c", 1), ("never", 1), ("never-often", 50)];
        let marks = due.map(|(id, share)| (id.to_owned(), share)).into();
        ScenarioFacts { totals, marks, marks_judged }
    }

    #[test]
    fn each_mark_stands_to_its_share() {
        let facts = facts(200, MarksJudged::Judged);
        let found: Vec<_> =
            facts.mark_rates().iter().map(|mark| (mark.id, mark.rate(), mark.standing)).collect();
        let expected = [
            ("a", "45.0", Standing::BelowShare),
            ("b", "50.0", Standing::Reached),
            ("c", "5.0", Standing::Reached),
            ("free", "200,000", Standing::NotDue),
            ("never", "0.0", Standing::Unreached),
            ("never-often", "0.0", Standing::Unreached),
        ];
        assert_eq!(found, expected.map(|(id, rate, standing)| (id, rate.to_owned(), standing)));
    }

    #[test]
    fn what_is_missed_is_missed_only_where_it_is_judged_and_a_share_below_one_is_none() {
        let missed = |facts: &ScenarioFacts| -> Vec<String> {
            facts
                .missed()
                .iter()
                .map(|mark| format!("{} {} of {}", mark.id, mark.reached, mark.due()))
                .collect()
        };
        assert_eq!(missed(&facts(200, MarksJudged::Judged)), ["a 9 of 10", "never-often 0 of 10"]);
        assert_eq!(missed(&facts(1_000, MarksJudged::Judged)).len(), 4);
        assert!(missed(&facts(199, MarksJudged::TooFewSeeds { needed: 200 })).is_empty());
        assert!(missed(&facts(200, MarksJudged::Not { because: "a flaw is on" })).is_empty());
    }

    #[test]
    fn no_seed_is_no_rate() {
        assert!(
            facts(0, MarksJudged::Judged)
                .mark_rates()
                .iter()
                .all(|mark| mark.reached == 0 || mark.per_thousand() > 0)
        );
    }
}
