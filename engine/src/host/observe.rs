//! What an engine says about itself: reported events, which mechanism laws may read and outcome laws may not.
//!
//! Promise: observing is write-only. Nothing an engine does depends on whether anybody listens.

use crate::streams::TableUse;
use crate::streams::key::{StreamKey, Table};
use crate::streams::quota::QuotaCharge;
use crate::streams::record::Introducer;
use crate::streams::slots::CapacityBound;
use crate::streams::window::VerdictKind;
use crate::units::{Sequence, WallMs};
use std::fmt;

/// A record's name: the first 20 bytes of SHA-256 of its storage key (decision 10). Its file's name is this in hex.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct RecordName(pub [u8; 20]);

impl fmt::Display for RecordName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for RecordName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")
    }
}

/// A batch's number. Rises by one a batch over all lives of a store, and is the generation of every record value that
/// the batch writes: the frame of a record file carries it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct BatchNumber(pub u64);

/// One transition of one life of an engine, numbered in lock order from zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TransitionNumber(pub u64);

/// What a transition decided, at the moment it held the lock.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Decision {
    /// An admission, classified.
    Verdict {
        /// The verdict's kind.
        verdict: VerdictKind,
        /// The transaction's sequence.
        sequence: Sequence,
        /// The transaction's digest.
        digest: [u8; 32],
    },
    /// A reservation of `first..=last`, covered by `lease`.
    Reserved {
        /// First reserved sequence.
        first: Sequence,
        /// Last reserved sequence.
        last: Sequence,
        /// The last leased sequence once this transition is durable.
        lease: Sequence,
    },
    /// Mail leaves custody for the application that takes it.
    Taken {
        /// The transaction's sequence.
        sequence: Sequence,
        /// The transaction's digest.
        digest: [u8; 32],
    },
    /// Refused before the window or the lease was consulted; `reason` in kebab case.
    Refused {
        /// The typed error's name.
        reason: &'static str,
    },
}

/// What happens to one delivery in relay custody.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CustodyChange {
    /// It was admitted, and is in custody.
    TakenIn {
        /// Until it is taken, or this instant is past.
        spent: WallMs,
    },
    /// It came again and is dispatched again.
    Redelivered,
    /// The application takes it.
    Taken,
    /// It was spent: no carrier can deliver it again.
    Expired {
        /// Its last instant.
        spent: WallMs,
    },
    /// It was dropped, as only a flawed engine does.
    Dropped,
}

impl CustodyChange {
    /// The name as reports spell it.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            CustodyChange::TakenIn { .. } => "taken-in",
            CustodyChange::Redelivered => "redelivered",
            CustodyChange::Taken => "taken",
            CustodyChange::Expired { .. } => "expired",
            CustodyChange::Dropped => "dropped",
        }
    }
}

/// How relay custody stands to its bound (seed 000, Receiver streams by connection slot).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CustodyStall {
    /// It is at its bound: the next new delivery out of the relay inbox is refused.
    Full {
        /// The last instant of the delivery that is spent first.
        until: WallMs,
    },
    /// A delivery was refused.
    Refused {
        /// The last instant of the delivery that is spent first.
        until: WallMs,
    },
    /// It is below its bound again.
    Over,
}

impl CustodyStall {
    /// The name as reports spell it.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            CustodyStall::Full { .. } => "full",
            CustodyStall::Refused { .. } => "refused",
            CustodyStall::Over => "over",
        }
    }
}

/// A place in the writing of one batch where a life may be ended ("after the third rename of batch 5").
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum Step {
    /// A transition has joined the gathering batch, which nothing has begun to write. Once a transition.
    Gathering,
    /// One record's temporary is written and flushed. Once a record.
    TemporaryFlushed,
    /// One record's temporary is renamed into place. Once a record.
    Renamed,
    /// The directory flush that makes the renames durable has returned. Once a batch.
    DirectoryFlushed,
    /// The batch is durable and nothing of it is released yet. Once a batch.
    BeforeRelease,
    /// One presence marker is created. Once a new record.
    Marked,
    /// Open: an ancestor or the directory is flushed. Once a directory.
    OpenDirectoryFlushed,
    /// Open: one stale temporary is removed.
    OpenTemporaryRemoved,
    /// Open: one record of the last batch is written anew and renamed into place.
    OpenRewritten,
    /// Open: one unmarked record is marked.
    OpenMarked,
    /// Open: everything is done but the first result.
    Opened,
}

