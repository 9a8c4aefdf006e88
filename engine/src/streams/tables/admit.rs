//! An admission: the verdict of a stream's window, and whether a new stream may begin.

use super::{Decided, Filed, ReceiverStream, RecordKey, Tables, Undo, refused};
use crate::commit::Staging;
use crate::host::observe::{BatchNumber, Decision, RecordName};
use crate::streams::error::Refusal;
use crate::streams::key::{StreamKey, Table};
use crate::streams::record::Introducer;
use crate::streams::slots::CapacityBound;
use crate::streams::window::{Digest, Verdict, Window};
use crate::units::{Sequence, WallMs};

/// A transaction at admission.
pub(in crate::streams) struct Arriving<'a> {
    pub(in crate::streams) stream: &'a StreamKey,
    pub(in crate::streams) sequence: Sequence,
    pub(in crate::streams) digest: &'a Digest,
    /// When it can no longer be delivered.
    pub(in crate::streams) spent: WallMs,
    pub(in crate::streams) introducer: Introducer,
    /// The node's wall clock, read inside the boundary: readings rise with the order of admissions, as far as the clock
    /// does.
    pub(in crate::streams) now: WallMs,
}

/// Why a transaction was not judged.
#[derive(Debug)]
pub(in crate::streams) enum NotAdmitted {
    /// It was spent when it came to its admission.
    Spent { spent: WallMs, now: WallMs },
    /// See [`Refusal`].
    Refused(Refusal),
}

type Admitted = Decided<Result<Verdict, NotAdmitted>>;

impl Tables {
    /// Judges a transaction, and admits it where the verdict dispatches. What is spent is to be swept first.
    pub(in crate::streams) fn admit(
        &mut self,
        arriving: &Arriving<'_>,
        staging: &mut Staging<'_, Self>,
    ) -> Admitted {
        if arriving.now > arriving.spent {
            return self.refuse_spent(arriving);
        }
        let Some(receiver) = self.receivers.get_mut(arriving.stream) else {
            return self.admit_first(arriving, staging);
        };
        let (key, introducer, spent) = (receiver.filed.key, receiver.introducer, receiver.spent);
        let (verdict, undo) = receiver.window.observe(arriving.sequence, arriving.digest);
        let Some(window) = undo else {
            staging.depend_on(key);
            self.count(verdict);
            return judged(key, arriving, verdict, None);
        };
        staging.stage(key, Undo::Admitted { stream: key.stream, window, spent });
        receiver.spent = spent.max(arriving.spent);
        self.spent_index.change(introducer, (spent, receiver.spent), key.stream);
        judged(key, arriving, verdict, Some(staging.batch()))
    }

    /// A stream may have been retired since the transaction was verified: its window is no longer there to know it by.
    fn refuse_spent(&mut self, arriving: &Arriving<'_>) -> Admitted {
        self.counters.spent += 1;
        let (spent, now) = (arriving.spent, arriving.now);
        let record = Filed::new(Table::Receiver, arriving.stream).key.name;
        refused(record, "spent", Err(NotAdmitted::Spent { spent, now }))
    }

    fn admit_first(&mut self, arriving: &Arriving<'_>, staging: &mut Staging<'_, Self>) -> Admitted {
        let (record, refusal) = match self.begin_receiver(arriving, staging) {
            Ok(filed) => {
                let Arriving { sequence, digest, introducer, spent, .. } = *arriving;
                let (key, window) = (filed.key, Window::first(sequence, *digest));
                self.take_in(Box::new(ReceiverStream {
                    filed,
                    window,
                    custody: Vec::new(),
                    introducer,
                    spent,
                }));
                self.joined(key, staging);
                return judged(key, arriving, Verdict::First, Some(staging.batch()));
            }
            Err(refused) => refused,
        };
        refused(record, refusal.id(), Err(NotAdmitted::Refused(refusal)))
    }

    fn begin_receiver(
        &mut self,
        arriving: &Arriving<'_>,
        staging: &mut Staging<'_, Self>,
    ) -> Result<Filed, (RecordName, Refusal)> {
        let (stream, introducer) = (*arriving.stream, arriving.introducer);
        let filed = self.begin(Table::Receiver, &stream)?;
        self.room_for(introducer).map_err(|bound| {
            self.counters.stream_capacity_exceeded.count(bound);
            self.depend_on_count(Table::Receiver, staging);
            (filed.key.name, Refusal::StreamCapacityExceeded { stream, introducer, bound })
        })?;
        Ok(filed)
    }

    fn room_for(&self, introducer: Introducer) -> Result<(), CapacityBound> {
        self.charges.room_for(introducer)?;
        let capacity = self.bounds.capacity;
        if self.has_room(Table::Receiver) { Ok(()) } else { Err(CapacityBound::Table { capacity }) }
    }

    fn count(&mut self, verdict: Verdict) {
        match verdict {
            Verdict::Replay => self.counters.replay += 1,
            Verdict::Fork { .. } => self.counters.fork += 1,
            Verdict::Stale { .. } => self.counters.stale += 1,
            Verdict::First | Verdict::Advance | Verdict::Late => {}
        }
    }
}

fn judged(
    key: RecordKey,
    arriving: &Arriving<'_>,
    verdict: Verdict,
    staged: Option<BatchNumber>,
) -> Admitted {
    let decision =
        Decision::Verdict { verdict: verdict.kind(), sequence: arriving.sequence, digest: *arriving.digest };
    Decided { record: key.name, decision, staged, result: Ok(verdict) }
}
