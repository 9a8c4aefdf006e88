//! Delegation references on their way: tables of both ends of each connection, frames that refer to them, and the answers
//! that travel back.
//!
//! Promise: references are resolved when a frame arrives, before it waits in its lane; one that misses drops its frame, which
//! is told once and gives its credit back. A table ends with its connection.

use super::World;
use super::network::{Frame, LinkGeneration, ReturnPath, SignalKind};
use super::receiving::Inbound;
use super::traffic::Direction;
use crate::ledger::event::{Event, LossCause};
use crate::ledger::link_event::LinkEvent;
use crate::units::{FrameNumber, MessageId, NodeId};
use bytes::Bytes;
use groundhog_engine::flaws::{Flaw, Flaws};
use groundhog_engine::streams::key::Class;
use groundhog_engine::streams::payload::{LINK_FRAME_MARKER, Payload};
use groundhog_engine::streams::references::{Answer, FrameError, ReceivedReferences, Slot};
use std::collections::VecDeque;

/// What a receiver keeps of one connection.
#[derive(Debug)]
pub(super) struct Kept {
    generation: LinkGeneration,
    table: ReceivedReferences,
    /// Frames whose reference missed, kept by no receiver but a flawed one.
    held: VecDeque<(Frame, bool)>,
}

/// A frame as its receiver's transport knows it.
struct Arriving {
    number: FrameNumber,
    message: Option<MessageId>,
    node: NodeId,
    class: Class,
    duplicate: bool,
    credited: bool,
    path: ReturnPath,
}

impl World {
    /// The frame that carries a payload on a connection, with references where its sender may refer.
    pub(super) fn framed(
        &mut self,
        direction: Direction,
        message: Option<MessageId>,
        payload: Bytes,
    ) -> Bytes {
        if self.traffic.references.is_none() {
            return payload;
        }
        let now = self.monotonic_now(direction.from);
        let life = self.nodes[direction.from.index()].life;
        let Some(table) = self.sent_references(direction, None) else { return payload };
        let Ok(decoded) = Payload::decode(payload.clone()) else { return payload };
        let before = table.counters().referenced;
        let frame = table.frame(&decoded, now);
        if self.flaws.has(Flaw::MissedFrameHeld) {
            self.traffic.announced.extend([decoded.delegation, decoded.transaction.delegation]);
        }
        let Some(table) = self.sent_references(direction, None) else { return frame };
        let references = u8::try_from(table.counters().referenced - before).expect("two at most");
        if references > 0 {
            let event = LinkEvent::Referenced { message, to: direction.to, references };
            self.record(&Event::Link { node: direction.from, life, event });
        }
        frame
    }

    /// A frame that has arrived, with its delegations in place; `None` where a reference missed.
    pub(super) fn resolved(&mut self, mut frame: Frame, duplicate: bool) -> Option<Frame> {
        if !self.is_by_reference(&frame.sent.bytes) || self.is_late(Flaw::ReferencesResolvedAtDequeue) {
            return Some(frame);
        }
        let arriving = Arriving {
            number: frame.number,
            message: frame.sent.message,
            node: frame.sent.to,
            class: frame.sent.class,
            duplicate,
            credited: !duplicate && frame.sent.tag.transfer.is_some(),
            path: frame.return_path(),
        };
        match self.resolve(&arriving, frame.sent.bytes.clone()) {
            Some(bytes) => {
                frame.sent.bytes = bytes;
                Some(frame)
            }
            None if self.is_late(Flaw::MissedFrameHeld) => {
                self.kept(arriving.node, &arriving.path)?.held.push_back((frame, duplicate));
                None
            }
            None => {
                self.miss(&arriving);
                None
            }
        }
    }

    /// The same where a flawed receiver looks only when the frame leaves its lane's queue.
    pub(super) fn resolved_late(&mut self, mut inbound: Box<Inbound>) -> Option<Box<Inbound>> {
        if !self.is_by_reference(&inbound.payload) || !self.is_late(Flaw::ReferencesResolvedAtDequeue) {
            return Some(inbound);
        }
        let Some(path) = inbound.path else { return Some(inbound) };
        let arriving = Arriving {
            number: inbound.frame,
            message: inbound.message,
            node: path.receiving_end,
            class: inbound.class,
            duplicate: inbound.duplicate,
            credited: inbound.credited,
            path,
        };
        match self.resolve(&arriving, inbound.payload.clone()) {
            Some(bytes) => {
                inbound.payload = bytes;
                Some(inbound)
            }
            None => {
                self.miss(&arriving);
                None
            }
        }
    }

    fn is_by_reference(&self, bytes: &Bytes) -> bool {
        self.traffic.references.is_some() && bytes.starts_with(LINK_FRAME_MARKER)
    }

