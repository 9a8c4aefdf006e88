//! Streams leave once they are spent: when, how many, in which order, and what a failure or a death makes of it.

use super::*;
use crate::host::disk::DiskErrorKind;
use crate::store::name::{marker_path, record_name, record_path};
use crate::streams::fixtures::{NOW, sign};
use crate::streams::record;
use crate::streams::slots::SlotBounds;
use crate::streams::tables::SWEPT_AT_A_TIME;

/// A lifetime, and when what lives so long is spent, unless it is application traffic.
const LIFETIME_MS: u64 = 1_000;
const SPENT: WallMs = WallMs(NOW.0 + LIFETIME_MS + 3_000);

fn later(ms: u64) -> WallMs {
    SPENT.plus_ms(ms)
}

/// A transaction of control traffic, issued now and spent at [`SPENT`].
fn brief(origin: u8, sequence: u64) -> Transaction {
    lasting(origin, sequence, LIFETIME_MS)
}

fn lasting(origin: u8, sequence: u64, lifetime_ms: u64) -> Transaction {
    sign(&signer(origin, 2), receiver().account(), Class::Control, sequence, 0, (NOW, lifetime_ms))
}

fn stream_of(transaction: &Transaction) -> StreamKey {
    *fixtures::verified(transaction.clone(), Flaws::NONE).stream()
}

fn name_of(transaction: &Transaction) -> RecordName {
    record_name(&record::storage_key(Table::Receiver, &stream_of(transaction)))
}

fn slot(index: u16) -> Introducer {
    Introducer::Slot(SlotIndex::new(index))
}

impl Node {
    fn is_retained(&self, transaction: &Transaction) -> bool {
        self.streams.spent(&stream_of(transaction)).is_some()
    }

    fn has_record(&self, transaction: &Transaction) -> (bool, bool) {
        let name = name_of(transaction);
        let there = |path| self.machine.content(&path).is_some();
        (there(record_path(&root(), name)), there(marker_path(&root(), name)))
    }

    /// An admission of another stream, which sweeps.
    async fn sweep(&self) {
        assert!(["first", "replay"].contains(&self.verdict(lasting(99, 1, 6_000_000)).await));
        settle().await;
    }
}

#[tokio::test]
async fn a_stream_is_retired_after_its_spent_instant_and_not_at_it() {
    let mut node = Node::start().await;
    assert_eq!(node.verdict(brief(1, 5)).await, "first");
    node.at(SPENT);
    assert_eq!(node.verdict(brief(1, 5)).await, "replay", "it can still be delivered, and is known");
    node.sweep().await;
    assert_eq!(node.has_record(&brief(1, 5)), (true, true));
    node.at(later(1));
    node.sweep().await;
    assert!(!node.is_retained(&brief(1, 5)));
    assert_eq!(node.has_record(&brief(1, 5)), (false, false));
    assert_eq!((node.streams.counters().retired, node.streams.streams(Table::Receiver)), (1, 1));
    node.restart().await;
    assert!(!node.is_retained(&brief(1, 5)), "for good");
    assert!(node.streams.unrestorable().is_empty());
}

#[tokio::test]
async fn a_stream_stays_for_its_longest_lived_transaction() {
    let node = Node::start().await;
    assert_eq!(node.verdict(lasting(1, 1, LIFETIME_MS + 500)).await, "first");
    assert_eq!(node.verdict(brief(1, 2)).await, "advance");
    node.at(later(500));
    node.sweep().await;
    assert!(node.is_retained(&brief(1, 1)));
    node.at(later(501));
    node.sweep().await;
    assert!(!node.is_retained(&brief(1, 1)));
}

