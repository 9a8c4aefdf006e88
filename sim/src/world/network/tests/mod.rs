//! Tests of the network, over a driver of a few lines.

mod faults;
mod passage;
mod properties;

use super::*;
use crate::plan::{FrameName, LinkFault};
use crate::units::{ActionId, MessageId};
use bytes::Bytes;
use groundhog_engine::streams::key::Class;

const MS: u64 = 1_000_000;
const SECOND: u64 = 1_000 * MS;

fn node(id: u16) -> NodeId {
    NodeId(id)
}

fn at_ms(ms: u64) -> SimTime {
    SimTime(ms * MS)
}

/// 10 ms, no jitter, no bound, four ordered channels, nothing lost.
fn plain(a: u16, b: u16) -> LinkPlan {
    LinkPlan {
        a: node(a),
        b: node(b),
        latency_us: 10_000,
        jitter_us: 0,
        bandwidth_bytes_per_s: 0,
        channels: 4,
        ordered: true,
        loss_per_mille: 0,
        duplicate_per_mille: 0,
    }
}

/// One delivery.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Arrival {
    at: SimTime,
    frame: Frame,
    duplicate: bool,
}

/// A network and the driver's heap.
struct Run {
    network: Network,
    heap: std::collections::BTreeMap<(SimTime, u64), FrameHandle>,
    pushed: u64,
    arrivals: Vec<Arrival>,
    lost: Vec<(FrameNumber, LossCause)>,
}

impl Run {
    /// Every node is ready.
    fn new(nodes: u16, links: &[LinkPlan]) -> Self {
        let mut network = Network::new(7, usize::from(nodes), links).unwrap();
        for id in 0..nodes {
            network.ready(node(id));
        }
        let heap = std::collections::BTreeMap::new();
        Self { network, heap, pushed: 0, arrivals: Vec::new(), lost: Vec::new() }
    }

    fn schedule(&mut self, scheduled: impl IntoIterator<Item = Scheduled>) {
        for Scheduled { handle, deliver_at } in scheduled {
            self.heap.insert((deliver_at, self.pushed), handle);
            self.pushed += 1;
        }
    }

    /// Sends a frame with this sequence; its class names the lane, and the lane its channel.
    fn send(&mut self, now: SimTime, from: u16, to: u16, class: Class, sequence: u64) -> Sent {
        let Some(connection) = self.network.connection(node(from), node(to)) else {
            return self.hand_over(now, outgoing(from, to, class, 0, LinkGeneration(0), sequence));
        };
        let channel = u8::try_from(class.index()).unwrap() % connection.channels;
        self.hand_over(now, outgoing(from, to, class, channel, connection.generation, sequence))
    }

    fn hand_over(&mut self, now: SimTime, outgoing: Outgoing) -> Sent {
        let sent = self.network.send(now, outgoing);
        match sent {
            Sent::InFlight { scheduled, .. } => self.schedule([scheduled]),
            Sent::Lost { number, cause, .. } => self.lost.push((number, cause)),
        }
        sent
    }

    /// Takes every delivery that is due by `until`.
    fn run_until(&mut self, until: SimTime) {
        while let Some(entry) = self.heap.first_entry() {
            let (at, _) = *entry.key();
            if at > until {
                break;
            }
            let handle = entry.remove();
            match self.network.deliver(at, handle) {
                Delivery::Delivered { frame, duplicate, again } => {
                    self.arrivals.push(Arrival { at, frame, duplicate });
                    self.schedule(again);
                }
                Delivery::Lost { frame, cause, given_up_at } => {
                    assert!(given_up_at >= at);
                    self.lost.push((frame.number, cause));
                }
                Delivery::Postponed(later) => {
                    assert!(later >= at);
                    self.schedule([Scheduled { handle, deliver_at: later }]);
                }
                Delivery::Held | Delivery::Gone => {}
            }
        }
    }

    fn finish(&mut self) {
        self.run_until(SimTime(u64::MAX));
    }

    fn begin(&mut self, id: u32, from: u16, to: u16, one_way: bool, fault: LinkFault) {
        self.network.begin_fault(FaultId(id), (node(from), node(to)), one_way, fault).unwrap();
    }

    fn end(&mut self, now: SimTime, id: u32) {
        let scheduled = self.network.end_fault(now, FaultId(id));
        self.schedule(scheduled);
    }

    fn die(&mut self, id: u16) -> Closed {
        let closed = self.network.die(node(id));
        self.lost.extend(closed.lost.iter().map(|lost| (lost.frame.number, lost.cause)));
        closed
    }

    /// Sequences in the order of arrival, with their times in milliseconds.
    fn arrived(&self) -> Vec<(u64, u64)> {
        self.arrivals.iter().map(|arrival| (arrival.frame.sent.name.sequence, arrival.at.0 / MS)).collect()
    }

    fn sequences(&self) -> Vec<u64> {
        self.arrivals.iter().map(|arrival| arrival.frame.sent.name.sequence).collect()
    }
}

fn outgoing(
    from: u16,
    to: u16,
    class: Class,
    channel: u8,
    generation: LinkGeneration,
    sequence: u64,
) -> Outgoing {
    let name = FrameName { origin: node(from), destination: node(to), class, sequence, copy: 0 };
    let message = MessageId { action: ActionId(0), ordinal: u32::try_from(sequence).unwrap() };
    Outgoing {
        from: node(from),
        to: node(to),
        class,
        channel,
        generation,
        message: Some(message),
        name,
        tag: Tag::default(),
        replay: None,
        bytes: Bytes::from_static(&[7; 1_000]),
    }
}
