//! The plans that speed is measured with: no fault, no adversary, a load that never ends before its messages do.
//!
//! Promise: nodes stand on a ring with links to their nearest neighbours, so that links grow with nodes and not with their
//! square, and every node does the same.

use super::{
    Act, Action, Burst, ClockPlan, Costs, Crypto, DiskLatency, DiskProfile, Engines, LinkPlan, NodePlan,
    Plan, Profile,
};
use crate::units::{ActionId, NodeId};
use groundhog_engine::streams::key::Class;
use std::collections::BTreeMap;

/// Neighbours on each side that a node is linked to.
const REACH: u16 = 4;

/// The fewest nodes whose neighbours on both sides are all different.
pub const FEWEST_NODES: u16 = 2 * REACH + 1;

/// Simulated time between two messages of one stream: about what a lane needs for one, so that batches fill while no
/// backlog grows, whose memory would be measured instead.
const DENSE_EVERY_US: u64 = 400;

/// After the last message was intended, everything that a stream's lane still holds is admitted within this for each.
const DRAIN_US_PER_MESSAGE: u64 = 5_000;

/// Durable admissions: every node sends to its next neighbours, in all four classes, about as fast as lanes carry.
///
/// `messages_per_stream` is what each of the 16 streams that leave a node carries.
///
/// # Panics
/// With fewer than nine nodes.
#[must_use]
pub fn admissions(nodes: u16, messages_per_stream: u32, crypto: Crypto) -> Plan {
    let mut plan = empty(nodes, crypto);
    for node in 0..nodes {
        for by in 1..=REACH {
            for class in Class::ALL {
                let burst = burst(neighbour(node, by, nodes), class, messages_per_stream, DENSE_EVERY_US);
                send(&mut plan, 0, node, burst);
            }
        }
    }
    end_after(&mut plan, u64::from(messages_per_stream) * (DENSE_EVERY_US + DRAIN_US_PER_MESSAGE));
    plan
}

/// Messages through the network alone: every node sends one every `every_us`, to its next neighbours in turn.
///
/// # Panics
/// With fewer than nine nodes, or when `every_us` is 0.
#[must_use]
pub fn messages(nodes: u16, messages_per_node: u32, every_us: u64) -> Plan {
    assert!(every_us > 0, "messages of one node follow each other in time");
    let mut plan = empty(nodes, Crypto::KeyedHash);
    for node in 0..nodes {
        for by in 1..=REACH {
            let class = Class::ALL[usize::from(by - 1)];
            let count = messages_per_node.div_ceil(u32::from(REACH));
            let burst = burst(neighbour(node, by, nodes), class, count, every_us * u64::from(REACH));
            send(&mut plan, every_us * u64::from(by - 1), node, burst);
        }
    }
    end_after(&mut plan, u64::from(messages_per_node) * every_us);
    plan
}

const fn neighbour(node: u16, by: u16, nodes: u16) -> NodeId {
    NodeId((node + by) % nodes)
}

const fn burst(to: NodeId, class: Class, count: u32, every_us: u64) -> Burst {
    Burst { count, every_us, ..Burst::one(to, class) }
}

/// Sends after the nodes have opened their stores.
fn send(plan: &mut Plan, after_us: u64, node: u16, burst: Burst) {
    let id = ActionId(u32::try_from(plan.actions.len()).expect("16 actions a node"));
    plan.actions.push(Action { id, at_us: OPEN_US + after_us, node: NodeId(node), act: Act::Send(burst) });
}

/// Every store is open by then.
const OPEN_US: u64 = 100_000;

fn end_after(plan: &mut Plan, us: u64) {
    plan.quiesce_us = OPEN_US + us;
    plan.end_us = plan.quiesce_us + 1_000_000;
}

fn empty(nodes: u16, crypto: Crypto) -> Plan {
    assert!(nodes >= FEWEST_NODES, "{nodes} nodes on a ring, and {FEWEST_NODES} have neighbours that differ");
    Plan {
        format: super::FORMAT,
        groundhog: env!("CARGO_PKG_VERSION").to_owned(),
        scenario: "yardstick".to_owned(),
        seed: 1,
        schedule_seed: 1,
        flaws: Vec::new(),
        crypto,
        profile: profile(),
        engines: Engines {
            network_id: 1,
            stream_capacity: 16_384,
            store_budget_bytes: 40 << 20,
            delegation_lifetime_ms: 86_400_000,
            transaction_lifetime_ms: 600_000,
            clock_tolerance_ms: 3_000,
            quota: None,
            slots: None,
            links: Default::default(),
            mail: None,
        },
        nodes: (0..nodes)
            .map(|id| NodePlan { id: NodeId(id), cores: 8, clock: ClockPlan::default() })
            .collect(),
        links: links(nodes),
        actions: Vec::new(),
        faults: Vec::new(),
        quiesce_us: 0,
        end_us: 0,
        limits: BTreeMap::new(),
        swarm: BTreeMap::new(),
        ring: None,
    }
}

fn links(nodes: u16) -> Vec<LinkPlan> {
    let link = |a: u16, b: u16| LinkPlan {
        a: NodeId(a.min(b)),
        b: NodeId(a.max(b)),
        latency_us: 500,
        jitter_us: 500,
        bandwidth_bytes_per_s: 125_000_000,
        channels: 4,
        ordered: true,
        loss_per_mille: 0,
        duplicate_per_mille: 0,
    };
    (0..nodes).flat_map(|a| (1..=REACH).map(move |by| link(a, (a + by) % nodes))).collect()
}

/// The machine that scenario files describe where they say nothing.
const fn profile() -> Profile {
    Profile {
        disk: DiskProfile::Strict,
        disk_latency: DiskLatency {
            metadata_ns: 15_000,
            transfer_ns: 8_000,
            flush_ns: 300_000,
            flush_directory_ns: 300_000,
            jitter_per_mille: 500,
        },
        costs: Costs {
            signature_ns: 20_000,
            verification_ns: 53_000,
            hash_kib_ns: 2_500,
            code_kib_ns: 600,
            handler_ns: 20_000,
        },
        disk_capacity_bytes: 0,
        disk_ignores_case: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::run::{RunOptions, run, run_transport_alone};

    #[test]
    fn every_plan_is_one_at_every_size_that_is_measured() {
        for nodes in [FEWEST_NODES, 10, 100, 1_000] {
            admissions(nodes, 3, Crypto::Ed25519).check().unwrap();
            messages(nodes, 7, 10_000).check().unwrap();
        }
    }

    #[test]
    fn the_network_alone_delivers_every_message() {
        let plan = messages(10, 400, 1_000);
        let outcome = run_transport_alone(&plan, RunOptions::default()).unwrap();
        assert!(outcome.held(), "{:?}", outcome.violations);
        // A node is ready, a frame is sent, a frame is delivered; all faults end.
        assert_eq!(outcome.events, 10 + 2 * 10 * 400 + 1);
        assert_eq!((outcome.intended, outcome.dispatched), (0, 0));
    }

    #[test]
    fn every_message_is_admitted_in_batches_of_many_and_every_law_holds() {
        let plan = admissions(10, 40, Crypto::KeyedHash);
        let outcome = run(&plan, RunOptions::default()).unwrap();
        assert!(outcome.held(), "{:?}", outcome.violations);
        assert_eq!(outcome.intended, 10 * 16 * 40);
        assert_eq!(outcome.dispatched, outcome.intended);
        let batches: u64 = outcome.batch_sizes.values().sum();
        assert!(outcome.dispatched > 8 * batches, "{batches} batches for {} messages", outcome.dispatched);
    }
}
