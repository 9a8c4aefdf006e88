//! `streams/delivered`: what is intended once every fault has ended is dispatched by the end of the run.
//!
//! Judged are messages between two nodes that are ready, as is a relay between them, when they are intended. What a message may still be lost by is
//! what is no fault: frames lost by a link that always loses some, a caller that gives up, a typed refusal, and, on a way
//! through a relay, a window that other copies of its stream have moved on.

use super::per_node::PerNode;
use super::{Law, Setting, View};
use crate::ledger::event::{Event, LossCause};
use crate::ledger::fates::{Ending, Fates, STILL_HELD};
use crate::outcome::Violation;
use crate::plan::rest::way_us;
use crate::plan::{Act, FaultKind, Plan, Route, StoreAct};
use crate::units::{MessageId, NodeId, SimTime};
use groundhog_engine::streams::key::{Class, Table};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

/// The limit that stands for honest delegations that a wrong clock made look expired or unborn.
pub const EXPIRED_BY_CLOCK: &str = "expired-by-clock";

/// The limit that stands for what a cleared sender's stream signs below its receiver's window.
pub const CLEARED_SENDER: &str = "cleared-sender";

/// A batch that failed at the last moment takes what gathers on top of it along until it is undone: some disk operations.
const SETTLING_NS: u64 = 10_000_000;

/// The longest way of a message from its intention to its verification in quiet times, where no machine is slow.
const UNDER_WAY_NS: u64 = 1_000_000_000;

/// How many times as long as alone a message may be under way among others.
const CROWDED: u64 = 2;

/// See the module.
pub struct Delivered {
    plan: Arc<Plan>,
    /// How long a message may be under way in quiet times, as the plan's links and machines have it.
    way_ns: u64,
    fates: Fates,
    ready: PerNode<bool>,
    /// When every fault had ended, and what the last ones did was undone.
    settled: Option<SimTime>,
    due: Vec<(MessageId, NodeId, NodeId, Class)>,
    /// Messages that may have expired, or whose delegation may have ended, before they came, by the plan.
    outlived: BTreeSet<MessageId>,
    relayed: BTreeSet<(NodeId, NodeId, Class)>,
    wrong_clocks: BTreeSet<NodeId>,
    expired_by_clock: u64,
    /// Streams whose sender's record an act of the plan takes away.
    cleared: BTreeSet<(NodeId, NodeId, Class)>,
    /// Nodes whose sender's records go with their store, and whether that goes from under them.
    removed: BTreeMap<NodeId, bool>,
    cleared_senders: u64,
    /// Nodes whose disks were put back, or whose account two run: what they sign may be known already.
    put_back: BTreeSet<NodeId>,
    forked: u64,
}

