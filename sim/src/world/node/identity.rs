//! A simulated node's account and the delegatee that signs for it.
//!
//! Promise: keys come from the plan's seed and the node alone, and are real whatever stands in for signatures.

use crate::plan::Plan;
use crate::units::NodeId;
use crate::world::World;
use crate::world::clock::EPOCH_MS;
use groundhog_engine::identity::Did;
use groundhog_engine::identity::delegation::{Delegation, Signer};
use groundhog_engine::identity::signing::{Crypto, KeyPair, sha256};
use groundhog_engine::streams::key::NetworkId;
use groundhog_engine::units::WallMs;
use std::sync::Arc;

/// A node's account was set up this long before the run began, so that no clock within tolerance finds its first
/// delegation in the future.
const SET_UP_BEFORE_MS: u64 = 60_000;

/// A node's account and its present delegatee.
#[derive(Clone, Debug)]
pub struct Identity {
    account: KeyPair,
    did: Did,
    signer: Arc<Signer>,
    rotations: u64,
}

impl Identity {
    /// The identity of one node, its first delegation issued shortly before the run begins.
    #[must_use]
    pub fn new(plan: &Plan, node: NodeId, crypto: Crypto) -> Self {
        let account = key_pair(plan.seed, node, 0);
        let did = account.public().did();
        let issued = WallMs(EPOCH_MS - SET_UP_BEFORE_MS);
        let signer = delegate(plan, node, &account, 1, issued, crypto);
        Self { account, did, signer, rotations: 0 }
    }

    /// The account's DID.
    #[must_use]
    pub const fn did(&self) -> Did {
        self.did
    }

    /// Who signs now.
    #[must_use]
    pub fn signer(&self) -> Arc<Signer> {
        Arc::clone(&self.signer)
    }
}

/// The DID of a node's account.
#[must_use]
pub fn account(seed: u64, node: NodeId) -> Did {
    key_pair(seed, node, 0).public().did()
}

impl World {
    /// The node's account delegates to a fresh key.
    pub(in crate::world) fn rotate_delegatee(&mut self, node: NodeId) {
        let issued = self.wall_now(node);
        let crypto = super::crypto_of(&self.plan);
        let plan = Arc::clone(&self.plan);
        let identity = &mut self.node(node).identity;
        identity.rotations += 1;
        identity.signer = delegate(&plan, node, &identity.account, 1 + identity.rotations, issued, crypto);
    }
}

fn delegate(
    plan: &Plan,
    node: NodeId,
    account: &KeyPair,
    key_number: u64,
    issued: WallMs,
    crypto: Crypto,
) -> Arc<Signer> {
    let delegatee = key_pair(plan.seed, node, key_number);
    let expires = issued.plus_ms(plan.engines.delegation_lifetime_ms);
    let network_id = NetworkId(plan.engines.network_id);
    let delegation = Delegation::sign(account, *delegatee.public(), (issued, expires), network_id, crypto);
    Arc::new(Signer::new(delegatee, delegation))
}

fn key_pair(seed: u64, node: NodeId, number: u64) -> KeyPair {
    let words = [seed.to_le_bytes(), u64::from(node.0).to_le_bytes(), number.to_le_bytes()];
    KeyPair::from_seed(&sha256(&[b"groundhog simulated key", &words[0], &words[1], &words[2]]))
}
