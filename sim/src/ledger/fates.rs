//! What became of each message of the workload: dispatched, or lost by exactly one cause, or neither.
//!
//! Promise: each message is counted once, from observed events alone. It counts as dispatched when any copy was.
//! Otherwise, of the causes that its copies met, the one that explains the others counts, by [`precedence`]. A message
//! that met no cause, but that stood in the hands of a life that ended, was lost to that crash. What is left is
//! unexplained, and breaks conservation.

use super::event::{Answer, Event, LossCause, MailGone, MailStep};
use super::link_event::LinkEvent;
use crate::plan::{Act, Plan};
use crate::units::{ActionId, Life, MessageId, NodeId};
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::collections::BTreeMap;

/// How messages are counted beside the lost ones that a carrier still keeps.
pub const STILL_HELD: &str = "still-held";

/// How strongly a cause explains a loss: of several, the strongest counts.
///
/// What happened to an admitted copy comes first, because every later copy of it is a replay; then what kept a copy from
/// being admitted, because later copies may be stale for that reason; then what kept copies from arriving.
#[must_use]
pub const fn precedence(cause: LossCause) -> u8 {
    match cause {
        LossCause::DropAfterAdmission => 12,
        LossCause::CallerGone => 11,
        LossCause::ReceiverCrash => 10,
        LossCause::FailedBatch => 9,
        LossCause::Refused => 8,
        LossCause::Verdict => 7,
        LossCause::Unverified => 6,
        LossCause::ReferenceMiss => 5,
        LossCause::LostAtCarriers
        | LossCause::PushedOut
        | LossCause::MailExpired
        | LossCause::HoldRefused => 5,
        LossCause::HopBudget | LossCause::NoRoute => 5,
        LossCause::LinkLoss => 4,
        LossCause::Partition => 3,
        LossCause::LaneFull => 2,
        LossCause::SenderCrash => 1,
    }
}

/// Where the copy that came furthest is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
enum Stage {
    #[default]
    Unknown,
    /// With its sender: intended, reserved or signed.
    Sender,
    /// On its way.
    Network,
    /// At a relay or its destination: waiting, being verified or admitted, or admitted and not dispatched.
    Receiver,
    Dispatched,
}

/// One message so far: 12 bytes.
#[derive(Clone, Copy, Debug, Default)]
struct Fate {
    stage: Stage,
    /// Whether the holder still has it in its hands: not answered, not given up.
    held: bool,
    /// Whether a carrier keeps it.
    stored: bool,
    cause: Option<LossCause>,
    /// Who holds it, at stages `Sender` and `Receiver`; who dispatched it first, at `Dispatched`.
    holder: NodeId,
    life: Life,
}

/// One action's messages.
#[derive(Clone, Copy, Debug)]
struct Span {
    first: u32,
    count: u32,
}

/// What became of a message.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ending {
    /// Never intended: its time did not come, or its action was not carried out.
    NotIntended,
    /// Dispatched at least once.
    Dispatched,
    /// Not dispatched, and a carrier keeps it.
    Held,
    /// Lost, by this cause.
    Lost(LossCause),
    /// Neither: conservation is broken.
    Unexplained,
}

/// The fates of all messages of one plan.
#[derive(Clone, Debug)]
pub struct Fates {
    spans: IndexMap<ActionId, Span, FxBuildHasher>,
    fates: Vec<Fate>,
    lives: Vec<NodeLife>,
}

#[derive(Clone, Copy, Debug, Default)]
struct NodeLife {
    life: Life,
    up: bool,
}

