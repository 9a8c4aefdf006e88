//! Names that people read: a transaction as `node 1->node 3/application#41`.
//!
//! Promise: naming costs nothing until a law is broken.

use crate::ledger::event::Transaction;
use crate::units::NodeId;
use groundhog_engine::identity::Did;
use groundhog_engine::streams::key::StreamKey;
use rustc_hash::FxHashMap;
use std::sync::Arc;

/// Which account is which node's. Cheap to clone; one a run.
#[derive(Clone, Debug, Default)]
pub struct Names(Arc<FxHashMap<Did, NodeId>>);

impl Names {
    /// The accounts of a run's nodes.
    pub fn new(accounts: impl IntoIterator<Item = (NodeId, Did)>) -> Self {
        Self(Arc::new(accounts.into_iter().map(|(node, did)| (did, node)).collect()))
    }

    /// The node of an account; `None` for a stranger.
    #[must_use]
    pub fn node(&self, did: &Did) -> Option<NodeId> {
        self.0.get(did).copied()
    }

    /// The account of a node.
    #[must_use]
    pub fn did(&self, node: NodeId) -> Option<Did> {
        self.0.iter().find(|(_, of)| **of == node).map(|(did, _)| *did)
    }

    /// A stream in words.
    #[must_use]
    pub fn stream(&self, stream: &StreamKey) -> String {
        format!("{}->{}/{}", self.account(&stream.origin), self.account(&stream.destination), stream.class)
    }

    /// A transaction in words.
    #[must_use]
    pub fn transaction(&self, transaction: &Transaction) -> String {
        format!("{}#{}", self.stream(&transaction.stream), transaction.sequence)
    }

    fn account(&self, did: &Did) -> String {
        self.node(did).map_or_else(|| did.short(), |node| node.to_string())
    }
}

/// The first half of a transaction's digest: enough to tell any two apart (2^-64 at four thousand million of them).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct DigestKey(u64, u64);

impl DigestKey {
    /// Of a whole digest.
    #[must_use]
    #[inline]
    pub fn of(digest: &[u8; 32]) -> Self {
        let word = |from: usize| u64::from_le_bytes(digest[from..from + 8].try_into().expect("eight bytes"));
        Self(word(0), word(8))
    }

    /// A quarter of the digest, never 0: enough where only digests at one place of one stream are compared.
    #[must_use]
    #[inline]
    pub fn word(digest: &[u8; 32]) -> u64 {
        Self::of(digest).0.max(1)
    }
}
