//! How much of each bound of the receiver's tables was in use, and when.
//!
//! Promise: what a node told last stands until it tells again or dies; a slice of time shows the most of each bound that
//! any node had in it.

use crate::outcome::BoundUse;
use crate::plan::Plan;
use crate::units::NodeId;
use groundhog_engine::streams::TableUse;
use groundhog_engine::streams::record::CUSTODY_MAX_ENTRIES;
use groundhog_engine::streams::slots::SlotBounds;

/// The use of all nodes' tables.
#[derive(Debug)]
pub(super) struct Usage {
    now: Vec<TableUse>,
    most: TableUse,
    bounds: SlotBounds,
    capacity: u32,
}

impl Usage {
    /// Of a run that begins.
    pub(super) fn new(plan: &Plan) -> Self {
        Self {
            now: vec![TableUse::default(); plan.nodes.len()],
            most: TableUse::default(),
            bounds: plan.engines.slot_bounds(),
            capacity: plan.engines.stream_capacity,
        }
    }

    /// A node tells what it uses now; a dead one uses nothing.
    pub(super) fn tells(&mut self, node: NodeId, used: TableUse) {
        if let Some(now) = self.now.get_mut(node.index()) {
            *now = used;
        }
        self.most = greater(self.most, used);
    }

    /// The most that any node uses now, bound by bound.
    pub(super) fn now(&self) -> TableUse {
        self.now.iter().copied().fold(TableUse::default(), greater)
    }

    /// The bounds, and how near the run came to each.
    pub(super) fn bounds(&self) -> Vec<BoundUse> {
        let SlotBounds { floor, pool, inbox, self_share, .. } = self.bounds;
        let table = self.bounds.most_streams().min(u64::from(self.capacity));
        let TableUse { streams, fullest_slot, pool: pooled, inbox: mail, own, custody } = self.most;
        [
            ("streams of the fullest table", streams, table),
            ("streams of the fullest slot", fullest_slot, u64::from(floor + pool)),
            ("streams of one table's pool", pooled, u64::from(pool)),
            ("streams of one table's inbox share", mail, u64::from(inbox)),
            ("streams of one table's own share", own, u64::from(self_share)),
            ("deliveries in one table's custody", custody, CUSTODY_MAX_ENTRIES as u64),
        ]
        .map(|(name, most, bound)| BoundUse { name: name.to_owned(), most: u64::from(most), bound })
        .into()
    }
}

/// The greater of both, bound by bound.
pub(super) fn greater(one: TableUse, other: TableUse) -> TableUse {
    TableUse {
        streams: one.streams.max(other.streams),
        fullest_slot: one.fullest_slot.max(other.fullest_slot),
        pool: one.pool.max(other.pool),
        inbox: one.inbox.max(other.inbox),
        own: one.own.max(other.own),
        custody: one.custody.max(other.custody),
    }
}
