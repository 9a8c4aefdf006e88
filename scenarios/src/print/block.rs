//! The block that every failing path ends with, last on the screen.

use super::text::{self, wrapped};
use crate::exit::Exit;
use std::fmt::Write;

/// Columns before what was seen, on the lines after the first.
const INDENT: usize = 9;

/// Columns before the sides of what differs.
const SIDE: usize = 11;

/// One failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its kind.
    pub kind: FailureKind,
    /// The law, the bound, the mark.
    pub what: String,
    /// What was seen, in one line; more lines are its sides, each with its name and an indent of two.
    pub saw: String,
    /// What it was shrunk to, and where that lies.
    pub shrunk: Option<String>,
    /// The page that shows it.
    pub see: Option<String>,
    /// The command that repeats it.
    pub repeat: Option<String>,
}

/// What kind of failure.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FailureKind {
    /// Two runs of one plan differed.
    Differs,
    /// A law was broken.
    Broken,
    /// A bound was hit, or it was interrupted.
    Cut,
    /// What was asked for cannot be.
    Wrong,
    /// Groundhog itself failed.
    Defect,
    /// A mark was not reached.
    Missed,
    /// A figure is beyond its threshold.
    Threshold,
}

impl FailureKind {
    const fn word(self) -> &'static str {
        match self {
            Self::Differs => "DIFFERS",
            Self::Broken => "FAILED",
            Self::Cut => "CUT",
            Self::Wrong => "WRONG",
            Self::Defect => "DEFECT",
            Self::Missed | Self::Threshold => "MISSED",
        }
    }

    /// How the command ends because of it.
    pub const fn exit(self) -> Exit {
        match self {
            Self::Differs => Exit::Nondeterministic,
            Self::Broken => Exit::Broken,
            Self::Cut | Self::Defect => Exit::Cut,
            Self::Wrong => Exit::Wrong,
            Self::Missed => Exit::Unmarked,
            Self::Threshold => Exit::Missed,
        }
    }
}

/// The worst of all failures.
pub fn exit(failures: &[Failure]) -> Exit {
    failures.iter().fold(Exit::Held, |worst, failure| worst.worse(failure.kind.exit()))
}

/// The block, as wide as output may be: the worst failure last, where the eye falls first.
pub fn block(failures: &[Failure], colour: bool) -> String {
    fitted(failures, usize::from(text::width()), colour)
}