impl Step {
    /// Every step, in its order.
    pub const ALL: &'static [Step] = &[
        Step::Gathering,
        Step::TemporaryFlushed,
        Step::Renamed,
        Step::DirectoryFlushed,
        Step::BeforeRelease,
        Step::Marked,
        Step::OpenDirectoryFlushed,
        Step::OpenTemporaryRemoved,
        Step::OpenRewritten,
        Step::OpenMarked,
        Step::Opened,
    ];

    /// The name as plans spell it.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Step::Gathering => "gathering",
            Step::TemporaryFlushed => "temporary-flushed",
            Step::Renamed => "renamed",
            Step::DirectoryFlushed => "directory-flushed",
            Step::BeforeRelease => "before-release",
            Step::Marked => "marked",
            Step::OpenDirectoryFlushed => "open-directory-flushed",
            Step::OpenTemporaryRemoved => "open-temporary-removed",
            Step::OpenRewritten => "open-rewritten",
            Step::OpenMarked => "open-marked",
            Step::Opened => "opened",
        }
    }
}

/// Which roles a batch or a record serves: a sender's leases, a receiver's windows, or both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Roles {
    /// Sender records touched.
    pub leases: u32,
    /// Receiver records touched.
    pub windows: u32,
}

impl Roles {
    /// One record of `table`.
    #[must_use]
    pub const fn one(table: Table) -> Self {
        match table {
            Table::Sender => Self { leases: 1, windows: 0 },
            Table::Receiver => Self { leases: 0, windows: 1 },
        }
    }

    /// One record of each of `tables`.
    pub fn of(tables: impl Iterator<Item = Table>) -> Self {
        tables.map(Self::one).fold(Self::default(), |sum, one| Self {
            leases: sum.leases + one.leases,
            windows: sum.windows + one.windows,
        })
    }
}

