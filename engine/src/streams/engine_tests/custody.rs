//! Relay custody: what enters it, what finds itself there, what leaves it, and what a failure or a death makes of it
//! (decision 4).

use super::*;
use crate::host::disk::DiskErrorKind;
use crate::host::observe::CustodyStall;
use crate::streams::TakeError;
use crate::streams::fixtures::{NOW, sign};
use crate::streams::quota::{LaneQuota, QuotaConfig};
use crate::streams::record::{CUSTODY_MAX_ENTRIES, RECEIVER_RECORD_MAX_BYTES};
use crate::streams::slots::SlotBounds;

const INBOX: Introducer = Introducer::Inbox;
const SLOT: Introducer = Introducer::Slot(SlotIndex::new(3));

fn mail(origin: u8, sequence: u64) -> Transaction {
    transaction(&signer(origin, 2), sequence, 0)
}

fn lasting(origin: u8, sequence: u64, lifetime_ms: u64) -> Transaction {
    sign(&signer(origin, 2), receiver().account(), Class::Application, sequence, 0, (NOW, lifetime_ms))
}

fn stream_of(transaction: &Transaction) -> StreamKey {
    *fixtures::verified(transaction.clone(), Flaws::NONE).stream()
}

impl Node {
    async fn deliver(&self, mail: Transaction) -> &'static str {
        word(self.admit_by(INBOX, mail).await)
    }

    fn taking(&self, mail: &Transaction) -> crate::streams::Taking {
        self.streams.taken(&stream_of(mail), mail.sequence, &mail.digest())
    }

    async fn take(&self, mail: &Transaction) -> &'static str {
        taken(self.taking(mail).await)
    }

    /// 64 deliveries of one origin are in custody.
    async fn full() -> Self {
        let node = Node::start().await;
        for sequence in 0..CUSTODY_MAX_ENTRIES as u64 {
            assert!(["first", "advance"].contains(&node.deliver(mail(1, sequence)).await));
        }
        node
    }
}

fn taken(result: Result<(), TakeError>) -> &'static str {
    result.map_or_else(|error| error.id(), |()| "taken")
}

#[tokio::test]
async fn mail_is_delivered_again_until_it_is_taken_and_never_after() {
    let node = Node::start().await;
    assert_eq!(node.deliver(mail(1, 5)).await, "first");
    for _ in 0..3 {
        assert_eq!(node.deliver(mail(1, 5)).await, "redelivered");
    }
    assert_eq!(node.take(&mail(1, 5)).await, "taken");
    assert_eq!(node.deliver(mail(1, 5)).await, "replay");
    assert_eq!(node.take(&mail(1, 5)).await, "not-in-custody");
    let counters = node.streams.counters();
    let custody = counters.custody;
    assert_eq!((custody.taken_in, custody.redelivered, custody.taken, custody.not_in_custody), (1, 3, 1, 1));
    assert_eq!((counters.replay, node.streams.custody()), (1, 0));
}

#[tokio::test]
async fn only_what_came_out_of_the_inbox_enters_custody_and_only_from_there_is_it_delivered_again() {
    let node = Node::start().await;
    assert_eq!(word(node.admit_by(SLOT, mail(1, 5)).await), "first");
    assert_eq!(node.deliver(mail(1, 5)).await, "replay", "it came over a connection first");
    assert_eq!(node.take(&mail(1, 5)).await, "not-in-custody");
    assert_eq!(node.deliver(mail(1, 6)).await, "advance");
    for other in [SLOT, Introducer::Own] {
        assert_eq!(word(node.admit_by(other, mail(1, 6)).await), "replay", "{other}");
    }
    let forged = transaction(&signer(1, 2), 6, 9);
    assert_eq!(node.deliver(forged).await, "fork", "another digest is not in custody");
    assert_eq!(node.deliver(mail(1, 6)).await, "redelivered");
    assert_eq!(node.streams.charges().of(INBOX), 0, "the stream stays charged to who introduced it");
}

