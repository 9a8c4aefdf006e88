//! Which streams an event is about, for whoever looks for one.
//!
//! Promise: told of every event in order, it names the streams of each that has any: by signed data where the event carries
//! it, else by the message, the transition or the batch that the event names. It reads, and changes nothing.

use super::event::Event;
use super::timeline::AccountOf;
use crate::plan::{Act, Plan};
use crate::units::{FrameNumber, MessageId, NodeId, SimTime};
use groundhog_engine::host::observe::{BatchNumber, EngineEvent, RecordName, TransitionNumber};
use groundhog_engine::streams::key::{Class, StreamKey};
use std::collections::BTreeMap;
use std::fmt;

/// A stream by its nodes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct StreamName {
    /// The node whose account signs.
    pub origin: NodeId,
    /// The node whose account admits.
    pub destination: NodeId,
    /// The class.
    pub class: Class,
}

impl fmt::Display for StreamName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "n{}->n{}/{}", self.origin.0, self.destination.0, self.class)
    }
}

/// Batches of one life whose streams are remembered: those that can still be written, and a few that ended.
const BATCHES_KEPT: u64 = 8;

/// What one node's engine is at.
#[derive(Debug, Default)]
struct Engine {
    records: BTreeMap<RecordName, StreamName>,
    transitions: BTreeMap<TransitionNumber, StreamName>,
    batches: BTreeMap<BatchNumber, Vec<StreamName>>,
}

/// Follows the events of one run.
#[derive(Debug, Default)]
pub struct Subjects {
    messages: BTreeMap<MessageId, StreamName>,
    /// What adversaries send again, by when, from where and to where; several in the order of their actions.
    replays: BTreeMap<(u64, NodeId, NodeId), Vec<StreamName>>,
    replayed: BTreeMap<FrameNumber, StreamName>,
    engines: Vec<Engine>,
    found: Vec<StreamName>,
}

impl Subjects {
    /// Of a run of `plan` that has not begun.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let mut replays: BTreeMap<_, Vec<StreamName>> = BTreeMap::new();
        for action in plan.actions.iter().rev() {
            if let Act::Replay { frame, to, .. } = &action.act {
                let (origin, destination, class) = (frame.origin, frame.destination, frame.class);
                let sent = replays.entry((action.at_us, action.node, *to)).or_default();
                sent.push(StreamName { origin, destination, class });
            }
        }
        let engines = plan.nodes.iter().map(|_| Engine::default()).collect();
        Self { replays, engines, ..Self::default() }
    }

    /// The engine of a node; none of a node that the plan does not have.
    fn engine(&mut self, node: NodeId) -> Option<&mut Engine> {
        self.engines.get_mut(node.index())
    }

    /// The streams of one event, in order and each once.
    pub fn of(&mut self, at: SimTime, event: &Event<'_>, account_of: &AccountOf) -> &[StreamName] {
        self.found.clear();
        match *event {
            Event::Intended { message, node, to, class } => {
                let stream = StreamName { origin: node, destination: to, class };
                self.messages.insert(message, stream);
                self.found.push(stream);
            }
            Event::FrameSent { frame, message: None, from, to, .. } => {
                let replays = self.replays.get_mut(&(at.as_us(), from, to));
                if let Some(stream) = replays.and_then(Vec::pop) {
                    self.replayed.insert(frame, stream);
                    self.found.push(stream);
                }
            }
            Event::FrameLost { frame, message: None, .. }
            | Event::FrameDelivered { frame, message: None, .. } => {
                self.found.extend(self.replayed.get(&frame));
            }
            Event::Exposed { transaction, .. }
            | Event::Arrived { transaction, .. }
            | Event::Answered { transaction, .. }
            | Event::AdmissionAbandoned { transaction, .. }
            | Event::Mail { transaction, .. }
            | Event::Dispatched { transaction, .. } => {
                self.found.extend(named(&transaction.stream, account_of));
            }
            Event::NotSent { message, .. }
            | Event::Routed { message: Some(message), .. }
            | Event::ReserveAnswered { message, .. } => {
                self.found.extend(self.messages.get(&message));
            }
            Event::FrameSent { message: Some(message), .. }
            | Event::FrameLost { message: Some(message), .. }
            | Event::FrameDelivered { message: Some(message), .. }
            | Event::Relayed { message: Some(message), .. }
            | Event::Unverified { message: Some(message), .. }
            | Event::Handled { message: Some(message), .. } => {
                self.found.extend(self.messages.get(&message));
            }
            Event::Link { event, .. } => {
                self.found.extend(event.message().and_then(|message| self.messages.get(&message)));
            }
            Event::Booted { node, .. } => {
                self.engine(node).map(std::mem::take);
            }
            Event::Died { node, during, .. } => {
                let engine = self.engine(node).map(std::mem::take).unwrap_or_default();
                let batch = during.and_then(|(_, batch, _)| engine.batches.get(&batch));
                self.found.extend(batch.into_iter().flatten());
            }
            Event::Engine { node, event, .. } => {
                if let Some(engine) = self.engines.get_mut(node.index()) {
                    engine.event(&event, account_of, &mut self.found);
                }
            }
            _ => {}
        }
        self.found.sort_unstable();
        self.found.dedup();
        &self.found
    }
}

