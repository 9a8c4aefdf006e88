//! An admission: the verdict of a window, the origin's quota, and whether a new stream may begin.
//!
//! The order is: what is spent leaves, a stream of the set U is refused, a link-local transaction goes to its link's window,
//! mail that is in custody is dispatched again, the window judges, new mail is held against the bound of custody, the quota
//! is charged, a new stream is held against its introducer's bound, and the record is staged. A rejection by the window or
//! by custody costs no quota, and what refuses after the quota gives it back.

use super::{Count, Decided, Filed, ReceiverStream, Tables, Undo, refused};
use crate::commit::Staging;
use crate::flaws::Flaw;
use crate::host::observe::{BatchNumber, Decision, RecordName};
use crate::streams::error::Refusal;
use crate::streams::key::{StreamKey, Table};
use crate::streams::link_local::{Link, Treatment};
use crate::streams::quota::{QuotaCharge, QuotaError, QuotaUndo};
use crate::streams::record::Introducer;
use crate::streams::slots::{CapacityBound, Charges};
use crate::streams::window::{Digest, Verdict, Window};
use crate::units::{MonotonicNs, Sequence, WallMs};

/// A transaction at admission.
pub(in crate::streams) struct Arriving<'a> {
    pub(in crate::streams) stream: &'a StreamKey,
    pub(in crate::streams) sequence: Sequence,
    pub(in crate::streams) digest: &'a Digest,
    /// The length of its data, which is what it costs.
    pub(in crate::streams) data_bytes: u64,
    /// When it can no longer be delivered.
    pub(in crate::streams) spent: WallMs,
    pub(in crate::streams) introducer: Introducer,
    pub(in crate::streams) treatment: Treatment<'a>,
    /// The node's wall clock, read inside the boundary: readings rise with the order of admissions, as far as the clock
    /// does.
    pub(in crate::streams) now: WallMs,
    /// The clock of quotas, read inside the boundary, so that no quota record sees it go backwards.
    pub(in crate::streams) monotonic: MonotonicNs,
}

/// Why a transaction was not judged.
#[derive(Debug)]
pub(in crate::streams) enum NotAdmitted {
    /// It was spent when it came to its admission.
    Spent { spent: WallMs, now: WallMs },
    /// See [`Refusal`].
    Refused(Refusal),
}

/// What an admission did, for its caller and for whoever watches.
pub(in crate::streams) struct Admitted {
    /// The stream's record; `None` where no record was looked at.
    pub(in crate::streams) record: Option<RecordName>,
    pub(in crate::streams) decision: Decision,
    pub(in crate::streams) staged: Option<BatchNumber>,
    /// What the quota was asked for, unless it was given back.
    pub(in crate::streams) charge: Option<QuotaCharge>,
    pub(in crate::streams) result: Result<Verdict, NotAdmitted>,
}

type Judged = Decided<Result<Verdict, NotAdmitted>>;

impl Admitted {
    fn of(decided: Judged, charge: Option<QuotaCharge>) -> Self {
        let Decided { record, decision, staged, result } = decided;
        Self { record: Some(record), decision, staged, charge, result }
    }

    /// By the window of a link, which has no record.
    fn by_link(
        decision: Decision,
        charge: Option<QuotaCharge>,
        result: Result<Verdict, NotAdmitted>,
    ) -> Self {
        Self { record: None, decision, staged: None, charge, result }
    }
}

/// A call of the quota.
struct Charged {
    charge: Option<QuotaCharge>,
    undo: Option<QuotaUndo>,
    result: Result<(), QuotaError>,
}

impl Tables {
    /// Judges a transaction, and admits it where the verdict dispatches. What is spent is to be swept first.
    pub(in crate::streams) fn admit(
        &mut self,
        arriving: &Arriving<'_>,
        staging: &mut Staging<'_, Self>,
    ) -> Admitted {
        if let Some((record, refusal)) = self.all_unavailable(Table::Receiver, arriving.stream, staging) {
            return Admitted::of(refused_by(record, refusal), None);
        }
        if arriving.now > arriving.spent {
            return Admitted::of(self.refuse_spent(arriving, staging), None);
        }
        if let Some(link) = arriving.treatment.link_local {
            return self.admit_link_local(link, arriving, staging);
        }
        match self.receivers.contains_key(arriving.stream) {
            true => self.admit_next(arriving, staging),
            false => self.admit_first(arriving, staging),
        }
    }

    /// A stream may have been retired since the transaction was verified: its window is no longer there to know it by.
    fn refuse_spent(&mut self, arriving: &Arriving<'_>, staging: &mut Staging<'_, Self>) -> Judged {
        self.count(Count::Spent, staging);
        let (spent, now) = (arriving.spent, arriving.now);
        let record = Filed::new(Table::Receiver, arriving.stream).key.name;
        refused(record, "spent", Err(NotAdmitted::Spent { spent, now }))
    }

