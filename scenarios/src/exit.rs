//! How the command ends, as a number.

use std::process::ExitCode;

/// How the command ends; of several endings the worst wins.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum Exit {
    /// All held.
    Held = 0,
    /// A law was broken.
    Broken = 1,
    /// The call or a file is wrong.
    Wrong = 2,
    /// A bound of time, polls or memory was hit, or it was interrupted.
    Cut = 3,
    /// Two runs of one plan differed.
    Nondeterministic = 4,
    /// A threshold was missed.
    Missed = 5,
    /// A mark was not reached.
    Unmarked = 6,
}

impl Exit {
    const fn badness(self) -> u8 {
        match self {
            Self::Held => 0,
            Self::Unmarked => 1,
            Self::Missed => 2,
            Self::Cut => 3,
            Self::Wrong => 4,
            Self::Broken => 5,
            Self::Nondeterministic => 6,
        }
    }

    /// The worse of the two.
    #[must_use]
    pub const fn worse(self, other: Self) -> Self {
        if other.badness() > self.badness() { other } else { self }
    }

    /// As a number.
    #[must_use]
    pub const fn code(self) -> u8 {
        self as u8
    }
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit.code())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_worst_ending_wins() {
        let best_first = [
            Exit::Held,
            Exit::Unmarked,
            Exit::Missed,
            Exit::Cut,
            Exit::Wrong,
            Exit::Broken,
            Exit::Nondeterministic,
        ];
        for (place, better) in best_first.iter().enumerate() {
            for worse in &best_first[place..] {
                assert_eq!(better.worse(*worse), *worse);
                assert_eq!(worse.worse(*better), *worse);
            }
        }
    }
}
