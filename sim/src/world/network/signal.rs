//! What a receiver's transport tells the sender's: that a frame has arrived, and that its place is free again.
//!
//! Promise: a signal is never lost while its connection stands: the transport sends it again until it passes, and no
//! fault outlasts its end by more than one retry. Without this a partition would starve a lane for good.

use super::Network;
use super::frame::ReturnPath;
use super::link::Link;
use crate::draw::Purpose;
use crate::units::SimTime;

/// How long a transport waits before it sends again what did not pass: the usual least retransmission timeout of a stream
/// transport, 200 ms. Also how long it holds on, at most, to a frame that will not leave before it gives it up.
pub const RETRY_NS: u64 = 200_000_000;

/// What is signalled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalKind {
    /// A frame of the lane was handled: the sender may have one more unhandled (receive credit).
    Credit,
    /// The receiver's transport has the frame: the lane's window slides.
    DeliveryNotice,
    /// What the receiver says to the delegations that a frame carried inline.
    ReferenceAnswer,
}

/// One signal on its way.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Signal {
    /// What is signalled.
    pub kind: SignalKind,
    /// Which frame it is about.
    pub path: ReturnPath,
    /// When it left.
    pub sent_at: SimTime,
}

/// What became of a signal that was due.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalArrival {
    /// The sender's transport has it.
    Arrived,
    /// It has not passed yet: ask again at this time, which is later than now.
    Retry(SimTime),
    /// Its connection has closed.
    Gone,
}

impl Network {
    /// A signal leaves the end that received a frame: ask [`Self::signal_arrives`] at the time given, which is the
    /// earliest that it can have passed.
    ///
    /// `None` when the connection has closed.
    #[must_use]
    pub fn signal(&self, now: SimTime, kind: SignalKind, path: &ReturnPath) -> Option<(Signal, SimTime)> {
        let link = self.standing(path)?;
        let signal = Signal { kind, path: *path, sent_at: now };
        Some((signal, passes_at(link, &signal, 0)))
    }

    /// Takes a signal that is due. It takes the latency of its own direction, the delay of faults that are still on, and
    /// no bandwidth.
    #[must_use]
    pub fn signal_arrives(&self, now: SimTime, signal: &Signal) -> SignalArrival {
        let Some(link) = self.standing(&signal.path) else { return SignalArrival::Gone };
        let effective = link.directions[link.side(signal.path.receiving_end)].effective;
        let passes_at = passes_at(link, signal, effective.delay_ns);
        let retry_at = now.plus_ns(RETRY_NS);
        if effective.partition {
            SignalArrival::Retry(retry_at)
        } else if now < passes_at {
            SignalArrival::Retry(passes_at.min(retry_at))
        } else {
            SignalArrival::Arrived
        }
    }

    /// The link, if the connection of the path stands.
    fn standing(&self, path: &ReturnPath) -> Option<&Link> {
        let index = self.link_between(path.receiving_end, path.origin_end)?;
        let link = &self.links[index as usize];
        (link.up && link.generation == path.generation).then_some(link)
    }
}

fn passes_at(link: &Link, signal: &Signal, delay_ns: u64) -> SimTime {
    let purpose = match signal.kind {
        SignalKind::Credit => Purpose::CreditLatency,
        SignalKind::DeliveryNotice | SignalKind::ReferenceAnswer => Purpose::NoticeLatency,
    };
    let jitter = signal.path.identity.draw(purpose).below(link.jitter_ns().saturating_add(1));
    signal.sent_at.plus_ns(link.latency_ns()).plus_ns(jitter).plus_ns(delay_ns)
}
