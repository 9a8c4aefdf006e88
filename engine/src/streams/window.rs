//! The 32-slot window of one stream, and the verdict on one transaction.
//!
//! Promise: [`Window::observe`] is a function of window, sequence and digest alone; a rejection leaves the window as it
//! was, and an acceptance can be undone exactly.

use crate::units::Sequence;

/// How many sequences a window retains (seed 000, Receiver state machine).
pub const WINDOW_SLOTS: u64 = 32;

/// How far below the highest sequence the window reaches.
pub const WINDOW_BACKTRACK: u64 = WINDOW_SLOTS - 1;

/// SHA-256 of a whole transaction, its delegation and signature included.
pub type Digest = [u8; 32];

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
    /// Out of the relay inbox, admitted before and not taken: in relay custody, so that the window was not asked (decision 4).
    Redelivered,
}

impl VerdictKind {
    /// Whether the transaction enters its window.
    #[must_use]
    pub const fn admits(self) -> bool {
        matches!(self, VerdictKind::First | VerdictKind::Advance | VerdictKind::Late)
    }

    /// Whether the transaction may be dispatched: it enters its window, or is in relay custody.
    #[must_use]
    pub const fn dispatches(self) -> bool {
        self.admits() || matches!(self, VerdictKind::Redelivered)
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
            VerdictKind::Redelivered => "redelivered",
        }
    }
}

/// A verdict with what it found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Verdict {
    /// See [`VerdictKind::First`].
    First,
    /// See [`VerdictKind::Advance`].
    Advance,
    /// See [`VerdictKind::Late`].
    Late,
    /// See [`VerdictKind::Replay`].
    Replay,
    /// See [`VerdictKind::Fork`].
    Fork {
        /// The digest in the slot.
        accepted: Digest,
        /// The digest that came.
        incoming: Digest,
    },
    /// See [`VerdictKind::Stale`].
    Stale {
        /// The lowest sequence that the window still judges.
        retained_min: Sequence,
    },
    /// See [`VerdictKind::Redelivered`]; no window gives it.
    Redelivered,
}

impl Verdict {
    /// The verdict without its findings.
    #[must_use]
    pub const fn kind(self) -> VerdictKind {
        match self {
            Verdict::First => VerdictKind::First,
            Verdict::Advance => VerdictKind::Advance,
            Verdict::Late => VerdictKind::Late,
            Verdict::Replay => VerdictKind::Replay,
            Verdict::Fork { .. } => VerdictKind::Fork,
            Verdict::Stale { .. } => VerdictKind::Stale,
            Verdict::Redelivered => VerdictKind::Redelivered,
        }
    }
}

/// The highest accepted sequence and the digests of the 32 sequences up to it.
///
/// A sequence's digest lies in place `sequence mod 32`, under a bit that says whether it counts. So an advance clears bits
/// and writes one digest, and undoing it puts back one digest and the bits: what was cleared still lies in its place.
#[derive(Clone)]
pub struct Window {
    high: Sequence,
    occupied: u32,
    digests: Box<[Digest; WINDOW_SLOTS as usize]>,
}

/// What [`Window::undo`] needs to take an acceptance back.
#[derive(Clone, Copy, Debug)]
pub struct WindowUndo {
    high: Sequence,
    occupied: u32,
    place: u8,
    digest: Digest,
}

/// Why stored slots are not a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InvalidWindow {
    /// The slot of the highest sequence is empty.
    #[error("the slot of the highest sequence {high} is empty")]
    HighestEmpty {
        /// The highest sequence.
        high: Sequence,
    },
    /// A slot below sequence zero is set.
    #[error("slot {slot} is set, which lies below sequence 0 when the highest is {high}")]
    BelowZero {
        /// The slot, counted from the lowest.
        slot: usize,
        /// The highest sequence.
        high: Sequence,
    },
}

impl Window {
    /// The window after the first transaction of a stream. Any sequence is allowed.
    #[must_use]
    pub fn first(sequence: Sequence, digest: Digest) -> Self {
        let mut window = Self { high: sequence, occupied: 0, digests: Box::new([[0; 32]; 32]) };
        window.set(sequence, digest);
        window
    }

    /// The highest accepted sequence.
    #[must_use]
    pub const fn high(&self) -> Sequence {
        self.high
    }

    /// The lowest sequence that is judged by its slot; what lies below is stale.
    #[must_use]
    pub const fn retained_min(&self) -> Sequence {
        Sequence(self.high.0.saturating_sub(WINDOW_BACKTRACK))
    }

    /// The digest accepted at `sequence`, if it is retained.
    #[must_use]
    pub fn accepted(&self, sequence: Sequence) -> Option<&Digest> {
        let retained = sequence >= self.retained_min() && sequence <= self.high;
        (retained && self.occupied & bit(sequence) != 0).then(|| &self.digests[place(sequence)])
    }

