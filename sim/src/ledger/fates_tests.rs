//! What becomes of messages, by what was seen of them.

use super::*;
use crate::ledger::event::Passage;
use crate::ledger::samples::{RECORD, STREAM, TRANSACTION, message, plan};
use crate::plan::Death;
use crate::units::FrameNumber;
use groundhog_engine::streams::window::VerdictKind;
use groundhog_engine::units::WallMs;

const SENDER: NodeId = NodeId(0);
const RECEIVER: NodeId = NodeId(1);
const PASSAGE: Passage = Passage { honest: true, copy: 0, link: None };

fn boot(node: NodeId, life: u32) -> Event<'static> {
    Event::Booted { node, life: Life(life), wall: WallMs(0) }
}
fn death(node: NodeId, life: u32) -> Event<'static> {
    let (life, death) = (Life(life), Death::Process);
    Event::Died { node, life, death, during: None, gathering: false, fault: None }
}
fn intended() -> Event<'static> {
    Event::Intended { message: message(0), node: SENDER, to: RECEIVER, class: STREAM.class }
}
fn sent(copy: u32) -> Event<'static> {
    let (frame, message) = (FrameNumber(u64::from(copy)), Some(message(0)));
    let class = STREAM.class;
    Event::FrameSent { frame, message, copy, from: SENDER, to: RECEIVER, class, channel: 0, bytes: 64 }
}
fn lost(cause: LossCause) -> Event<'static> {
    Event::FrameLost { frame: FrameNumber(0), message: Some(message(0)), cause }
}
fn delivered(to: NodeId) -> Event<'static> {
    Event::FrameDelivered { frame: FrameNumber(0), message: Some(message(0)), to, duplicate: false }
}
fn answered(answer: Answer) -> Event<'static> {
    let (message, transaction, record) = (Some(message(0)), &TRANSACTION, RECORD);
    Event::Answered { message, node: RECEIVER, life: Life(0), transaction, record, passage: PASSAGE, answer }
}
fn dispatched(life: u32) -> Event<'static> {
    Event::Dispatched {
        message: Some(message(0)),
        node: RECEIVER,
        life: Life(life),
        transaction: &TRANSACTION,
        verdict: VerdictKind::First,
        intended_ns: 0,
        sent_ns: 0,
    }
}
const FIRST: Answer = Answer::Verdict(VerdictKind::First);
const REPLAY: Answer = Answer::Verdict(VerdictKind::Replay);