#[tokio::test]
async fn what_is_spent_when_it_comes_to_its_admission_is_refused() {
    let node = Node::start().await;
    assert_eq!(node.verdict(brief(1, 5)).await, "first");
    let (again, other) = (brief(1, 5), brief(2, 5));
    node.at(later(1));
    let spent =
        AdmitError::Spent { stream: stream_of(&again), sequence: Sequence(5), spent: SPENT, now: later(1) };
    assert_eq!(
        node.admit(again).await,
        Err(spent),
        "its stream is forgotten, and it was verified long before"
    );
    assert_eq!(node.verdict(other).await, "spent", "as is what is new");
    assert_eq!(node.streams.streams(Table::Receiver), 0);
    assert_eq!((node.streams.counters().spent, node.streams.counters().retired), (2, 1));
}

#[tokio::test]
async fn a_spent_stream_begins_anew_with_the_transaction_that_finds_it() {
    let node = Node::start().await;
    assert_eq!(node.verdict(brief(1, 5)).await, "first");
    node.at(later(1));
    assert_eq!(node.verdict(lasting(1, 4, 9_000)).await, "first", "and not late");
    assert_eq!(node.verdict(lasting(1, 5, 9_000)).await, "advance");
    settle().await;
    assert_eq!(node.has_record(&brief(1, 5)), (true, true));
    assert_eq!(node.streams.counters().retired, 1);
}

#[tokio::test]
async fn a_stream_that_this_node_signs_for_is_never_retired() {
    let node = Node::start().await;
    assert_eq!(node.reserved(1).await, (0, 0));
    node.at(WallMs(u64::MAX - 1));
    assert_eq!(node.verdict(brief(1, 5)).await, "spent");
    assert_eq!(node.reserved(1).await, (1, 1));
    assert_eq!(node.streams.streams(Table::Sender), 1);
}

#[tokio::test]
async fn an_admission_retires_64_streams_at_most_the_introducers_first() {
    let node = Node::start().await;
    for origin in 0..70 {
        assert_eq!(word(node.admit_by(slot(1), brief(origin, 1)).await), "first");
    }
    for origin in 70..80 {
        assert_eq!(word(node.admit_by(slot(2), lasting(origin, 1, LIFETIME_MS + 10)).await), "first");
    }
    assert_eq!(SWEPT_AT_A_TIME, 64);
    node.at(later(11));
    node.machine.take_seen();
    assert_eq!(word(node.admit_by(slot(2), lasting(90, 1, 9_000)).await), "first");
    let charges = node.streams.charges();
    assert_eq!((charges.of(slot(1)), charges.of(slot(2))), (70 - 54, 1), "its own ten, then the earliest");
    let seen = node.machine.take_seen();
    let retired = seen.iter().filter(|seen| matches!(seen, Seen::Retired(..))).count();
    assert_eq!(retired, 64);
    let own = |seen: &Seen| matches!(seen, Seen::Retired(_, record, _) if *record == name_of(&brief(70, 1)));
    assert!(seen.iter().take(10).any(own), "reported before the transition: {seen:?}");
    assert_eq!(word(node.admit_by(slot(2), lasting(90, 2, 9_000)).await), "advance");
    assert_eq!(node.streams.charges().of(slot(1)), 0, "the rest with the next");
    assert_eq!(node.streams.counters().retired, 80);
}

#[tokio::test]
async fn a_spent_stream_of_the_transaction_at_hand_goes_before_64_others() {
    let node = Node::start().await;
    assert_eq!(word(node.admit_by(slot(2), lasting(200, 5, LIFETIME_MS + 10)).await), "first");
    for origin in 0..70 {
        assert_eq!(word(node.admit_by(slot(1), brief(origin, 1)).await), "first");
    }
    node.at(later(11));
    assert_eq!(word(node.admit_by(slot(1), lasting(200, 6, 9_000)).await), "first");
    assert_eq!(node.streams.charges().of(slot(1)), 70 - 63 + 1, "charged anew, to who brought it now");
}

