//! Relay custody in the tables: what enters it, what finds itself there, and what leaves it (decision 4).
//!
//! Promise: every change is an effect of a transition and is taken back with its batch. What is spent leaves memory at the
//! next sweep, and a record with its next write; an absent carrier removes nothing.

use super::{Arriving, Count, Decided, Filed, ReceiverStream, RecordKey, Tables, Undo, refused};
use crate::commit::Staging;
use crate::flaws::Flaw;
use crate::host::observe::Decision;
use crate::streams::error::{NOT_IN_CUSTODY, Refusal};
use crate::streams::key::{StreamKey, Table};
use crate::streams::record::{CUSTODY_MAX_ENTRIES, CustodyEntry, Introducer};
use crate::streams::window::Digest;
use crate::units::{Sequence, WallMs};

/// A delivery that left custody, and what to put back where it is undone.
#[derive(Clone, Copy, Debug)]
pub(in crate::streams) struct LeftCustody {
    pub(in crate::streams) stream: StreamKey,
    pub(in crate::streams) entry: CustodyEntry,
}

/// What takes a departure back.
pub(in crate::streams) struct CustodyUndo {
    left: LeftCustody,
    place: usize,
    why: Departure,
}

/// Why a delivery leaves custody.
#[derive(Clone, Copy)]
enum Departure {
    Taken,
    Expired,
    #[cfg_attr(not(feature = "flaws"), expect(dead_code, reason = "no correct engine drops custody"))]
    Dropped,
}

/// What was to be taken is not in custody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::streams) struct NotInCustody;

impl Tables {
    /// Drops every spent entry from memory; says which. At most as many as were ever in custody.
    pub(in crate::streams) fn expire_custody(
        &mut self,
        now: WallMs,
        staging: &mut Staging<'_, Self>,
    ) -> Vec<LeftCustody> {
        let mut expired = Vec::new();
        while let Some((stream, sequence, digest)) = self.custody.first_spent(now) {
            let (left, undo) = self
                .leave_custody(&stream, sequence, &digest, Departure::Expired)
                .expect("what the index has is in its stream");
            staging.stage_unwritten(undo);
            expired.push(left);
        }
        expired
    }

    /// The application takes mail: the entry leaves custody, in memory now and in its record with the batch.
    pub(in crate::streams) fn take(
        &mut self,
        stream: &StreamKey,
        sequence: Sequence,
        digest: &Digest,
        staging: &mut Staging<'_, Self>,
    ) -> Decided<Result<LeftCustody, NotInCustody>> {
        let key = self.receivers.get(stream).map(|receiver| receiver.filed.key);
        if let Some((left, undo)) = self.leave_custody(stream, sequence, digest, Departure::Taken) {
            let key = key.expect("what has custody is in the table");
            staging.stage(key, undo);
            let decision = Decision::Taken { sequence, digest: *digest };
            return Decided { record: key.name, decision, staged: Some(staging.batch()), result: Ok(left) };
        }
        self.count(Count::NotInCustody, staging);
        let record = match key {
            Some(key) => {
                staging.depend_on(key);
                key.name
            }
            None => Filed::new(Table::Receiver, stream).key.name,
        };
        refused(record, NOT_IN_CUSTODY, Err(NotInCustody))
    }

    /// What a drain pass did not read leaves custody: what only a flawed engine does.
    #[cfg(feature = "flaws")]
    pub(in crate::streams) fn drop_unread(
        &mut self,
        read: &[(StreamKey, Sequence, Digest)],
        staging: &mut Staging<'_, Self>,
    ) -> Vec<LeftCustody> {
        let held: Vec<_> =
            self.custody.iter().map(|(stream, sequence, digest)| (*stream, sequence, *digest)).collect();
        let unread = held.into_iter().filter(|held| !read.contains(held));
        let mut dropped = Vec::new();
        for (stream, sequence, digest) in unread {
            let key = self.receivers[&stream].filed.key;
            let (left, undo) = self
                .leave_custody(&stream, sequence, &digest, Departure::Dropped)
                .expect("what the index has is in its stream");
            staging.stage(key, undo);
            dropped.push(left);
        }
        dropped
    }

