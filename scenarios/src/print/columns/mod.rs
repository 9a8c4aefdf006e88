//! A run as a picture in text: a column for each node that takes part, time from above, messages as arrows.
//!
//! Promise: what is told is what the ledger saw; what is left out is counted. Everything but [`of_plan_breaking`] is pure.

mod beat;
mod choose;
mod draft;
mod focus;
mod joining;
mod layout;
mod quiet;
#[cfg(test)]
mod samples;
mod story;

pub use focus::abbreviated;

use super::text::wrapped;
use crate::simulate::{self, Manner};
use groundhog_sim::ledger::onlooker::Line;
use groundhog_sim::outcome::{Outcome, Violation};
use groundhog_sim::plan::Plan;
use groundhog_sim::run::RunError;
use groundhog_sim::units::NodeId;
use layout::Row;
use std::collections::{BTreeMap, BTreeSet};
use story::Story;

/// Where a story ends.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Until {
    /// With the first broken law.
    Broken,
    /// With the first time that this law is broken.
    Law(String),
    /// With the run.
    End,
}

impl Until {
    /// Whether it ends with this.
    pub fn is(&self, violation: &Violation) -> bool {
        match self {
            Self::Broken => true,
            Self::Law(law) => violation.law == law,
            Self::End => false,
        }
    }
}

/// Takes a run's lines and tells its story.
pub struct Columns {
    story: Story,
    until: Until,
    /// Nodes that have columns whatever they do.
    wanted: BTreeSet<NodeId>,
    taken: u64,
    over: bool,
    seen: Vec<Violation>,
    /// Laws that were told of once and broken again, and how often.
    again: BTreeMap<&'static str, u64>,
}

impl Columns {
    /// Of a run of `plan` that has not begun.
    pub fn new(plan: &Plan, until: Until, wanted: BTreeSet<NodeId>) -> Self {
        let (taken, over, seen, again) = Default::default();
        Self { story: Story::new(plan), until, wanted, taken, over, seen, again }
    }

    /// Takes the next event; one that is not `shown` has no place in the picture.
    pub fn take(&mut self, line: &Line<'_>, shown: bool) {
        if self.over {
            return;
        }
        self.taken += 1;
        self.story.take(line, shown);
        for violation in line.broken {
            self.broken(violation, Some(line));
        }
    }

    fn broken(&mut self, violation: &Violation, line: Option<&Line<'_>>) {
        let first = !self.seen.iter().any(|seen| seen.law == violation.law);
        let turns = self.until.is(violation) && !self.over;
        if turns || self.until == Until::End && self.seen.is_empty() {
            self.story.turns_on(violation, line);
        }
        self.over |= turns;
        // Of what a story is not told for, once is enough.
        if first || turns || self.until == Until::End {
            self.story.broken(violation);
        } else {
            *self.again.entry(violation.law).or_default() += 1;
        }
        self.seen.push(violation.clone());
    }

    /// The run is over: the picture.
    pub fn picture(mut self, outcome: &Outcome, width: usize) -> String {
        if !self.over {
            // Laws that spoke when the run was over.
            for violation in &outcome.violations {
                if !self.seen.contains(violation) {
                    self.broken(violation, None);
                }
            }
        }
        let told = self.story.told();
        let (nodes, others) = choose::nodes(&told, &self.wanted, layout::most_columns(width));
        // Whoever asks for a whole run gets all of it.
        let most = if self.until == Until::End { usize::MAX } else { choose::MOST_LINES };
        let chosen = choose::beats(&told, &nodes, most, |beat| layout::lines_of(beat, &nodes, width));
        let row = |(beat, chosen): (_, bool)| if chosen { Row::Beat(beat) } else { Row::Passed(beat) };
        let rows: Vec<Row<'_>> = told.beats.iter().zip(chosen).map(row).collect();
        let mut picture = layout::columns(&rows, &nodes, width);
        let notes = notes(&self.again, outcome.events.saturating_sub(self.taken), &others);
        for note in notes {
            picture.push_str(&format!("\n{}\n", wrapped(&note, width.max(layout::LEAST_WIDTH), 0)));
        }
        picture
    }
}