#[tokio::test]
async fn a_refused_introducer_is_admitted_again_once_its_streams_are_spent() {
    let slots = SlotBounds { slots: 2, floor: 2, pool: 1, inbox: 2, self_share: 2 };
    let node = Node::start_with(StreamsConfig { slots, ..fixtures::config(Flaws::NONE) }).await;
    for (introducer, room) in [(slot(0), 3), (Introducer::Inbox, 2), (Introducer::Own, 2)] {
        node.at(WallMs(0));
        for origin in 1..=room {
            assert_eq!(word(node.admit_by(introducer, brief(origin, 1)).await), "first", "{introducer}");
        }
        for now in [WallMs(0), SPENT] {
            node.at(now);
            let refused = node.admit_by(introducer, lasting(9, 1, 9_000)).await;
            assert_eq!(word(refused), "stream-capacity-exceeded", "{introducer}");
        }
        node.at(later(1));
        assert_eq!(word(node.admit_by(introducer, lasting(9, 1, 9_000)).await), "first", "{introducer}");
        assert_eq!(node.streams.charges().of(introducer), 1);
        node.at(later(60_000));
        assert_eq!(word(node.admit_by(introducer, lasting(9, 2, 9_000)).await), "spent");
        assert_eq!(node.streams.streams(Table::Receiver), 0);
    }
}

#[tokio::test]
async fn a_failed_batch_restores_what_it_retired() {
    for verb in ["create", "write", "flush", "remove", "rename", "flush directory"] {
        let mut node = Node::start().await;
        for origin in 1..=3 {
            assert_eq!(word(node.admit_by(slot(origin.into()), brief(origin, 5)).await), "first");
        }
        settle().await;
        let (digest, charges) = (node.streams.state_digest(), node.streams.charges());
        node.at(later(1));
        node.machine.fail(verb, "", DiskErrorKind::Io);
        let waiting = [lasting(9, 1, 9_000), lasting(1, 4, 9_000), brief(2, 5)].map(|tx| node.admit(tx));
        for admitting in waiting {
            assert_eq!(word(admitting.await), "persistence", "{verb}: what is refused as spent waits too");
        }
        assert_eq!(node.streams.state_digest(), digest, "{verb}");
        assert_eq!(node.streams.charges(), charges, "{verb}");
        assert_eq!(node.streams.counters().retired, 0, "{verb}");
        // The clock was wrong: it is not too late after all, and what was restored is as it was.
        node.at(WallMs(0));
        assert_eq!(node.verdict(brief(1, 5)).await, "replay", "{verb}");
        assert_eq!(node.verdict(brief(1, 6)).await, "advance", "{verb}");
        settle().await;
        for origin in 1..=3 {
            assert_eq!(node.has_record(&brief(origin, 5)), (true, true), "{verb}");
        }
        node.restart().await;
        assert!(node.streams.unrestorable().is_empty(), "{verb}");
        assert_eq!(node.streams.charges(), charges, "{verb}");
        node.at(later(1));
        node.sweep().await;
        assert_eq!(
            (node.streams.streams(Table::Receiver), node.streams.counters().retired),
            (1, 3),
            "{verb}"
        );
    }
}

#[tokio::test]
async fn a_marker_goes_before_its_record_and_the_record_after_the_flush() {
    let node = Node::start().await;
    assert_eq!(node.verdict(brief(1, 5)).await, "first");
    settle().await;
    node.at(later(1));
    node.machine.take_log();
    node.sweep().await;
    let name = name_of(&brief(1, 5)).to_string();
    let log = node.machine.take_log();
    let at = |verb: &str, ending: &str| {
        let is = |line: &String| line.starts_with(verb) && line.ends_with(ending);
        log.iter().position(is).unwrap_or_else(|| panic!("{verb} {ending}: {log:?}"))
    };
    let (marker, flush) = (at("remove", &format!("{name}.p")), at("flush directory", "transaction-replay"));
    assert!(marker < flush && flush < at("remove", &name), "{log:?}");
}