/// The ending of message 0 after both nodes booted and these events.
fn ending(events: &[Event<'_>]) -> Ending {
    let mut fates = Fates::new(&plan(3, 2, vec![]));
    [boot(SENDER, 0), boot(RECEIVER, 0), boot(NodeId(2), 0)].iter().chain(events).for_each(|event| {
        fates.event(event);
    });
    assert_eq!(fates.ending(message(1)), Ending::NotIntended);
    fates.ending(message(0))
}

#[test]
fn a_message_is_dispatched_by_any_copy_and_then_for_good() {
    assert_eq!(ending(&[]), Ending::NotIntended);
    assert_eq!(ending(&[intended()]), Ending::Unexplained);
    let way = [intended(), sent(0), delivered(RECEIVER), answered(FIRST), dispatched(0)];
    assert_eq!(ending(&way), Ending::Dispatched);
    let second =
        [intended(), sent(0), lost(LossCause::LinkLoss), sent(1), delivered(RECEIVER), dispatched(0)];
    assert_eq!(ending(&second), Ending::Dispatched);
    let after = [&way[..], &[answered(REPLAY), death(RECEIVER, 0), lost(LossCause::Partition)]].concat();
    assert_eq!(ending(&after), Ending::Dispatched);
}

#[test]
fn of_several_causes_the_one_that_explains_the_others_counts() {
    use LossCause::*;
    let cases: [(&[Event<'_>], LossCause); 7] = [
        (&[sent(0), lost(LinkLoss)], LinkLoss),
        (&[sent(0), lost(LinkLoss), sent(1), lost(Partition)], LinkLoss),
        (
            &[sent(0), lost(LinkLoss), sent(1), delivered(RECEIVER), answered(Answer::Refused("full"))],
            Refused,
        ),
        (&[delivered(RECEIVER), answered(Answer::FailedBatch), answered(REPLAY)], FailedBatch),
        (
            &[delivered(RECEIVER), answered(FIRST), lost(DropAfterAdmission), answered(REPLAY)],
            DropAfterAdmission,
        ),
        (&[answered(Answer::Unscheduled)], ReceiverCrash),
        (&[Event::NotSent { message: message(0), node: SENDER, cause: LaneFull }], LaneFull),
    ];
    for (events, cause) in cases {
        assert_eq!(ending(&[&[intended()], events].concat()), Ending::Lost(cause), "{events:?}");
    }
}

#[test]
fn what_a_life_holds_when_it_ends_is_lost_to_that_crash() {
    let (sender, receiver) = (Ending::Lost(LossCause::SenderCrash), Ending::Lost(LossCause::ReceiverCrash));
    assert_eq!(ending(&[intended(), death(SENDER, 0)]), sender);
    assert_eq!(ending(&[intended(), death(SENDER, 0), boot(SENDER, 1)]), sender);
    assert_eq!(ending(&[intended(), death(RECEIVER, 0)]), Ending::Unexplained);
    assert_eq!(ending(&[intended(), sent(0), death(SENDER, 0)]), Ending::Unexplained);
    assert_eq!(ending(&[intended(), sent(0), delivered(RECEIVER), death(RECEIVER, 0)]), receiver);
    let answered_first = [intended(), sent(0), delivered(RECEIVER), answered(FIRST), death(RECEIVER, 0)];
    assert_eq!(ending(&answered_first), receiver);
}

#[test]
fn what_a_life_has_answered_is_not_lost_when_it_ends() {
    let refused =
        [intended(), sent(0), delivered(RECEIVER), answered(Answer::Refused("full")), death(RECEIVER, 0)];
    assert_eq!(ending(&refused), Ending::Lost(LossCause::Refused));
    let given_up = Event::NotSent { message: message(0), node: SENDER, cause: LossCause::CallerGone };
    assert_eq!(ending(&[intended(), given_up, death(SENDER, 0)]), Ending::Lost(LossCause::CallerGone));
}

#[test]
fn a_relay_that_sent_a_message_on_no_longer_holds_it() {
    let relay = NodeId(2);
    let held = [intended(), sent(0), delivered(relay)];
    assert_eq!(ending(&[&held[..], &[death(relay, 0)]].concat()), Ending::Lost(LossCause::ReceiverCrash));
    let relayed = Event::Relayed { message: Some(message(0)), node: relay, life: Life(0) };
    assert_eq!(ending(&[&held[..], &[relayed, death(relay, 0)]].concat()), Ending::Unexplained);
}

#[test]
fn each_message_is_tallied_once_and_the_first_dispatch_is_told() {
    let mut fates = Fates::new(&plan(2, 3, vec![]));
    let events = [boot(SENDER, 0), boot(RECEIVER, 0), intended()];
    assert!(events.iter().all(|event| !fates.event(event)));
    assert!(fates.event(&dispatched(0)));
    assert!(!fates.event(&dispatched(0)), "the second dispatch is not the first");
    assert_eq!(fates.dispatched_by(message(0)), Some((RECEIVER, Life(0))));
    fates.event(&Event::Intended { message: message(1), node: SENDER, to: RECEIVER, class: STREAM.class });
    assert_eq!(fates.tally(), (1, [("unexplained", 1)].into()));
    let unknown = MessageId { action: ActionId(99), ordinal: 0 };
    assert_eq!((fates.ending(unknown), fates.ending(message(3))), (Ending::NotIntended, Ending::NotIntended));
}

#[test]
fn every_cause_has_its_own_place_in_the_precedence() {
    use LossCause::*;
    let all = [
        LinkLoss,
        Partition,
        SenderCrash,
        ReceiverCrash,
        CallerGone,
        FailedBatch,
        Refused,
        Verdict,
        Unverified,
        DropAfterAdmission,
        LaneFull,
        ReferenceMiss,
    ];
    let places: std::collections::BTreeSet<u8> = all.iter().map(|cause| precedence(*cause)).collect();
    assert_eq!(places.len(), all.len());
    assert!(std::mem::size_of::<Fate>() <= 16);
}
