//! The laws: one file each, read from the ledger as it grows.
//!
//! Promise: outcome laws read observed events and the disk only, so that an engine that misreports is still convicted;
//! mechanism laws may read what an engine reports.

/// The parts of a [`Law`] that its constants and its kinds of events give.
macro_rules! law_identity {
    ($kind:ident reads by $reads:ident) => {
        law_identity!(@named $kind);

        fn reads(&self) -> $crate::ledger::kind::EventMask {
            self.$reads()
        }
    };
    ($kind:ident reads $($event:ident),+) => {
        law_identity!(@named $kind);

        fn reads(&self) -> $crate::ledger::kind::EventMask {
            $crate::ledger::kind::EventMask::of(&[$($crate::ledger::kind::EventKind::$event),+])
        }
    };
    (@named $kind:ident) => {
        fn id(&self) -> &'static str {
            Self::ID
        }

        fn kind(&self) -> $crate::laws::LawKind {
            $crate::laws::LawKind::$kind
        }

        fn states(&self) -> &'static str {
            Self::STATES
        }
    };
}

pub mod arrival_order;
pub mod at_most_once;
pub mod available;
pub mod bad_records;
pub mod bad_records_told;
pub mod catalogue;
pub mod chunks;
pub mod conservation;
pub mod custody_book;
pub mod delivered;
pub mod durable_only;
pub mod excuses;
pub mod fail_closed;
pub mod honest;
pub mod lease;
pub mod lifespan;
pub mod link_local;
pub mod mail;
pub mod markers;
pub mod names;
pub mod namespace_once;
pub mod no_panic;
pub mod no_thread;
pub mod old_or_new;
pub mod one_digest;
pub mod order;
pub mod origin_rate;
pub mod per_node;
pub mod quota;
pub mod reading;
pub mod reference_quota;
pub mod reference_resolves;
pub mod reference_slots;
pub mod refusal_ends;
pub mod refusal_true;
pub mod refusals_change_nothing;
pub mod relay_unchanged;
pub mod release;
mod second_runtime;
pub mod slots;
pub mod stall_ends;
pub mod stalled_class;
pub mod store_acts;
pub mod store_bounds;
pub mod two_batches;
pub mod undo;
pub mod undo_digest;
pub mod verdict;

pub mod counters;
mod counters_asked;
pub mod counters_told;
pub mod fair_claim;
mod licences;
pub mod pending;

#[cfg(test)]
pub(crate) mod fake;
#[cfg(test)]
mod fake_view;

pub use names::Names;

use crate::ledger::event::Event;
use crate::ledger::kind::EventMask;
use crate::outcome::Violation;
use crate::plan::Plan;
use crate::units::{NodeId, SimTime};
use groundhog_engine::host::observe::RecordName;
use groundhog_engine::streams::Counters;
pub use reading::RecordReader;
use std::sync::Arc;

/// Whether a law reads only what the world observes, or also what an engine reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LawKind {
    /// Observed events and the disk only.
    Outcome,
    /// Reported events too.
    Mechanism,
}

/// The whole content of one record file in one surviving state of a disk.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum RecordImage {
    /// No file of that name.
    Absent,
    /// A file that is a whole record: its generation and its value bytes.
    Whole {
        /// The batch that wrote it.
        generation: u64,
        /// The frame's value.
        value: bytes::Bytes,
    },
    /// A file that is not a whole record.
    Torn,
}

/// Record files of one store, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct StoreUse {
    /// How many.
    pub records: u64,
    /// Their length together.
    pub bytes: u64,
}

/// What a law may look at beside the events: the disks, over all states that could survive a power failure now, and what a
/// node says when it is asked for its counters.
pub trait View {
    /// Every distinct generation that the record could have after a power failure now; `None` for absent or torn.
    fn surviving_generations(&self, node: NodeId, record: RecordName, into: &mut Vec<Option<u64>>);
    /// Every distinct image that the record could have after a power failure now.
    fn surviving_images(&self, node: NodeId, record: RecordName) -> Vec<RecordImage>;
    /// The image that a reader sees now.
    fn visible_image(&self, node: NodeId, record: RecordName) -> RecordImage;
    /// Every record name that a reader sees now, with whether its marker is visible, in order.
    fn visible_records(&self, node: NodeId) -> Vec<(RecordName, bool)>;
    /// Markers that a reader sees without a record.
    fn visible_orphan_markers(&self, node: NodeId) -> Vec<RecordName>;
    /// The record files that a reader sees.
    fn store_use(&self, node: NodeId) -> StoreUse;
    /// What the streams of a node's present life, or of the one that dies now, count; `None` while they are not open, and while
    /// a transition holds their lock.
    fn counters(&self, node: NodeId) -> Option<Counters>;
}

/// What the laws of one run are told before it begins.
#[derive(Clone, Debug)]
pub struct Setting {
    /// The plan: bounds, links, faults.
    pub plan: Arc<Plan>,
    /// Which account is which node's.
    pub names: Names,
    /// How records are named and read.
    pub reader: RecordReader,
}

/// One law.
pub trait Law: Send {
    /// Its id, such as `streams/at-most-once`.
    fn id(&self) -> &'static str;
    /// What it reads.
    fn kind(&self) -> LawKind;
    /// The seed's sentence, or the decision, that it states.
    fn states(&self) -> &'static str;
    /// The kinds of events that it reads: [`Law::event`] is called with no other.
    fn reads(&self) -> EventMask {
        EventMask::ALL
    }
    /// Reads one event.
    fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View, broken: &mut Vec<Violation>);
    /// Adds the known limits that it met in place of a violation: id -> how often.
    fn limits(&self, into: &mut std::collections::BTreeMap<&'static str, u64>) {
        let _ = into;
    }
    /// The run is over.
    fn end(&mut self, at: SimTime, view: &dyn View, broken: &mut Vec<Violation>);
}
