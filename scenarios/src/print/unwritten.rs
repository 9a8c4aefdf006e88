//! Files that were asked for and could not be written.
//!
//! Promise: a full disk takes away files, never a verdict. What was found is told and decides how the command ends; only a
//! command that holds ends as one whose files are wrong.

use crate::exit::Exit;
use groundhog_reports::ReportError;

/// Files named one by one at most.
const MOST: usize = 3;

/// What was not written, and why.
#[derive(Debug, Default)]
pub struct Unwritten(Vec<String>);

impl Unwritten {
    /// What a write gave, if it went well.
    pub fn take<T>(&mut self, written: Result<T, ReportError>) -> Option<T> {
        match written {
            Ok(written) => Some(written),
            Err(error) => {
                self.0.push(error.to_string());
                None
            }
        }
    }

    /// Says on the standard error what is missing.
    pub fn tell(&self) {
        for why in self.0.iter().take(MOST) {
            eprintln!("error: not written: {why}");
        }
        if self.0.len() > MOST {
            eprintln!("error: and {} more reports were not written", self.0.len() - MOST);
        }
    }

    /// How the command ends that would end so if everything had been written.
    pub fn ending(&self, exit: Exit) -> Exit {
        if exit == Exit::Held && !self.0.is_empty() { Exit::Wrong } else { exit }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_verdict_outweighs_what_was_not_written_and_nothing_else_does() {
        let mut unwritten = Unwritten::default();
        assert_eq!(unwritten.ending(Exit::Held), Exit::Held);
        let none: Option<()> = unwritten.take(Err(ReportError::Busy { path: "out".into() }));
        assert!(none.is_none());
        for (would, does) in [
            (Exit::Held, Exit::Wrong),
            (Exit::Broken, Exit::Broken),
            (Exit::Cut, Exit::Cut),
            (Exit::Unmarked, Exit::Unmarked),
        ] {
            assert_eq!(unwritten.ending(would), does);
        }
    }
}
