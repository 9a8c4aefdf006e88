//! What is spent leaves before an admission is judged (seed 000, Receiver streams by connection slot; decision 3).
//!
//! Promise: the stream of the transaction at hand leaves first if it is spent, then those of the transaction's introducer,
//! then the earliest of all, at most [`SWEPT_AT_A_TIME`]. They leave with the admission's own batch, and come back with
//! their charges where it fails.

use super::{Arriving, RecordKey, Tables, Undo};
use crate::commit::Staging;
use crate::flaws::Flaw;
use crate::host::observe::RecordName;
use crate::streams::key::StreamKey;
use crate::streams::record::Introducer;
use crate::units::WallMs;

/// Streams that one admission retires at most (decision 3).
pub const SWEPT_AT_A_TIME: usize = 64;

/// A stream that an admission retires.
pub(in crate::streams) struct Retired {
    pub(in crate::streams) stream: StreamKey,
    pub(in crate::streams) record: RecordName,
    pub(in crate::streams) introducer: Introducer,
    pub(in crate::streams) spent: WallMs,
}

impl Tables {
    /// Retires what is spent when `arriving` comes to its admission; says what that was.
    pub(in crate::streams) fn sweep(
        &mut self,
        arriving: &Arriving<'_>,
        staging: &mut Staging<'_, Self>,
    ) -> Vec<Retired> {
        let mut retired = Vec::new();
        while retired.len() < SWEPT_AT_A_TIME
            && let Some(stream) = self.next_spent(arriving)
        {
            retired.push(self.retire(&stream, staging));
        }
        retired
    }

    fn next_spent(&mut self, arriving: &Arriving<'_>) -> Option<StreamKey> {
        if self.flaws.has(Flaw::NeverRetired) {
            return None;
        }
        let Arriving { stream, introducer, now, .. } = *arriving;
        let own = self.receivers.get(stream).filter(|receiver| now > receiver.spent);
        if own.is_some() {
            return Some(*stream);
        }
        let receivers = &mut self.receivers;
        let mut place = |stream: &StreamKey| {
            let receiver = receivers.get_mut(stream).expect("a stream that will be spent is in the table");
            receiver.stands = receiver.spent;
            receiver.spent
        };
        let index = &mut self.spent_index;
        index.first_spent_of(introducer, now, &mut place).or_else(|| index.first_spent(now, &mut place))
    }

    fn retire(&mut self, stream: &StreamKey, staging: &mut Staging<'_, Self>) -> Retired {
        let receiver = self.give_up(stream).expect("a spent stream is in the table");
        self.counters.retired += 1;
        let (RecordKey { name: record, .. }, introducer, spent) =
            (receiver.filed.key, receiver.introducer, receiver.spent);
        staging.stage(receiver.filed.key, Undo::Retired(receiver));
        Retired { stream: *stream, record, introducer, spent }
    }
}