impl Delivered {
    /// Its id.
    pub const ID: &'static str = "streams/delivered";
    /// What it states.
    pub const STATES: &'static str = "What is sent after quiescence with no refusal outstanding is dispatched within the bound (design section 5).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        let plan = &setting.plan;
        let relayed = plan.actions.iter().filter_map(|action| match &action.act {
            Act::Send(burst) if burst.via.is_some() || burst.route != Route::Links => {
                Some((action.node, burst.to, burst.class))
            }
            _ => None,
        });
        let put_back = plan.actions.iter().filter_map(|action| match &action.act {
            Act::PutBack(_) => Some(action.node),
            _ => None,
        });
        let stepped = plan.faults.iter().filter_map(|fault| match &fault.kind {
            FaultKind::Clock { node, .. } => Some(*node),
            _ => None,
        });
        let tolerance_ms = plan.engines.clock_tolerance_ms;
        let off = plan.nodes.iter().filter(|node| {
            node.clock.wrong_at_boot_ms != 0 || node.clock.offset_ms.unsigned_abs() > tolerance_ms
        });
        Self {
            way_ns: way_us(plan).saturating_mul(1_000 * CROWDED),
            fates: Fates::new(plan),
            ready: PerNode::default(),
            settled: None,
            due: Vec::new(),
            outlived: BTreeSet::new(),
            relayed: relayed.collect(),
            wrong_clocks: stepped.chain(off.map(|node| node.id)).collect(),
            expired_by_clock: 0,
            cleared: cleared_senders(plan),
            removed: removed_stores(plan),
            cleared_senders: 0,
            put_back: put_back.chain(super::second_runtime::nodes(plan).map(|(node, _)| node)).collect(),
            forked: 0,
            plan: Arc::clone(plan),
        }
    }

    /// How long it takes until what the last faults did is undone: on a ring, until every view has been renewed.
    fn settling_ns(&self) -> u64 {
        let passes_ns = self.plan.ring.as_ref().map_or(0, |ring| 2 * ring.maintenance_ms * 1_000_000);
        SETTLING_NS.max(passes_ns)
    }

    fn loses_always(&self, one: NodeId, other: NodeId) -> bool {
        let between = |link: &&crate::plan::LinkPlan| {
            [link.a, link.b].contains(&one) || [link.a, link.b].contains(&other)
        };
        let on_ring = self.plan.ring.as_ref().is_some_and(|ring| ring.links.loss_per_mille > 0);
        on_ring || self.plan.links.iter().filter(between).any(|link| link.loss_per_mille > 0)
    }

    /// The node that a message is to be relayed by.
    fn relay_of(&self, message: MessageId) -> Option<NodeId> {
        let place = self.plan.actions.binary_search_by_key(&message.action, |action| action.id).ok()?;
        if let Act::Send(burst) = &self.plan.actions[place].act { burst.via } else { None }
    }

    /// Whether what is signed now, or its signer's delegation, issued at its last rotation, ends before it has come.
    fn outlives_its_proofs(&self, at: SimTime, signer: NodeId) -> bool {
        let rotated = self.plan.actions.iter().rev().filter(|action| action.node == signer);
        let issued_us = rotated
            .filter(|action| matches!(action.act, Act::RotateDelegatee))
            .map(|action| action.at_us)
            .find(|at_us| at_us * 1_000 <= at.0);
        let ends_us = issued_us.unwrap_or(0) + self.plan.engines.delegation_lifetime_ms * 1_000;
        self.way_ns >= self.plan.engines.transaction_lifetime_ms * 1_000_000
            || at.0.saturating_add(self.way_ns.max(UNDER_WAY_NS)) >= ends_us * 1_000
    }

    fn is_no_fault(&mut self, message: MessageId, cause: LossCause, ends: (NodeId, NodeId, Class)) -> bool {
        let (from, to, class) = ends;
        match cause {
            LossCause::CallerGone | LossCause::Refused | LossCause::LaneFull => true,
            LossCause::DropAfterAdmission => self.plan.engines.links.mailbox_messages > 0,
            LossCause::LinkLoss => self.loses_always(from, to),
            LossCause::Verdict if self.cleared.contains(&ends) || self.removed.contains_key(&from) => {
                self.cleared_senders += 1;
                true
            }
            LossCause::FailedBatch if [from, to].iter().any(|node| self.removed.get(node) == Some(&true)) => {
                true
            }
            LossCause::Verdict if self.put_back.contains(&from) => {
                self.forked += 1;
                true
            }
            // Greedy hops pass each member once at most: a budget of one less than there are members is never spent.
            LossCause::HopBudget => self
                .plan
                .ring
                .as_ref()
                .is_some_and(|ring| usize::from(ring.hop_budget) < self.plan.nodes.len() - 1),
            LossCause::Verdict => self.relayed.contains(&(from, to, class)),
            LossCause::FailedBatch => self.plan.profile.disk_capacity_bytes > 0,
            LossCause::Unverified if self.outlived.contains(&message) => true,
            LossCause::Unverified
                if self.plan.ring.is_some() && !self.wrong_clocks.is_empty()
                    || [from, to].iter().any(|node| self.wrong_clocks.contains(node)) =>
            {
                self.expired_by_clock += 1;
                true
            }
            _ => false,
        }
    }
}

fn cleared_senders(plan: &Plan) -> BTreeSet<(NodeId, NodeId, Class)> {
    let clears = plan.faults.iter().filter_map(|fault| match &fault.kind {
        FaultKind::Store { act: StoreAct::Clear { of }, .. } if of.table == Table::Sender => Some(of),
        _ => None,
    });
    clears.map(|of| (of.origin, of.destination, of.class)).collect()
}

fn removed_stores(plan: &Plan) -> BTreeMap<NodeId, bool> {
    let mut removed = BTreeMap::new();
    for fault in &plan.faults {
        if let FaultKind::Store { node, act: StoreAct::RemoveStore, stopped_us } = fault.kind {
            *removed.entry(node).or_default() |= stopped_us == 0;
        }
    }
    removed
}

impl Law for Delivered {
    law_identity!(Outcome reads Booted, Ready, Died, Quiesced, Intended, NotSent, ReserveAnswered, Exposed, FrameSent,
        FrameLost, FrameDelivered, Relayed, Unverified, Arrived, Answered, AdmissionAbandoned, Dispatched, Link, Mail);

    fn event(&mut self, at: SimTime, event: &Event<'_>, _view: &dyn View, _broken: &mut Vec<Violation>) {
        match event {
            Event::Ready { node, .. } => *self.ready.at(*node) = true,
            Event::Died { node, .. } | Event::Booted { node, .. } => *self.ready.at(*node) = false,
            Event::Quiesced => self.settled = Some(at.plus_ns(self.settling_ns())),
            Event::Intended { message, node, to, class }
                if self.settled.is_some_and(|settled| settled <= at)
                    && *self.ready.at(*node)
                    && *self.ready.at(*to)
                    && self.relay_of(*message).is_none_or(|relay| *self.ready.at(relay)) =>
            {
                let signers = [Some(*node), self.relay_of(*message)];
                if signers.into_iter().flatten().any(|signer| self.outlives_its_proofs(at, signer)) {
                    self.outlived.insert(*message);
                }
                self.due.push((*message, *node, *to, *class));
            }
            _ => {}
        }
        // Which life a node is in is needed from the beginning; what became of messages only from quiescence on.
        if self.settled.is_some() || matches!(event, Event::Booted { .. } | Event::Died { .. }) {
            self.fates.event(event);
        }
    }

