//! Adversaries that mint accounts: each transaction is of an account that nobody has seen.
//!
//! Promise: the accounts come from the plan's seed, the party and a number alone; an adversary keeps no lane and waits for
//! no credit; it signs in no time, since its machine is none of the plan's.

use super::World;
use super::clock::EPOCH_MS;
use super::network::{Outgoing, Tag};
use super::ring::FirstHop;
use super::timeline::Due;
use crate::ledger::event::Event;
use crate::plan::{Action, Flood, Forgery, FrameName, Plan};
use crate::units::{NodeId, SimTime};
use groundhog_engine::identity::Did;
use groundhog_engine::identity::delegation::{Delegation, Signer};
use groundhog_engine::identity::signing::{Crypto, KeyPair, sha256};
use groundhog_engine::streams::key::{Class, NetworkId};
use groundhog_engine::streams::message::MessageKind;
use groundhog_engine::streams::payload::Payload;
use groundhog_engine::streams::transaction::{Draft, Transaction, TransactionId};
use groundhog_engine::units::{Sequence, WallMs};

/// Frames of floods are named by numbers that no sequence of the workload reaches.
const FRAMES_FROM: u64 = 1 << 48;

/// Accounts were set up this long before the run began.
const SET_UP_BEFORE_MS: u64 = 60_000;

/// What one account of a party signs.
pub(super) struct Minted<'a> {
    pub(super) keys: u32,
    pub(super) number: u32,
    pub(super) destination: Did,
    pub(super) class: Class,
    pub(super) sequence: u32,
    pub(super) bytes: u32,
    pub(super) issued: WallMs,
    pub(super) forgery: Option<Forgery>,
    pub(super) plan: &'a Plan,
    pub(super) crypto: Crypto,
}

impl Minted<'_> {
    fn key(&self, what: &[u8]) -> KeyPair {
        let words = [self.plan.seed, self.keys.into(), self.number.into()].map(u64::to_le_bytes);
        let parts: [&[u8]; 5] = [b"groundhog minted key", what, &words[0], &words[1], &words[2]];
        KeyPair::from_seed(&sha256(&parts))
    }

    fn signer(&self) -> Signer {
        let network_id = NetworkId(self.plan.engines.network_id);
        let delegatee =
            KeyPair::from_seed(&sha256(&[b"groundhog minted delegatee", &self.keys.to_le_bytes()]));
        let issued = WallMs(EPOCH_MS - SET_UP_BEFORE_MS);
        let span =
            (issued, issued.plus_ms(self.plan.engines.delegation_lifetime_ms.max(2 * SET_UP_BEFORE_MS)));
        let account = self.key(b"account");
        let delegation = match self.forgery {
            Some(Forgery::Delegation) => {
                Delegation::sign(&account, *delegatee.public(), span, strange(network_id), self.crypto)
            }
            _ => Delegation::sign(&account, *delegatee.public(), span, network_id, self.crypto),
        };
        Signer::new(delegatee, delegation)
    }

    /// The payload as it goes over the first hop.
    pub(super) fn payload(&self) -> Payload {
        let network_id = NetworkId(self.plan.engines.network_id);
        let signer = self.signer();
        let mut data = vec![0; (self.bytes as usize).max(1)];
        data[0] = MessageKind::plain(self.class) as u8;
        let mut id = [0; 16];
        id[..4].copy_from_slice(&self.keys.to_le_bytes());
        id[4..8].copy_from_slice(&self.number.to_le_bytes());
        id[8..12].copy_from_slice(&self.sequence.to_le_bytes());
        let draft = Draft {
            destination: self.destination,
            id: TransactionId(id),
            sequence: Sequence(self.sequence.into()),
            reply_via: None,
            data: &data,
            issued: self.issued,
            lifetime_ms: self.plan.engines.transaction_lifetime_ms,
        };
        let of = |forgery| match self.forgery == Some(forgery) {
            true => strange(network_id),
            false => network_id,
        };
        let transaction = Transaction::sign(&draft, &signer, of(Forgery::Transaction), self.crypto)
            .expect("a checked plan floods with messages within the limits");
        Payload::sign(transaction, &signer, of(Forgery::Payload), self.crypto)
    }
}

/// A statement of another network is another statement: its signature proves nothing here.
const fn strange(network_id: NetworkId) -> NetworkId {
    NetworkId(network_id.0 ^ 1)
}

impl World {
    /// One account of a flood sends, and the next is due.
    pub(super) fn flood(&mut self, action: &Action, index: u32, ordinal: u32, flood: &Flood) {
        if ordinal + 1 < flood.count {
            let after_us = flood.every_us.saturating_mul(u64::from(ordinal) + 1);
            let next = SimTime::from_us(action.at_us.saturating_add(after_us));
            self.timeline.at(next, Due::Act { index, ordinal: ordinal + 1 });
        }
        let node = action.node;
        let first_hop = flood.via.unwrap_or(flood.to);
        let Some(FirstHop { to, connection, hops }) = self.first_hop(node, first_hop, first_hop) else {
            self.record(&Event::ReplayMissed { node });
            return;
        };
        let now = self.now();
        let bytes = self.minted(node, flood, ordinal);
        let name = FrameName {
            origin: node,
            destination: flood.to,
            class: flood.class,
            sequence: FRAMES_FROM + u64::from(flood.sequence),
            copy: ordinal,
        };
        let channel = u8::try_from(flood.class.index()).expect("four classes") % connection.channels;
        self.send(Outgoing {
            from: node,
            to,
            class: flood.class,
            channel,
            generation: connection.generation,
            message: None,
            name,
            replay: Some(action.id),
            tag: Tag { transfer: None, intended: now, sent: now, ends: true, hops, ..Tag::default() },
            bytes,
        });
    }

    fn minted(&mut self, node: NodeId, flood: &Flood, ordinal: u32) -> bytes::Bytes {
        let wall = self.wall_now(node).0;
        let issued = WallMs(wall.saturating_add_signed(flood.stamp_ms));
        let minted = Minted {
            keys: flood.keys,
            number: flood.first_key + ordinal,
            destination: self.nodes[flood.to.index()].identity.did(),
            class: flood.class,
            sequence: flood.sequence,
            bytes: flood.bytes,
            issued,
            forgery: flood.forgery,
            plan: &self.plan,
            crypto: super::node::crypto_of(&self.plan),
        };
        minted.payload().encoded().clone()
    }
}
