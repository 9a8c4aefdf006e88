//! Records as laws read them: a sender's lease, or a receiver's window, out of a record file's value.
//!
//! Promise: the window here is built from the seed's words and shares no code with the engine's, so that a law that
//! compares the two compares two things.

use super::RecordImage;
use super::names::DigestKey;
use groundhog_engine::host::observe::RecordName;
use groundhog_engine::store::name::record_name;
use groundhog_engine::streams::key::{StreamKey, Table};
use groundhog_engine::streams::record::{Stored, decode, storage_key};
use groundhog_engine::streams::window::VerdictKind;
use groundhog_engine::units::WallMs;
use rustc_hash::FxHashMap;

/// Slots of a window (000, Receiver state machine).
pub const WINDOW_SLOTS: u64 = 32;

/// A stream's window: the highest sequence, and which digest holds each of the last 32.
///
/// A slot lies at its sequence modulo 32, and holds a digest's [`super::names::DigestKey::word`], or 0.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ReferenceWindow {
    high: Option<u64>,
    slots: [u64; WINDOW_SLOTS as usize],
}

impl ReferenceWindow {
    /// A window from its highest sequence and its digests, the oldest first; the last is `high`'s.
    #[must_use]
    pub fn of(high: u64, accepted: &[u64; WINDOW_SLOTS as usize]) -> Self {
        let mut slots = [0; WINDOW_SLOTS as usize];
        for (back, word) in accepted.iter().rev().enumerate() {
            if let Some(sequence) = high.checked_sub(back as u64) {
                slots[Self::slot(sequence)] = *word;
            }
        }
        Self { high: Some(high), slots }
    }

    const fn slot(sequence: u64) -> usize {
        (sequence % WINDOW_SLOTS) as usize
    }

    /// The highest sequence; `None` where no stream is retained.
    #[must_use]
    pub const fn high(&self) -> Option<u64> {
        self.high
    }

    /// The lowest sequence that the window still holds a slot for.
    #[must_use]
    pub fn lowest(&self) -> u64 {
        self.high.unwrap_or(0).saturating_sub(WINDOW_SLOTS - 1)
    }

    /// The digest at a sequence inside the window.
    #[must_use]
    pub fn at(&self, sequence: u64) -> Option<u64> {
        let inside = self.high.is_some_and(|high| sequence <= high) && sequence >= self.lowest();
        Some(self.slots[Self::slot(sequence)]).filter(|word| inside && *word != 0)
    }

    /// Every sequence inside the window that is taken, with its digest, in order.
    pub fn taken(&self) -> impl Iterator<Item = (u64, u64)> + '_ {
        let span = self.high.map(|high| self.lowest()..=high);
        span.into_iter().flatten().filter_map(|sequence| Some((sequence, self.at(sequence)?)))
    }

    /// How a transaction stands to the window.
    #[must_use]
    pub fn classify(&self, sequence: u64, word: u64) -> VerdictKind {
        let Some(high) = self.high else { return VerdictKind::First };
        if sequence > high {
            return VerdictKind::Advance;
        }
        if sequence < self.lowest() {
            return VerdictKind::Stale;
        }
        match self.slots[Self::slot(sequence)] {
            0 => VerdictKind::Late,
            taken if taken == word => VerdictKind::Replay,
            _ => VerdictKind::Fork,
        }
    }

    /// Takes a transaction in, where its verdict allows that, and says the verdict.
    pub fn observe(&mut self, sequence: u64, word: u64) -> VerdictKind {
        let verdict = self.classify(sequence, word);
        match verdict {
            VerdictKind::First => self.high = Some(sequence),
            VerdictKind::Advance => {
                let high = self.high.expect("an advance has a window");
                if sequence - high >= WINDOW_SLOTS {
                    self.slots = [0; WINDOW_SLOTS as usize];
                } else {
                    (high + 1..sequence).for_each(|skipped| self.slots[Self::slot(skipped)] = 0);
                }
                self.high = Some(sequence);
            }
            VerdictKind::Late => {}
            VerdictKind::Replay | VerdictKind::Fork | VerdictKind::Stale | VerdictKind::Redelivered => {
                return verdict;
            }
        }
        self.slots[Self::slot(sequence)] = word;
        verdict
    }
}

/// What a record file's value says.
#[derive(Clone, Debug, PartialEq, Eq)]
#[expect(
    clippy::large_enum_variant,
    reason = "a value is read, looked at and dropped: a box would cost more"
)]
pub enum RecordValue {
    /// A sender's last leased sequence.
    Sender(u64),
    /// A receiver's window.
    Receiver(ReferenceWindow),
}

/// A record, decoded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ReadRecord {
    /// The stream that it says it is of.
    pub stream: StreamKey,
    /// The last instant at which anything that it admitted could be delivered, as it says; `None` for a sender's.
    pub spent: Option<WallMs>,
    /// Its content.
    pub value: RecordValue,
}

/// How records are named and read.
#[derive(Clone, Copy, Debug)]
pub struct RecordReader {
    /// The name of a stream's record in a table.
    pub name: fn(Table, &StreamKey) -> RecordName,
    /// A record's value; `None` when it is not whole.
    pub read: fn(&[u8]) -> Option<ReadRecord>,
}

impl RecordReader {
    /// The engine's own codec and names.
    pub const ENGINE: Self = Self { name: engine_name, read: engine_read };