/// One thing an engine reports.
#[derive(Clone, Copy, Debug)]
pub enum EngineEvent<'a> {
    /// The store was scanned and the engine is about to give its first result.
    Opened {
        /// Records restored.
        restored: u32,
        /// Records that do not restore (the set U).
        unrestorable: u32,
        /// The first batch of this life will carry this number.
        next_batch: BatchNumber,
    },
    /// A transition held the lock. Events of this kind stand in lock order.
    Transition {
        /// Its number.
        transition: TransitionNumber,
        /// Its stream.
        stream: &'a StreamKey,
        /// Whose table.
        table: Table,
        /// Its record.
        record: RecordName,
        /// What it decided.
        decision: Decision,
        /// The batch that it staged its record into; `None` when it wrote nothing.
        staged: Option<BatchNumber>,
    },
    /// A transition retires a stream, which is spent: its record is removed with the transition's batch. Reported before
    /// the transition itself.
    Retired {
        /// The transition.
        transition: TransitionNumber,
        /// The stream.
        stream: &'a StreamKey,
        /// Its record.
        record: RecordName,
        /// Whom it was charged to.
        introducer: Introducer,
        /// The last instant at which anything that it admitted could be delivered.
        spent: WallMs,
        /// The batch that removes its record.
        staged: BatchNumber,
    },
    /// A transition refuses a new stream at a bound. Reported before the transition itself.
    BoundMet {
        /// The transition.
        transition: TransitionNumber,
        /// Whom the stream would have been charged to.
        introducer: Introducer,
        /// The bound.
        bound: CapacityBound,
    },
    /// What is in relay custody changes, or a redelivery finds it there. Reported before the transition itself.
    Custody {
        /// The transition.
        transition: TransitionNumber,
        /// The stream.
        stream: &'a StreamKey,
        /// The mail's sequence.
        sequence: Sequence,
        /// The mail's digest.
        digest: [u8; 32],
        /// What happened.
        change: CustodyChange,
        /// Deliveries in custody now, of the whole store.
        held: u32,
    },
    /// How custody stands to its bound. Reported before the transition itself.
    CustodyStall {
        /// The transition.
        transition: TransitionNumber,
        /// What happened.
        stall: CustodyStall,
        /// Deliveries in custody now.
        held: u32,
    },
    /// A transition that held the lock was judged by the volatile window of its link, and no record was looked at. Stands
    /// where [`EngineEvent::Transition`] stands for others.
    LinkLocal {
        /// Its number.
        transition: TransitionNumber,
        /// Its stream.
        stream: &'a StreamKey,
        /// What it decided.
        decision: Decision,
    },
    /// A transition that held the lock asked its origin's quota. Comes before what it decided.
    Quota {
        /// Its number.
        transition: TransitionNumber,
        /// Its stream.
        stream: &'a StreamKey,
        /// What it asked for, and whether it got it.
        charge: QuotaCharge,
    },
    /// What is in use of each bound of the receiver's table has changed: at open, and after a transition.
    TableUse {
        /// What it is now.
        used: TableUse,
    },
    /// A result is returned to its caller now.
    Released {
        /// Whose result.
        transition: TransitionNumber,
        /// Every record state that the result was computed from: the record, and the batch that wrote that state. A
        /// record that the batch removed is not among them: its absence is no state that a disk could be asked for.
        depends: &'a [(RecordName, BatchNumber)],
    },
    /// The gathering batch is closed and its writing begins.
    BatchClosed {
        /// The batch.
        batch: BatchNumber,
        /// The records that it will write, and their values' length in bytes; `None` for a removal. After a failed
        /// batch the next one also writes the failed one's records anew, as they are in memory (decision 13).
        records: &'a [(RecordName, Option<u32>)],
        /// Transitions that wait for it.
        transitions: u32,
    },
    /// A place in the writing of a batch was reached.
    Step {
        /// Which place.
        step: Step,
        /// The batch; during open the next one's number, which is zero until the scan has told it.
        batch: BatchNumber,
        /// What is touched: one record, or the whole batch.
        roles: Roles,
    },
    /// A batch is durable.
    BatchDurable {
        /// The batch.
        batch: BatchNumber,
    },
    /// A batch failed; it and the batch gathering on top of it are undone. Reported after the undo.
    BatchFailed {
        /// The batch.
        batch: BatchNumber,
        /// Transitions undone, the gathering batch's included.
        undone: u32,
        /// Digest of the engine's state after the undo: see `Streams::state_digest`.
        state_digest: [u8; 32],
    },
    /// A transition's caller was gone before its result was returned.
    CallerGone {
        /// Whose result nobody took.
        transition: TransitionNumber,
    },
    /// A record joins the set U: its stream alone fails closed until an operator clears it. Reported once a record at each
    /// open, before [`EngineEvent::Opened`].
    Unrestorable {
        /// Its name.
        record: RecordName,
        /// What is wrong with it, in kebab case.
        reason: &'static str,
        /// The table and the stream that its intact start spells; of another name, where it is misfiled.
        spells: Option<(Table, &'a StreamKey)>,
    },
    /// The scan failed as a whole: nothing was restored, and the next open scans again. Counts as a persistence failure.
    LoadFailed {
        /// The typed error's name.
        reason: &'static str,
    },
    /// A call is refused because its stream's record is in the set U. Reported before its transition.
    UnavailableRefused {
        /// The transition.
        transition: TransitionNumber,
        /// The record.
        record: RecordName,
        /// Calls refused for this reason since the open, this one included.
        refused: u64,
    },
}