    fn admit_next(&mut self, arriving: &Arriving<'_>, staging: &mut Staging<'_, Self>) -> Admitted {
        let receiver = &self.receivers[arriving.stream];
        let (key, spent) = (receiver.filed.key, receiver.spent);
        if self.is_redelivery(receiver, arriving) {
            staging.depend_on(key);
            self.count(Count::Redelivered, staging);
            return Admitted::of(judged(key.name, arriving, Verdict::Redelivered, None), None);
        }
        let receiver = self.receivers.get_mut(arriving.stream).expect("the stream is in the table");
        let (verdict, undo) = receiver.window.observe(arriving.sequence, arriving.digest);
        let Some(window) = undo else {
            staging.depend_on(key);
            self.count_verdict(verdict, staging);
            let charge = self.charge_rejection(arriving, staging);
            return Admitted::of(judged(key.name, arriving, verdict, None), charge);
        };
        if let Err(refusal) = self.custody_room(arriving, staging) {
            self.receivers[arriving.stream].window.undo(&window);
            staging.depend_on(key);
            return Admitted::of(refused_by(key.name, refusal), None);
        }
        let Charged { charge, undo, result } = self.charge(arriving, staging);
        self.stage_quota(undo, staging);
        let receiver = self.receivers.get_mut(arriving.stream).expect("the stream is in the table");
        if let Err(error) = result {
            receiver.window.undo(&window);
            staging.depend_on(key);
            return Admitted::of(refused_by(key.name, error.into()), charge);
        }
        staging.stage(key, Undo::Admitted { stream: key.stream, window, spent });
        // Its place in the index of spent instants is looked at when it is first in line.
        receiver.spent = spent.max(arriving.spent);
        self.charge_again(arriving);
        if let Some(entry) = self.custody_entry(arriving) {
            self.take_into_custody(key, entry, staging);
        }
        Admitted::of(judged(key.name, arriving, verdict, Some(staging.batch())), charge)
    }

    fn admit_first(&mut self, arriving: &Arriving<'_>, staging: &mut Staging<'_, Self>) -> Admitted {
        let Arriving { stream, sequence, digest, introducer, spent, .. } = *arriving;
        let filed = match self.begin(Table::Receiver, stream, staging) {
            Ok(filed) => filed,
            Err((record, refusal)) => return Admitted::of(refused_by(record, refusal), None),
        };
        let key = filed.key;
        if let Err(refusal) = self.custody_room(arriving, staging) {
            return Admitted::of(refused_by(key.name, refusal), None);
        }
        let Charged { charge, undo, result } = self.charge(arriving, staging);
        if let Err(error) = result {
            self.stage_quota(undo, staging);
            return Admitted::of(refused_by(key.name, error.into()), charge);
        }
        if let Err(bound) = self.room_for(introducer, arriving.now) {
            undo.into_iter().for_each(|undo| self.give_back(undo));
            self.count(Count::Bound(bound), staging);
            self.depend_on_count(Table::Receiver, staging);
            let refusal = Refusal::StreamCapacityExceeded { stream: *stream, introducer, bound };
            return Admitted::of(refused_by(key.name, refusal), None);
        }
        self.stage_quota(undo, staging);
        let window = Window::first(sequence, *digest);
        self.take_in(ReceiverStream::new(filed, (window, Vec::new()), introducer, spent));
        self.joined(key, staging);
        if let Some(entry) = self.custody_entry(arriving) {
            self.take_into_custody(key, entry, staging);
        }
        Admitted::of(judged(key.name, arriving, Verdict::First, Some(staging.batch())), charge)
    }

    /// The link's window stands for the stream's: it is not charged to a slot, and nothing is written.
    fn admit_link_local(
        &mut self,
        link: &Link,
        arriving: &Arriving<'_>,
        staging: &mut Staging<'_, Self>,
    ) -> Admitted {
        if let Some((record, refusal)) = self.unavailable(arriving.stream, staging) {
            return Admitted::of(refused_by(record, refusal), None);
        }
        let (verdict, undo) = link.observe(arriving.sequence, arriving.digest);
        let Some(window) = undo else {
            self.count_verdict(verdict, staging);
            return Admitted::by_link(decision_of(arriving, verdict), None, Ok(verdict));
        };
        let Charged { charge, undo, result } = self.charge(arriving, staging);
        self.stage_quota(undo, staging);
        if let Err(error) = result {
            window.undo();
            let decision = Decision::Refused { reason: error.id() };
            return Admitted::by_link(decision, charge, Err(NotAdmitted::Refused(error.into())));
        }
        staging.stage_unwritten(Undo::LinkLocal(window));
        Admitted::by_link(decision_of(arriving, verdict), charge, Ok(verdict))
    }

    /// Why no transaction of a stream is admitted, by whatever window: its record is in the set U.
    fn unavailable(
        &mut self,
        stream: &StreamKey,
        staging: &mut Staging<'_, Self>,
    ) -> Option<(RecordName, Refusal)> {
        // Naming a record is dear, and the set is nearly always empty.
        if self.unrestorable.is_empty() || self.receivers.contains_key(stream) {
            return None;
        }
        self.begin(Table::Receiver, stream, staging).err()
    }

