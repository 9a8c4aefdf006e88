//! Events as bytes, for the fingerprint and for telling two events apart.
//!
//! Promise: two events that differ in anything give different bytes, and no encoding is a prefix of another, so that a
//! sequence of encodings reads back one way only. The one exception is stated here: values that are themselves hashes
//! enter abbreviated, a transaction's digest and a state's digest by their first 16 bytes, a DID and a record's name by
//! their first 8, and a transaction's digest stands for what it was computed from. The fingerprint guards against accident,
//! where 64 bits are plenty.

mod encoder;
mod engine;
mod machine;
mod messages;

use super::event::Event;
use super::kind::EventKind;
use super::link_event::LinkEvent;
use crate::units::SimTime;
use encoder::Encoder;
use engine::encode_engine;
use machine::{encode_machine, encode_ring};
use messages::{encode_admission, encode_journey};

/// Bytes of a digest that enter an encoding.
const DIGEST_BYTES: usize = 16;
/// Bytes of a DID or a record's name that enter an encoding.
const NAME_BYTES: usize = 8;

/// Appends the encoding of `event`, which happened at `at`, to `into`.
pub fn encode(at: SimTime, event: &Event<'_>, into: &mut Vec<u8>) {
    let mut out = Encoder(into);
    out.byte(EventKind::of(event) as u8);
    out.fixed(at.0);
    match *event {
        Event::Booted { .. }
        | Event::Ready { .. }
        | Event::OpenFailed { .. }
        | Event::Died { .. }
        | Event::PowerLost { .. }
        | Event::Panicked { .. }
        | Event::ThreadStarted { .. }
        | Event::ClockSet { .. }
        | Event::DiskAnswered { .. }
        | Event::FaultBegan { .. }
        | Event::FaultEnded { .. }
        | Event::Quiesced => encode_machine(event, &mut out),
        Event::Intended { .. }
        | Event::NotSent { .. }
        | Event::ReserveAnswered { .. }
        | Event::Exposed { .. }
        | Event::FrameSent { .. }
        | Event::FrameLost { .. }
        | Event::FrameDelivered { .. }
        | Event::ReplayMissed { .. }
        | Event::ConnectionAdmitted { .. }
        | Event::ConnectionRetired { .. }
        | Event::Relayed { .. } => encode_journey(event, &mut out),
        Event::Unverified { .. }
        | Event::Arrived { .. }
        | Event::Answered { .. }
        | Event::AdmissionAbandoned { .. }
        | Event::Dispatched { .. }
        | Event::Mail { .. }
        | Event::Handled { .. } => encode_admission(event, &mut out),
        Event::Joined { .. } | Event::Left { .. } | Event::Routed { .. } | Event::HandedOff { .. } => {
            encode_ring(event, &mut out)
        }
        Event::SecondRuntime { node, of } => {
            out.number(node.0.into());
            out.number(of.0.into());
        }
        Event::Engine { node, life, event } => {
            out.place(node, life);
            encode_engine(&event, &mut out);
        }
        Event::Link { node, life, event } => {
            out.place(node, life);
            encode_link(&event, &mut out);
        }
    }
}

/// What a transport or an application did beside admissions.
fn encode_link(event: &LinkEvent, out: &mut Encoder<'_>) {
    let (tag, numbers, text, digest) = event.fields();
    out.byte(tag);
    out.message(event.message());
    numbers.into_iter().for_each(|number| out.number(number));
    out.text(text);
    digest.into_iter().for_each(|digest| out.bytes(&digest[..DIGEST_BYTES]));
}
