//! Mail of the world: carriers that hold it for nodes that are away, and the applications that take it.
//!
//! Promise: a carrier's mail is on its node's durable storage apart from the engines' disk: it survives the node's death and
//! is reached while the node is up. To hand mail to carriers and to read it takes no simulated time; what the destination
//! does with it does. The world keeps a book of all mail, so that it is told when no carrier keeps one any more.

mod application;
mod drains;
mod flood;
mod hand_off;
mod ring;

pub use application::{Application, Untaken};
use drains::Drains;
pub use ring::{Holders, StaticRing};

use super::World;
use crate::ledger::event::{Event, LossCause, MailGone, MailStep, Transaction};
use crate::plan::{MailAct, MailPlan, Plan, Route};
use crate::units::{Life, MessageId, NodeId, SimTime};
use bytes::Bytes;
use groundhog_engine::flaws::Flaws;
use groundhog_engine::identity::Did;
use groundhog_engine::identity::signing::Crypto;
use groundhog_engine::streams::inbox::{Carrier, CarrierConfig, Fetched, HeldMail, PushedOut, copies};
use groundhog_engine::streams::key::{Class, NetworkId};
use groundhog_engine::streams::payload::Payload;
use groundhog_engine::streams::verify::Verifier;
use groundhog_engine::streams::window::Digest;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::task::{Poll, Waker};

/// One mail, in the book of the world.
#[derive(Clone, Copy, Debug)]
struct Letter {
    message: Option<MessageId>,
    to: NodeId,
    transaction: Transaction,
    /// Whether a carrier kept it when that was last told.
    kept: bool,
}

/// One mail as its destination reads it.
#[derive(Clone, Debug)]
pub struct Delivery {
    /// The workload's message, where it is one.
    pub message: Option<MessageId>,
    /// The mail.
    pub transaction: Transaction,
    /// Its bytes.
    pub mail: Bytes,
}

/// See the module.
pub struct Mail {
    plan: Option<MailPlan>,
    /// Who holds mail where the plan has no ring.
    holders: StaticRing,
    carriers: Vec<Carrier>,
    /// The carriers that each node does not reach, and until when.
    unreachable: Vec<(SimTime, Vec<NodeId>)>,
    applications: Vec<Application>,
    letters: IndexMap<(NodeId, Digest), Letter, FxBuildHasher>,
    drains: Vec<Drains>,
    verifier: Verifier,
    copies: usize,
}

impl Mail {
    /// No mail is held yet.
    #[must_use]
    pub fn new(plan: &Plan, dids: &[Did], crypto: Crypto, flaws: Flaws) -> Self {
        let mail = plan.engines.mail;
        let config = CarrierConfig {
            lifetime_ms: mail.map_or(1, |mail| mail.lifetime_ms),
            budget_bytes: mail.map_or(0, |mail| mail.carrier_bytes),
            flaws,
        };
        let after_us = mail.map_or(0, |mail| mail.take_after_us);
        Self {
            plan: mail,
            holders: StaticRing::new(dids),
            carriers: dids.iter().map(|_| Carrier::new(config)).collect(),
            unreachable: vec![(SimTime(0), Vec::new()); dids.len()],
            applications: dids.iter().map(|_| Application::taking_after(after_us)).collect(),
            letters: IndexMap::default(),
            drains: dids.iter().map(|_| Drains::default()).collect(),
            verifier: Verifier::new(NetworkId(plan.engines.network_id), crypto, flaws),
            copies: copies(flaws),
        }
    }

    /// A process died: what its application had is forgotten.
    pub(super) fn end_life(&mut self, node: NodeId) {
        self.applications[node.index()].end_life();
        self.drains[node.index()].end_life();
    }
}

