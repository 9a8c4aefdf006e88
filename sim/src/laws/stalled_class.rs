//! `streams/stalled-class`: a stalled handler or channel holds only the class that it is pinned to.
//!
//! Judged are messages sent straight to their destination while such a stall is on between the two, in a class of another
//! channel, with no other fault on and none within the bound before. They are dispatched within the bound, which follows from the
//! plan: the way there, and every frame that can be in flight to one node worked off ahead of it, twice.

use super::{Law, Setting, View};
use crate::ledger::event::{Answer, Event};
use crate::outcome::Violation;
use crate::plan::{Act, ClockFault, FaultKind, LinkFault, Plan, Route};
use crate::units::{ActionId, FaultId, MessageId, NodeId, SimTime};
use groundhog_engine::streams::key::Class;
use indexmap::IndexMap;
use rustc_hash::{FxBuildHasher, FxHashMap, FxHashSet};
use std::collections::BTreeSet;
use std::sync::Arc;

/// Frames in flight of one link: four lanes of eight.
const IN_FLIGHT_OF_A_LINK: u64 = 32;

/// Signatures verified for one frame: the transaction's, the hop's, and a delegation for each.
const VERIFICATIONS_OF_A_FRAME: u64 = 4;

/// Bytes of a frame beside its data.
const FRAME_OVERHEAD_BYTES: u64 = 1_024;

struct Sent {
    at: SimTime,
    from: NodeId,
    to: NodeId,
    class: Class,
}

/// See the module.
pub struct StalledClass {
    plan: Arc<Plan>,
    bound_ns: u64,
    relayed: FxHashSet<ActionId>,
    channels: FxHashMap<(NodeId, NodeId), usize>,
    stalls: Vec<(FaultId, FaultKind)>,
    others: BTreeSet<FaultId>,
    quiet_since: SimTime,
    sent: IndexMap<MessageId, Sent, FxBuildHasher>,
}

impl StalledClass {
    /// Its id.
    pub const ID: &'static str = "streams/stalled-class";
    /// What it states.
    pub const STATES: &'static str = "A receive handler stalled on one channel holds only that channel's class (000, Stream and transcript).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        let relayed = setting.plan.actions.iter().filter_map(|action| match &action.act {
            Act::Send(burst) if burst.via.is_some() || burst.route != Route::Links => Some(action.id),
            _ => None,
        });
        Self {
            relayed: relayed.collect(),
            bound_ns: bound_ns(&setting.plan),
            channels: setting
                .plan
                .links
                .iter()
                .map(|link| ((link.a, link.b), usize::from(link.channels)))
                .collect(),
            stalls: Vec::new(),
            others: BTreeSet::new(),
            quiet_since: SimTime(0),
            sent: IndexMap::default(),
            plan: Arc::clone(&setting.plan),
        }
    }

    fn kind(&self, id: FaultId) -> Option<&FaultKind> {
        self.plan.faults.iter().find(|fault| fault.id == id).map(|fault| &fault.kind)
    }

    /// Whether a stall that is on lies between the two, and none of those holds the class.
    fn is_beside_a_stall(&self, from: NodeId, to: NodeId, class: Class) -> bool {
        let Some(&channels) = self.channels.get(&(from.min(to), from.max(to))) else { return false };
        let held = |kind: &FaultKind| match kind {
            FaultKind::StallHandler { node, class: held } if *node == to => Some(held.index() % channels),
            FaultKind::Link {
                from: one,
                to: other,
                one_way,
                fault: LinkFault::StallChannel { channel } | LinkFault::StallReceiver { channel },
            } => {
                let there = (*one, *other) == (from, to) || (!one_way && (*other, *one) == (from, to));
                there.then_some(usize::from(*channel))
            }
            _ => None,
        };
        let mut beside = false;
        for (_, kind) in &self.stalls {
            match held(kind) {
                Some(channel) if channel == class.index() % channels => return false,
                Some(_) => beside = true,
                None => {}
            }
        }
        beside
    }

    fn disturbed(&mut self, at: SimTime) {
        self.quiet_since = at;
        self.sent.clear();
    }

    fn late(&self, at: SimTime, message: MessageId, sent: &Sent, broken: &mut Vec<Violation>) {
        let waited_ns = at.0 - sent.at.0;
        if waited_ns > self.bound_ns {
            let Sent { from, to, class, .. } = sent;
            let saw = format!(
                "message {message} from {from} to {to} in {class} took over {} ms while another channel was stalled, at most {} ms is due",
                waited_ns / 1_000_000,
                self.bound_ns / 1_000_000
            );
            broken.push(Violation { law: Self::ID, at, node: Some(*to), saw });
        }
    }

    fn arrived(&mut self, at: SimTime, message: Option<MessageId>, broken: &mut Vec<Violation>) {
        if self.sent.is_empty() {
            return;
        }
        if let Some((message, sent)) = message.and_then(|message| self.sent.swap_remove_entry(&message)) {
            self.late(at, message, &sent, broken);
        }
    }

    fn gone(&mut self, message: Option<MessageId>) {
        if let Some(message) = message.filter(|_| !self.sent.is_empty()) {
            self.sent.swap_remove(&message);
        }
    }

    fn ended(&mut self, at: SimTime, fault: FaultId, broken: &mut Vec<Violation>) {
        if self.others.remove(&fault) {
            self.disturbed(at);
        }
        if let Some(place) = self.stalls.iter().position(|(stall, _)| *stall == fault) {
            let sent = std::mem::take(&mut self.sent);
            sent.iter().for_each(|(message, sent)| self.late(at, *message, sent, broken));
            self.stalls.swap_remove(place);
        }
    }
}

