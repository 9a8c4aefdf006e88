//! What the world writes down: its own observations, and what engines report, in one order.
//!
//! Promise: an event is recorded when it happens; a dead life reports nothing.

use super::World;
use super::view::DiskView;
use crate::ledger::doer::Doer;
use crate::ledger::event::Event;
use crate::units::{Life, NodeId};
use groundhog_engine::host::observe::{EngineEvent, Step};

impl World {
    /// Writes an event down. What is dropped while the run is taken apart after its end is no part of it.
    pub(super) fn record(&mut self, event: &Event<'_>) {
        if self.ended {
            return;
        }
        if self.ready.asks_who() {
            let doer = self.ready.at_work().unwrap_or(Doer::World(self.doing));
            self.ledger.at_work(doer);
        }
        if let Some(prober) = &mut self.prober {
            prober.event(self.timeline.now(), event);
        }
        let view = DiskView::new(&self.disks, &self.nodes, &self.store_root);
        self.ledger.record(self.timeline.now(), event, &view);
    }

    /// An engine of a life reports.
    pub(super) fn engine_reports(&mut self, node: NodeId, life: Life, event: EngineEvent<'_>) {
        if !self.is_alive(node, life) {
            return;
        }
        self.record(&Event::Engine { node, life, event });
        let state = self.node(node);
        match event {
            EngineEvent::Step { step, batch, roles } => {
                state.during = Some((step, batch, roles));
                state.gathering |= step == Step::Gathering;
                self.strike_at_step(node, life, step, roles);
            }
            EngineEvent::BatchClosed { .. } => state.gathering = false,
            EngineEvent::BatchFailed { .. } => {
                state.during = None;
                state.gathering = false;
            }
            _ => {}
        }
    }
}
