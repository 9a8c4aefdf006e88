//! What is counted of the tables' calls and streams (seed 000, Persistence and bounds; Bad records).
//!
//! Promise: what is counted is what callers are told. A failed batch takes back what its transitions were counted as, those
//! of the batch gathering on top of it included, and is itself counted, once.

use super::{Tables, Undo};
use crate::commit::Staging;
use crate::flaws::Flaw;
use crate::streams::custody::CustodyCounters;
use crate::streams::key::Class;
use crate::streams::quota::{QuotaCounters, QuotaError};
use crate::streams::slots::CapacityBound;
use crate::streams::window::Verdict;

/// New streams refused at each bound.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct RefusedByBound {
    /// At a slot's floor, where there is no pool.
    pub floor: u64,
    /// At a slot's fair claim.
    pub claim: u64,
    /// At the pool's total.
    pub pool: u64,
    /// At the inbox's share.
    pub inbox: u64,
    /// At the node's own share.
    pub self_share: u64,
    /// At the bound of the receiver's table.
    pub table: u64,
    /// At the bound of the sender's table.
    pub sender_table: u64,
}

/// What happened to the tables' streams since the open, counted.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Replays refused.
    pub replay: u64,
    /// Forks refused.
    pub fork: u64,
    /// Stale transactions refused.
    pub stale: u64,
    /// Transactions refused because they were spent when they came to their admission.
    pub spent: u64,
    /// Batches that failed. Of a scan that failed as a whole see [`OpenError::counters`](crate::streams::OpenError::counters).
    pub persistence_failure: u64,
    /// Records that did not restore: the size of the set U.
    pub unrestorable_record: u64,
    /// Calls refused because their stream's record did not restore.
    pub unavailable_stream: u64,
    /// Calls refused because their stream was new and a bound was met.
    pub stream_capacity_exceeded: RefusedByBound,
    /// Reservations refused because the sequences would wrap.
    pub sequence_exhausted: u64,
    /// Streams retired.
    pub retired: u64,
    /// Transactions refused because their origin was over its quota.
    pub quota: QuotaCounters,
    /// What became of deliveries out of the relay inbox.
    pub custody: CustodyCounters,
}

impl RefusedByBound {
    /// One refusal at this bound of the receiver's table more or less.
    pub const fn at(&mut self, bound: CapacityBound) -> &mut u64 {
        match bound {
            CapacityBound::Floor { .. } => &mut self.floor,
            CapacityBound::Claim { .. } => &mut self.claim,
            CapacityBound::Pool { .. } => &mut self.pool,
            CapacityBound::Inbox { .. } => &mut self.inbox,
            CapacityBound::SelfShare { .. } => &mut self.self_share,
            CapacityBound::Table { .. } => &mut self.table,
        }
    }

    /// At whichever bound of the receiver's table.
    #[must_use]
    pub const fn of_receivers(&self) -> u64 {
        let Self { floor, claim, pool, inbox, self_share, table, sender_table: _ } = *self;
        floor + claim + pool + inbox + self_share + table
    }
}

/// One thing that is counted.
#[derive(Clone, Copy, Debug)]
pub(in crate::streams) enum Count {
    Replay,
    Fork,
    Stale,
    Spent,
    UnavailableStream,
    Bound(CapacityBound),
    SenderTable,
    SequenceExhausted,
    Quota(Class, QuotaError),
    Redelivered,
    CustodyFull,
    NotInCustody,
}

impl Counters {
    const fn of(&mut self, what: &Count) -> &mut u64 {
        match what {
            Count::Replay => &mut self.replay,
            Count::Fork => &mut self.fork,
            Count::Stale => &mut self.stale,
            Count::Spent => &mut self.spent,
            Count::UnavailableStream => &mut self.unavailable_stream,
            Count::Bound(bound) => self.stream_capacity_exceeded.at(*bound),
            Count::SenderTable => &mut self.stream_capacity_exceeded.sender_table,
            Count::SequenceExhausted => &mut self.sequence_exhausted,
            Count::Quota(lane, error) => self.quota.of(*lane, error),
            Count::Redelivered => &mut self.custody.redelivered,
            Count::CustodyFull => &mut self.custody.refused_full,
            Count::NotInCustody => &mut self.custody.not_in_custody,
        }
    }
}

impl Tables {
    /// Counts what a transition answers, for as long as it does not fail with its batch.
    pub(super) fn count(&mut self, what: Count, staging: &mut Staging<'_, Self>) {
        *self.counters.of(&what) += 1;
        staging.stage_unwritten(Undo::Counted(what));
    }

    /// The caller is told that the batch failed, and of nothing else.
    pub(super) fn undo_count(&mut self, what: &Count) {
        if !self.flaws.has(Flaw::FailedBatchStaysCounted) {
            *self.counters.of(what) -= 1;
        }
    }

    /// A verdict that refuses is counted.
    pub(super) fn count_verdict(&mut self, verdict: Verdict, staging: &mut Staging<'_, Self>) {
        let what = match verdict {
            Verdict::Replay => Count::Replay,
            Verdict::Fork { .. } => Count::Fork,
            Verdict::Stale { .. } => Count::Stale,
            Verdict::First | Verdict::Advance | Verdict::Late | Verdict::Redelivered => return,
        };
        self.count(what, staging);
    }
}