#[tokio::test]
async fn a_redelivery_is_dispatched_whatever_the_window_says_and_changes_nothing() {
    let limits = LaneQuota { messages_per_s: 1, message_burst: 40, ..LaneQuota::SEED };
    let quota = Some(QuotaConfig::new([limits; 4]).unwrap());
    let config = StreamsConfig { quota, ..fixtures::config(Flaws::NONE) };
    let node = Node::start_with(config).await;
    assert_eq!(node.deliver(mail(1, 5)).await, "first");
    for sequence in 6..44 {
        assert_eq!(node.verdict(mail(1, sequence)).await, "advance");
    }
    assert_eq!(node.verdict(mail(1, 5)).await, "stale", "the window has passed it");
    settle().await;
    let (digest, charges) = (node.streams.state_digest(), node.streams.charges());
    let quotas = node.streams.quota_records();
    node.machine.take_log();
    for _ in 0..3 {
        assert_eq!(node.deliver(mail(1, 5)).await, "redelivered");
    }
    settle().await;
    assert!(node.machine.take_log().is_empty(), "nothing is written");
    assert_eq!((node.streams.state_digest(), node.streams.charges()), (digest, charges));
    assert_eq!(node.streams.quota_records(), quotas, "no quota");
    assert_eq!(node.verdict(mail(1, 44)).await, "advance");
    assert_eq!(node.verdict(mail(1, 45)).await, "message-rate-exhausted");
    assert_eq!(node.deliver(mail(1, 5)).await, "redelivered", "whatever the quota has left");
}

#[tokio::test]
async fn the_65th_delivery_is_refused_changes_nothing_and_a_redelivery_is_not() {
    let node = Node::full().await;
    assert_eq!(node.streams.custody(), 64);
    settle().await;
    let (digest, charges) = (node.streams.state_digest(), node.streams.charges());
    let refused = node.admit_by(INBOX, mail(1, 64)).await.unwrap_err();
    assert_eq!(refused.id(), "relay-custody-full");
    let text = refused.to_string();
    assert!(text.contains("64 deliveries are in custody of at most 64"), "{text}");
    assert_eq!(node.deliver(mail(2, 0)).await, "relay-custody-full", "from every origin");
    assert_eq!((node.streams.state_digest(), node.streams.charges()), (digest, charges));
    assert_eq!(node.streams.counters().custody.refused_full, 2);
    assert_eq!(node.deliver(mail(1, 0)).await, "redelivered", "below the window, and custody is full");
    assert_eq!(node.deliver(transaction(&signer(1, 2), 63, 9)).await, "fork", "its verdict comes first");
    assert_eq!(node.verdict(mail(3, 0)).await, "first", "and connections go on");
    assert_eq!(node.take(&mail(1, 7)).await, "taken");
    assert_eq!(node.deliver(mail(1, 64)).await, "advance");
    assert_eq!(node.deliver(mail(2, 0)).await, "relay-custody-full");
}

#[tokio::test]
async fn a_full_custody_costs_no_quota_and_no_place_in_the_inbox_share() {
    let node = Node::full().await;
    let charged = node.streams.charges().of(INBOX);
    for origin in 2..6 {
        assert_eq!(node.deliver(mail(origin, 0)).await, "relay-custody-full");
    }
    assert_eq!(node.streams.charges().of(INBOX), charged);
    assert_eq!(node.streams.streams(Table::Receiver), 1);
}

#[tokio::test]
async fn an_entry_expires_after_its_last_instant_and_not_at_it() {
    let node = Node::start().await;
    let (brief, long) = (lasting(1, 1, 1_000), lasting(1, 2, 2_000));
    assert_eq!(node.deliver(brief.clone()).await, "first");
    assert_eq!(node.deliver(long.clone()).await, "advance");
    node.at(spent(&brief));
    assert_eq!(node.deliver(brief.clone()).await, "redelivered");
    node.at(spent(&brief).plus_ms(1));
    assert_eq!(node.take(&brief).await, "not-in-custody", "taking sweeps too");
    assert_eq!(node.deliver(brief).await, "spent");
    assert_eq!(node.deliver(long.clone()).await, "redelivered");
    assert_eq!((node.streams.custody(), node.streams.counters().custody.expired), (1, 1));
    node.at(spent(&long).plus_ms(1));
    assert_eq!(node.deliver(long).await, "spent");
    assert_eq!((node.streams.custody(), node.streams.streams(Table::Receiver)), (0, 0));
}