    /// The slots as a record holds them: the last is that of the highest sequence.
    #[must_use]
    pub fn slots(&self) -> [Option<&Digest>; WINDOW_SLOTS as usize] {
        std::array::from_fn(|slot| {
            let below = WINDOW_BACKTRACK - slot as u64;
            self.high.0.checked_sub(below).and_then(|sequence| self.accepted(Sequence(sequence)))
        })
    }

    /// The window of stored slots.
    ///
    /// # Errors
    /// [`InvalidWindow`]: the highest slot must be set, and those below sequence zero empty.
    pub fn restore(
        high: Sequence,
        slots: &[Option<Digest>; WINDOW_SLOTS as usize],
    ) -> Result<Self, InvalidWindow> {
        let Some(highest) = slots[WINDOW_BACKTRACK as usize] else {
            return Err(InvalidWindow::HighestEmpty { high });
        };
        let mut window = Self::first(high, highest);
        for (slot, digest) in slots.iter().enumerate() {
            let Some(digest) = digest else { continue };
            match high.0.checked_sub(WINDOW_BACKTRACK - slot as u64) {
                Some(sequence) => window.set(Sequence(sequence), *digest),
                None => return Err(InvalidWindow::BelowZero { slot, high }),
            }
        }
        Ok(window)
    }

    /// Judges one transaction, and accepts it where the verdict dispatches; then the second value takes it back.
    pub fn observe(&mut self, sequence: Sequence, digest: &Digest) -> (Verdict, Option<WindowUndo>) {
        if sequence > self.high {
            let undo = self.undo_of(sequence);
            self.advance(sequence, *digest);
            return (Verdict::Advance, Some(undo));
        }
        if sequence < self.retained_min() {
            return (Verdict::Stale { retained_min: self.retained_min() }, None);
        }
        if self.occupied & bit(sequence) == 0 {
            let undo = self.undo_of(sequence);
            self.set(sequence, *digest);
            return (Verdict::Late, Some(undo));
        }
        let accepted = &self.digests[place(sequence)];
        if accepted == digest {
            (Verdict::Replay, None)
        } else {
            (Verdict::Fork { accepted: *accepted, incoming: *digest }, None)
        }
    }

    /// Takes back the last acceptance that was not taken back yet.
    pub fn undo(&mut self, undo: &WindowUndo) {
        self.high = undo.high;
        self.occupied = undo.occupied;
        self.digests[usize::from(undo.place)] = undo.digest;
    }

    fn undo_of(&self, sequence: Sequence) -> WindowUndo {
        let place = place(sequence);
        WindowUndo {
            high: self.high,
            occupied: self.occupied,
            place: u8::try_from(place).expect("a place is below 32"),
            digest: self.digests[place],
        }
    }

    fn advance(&mut self, sequence: Sequence, digest: Digest) {
        let gap = sequence.0 - self.high.0;
        assert!(gap > 0, "an advance moves upwards");
        if gap >= WINDOW_SLOTS {
            self.occupied = 0;
        } else {
            // The places of high+1..=sequence held the lowest `gap` sequences, which the window now leaves behind.
            let left_behind = (1u32 << gap) - 1;
            let from = u32::try_from((self.high.0 + 1) % WINDOW_SLOTS).expect("below 32");
            self.occupied &= !left_behind.rotate_left(from);
        }
        self.high = sequence;
        self.set(sequence, digest);
    }

    fn set(&mut self, sequence: Sequence, digest: Digest) {
        self.occupied |= bit(sequence);
        self.digests[place(sequence)] = digest;
    }
}

impl PartialEq for Window {
    fn eq(&self, other: &Self) -> bool {
        self.high == other.high && self.slots() == other.slots()
    }
}

impl Eq for Window {}

impl std::fmt::Debug for Window {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Window(high {}, occupied {:032b})", self.high, self.occupied)
    }
}

const fn place(sequence: Sequence) -> usize {
    (sequence.0 % WINDOW_SLOTS) as usize
}

const fn bit(sequence: Sequence) -> u32 {
    1 << place(sequence)
}

/// Judges one transaction of a stream that may not be retained: [`Window::observe`], and `First` where there is no window.
pub fn observe(
    window: &mut Option<Window>,
    sequence: Sequence,
    digest: &Digest,
) -> (Verdict, Option<WindowUndo>) {
    match window {
        Some(window) => window.observe(sequence, digest),
        None => {
            *window = Some(Window::first(sequence, *digest));
            (Verdict::First, None)
        }
    }
}

#[cfg(test)]
#[path = "window_tests.rs"]
mod tests;
