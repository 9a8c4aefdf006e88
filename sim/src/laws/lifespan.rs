//! When transactions are spent, in the seed's words, and which streams a node may have forgotten because they are.
//!
//! Promise: this is reckoned from what is signed and from what clocks showed, and shares no code with the engine's reckoning.
//! A node may forget a stream only at an admission, and only when its clock then is past the last instant at which
//! anything that the stream admitted could be delivered.

use crate::ledger::event::Transaction;
use crate::units::NodeId;
use groundhog_engine::host::observe::RecordName;
use groundhog_engine::streams::key::Class;
use groundhog_engine::units::WallMs;
use rustc_hash::FxHashMap;

/// How far a clock may be behind another, in milliseconds (decision 5).
pub const CLOCK_TOLERANCE_MS: u64 = 3_000;

/// How long mail may wait in a relay inbox, in milliseconds (decision 5).
pub const RELAY_INBOX_MAX_MS: u64 = 604_800_000;

/// The last instant at which a transaction can be delivered by a clock up to the tolerance behind.
#[must_use]
pub const fn spent(transaction: &Transaction) -> WallMs {
    let spent = transaction.expires.plus_ms(CLOCK_TOLERANCE_MS);
    match transaction.stream.class {
        Class::Application => spent.plus_ms(RELAY_INBOX_MAX_MS + CLOCK_TOLERANCE_MS),
        Class::Control | Class::Storage | Class::E2e => spent,
    }
}

/// Whether it may be held as mail for its destination.
#[must_use]
pub const fn is_mail(transaction: &Transaction) -> bool {
    matches!(transaction.stream.class, Class::Application)
}

/// What clocks showed at admissions, and when what was accepted is spent.
#[derive(Debug, Default)]
pub struct Lifespans {
    /// Each node's latest reading at an admission.
    latest: FxHashMap<NodeId, WallMs>,
    /// When each receiver's record is spent, as far as it was told what the record holds.
    told: FxHashMap<(NodeId, RecordName), WallMs>,
}

impl Lifespans {
    /// A transaction comes to its admission.
    #[inline]
    pub fn arrived(&mut self, node: NodeId, wall: WallMs) {
        let latest = self.latest.entry(node).or_default();
        *latest = wall.max(*latest);
    }

    /// A transaction was accepted into a record.
    #[inline]
    pub fn accepted(&mut self, node: NodeId, record: RecordName, transaction: &Transaction) {
        let told = self.told.entry((node, record)).or_default();
        *told = spent(transaction).max(*told);
    }

    /// Whether the node's clock was past this instant at an admission.
    #[must_use]
    pub fn is_past(&self, node: NodeId, spent: WallMs) -> bool {
        self.latest.get(&node).is_some_and(|latest| *latest > spent)
    }

    /// When the record is spent; `None` where nothing was told of what it holds.
    #[must_use]
    pub fn of(&self, node: NodeId, record: RecordName) -> Option<WallMs> {
        self.told.get(&(node, record)).copied()
    }

    /// Whether the node may have retired the record: one of which nothing was told may be of any age.
    #[must_use]
    pub fn may_be_retired(&self, node: NodeId, record: RecordName) -> bool {
        self.is_past(node, self.of(node, record).unwrap_or_default())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{record, transaction};

    fn expiring(class: Class, expires: u64) -> Transaction {
        let mut transaction = transaction(1, 3, 0, 0);
        (transaction.stream.class, transaction.expires) = (class, WallMs(expires));
        transaction
    }

    #[test]
    fn mail_may_come_seven_days_later() {
        for class in [Class::Control, Class::Storage, Class::E2e] {
            assert_eq!(spent(&expiring(class, 1_000)), WallMs(4_000));
        }
        assert_eq!(spent(&expiring(Class::Application, 1_000)), WallMs(1_000 + 604_800_000 + 6_000));
    }

    #[test]
    fn a_record_may_be_retired_once_a_reading_is_past_all_that_it_accepted() {
        let (node, mut lifespans) = (NodeId(3), Lifespans::default());
        lifespans.accepted(node, record(1), &expiring(Class::E2e, 2_000));
        lifespans.accepted(node, record(1), &expiring(Class::E2e, 1_000));
        assert!(!lifespans.may_be_retired(node, record(2)), "no clock was read");
        for (wall, retired) in [(5_000, false), (5_001, true), (1, true)] {
            lifespans.arrived(node, WallMs(wall));
            assert_eq!(lifespans.may_be_retired(node, record(1)), retired, "{wall}");
        }
        assert!(lifespans.may_be_retired(node, record(2)), "nobody knows what it holds");
        lifespans.accepted(node, record(1), &expiring(Class::E2e, 9_000));
        assert!(!lifespans.may_be_retired(node, record(1)));
        assert!(!lifespans.may_be_retired(NodeId(4), record(1)), "another node, another clock");
    }
}