impl Law for StalledClass {
    law_identity!(Outcome reads FaultBegan, FaultEnded, Died, Ready, FrameSent, FrameLost, Unverified, Answered,
        AdmissionAbandoned, Dispatched);

    fn event(&mut self, at: SimTime, event: &Event<'_>, _view: &dyn View, broken: &mut Vec<Violation>) {
        match event {
            Event::FaultBegan { fault } => match self.kind(*fault) {
                Some(
                    kind @ (FaultKind::StallHandler { .. }
                    | FaultKind::Link {
                        fault: LinkFault::StallChannel { .. } | LinkFault::StallReceiver { .. },
                        ..
                    }),
                ) => {
                    let kind = kind.clone();
                    self.stalls.push((*fault, kind));
                    // One that holds a message under way is no stall beside it.
                    let mut sent = std::mem::take(&mut self.sent);
                    sent.retain(|_, sent| self.is_beside_a_stall(sent.from, sent.to, sent.class));
                    self.sent = sent;
                }
                // These are over at once; what follows from them is another event.
                Some(
                    FaultKind::Crash { .. }
                    | FaultKind::Clock {
                        fault: ClockFault::Step { .. } | ClockFault::BehindAtBoot { .. }, ..
                    },
                )
                | None => self.disturbed(at),
                Some(_) => {
                    self.others.insert(*fault);
                    self.disturbed(at);
                }
            },
            Event::FaultEnded { fault } => self.ended(at, *fault, broken),
            Event::Died { .. } | Event::Ready { .. } => self.disturbed(at),
            Event::FrameSent { message: Some(message), copy: 0, from, to, class, .. } => {
                let quiet = self.others.is_empty() && at >= self.quiet_since.plus_ns(self.bound_ns);
                if !self.stalls.is_empty()
                    && quiet
                    && !self.relayed.contains(&message.action)
                    && self.is_beside_a_stall(*from, *to, *class)
                {
                    self.sent.insert(*message, Sent { at, from: *from, to: *to, class: *class });
                }
            }
            Event::Dispatched { message, .. } => self.arrived(at, *message, broken),
            Event::Answered { answer: Answer::Verdict(verdict), .. } if verdict.dispatches() => {}
            Event::FrameLost { message, .. }
            | Event::Unverified { message, .. }
            | Event::Answered { message, .. }
            | Event::AdmissionAbandoned { message, .. } => self.gone(*message),
            _ => {}
        }
    }

    fn end(&mut self, at: SimTime, _view: &dyn View, broken: &mut Vec<Violation>) {
        for (message, sent) in std::mem::take(&mut self.sent) {
            self.late(at, message, &sent, broken);
        }
    }
}