impl World {
    /// Whether a message that finds no connection is mail: whole, of an application, to a node that is away, straight or by
    /// the ring. What is cut into pieces is put together by nobody but its destination.
    pub(super) fn is_mail(&self, message: MessageId) -> bool {
        let burst = self.burst_of(message);
        self.mail.plan.is_some()
            && burst.class == Class::Application
            && burst.via.is_none()
            && burst.route != Route::OutOfBand
            && !self.can_be_reached(burst.to)
    }

    /// Hands a signed message to the carriers of its destination; why not, where none takes it.
    pub(super) fn hold_message(&mut self, message: MessageId) -> Option<LossCause> {
        let signed = self.workload.signed(message)?.clone();
        self.hold_at(signed.from, message, &signed.transaction, signed.frames[0].clone())
    }

    /// Hands a message to the carriers of its destination at the node where its way ends; why not, where none takes it.
    pub(super) fn hold_at(
        &mut self,
        node: NodeId,
        message: MessageId,
        transaction: &Transaction,
        payload: Bytes,
    ) -> Option<LossCause> {
        let (from, to) = self.ends_of(message);
        if node == from {
            let life = self.nodes[from.index()].life;
            self.left_its_origin(message, life);
        }
        let held = self.hold(Some(message), (node, to), *transaction, payload);
        (!held).then_some(LossCause::HoldRefused)
    }

    /// Carriers that `by` knows take a mail, or none does.
    fn hold(
        &mut self,
        message: Option<MessageId>,
        (by, to): (NodeId, NodeId),
        transaction: Transaction,
        payload: Bytes,
    ) -> bool {
        self.expire_mail();
        let mut pushed_out = Vec::new();
        let step = match self.held_by((by, to), &transaction, payload, &mut pushed_out) {
            Ok(step) => {
                let letter = Letter { message, to, transaction, kept: true };
                let known = self.mail.letters.insert((to, transaction.digest), letter);
                if !known.is_some_and(|known| known.kept) {
                    self.mail.drains[to.index()].waiting += 1;
                }
                step
            }
            Err(reason) => MailStep::HoldRefused { reason },
        };
        self.tell_of_mail(message, to, &transaction, step);
        // After it is told that this one is held.
        self.tell_of_gone(pushed_out, MailGone::PushedOut);
        matches!(step, MailStep::Held { .. })
    }

