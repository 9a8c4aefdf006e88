//! When a plan's nodes are at rest, as far as the plan says how fast they are.
//!
//! Promise: an estimate from above of what links, disks and processors need for what is sent, so that a run of slow machines
//! ends when they are done and not when fast ones would have been. Nothing else has a share in it: the pace of bursts, faults,
//! quotas, the maintenance of a ring and mail are what a scenario's own time to settle is for.

use super::{Act, Burst, LinkPlan, Plan, RingPlan, Route};
use crate::units::NodeId;
use groundhog_engine::streams::key::Class;
use groundhog_engine::streams::lanes::{FRAME_MAX_BYTES, LANE_WINDOW};
use std::collections::{BTreeMap, BTreeSet};

/// Streams of one node whose records wait for each other: one batch in flight and one that gathers on top of it.
const RECORDS_IN_A_ROW: u64 = 64;

/// Signatures verified for one message, the delegation's and the transaction's, on its origin's own connection.
const VERIFICATIONS: u64 = 2;

/// The same behind a relay, which signs too.
const RELAYED_VERIFICATIONS: u64 = 4;

/// How often each byte of a message is hashed, encoded or decoded between its sender and the application.
const PASSES_OVER_BYTES: u64 = 6;

/// What a frame says beside its message's data: delegations, proofs, headers.
const PROOF_BYTES: u64 = 2_048;

/// When the nodes are at rest at the latest, in microseconds since the run began.
pub(super) fn at_rest_us(plan: &Plan) -> u64 {
    let mut work = Work::new(plan);
    for action in &plan.actions {
        match &action.act {
            Act::Send(burst) => work.sent(action.at_us, action.node, &Sent::burst(plan, burst)),
            Act::Flood(flood) => work.sent(action.at_us, action.node, &Sent::flood(flood)),
            _ => {}
        }
    }
    let streams = work.streams.values().map(|streams| streams.len() as u64).max().unwrap_or(0);
    let on_disks_ns = record_ns(plan).saturating_mul(2 * streams.min(RECORDS_IN_A_ROW));
    let done_us = work.queues.values().copied().max().unwrap_or(0).max(plan.quiesce_us);
    done_us.saturating_add(on_disks_ns.div_ceil(1_000)).saturating_add(way_us(plan))
}

/// How long one message may be under way while nothing else is, in microseconds.
pub(crate) fn way_us(plan: &Plan) -> u64 {
    let hops = plan.ring.as_ref().map_or(2, |ring| hops(plan.nodes.len()).min(ring.hop_budget.into()));
    let on_links = longest_passage_ns(plan).saturating_mul(2 * hops);
    // Its reservation, its admission, and for each the batch that is in flight before it.
    let on_disks = record_ns(plan).saturating_mul(4);
    let work_ns = work_ns(plan, (1, RELAYED_VERIFICATIONS), PROOF_BYTES);
    let on_processors = work_ns.saturating_add(plan.profile.costs.handler_ns).saturating_mul(hops);
    on_links.saturating_add(on_disks).saturating_add(on_processors).div_ceil(1_000)
}

/// Greedy hops over fingers halve the distance.
fn hops(nodes: usize) -> u64 {
    2 * u64::from(nodes.ilog2() + 1)
}

/// Frames that one action sends.
struct Sent {
    to: NodeId,
    via: Option<NodeId>,
    /// Whether the plan says who is next.
    is_on_links: bool,
    class: Class,
    frames: u64,
    bytes: u64,
}

impl Sent {
    fn burst(plan: &Plan, burst: &Burst) -> Self {
        let pieces = plan.engines.links.chunks.map_or(1, |chunks| burst.bytes.div_ceil(chunks.chunk_bytes));
        let frames = u64::from(burst.count) * u64::from(burst.copies);
        let frames = frames.saturating_mul(pieces.max(1).into());
        Self {
            to: burst.to,
            via: burst.via,
            is_on_links: burst.route == Route::Links,
            class: burst.class,
            frames,
            bytes: frames.saturating_mul(PROOF_BYTES + u64::from(burst.bytes)),
        }
    }

    fn flood(flood: &super::Flood) -> Self {
        let frames = u64::from(flood.count);
        Self {
            to: flood.to,
            via: flood.via,
            is_on_links: flood.via.is_some(),
            class: flood.class,
            frames,
            bytes: frames.saturating_mul(PROOF_BYTES + u64::from(flood.bytes)),
        }
    }
}