    /// Whether a delivery finds itself in custody: it came out of the relay inbox before, and nobody took it.
    pub(super) fn is_redelivery(&self, receiver: &ReceiverStream, arriving: &Arriving<'_>) -> bool {
        let Arriving { sequence, digest, introducer, .. } = *arriving;
        introducer == Introducer::Inbox
            && receiver.custody.iter().any(|entry| entry.is(sequence, digest))
            && (!self.flaws.has(Flaw::CustodyNeedsReplay)
                || receiver.window.accepted(sequence) == Some(digest))
    }

    /// The entry that a delivery gets; `None` for what came another way.
    pub(super) fn custody_entry(&self, arriving: &Arriving<'_>) -> Option<CustodyEntry> {
        let Arriving { sequence, digest, introducer, spent, .. } = *arriving;
        let mail = introducer == Introducer::Inbox && !self.flaws.has(Flaw::NoCustody);
        mail.then_some(CustodyEntry { sequence, digest: *digest, spent })
    }

    /// Whether a new delivery finds room. A refusal rests on every entry that takes the room.
    pub(super) fn custody_room(
        &mut self,
        arriving: &Arriving<'_>,
        staging: &mut Staging<'_, Self>,
    ) -> Result<(), Refusal> {
        let held = self.custody.len();
        if arriving.introducer != Introducer::Inbox || held < CUSTODY_MAX_ENTRIES {
            return Ok(());
        }
        self.count(Count::CustodyFull, staging);
        for (stream, ..) in self.custody.iter() {
            staging.depend_on(self.receivers[stream].filed.key);
        }
        Err(Refusal::RelayCustodyFull {
            stream: *arriving.stream,
            sequence: arriving.sequence,
            held,
            bound: CUSTODY_MAX_ENTRIES,
            until: self.custody.until().expect("custody is full"),
        })
    }

    /// A delivery that was admitted into a stream of the table enters custody.
    pub(super) fn take_into_custody(
        &mut self,
        key: RecordKey,
        entry: CustodyEntry,
        staging: &mut Staging<'_, Self>,
    ) {
        self.custody.insert(key.stream, &entry);
        let receiver = self.receivers.get_mut(&key.stream).expect("the stream is in the table");
        receiver.custody.push(entry);
        self.counters.custody.taken_in += 1;
        staging.stage(key, Undo::TakenIntoCustody { stream: key.stream });
    }

    pub(super) fn undo_taken_in(&mut self, stream: &StreamKey) {
        if self.flaws.has(Flaw::CustodyNotUndone) {
            return;
        }
        let receiver = self.receivers.get_mut(stream).expect("effects are taken back in reverse order");
        let entry = receiver.custody.pop().expect("effects are taken back in reverse order");
        self.counters.custody.taken_in -= 1;
        self.custody.remove(*stream, &entry);
    }

    pub(super) fn undo_left(&mut self, undo: CustodyUndo) {
        let CustodyUndo { left: LeftCustody { stream, entry }, place, why } = undo;
        let receiver = self.receivers.get_mut(&stream).expect("effects are taken back in reverse order");
        receiver.custody.insert(place, entry);
        self.custody.insert(stream, &entry);
        *self.departures(why) -= 1;
    }

    fn leave_custody(
        &mut self,
        stream: &StreamKey,
        sequence: Sequence,
        digest: &Digest,
        why: Departure,
    ) -> Option<(LeftCustody, Undo)> {
        let receiver = self.receivers.get_mut(stream)?;
        let place = receiver.custody.iter().position(|entry| entry.is(sequence, digest))?;
        let entry = receiver.custody.remove(place);
        self.custody.remove(*stream, &entry);
        *self.departures(why) += 1;
        let left = LeftCustody { stream: *stream, entry };
        Some((left, Undo::LeftCustody(Box::new(CustodyUndo { left, place, why }))))
    }

    const fn departures(&mut self, why: Departure) -> &mut u64 {
        let counters = &mut self.counters.custody;
        match why {
            Departure::Taken => &mut counters.taken,
            Departure::Expired | Departure::Dropped => &mut counters.expired,
        }
    }
}
