//! A message's way from its origin to its handler, as bytes.

use super::encoder::Encoder;
use crate::ledger::event::{Answer, Event};

/// A message's way from the intention to send it to the receiver's transport.
pub(super) fn encode_journey(event: &Event<'_>, out: &mut Encoder<'_>) {
    match *event {
        Event::Intended { message, node, to, class } => {
            out.message(Some(message));
            out.number(u64::from(node.0));
            out.number(u64::from(to.0));
            out.byte(class as u8);
        }
        Event::NotSent { message, node, cause } => {
            out.message(Some(message));
            out.number(u64::from(node.0));
            out.byte(cause as u8);
        }
        Event::ReserveAnswered { message, node, life, answer, refusal } => {
            out.message(Some(message));
            out.place(node, life);
            out.option(answer.map(|sequence| sequence.0));
            out.optional_text(refusal);
        }
        Event::Exposed { message, node, life, transaction } => {
            out.message(Some(message));
            out.place(node, life);
            out.transaction(transaction);
        }
        Event::FrameSent { frame, message, copy, from, to, class, channel, bytes } => {
            out.number(frame.0);
            out.message(message);
            out.number(u64::from(copy));
            out.number(u64::from(from.0));
            out.number(u64::from(to.0));
            out.byte(class as u8);
            out.byte(channel);
            out.number(u64::from(bytes));
        }
        Event::FrameLost { frame, message, cause } => {
            out.number(frame.0);
            out.message(message);
            out.byte(cause as u8);
        }
        Event::FrameDelivered { frame, message, to, duplicate } => {
            out.number(frame.0);
            out.message(message);
            out.number(u64::from(to.0));
            out.flag(duplicate);
        }
        Event::ReplayMissed { node } => out.number(u64::from(node.0)),
        Event::ConnectionAdmitted { node, life, peer, slot } => {
            out.place(node, life);
            out.number(u64::from(peer.0));
            out.number(u64::from(slot.get()));
        }
        Event::ConnectionRetired { node, life, peer, slot, under_way } => {
            out.place(node, life);
            out.number(u64::from(peer.0));
            out.number(u64::from(under_way) << 16 | u64::from(slot.get()));
        }
        Event::Relayed { message, node, life } => {
            out.message(message);
            out.place(node, life);
        }
        _ => unreachable!("encoded elsewhere"),
    }
}

/// A transaction at its destination.
pub(super) fn encode_admission(event: &Event<'_>, out: &mut Encoder<'_>) {
    match *event {
        Event::Unverified { message, node, life, reason } => {
            out.message(message);
            out.place(node, life);
            out.text(reason);
        }
        Event::Arrived { message, node, life, wall, transaction, passage, introducer } => {
            out.message(message);
            out.place(node, life);
            out.number(wall.0);
            out.transaction(transaction);
            out.passage(passage);
            out.introducer(introducer);
        }
        Event::Answered { message, node, life, transaction, record, passage, answer } => {
            out.message(message);
            out.place(node, life);
            out.transaction(transaction);
            out.record(record);
            out.passage(passage);
            match answer {
                Answer::Verdict(verdict) => out.byte(4 + verdict as u8),
                Answer::Refused(reason) => {
                    out.byte(0);
                    out.text(reason);
                }
                Answer::FailedBatch => out.byte(1),
                Answer::Unscheduled => out.byte(2),
            }
        }
        Event::AdmissionAbandoned { message, node, life, transaction } => {
            out.message(message);
            out.place(node, life);
            out.transaction(transaction);
        }
        Event::Dispatched { message, node, life, transaction, verdict, intended_ns, sent_ns } => {
            out.message(message);
            out.place(node, life);
            out.transaction(transaction);
            out.byte(verdict as u8);
            out.number(intended_ns);
            out.number(sent_ns);
        }
        Event::Mail { message, node, life, transaction, step } => {
            out.message(message);
            out.place(node, life);
            out.transaction(transaction);
            out.mail(step);
        }
        Event::Handled { message, node, life, class } => {
            out.message(message);
            out.place(node, life);
            out.byte(class as u8);
        }
        _ => unreachable!("encoded elsewhere"),
    }
}