    fn limits(&self, into: &mut BTreeMap<&'static str, u64>) {
        if self.forked > 0 {
            *into.entry(super::excuses::TWO_ALLOCATORS).or_default() += self.forked;
        }
        if self.expired_by_clock > 0 {
            *into.entry(EXPIRED_BY_CLOCK).or_default() += self.expired_by_clock;
        }
        if self.cleared_senders > 0 {
            *into.entry(CLEARED_SENDER).or_default() += self.cleared_senders;
        }
    }

    fn end(&mut self, at: SimTime, _view: &dyn View, broken: &mut Vec<Violation>) {
        for (message, from, to, class) in std::mem::take(&mut self.due) {
            let lost_by = match self.fates.ending(message) {
                Ending::NotIntended | Ending::Dispatched => continue,
                Ending::Held => STILL_HELD,
                Ending::Lost(cause) if self.is_no_fault(message, cause, (from, to, class)) => continue,
                Ending::Lost(cause) => cause.id(),
                Ending::Unexplained => "no cause that was seen",
            };
            let saw = format!(
                "message {message} from {from} to {to} in {class}, intended after every fault had ended, was lost: {lost_by}"
            );
            broken.push(Violation { law: Self::ID, at, node: Some(to), saw });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{Ledger, message, plan_of_a_burst, transaction};
    use groundhog_engine::streams::window::VerdictKind;

    fn after_quiescence(ending: impl FnOnce(&mut Ledger<Delivered>)) -> Vec<String> {
        of_plan(plan_of_a_burst(1, 3, 3), ending)
    }

    fn of_plan(plan: Plan, ending: impl FnOnce(&mut Ledger<Delivered>)) -> Vec<String> {
        let mut ledger = Ledger::over(Delivered::new(&Ledger::setting_of(plan)));
        ledger.restarted(1);
        ledger.restarted(3);
        let (node, to, class) = (NodeId(1), NodeId(3), Class::Application);
        ledger.event(&Event::Intended { message: message(0), node, to, class });
        ledger.event(&Event::Quiesced);
        ledger.event(&Event::Intended { message: message(2), node, to, class });
        ledger.wait_us(SETTLING_NS / 1_000);
        ledger.event(&Event::Intended { message: message(1), node, to, class });
        ending(&mut ledger);
        ledger.finish()
    }

    #[test]
    fn a_message_of_quiet_times_is_dispatched_or_lost_by_no_fault() {
        let sent = transaction(1, 3, 0, 1);
        let dispatched = |ledger: &mut Ledger<Delivered>| {
            let (message, node, life) = (Some(message(1)), NodeId(3), ledger.life(3));
            let verdict = VerdictKind::First;
            ledger.event(&Event::Dispatched {
                message,
                node,
                life,
                transaction: &sent,
                verdict,
                intended_ns: 0,
                sent_ns: 0,
            });
        };
        assert_eq!(after_quiescence(dispatched), Vec::<String>::new());
        let not_sent = |cause| {
            move |ledger: &mut Ledger<Delivered>| {
                ledger.event(&Event::NotSent { message: message(1), node: NodeId(1), cause });
            }
        };
        assert_eq!(after_quiescence(not_sent(LossCause::CallerGone)), Vec::<String>::new());
        assert_eq!(after_quiescence(not_sent(LossCause::FailedBatch)).len(), 1);
        assert_eq!(after_quiescence(not_sent(LossCause::Unverified)).len(), 1);
        let saw = after_quiescence(|_| ());
        assert_eq!(saw.len(), 1, "messages of before quiescence, or at once after it, are not judged");
        assert!(saw[0].starts_with("message 0#1 from node 1 to node 3 in application"), "{saw:?}");
    }

    #[test]
    fn a_delegation_that_ends_while_a_message_is_under_way_is_no_fault() {
        for (lifetime_ms, breaks) in [(900, 0), (5_000, 1)] {
            let mut plan = plan_of_a_burst(1, 3, 3);
            plan.engines.delegation_lifetime_ms = lifetime_ms;
            let unverified = |ledger: &mut Ledger<Delivered>| {
                let cause = LossCause::Unverified;
                ledger.event(&Event::NotSent { message: message(1), node: NodeId(1), cause });
            };
            assert_eq!(of_plan(plan, unverified).len(), breaks, "{lifetime_ms}");
        }
    }
}
