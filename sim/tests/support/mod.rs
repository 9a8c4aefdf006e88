//! Small plans to run in tests.

#![allow(dead_code, reason = "each test file uses some of it")]

use groundhog_engine::streams::key::Class;
use groundhog_sim::plan::{
    Act, Action, Burst, ClockPlan, Costs, Crypto, DiskLatency, DiskProfile, Engines, FORMAT, LinkPlan,
    NodePlan, Plan, Profile,
};
use groundhog_sim::units::{ActionId, NodeId};

/// Nodes in a ring of links, real figures everywhere, nothing to do and nothing that goes wrong.
pub fn quiet_plan(nodes: u16) -> Plan {
    let link = |a: u16, b: u16| LinkPlan {
        a: NodeId(a.min(b)),
        b: NodeId(a.max(b)),
        latency_us: 500,
        jitter_us: 200,
        bandwidth_bytes_per_s: 0,
        channels: 4,
        ordered: true,
        loss_per_mille: 0,
        duplicate_per_mille: 0,
    };
    let mut links: Vec<LinkPlan> = (1..nodes).map(|node| link(node - 1, node)).collect();
    if nodes > 2 {
        links.push(link(nodes - 1, 0));
    }
    Plan {
        format: FORMAT,
        groundhog: env!("CARGO_PKG_VERSION").to_owned(),
        scenario: "test".to_owned(),
        seed: 7,
        schedule_seed: 7,
        flaws: Vec::new(),
        crypto: Crypto::KeyedHash,
        profile: Profile {
            disk: DiskProfile::Strict,
            disk_latency: DiskLatency {
                metadata_ns: 20_000,
                transfer_ns: 10_000,
                flush_ns: 500_000,
                flush_directory_ns: 800_000,
                jitter_per_mille: 300,
            },
            costs: Costs {
                signature_ns: 25_000,
                verification_ns: 53_000,
                hash_kib_ns: 700,
                code_kib_ns: 300,
                handler_ns: 10_000,
            },
            disk_capacity_bytes: 0,
        },
        engines: Engines {
            network_id: 1,
            stream_capacity: 16_384,
            store_budget_bytes: 40 * 1024 * 1024,
            delegation_lifetime_ms: 30 * 86_400_000,
            transaction_lifetime_ms: 600_000,
            clock_tolerance_ms: 3_000,
        },
        nodes: (0..nodes)
            .map(|id| NodePlan { id: NodeId(id), cores: 2, clock: ClockPlan::default() })
            .collect(),
        links,
        actions: Vec::new(),
        faults: Vec::new(),
        quiesce_us: 2_000_000,
        end_us: 3_000_000,
        limits: Default::default(),
    }
}

/// A burst of messages that begins at `at_us`.
pub fn burst(id: u32, at_us: u64, from: u16, to: u16, class: Class, count: u32) -> Action {
    Action {
        id: ActionId(id),
        at_us,
        node: NodeId(from),
        act: Act::Send(Burst {
            to: NodeId(to),
            via: None,
            class,
            count,
            every_us: 100,
            bytes: 64,
            copies: 1,
            copy_every_us: 0,
            cancel_reserve_every: 0,
            cancel_admit_every: 0,
            cancel_after_us: 0,
        }),
    }
}