#[tokio::test]
async fn a_stall_ends_at_the_first_delivery_after_the_earliest_spent_instant_and_is_reported() {
    let node = Node::start().await;
    for sequence in 0..64 {
        let lifetime_ms = if sequence == 9 { 1_000 } else { 2_000 };
        assert!(["first", "advance"].contains(&node.deliver(lasting(1, sequence, lifetime_ms)).await));
    }
    let until = spent(&lasting(1, 9, 1_000));
    let stalls = |node: &Node| -> Vec<(CustodyStall, u32)> {
        let seen = node.machine.take_seen().into_iter();
        seen.filter_map(|seen| match seen {
            Seen::CustodyStall(_, stall, held) => Some((stall, held)),
            _ => None,
        })
        .collect()
    };
    assert_eq!(stalls(&node), vec![(CustodyStall::Full { until }, 64)]);
    node.at(until);
    assert_eq!(node.deliver(lasting(2, 0, 9_000)).await, "relay-custody-full");
    assert_eq!(stalls(&node), vec![(CustodyStall::Refused { until }, 64)]);
    node.at(until.plus_ms(1));
    assert_eq!(node.deliver(lasting(2, 0, 9_000)).await, "first");
    assert_eq!(stalls(&node), vec![], "one left, and one came: full all along");
    assert_eq!(node.streams.custody(), 64);
    assert_eq!(node.take(&lasting(2, 0, 9_000)).await, "taken");
    assert_eq!(stalls(&node), vec![(CustodyStall::Over, 63)]);
}

#[tokio::test]
async fn a_restart_restores_custody_from_the_records() {
    let mut node = Node::full().await;
    assert_eq!(node.take(&mail(1, 3)).await, "taken");
    node.restart().await;
    assert_eq!(node.streams.custody(), 63);
    assert_eq!(node.deliver(mail(1, 3)).await, "stale", "taken is taken");
    assert_eq!(node.deliver(mail(1, 63)).await, "redelivered");
    assert_eq!(node.deliver(mail(1, 64)).await, "advance");
    assert_eq!(node.deliver(mail(1, 65)).await, "relay-custody-full");
}

#[tokio::test]
async fn what_expired_in_memory_leaves_its_record_with_the_next_write() {
    let mut node = Node::start().await;
    let brief = lasting(1, 1, 1_000);
    assert_eq!(node.deliver(brief.clone()).await, "first");
    assert_eq!(word(node.admit_by(SLOT, lasting(1, 2, 9_000)).await), "advance");
    node.at(spent(&brief).plus_ms(1));
    assert_eq!(node.verdict(mail(9, 1)).await, "first", "another stream's admission sweeps");
    assert_eq!(node.streams.custody(), 0);
    node.restart().await;
    assert_eq!(node.streams.custody(), 1, "the record was not written since");
    assert_eq!(node.verdict(lasting(1, 3, 9_000)).await, "advance");
    assert_eq!(node.streams.custody(), 0);
    node.restart().await;
    assert_eq!(node.streams.custody(), 0);
}

#[tokio::test]
async fn an_absent_carrier_removes_nothing() {
    let mut node = Node::start().await;
    assert_eq!(node.deliver(mail(1, 5)).await, "first");
    node.streams.drained(&[]);
    settle().await;
    assert_eq!(node.streams.custody(), 1);
    node.restart().await;
    assert_eq!(node.deliver(mail(1, 5)).await, "redelivered");
}

#[tokio::test]
async fn mail_is_handed_over_when_its_batch_is_durable_and_not_before() {
    let node = Node::start().await;
    assert_eq!(node.deliver(mail(1, 5)).await, "first");
    settle().await;
    node.machine.hold("flush directory");
    let mut taking = node.taking(&mail(1, 5));
    let mut again = node.taking(&mail(1, 5));
    let mut delivered = node.admit_by(INBOX, mail(1, 5));
    settle().await;
    assert!((&mut taking).now_or_never().is_none());
    assert!((&mut again).now_or_never().is_none(), "a refusal waits too");
    assert!((&mut delivered).now_or_never().is_none());
    node.machine.let_go();
    assert_eq!((taken(taking.await), taken(again.await)), ("taken", "not-in-custody"));
    assert_eq!(word(delivered.await), "replay");
}

#[tokio::test]
async fn a_redelivery_waits_for_the_batch_that_admitted_it() {
    let node = Node::start().await;
    node.machine.hold("flush directory");
    let first = node.admit_by(INBOX, mail(1, 5));
    let mut again = node.admit_by(INBOX, mail(1, 5));
    settle().await;
    assert!((&mut again).now_or_never().is_none());
    node.machine.let_go();
    assert_eq!((word(first.await), word(again.await)), ("first", "redelivered"));
}

