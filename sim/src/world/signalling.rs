//! Out-of-band connection signalling: control messages that reach a node over no connection.
//!
//! Promise: they go through the same verification and admission as everything else, charged to the node itself.

use super::World;
use super::flood::Minted;
use super::receiving::Inbound;
use super::timeline::Due;
use crate::ledger::event::Event;
use crate::plan::{Action, FrameName, Signalling};
use crate::units::{FrameNumber, SimTime};
use groundhog_engine::streams::key::Class;

/// Signals have no frame on any link: their numbers are beyond those of the network's.
const FRAMES_FROM: u64 = 1 << 62;

/// Bytes of data in a signal.
const SIGNAL_BYTES: u32 = 64;

impl World {
    /// One signal reaches the node, and the next is due.
    pub(super) fn signalled(&mut self, action: &Action, index: u32, ordinal: u32, signalling: &Signalling) {
        if ordinal + 1 < signalling.count {
            let after_us = signalling.every_us.saturating_mul(u64::from(ordinal) + 1);
            let next = SimTime::from_us(action.at_us.saturating_add(after_us));
            self.timeline.at(next, Due::Act { index, ordinal: ordinal + 1 });
        }
        let node = action.node;
        if !self.is_ready(node) {
            self.record(&Event::ReplayMissed { node });
            return;
        }
        let now = self.now();
        let minted = Minted {
            keys: signalling.keys,
            number: ordinal,
            destination: self.nodes[node.index()].identity.did(),
            class: Class::Control,
            sequence: 0,
            bytes: SIGNAL_BYTES,
            issued: self.wall_now(node),
            forgery: None,
            plan: &self.plan,
            crypto: super::node::crypto_of(&self.plan),
        };
        let payload = minted.payload().encoded().clone();
        let name =
            FrameName { origin: node, destination: node, class: Class::Control, sequence: 0, copy: ordinal };
        let frame = FrameNumber(FRAMES_FROM + (u64::from(action.id.0) << 24) + u64::from(ordinal));
        self.hand_to_lane(node, node, Box::new(Inbound::out_of_band(frame, name, payload, now)));
    }
}