/// The block in lines of at most `width` columns, but for what is to be pasted, which stays on lines of its own.
fn fitted(failures: &[Failure], width: usize, colour: bool) -> String {
    let mut sorted: Vec<&Failure> = failures.iter().collect();
    // Stable, so that failures of one kind keep their order.
    sorted.sort_by_key(|failure| match failure.kind {
        FailureKind::Missed | FailureKind::Threshold => 0,
        FailureKind::Cut => 1,
        FailureKind::Defect => 2,
        FailureKind::Wrong => 3,
        FailureKind::Broken => 4,
        FailureKind::Differs => 5,
    });
    let mut text = String::new();
    for failure in sorted {
        let (on, off) = if colour { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
        let mut lines = failure.saw.lines();
        let first = headed(&failure.what, lines.next().unwrap_or_default(), width);
        let _ = writeln!(text, "{on}{:<8}{off} {first}", failure.kind.word());
        for side in lines {
            let (name, line) = side.split_at(side.len().min(SIDE));
            let line = wrapped(line, width, SIDE);
            let _ = writeln!(text, "{name}{line}");
        }
        if let Some(shrunk) = &failure.shrunk {
            let _ = writeln!(text, "  shrunk   {shrunk}");
        }
        if let Some(see) = &failure.see {
            let _ = writeln!(text, "  see      {see}");
        }
        if let Some(repeat) = &failure.repeat {
            let _ = writeln!(text, "  repeat   {repeat}");
        }
    }
    text
}

/// What it is and what was seen, beside the word of the block that stands before both.
fn headed(what: &str, saw: &str, width: usize) -> String {
    // Three blanks part the two for whoever reads with a tool.
    let head = what.chars().count() + 3;
    if INDENT + head >= width {
        return format!("{what}\n{:INDENT$}{}", "", wrapped(saw, width, INDENT));
    }
    // As if the first line began with a word as long as what stands before.
    let filled = format!("{} {saw}", "x".repeat(head - 1));
    let wrapped = wrapped(&filled, width, INDENT);
    let (stands_before, rest) = wrapped.split_at(head.min(wrapped.len()));
    // The first word of what was seen may be too long to stand beside what it is.
    let gap = if stands_before.ends_with('\n') { "\n" } else { "   " };
    format!("{what}{gap}{rest}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn failure(kind: FailureKind) -> Failure {
        Failure {
            kind,
            what: "streams/at-most-once".to_owned(),
            saw: "twice".to_owned(),
            shrunk: Some("214 -> 3 actions, 1 fault, 1 node, 0.9 s   out/shrunk.json".to_owned()),
            see: Some("out/report.html".to_owned()),
            repeat: Some("groundhog run crash-mid-batch --seed 7".to_owned()),
        }
    }

    #[test]
    fn the_block_has_the_form_that_tools_look_for() {
        assert_eq!(
            block(&[failure(FailureKind::Broken)], false),
            "FAILED   streams/at-most-once   twice\n  shrunk   214 -> 3 actions, 1 fault, 1 node, 0.9 s   out/shrunk.json\n  see      out/report.html\n  repeat   groundhog run crash-mid-batch --seed 7\n"
        );
    }

    #[test]
    fn what_was_seen_is_wrapped_and_what_is_pasted_is_not() {
        let saw = "node 3 returned the result of transition 0 computed from batch 1 of record \
                   26077901945eea56cb884075f689debe8900d5cd; a power failure then could leave nothing whole";
        let repeat = format!("groundhog run {}", "a/long/path/".repeat(12));
        let failure =
            Failure { saw: saw.to_owned(), repeat: Some(repeat.clone()), ..failure(FailureKind::Broken) };
        let expected = "FAILED   streams/at-most-once   node 3 returned the result of transition 0\n         \
                        computed from batch 1 of record\n         \
                        26077901945eea56cb884075f689debe8900d5cd; a power failure then could\n         \
                        leave nothing whole\n";
        assert!(fitted(std::slice::from_ref(&failure), 80, false).starts_with(expected));
        for width in [40, 60, 80, 200] {
            let text = fitted(std::slice::from_ref(&failure), width, false);
            let lines = text
                .lines()
                .filter(|line| !["  repeat", "  shrunk"].iter().any(|pasted| line.starts_with(pasted)));
            assert!(lines.into_iter().all(|line| line.chars().count() <= width), "{width}\n{text}");
            assert!(text.contains(&repeat), "{text}");
            assert_eq!(
                fitted(std::slice::from_ref(&failure), width, true).lines().count(),
                text.lines().count()
            );
        }
    }

    #[test]
    fn both_sides_of_a_difference_stay_apart_however_long_they_are() {
        let side = "n3.0 transition 0 admits n4->n5/application#1 honest wall 1767225600616 ms, batch 12";
        let saw = format!("event 7 differs\n  here     {side}\n  there    nothing");
        let failure = Failure { saw, shrunk: None, ..failure(FailureKind::Differs) };
        let text = fitted(&[failure], 60, false);
        assert!(text.lines().all(|line| line.chars().count() <= 60), "{text}");
        assert!(
            text.contains("\n  here     n3.0 transition 0") && text.contains("\n  there    nothing\n"),
            "{text}"
        );
    }

    #[test]
    fn the_worst_failure_stands_last_and_decides_the_exit() {
        let failures = [FailureKind::Broken, FailureKind::Missed, FailureKind::Cut].map(failure);
        assert_eq!(exit(&failures), Exit::Broken);
        let text = block(&failures, false);
        let last = text.lines().rfind(|line| !line.starts_with(' '));
        assert!(last.is_some_and(|line| line.starts_with("FAILED")), "{text}");
    }
}