#[tokio::test]
async fn a_failed_batch_takes_everything_back_exactly() {
    for verb in ["create", "write", "flush", "rename", "flush directory"] {
        let mut node = Node::start().await;
        let brief = lasting(2, 1, 1_000);
        for sequence in 0..5 {
            assert!(["first", "advance"].contains(&node.deliver(mail(1, sequence)).await));
        }
        assert_eq!(node.deliver(brief.clone()).await, "first");
        settle().await;
        let (digest, before) = (node.streams.state_digest(), node.streams.counters().custody);
        node.at(spent(&brief).plus_ms(1));
        node.machine.fail(verb, "", DiskErrorKind::Io);
        let second = node.taking(&mail(1, 2));
        let other = node.taking(&mail(1, 0));
        let new = node.admit_by(INBOX, mail(1, 9));
        let first = node.admit_by(INBOX, mail(3, 0));
        let again = node.admit_by(INBOX, mail(3, 0));
        for taking in [second, other] {
            assert_eq!(taken(taking.await), "persistence", "{verb}");
        }
        for admitting in [new, first, again] {
            assert_eq!(word(admitting.await), "persistence", "{verb}");
        }
        assert_eq!(node.streams.state_digest(), digest, "{verb}: memory is as it was");
        let after = node.streams.counters().custody;
        assert_eq!((after.taken_in, after.taken, after.expired), (before.taken_in, 0, 0), "{verb}");
        // The clock was wrong: nothing was spent after all.
        node.at(WallMs(0));
        assert_eq!(node.deliver(brief.clone()).await, "redelivered", "{verb}");
        assert_eq!(node.deliver(mail(1, 2)).await, "redelivered", "{verb}");
        assert_eq!(node.deliver(mail(1, 9)).await, "advance", "{verb}");
        assert_eq!(node.deliver(mail(3, 0)).await, "first", "{verb}");
        settle().await;
        let held = node.streams.custody();
        node.restart().await;
        assert_eq!((node.streams.custody(), held), (8, 8), "{verb}");
    }
}

#[tokio::test]
async fn a_death_at_any_operation_of_a_take_hands_the_mail_over_at_most_once_and_never_loses_it_unseen() {
    let ready = async || {
        let node = Node::start().await;
        assert_eq!(node.deliver(mail(1, 5)).await, "first");
        assert_eq!(node.deliver(mail(1, 6)).await, "advance");
        settle().await;
        node
    };
    let operations = {
        let node = ready().await;
        node.machine.take_log();
        assert_eq!(node.take(&mail(1, 5)).await, "taken");
        settle().await;
        u32::try_from(node.machine.take_log().len()).unwrap()
    };
    assert!(operations >= 5, "create, write, flush, rename, flush directory");
    let mut kept = 0;
    for operation in 1..=operations + 1 {
        let mut node = ready().await;
        node.machine.stand_still_after(operation);
        let taking = node.taking(&mail(1, 5));
        settle().await;
        let handed_over = taking.now_or_never().map(taken);
        node.restart().await;
        assert!(node.streams.unrestorable().is_empty(), "operation {operation}");
        let again = node.deliver(mail(1, 5)).await;
        match handed_over {
            Some(result) => assert_eq!((result, again), ("taken", "replay"), "operation {operation}"),
            None => assert!(["replay", "redelivered"].contains(&again), "operation {operation}: {again}"),
        }
        if again == "redelivered" {
            kept += 1;
            assert_eq!(node.take(&mail(1, 5)).await, "taken", "operation {operation}");
        }
        assert_eq!(node.take(&mail(1, 5)).await, "not-in-custody", "operation {operation}");
        assert_eq!(node.deliver(mail(1, 6)).await, "redelivered", "operation {operation}: others stay");
    }
    assert!(kept >= 3, "before the rename the mail is still in custody");
}