    /// The owner judges a mail by its clock, signs that it holds it, and replicates it along its chain.
    fn held_by(
        &mut self,
        (by, to): (NodeId, NodeId),
        transaction: &Transaction,
        payload: Bytes,
        pushed_out: &mut Vec<(NodeId, Digest)>,
    ) -> Result<MailStep, &'static str> {
        let chain = self.holders().carriers((by, to), self.mail.copies, &|node| self.is_ready(node));
        let owner = *chain.first().ok_or("no-carrier")?;
        let now = self.wall_now(owner);
        let payload = Payload::decode(payload).map_err(|_| "undecodable")?;
        let verified = self.mail.verifier.verify(payload, now);
        // What holders compute is not charged: their processors are not what is looked at.
        self.mail.verifier.take_work();
        let payload = verified.map_err(|error| error.id())?.into_payload();
        let signer = self.nodes[owner.index()].identity.signer();
        let network_id = NetworkId(self.plan.engines.network_id);
        let crypto = super::node::crypto_of(&self.plan);
        let held = HeldMail::sign(payload, now, &signer, network_id, crypto);
        let did = self.nodes[to.index()].identity.did();
        let asked = chain.len() as u8;
        let mut copies = 0;
        for node in chain {
            let now = self.wall_now(node);
            let carrier = &mut self.mail.carriers[node.index()];
            match carrier.hold(did, transaction.digest, held.encoded(), now) {
                Ok(others) => {
                    copies += 1;
                    pushed_out.extend(others.into_iter().map(|other| (to, other.digest)));
                }
                Err(_) if node == owner => return Err("no-room"),
                Err(_) => {}
            }
        }
        Ok(MailStep::Held { owner, copies, asked })
    }

    /// What is held for a node, as its drain pass reads it: from the carriers of its place that it reaches.
    pub(super) fn read_inbox(&mut self, node: NodeId, life: Life) -> Vec<Delivery> {
        if !self.is_alive(node, life) {
            return Vec::new();
        }
        self.expire_mail();
        let did = self.nodes[node.index()].identity.did();
        let mut found: IndexMap<Digest, Bytes, FxBuildHasher> = IndexMap::default();
        for carrier in self.reached_by(node) {
            for Fetched { digest, mail } in self.mail.carriers[carrier.index()].read(did) {
                found.entry(digest).or_insert(mail);
            }
        }
        let letters = &self.mail.letters;
        let delivery = |(digest, mail)| {
            let Letter { message, transaction, .. } = *letters.get(&(node, digest))?;
            Some(Delivery { message, transaction, mail })
        };
        found.into_iter().filter_map(delivery).collect()
    }

    fn reached_by(&self, node: NodeId) -> Vec<NodeId> {
        let (until, unreachable) = &self.mail.unreachable[node.index()];
        let is_cut = self.now() < *until;
        let up = |other: NodeId| self.is_ready(other) && !(is_cut && unreachable.contains(&other));
        self.holders().carriers((node, node), self.mail.copies, &up)
    }

    /// Who says which nodes hold what.
    fn holders(&self) -> &dyn Holders {
        match &self.ring {
            Some(ring) => &**ring,
            None => &self.mail.holders,
        }
    }

    /// The destination has done with a mail: every carrier that it reaches lets it go.
    pub(super) fn fetched(&mut self, node: NodeId, digest: &Digest) {
        let did = self.nodes[node.index()].identity.did();
        let (until, unreachable) = self.mail.unreachable[node.index()].clone();
        let is_cut = self.now() < until;
        for carrier in (0..self.nodes.len()).map(|index| NodeId(index as u16)) {
            if self.is_ready(carrier) && !(is_cut && unreachable.contains(&carrier)) {
                self.mail.carriers[carrier.index()].remove(did, digest);
            }
        }
        self.tell_of_one_gone((node, *digest), MailGone::Fetched);
    }

    /// Mail was dispatched: its application has it.
    pub(super) fn mail_dispatched(&mut self, node: NodeId, delivery: &Delivery) {
        let Delivery { message, transaction, .. } = *delivery;
        let since = self.now();
        self.mail.applications[node.index()].dispatched(Untaken { message, transaction, since });
    }

    /// Whether this life's application has the mail already.
    pub(super) fn has_mail(&self, node: NodeId, digest: &Digest) -> bool {
        self.mail.applications[node.index()].has(digest)
    }

    /// The next mail that a node's application takes, or how long until then.
    pub(super) fn next_to_take(
        &mut self,
        node: NodeId,
        life: Life,
        waker: &Waker,
    ) -> Poll<Result<Untaken, u64>> {
        if !self.is_alive(node, life) {
            return Poll::Pending;
        }
        let now = self.now();
        self.mail.applications[node.index()].next(now, waker)
    }

    /// A take came to its end; `None` where the mail is the application's.
    pub(super) fn take_ended(&mut self, node: NodeId, mail: &Untaken, refused: Option<&'static str>) {
        let step = refused.map_or(MailStep::Taken, |reason| MailStep::NotTaken { reason });
        let Untaken { message, transaction, .. } = *mail;
        self.tell_of_mail(message, node, &transaction, step);
        self.mail.applications[node.index()].done(&transaction.digest);
        if refused.is_none() {
            self.fetched(node, &transaction.digest);
        }
    }

    /// An act of the plan on a node's mail.
    pub(super) fn mail_act(&mut self, index: u32, ordinal: u32, act: &MailAct) {
        let action = &self.plan.actions[index as usize];
        let (node, did) = (action.node, self.nodes[action.node.index()].identity.did());
        match *act {
            MailAct::Lose => {
                let lost = self.mail.carriers.iter_mut().flat_map(|carrier| carrier.lose(did));
                let lost = lost.map(|digest| (node, digest)).collect();
                self.tell_of_gone(lost, MailGone::LostEverywhere);
            }
            MailAct::LoseOne => {
                if let Some(carrier) = self.keeping_for(node).first() {
                    let lost = self.mail.carriers[carrier.index()].lose(did);
                    let lost = lost.into_iter().map(|digest| (node, digest)).collect();
                    self.tell_of_gone(lost, MailGone::CarrierLost);
                }
            }
            MailAct::Unreachable { for_us } => {
                let until = self.now().plus_ns(for_us.saturating_mul(1_000));
                self.mail.unreachable[node.index()] = (until, self.keeping_for(node));
            }
            MailAct::Taking { after_us } => self.mail.applications[node.index()].set(after_us),
            MailAct::Flood { mails, every_us } => self.mail_flood(index, ordinal, (mails, every_us)),
        }
    }

    /// Every carrier that keeps something for a node, in ring order.
    fn keeping_for(&self, node: NodeId) -> Vec<NodeId> {
        let did = self.nodes[node.index()].identity.did();
        let all = self.mail.holders.carriers((node, node), self.nodes.len(), &|_| true);
        let keeps = |carrier: &NodeId| self.mail.carriers[carrier.index()].read(did).next().is_some();
        all.into_iter().filter(keeps).collect()
    }

    fn expire_mail(&mut self) {
        if self.mail.letters.is_empty() {
            return;
        }
        let mut expired = Vec::new();
        for index in 0..self.nodes.len() {
            let now = self.wall_now(NodeId(index as u16));
            expired.append(&mut self.mail.carriers[index].expire(now));
        }
        let of = |did: Did| self.nodes.iter().position(|state| state.identity.did() == did);
        let named = |gone: PushedOut| Some((NodeId(of(gone.destination)? as u16), gone.digest));
        let expired = expired.into_iter().filter_map(named).collect();
        self.tell_of_gone(expired, MailGone::Expired);
    }

    /// Tells of those of these that no carrier keeps any more. What a carrier let go without a word is told by nobody.
    fn tell_of_gone(&mut self, mails: Vec<(NodeId, Digest)>, why: MailGone) {
        mails.into_iter().for_each(|key| self.tell_of_one_gone(key, why));
    }

    fn tell_of_one_gone(&mut self, key: (NodeId, Digest), why: MailGone) {
        if self.is_kept(key) {
            return;
        }
        let Some(letter) = self.mail.letters.get_mut(&key).filter(|letter| letter.kept) else { return };
        letter.kept = false;
        self.mail.drains[key.0.index()].waiting -= 1;
        let Letter { message, to, transaction, .. } = *letter;
        self.tell_of_mail(message, to, &transaction, MailStep::Gone { why });
    }

    fn is_kept(&self, (node, digest): (NodeId, Digest)) -> bool {
        let did = self.nodes[node.index()].identity.did();
        self.mail.carriers.iter().any(|carrier| carrier.keeps(did, &digest))
    }

    /// The run is over: what carriers still keep.
    pub(super) fn tell_of_stored_mail(&mut self) {
        let keys: Vec<(NodeId, Digest)> = self.mail.letters.keys().copied().collect();
        for key in keys {
            if self.is_kept(key) {
                let Letter { message, to, transaction, .. } = self.mail.letters[&key];
                self.tell_of_mail(message, to, &transaction, MailStep::Stored);
            }
        }
    }

    pub(super) fn tell_of_mail(
        &mut self,
        message: Option<MessageId>,
        node: NodeId,
        transaction: &Transaction,
        step: MailStep,
    ) {
        let life = self.nodes[node.index()].life;
        self.record(&Event::Mail { message, node, life, transaction, step });
    }
}