impl Engine {
    fn event(&mut self, event: &EngineEvent<'_>, account_of: &AccountOf, found: &mut Vec<StreamName>) {
        match *event {
            EngineEvent::Transition { transition, stream, record, staged, .. } => {
                let Some(stream) = named(stream, account_of) else { return };
                found.push(stream);
                self.records.insert(record, stream);
                self.transitions.insert(transition, stream);
                if let Some(batch) = staged {
                    self.batches.entry(batch).or_default().push(stream);
                }
            }
            EngineEvent::Released { transition, .. } | EngineEvent::CallerGone { transition } => {
                found.extend(self.transitions.remove(&transition));
            }
            EngineEvent::BatchClosed { batch, records, .. } => {
                // A batch after a failed one also writes records that nobody staged into it.
                let written = records.iter().filter_map(|(record, _)| self.records.get(record));
                let streams = self.batches.entry(batch).or_default();
                streams.extend(written);
                streams.sort_unstable();
                streams.dedup();
                found.extend(&*streams);
                let oldest = BatchNumber(batch.0.saturating_sub(BATCHES_KEPT));
                self.batches = self.batches.split_off(&oldest);
            }
            EngineEvent::Step { batch, .. }
            | EngineEvent::BatchDurable { batch }
            | EngineEvent::BatchFailed { batch, .. } => {
                found.extend(self.batches.get(&batch).into_iter().flatten());
            }
            EngineEvent::Retired { stream, record, staged, .. } => {
                let Some(stream) = named(stream, account_of) else { return };
                found.push(stream);
                self.records.insert(record, stream);
                self.batches.entry(staged).or_default().push(stream);
            }
            EngineEvent::LinkLocal { transition, stream, .. } => {
                let Some(stream) = named(stream, account_of) else { return };
                found.push(stream);
                self.transitions.insert(transition, stream);
            }
            EngineEvent::Quota { stream, .. } | EngineEvent::Custody { stream, .. } => {
                found.extend(named(stream, account_of))
            }
            EngineEvent::Unrestorable { record, spells, .. } => {
                let Some((_, stream)) = spells else { return };
                let Some(stream) = named(stream, account_of) else { return };
                found.push(stream);
                self.records.entry(record).or_insert(stream);
            }
            EngineEvent::UnavailableRefused { record, .. } => found.extend(self.records.get(&record)),
            EngineEvent::Opened { .. }
            | EngineEvent::LoadFailed { .. }
            | EngineEvent::BoundMet { .. }
            | EngineEvent::TableUse { .. }
            | EngineEvent::CustodyStall { .. } => {}
        }
    }
}

