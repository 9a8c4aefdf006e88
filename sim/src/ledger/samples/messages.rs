//! A message's way from its origin to its handler.

use super::*;

#[rustfmt::skip]
pub(super) fn journey() -> Vec<Event<'static>> {
    let reserve = |message: Option<MessageId>, node, life, answer, refusal| {
        Event::ReserveAnswered { message: message.expect("one"), node, life, answer, refusal }
    };
    let sent = |frame, message, copy, from, to, class, channel, bytes| {
        Event::FrameSent { frame: FrameNumber(frame), message, copy, from, to, class, channel, bytes }
    };
    let lost = |frame, message, cause| Event::FrameLost { frame: FrameNumber(frame), message, cause };
    let delivered = |frame, message, to, duplicate| Event::FrameDelivered { frame: FrameNumber(frame), message, to, duplicate };
    let mut all = vec![
        Event::Intended { message: message(0), node: N, to: N2, class: Class::E2e },
        Event::Intended { message: message(1), node: N, to: N2, class: Class::E2e },
        Event::Intended { message: message(0), node: N2, to: N2, class: Class::E2e },
        Event::Intended { message: message(0), node: N, to: N, class: Class::E2e },
        Event::Intended { message: message(0), node: N, to: N2, class: Class::Storage },
        Event::NotSent { message: message(0), node: N, cause: LossCause::CallerGone },
        Event::NotSent { message: message(1), node: N, cause: LossCause::CallerGone },
        Event::NotSent { message: message(0), node: N2, cause: LossCause::CallerGone },
        Event::NotSent { message: message(0), node: N, cause: LossCause::LaneFull },
        reserve(M, N, L, Some(Sequence(0)), None), reserve(M2, N, L, Some(Sequence(0)), None),
        reserve(M, N2, L, Some(Sequence(0)), None), reserve(M, N, L2, Some(Sequence(0)), None),
        reserve(M, N, L, Some(Sequence(1)), None), reserve(M, N, L, None, None),
        reserve(M, N, L, None, Some("exhausted")), reserve(M, N, L, None, Some("unscheduled")),
        sent(0, M, 0, N, N2, Class::E2e, 0, 64), sent(1, M, 0, N, N2, Class::E2e, 0, 64),
        sent(0, None, 0, N, N2, Class::E2e, 0, 64), sent(0, M3, 0, N, N2, Class::E2e, 0, 64),
        sent(0, M, 1, N, N2, Class::E2e, 0, 64), sent(0, M, 0, N2, N2, Class::E2e, 0, 64),
        sent(0, M, 0, N, N, Class::E2e, 0, 64), sent(0, M, 0, N, N2, Class::Control, 0, 64),
        sent(0, M, 0, N, N2, Class::E2e, 1, 64), sent(0, M, 0, N, N2, Class::E2e, 0, 65),
        sent(u64::MAX, M2, u32::MAX, N2, N2, Class::Application, u8::MAX, u32::MAX),
        lost(0, M, LossCause::LinkLoss), lost(1, M, LossCause::LinkLoss), lost(0, None, LossCause::LinkLoss),
        lost(0, M, LossCause::Partition),
        delivered(0, M, N, false), delivered(1, M, N, false), delivered(0, None, N, false), delivered(0, M, N2, false),
        delivered(0, M, N, true), delivered(u64::MAX, M2, N2, true),
        Event::Relayed { message: M, node: N, life: L }, Event::Relayed { message: None, node: N, life: L },
        Event::ConnectionAdmitted { node: N, life: L, peer: N2, slot: slot_of(0) },
        Event::ConnectionAdmitted { node: N2, life: L, peer: N2, slot: slot_of(0) },
        Event::ConnectionAdmitted { node: N, life: L2, peer: N2, slot: slot_of(0) },
        Event::ConnectionAdmitted { node: N, life: L, peer: N, slot: slot_of(0) },
        Event::ConnectionAdmitted { node: N, life: L, peer: N2, slot: slot_of(1) },
        Event::ConnectionRetired { node: N, life: L, peer: N2, slot: slot_of(0), under_way: 0 },
        Event::ConnectionRetired { node: N, life: L, peer: N2, slot: slot_of(1), under_way: 0 },
        Event::ConnectionRetired { node: N, life: L, peer: N2, slot: slot_of(0), under_way: 2 },
        Event::Relayed { message: M, node: N2, life: L }, Event::Relayed { message: M, node: N, life: L2 },
    ];
    all.extend(transactions().map(|transaction| Event::Exposed { message: message(0), node: N, life: L, transaction }));
    all.push(Event::Exposed { message: message(1), node: N, life: L, transaction: &TRANSACTION });
    all
}

fn transactions() -> impl Iterator<Item = &'static Transaction> {
    std::iter::once(&TRANSACTION).chain(&OTHERS)
}

