//! Relay custody as an onlooker knows it: from what came out of inboxes, how it was answered, and what was taken.
//!
//! Promise: it is kept from observed events alone and shares no code with the engine's. What nobody was told is neither
//! known to be in custody nor known not to be.

use super::Setting;
use super::lifespan::spent;
use super::names::DigestKey;
use super::per_node::PerNode;
use super::store_acts::{StoreActs, Touch};
use crate::ledger::event::{Answer, Event, MailStep, Transaction};
use crate::units::{Life, NodeId};
use groundhog_engine::streams::key::StreamKey;
use groundhog_engine::units::WallMs;
use rustc_hash::FxHashMap;

/// The bound of custody (000, Receiver streams by connection slot).
pub const CUSTODY_MAX: usize = 64;

/// Whether the record that a delivery is in custody with is still what it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Memory {
    /// Nobody has touched it.
    Kept,
    /// It was removed under a node that ran, and has it in memory until it dies.
    Unsure,
    /// It was removed while the node was stopped.
    Gone,
}

/// What is known of one delivery.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// Its stream.
    pub stream: StreamKey,
    /// Whether what its node knew of it is still known.
    pub memory: Memory,
    /// The last instant at which it can be delivered.
    pub spent: WallMs,
    /// The clock at its last arrival out of the inbox.
    pub wall: WallMs,
    /// The clock at its first.
    pub first_wall: WallMs,
    /// It was dispatched out of the inbox: it is in custody until it is taken or spent.
    pub dispatched: bool,
    /// Its last arrival is not answered yet.
    pub pending: bool,
    /// An earlier arrival out of the inbox was never answered, as far as is known: it may be in custody.
    pub unanswered: bool,
    /// Its batch failed in this life, and in custody it is only if that landed and the life is over.
    pub failed_in: Option<Life>,
    /// Somebody began to take it: it may have left.
    pub taking: bool,
    /// It was taken.
    pub taken: bool,
    /// It came another way too, and may have been admitted there.
    pub other_way: bool,
}

impl Delivery {
    /// Whether it is certain to be in custody at this clock.
    #[must_use]
    pub fn is_held(&self, now: WallMs) -> bool {
        self.dispatched && !self.taking && now <= self.spent && self.memory == Memory::Kept
    }

    /// Whether it may be in custody in this life at this clock, also by an arrival that is not answered yet.
    #[must_use]
    pub fn may_have_entered(&self, life: Life, now: WallMs) -> bool {
        self.may_be_held(life, now) || (self.pending && !self.taken && now <= self.spent)
    }

    /// Whether it may be in custody in this life at this clock, by what came of earlier arrivals.
    #[must_use]
    pub fn may_be_held(&self, life: Life, now: WallMs) -> bool {
        let landed = self.failed_in.is_some_and(|failed_in| failed_in < life);
        let may = self.dispatched || self.unanswered || landed;
        may && !self.taken && now <= self.spent && self.memory != Memory::Gone
    }
}

/// See the module.
#[derive(Debug, Default)]
pub struct CustodyBook {
    acts: StoreActs,
    nodes: PerNode<FxHashMap<DigestKey, Delivery>>,
}

impl CustodyBook {
    /// For one run. What an act of its plan removes from a store is in custody no more.
    #[must_use]
    pub fn of_run(setting: &Setting) -> Self {
        Self { acts: StoreActs::of(setting), nodes: PerNode::default() }
    }

    /// Reads one event: arrivals, answers, mail, acts on stores.
    pub fn event(&mut self, event: &Event<'_>) {
        match event {
            Event::Arrived { node, wall, transaction, passage, .. } => {
                self.arrived(*node, *wall, transaction, passage.is_from_inbox());
            }
            Event::Answered { node, life, transaction, passage, answer, .. } if passage.is_from_inbox() => {
                self.answered(*node, *life, transaction, *answer);
            }
            Event::Mail { node, transaction, step, .. } => {
                let Some(delivery) = self.of(*node, transaction) else { return };
                match step {
                    MailStep::Taking => delivery.taking = true,
                    MailStep::Taken => delivery.taken = true,
                    _ => {}
                }
            }
            Event::FaultBegan { fault } => {
                if let Some(touch) = self.acts.get(*fault) {
                    forget(touch, self.nodes.at(touch.node));
                }
            }
            _ => {}
        }
    }

    fn arrived(&mut self, node: NodeId, wall: WallMs, transaction: &Transaction, from_inbox: bool) {
        let deliveries = self.nodes.at(node);
        let key = DigestKey::of(&transaction.digest);
        let new = || Delivery {
            stream: transaction.stream,
            memory: Memory::Kept,
            spent: spent(transaction),
            wall,
            first_wall: wall,
            dispatched: false,
            pending: false,
            unanswered: false,
            failed_in: None,
            taking: false,
            taken: false,
            other_way: false,
        };
        if from_inbox {
            let delivery = deliveries.entry(key).or_insert_with(new);
            delivery.wall = wall;
            delivery.unanswered |= delivery.pending;
            delivery.pending = true;
        } else if super::lifespan::is_mail(transaction) {
            deliveries.entry(key).or_insert_with(new).other_way = true;
        }
    }

    fn answered(&mut self, node: NodeId, life: Life, transaction: &Transaction, answer: Answer) {
        let Some(delivery) = self.of(node, transaction) else { return };
        delivery.pending = matches!(answer, Answer::Unscheduled);
        match answer {
            Answer::Verdict(verdict) if verdict.dispatches() => {
                (delivery.dispatched, delivery.unanswered, delivery.failed_in) = (true, false, None);
                if delivery.memory != Memory::Kept {
                    (delivery.memory, delivery.taking, delivery.taken) = (Memory::Kept, false, false);
                }
            }
            Answer::Verdict(_) | Answer::Refused(_) => delivery.unanswered = false,
            Answer::FailedBatch => {
                delivery.unanswered = false;
                if !delivery.dispatched {
                    delivery.failed_in = Some(life);
                }
            }
            Answer::Unscheduled => {}
        }
    }

    fn of(&mut self, node: NodeId, transaction: &Transaction) -> Option<&mut Delivery> {
        self.nodes.at(node).get_mut(&DigestKey::of(&transaction.digest))
    }

    /// What is known of a delivery to a node.
    pub fn get(&mut self, node: NodeId, transaction: &Transaction) -> Option<Delivery> {
        self.of(node, transaction).map(|delivery| *delivery)
    }

    /// Whether the transaction may be in the node's custody, by the clock of its last arrival.
    pub fn may_hold(&mut self, node: NodeId, life: Life, transaction: &Transaction) -> bool {
        self.of(node, transaction).is_some_and(|delivery| delivery.may_be_held(life, delivery.wall))
    }

    /// Everything that came out of a node's inbox, in no order that means anything.
    pub fn of_node(&mut self, node: NodeId) -> impl Iterator<Item = &Delivery> {
        self.nodes.at(node).values()
    }
}

/// What an act on a store does to what is known of its deliveries.
fn forget(touch: &Touch, deliveries: &mut FxHashMap<DigestKey, Delivery>) {
    let of_it = deliveries.values_mut().filter(|of| touch.forgets_receiver(touch.node, &of.stream));
    for delivery in of_it {
        if touch.while_it_runs {
            delivery.memory = Memory::Unsure;
            continue;
        }
        delivery.memory = Memory::Gone;
        (delivery.pending, delivery.unanswered, delivery.failed_in) = (false, false, None);
    }
}
