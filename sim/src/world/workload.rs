//! The workload and the adversaries' acts, as the plan has them.
//!
//! Promise: messages of one class leave a node in the order in which they were intended; a copy is the same signed bytes,
//! sent again whatever became of the earlier ones (decision 14).

use super::adversary::Recorder;
use super::timeline::Due;
use super::{Program, World};
use crate::ledger::event::{Event, LossCause, Transaction};
use crate::plan::{Act, Action, Burst, Plan, Route};
use crate::units::{Life, MessageId, NodeId, SimTime};
use bytes::Bytes;
use groundhog_engine::streams::key::Class;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use smallvec::SmallVec;
use std::collections::VecDeque;
use std::task::Waker;

/// One message that a node's sending task is to sign and send.
#[derive(Clone, Copy, Debug)]
pub struct Job {
    pub(super) message: MessageId,
    pub(super) to: NodeId,
    pub(super) via: Option<NodeId>,
    pub(super) route: Route,
    pub(super) class: Class,
    pub(super) bytes: u32,
    /// How many messages carry each payload of the namespace; 0 for none of its.
    pub(super) envelopes: u32,
    pub(super) intended: SimTime,
    /// When its caller gives up waiting for its reservation.
    pub(super) give_up_at: Option<SimTime>,
}

/// A message that was signed, kept for its further copies.
#[derive(Clone, Debug)]
pub struct SignedMessage {
    pub(super) from: NodeId,
    pub(super) to: NodeId,
    pub(super) via: Option<NodeId>,
    pub(super) route: Route,
    pub(super) transaction: Transaction,
    /// What travels: the payload, or the envelopes of its pieces, in order.
    pub(super) frames: SmallVec<[Bytes; 1]>,
    pub(super) intended: SimTime,
    /// Whether a frame of it has left its origin.
    pub(super) exposed: bool,
}

#[derive(Debug, Default)]
struct JobQueue {
    jobs: VecDeque<Job>,
    waker: Option<Waker>,
}

/// What is still to be sent.
#[derive(Debug)]
pub struct Workload {
    queues: Vec<[JobQueue; 4]>,
    signed: IndexMap<MessageId, SignedMessage, FxBuildHasher>,
    pub(super) recorder: Recorder,
}

impl Workload {
    /// Nothing is queued yet.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        Self {
            queues: plan.nodes.iter().map(|_| Default::default()).collect(),
            signed: IndexMap::default(),
            recorder: Recorder::new(&plan.actions),
        }
    }

    /// A signed message that may be sent again, or has not left yet.
    pub(super) fn signed(&mut self, message: MessageId) -> Option<&mut SignedMessage> {
        self.signed.get_mut(&message)
    }
}

impl World {
    /// Schedules every action of the plan.
    pub(super) fn schedule_actions(&mut self) {
        let plan = std::sync::Arc::clone(&self.plan);
        for (index, action) in plan.actions.iter().enumerate() {
            let index = u32::try_from(index).expect("a plan holds fewer than 2^32 actions");
            self.timeline.at(Self::first_due(action), Due::Act { index, ordinal: 0 });
        }
    }

    /// An action's moment has come.
    pub(super) fn act(&mut self, index: u32, ordinal: u32) {
        let plan = std::sync::Arc::clone(&self.plan);
        let action = &plan.actions[index as usize];
        match &action.act {
            Act::Send(burst) => {
                let message = MessageId { action: action.id, ordinal };
                if ordinal + 1 < burst.count {
                    let next = SimTime::from_us(
                        action.at_us.saturating_add(burst.every_us.saturating_mul(u64::from(ordinal) + 1)),
                    );
                    self.timeline.at(next, Due::Act { index, ordinal: ordinal + 1 });
                }
                match self.program {
                    Program::Engines => self.intend(action.node, message, burst),
                    Program::TransportAlone => self.send_alone(action.node, burst, ordinal),
                }
            }
            Act::RotateDelegatee => self.rotate_delegatee(action.node),
            Act::Mail(act) => self.mail_act(index, ordinal, act),
            Act::Join => self.join(action.node),
            Act::Leave { hand_off } => self.leave(action.node, *hand_off),
            Act::Replay { frame, to, lane } => self.replay(action.id, action.node, frame, *to, *lane),
            Act::Flood(flood) => self.flood(action, index, ordinal, flood),
            Act::Reconnect(reconnect) => self.reconnect(action, index, ordinal, reconnect),
            Act::Signalling(signalling) => self.signalled(action, index, ordinal, signalling),
            Act::PutBack(put_back) => self.put_back(action, index, ordinal, put_back),
            Act::SecondRuntime(second) => self.second_runtime(action, index, ordinal, second),
        }
    }

    fn intend(&mut self, node: NodeId, message: MessageId, burst: &Burst) {
        let now = self.now();
        self.record(&Event::Intended { message, node, to: burst.to, class: burst.class });
        if !self.is_ready(node) {
            self.record(&Event::NotSent { message, node, cause: LossCause::SenderCrash });
            return;
        }
        let gives_up = every(burst.cancel_reserve_every, message.ordinal);
        let give_up_at = gives_up.then(|| now.plus_ns(burst.cancel_after_us.saturating_mul(1_000)));
        if let Some(at) = give_up_at {
            let life = self.nodes[node.index()].life;
            self.timeline.at(at, Due::GiveUp { node, life, class: burst.class });
        }
        let queue = &mut self.workload.queues[node.index()][burst.class.index()];
        queue.jobs.push_back(Job {
            message,
            to: burst.to,
            via: burst.via,
            route: burst.route,
            class: burst.class,
            bytes: burst.bytes,
            envelopes: burst.envelopes,
            intended: now,
            give_up_at,
        });
        if let Some(waker) = queue.waker.take() {
            waker.wake();
        }
    }