/// A stream whose two accounts are nodes'.
fn named(stream: &StreamKey, account_of: &AccountOf) -> Option<StreamName> {
    let (origin, destination) = (account_of(&stream.origin)?, account_of(&stream.destination)?);
    Some(StreamName { origin, destination, class: stream.class })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ledger::samples::{self, TRANSACTION, message};
    use crate::plan::{Action, FrameName};
    use crate::units::{ActionId, Life};
    use groundhog_engine::host::observe::{Decision, Roles, Step};
    use groundhog_engine::streams::key::Table;

    const NODE: NodeId = NodeId(0);
    const LIFE: Life = Life(0);

    fn accounts() -> AccountOf {
        Box::new(|did| Some(NodeId(u16::from(did.0[0]))))
    }

    fn engine(event: EngineEvent<'_>) -> Event<'_> {
        Event::Engine { node: NODE, life: LIFE, event }
    }

    #[test]
    fn a_message_carries_its_stream_from_its_intention_to_its_handler() {
        let (mut subjects, accounts) = (Subjects::new(&samples::plan(4, 8, vec![])), accounts());
        let (message, to, class) = (message(1), NodeId(1), Class::Application);
        let stream = StreamName { origin: NODE, destination: to, class };
        let intended = Event::Intended { message, node: NODE, to, class };
        assert_eq!(subjects.of(SimTime(1), &intended, &accounts), [stream]);
        let frame = FrameNumber(0);
        for event in [
            Event::FrameDelivered { frame, message: Some(message), to, duplicate: false },
            Event::Handled { message: Some(message), node: to, life: LIFE, class },
        ] {
            assert_eq!(subjects.of(SimTime(2), &event, &accounts), [stream], "{event:?}");
        }
        assert_eq!(stream.to_string(), "n0->n1/application");
    }

    #[test]
    fn a_batch_is_about_the_streams_staged_into_it_until_its_node_dies() {
        let (mut subjects, accounts) = (Subjects::new(&samples::plan(4, 8, vec![])), accounts());
        let stream = named(&TRANSACTION.stream, &accounts).expect("every account is a node's");
        let transition = EngineEvent::Transition {
            transition: TransitionNumber(0),
            stream: &TRANSACTION.stream,
            table: Table::Receiver,
            record: RecordName([7; 20]),
            decision: Decision::Refused { reason: "capacity" },
            staged: Some(BatchNumber(3)),
        };
        let step = Step::TemporaryFlushed;
        let step = EngineEvent::Step { step, batch: BatchNumber(3), roles: Roles::one(Table::Receiver) };
        let released = EngineEvent::Released { transition: TransitionNumber(0), depends: &[] };
        for event in [transition, step, EngineEvent::BatchDurable { batch: BatchNumber(3) }, released] {
            assert_eq!(subjects.of(SimTime(1), &engine(event), &accounts), [stream], "{event:?}");
        }
        let during = Some((Step::Marked, BatchNumber(3), Roles::default()));
        let death = crate::plan::Death::Power;
        let died = Event::Died { node: NODE, life: LIFE, death, during, gathering: false, fault: None };
        assert_eq!(subjects.of(SimTime(2), &died, &accounts), [stream]);
        assert_eq!(subjects.of(SimTime(3), &engine(step), &accounts), []);
    }

    #[test]
    fn a_replayed_frame_has_the_stream_that_the_plan_names() {
        let mut plan = samples::plan(4, 8, vec![]);
        let (origin, destination, class) = (NodeId(2), NodeId(1), Class::Control);
        let frame = FrameName { origin, destination, class, sequence: 0, copy: 0 };
        let act = Act::Replay { frame, to: destination, lane: None };
        plan.actions.push(Action { id: ActionId(9), at_us: 5, node: NodeId(3), act });
        let (mut subjects, accounts) = (Subjects::new(&plan), accounts());
        let (from, to, frame) = (NodeId(3), NodeId(1), FrameNumber(4));
        let sent =
            Event::FrameSent { frame, message: None, copy: u32::MAX, from, to, class, channel: 0, bytes: 9 };
        let stream = StreamName { origin, destination, class };
        assert_eq!(subjects.of(SimTime::from_us(5), &sent, &accounts), [stream]);
        let delivered = Event::FrameDelivered { frame, message: None, to, duplicate: false };
        assert_eq!(subjects.of(SimTime::from_us(9), &delivered, &accounts), [stream]);
        assert_eq!(subjects.of(SimTime::from_us(9), &sent, &accounts), [], "the plan names it once");
    }

    #[test]
    fn a_stream_of_strangers_has_no_name() {
        let mut subjects = Subjects::new(&samples::plan(4, 8, vec![]));
        let accounts: AccountOf = Box::new(|_| None);
        let event = Event::Exposed { message: message(1), node: NODE, life: LIFE, transaction: &TRANSACTION };
        assert_eq!(subjects.of(SimTime(1), &event, &accounts), []);
    }
}
