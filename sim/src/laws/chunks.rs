//! `streams/chunks`: of a message that is cut into pieces exactly the bytes sent are dispatched, once, or nothing; and what
//! waits for pieces stays within its bounds.

use super::names::{DigestKey, Names};
use super::{Law, Setting, View};
use crate::ledger::event::Event;
use crate::ledger::kind::{EventKind, EventMask};
use crate::ledger::link_event::LinkEvent;
use crate::outcome::Violation;
use crate::plan::ChunksPlan;
use crate::units::{MessageId, NodeId, SimTime};
use rustc_hash::FxHashMap;

/// See the module.
pub struct Chunks {
    names: Names,
    plan: Option<ChunksPlan>,
    has_link_windows: bool,
    /// Links of each node: each peer may have so many messages wait.
    peers: FxHashMap<NodeId, u32>,
    exposed: FxHashMap<MessageId, DigestKey>,
    dispatched: FxHashMap<(MessageId, NodeId), SimTime>,
}

impl Chunks {
    /// Its id.
    pub const ID: &'static str = "streams/chunks";
    /// What it states.
    pub const STATES: &'static str = "Chunk envelopes advance no replay state; what was put together is the original logical transaction, \
         admitted once, in bounded memory (000, Receiver state machine; facts 11.2).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        let mut peers = FxHashMap::default();
        for end in setting.plan.links.iter().flat_map(|link| [link.a, link.b]) {
            *peers.entry(end).or_default() += 1;
        }
        Self {
            names: setting.names.clone(),
            plan: setting.plan.engines.links.chunks,
            has_link_windows: setting.plan.engines.links.namespace.is_some(),
            peers,
            exposed: FxHashMap::default(),
            dispatched: FxHashMap::default(),
        }
    }

    fn reads_now(&self) -> EventMask {
        match self.plan {
            None => EventMask::of(&[EventKind::Quiesced]),
            Some(_) => EventMask::of(&[EventKind::Exposed, EventKind::Dispatched, EventKind::Link]),
        }
    }

    fn waits(&self, node: NodeId, cost_bytes: u64, pending: u32) -> Option<String> {
        let plan = self.plan?;
        if cost_bytes > plan.cost_bytes {
            return Some(format!(
                "{node} keeps pieces that cost {cost_bytes} bytes, and {} is the bound",
                plan.cost_bytes
            ));
        }
        let most = plan.pending_messages.saturating_mul(self.peers.get(&node).copied().unwrap_or(0));
        let saw =
            || format!("{node} keeps pieces of {pending} messages, and {most} is the bound for its peers");
        (pending > most).then(saw)
    }
}

impl Law for Chunks {
    law_identity!(Outcome reads by reads_now);

    fn event(&mut self, at: SimTime, event: &Event<'_>, _view: &dyn View, broken: &mut Vec<Violation>) {
        let (node, saw) = match *event {
            Event::Exposed { message, transaction, .. } => {
                self.exposed.entry(message).or_insert_with(|| DigestKey::of(&transaction.digest));
                return;
            }
            Event::Dispatched { message: Some(message), node, transaction, .. } => {
                let named = || self.names.transaction(transaction);
                let digest = DigestKey::of(&transaction.digest);
                let sent = self.exposed.get(&message).is_none_or(|exposed| *exposed == digest);
                let again = self.dispatched.insert((message, node), at);
                let saw = match again {
                    // Where connections have windows of their own, a message may pass once through each.
                    Some(before) if !self.has_link_windows => {
                        Some(format!("{node} dispatched message {message} twice (t={before}, t={at})"))
                    }
                    _ if !sent => Some(format!("{node} dispatched {}, which is not what was sent", named())),
                    _ => None,
                };
                (node, saw)
            }
            Event::Link { node, event: LinkEvent::Chunk { cost_bytes, pending, .. }, .. } => {
                (node, self.waits(node, cost_bytes, pending))
            }
            _ => return,
        };
        if let Some(saw) = saw {
            broken.push(Violation { law: Self::ID, at, node: Some(node), saw });
        }
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{Ledger, message, transaction};
    use crate::units::Life;
    use groundhog_engine::streams::window::VerdictKind;

    fn ledger() -> Ledger<Chunks> {
        let mut plan = Ledger::plan();
        plan.engines.links.chunks = Some(ChunksPlan {
            chunk_bytes: 1_024,
            pending_messages: 2,
            cost_bytes: 5_000,
            peer_cost_bytes: 5_000,
            tombstones: 1,
        });
        let mut law = Chunks::new(&Ledger::setting_of(plan));
        law.peers.insert(NodeId(3), 2);
        Ledger::over(law)
    }

    /// A message of this digest is exposed, and these digests are dispatched for it.
    fn dispatched(digests: &[u8]) -> usize {
        let mut ledger = ledger();
        let (node, life, verdict) = (NodeId(3), Life(0), VerdictKind::First);
        let sent = transaction(1, 3, 41, 7);
        ledger.event(&Event::Exposed { message: message(0), node: NodeId(1), life, transaction: &sent });
        for digest in digests {
            let transaction = &transaction(1, 3, 41, *digest);
            let (message, intended_ns, sent_ns) = (Some(message(0)), 0, 0);
            ledger.event(&Event::Dispatched {
                message,
                node,
                life,
                transaction,
                verdict,
                intended_ns,
                sent_ns,
            });
        }
        ledger.finish().len()
    }

    #[test]
    fn exactly_what_was_sent_is_dispatched_and_once() {
        assert_eq!((dispatched(&[]), dispatched(&[7]), dispatched(&[7, 7]), dispatched(&[8])), (0, 0, 1, 1));
    }

    #[test]
    fn what_waits_stays_within_its_bounds() {
        let waits = |cost_bytes, pending| {
            let mut ledger = ledger();
            let (message, outcome, expired, overflowed) = (None, "waits", 0, 0);
            let event = LinkEvent::Chunk { message, outcome, cost_bytes, pending, expired, overflowed };
            ledger.event(&Event::Link { node: NodeId(3), life: Life(0), event });
            ledger.finish().len()
        };
        assert_eq!((waits(5_000, 4), waits(5_001, 4), waits(5_000, 5)), (0, 1, 1));
    }
}
