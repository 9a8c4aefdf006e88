//! The 32-slot window of one stream, and the verdict on one transaction.

/// How a transaction stands to its stream's window (seed 000, Receiver state machine).
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum VerdictKind {
    /// Establishes a baseline: no stream was retained.
    First,
    /// Moves the window to a higher sequence.
    Advance,
    /// Fills an empty slot inside the window.
    Late,
    /// The same digest at an occupied sequence.
    Replay,
    /// Another digest at an occupied sequence.
    Fork,
    /// Below the retained window.
    Stale,
}

impl VerdictKind {
    /// Whether the transaction may be dispatched.
    #[must_use]
    pub const fn dispatches(self) -> bool {
        matches!(self, VerdictKind::First | VerdictKind::Advance | VerdictKind::Late)
    }

    /// The word that reports and `judge` use.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            VerdictKind::First => "first",
            VerdictKind::Advance => "advance",
            VerdictKind::Late => "late",
            VerdictKind::Replay => "replay",
            VerdictKind::Fork => "fork",
            VerdictKind::Stale => "stale",
        }
    }
}
