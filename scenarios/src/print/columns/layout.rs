//! Beats as text: time at the left, a line for each node's life, words beside it, arrows between them.
//!
//! Promise: no line is wider than the width that was given, down to [`LEAST_WIDTH`]; every letter is ASCII unless a law's
//! own words are not.

use super::beat::{Beat, Mark, What};
use crate::print::text::wrapped;
use groundhog_sim::units::{NodeId, SimTime};
use std::collections::BTreeSet;
use std::fmt::Write;

/// The narrowest width that a story is laid out for.
pub const LEAST_WIDTH: usize = 40;

/// The narrowest column in which words are still read and not spelled.
const LEAST_COLUMN: usize = 20;

/// The widest column: beyond, the eye loses which line a word stands beside.
const MOST_COLUMN: usize = 44;

/// Columns of the time and of the gap after it.
const TIME: usize = 13;

/// Lines after which the names of the nodes stand again.
const LINES_A_HEADER: usize = 60;

/// How many nodes' columns fit.
pub fn most_columns(width: usize) -> usize {
    (width.max(LEAST_WIDTH) - TIME) / LEAST_COLUMN
}

/// One row of a story.
#[derive(Clone, Copy, Debug)]
pub enum Row<'b> {
    /// A beat in its place.
    Beat(&'b Beat),
    /// A beat that is passed over: it is not told, and the lives that it ends or begins still do.
    Passed(&'b Beat),
}

/// Rows as text of at most `width` columns, a column for each of `nodes`, in that order.
pub fn columns(rows: &[Row<'_>], nodes: &[NodeId], width: usize) -> String {
    let mut sheet = Sheet::new(nodes, width.max(LEAST_WIDTH));
    sheet.header();
    let mut passed = 0;
    for row in rows {
        match row {
            Row::Passed(beat) => {
                passed += beat.events;
                sheet.lives(beat);
            }
            Row::Beat(beat) => {
                sheet.gap(std::mem::take(&mut passed));
                if sheet.lines > LINES_A_HEADER {
                    sheet.header();
                }
                sheet.beat(beat);
            }
        }
    }
    sheet.gap(passed);
    sheet.text
}

/// How many lines a beat takes.
pub fn lines_of(beat: &Beat, nodes: &[NodeId], width: usize) -> usize {
    let mut sheet = Sheet::new(nodes, width.max(LEAST_WIDTH));
    sheet.beat(beat);
    sheet.text.lines().count()
}

struct Sheet<'n> {
    nodes: &'n [NodeId],
    width: usize,
    column: usize,
    down: BTreeSet<NodeId>,
    told: Option<SimTime>,
    text: String,
    /// Lines since the names of the nodes.
    lines: usize,
}

impl<'n> Sheet<'n> {
    fn new(nodes: &'n [NodeId], width: usize) -> Self {
        let column = ((width - TIME) / nodes.len().max(1)).min(MOST_COLUMN);
        Self { nodes, width, column, down: BTreeSet::new(), told: None, text: String::new(), lines: 0 }
    }

    /// Where a node's line stands.
    fn line_of(&self, node: NodeId) -> Option<usize> {
        let place = self.nodes.iter().position(|with_column| *with_column == node)?;
        Some(TIME + place * self.column)
    }

    fn header(&mut self) {
        let mut names = String::new();
        for node in self.nodes {
            let _ = write!(names, "{:<width$}", format!("n{}", node.0), width = self.column);
        }
        self.push(&format!("{:TIME$}{names}", ""));
        self.lines = 0;
    }

    fn gap(&mut self, events: u64) {
        if events > 0 {
            let plural = if events == 1 { "" } else { "s" };
            let events = groundhog_reports::count(events);
            self.push(&format!("{:TIME$}... {events} event{plural} not shown", ""));
        }
    }

    fn beat(&mut self, beat: &Beat) {
        match &beat.what {
            What::Broken { law, saw } => self.broken(law, saw),
            What::Across(text) | What::Link { text, .. } => {
                let time = self.time(beat.at);
                let text = wrapped(text, self.width, TIME);
                self.push(&format!("{time}{text}"));
            }
            What::At { node, text, mark } => self.at(beat.at, *node, text, *mark),
            What::Arrow { from, to, label } => self.arrow(beat.at, (*from, *to), label),
        }
        self.lives(beat);
    }

    fn lives(&mut self, beat: &Beat) {
        if let What::At { node, mark, .. } = &beat.what {
            match mark {
                Mark::Death => _ = self.down.insert(*node),
                Mark::Boot => _ = self.down.remove(node),
                Mark::Plain | Mark::Fault | Mark::Wrong => {}
            }
        }
    }

    /// The time, where it is not that of the row before.
    fn time(&mut self, at: SimTime) -> String {
        if self.told.replace(at) == Some(at) {
            return format!("{:TIME$}", "");
        }
        let us = at.as_us();
        format!("{:>width$} s ", format!("{}.{:06}", us / 1_000_000, us % 1_000_000), width = TIME - 3)
    }

    /// The lines of all lives.
    fn lines(&self) -> Vec<char> {
        let mut letters = vec![' '; self.width];
        for (place, node) in self.nodes.iter().enumerate() {
            if !self.down.contains(node) {
                letters[TIME + place * self.column] = '|';
            }
        }
        letters
    }

    fn at(&mut self, at: SimTime, node: NodeId, text: &str, mark: Mark) {
        let Some(line) = self.line_of(node) else { return };
        // Words stop before the next line; those of the last column go to the edge.
        let is_last = self.nodes.last() == Some(&node);
        let room = if is_last { (self.width - line - 2).min(MOST_COLUMN) } else { self.column - 3 };
        let mut time = self.time(at);
        let mut letter = match mark {
            Mark::Plain => None,
            Mark::Death => Some('X'),
            Mark::Boot => Some('o'),
            Mark::Fault => Some('*'),
            Mark::Wrong => Some('!'),
        };
        if mark == Mark::Boot {
            self.down.remove(&node);
        }
        for part in wrapped(text, room, 0).lines() {
            let mut letters = self.lines();
            if let Some(letter) = letter.take() {
                letters[line] = letter;
            }
            write_over(&mut letters, line + 2, part);
            write_over(&mut letters, 0, &std::mem::take(&mut time));
            self.push(&letters.iter().collect::<String>());
            if mark == Mark::Death {
                self.down.insert(node);
            }
        }
    }

    fn arrow(&mut self, at: SimTime, (from, to): (NodeId, NodeId), label: &str) {
        let Some(head) = self.line_of(to) else { return };
        let tail = self.line_of(from).filter(|tail| tail.abs_diff(head) >= label.chars().count() + 7);
        // Without room for the label, or without a column to come from, the arrow stands as words.
        let Some(tail) = tail else {
            return self.at(at, to, &format!("<- n{} {label}", from.0), Mark::Plain);
        };
        let (left, right) = (tail.min(head), tail.max(head));
        let mut letters = self.lines();
        letters[left + 1..right].fill('-');
        letters[if head == right { right - 1 } else { left + 1 }] = if head == right { '>' } else { '<' };
        let room = right - left - 1;
        write_over(&mut letters, left + 1 + (room - label.chars().count()) / 2, label);
        let time = self.time(at);
        write_over(&mut letters, 0, &time);
        self.push(&letters.iter().collect::<String>());
    }

    fn broken(&mut self, law: &str, saw: &str) {
        let said = wrapped(&format!("{law}: {saw}"), self.width - 4, 0);
        for part in said.lines() {
            self.push(&format!("!!! {part}"));
        }
    }

    fn push(&mut self, line: &str) {
        self.text.push_str(line.trim_end());
        self.text.push('\n');
        self.lines += 1;
    }
}

fn write_over(letters: &mut [char], from: usize, text: &str) {
    for (place, letter) in letters.iter_mut().skip(from).zip(text.chars()) {
        *place = letter;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn beat(us: u64, what: What) -> Beat {
        Beat { at: SimTime::from_us(us), events: 3, about: Vec::new(), what, shown: true }
    }

    fn at(us: u64, node: u16, text: &str, mark: Mark) -> Beat {
        beat(us, What::At { node: NodeId(node), text: text.to_owned(), mark })
    }

    fn arrow(us: u64, from: u16, to: u16, label: &str) -> Beat {
        beat(us, What::Arrow { from: NodeId(from), to: NodeId(to), label: label.to_owned() })
    }

    /// Everything that a story can hold.
    fn beats() -> Vec<Beat> {
        let saw = "node 3 dispatched node 0->node 3/storage#0 twice (t=0.206189 s, t=0.260000 s)".to_owned();
        vec![
            beat(4_126, What::Across("n0-3 boot, open by 0.004126 s".to_owned())),
            at(204_627, 0, "signs and sends storage#0 to n3", Mark::Plain),
            arrow(206_029, 0, 3, "storage#0"),
            at(206_189, 3, "n0 storage#0: first, batch 2", Mark::Plain),
            at(206_189, 3, "dispatches n0 storage#0", Mark::Plain),
            at(207_000, 1, "does something that is passed over", Mark::Plain),
            at(208_259, 3, "process crash; batch 2: temporary flushed (3 disk ops)", Mark::Death),
            arrow(209_000, 3, 0, "late#1"),
            at(244_615, 3, "boots again", Mark::Boot),
            at(245_000, 1, "disk-error", Mark::Fault),
            arrow(250_000, 9, 1, "app#7"),
            beat(
                251_000,
                What::Link {
                    ends: (NodeId(0), NodeId(3)),
                    text: "* fault begins: partition, node 0<->3".to_owned(),
                },
            ),
            at(260_000, 3, "dispatches n0 storage#0", Mark::Plain),
            beat(260_000, What::Broken { law: "streams/at-most-once", saw }),
        ]
    }

    fn rows(beats: &[Beat]) -> Vec<Row<'_>> {
        let passed = |place| place == 5;
        let row = |(place, beat)| if passed(place) { Row::Passed(beat) } else { Row::Beat(beat) };
        beats.iter().enumerate().map(row).collect()
    }

    #[test]
    fn a_story_of_three_nodes_reads_as_it_stands_here() {
        let beats = beats();
        let told = columns(&rows(&beats), &[NodeId(0), NodeId(1), NodeId(3)], 80);
        let expected = "\x20            n0                    n1                    n3
  0.004126 s n0-3 boot, open by 0.004126 s
  0.204627 s | signs and sends     |                     |
             | storage#0 to n3     |                     |
  0.206029 s |-----------------storage#0---------------->|
  0.206189 s |                     |                     | n0 storage#0: first,
             |                     |                     | batch 2
             |                     |                     | dispatches n0
             |                     |                     | storage#0
             ... 3 events not shown
  0.208259 s |                     |                     X process crash; batch
             |                     |                       2: temporary flushed
             |                     |                       (3 disk ops)
  0.209000 s |<-----------------late#1-------------------
  0.244615 s |                     |                     o boots again
  0.245000 s |                     * disk-error          |
  0.250000 s |                     | <- n9 app#7         |
  0.251000 s * fault begins: partition, node 0<->3
  0.260000 s |                     |                     | dispatches n0
             |                     |                     | storage#0
!!! streams/at-most-once: node 3 dispatched node 0->node 3/storage#0 twice
!!! (t=0.206189 s, t=0.260000 s)
";
        assert_eq!(told, expected, "\n{told}");
    }

    #[test]
    fn no_line_is_wider_than_the_width_and_nothing_is_lost_on_the_way() {
        let beats = beats();
        let nodes = [0, 1, 3].map(NodeId);
        for width in 40..=200 {
            let shown = &nodes[..nodes.len().min(most_columns(width))];
            let told = columns(&rows(&beats), shown, width);
            let widest = told.lines().map(|line| line.chars().count()).max();
            assert!(widest <= Some(width), "{width}\n{told}");
            assert!(told.is_ascii() && told.contains("!!! streams/at-most-once:"), "{told}");
        }
        assert_eq!((most_columns(40), most_columns(80)), (1, 3));
    }

    #[test]
    fn a_node_that_died_where_nothing_is_shown_has_no_line_until_it_boots() {
        let (death, boot) = (at(1, 0, "gone", Mark::Death), at(3, 0, "back", Mark::Boot));
        let (between, after) = (at(2, 1, "works", Mark::Plain), at(4, 1, "rests", Mark::Plain));
        let rows = [Row::Passed(&death), Row::Beat(&between), Row::Passed(&boot), Row::Beat(&after)];
        let told = columns(&rows, &[NodeId(0), NodeId(1)], 60);
        let line = |word| told.lines().find(|line| line.contains(word)).expect("it is told").to_owned();
        assert!(!line("works")[TIME..TIME + 1].contains('|'), "{told}");
        assert!(line("rests")[TIME..TIME + 1].contains('|'), "{told}");
    }
}
