//! What came of one flaw.

use std::collections::BTreeSet;

/// How one flaw fared before one law that is named for it.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Trial {
    /// The law.
    pub law: &'static str,
    /// For each start: seeds until the law broke, the breaking one included; `null` when it never did.
    pub seeds: Vec<Option<u64>>,
    /// What the law saw first.
    pub saw: Option<String>,
}

impl Trial {
    /// Nothing tried yet.
    pub const fn new(law: &'static str) -> Self {
        Self { law, seeds: Vec::new(), saw: None }
    }

    /// Whether the law broke from every start.
    pub fn convicts(&self) -> bool {
        !self.seeds.is_empty() && self.seeds.iter().all(Option::is_some)
    }

    /// The median of the seeds until the law broke; `None` when it did not from at least half of the starts.
    pub fn median(&self) -> Option<u64> {
        let mut seeds: Vec<u64> = self.seeds.iter().map(|seeds| seeds.unwrap_or(u64::MAX)).collect();
        seeds.sort_unstable();
        let middle = seeds.get(seeds.len().saturating_sub(1) / 2).copied()?;
        (middle != u64::MAX).then_some(middle)
    }
}

/// The smallest case of one flaw.
#[derive(Clone, Debug, PartialEq, Eq, serde::Serialize)]
pub struct Shrunk {
    /// The seed that was shrunk.
    pub seed: u64,
    /// Inputs and adversaries' acts that are left.
    pub actions: usize,
    /// Faults that are left.
    pub faults: usize,
    /// Nodes that are left.
    pub nodes: usize,
    /// Whether nothing more can be left out.
    pub one_minimal: bool,
    /// Real time that it took, in milliseconds.
    pub real_time_ms: u64,
    /// Where the plan is, if it was written.
    pub path: Option<String>,
}

/// Whether a flaw is convicted.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// By every law named for it.
    Convicted,
    /// Another law breaks, but not every law named for it.
    FallsToAnother,
    /// No law sees it.
    Survives,
}

/// How one flaw fared.
#[derive(Clone, Debug, serde::Serialize)]
pub struct Case {
    /// The flaw's id.
    pub flaw: &'static str,
    /// The scenario that was chosen for it.
    pub scenario: &'static str,
    /// Before the outcome law named for it.
    pub outcome: Trial,
    /// Before the mechanism law, where one is named.
    pub mechanism: Option<Trial>,
    /// Every law that its first failing seeds break, the named ones included.
    pub broken: BTreeSet<&'static str>,
    /// The first of the same seeds that does not hold without the flaw.
    pub broken_without: Option<u64>,
    /// The smallest case, where one was asked for.
    pub shrunk: Option<Shrunk>,
    /// Why there is none although one was asked for.
    pub not_shrunk: Option<String>,
    /// Why the smallest case was not written although that was asked for.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_written: Option<String>,
    /// Real time of all of it, in milliseconds of the machine that ran it.
    pub real_time_ms: u64,
}

impl Case {
    /// Before the laws named for it.
    pub fn trials(&self) -> impl Iterator<Item = &Trial> {
        std::iter::once(&self.outcome).chain(&self.mechanism)
    }

    /// Whether it is convicted, its seeds left out of account that do not hold without it.
    pub fn verdict(&self) -> Verdict {
        let named = |law: &str| self.trials().any(|trial| trial.law == law);
        if self.trials().all(Trial::convicts) {
            Verdict::Convicted
        } else if self.broken.iter().any(|law| !named(law)) {
            Verdict::FallsToAnother
        } else {
            Verdict::Survives
        }
    }

    /// Whether all is as it must be.
    pub fn is_well(&self) -> bool {
        self.verdict() == Verdict::Convicted && self.broken_without.is_none() && self.not_shrunk.is_none()
    }

    /// Laws that break and are not named for it.
    pub fn also(&self) -> Vec<&'static str> {
        let named = |law: &&str| self.trials().any(|trial| trial.law == *law);
        self.broken.iter().copied().filter(|law| !named(law)).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn trial(law: &'static str, seeds: &[Option<u64>]) -> Trial {
        Trial { law, seeds: seeds.to_vec(), saw: None }
    }

    fn case(outcome: Trial, mechanism: Option<Trial>, broken: &[&'static str]) -> Case {
        Case {
            flaw: "a-flaw",
            scenario: "a-scenario",
            outcome,
            mechanism,
            broken: broken.iter().copied().collect(),
            broken_without: None,
            shrunk: None,
            not_shrunk: None,
            not_written: None,
            real_time_ms: 0,
        }
    }

    #[test]
    fn the_median_is_of_all_starts_and_a_start_without_conviction_counts_as_endless() {
        for (seeds, median) in [
            (&[][..], None),
            (&[Some(4)], Some(4)),
            (&[Some(9), Some(1), Some(4)], Some(4)),
            (&[Some(9), None, Some(4)], Some(9)),
            (&[None, None, Some(4)], None),
            (&[Some(8), Some(2)], Some(2)),
        ] {
            assert_eq!(trial("law", seeds).median(), median, "{seeds:?}");
        }
        assert!(!trial("law", &[]).convicts(), "who was not tried is not convicted");
    }

    #[test]
    fn a_flaw_is_convicted_by_the_laws_named_for_it_alone() {
        let broke = || trial("outcome", &[Some(1), Some(2)]);
        let partly = || trial("outcome", &[Some(1), None]);
        let never = || trial("mechanism", &[None, None]);
        for (case, verdict) in [
            (case(broke(), None, &["outcome"]), Verdict::Convicted),
            (case(broke(), None, &["outcome", "other"]), Verdict::Convicted),
            (case(partly(), None, &["outcome"]), Verdict::Survives),
            (case(broke(), Some(never()), &["outcome"]), Verdict::Survives),
            (case(broke(), Some(never()), &["outcome", "other"]), Verdict::FallsToAnother),
            (case(never(), None, &[]), Verdict::Survives),
        ] {
            assert_eq!(
                (case.verdict(), case.is_well()),
                (verdict, verdict == Verdict::Convicted),
                "{case:?}"
            );
        }
        let mut unsound = case(broke(), None, &["outcome"]);
        unsound.broken_without = Some(3);
        assert!(!unsound.is_well(), "a law that breaks without the flaw proves nothing");
        assert_eq!(case(broke(), None, &["other", "outcome"]).also(), ["other"]);
    }
}
