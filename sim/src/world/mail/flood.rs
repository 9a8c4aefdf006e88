//! An adversary that mails a node under fresh accounts, one a mail.
//!
//! Promise: its mail is what an honest sender's would be but for who signs it; its accounts come from the plan alone. It
//! hands its mail to the carriers, whether the node is away or not: no carrier can tell.

use super::super::World;
use super::super::timeline::Due;
use super::Holders;
use crate::ledger::event::Transaction as Named;
use crate::plan::Plan;
use crate::units::SimTime;
use groundhog_engine::identity::Did;
use groundhog_engine::identity::delegation::{Delegation, Signer};
use groundhog_engine::identity::signing::{KeyPair, sha256};
use groundhog_engine::streams::key::{Class, NetworkId, StreamKey};
use groundhog_engine::streams::message::MessageKind;
use groundhog_engine::streams::payload::Payload;
use groundhog_engine::streams::transaction::{Draft, Transaction, TransactionId};
use groundhog_engine::units::{Sequence, WallMs};

impl World {
    /// The flood's next mail, and when the one after it is due.
    pub(super) fn mail_flood(&mut self, index: u32, ordinal: u32, (mails, every_us): (u32, u64)) {
        let plan = std::sync::Arc::clone(&self.plan);
        let action = &plan.actions[index as usize];
        if ordinal + 1 < mails {
            let next_us = action.at_us.saturating_add(every_us.saturating_mul(u64::from(ordinal) + 1));
            self.timeline.at(SimTime::from_us(next_us), Due::Act { index, ordinal: ordinal + 1 });
        }
        let now = self.wall_now(action.node);
        let did = self.nodes[action.node.index()].identity.did();
        let (named, payload) = mail(&plan, (action.id.0, ordinal), did, now);
        // It knows who is up, as no node need.
        let carriers = self.mail.holders.carriers((action.node, action.node), 1, &|node| self.is_ready(node));
        let by = carriers.first().copied().unwrap_or(action.node);
        self.hold(None, (by, action.node), named, payload.encoded().clone());
    }
}

/// One mail, by an account that sends no other.
fn mail(plan: &Plan, (action, ordinal): (u32, u32), to: Did, now: WallMs) -> (Named, Payload) {
    let crypto = super::super::node::crypto_of(plan);
    let network_id = NetworkId(plan.engines.network_id);
    let key = |role: u8| {
        let words = [plan.seed.to_le_bytes(), (u64::from(action) << 32 | u64::from(ordinal)).to_le_bytes()];
        KeyPair::from_seed(&sha256(&[b"groundhog mail flood", &words[0], &words[1], &[role]]))
    };
    let (account, delegatee) = (key(0), key(1));
    let expires = now.plus_ms(plan.engines.delegation_lifetime_ms);
    let delegation = Delegation::sign(&account, *delegatee.public(), (now, expires), network_id, crypto);
    let signer = Signer::new(delegatee, delegation);
    let draft = Draft {
        destination: to,
        id: TransactionId([0; 16]),
        sequence: Sequence(0),
        reply_via: None,
        data: &[MessageKind::Custom as u8; 64],
        issued: now,
        lifetime_ms: plan.engines.transaction_lifetime_ms,
    };
    let transaction =
        Transaction::sign(&draft, &signer, network_id, crypto).expect("64 bytes and a checked lifetime");
    let stream =
        StreamKey { network_id, origin: signer.account(), destination: to, class: Class::Application };
    let (digest, expires) = (transaction.digest(), transaction.expires());
    let named = Named { stream, sequence: Sequence(0), digest, expires };
    (named, Payload::sign(transaction, &signer, network_id, crypto))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_mail_of_a_flood_has_an_account_of_its_own_and_is_the_same_each_time() {
        let plan = crate::plan::yardstick::messages(10, 4, 1_000);
        let at = |ordinal| mail(&plan, (3, ordinal), Did([9; 20]), WallMs(1_000_000)).0;
        assert_eq!(at(0), at(0));
        assert_ne!(at(0).stream.origin, at(1).stream.origin);
        assert_ne!(at(0).digest, at(1).digest);
    }
}