fn bound_ns(plan: &Plan) -> u64 {
    let links =
        |node: NodeId| plan.links.iter().filter(move |link| link.a == node || link.b == node).count() as u64;
    let most_links = plan.nodes.iter().map(|node| links(node.id)).max().unwrap_or(0).max(1);
    let in_flight = most_links * IN_FLIGHT_OF_A_LINK;
    let bytes = plan.actions.iter().map(|action| match &action.act {
        Act::Send(burst) => u64::from(burst.bytes),
        Act::Flood(flood) => u64::from(flood.bytes),
        _ => 0,
    });
    let frame_bytes = bytes.max().unwrap_or(0) + FRAME_OVERHEAD_BYTES;
    let way_us = plan.links.iter().map(|link| link.latency_us + link.jitter_us).max().unwrap_or(0);
    let wire = plan
        .links
        .iter()
        .filter(|link| link.bandwidth_bytes_per_s > 0)
        .map(|link| IN_FLIGHT_OF_A_LINK * frame_bytes * 1_000_000_000 / link.bandwidth_bytes_per_s);
    let disk = &plan.profile.disk_latency;
    let blocks = frame_bytes.div_ceil(4_096);
    let record_ns = 4 * disk.metadata_ns + blocks * disk.transfer_ns + disk.flush_ns;
    let batch_ns = in_flight * record_ns + disk.flush_directory_ns;
    let batch_ns = batch_ns + batch_ns * u64::from(disk.jitter_per_mille) / 1_000;
    let costs = &plan.profile.costs;
    let work_ns = VERIFICATIONS_OF_A_FRAME * costs.verification_ns
        + frame_bytes.div_ceil(1_024) * (2 * costs.hash_kib_ns + costs.code_kib_ns)
        + costs.handler_ns;
    2 * (1_000 * way_us + wire.max().unwrap_or(0) + 2 * batch_ns + in_flight * work_ns)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{Ledger, message, plan_of_a_burst, transaction};
    use crate::plan::{Fault, LinkPlan, When};
    use crate::units::{FrameNumber, Life};
    use groundhog_engine::streams::window::VerdictKind;

    /// Control of node 3 is stalled; its other faults are a slow processor and a stall of another class.
    fn setting() -> Setting {
        let mut plan = plan_of_a_burst(1, 3, 9);
        let (latency_us, jitter_us) = (1_000, 0);
        let (loss_per_mille, duplicate_per_mille, bandwidth_bytes_per_s) = (0, 0, 0);
        let (a, b, channels, ordered) = (NodeId(1), NodeId(3), 4, true);
        plan.links.push(LinkPlan {
            a,
            b,
            latency_us,
            jitter_us,
            bandwidth_bytes_per_s,
            channels,
            ordered,
            loss_per_mille,
            duplicate_per_mille,
        });
        let kinds = [
            FaultKind::StallHandler { node: NodeId(3), class: Class::Control },
            FaultKind::SlowProcessor { node: NodeId(3), factor: 2 },
            FaultKind::StallHandler { node: NodeId(3), class: Class::E2e },
        ];
        for (kind, id) in kinds.into_iter().zip(0..) {
            plan.faults.push(Fault { id: FaultId(id), at: When::Time { us: 0 }, until_us: Some(1), kind });
        }
        Ledger::setting_of(plan)
    }

    fn took(class: Class, wait_us: u64, other_fault: Option<FaultId>, dispatched: bool) -> Vec<String> {
        let mut ledger = Ledger::over(StalledClass::new(&setting()));
        ledger.wait_us(1_000_000);
        ledger.event(&Event::FaultBegan { fault: FaultId(0) });
        let (frame, message, bytes) = (FrameNumber(0), Some(message(0)), 100);
        let (from, to, copy, channel) = (NodeId(1), NodeId(3), 0, 0);
        ledger.event(&Event::FrameSent { frame, message, copy, from, to, class, channel, bytes });
        if let Some(fault) = other_fault {
            ledger.event(&Event::FaultBegan { fault });
        }
        ledger.wait_us(wait_us);
        let sent = transaction(1, 3, 0, 1);
        let (node, life, verdict) = (to, Life(0), VerdictKind::First);
        if dispatched {
            ledger.event(&Event::Dispatched {
                message,
                node,
                life,
                transaction: &sent,
                verdict,
                intended_ns: 0,
                sent_ns: 0,
            });
        }
        ledger.event(&Event::FaultEnded { fault: FaultId(0) });
        ledger.finish()
    }

    #[test]
    fn classes_beside_a_stalled_one_are_dispatched_within_the_bound() {
        assert_eq!(took(Class::E2e, 5_000, None, true), Vec::<String>::new());
        for dispatched in [true, false] {
            let saw = took(Class::E2e, 500_000, None, dispatched);
            assert!(saw.len() == 1 && saw[0].contains("in e2e took over 500 ms"), "{saw:?}");
        }
        assert_eq!(
            took(Class::Control, 500_000, None, true),
            Vec::<String>::new(),
            "the stalled class itself"
        );
        for (other, why) in
            [(1, "another fault is on"), (2, "its own class is stalled while it is under way")]
        {
            let saw = took(Class::E2e, 500_000, Some(FaultId(other)), true);
            assert_eq!(saw, Vec::<String>::new(), "{why}");
        }
    }
}
