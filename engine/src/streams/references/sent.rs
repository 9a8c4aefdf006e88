//! What a sender may refer to.

use super::{Answer, DelegationDigest, LEASE_NS, SENT_MAX, Slot};
use crate::identity::delegation::Delegation;
use crate::units::MonotonicNs;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;

#[derive(Clone, Copy, Debug)]
struct Sent {
    digest: DelegationDigest,
    last_sent: MonotonicNs,
    /// The latest stamp that came back.
    lease_from: Option<MonotonicNs>,
}

/// How delegations were sent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct SenderCounters {
    /// As digests.
    pub referenced: u64,
    /// Inline.
    pub inlined: u64,
    /// Answers that a delegation is not kept.
    pub disclaimed: u64,
}

/// The sender's side of one direction of one connection. Of more delegations than it has places for the one sent longest
/// ago is forgotten, and travels inline when it is sent again.
#[derive(Debug)]
pub struct SentReferences {
    table: IndexMap<Delegation, Sent, FxBuildHasher>,
    capacity: usize,
    counters: SenderCounters,
}

impl Default for SentReferences {
    fn default() -> Self {
        Self::new(SENT_MAX)
    }
}

impl SentReferences {
    /// A sender that refers to so many delegations at most.
    #[must_use]
    pub fn new(capacity: usize) -> Self {
        Self { table: IndexMap::default(), capacity, counters: SenderCounters::default() }
    }

    /// What to put where `delegation` belongs in a frame that is sent at `now`.
    pub fn slot(&mut self, delegation: &Delegation, now: MonotonicNs) -> Slot {
        let sent = match self.table.get_mut(delegation) {
            Some(sent) => sent,
            None => self.begin(delegation, now),
        };
        sent.last_sent = now;
        if sent.lease_from.is_some_and(|stamp| now.0.saturating_sub(stamp.0) <= LEASE_NS) {
            let digest = sent.digest;
            self.counters.referenced += 1;
            return Slot::Reference(digest);
        }
        self.counters.inlined += 1;
        Slot::Inline { delegation: *delegation, stamp: now }
    }

    fn begin(&mut self, delegation: &Delegation, now: MonotonicNs) -> &mut Sent {
        if self.table.len() == self.capacity {
            let oldest =
                self.table.values().enumerate().min_by_key(|(_, sent)| (sent.last_sent, sent.digest));
            let (oldest, _) = oldest.expect("a full table holds something");
            self.table.swap_remove_index(oldest);
        }
        let digest = DelegationDigest::of(delegation);
        self.table.entry(*delegation).or_insert(Sent { digest, last_sent: now, lease_from: None })
    }

    /// What the receiver said at some time before `now`. A stamp that this sender cannot have sent is no answer of its.
    pub fn answered(&mut self, answer: &Answer, now: MonotonicNs) {
        let (Answer::Known { digest, .. } | Answer::Disclaimed { digest }) = answer;
        let Some(sent) = self.table.values_mut().find(|sent| sent.digest == *digest) else { return };
        match answer {
            Answer::Known { stamp, .. } if *stamp <= now => {
                sent.lease_from = sent.lease_from.max(Some(*stamp))
            }
            Answer::Known { .. } => {}
            Answer::Disclaimed { .. } => {
                self.counters.disclaimed += 1;
                sent.lease_from = None;
            }
        }
    }

    /// What was counted since the connection began.
    #[must_use]
    pub const fn counters(&self) -> &SenderCounters {
        &self.counters
    }

    /// How many delegations are remembered.
    #[must_use]
    pub fn len(&self) -> usize {
        self.table.len()
    }

    /// Whether none is.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.table.is_empty()
    }
}
