//! The block that every failing path ends with, last on the screen.

use crate::exit::Exit;
use std::fmt::Write;

/// One failure.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Failure {
    /// Its kind.
    pub kind: FailureKind,
    /// The law, the bound, the mark.
    pub what: String,
    /// What was seen, in one line.
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
    /// Groundhog itself failed.
    Defect,
    /// A mark was not reached.
    Missed,
}

impl FailureKind {
    const fn word(self) -> &'static str {
        match self {
            Self::Differs => "DIFFERS",
            Self::Broken => "FAILED",
            Self::Cut => "CUT",
            Self::Defect => "DEFECT",
            Self::Missed => "MISSED",
        }
    }

    /// How the command ends because of it.
    pub const fn exit(self) -> Exit {
        match self {
            Self::Differs => Exit::Nondeterministic,
            Self::Broken => Exit::Broken,
            Self::Cut | Self::Defect => Exit::Cut,
            Self::Missed => Exit::Unmarked,
        }
    }
}

/// The worst of all failures.
pub fn exit(failures: &[Failure]) -> Exit {
    failures.iter().fold(Exit::Held, |worst, failure| worst.worse(failure.kind.exit()))
}

/// The block: the worst failure last, where the eye falls first.
pub fn block(failures: &[Failure], colour: bool) -> String {
    let mut sorted: Vec<&Failure> = failures.iter().collect();
    // Stable, so that failures of one kind keep their order.
    sorted.sort_by_key(|failure| match failure.kind {
        FailureKind::Missed => 0,
        FailureKind::Cut => 1,
        FailureKind::Defect => 2,
        FailureKind::Broken => 3,
        FailureKind::Differs => 4,
    });
    let mut text = String::new();
    for failure in sorted {
        let (on, off) = if colour { ("\x1b[1;31m", "\x1b[0m") } else { ("", "") };
        let _ = writeln!(text, "{on}{:<8}{off} {}   {}", failure.kind.word(), failure.what, failure.saw);
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
    fn the_worst_failure_stands_last_and_decides_the_exit() {
        let failures = [FailureKind::Broken, FailureKind::Missed, FailureKind::Cut].map(failure);
        assert_eq!(exit(&failures), Exit::Broken);
        let text = block(&failures, false);
        let last = text.lines().rfind(|line| !line.starts_with(' '));
        assert!(last.is_some_and(|line| line.starts_with("FAILED")), "{text}");
    }
}