    fn is_late(&self, flaw: Flaw) -> bool {
        self.flaws.has(flaw)
    }

    /// What the receiver keeps of the connection that a frame came by; `None` where a later one has begun.
    fn kept(&mut self, node: NodeId, path: &ReturnPath) -> Option<&mut Kept> {
        let (received, flaws) = (self.traffic.references?.received as usize, self.flaws);
        let generation = path.generation;
        let fresh =
            || Kept { generation, table: ReceivedReferences::new(received, flaws), held: VecDeque::new() };
        let tables = &mut self.traffic.receiving[node.index()].references;
        let kept = tables.entry(path.origin_end).or_insert_with(fresh);
        if kept.generation < generation {
            *kept = fresh();
        }
        (kept.generation == generation).then_some(kept)
    }

    /// The payload of a frame, with the answers to its delegations on their way; `None` where a reference missed. What is
    /// none of a frame stays as it is, for whoever decodes it.
    fn resolve(&mut self, arriving: &Arriving, bytes: Bytes) -> Option<Bytes> {
        let now = self.monotonic_now(arriving.node);
        let kept = self.kept(arriving.node, &arriving.path)?;
        let before = kept.table.counters().resolved;
        let (payload, answers) = kept.table.receive(bytes.clone(), now);
        let references = u8::try_from(kept.table.counters().resolved - before).expect("two at most");
        let mut told = [None; 2];
        told.iter_mut().zip(answers).for_each(|(told, answer)| *told = Some(answer));
        self.answer(arriving, told);
        match payload {
            Ok(payload) => {
                if references > 0 {
                    let event = LinkEvent::Resolved { frame: arriving.number, references };
                    self.record_link(arriving.node, event);
                }
                Some(payload.encoded().clone())
            }
            Err(FrameError::Undecodable(_)) => Some(bytes),
            Err(FrameError::ReferenceMiss { miss, .. }) => {
                if self.is_late(Flaw::MissedFrameHeld) {
                    self.answer(arriving, [Some(Answer::Disclaimed { digest: miss.digest }), None]);
                }
                None
            }
        }
    }

    fn answer(&mut self, arriving: &Arriving, answers: [Option<Answer>; 2]) {
        let peer = arriving.path.origin_end;
        for answer in answers.iter().flatten() {
            let known = matches!(answer, Answer::Known { .. });
            self.record_link(arriving.node, LinkEvent::Told { peer, known });
        }
        if answers.iter().any(Option::is_some) {
            let lane = (None, arriving.class);
            self.signal_with(SignalKind::ReferenceAnswer, &arriving.path, lane, answers);
        }
    }

    /// The answers to a frame's delegations have come back to its sender.
    pub(super) fn told(
        &mut self,
        direction: Direction,
        generation: LinkGeneration,
        answers: [Option<Answer>; 2],
    ) {
        let now = self.monotonic_now(direction.from);
        if let Some(table) = self.sent_references(direction, Some(generation)) {
            answers.iter().flatten().for_each(|answer| table.answered(answer, now));
        }
        if self.is_late(Flaw::MissedFrameHeld) {
            self.release_held(direction.to, direction.from);
        }
    }

    fn miss(&mut self, arriving: &Arriving) {
        let Arriving { number: frame, message, .. } = *arriving;
        // Of a frame that is delivered twice the first delivery is the frame.
        if !arriving.duplicate {
            self.record(&Event::FrameLost { frame, message, cause: LossCause::ReferenceMiss });
        }
        if arriving.credited {
            self.signal(SignalKind::Credit, &arriving.path, None, arriving.class);
        }
    }

    /// The delegations that a flawed receiver asked for have come: it delivers what it holds.
    fn release_held(&mut self, node: NodeId, peer: NodeId) {
        let tables = &mut self.traffic.receiving[node.index()].references;
        let held = tables.get_mut(&peer).map(|kept| std::mem::take(&mut kept.held));
        for (mut frame, duplicate) in held.into_iter().flatten() {
            let mut table = ReceivedReferences::new(usize::MAX, Flaws::NONE);
            let now = self.monotonic_now(node);
            for delegation in &self.traffic.announced {
                let slot = Slot::Inline { delegation: *delegation, stamp: now };
                table.resolve(&slot, now).expect("what comes inline never misses");
            }
            if let Ok(payload) = table.receive(frame.sent.bytes.clone(), now).0 {
                frame.sent.bytes = payload.encoded().clone();
                self.hand_on(frame, duplicate);
            }
        }
    }

    fn record_link(&mut self, node: NodeId, event: LinkEvent) {
        let life = self.nodes[node.index()].life;
        self.record(&Event::Link { node, life, event });
    }
}
