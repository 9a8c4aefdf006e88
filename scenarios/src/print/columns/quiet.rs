//! What a node does on its disk while nothing turns on it: counted, and told in a clause of what comes of it.

use groundhog_engine::host::observe::Step;
use std::collections::BTreeMap;

/// Work on the disk that nobody was told of yet.
#[derive(Debug, Default)]
pub struct Quiet {
    operations: u64,
    steps: BTreeMap<Step, u32>,
    records: usize,
    events: u64,
}

impl Quiet {
    /// A disk operation was answered as it should be.
    pub fn operation(&mut self) {
        self.operations += 1;
        self.events += 1;
    }

    /// The engine came to a place in the writing of a batch.
    pub fn step(&mut self, step: Step) {
        *self.steps.entry(step).or_default() += 1;
        self.events += 1;
    }

    /// A batch of so many records is being written.
    pub fn closed(&mut self, records: usize) {
        self.records = records;
        self.events += 1;
    }

    /// Whether a batch is on its way to be durable.
    pub fn is_writing(&self) -> bool {
        [Step::TemporaryFlushed, Step::Renamed, Step::DirectoryFlushed]
            .iter()
            .any(|step| self.steps.contains_key(step))
    }

    /// What there was, and how many events that was; it is told now.
    pub fn taken(&mut self) -> (Self, u64) {
        let taken = std::mem::take(self);
        let events = taken.events;
        (taken, events)
    }

    /// `: 3 records, 12 disk ops`, for what comes of it.
    pub fn effort(&self) -> String {
        let mut clauses = Vec::new();
        if self.records > 1 {
            clauses.push(format!("{} records", self.records));
        }
        if self.operations > 0 {
            clauses.push(format!("{} disk op{}", self.operations, plural(self.operations)));
        }
        if clauses.is_empty() { String::new() } else { format!(" ({})", clauses.join(", ")) }
    }

    /// How far it came, for what cuts it short: `temporary flushed, renamed x2 (5 disk ops)`.
    pub fn progress(&self) -> Option<String> {
        let steps = self.steps.iter().filter_map(|(step, times)| {
            let words = words(*step)?;
            Some(if *times > 1 { format!("{words} x{times}") } else { words.to_owned() })
        });
        let steps: Vec<String> = steps.collect();
        match (steps.is_empty(), self.operations) {
            (true, 0) => None,
            (true, operations) => Some(format!("{operations} disk op{}", plural(operations))),
            (false, _) => Some(format!("{}{}", steps.join(", "), self.effort())),
        }
    }
}

const fn plural(number: u64) -> &'static str {
    if number == 1 { "" } else { "s" }
}

/// A step in words; `None` for those that go without saying.
const fn words(step: Step) -> Option<&'static str> {
    Some(match step {
        Step::Gathering | Step::BeforeRelease | Step::Opened | Step::OpenDirectoryFlushed => return None,
        Step::TemporaryFlushed => "temporary flushed",
        Step::Renamed => "renamed",
        Step::DirectoryFlushed => "directory flushed",
        Step::Marked => "marked",
        Step::OpenTemporaryRemoved => "old temporary removed",
        Step::OpenRewritten => "rewritten",
        Step::OpenMarked => "marked",
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quiet_work_is_counted_and_told_once() {
        let mut quiet = Quiet::default();
        assert_eq!((quiet.progress(), quiet.effort(), quiet.is_writing()), (None, String::new(), false));
        quiet.operation();
        assert_eq!(quiet.progress().as_deref(), Some("1 disk op"));
        quiet.closed(2);
        quiet.operation();
        for step in [Step::Renamed, Step::TemporaryFlushed, Step::Renamed, Step::Gathering] {
            quiet.step(step);
        }
        assert!(quiet.is_writing());
        let (told, events) = quiet.taken();
        let expected = "temporary flushed, renamed x2 (2 records, 2 disk ops)";
        assert_eq!((told.progress().as_deref(), events), (Some(expected), 7));
        assert_eq!(quiet.taken().1, 0);
    }
}
