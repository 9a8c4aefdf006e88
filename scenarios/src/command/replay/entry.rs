//! One event as it is printed: as lines for a person, as one JSON object for a machine.

use crate::print::columns;
use crate::print::text::wrapped;
use groundhog_sim::ledger::onlooker::Line;
use groundhog_sim::ledger::timeline::HEAD_COLUMNS;
use groundhog_sim::outcome::Violation;
use serde_json::json;

/// From this width on time, place and kind stand in columns, and what happened is wrapped beside them.
const WIDE: usize = 72;

/// The indent of lines that are wrapped below.
const INDENT: usize = 4;

/// An event that is kept until it is printed.
#[derive(Clone, Debug)]
pub struct Entry {
    /// Its place in the run, from 0.
    pub index: u64,
    at_us: u64,
    node: Option<u16>,
    kind: &'static str,
    streams: Vec<String>,
    text: String,
    broken: Vec<Violation>,
}

impl Entry {
    /// One event.
    pub fn of(line: &Line<'_>) -> Self {
        Self {
            index: line.index,
            at_us: line.at.as_us(),
            node: line.node.map(|node| node.0),
            kind: line.kind().id(),
            streams: line.streams.iter().map(ToString::to_string).collect(),
            text: line.text.to_owned(),
            broken: line.broken.to_vec(),
        }
    }

    /// For a person, in lines of at most `width` columns: the event, and each law that it broke.
    pub fn lines(&self, width: usize, colour: bool) -> String {
        let mut lines = fitted(&self.text, width);
        lines.push('\n');
        for violation in &self.broken {
            lines.push_str(&broken(violation, width, colour));
        }
        lines
    }

    /// For a machine, on one line. `stream` is the only stream that it is about, `streams` are all of them, and `broken` the
    /// laws that were seen to be broken at it.
    pub fn json(&self) -> String {
        let stream = if let [stream] = &self.streams[..] { Some(stream) } else { None };
        let head = self.text.get(..HEAD_COLUMNS).filter(|head| head.ends_with(' '));
        // Time, place and kind stand in fields of their own.
        let text = head.map_or("", |_| self.text[HEAD_COLUMNS..].trim());
        json!({
            "index": self.index,
            "at_us": self.at_us,
            "node": self.node,
            "kind": self.kind,
            "stream": stream,
            "streams": self.streams,
            "text": text,
            "broken": self.broken.iter().map(|violation| violation.law).collect::<Vec<_>>(),
        })
        .to_string()
    }
}

/// A law that was broken, in lines that are seen.
pub fn broken(violation: &Violation, width: usize, colour: bool) -> String {
    let (on, off) = if colour { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
    let said = format!("{}: {}", violation.law, columns::abbreviated(&violation.saw));
    let lines = wrapped(&said, width.saturating_sub(4), 0);
    lines.lines().map(|line| format!("{on}!!! {line}{off}\n")).collect()
}

fn fitted(text: &str, width: usize) -> String {
    if width < WIDE {
        return wrapped(text, width, INDENT);
    }
    if text.chars().count() <= width {
        return text.to_owned();
    }
    match (text.get(..HEAD_COLUMNS), text.get(HEAD_COLUMNS..)) {
        (Some(head), Some(rest)) if head.ends_with(' ') => {
            format!("{head}{}", wrapped(rest, width, HEAD_COLUMNS))
        }
        _ => wrapped(text, width, INDENT),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use groundhog_sim::units::{NodeId, SimTime};

    #[test]
    fn a_line_fits_any_width_and_loses_no_word() {
        let text =
            "   0.616381 s n5.1    arrive       n4->n5/application#1 honest wall 1767225600616 ms copy 12";
        let words = |text: &str| text.split_whitespace().map(str::to_owned).collect::<Vec<_>>();
        for width in 40..=200 {
            let lines = fitted(text, width);
            assert!(lines.lines().all(|line| line.chars().count() <= width), "{width}\n{lines}");
            assert_eq!(words(&lines), words(text), "{width}");
        }
        let expected = "   0.616381 s n5.1    arrive       n4->n5/application#1 honest wall\n\
                        \x20                                  1767225600616 ms copy 12";
        assert_eq!(fitted(text, 80), expected);
    }

    #[test]
    fn a_broken_law_is_marked_on_every_line_and_its_digests_are_short() {
        let saw = "node 3 returned the result of transition 0 computed from batch 1 of record \
                   26077901945eea56cb884075f689debe8900d5cd; a power failure then could leave nothing whole";
        let violation =
            Violation { law: "commit/release", at: SimTime(0), node: Some(NodeId(3)), saw: saw.to_owned() };
        let expected = "!!! commit/release: node 3 returned the result of transition 0 computed from\n\
                        !!! batch 1 of record 260779; a power failure then could leave nothing whole\n";
        assert_eq!(broken(&violation, 80, false), expected);
        assert_eq!(broken(&violation, 80, true).matches("\x1b[1;31m!!! ").count(), 2);
    }
}