impl Fates {
    /// For the messages of `plan`'s bursts.
    ///
    /// # Panics
    /// When the plan sends more than `u32::MAX` messages.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let mut spans = IndexMap::with_capacity_and_hasher(plan.actions.len(), FxBuildHasher);
        let mut first = 0u32;
        for action in &plan.actions {
            if let Act::Send(burst) = &action.act {
                spans.insert(action.id, Span { first, count: burst.count });
                first = first.checked_add(burst.count).expect("a plan sends at most u32::MAX messages");
            }
        }
        Self {
            spans,
            fates: vec![Fate::default(); first as usize],
            lives: vec![NodeLife::default(); plan.nodes.len()],
        }
    }

    /// Reads one event. Returns whether it was the first dispatch of its message.
    #[inline]
    pub fn event(&mut self, event: &Event<'_>) -> bool {
        match *event {
            Event::Booted { node, life, .. } => self.set_life(node, life, true),
            Event::Died { node, life, .. } => self.set_life(node, life, false),
            Event::Intended { message, node, .. } => {
                let life = self.lives.get(node.index()).map_or(Life(0), |node| node.life);
                self.moved(Some(message), Stage::Sender, node, life);
            }
            Event::ReserveAnswered { message, node, life, .. }
            | Event::Exposed { message, node, life, .. } => {
                self.moved(Some(message), Stage::Sender, node, life);
            }
            Event::NotSent { message, cause, .. } => self.given_up(Some(message), cause),
            Event::FrameSent { message, from, .. } => {
                self.moved(message, Stage::Network, from, Life(0));
            }
            Event::FrameLost { message, cause, .. } => self.lost(message, cause),
            Event::FrameDelivered { message, to, .. } => {
                let life = self.lives.get(to.index()).map_or(Life(0), |node| node.life);
                self.moved(message, Stage::Receiver, to, life);
            }
            Event::Relayed { message, node, .. } => self.sent_on(message, node),
            Event::Unverified { message, .. } => self.given_up(message, LossCause::Unverified),
            Event::Arrived { message, node, life, .. } => self.moved(message, Stage::Receiver, node, life),
            Event::Answered { message, answer, .. } => match answer {
                Answer::Verdict(verdict) if verdict.dispatches() => {}
                Answer::Verdict(_) => self.given_up(message, LossCause::Verdict),
                Answer::Refused(_) => self.given_up(message, LossCause::Refused),
                Answer::FailedBatch => self.given_up(message, LossCause::FailedBatch),
                Answer::Unscheduled => self.given_up(message, LossCause::ReceiverCrash),
            },
            Event::AdmissionAbandoned { message, .. } => self.given_up(message, LossCause::CallerGone),
            Event::Link { event: LinkEvent::Dropped { message }, .. } => {
                self.given_up(message, LossCause::DropAfterAdmission);
            }
            Event::Mail { message, step, .. } => self.mail(message, step),
            Event::Dispatched { message, node, life, .. } => return self.dispatched(message, node, life),
            _ => {}
        }
        false
    }

    /// The node and life that first dispatched the message, if any did.
    #[must_use]
    pub fn dispatched_by(&self, message: MessageId) -> Option<(NodeId, Life)> {
        let fate = &self.fates[self.index(message)?];
        (fate.stage == Stage::Dispatched).then_some((fate.holder, fate.life))
    }

    /// What became of one message if the run ended now.
    #[must_use]
    pub fn ending(&self, message: MessageId) -> Ending {
        self.index(message).map_or(Ending::NotIntended, |index| self.ending_of(&self.fates[index]))
    }

    /// Every message with its ending if the run ended now, in the order of the plan.
    pub fn endings(&self) -> impl Iterator<Item = (MessageId, Ending)> + '_ {
        self.spans.iter().flat_map(move |(&action, span)| {
            (0..span.count).map(move |ordinal| {
                let fate = &self.fates[(span.first + ordinal) as usize];
                (MessageId { action, ordinal }, self.ending_of(fate))
            })
        })
    }

    /// How many messages were dispatched, and how many lost by each cause; those without one under `unexplained`.
    #[must_use]
    pub fn tally(&self) -> (u64, BTreeMap<&'static str, u64>) {
        let mut dispatched = 0;
        let mut losses = BTreeMap::new();
        for (_, ending) in self.endings() {
            match ending {
                Ending::NotIntended => {}
                Ending::Dispatched => dispatched += 1,
                Ending::Held => *losses.entry(STILL_HELD).or_default() += 1,
                Ending::Lost(cause) => *losses.entry(cause.id()).or_default() += 1,
                Ending::Unexplained => *losses.entry("unexplained").or_default() += 1,
            }
        }
        (dispatched, losses)
    }

    fn ending_of(&self, fate: &Fate) -> Ending {
        let in_hands_of_dead = || {
            let held = self.lives.get(fate.holder.index()).copied().unwrap_or_default();
            held.life > fate.life || !held.up
        };
        let crash = match fate.stage {
            Stage::Unknown => return Ending::NotIntended,
            Stage::Dispatched => return Ending::Dispatched,
            _ if fate.stored => return Ending::Held,
            Stage::Sender if fate.held && in_hands_of_dead() => Some(LossCause::SenderCrash),
            Stage::Receiver if fate.held && in_hands_of_dead() => Some(LossCause::ReceiverCrash),
            Stage::Sender | Stage::Receiver | Stage::Network => None,
        };
        let strongest = [fate.cause, crash].into_iter().flatten().max_by_key(|cause| precedence(*cause));
        strongest.map_or(Ending::Unexplained, Ending::Lost)
    }

    #[inline]
    fn index(&self, message: MessageId) -> Option<usize> {
        let span = self.spans.get(&message.action)?;
        (message.ordinal < span.count).then_some((span.first + message.ordinal) as usize)
    }

    #[inline]
    fn fate(&mut self, message: Option<MessageId>) -> Option<&mut Fate> {
        let index = self.index(message?)?;
        self.fates.get_mut(index)
    }

    fn set_life(&mut self, node: NodeId, life: Life, up: bool) {
        if let Some(entry) = self.lives.get_mut(node.index()) {
            *entry = NodeLife { life, up };
        }
    }

    /// A copy was seen at a stage. One that another copy has passed already changes nothing.
    #[inline]
    fn moved(&mut self, message: Option<MessageId>, stage: Stage, holder: NodeId, life: Life) {
        if let Some(fate) = self.fate(message)
            && fate.stage <= stage
            && fate.stage != Stage::Dispatched
        {
            *fate = Fate { stage, held: true, holder, life, ..*fate };
        }
    }

    /// Carriers keep it, or do not any more.
    fn mail(&mut self, message: Option<MessageId>, step: MailStep) {
        let cause = match step {
            MailStep::Held { .. } => {
                if let Some(fate) = self.fate(message)
                    && fate.stage != Stage::Dispatched
                {
                    (fate.stage, fate.held, fate.stored) = (Stage::Network, false, true);
                }
                return;
            }
            MailStep::Gone { why } => match why {
                MailGone::Fetched => None,
                MailGone::PushedOut => Some(LossCause::PushedOut),
                MailGone::Expired => Some(LossCause::MailExpired),
                MailGone::LostEverywhere | MailGone::CarrierLost => Some(LossCause::LostAtCarriers),
            },
            _ => return,
        };
        if let Some(fate) = self.fate(message) {
            fate.stored = false;
        }
        if let Some(cause) = cause {
            self.lost(message, cause);
        }
    }

    /// A relay let go of a copy: it is on its way again.
    fn sent_on(&mut self, message: Option<MessageId>, relay: NodeId) {
        if let Some(fate) = self.fate(message)
            && fate.stage == Stage::Receiver
            && fate.holder == relay
        {
            fate.stage = Stage::Network;
        }
    }

    /// Its holder has done with a copy.
    fn given_up(&mut self, message: Option<MessageId>, cause: LossCause) {
        if let Some(fate) = self.fate(message) {
            fate.held = false;
        }
        self.lost(message, cause);
    }

    fn lost(&mut self, message: Option<MessageId>, cause: LossCause) {
        if let Some(fate) = self.fate(message)
            && fate.cause.is_none_or(|known| precedence(known) < precedence(cause))
        {
            fate.cause = Some(cause);
        }
    }

    #[inline]
    fn dispatched(&mut self, message: Option<MessageId>, node: NodeId, life: Life) -> bool {
        match self.fate(message) {
            Some(fate) if fate.stage != Stage::Dispatched => {
                (fate.stage, fate.holder, fate.life) = (Stage::Dispatched, node, life);
                true
            }
            _ => false,
        }
    }
}

#[cfg(test)]
#[path = "fates_tests.rs"]
mod tests;
