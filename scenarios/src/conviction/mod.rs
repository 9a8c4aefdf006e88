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
        Flaw::KeyedByDelegatee
        | Flaw::RecordRemovedBeforeMarker
        | Flaw::NeverRetired
        | Flaw::RetiredTooEarly => "skewed-clocks",
        Flaw::CustodyNeedsReplay
        | Flaw::NoCustody
        | Flaw::CustodyDroppedOnAbsentCarrier
        | Flaw::CustodyNotUndone
        | Flaw::RelayInboxEvicts
        | Flaw::SingleCopyRelayInbox => "custody-churn",
        _ => "crash-mid-batch",
    }
}