#[rustfmt::skip]
pub(super) fn admission() -> Vec<Event<'static>> {
    let transaction = &TRANSACTION;
    let wall = WallMs(7);
    let arrived = |message, node, life, wall, passage| Event::Arrived { message, node, life, wall, transaction, passage, introducer: Introducer::Inbox };
    let answered = |message, node, life, record, passage, answer| {
        Event::Answered { message, node, life, transaction, record, passage, answer }
    };
    let first = Answer::Verdict(VerdictKind::First);
    let dispatched = |message, node, life, verdict, intended_ns, sent_ns| {
        Event::Dispatched { message, node, life, transaction, verdict, intended_ns, sent_ns }
    };
    let late = VerdictKind::Late;
    let mail = |message, node, life, step| Event::Mail { message, node, life, transaction, step };
    let mut all = vec![
        Event::Unverified { message: M, node: N, life: L, reason: "delegation-expired" },
        Event::Unverified { message: None, node: N, life: L, reason: "delegation-expired" },
        Event::Unverified { message: M, node: N2, life: L, reason: "delegation-expired" },
        Event::Unverified { message: M, node: N, life: L2, reason: "delegation-expired" },
        Event::Unverified { message: M, node: N, life: L, reason: "bad-signature" },
        arrived(None, N, L, wall, P), arrived(M, N2, L, wall, P), arrived(M, N, L2, wall, P), arrived(M, N, L, WallMs(8), P),
        arrived(M, N, L, wall, P2), arrived(M, N, L, wall, P3), arrived(M2, N2, L2, WallMs(u64::MAX), P3),
        answered(None, N, L, RECORD, P, first), answered(M, N2, L, RECORD, P, first), answered(M, N, L2, RECORD, P, first),
        answered(M, N, L, OTHER_RECORD, P, first), answered(M, N, L, RECORD, P2, first), answered(M, N, L, RECORD, P3, first),
        answered(M, N, L, RECORD, P, Answer::Verdict(VerdictKind::Stale)),
        answered(M, N, L, RECORD, P, Answer::Refused("stream-capacity-exceeded")),
        answered(M, N, L, RECORD, P, Answer::Refused("unscheduled")),
        answered(M, N, L, RECORD, P, Answer::FailedBatch), answered(M, N, L, RECORD, P, Answer::Unscheduled),
        dispatched(None, N, L, late, 1, 2), dispatched(M, N2, L, late, 1, 2), dispatched(M, N, L2, late, 1, 2),
        dispatched(M, N, L, VerdictKind::First, 1, 2), dispatched(M, N, L, late, 2, 2), dispatched(M, N, L, late, 1, 1),
        Event::AdmissionAbandoned { message: None, node: N, life: L, transaction },
        Event::Handled { message: M, node: N, life: L, class: Class::E2e },
        Event::Handled { message: None, node: N, life: L, class: Class::E2e },
        Event::Handled { message: M, node: N2, life: L, class: Class::E2e },
        Event::Handled { message: M, node: N, life: L2, class: Class::E2e },
        Event::Handled { message: M, node: N, life: L, class: Class::Control },
        mail(None, N, L, MailStep::Taken), mail(M, N, L, MailStep::Taken), mail(M, N2, L, MailStep::Taken),
        mail(M, N, L2, MailStep::Taken), mail(M, N, L, MailStep::Taking), mail(M, N, L, MailStep::Stored),
        mail(M, N, L, MailStep::Held { owner: N, copies: 3, asked: 3 }), mail(M, N, L, MailStep::Held { owner: N2, copies: 3, asked: 3 }),
        mail(M, N, L, MailStep::Held { owner: N, copies: 3, asked: 4 }),
        mail(M, N, L, MailStep::Held { owner: N, copies: 1, asked: 3 }), mail(M, N, L, MailStep::HoldRefused { reason: "no-room" }),
        mail(M, N, L, MailStep::HoldRefused { reason: "no-carrier" }), mail(M, N, L, MailStep::NotTaken { reason: "no-room" }),
        mail(M, N, L, MailStep::Gone { why: MailGone::Fetched }), mail(M, N, L, MailStep::Gone { why: MailGone::PushedOut }),
        mail(M, N, L, MailStep::Gone { why: MailGone::Expired }), mail(M, N, L, MailStep::Gone { why: MailGone::LostEverywhere }),
        mail(M, N, L, MailStep::Gone { why: MailGone::CarrierLost }),
        answered(M, N, L, RECORD, Passage::FROM_INBOX, Answer::Verdict(VerdictKind::Redelivered)),
    ];
    for transaction in transactions() {
        all.push(Event::Arrived { message: M, node: N, life: L, wall, transaction, passage: P, introducer: Introducer::Inbox });
        all.push(Event::Answered { message: M, node: N, life: L, transaction, record: RECORD, passage: P, answer: first });
        all.push(Event::AdmissionAbandoned { message: M, node: N, life: L, transaction });
        all.push(Event::Dispatched { message: M, node: N, life: L, transaction, verdict: late, intended_ns: 1, sent_ns: 2 });
    }
    all
}
