//! Every law, and which law convicts which flaw.
//!
//! Promise: `list` and `explain` read this table and nothing else; every flaw has an outcome law.

use super::arrival_order::ArrivalOrder;
use super::at_most_once::AtMostOnce;
use super::available::Available;
use super::bad_records::BadRecords;
use super::bad_records_told::BadRecordsTold;
use super::chunks::Chunks;
use super::conservation::Conservation;
use super::counters::Counters;
use super::counters_told::CountersTold;
use super::delivered::Delivered;
use super::durable_only::DurableOnly;
use super::excuses::Excused;
use super::fail_closed::FailClosed;
use super::honest::Honest;
use super::lease::Lease;
use super::link_local::LinkLocal;
use super::mail::Mail;
use super::markers::Markers;
use super::namespace_once::NamespaceOnce;
use super::no_panic::NoPanic;
use super::no_thread::NoThread;
use super::old_or_new::OldOrNew;
use super::one_digest::OneDigest;
use super::order::Order;
use super::origin_rate::OriginRate;
use super::quota::Quota;
use super::reference_resolves::ReferenceResolves;
use super::refusal_ends::RefusalEnds;
use super::refusal_true::RefusalTrue;
use super::refusals_change_nothing::RefusalsChangeNothing;
use super::relay_unchanged::RelayUnchanged;
use super::release::Release;
use super::slots::Slots;
use super::stall_ends::StallEnds;
use super::stalled_class::StalledClass;
use super::store_bounds::StoreBounds;
use super::two_batches::TwoBatches;
use super::undo::Undo;
use super::undo_digest::UndoDigest;
use super::verdict::Verdict;
use super::{Law, LawKind, Setting};
use groundhog_engine::flaws::Flaw;

/// One law of the catalogue.
#[derive(Clone, Copy)]
pub struct Entry {
    /// Its id, such as `streams/at-most-once`.
    pub id: &'static str,
    /// What it reads.
    pub kind: LawKind,
    /// The seed's sentence, or the decision, that it states.
    pub states: &'static str,
    /// A checker for one run, without its excuses.
    pub build: fn(&Setting) -> Box<dyn Law>,
}

macro_rules! law {
    ($law:ident, $kind:ident) => {
        Entry {
            id: $law::ID,
            kind: LawKind::$kind,
            states: $law::STATES,
            build: |setting| Box::new($law::new(setting)),
        }
    };
}

/// Every law, outcome laws first.
pub const LAWS: &[Entry] = &[
    law!(AtMostOnce, Outcome),
    law!(Honest, Outcome),
    law!(OneDigest, Outcome),
    law!(OldOrNew, Outcome),
    law!(Verdict, Outcome),
    law!(RefusalTrue, Outcome),
    law!(RefusalsChangeNothing, Outcome),
    law!(Available, Outcome),
    law!(Conservation, Outcome),
    law!(Delivered, Outcome),
    law!(StalledClass, Outcome),
    law!(OriginRate, Outcome),
    law!(Slots, Outcome),
    law!(RefusalEnds, Outcome),
    law!(RelayUnchanged, Outcome),
    law!(Mail, Outcome),
    law!(StallEnds, Outcome),
    law!(StoreBounds, Outcome),
    law!(Markers, Outcome),
    law!(BadRecords, Outcome),
    law!(NoPanic, Outcome),
    law!(NoThread, Outcome),
    law!(LinkLocal, Outcome),
    law!(NamespaceOnce, Outcome),
    law!(ReferenceResolves, Outcome),
    law!(ArrivalOrder, Outcome),
    law!(Chunks, Outcome),
    law!(Counters, Outcome),
    law!(Release, Mechanism),
    law!(Order, Mechanism),
    law!(TwoBatches, Mechanism),
    law!(FailClosed, Mechanism),
    law!(Undo, Mechanism),
    law!(UndoDigest, Mechanism),
    law!(Lease, Mechanism),
    law!(Quota, Mechanism),
    law!(BadRecordsTold, Mechanism),
    law!(CountersTold, Mechanism),
];

/// The law of this id.
#[must_use]
pub fn by_id(id: &str) -> Option<&'static Entry> {
    LAWS.iter().find(|law| law.id == id)
}

/// A checker of every law for one run, each with the excuses that its plan licenses.
#[must_use]
pub fn build_all(setting: &Setting) -> Vec<Box<dyn Law>> {
    let excused = |entry: &Entry| Excused::over(DurableOnly::over((entry.build)(setting), setting), setting);
    LAWS.iter().map(excused).collect()
}