/// What does one thing after the other: a node's processor, its handler of a class, or a lane of its, by the next node as far
/// as the plan says which.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Queue {
    Processor(NodeId),
    Handler(NodeId, Class),
    Lane(NodeId, Option<NodeId>, Class),
}

struct Work<'a> {
    plan: &'a Plan,
    links: BTreeMap<(NodeId, NodeId), &'a LinkPlan>,
    longest_passage_ns: u64,
    /// When each has done all that came so far.
    queues: BTreeMap<Queue, u64>,
    streams: BTreeMap<NodeId, BTreeSet<(NodeId, NodeId, Class)>>,
}

impl<'a> Work<'a> {
    fn new(plan: &'a Plan) -> Self {
        Self {
            plan,
            links: plan.links.iter().map(|link| ((link.a, link.b), link)).collect(),
            longest_passage_ns: longest_passage_ns(plan),
            queues: BTreeMap::new(),
            streams: BTreeMap::new(),
        }
    }

    fn sent(&mut self, at_us: u64, from: NodeId, sent: &Sent) {
        let mut way = vec![from];
        way.extend(sent.via);
        way.push(sent.to);
        for (place, node) in way.iter().enumerate() {
            let is_direct = sent.is_on_links && sent.via.is_none();
            let verifications = if is_direct { VERIFICATIONS } else { RELAYED_VERIFICATIONS };
            let work_ns = work_ns(self.plan, (sent.frames, verifications), sent.bytes);
            let work_us = work_ns.div_ceil(1_000 * u64::from(self.plan.nodes[node.index()].cores));
            self.takes(Queue::Processor(*node), at_us, work_us);
            let handled_ns = sent.frames.saturating_mul(self.plan.profile.costs.handler_ns);
            self.takes(Queue::Handler(*node, sent.class), at_us, handled_ns.div_ceil(1_000));
            self.streams.entry(*node).or_default().insert((from, sent.to, sent.class));
            if let Some(next) = way.get(place + 1) {
                let next = Some(*next).filter(|_| sent.is_on_links);
                let windows = sent.frames.div_ceil(LANE_WINDOW);
                // A transfer leaves its lane's window when the sender knows that it came; the slowest of a window decides.
                let round_trip_ns = self.passage_ns(*node, next).saturating_mul(2);
                let passage_us = round_trip_ns.saturating_mul(windows).div_ceil(1_000);
                self.takes(Queue::Lane(*node, next, sent.class), at_us, passage_us);
            }
        }
    }

    fn takes(&mut self, queue: Queue, at_us: u64, work_us: u64) {
        // What stands still until faults end has everything before it.
        let begins_us = if let Queue::Handler(..) = queue { self.plan.quiesce_us } else { 0 };
        let done_us = self.queues.entry(queue).or_insert(begins_us);
        *done_us = (*done_us).max(at_us).saturating_add(work_us);
    }

    fn passage_ns(&self, node: NodeId, next: Option<NodeId>) -> u64 {
        let link = next.and_then(|next| self.links.get(&(node.min(next), node.max(next))));
        link.map_or(self.longest_passage_ns, |link| passage_of_ns(link))
    }
}

/// What frames, of so many signatures each, with so many bytes together cost one core.
fn work_ns(plan: &Plan, (frames, verifications): (u64, u64), bytes: u64) -> u64 {
    let costs = &plan.profile.costs;
    let of_a_frame = costs.verification_ns.saturating_mul(verifications);
    let of_a_frame = of_a_frame.saturating_add(costs.signature_ns);
    let of_a_kib = costs.hash_kib_ns.saturating_add(costs.code_kib_ns).saturating_mul(PASSES_OVER_BYTES);
    frames.saturating_mul(of_a_frame).saturating_add(bytes.div_ceil(1_024).saturating_mul(of_a_kib))
}

/// How long one frame takes on the slowest link.
fn longest_passage_ns(plan: &Plan) -> u64 {
    let of_ring = plan.ring.iter().map(|RingPlan { links, .. }| {
        let slowest = match links.bandwidth_bytes_per_s {
            (0, most) => most.min(1),
            (least, _) => least,
        };
        passage_ns(links.latency_us.1, links.jitter_us.1, slowest)
    });
    plan.links.iter().map(passage_of_ns).chain(of_ring).max().unwrap_or(0)
}

fn passage_of_ns(link: &LinkPlan) -> u64 {
    passage_ns(link.latency_us, link.jitter_us, link.bandwidth_bytes_per_s)
}

