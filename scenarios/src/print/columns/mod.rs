//! A run as a picture in text: a column for each node that takes part, time from above, messages as arrows.
//!
//! Promise: what is told is what the ledger saw; what is left out is counted. Everything but [`of_plan`] is pure.

mod beat;
mod choose;
mod draft;
mod focus;
mod layout;
mod quiet;
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
use std::sync::{Arc, Mutex};
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

/// Runs a plan and tells its story up to the first broken law, or to its end when all hold, in lines of at most `width`
/// columns.
///
/// # Errors
/// When the plan cannot be run.
pub fn of_plan(plan: &Plan, manner: &Manner, width: usize) -> Result<String, RunError> {
    drawn(plan, manner, Until::Broken, width)
}

/// The same up to the first time that one law is broken, whatever else was before.
///
/// # Errors
/// When the plan cannot be run.
pub fn of_plan_breaking(plan: &Plan, manner: &Manner, law: &str, width: usize) -> Result<String, RunError> {
    drawn(plan, manner, Until::Law(law.to_owned()), width)
}

fn drawn(plan: &Plan, manner: &Manner, until: Until, width: usize) -> Result<String, RunError> {
    let columns = Arc::new(Mutex::new(Some(Columns::new(plan, until, BTreeSet::new()))));
    let sink = {
        let columns = Arc::clone(&columns);
        Box::new(move |line: &Line<'_>| {
            if let Some(columns) = &mut *columns.lock().expect("drawing does not panic") {
                columns.take(line, true);
            }
        })
    };
    let outcome = simulate::watch(plan, manner, sink)?;
    let columns = columns.lock().expect("drawing does not panic").take();
    Ok(columns.map_or_else(String::new, |columns| columns.picture(&outcome, width)))
}
