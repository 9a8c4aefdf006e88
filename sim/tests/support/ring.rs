//! Small plans on a ring.

use super::quiet_plan;
use groundhog_sim::plan::{Act, Action, LinkTemplate, Plan, RingPlan, Route};
use groundhog_sim::units::{ActionId, NodeId};

/// A second, in microseconds.
pub const S: u64 = 1_000_000;

/// A ring whose members look around once a second.
pub fn ring_plan(nodes: u16) -> Plan {
    let links = LinkTemplate {
        latency_us: (1_000, 20_000),
        jitter_us: (0, 2_000),
        bandwidth_bytes_per_s: (0, 0),
        channels: (1, 4),
        ordered_per_mille: 500,
        loss_per_mille: 0,
        duplicate_per_mille: 0,
    };
    let ring = RingPlan {
        successors: 3,
        maintenance_ms: 1_000,
        hop_budget: 64,
        hand_off_ms: 20,
        outside: Vec::new(),
        links,
    };
    let (links, ring) = (Vec::new(), Some(ring));
    Plan { links, ring, quiesce_us: 20 * S, end_us: 40 * S, ..quiet_plan(nodes) }
}

/// The burst by another way.
pub fn by(route: Route, mut action: Action) -> Action {
    if let Act::Send(burst) = &mut action.act {
        burst.route = route;
    }
    action
}

/// An act at a time.
pub fn act(id: u32, at_us: u64, node: u16, act: Act) -> Action {
    Action { id: ActionId(id), at_us, node: NodeId(node), act }
}