fn passage_ns(latency_us: u64, jitter_us: u64, bytes_per_s: u64) -> u64 {
    let sent_ns = (FRAME_MAX_BYTES as u64 * 1_000_000_000).checked_div(bytes_per_s).unwrap_or(0);
    latency_us.saturating_add(jitter_us).saturating_mul(1_000).saturating_add(sent_ns)
}

/// How long one record, its marker included, takes to be durable on an idle disk: each is looked for, created, written,
/// flushed, renamed, its directory flushed, and what stood there before is removed.
fn record_ns(plan: &Plan) -> u64 {
    let latency = &plan.profile.disk_latency;
    let operations_ns = latency
        .metadata_ns
        .saturating_mul(4)
        .saturating_add(latency.transfer_ns)
        .saturating_add(latency.flush_ns)
        .saturating_add(latency.flush_directory_ns);
    let jittered_ns = operations_ns.saturating_mul(1_000 + u64::from(latency.jitter_per_mille)) / 1_000;
    jittered_ns.saturating_mul(2)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::{Crypto, yardstick};

    /// When a plan is at rest that differs from the yardstick's in one thing, in milliseconds.
    fn at_rest_ms(differs: impl FnOnce(&mut Plan)) -> u64 {
        let mut plan = yardstick::admissions(9, 10, Crypto::KeyedHash);
        plan.quiesce_us = 0;
        differs(&mut plan);
        at_rest_us(&plan) / 1_000
    }

    #[test]
    fn whatever_is_slower_takes_longer_and_no_less_than_its_own_share() {
        let as_it_is_ms = at_rest_ms(|_| ());
        type Differs = fn(&mut Plan);
        let slower: [(Differs, u64); 7] = [
            // There, and known to be there.
            (|plan| plan.links.iter_mut().for_each(|link| link.latency_us += 1_000_000), 2_000),
            (|plan| plan.links.iter_mut().for_each(|link| link.jitter_us += 1_000_000), 2_000),
            (|plan| plan.links.iter_mut().for_each(|link| link.bandwidth_bytes_per_s = 65_536), 1_000),
            // The reservation's record with its marker, and the admission's.
            (|plan| plan.profile.disk_latency.flush_ns += 1_000_000_000, 4_000),
            (|plan| plan.profile.disk_latency.flush_directory_ns += 1_000_000_000, 4_000),
            (|plan| plan.profile.costs.verification_ns += 1_000_000_000, 2_000),
            (|plan| plan.profile.costs.handler_ns += 1_000_000_000, 1_000),
        ];
        for (place, (differs, least_ms)) in slower.into_iter().enumerate() {
            let saw_ms = at_rest_ms(differs);
            assert!(saw_ms >= as_it_is_ms + least_ms, "{place}: {as_it_is_ms} ms, then {saw_ms} ms");
        }
    }

    #[test]
    fn what_waits_in_one_lane_or_for_one_handler_adds_up_and_other_lanes_do_not() {
        let burst = |plan: &mut Plan, count| {
            let sends = plan.actions.iter_mut().filter_map(|action| match &mut action.act {
                Act::Send(burst) => Some(burst),
                _ => None,
            });
            for (place, burst) in sends.enumerate() {
                burst.count = if place == 0 { count } else { 1 };
            }
        };
        let slow = |count| {
            at_rest_ms(|plan| {
                for link in &mut plan.links {
                    (link.latency_us, link.jitter_us, link.bandwidth_bytes_per_s) = (1_000_000, 0, 0);
                }
                burst(plan, count);
            })
        };
        // Eight pass at once: of 80, ten times as many round trips as of 8.
        assert_eq!(slow(80) - slow(8), 9 * 2_000);
        let handled = |count| {
            at_rest_ms(|plan| {
                plan.profile.costs.handler_ns = 1_000_000_000;
                burst(plan, count);
            })
        };
        assert_eq!(handled(80) - handled(8), 72_000);
    }

    #[test]
    fn the_longest_that_a_plan_can_say_is_no_overflow() {
        let ms = at_rest_ms(|plan| {
            plan.links.iter_mut().for_each(|link| link.latency_us = u64::MAX / 2);
            plan.profile.disk_latency.flush_ns = u64::MAX;
            plan.profile.costs.signature_ns = u64::MAX;
        });
        assert!(ms > u64::MAX / 1_000_000, "{ms}");
    }
}