/// What the picture does not show, and how to read it.
fn notes(again: &BTreeMap<&'static str, u64>, after: u64, others: &[NodeId]) -> Vec<String> {
    let mut left_out = Vec::new();
    if !again.is_empty() {
        let times = |(law, times): (&&str, &u64)| format!("{law} {times} more");
        left_out.push(format!("Broken again: {}.", again.iter().map(times).collect::<Vec<_>>().join(", ")));
    }
    if !others.is_empty() {
        left_out.push(format!("Without columns: {}.", names(others)));
    }
    if after > 0 {
        left_out.push(format!("Events after the end of this: {}.", groundhog_reports::count(after)));
    }
    let mut notes = Vec::new();
    if !left_out.is_empty() {
        notes.push(left_out.join(" "));
    }
    notes.push("X death, o boot, * fault, ! failure, !!! broken law, --> arrival, -x loss".to_owned());
    notes
}

/// Nodes by name, the first few.
fn names(nodes: &[NodeId]) -> String {
    const MOST: usize = 8;
    let mut sorted = nodes.to_vec();
    sorted.sort_unstable();
    let mut names: Vec<String> = sorted.iter().take(MOST).map(|node| format!("n{}", node.0)).collect();
    if nodes.len() > MOST {
        names.push(format!("{} more", nodes.len() - MOST));
    }
    names.join(", ")
}

/// Runs a plan and tells its story up to the first time that one law is broken, whatever else was before, or to its end,
/// in lines of at most `width` columns.
///
/// # Errors
/// When the plan cannot be run.
pub fn of_plan_breaking(plan: &Plan, manner: &Manner, law: &str, width: usize) -> Result<String, RunError> {
    drawn(plan, manner, Until::Law(law.to_owned()), width)
}

fn drawn(plan: &Plan, manner: &Manner, until: Until, width: usize) -> Result<String, RunError> {
    let columns = Columns::new(plan, until, BTreeSet::new());
    let (outcome, columns) =
        simulate::gather(plan, manner, columns, |columns, line| columns.take(line, true))?;
    Ok(columns.picture(&outcome, width))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::target;

    fn of_plan(plan: &Plan, manner: &Manner, width: usize) -> Result<String, RunError> {
        drawn(plan, manner, Until::Broken, width)
    }

    /// Few nodes and few messages, and what breaks laws in every run of them.
    fn plan(flaws: &[&str]) -> Plan {
        let settings = ["nodes=3", "load.bursts=3", "crypto=keyed-hash"].map(str::to_owned);
        let flaws: Vec<String> = flaws.iter().map(|flaw| (*flaw).to_owned()).collect();
        let settings = target::settings(&settings).expect("they are settings");
        let targets = target::find("crash-mid-batch", &settings).expect("it is in the catalogue");
        targets[0].plan(0, &target::flaws(&flaws).expect("they are flaws"))
    }

    fn manner() -> Manner {
        Manner::plain(Default::default())
    }

    #[test]
    fn the_picture_of_a_plan_ends_with_the_law_that_it_breaks_and_fits_a_page() {
        let plan = plan(&["early-release"]);
        for width in [40, 80, 120] {
            let picture = of_plan(&plan, &manner(), width).expect("the plan runs");
            let lines: Vec<&str> = picture.lines().collect();
            let told = lines.iter().rposition(|line| line.starts_with("!!! ")).expect("a law is broken");
            let after: Vec<&&str> = lines[told + 1..].iter().filter(|line| !line.is_empty()).collect();
            assert!(
                after.iter().all(|line| line.starts_with(|letter: char| letter.is_alphanumeric())),
                "{picture}"
            );
            assert!(lines.len() <= 70, "{picture}");
            assert!(lines.iter().all(|line| line.chars().count() <= width), "{picture}");
            assert!(picture.contains("!!! commit/release:") && picture.contains("wants "), "{picture}");
            assert_eq!(picture, of_plan(&plan, &manner(), width).expect("the plan runs"));
        }
    }

    #[test]
    fn a_picture_told_for_one_law_goes_on_to_it_past_others() {
        let plan = plan(&["early-release"]);
        let first = of_plan(&plan, &manner(), 80).expect("the plan runs");
        let later = of_plan_breaking(&plan, &manner(), "streams/lease", 80).expect("the plan runs");
        assert!(!first.contains("streams/lease"), "{first}");
        let broken: Vec<&str> =
            later.lines().filter(|line| line.starts_with("!!! ") && line.contains(": ")).collect();
        assert!(broken.last().is_some_and(|last| last.starts_with("!!! streams/lease:")), "{later}");
    }

    #[test]
    fn a_run_that_holds_is_told_to_its_end() {
        let picture = of_plan(&plan(&[]), &manner(), 80).expect("the plan runs");
        assert!(!picture.contains("!!! s") && !picture.contains("after the end"), "{picture}");
        assert!(picture.contains(" boot, open by "), "{picture}");
    }
}