/// Two streams are spent, and an admission that is about to retire them.
async fn about_to_retire() -> Node {
    let node = Node::start().await;
    assert_eq!(node.verdict(brief(1, 5)).await, "first");
    assert_eq!(node.verdict(brief(2, 5)).await, "first");
    settle().await;
    node.at(later(1));
    node
}

#[tokio::test]
async fn a_death_at_any_operation_of_a_retirement_leaves_nothing_missing_and_dispatches_nothing_again() {
    let operations = {
        let node = about_to_retire().await;
        node.machine.take_log();
        node.sweep().await;
        u32::try_from(node.machine.take_log().len()).unwrap()
    };
    assert!(operations >= 10, "temporary, markers, rename, flush, marker, records");
    for operation in 1..=operations + 1 {
        let mut node = about_to_retire().await;
        node.machine.stand_still_after(operation);
        let admitting = node.admit(lasting(99, 1, 6_000_000));
        settle().await;
        let released = admitting.now_or_never().map(word);
        node.restart().await;
        assert!(
            node.streams.unrestorable().is_empty(),
            "operation {operation}: {:?}",
            node.streams.unrestorable()
        );
        let dispatched = node.verdict(lasting(99, 1, 6_000_000)).await;
        assert!(released.is_none() || dispatched == "replay", "operation {operation}");
        for origin in [1, 2] {
            assert_eq!(node.verdict(brief(origin, 5)).await, "spent", "operation {operation}");
            assert!(!node.is_retained(&brief(origin, 5)), "operation {operation}: retired, or retired again");
        }
        settle().await;
        node.restart().await;
        assert_eq!(node.streams.streams(Table::Receiver), 1, "operation {operation}");
        assert!(node.streams.unrestorable().is_empty(), "operation {operation}");
    }
}

#[tokio::test]
async fn a_restart_keeps_what_is_not_spent_and_retires_the_rest() {
    let mut node = Node::start().await;
    assert_eq!(word(node.admit_by(slot(7), brief(1, 5)).await), "first");
    assert_eq!(word(node.admit_by(Introducer::Inbox, lasting(2, 5, 9_000)).await), "first");
    node.restart().await;
    assert_eq!((node.streams.charges().of(slot(7)), node.streams.charges().of(Introducer::Inbox)), (1, 1));
    node.at(later(1));
    assert_eq!(node.verdict(lasting(2, 5, 9_000)).await, "replay");
    assert_eq!((node.streams.charges().of(slot(7)), node.streams.charges().of(Introducer::Inbox)), (0, 1));
}

#[tokio::test]
async fn a_refusal_waits_for_the_batch_that_removes_what_it_retired() {
    let node = about_to_retire().await;
    node.machine.hold("flush directory");
    let mut refused = node.admit(brief(1, 5));
    settle().await;
    assert!((&mut refused).now_or_never().is_none());
    node.machine.let_go();
    assert_eq!(word(refused.await), "spent");
}

#[cfg(feature = "flaws")]
mod flawed {
    use super::*;

    async fn retained_at(flaw: Flaw, now: WallMs) -> bool {
        let node = Node::start_with(fixtures::config(Flaws::NONE.with(flaw))).await;
        assert_eq!(node.verdict(brief(1, 5)).await, "first");
        node.at(now);
        node.sweep().await;
        node.is_retained(&brief(1, 5))
    }

    #[tokio::test]
    async fn streams_that_are_never_retired_stay() {
        assert!(retained_at(Flaw::NeverRetired, later(1_000_000)).await);
    }

    #[tokio::test]
    async fn streams_that_are_retired_too_early_go_when_their_transactions_expire() {
        assert!(retained_at(Flaw::RetiredTooEarly, NOW.plus_ms(LIFETIME_MS)).await);
        assert!(!retained_at(Flaw::RetiredTooEarly, NOW.plus_ms(LIFETIME_MS + 1)).await);
    }
}