    fn charge(&mut self, arriving: &Arriving<'_>, staging: &mut Staging<'_, Self>) -> Charged {
        let Some(quota) = &mut self.quota else {
            return Charged { charge: None, undo: None, result: Ok(()) };
        };
        let Arriving { stream, data_bytes, monotonic: at, treatment: Treatment { limit, .. }, .. } =
            *arriving;
        let (result, undo) = quota.reserve(stream, data_bytes, limit, at);
        if let Err(error) = &result {
            self.count(Count::Quota(stream.class, *error), staging);
        }
        let refused = result.err().map(|error| error.id());
        Charged { charge: Some(QuotaCharge { at, data_bytes, limit, refused }), undo, result }
    }

    /// What a failed batch gives back with the rest of it.
    fn stage_quota(&self, undo: Option<QuotaUndo>, staging: &mut Staging<'_, Self>) {
        if let Some(undo) = undo.filter(|_| !self.flaws.has(Flaw::QuotaNotUndone)) {
            staging.stage_unwritten(Undo::Quota(undo));
        }
    }

    /// A rejection pays nothing.
    fn charge_rejection(
        &mut self,
        arriving: &Arriving<'_>,
        staging: &mut Staging<'_, Self>,
    ) -> Option<QuotaCharge> {
        if !self.flaws.has(Flaw::RejectionChargesQuota) {
            return None;
        }
        let Charged { charge, undo, .. } = self.charge(arriving, staging);
        self.stage_quota(undo, staging);
        charge
    }

    /// A stream stays charged to whom its first transaction came through.
    fn charge_again(&mut self, arriving: &Arriving<'_>) {
        if self.flaws.has(Flaw::ExistingStreamRecharged)
            && let Some(receiver) = self.give_up(arriving.stream)
        {
            self.take_in(Box::new(ReceiverStream { introducer: arriving.introducer, ..*receiver }));
        }
    }

    fn give_back(&mut self, undo: QuotaUndo) {
        self.quota.as_mut().expect("a quota that was charged is there").undo(undo);
    }

    fn room_for(&self, introducer: Introducer, now: WallMs) -> Result<(), CapacityBound> {
        self.share_of(introducer, &self.charges)
            .or_else(|met| self.share_but_for_spent(introducer, now, met))?;
        let capacity = self.bounds.capacity;
        if self.has_room(Table::Receiver) { Ok(()) } else { Err(CapacityBound::Table { capacity }) }
    }

    /// What is spent refuses nobody, although one admission retires only some of it: those that are left go with the next
    /// ones, and the table has shrunk by more than the stream that joins it.
    fn share_but_for_spent(
        &self,
        introducer: Introducer,
        now: WallMs,
        met: CapacityBound,
    ) -> Result<(), CapacityBound> {
        let mut spent = self.spent_index.spent(now, |stream| self.receivers[stream].spent).peekable();
        if self.flaws.has(Flaw::NeverRetired) || spent.peek().is_none() {
            return Err(met);
        }
        let mut charges = self.charges.clone();
        for (introducer, spent) in spent {
            (0..spent).for_each(|_| charges.remove(introducer));
        }
        self.share_of(introducer, &charges)
    }

    /// Whether the introducer's share has room.
    fn share_of(&self, introducer: Introducer, charges: &Charges) -> Result<(), CapacityBound> {
        let bounds = self.bounds.slots;
        let found = charges.room_for(introducer);
        let of_the_node = !matches!(introducer, Introducer::Slot(_));
        let together = charges.of(Introducer::Inbox) + charges.of(Introducer::Own);
        match found {
            _ if self.flaws.has(Flaw::BoundPerTableOnly) => Ok(()),
            Err(CapacityBound::Pool { .. }) if self.flaws.has(Flaw::PoolTotalNotEnforced) => Ok(()),
            Err(CapacityBound::Claim { .. })
                if self.flaws.has(Flaw::FairClaimNotEnforced) && charges.pooled() < bounds.pool =>
            {
                Ok(())
            }
            _ if of_the_node && self.flaws.has(Flaw::InboxAndSelfMerged) => {
                let share = bounds.inbox + bounds.self_share;
                if together < share { Ok(()) } else { Err(CapacityBound::SelfShare { share }) }
            }
            found => found,
        }
    }
}

fn judged(
    record: RecordName,
    arriving: &Arriving<'_>,
    verdict: Verdict,
    staged: Option<BatchNumber>,
) -> Judged {
    Decided { record, decision: decision_of(arriving, verdict), staged, result: Ok(verdict) }
}

fn decision_of(arriving: &Arriving<'_>, verdict: Verdict) -> Decision {
    Decision::Verdict { verdict: verdict.kind(), sequence: arriving.sequence, digest: *arriving.digest }
}

fn refused_by(record: RecordName, refusal: Refusal) -> Judged {
    refused(record, refusal.id(), Err(NotAdmitted::Refused(refusal)))
}