/// Which laws break when an engine has a flaw: the outcome law, and the mechanism law where there is one.
#[must_use]
pub const fn convicted_by(flaw: Flaw) -> (&'static str, Option<&'static str>) {
    match flaw {
        Flaw::OneStreamForAllClasses | Flaw::ClassSpreadOverChannels | Flaw::LaneWindow64 => {
            (Honest::ID, None)
        }
        Flaw::KeyedByDelegatee => (OneDigest::ID, None),
        Flaw::NoFlushBeforeRename
        | Flaw::NoDirectoryFlush
        | Flaw::AncestorsNotFlushed
        | Flaw::FailedFlushRetried
        | Flaw::EarlyRelease => (OldOrNew::ID, Some(Release::ID)),
        Flaw::OneFlushForMarkerAndRecord
        | Flaw::MarkBeforeFlushAtOpen
        | Flaw::MarkerTrustedAfterFailedFlush
        | Flaw::RecordRemovedBeforeMarker => (Markers::ID, None),
        Flaw::EarlyReleaseOfRefusals => (RefusalTrue::ID, Some(Release::ID)),
        Flaw::PartialUndo => (Verdict::ID, Some(FailClosed::ID)),
        Flaw::CancelledCallerBreaksOrder => (Verdict::ID, Some(Order::ID)),
        Flaw::LeaseWrittenAfterExposure | Flaw::ResumedAtLastUsed => (OneDigest::ID, Some(Lease::ID)),
        Flaw::MemoryStoreAfterRestart => (AtMostOnce::ID, Some(Undo::ID)),
        Flaw::CustodyNeedsReplay
        | Flaw::NoCustody
        | Flaw::CustodyDroppedOnAbsentCarrier
        | Flaw::RelayInboxEvicts
        | Flaw::SingleCopyRelayInbox => (Mail::ID, None),
        Flaw::CustodyNotUndone => (OldOrNew::ID, Some(UndoDigest::ID)),
        Flaw::NeverRetired | Flaw::RetiredTooEarly => (Verdict::ID, None),
        Flaw::BoundPerTableOnly
        | Flaw::AnyFreeSlot
        | Flaw::InboxAndSelfMerged
        | Flaw::PoolTotalNotEnforced
        | Flaw::FairClaimNotEnforced
        | Flaw::ChargesNotRebuilt
        | Flaw::ExistingStreamRecharged => (Slots::ID, None),
        Flaw::QuotaNotUndone => (OriginRate::ID, Some(Quota::ID)),
        // What is reported of these agrees with itself.
        Flaw::QuotaClockBeforeLock | Flaw::RelayedLimitDelegated | Flaw::RejectionChargesQuota => {
            (OriginRate::ID, None)
        }
        Flaw::BadRecordFailsTheStore => (BadRecords::ID, Some(BadRecordsTold::ID)),
        Flaw::LostRecordBeginsAnew
        | Flaw::UndecodableRecordDiscarded
        | Flaw::MisfiledRecordServed
        | Flaw::VanishedRootRecreated => (BadRecords::ID, None),
        Flaw::ListingErrorSkipped => (Verdict::ID, None),
        Flaw::VolatileWindowForRelayedCopies | Flaw::VolatileWindowForUndeclared => (AtMostOnce::ID, None),
        Flaw::VolatileWindowOutlivesLink => (LinkLocal::ID, None),
        Flaw::NamespaceForgetsAtRestart => (NamespaceOnce::ID, None),
        Flaw::MissedFrameHeld => (ArrivalOrder::ID, None),
        Flaw::ReferenceTableLru | Flaw::ReferencesResolvedAtDequeue => (ReferenceResolves::ID, None),
        Flaw::ChunkEnvelopesAdmitted => (Honest::ID, None),
        Flaw::TombstonesInsteadOfWindow => (AtMostOnce::ID, None),
        Flaw::FailedBatchStaysCounted => (Counters::ID, Some(CountersTold::ID)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{Ledger, assert_well_formed};

    #[test]
    fn every_law_is_what_the_catalogue_says() {
        let built = build_all(&Ledger::setting());
        for (entry, excused) in LAWS.iter().zip(built) {
            let law = (entry.build)(&Ledger::setting());
            assert_well_formed(&*law);
            for law in [&law, &excused] {
                assert_eq!((law.id(), law.kind(), law.states()), (entry.id, entry.kind, entry.states));
            }
            assert_eq!(by_id(entry.id).map(|found| found.states), Some(entry.states));
        }
    }

    #[test]
    fn outcome_laws_read_nothing_that_an_engine_reports() {
        for entry in LAWS.iter().filter(|entry| entry.kind == LawKind::Outcome) {
            let reads = (entry.build)(&Ledger::setting()).reads();
            let reported = crate::ledger::kind::EventKind::ALL
                .iter()
                .find(|kind| kind.is_reported() && reads.holds(**kind));
            assert_eq!(reported, None, "{}", entry.id);
        }
    }

    #[test]
    fn every_flaw_is_convicted_by_an_outcome_law_and_by_no_law_of_another_kind() {
        for flaw in Flaw::ALL {
            let (outcome, mechanism) = convicted_by(*flaw);
            assert_eq!(by_id(outcome).map(|law| law.kind), Some(LawKind::Outcome), "{}", flaw.id());
            if let Some(mechanism) = mechanism {
                assert_eq!(by_id(mechanism).map(|law| law.kind), Some(LawKind::Mechanism), "{}", flaw.id());
            }
        }
    }
}