    /// Whether the image is a whole record of this name.
    #[must_use]
    pub fn is_in_place(&self, name: RecordName, image: &RecordImage) -> bool {
        self.image(image).is_some_and(|read| {
            let table = match read.value {
                RecordValue::Sender(_) => Table::Sender,
                RecordValue::Receiver(_) => Table::Receiver,
            };
            (self.name)(table, &read.stream) == name
        })
    }

    /// The content of a record's image; `None` where there is no whole one.
    #[must_use]
    pub fn image(&self, image: &RecordImage) -> Option<ReadRecord> {
        match image {
            RecordImage::Whole { value, .. } => (self.read)(value),
            RecordImage::Absent | RecordImage::Torn => None,
        }
    }
}

fn engine_name(table: Table, stream: &StreamKey) -> RecordName {
    record_name(&storage_key(table, stream))
}

fn engine_read(value: &[u8]) -> Option<ReadRecord> {
    match decode(value).ok()? {
        Stored::Sender { key, leased } => {
            Some(ReadRecord { stream: key, spent: None, value: RecordValue::Sender(leased.0) })
        }
        Stored::Receiver { key, window, spent, .. } => {
            let words = window.slots().map(|digest| digest.map_or(0, DigestKey::word));
            let window = ReferenceWindow::of(window.high().0, &words);
            Some(ReadRecord { stream: key, spent: Some(spent), value: RecordValue::Receiver(window) })
        }
    }
}

/// Record names of streams, each computed once.
#[derive(Debug)]
pub struct RecordNames {
    table: Table,
    reader: RecordReader,
    known: FxHashMap<StreamKey, RecordName>,
}

impl RecordNames {
    /// Of one table.
    #[must_use]
    pub fn new(table: Table, reader: RecordReader) -> Self {
        Self { table, reader, known: FxHashMap::default() }
    }

    /// The name of a stream's record.
    #[inline]
    pub fn of(&mut self, stream: &StreamKey) -> RecordName {
        *self.known.entry(*stream).or_insert_with(|| (self.reader.name)(self.table, stream))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use groundhog_engine::streams::record::{Introducer, encode_receiver, encode_sender};
    use groundhog_engine::streams::window::Window;
    use groundhog_engine::units::Sequence;

    #[test]
    fn the_engines_records_are_read_as_they_were_written() {
        let stream = crate::laws::fake::stream(1, 3);
        let read = (RecordReader::ENGINE.read)(&encode_sender(&stream, Sequence(63))).unwrap();
        assert_eq!(read, ReadRecord { stream, spent: None, value: RecordValue::Sender(63) });

        let (mut window, mut reference) = (Window::first(Sequence(40), [1; 32]), ReferenceWindow::default());
        reference.observe(40, DigestKey::word(&[1; 32]));
        for (sequence, tag) in [(20, 2), (50, 3), (9, 4), (18, 5)] {
            let verdict = window.observe(Sequence(sequence), &[tag; 32]).0.kind();
            assert_eq!(verdict, reference.observe(sequence, DigestKey::word(&[tag; 32])));
        }
        let value = encode_receiver(&stream, &window, &[], Introducer::Inbox, WallMs(1));
        let read = (RecordReader::ENGINE.read)(&value).unwrap();
        let spent = Some(WallMs(1));
        assert_eq!(read, ReadRecord { stream, spent, value: RecordValue::Receiver(reference) });
        assert_eq!((RecordReader::ENGINE.read)(&value[..value.len() - 1]), None);
    }

    #[test]
    fn the_edges_of_the_window_are_the_seeds() {
        let mut window = ReferenceWindow::default();
        assert_eq!(window.observe(40, 1), VerdictKind::First);
        assert_eq!(window.observe(9, 2), VerdictKind::Late, "the 31 below a first are late");
        assert_eq!(window.observe(8, 3), VerdictKind::Stale);
        assert_eq!(window.observe(40, 1), VerdictKind::Replay);
        assert_eq!(window.observe(40, 9), VerdictKind::Fork);
        assert_eq!(window.observe(71, 4), VerdictKind::Advance, "a gap of 31 keeps one old slot");
        assert_eq!(window.at(40), Some(1));
        assert_eq!(window.observe(103, 5), VerdictKind::Advance, "a gap of 32 keeps none");
        assert_eq!(window.taken().collect::<Vec<_>>(), vec![(103, 5)]);
        assert_eq!(window.observe(u64::MAX, 6), VerdictKind::Advance);
        assert_eq!(window.observe(u64::MAX - 31, 7), VerdictKind::Late);
        assert_eq!(window.observe(u64::MAX - 32, 8), VerdictKind::Stale);
    }

    #[test]
    fn a_low_window_is_never_stale() {
        let mut window = ReferenceWindow::default();
        assert_eq!(window.observe(3, 1), VerdictKind::First);
        assert_eq!(window.observe(0, 2), VerdictKind::Late);
        assert_eq!(window.observe(31, 3), VerdictKind::Advance);
        assert_eq!(window.observe(0, 2), VerdictKind::Replay);
        assert_eq!(window.observe(32, 4), VerdictKind::Advance);
        assert_eq!(window.observe(0, 2), VerdictKind::Stale);
    }

    #[test]
    fn a_window_is_the_same_however_it_came_about() {
        let mut accepted = [0; 32];
        (accepted[31], accepted[30], accepted[0]) = (3, 2, 1);
        let mut observed = ReferenceWindow::default();
        for (sequence, word) in [(9, 1), (39, 2), (40, 3)] {
            observed.observe(sequence, word);
        }
        assert_eq!(observed, ReferenceWindow::of(40, &accepted));
        assert_eq!(ReferenceWindow::of(1, &accepted).taken().count(), 2, "no slot lies below sequence 0");
    }
}
