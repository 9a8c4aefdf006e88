//! What comes back to a sender: that a transfer arrived or was given up, credit, and answers about references.
//!
//! Promise: a signal of a connection that is gone moves no lane.

use super::{Direction, Returning};
use crate::units::{NodeId, SimTime};
use crate::world::World;
use crate::world::network::{LinkGeneration, ReturnPath, SignalArrival, SignalKind, Tag};
use crate::world::slots::SlotKey;
use crate::world::timeline::Due;
use groundhog_engine::streams::key::Class;
use groundhog_engine::streams::lanes::TransferId;
use groundhog_engine::streams::references::{Answer as ReferenceAnswer, SentReferences};

impl World {
    /// The sender's transport gives a lost frame up: its lane goes on.
    pub(in crate::world) fn schedule_give_up(
        &mut self,
        at: SimTime,
        direction: Direction,
        generation: LinkGeneration,
        tag: &Tag,
    ) {
        if let Some(transfer) = tag.transfer {
            self.timeline.at(at, Due::FrameGivenUp { direction, generation, transfer, ends: tag.ends });
        }
    }

    /// A lost frame is given up by its sender.
    pub(in crate::world) fn frame_given_up(
        &mut self,
        direction: Direction,
        generation: LinkGeneration,
        transfer: TransferId,
        ends: bool,
    ) {
        self.lane_moves(direction, generation, Some(transfer).filter(|_| ends), Some(transfer.class));
    }

    pub(in crate::world) fn signal(
        &mut self,
        kind: SignalKind,
        path: &ReturnPath,
        transfer: Option<TransferId>,
        class: Class,
    ) {
        self.signal_with(kind, path, (transfer, class), [None; 2]);
    }

    pub(in crate::world) fn signal_with(
        &mut self,
        kind: SignalKind,
        path: &ReturnPath,
        (transfer, class): (Option<TransferId>, Class),
        answers: [Option<ReferenceAnswer>; 2],
    ) {
        let now = self.now();
        if let Some((signal, at)) = self.traffic.network.signal(now, kind, path) {
            let key = self.traffic.returning.open(Returning { signal, transfer, class, answers });
            self.timeline.at(at, Due::Signal(key));
        }
    }

    /// The sending side's references of a connection, if it stands.
    pub(in crate::world) fn sent_references(
        &mut self,
        direction: Direction,
        generation: Option<LinkGeneration>,
    ) -> Option<&mut SentReferences> {
        let sending = self.traffic.sending.get_mut(&direction)?;
        let same = generation.is_none_or(|generation| generation == sending.generation);
        sending.references.as_mut().filter(|_| same)
    }

    /// A signal is due at its sender.
    pub(in crate::world) fn signal_arrives(&mut self, key: SlotKey) {
        let now = self.now();
        let Some(returning) = self.traffic.returning.meta(key).copied() else { return };
        match self.traffic.network.signal_arrives(now, &returning.signal) {
            SignalArrival::Retry(at) => self.timeline.at(at, Due::Signal(key)),
            SignalArrival::Gone => {
                self.traffic.returning.free(key);
            }
            SignalArrival::Arrived => {
                self.traffic.returning.free(key);
                let path = returning.signal.path;
                let direction = Direction { from: path.origin_end, to: path.receiving_end };
                if returning.signal.kind == SignalKind::ReferenceAnswer {
                    self.told(direction, path.generation, returning.answers);
                    return;
                }
                let credit = returning.transfer.is_none().then_some(returning.class);
                self.lane_moves(direction, path.generation, returning.transfer, credit);
            }
        }
    }

    /// Whose machine a signal goes to.
    pub(in crate::world) fn signal_target(&mut self, key: SlotKey) -> Option<NodeId> {
        self.traffic.returning.meta(key).map(|returning| returning.signal.path.origin_end)
    }

    fn lane_moves(
        &mut self,
        direction: Direction,
        generation: LinkGeneration,
        delivered: Option<TransferId>,
        credit: Option<Class>,
    ) {
        let Some(sending) = self.traffic.sending.get_mut(&direction) else { return };
        if sending.generation != generation {
            return;
        }
        if let Some(transfer) = delivered {
            sending.outbound.delivered(transfer).expect("each transfer is delivered or given up once");
        }
        if let Some(class) = credit {
            sending.outbound.credit(class, 1).expect("credit comes back once a frame");
        }
        self.pump(direction);
    }
}