#[tokio::test]
async fn a_death_at_any_operation_of_an_inbox_admission_leaves_the_mail_deliverable() {
    for first in [true, false] {
        let ready = async || {
            let node = Node::start().await;
            if !first {
                assert_eq!(node.deliver(mail(1, 4)).await, "first");
            }
            settle().await;
            node
        };
        let operations = {
            let node = ready().await;
            node.machine.take_log();
            assert!(["first", "advance"].contains(&node.deliver(mail(1, 5)).await));
            settle().await;
            u32::try_from(node.machine.take_log().len()).unwrap()
        };
        for operation in 1..=operations + 1 {
            let mut node = ready().await;
            node.machine.stand_still_after(operation);
            let admitting = node.admit_by(INBOX, mail(1, 5));
            settle().await;
            let released = admitting.now_or_never().map(word);
            node.restart().await;
            assert!(node.streams.unrestorable().is_empty(), "operation {operation}");
            let again = node.deliver(mail(1, 5)).await;
            let expected: &[&str] = match released {
                Some(_) => &["redelivered"],
                None => &["redelivered", "first", "advance"],
            };
            assert!(expected.contains(&again), "operation {operation}: {again} after {released:?}");
            assert_eq!(node.take(&mail(1, 5)).await, "taken", "operation {operation}");
            assert_eq!(node.deliver(mail(1, 5)).await, "replay", "operation {operation}");
        }
    }
}

#[tokio::test]
async fn a_record_with_all_of_custody_is_within_its_longest() {
    let node = Node::full().await;
    settle().await;
    let closed = node.machine.take_seen().into_iter().filter_map(|seen| match seen {
        Seen::Closed(_, records, _) => records.iter().filter_map(|(_, bytes)| *bytes).max(),
        _ => None,
    });
    let longest = closed.max().unwrap() as usize;
    assert!(longest <= RECEIVER_RECORD_MAX_BYTES && longest > 64 * 32, "{longest}");
}

#[tokio::test]
async fn mail_of_a_new_stream_is_held_against_the_share_of_the_inbox() {
    let slots = SlotBounds { slots: 2, floor: 2, pool: 1, inbox: 2, self_share: 2 };
    let node = Node::start_with(StreamsConfig { slots, ..fixtures::config(Flaws::NONE) }).await;
    assert_eq!(node.deliver(mail(1, 0)).await, "first");
    assert_eq!(node.deliver(mail(2, 0)).await, "first");
    assert_eq!(node.deliver(mail(3, 0)).await, "stream-capacity-exceeded");
    assert_eq!(node.streams.custody(), 2, "what is refused is not in custody");
    assert_eq!(word(node.admit_by(Introducer::Own, mail(3, 0)).await), "first", "signalling has its own");
}

#[cfg(feature = "flaws")]
mod flawed {
    use super::*;

    async fn start(flaw: Flaw) -> Node {
        Node::start_with(fixtures::config(Flaws::NONE.with(flaw))).await
    }

    #[tokio::test]
    async fn custody_that_needs_a_replay_loses_what_the_window_passed() {
        let node = start(Flaw::CustodyNeedsReplay).await;
        assert_eq!(node.deliver(mail(1, 0)).await, "first");
        assert_eq!(node.deliver(mail(1, 0)).await, "redelivered");
        assert_eq!(node.deliver(mail(1, 40)).await, "advance");
        assert_eq!(node.deliver(mail(1, 0)).await, "stale");
    }

    #[tokio::test]
    async fn without_custody_a_redelivery_is_a_replay() {
        let node = start(Flaw::NoCustody).await;
        assert_eq!(node.deliver(mail(1, 0)).await, "first");
        assert_eq!((node.deliver(mail(1, 0)).await, node.streams.custody()), ("replay", 0));
    }

    #[tokio::test]
    async fn custody_that_an_absent_carrier_drops_is_gone_after_a_restart_too() {
        let mut node = start(Flaw::CustodyDroppedOnAbsentCarrier).await;
        assert_eq!(node.deliver(mail(1, 0)).await, "first");
        node.streams.drained(&[]);
        settle().await;
        assert_eq!(node.deliver(mail(1, 0)).await, "replay");
        node.restart().await;
        assert_eq!(node.deliver(mail(1, 0)).await, "replay");
    }

    #[tokio::test]
    async fn custody_that_is_not_undone_dispatches_what_was_never_admitted() {
        let node = start(Flaw::CustodyNotUndone).await;
        assert_eq!(node.deliver(mail(1, 0)).await, "first");
        node.machine.fail("rename", "", DiskErrorKind::Io);
        assert_eq!(node.deliver(mail(1, 1)).await, "persistence");
        assert_eq!(node.deliver(mail(1, 1)).await, "redelivered");
    }
}
