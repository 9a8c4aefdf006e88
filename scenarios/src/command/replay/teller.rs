//! Prints the events that are wanted: at once, or the last of them once it is known which those are.
//!
//! Promise: what is not shown between two that are is counted, where it is enough to matter.

use super::entry::{self, Entry};
use super::filter::Filter;
use crate::print::columns::Until;
use groundhog_sim::ledger::onlooker::Line;
use groundhog_sim::outcome::Violation;
use std::collections::VecDeque;
use std::io::Write;

/// Events that somebody filtered out are counted from so many in a row on: nobody needs to hear of each.
const LEAST_GAP: u64 = 10;

/// How many of the wanted events are shown.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Extent {
    /// All of them.
    All,
    /// The last before it ends.
    Last(usize, Until),
}

/// How an entry is written.
#[derive(Clone, Copy, Debug)]
pub enum Form {
    /// For a person.
    Lines {
        /// Columns that a line may have.
        width: usize,
        /// Whether what is broken is coloured.
        colour: bool,
    },
    /// For a machine.
    Json,
}

/// Takes every event of a run and prints those that are wanted.
pub struct Teller {
    filter: Filter,
    extent: Extent,
    form: Form,
    output: Box<dyn Write + Send>,
    kept: VecDeque<Entry>,
    over: bool,
    seen: Vec<Violation>,
    counts: Counts,
    /// The place of the event that would be next, had none been left out.
    next: u64,
}

/// What became of the events.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// How many there were until the end of what is shown.
    pub until: u64,
    /// How many of these were wanted.
    pub wanted: u64,
    /// How many were shown.
    pub shown: u64,
}

impl Teller {
    /// Prints to `output`.
    pub fn new(filter: Filter, extent: Extent, form: Form, output: Box<dyn Write + Send>) -> Self {
        let (kept, over, seen, counts, next) = Default::default();
        Self { filter, extent, form, output, kept, over, seen, counts, next }
    }

    /// Takes the next event.
    pub fn take(&mut self, line: &Line<'_>) {
        self.seen.extend(line.broken.iter().cloned());
        if self.over {
            return;
        }
        self.counts.until += 1;
        let breaks = !line.broken.is_empty() && self.filter.is_near(line);
        if self.filter.wants(line) || breaks {
            self.counts.wanted += 1;
            let entry = Entry::of(line);
            match &self.extent {
                Extent::All => self.print(&entry),
                Extent::Last(most, _) => {
                    if self.kept.len() == *most {
                        self.kept.pop_front();
                    }
                    self.kept.push_back(entry);
                }
            }
        }
        if let Extent::Last(_, until) = &self.extent {
            self.over = line.broken.iter().any(|violation| until.is(violation));
        }
    }

    /// The run is over, after so many events and with these violations: prints what was kept, and what laws said at the
    /// end.
    pub fn finish(mut self, events: u64, violations: &[Violation]) -> Counts {
        for entry in std::mem::take(&mut self.kept) {
            self.print(&entry);
        }
        self.gap(events);
        let last_words = violations.iter().filter(|violation| !self.seen.contains(violation));
        if let Form::Lines { width, colour } = self.form
            && !self.over
        {
            let said: Vec<String> =
                last_words.map(|violation| entry::broken(violation, width, colour)).collect();
            self.write(&said.concat());
        }
        // Whoever no longer reads has seen enough.
        let _ = self.output.flush();
        self.counts
    }

    fn print(&mut self, entry: &Entry) {
        self.gap(entry.index);
        self.next = entry.index + 1;
        self.counts.shown += 1;
        let text = match self.form {
            Form::Lines { width, colour } => entry.lines(width, colour),
            Form::Json => entry.json() + "\n",
        };
        self.write(&text);
    }

    /// Says what lies between the last event that was shown and the one at `index`.
    fn gap(&mut self, index: u64) {
        let events = index.saturating_sub(self.next);
        let least = if self.filter.is_open() { 1 } else { LEAST_GAP };
        if matches!(self.form, Form::Lines { .. }) && events >= least {
            let events = groundhog_reports::count(events);
            self.write(&format!("... {events} events not shown\n"));
        }
    }

    fn write(&mut self, text: &str) {
        // The run goes on for its verdict when nobody reads any more.
        let _ = self.output.write_all(text.as_bytes());
    }
}