    /// The next job of a class for the sending task, or remembers it.
    pub(super) fn take_job(&mut self, node: NodeId, life: Life, class: Class, waker: &Waker) -> Option<Job> {
        if !self.is_alive(node, life) {
            return None;
        }
        let queue = &mut self.workload.queues[node.index()][class.index()];
        let job = match &self.planted {
            None => queue.jobs.pop_front(),
            Some(planted) => planted.take(&mut queue.jobs, &self.plan),
        };
        if job.is_none() {
            queue.waker = Some(waker.clone());
        }
        job
    }

    /// A caller's patience ends: its sending task is to look.
    pub(super) fn give_up(&mut self, node: NodeId, life: Life, class: Class) {
        if self.is_alive(node, life)
            && let Some(waker) = self.workload.queues[node.index()][class.index()].waker.take()
        {
            waker.wake();
        }
    }

    /// A message is signed: its first copy goes to the lanes, further ones are scheduled.
    pub(super) fn send_signed(&mut self, life: Life, message: MessageId, signed: SignedMessage) {
        let node = signed.from;
        if !self.is_alive(node, life) {
            return;
        }
        let burst = self.burst_of(message);
        let (copies, copy_every_us) = (burst.copies, burst.copy_every_us);
        let now = self.now();
        for copy in 1..copies {
            let at = now.plus_ns(copy_every_us.saturating_mul(1_000).saturating_mul(copy.into()));
            self.timeline.at(at, Due::Copy { message, copy });
        }
        self.workload.signed.insert(message, signed);
        self.push_copy(message, 0);
    }

    /// A further copy's time has come.
    pub(super) fn send_copy(&mut self, message: MessageId, copy: u32) {
        let from = self.workload.signed.get(&message).map(|signed| signed.from);
        if from.is_some_and(|from| self.is_ready(from)) {
            self.push_copy(message, copy);
        }
    }

    /// A frame of the message has left: it is exposed if it was not, and forgotten if no copy follows.
    pub(super) fn left_its_origin(&mut self, message: MessageId, life: Life) {
        let Some(signed) = self.workload.signed.get_mut(&message) else { return };
        if !std::mem::replace(&mut signed.exposed, true) {
            let (node, transaction) = (signed.from, signed.transaction);
            self.record(&Event::Exposed { message, node, life, transaction: &transaction });
        }
        if self.burst_of(message).copies <= 1 {
            self.workload.signed.swap_remove(&message);
        }
    }

    /// The burst that a message belongs to.
    pub(super) fn burst_of(&self, message: MessageId) -> &Burst {
        burst_of(&self.plan, message)
    }

    /// Who sends a message, and to whom.
    pub(super) fn ends_of(&self, message: MessageId) -> (NodeId, NodeId) {
        let action = action_of(&self.plan, message);
        match &action.act {
            Act::Send(burst) => (action.node, burst.to),
            other => unreachable!("a message belongs to a burst, not to {other:?}"),
        }
    }

    /// What a dead life still had to send is lost, and so are the bytes of what it signed and showed to nobody: no later
    /// life has them to send again.
    pub(super) fn end_work(&mut self, node: NodeId) {
        self.workload.signed.retain(|_, signed| signed.from != node || signed.exposed);
        for class in Class::ALL {
            let queue = &mut self.workload.queues[node.index()][class.index()];
            queue.waker = None;
            for job in std::mem::take(&mut queue.jobs) {
                self.record(&Event::NotSent { message: job.message, node, cause: LossCause::SenderCrash });
            }
        }
        // Jobs that the sending tasks had taken died with them.
        let mut in_hand = std::mem::take(&mut self.node(node).in_hand);
        in_hand.sort_unstable();
        for message in in_hand {
            self.record(&Event::NotSent { message, node, cause: LossCause::SenderCrash });
        }
    }
}

/// The burst of a plan that a message belongs to.
pub(super) fn burst_of(plan: &Plan, message: MessageId) -> &Burst {
    match &action_of(plan, message).act {
        Act::Send(burst) => burst,
        other => unreachable!("a message belongs to a burst, not to {other:?}"),
    }
}

fn action_of(plan: &Plan, message: MessageId) -> &Action {
    let actions = &plan.actions;
    // Ids are places until actions are cut from a plan.
    let place = message.action.0 as usize;
    match actions.get(place).filter(|action| action.id == message.action) {
        Some(action) => action,
        None => {
            let found = actions.binary_search_by_key(&message.action, |action| action.id);
            &actions[found.expect("actions stand in order of id, and the message names one")]
        }
    }
}

/// Whether this is one of every `every` messages; never when `every` is 0.
pub(super) const fn every(every: u32, ordinal: u32) -> bool {
    every > 0 && (ordinal + 1).is_multiple_of(every)
}
