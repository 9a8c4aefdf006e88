//! The testbed examines itself: is a known-bad behaviour found, how soon, by the law that is named for it, and in how small
//! a case?
//!
//! Promise: a flaw counts as convicted only by the outcome law named for it, and by the mechanism law where one is named,
//! from every start; and only if the same seeds hold without the flaw. Signatures are replaced by a keyed hash, which
//! changes no verdict.

mod case;
mod examine;

pub use case::{Case, Trial, Verdict};
pub use examine::{APART, Terms, examine, run_seed};

use groundhog_engine::flaws::Flaw;

/// The scenario whose schedules contain what the flaw needs to show.
pub const fn scenario_of(flaw: Flaw) -> &'static str {
    match flaw {
        Flaw::OneStreamForAllClasses | Flaw::ClassSpreadOverChannels | Flaw::LaneWindow64 => {
            "lane-interleaving"
        }
        Flaw::BoundPerTableOnly
        | Flaw::InboxAndSelfMerged
        | Flaw::PoolTotalNotEnforced
        | Flaw::FairClaimNotEnforced
        | Flaw::ChargesNotRebuilt
        | Flaw::ExistingStreamRecharged => "origin-flood",
        Flaw::AnyFreeSlot => "connection-rotation",
        Flaw::QuotaClockBeforeLock
        | Flaw::QuotaNotUndone
        | Flaw::RelayedLimitDelegated
        | Flaw::RejectionChargesQuota => "quota-burst",
        Flaw::KeyedByDelegatee => "skewed-clocks",
        Flaw::RecordRemovedBeforeMarker | Flaw::NeverRetired | Flaw::RetiredTooEarly => "retirement",
        Flaw::BadRecordFailsTheStore
        | Flaw::LostRecordBeginsAnew
        | Flaw::UndecodableRecordDiscarded
        | Flaw::MisfiledRecordServed
        | Flaw::ListingErrorSkipped
        | Flaw::VanishedRootRecreated => "bad-records",
        Flaw::VolatileWindowForRelayedCopies
        | Flaw::VolatileWindowForUndeclared
        | Flaw::VolatileWindowOutlivesLink
        | Flaw::NamespaceForgetsAtRestart => "link-generations",
        Flaw::MissedFrameHeld | Flaw::ReferenceTableLru | Flaw::ReferencesResolvedAtDequeue => {
            "reference-misses"
        }
        Flaw::ChunkEnvelopesAdmitted | Flaw::TombstonesInsteadOfWindow => "chunked-transfers",
        Flaw::CustodyNeedsReplay
        | Flaw::NoCustody
        | Flaw::CustodyDroppedOnAbsentCarrier
        | Flaw::CustodyNotUndone
        | Flaw::RelayInboxEvicts
        | Flaw::SingleCopyRelayInbox => "custody-churn",
        _ => "crash-mid-batch",
    }
}
