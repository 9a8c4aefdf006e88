//! Counts marks as events pass.
//!
//! Promise: a mark is counted from events alone (one looks at the store too), once for each time that its sentence comes
//! true. The phase of a death is that of the batch in flight, as [`super::batches`] defines phases: where a batch waits for
//! its release while the next is being written, both are counted, and a batch that holds records of both tables counts for
//! both roles.

use super::allocator_marks::AllocatorMarks;
use super::batches::{Batches, FailedBatch};
use super::event::{Answer, Event, LossCause, MailStep};
use super::fates::Fates;
use super::link_marks::LinkMarks;
use super::marks::{DELEGATION_EXPIRED, MARKS, Mark, death_mark};
use super::slot_marks::SlotMarks;
use super::store_marks::StoreMarks;
use crate::laws::{RecordImage, View};
use crate::plan::{ClockFault, Death, FaultKind, LinkFault, Plan};
use crate::units::{FaultId, Life, NodeId, SimTime};
use groundhog_engine::host::observe::{CustodyChange, CustodyStall, EngineEvent, RecordName, Roles, Step};
use groundhog_engine::streams::key::{Class, StreamKey};
use groundhog_engine::streams::record::Introducer;
use groundhog_engine::streams::slots::CapacityBound;
use groundhog_engine::streams::window::VerdictKind;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::collections::BTreeMap;

/// One node's state that marks depend on.
#[derive(Clone, Copy, Debug, Default)]
struct NodeState {
    ready: bool,
    wrong_at_boot: bool,
    /// Whether this life's boot clock still waits for its correction.
    boot_clock_wrong: bool,
    last_boot_wall: Option<u64>,
    clock_fault_at: Option<SimTime>,
    stalled: [bool; 4],
    left: bool,
    /// Dispatched and not handled, by class.
    in_hand: [u32; 4],
    /// Dispatched out of the relay inbox in this life, and not taken.
    untaken: u32,
}

const fn stall_mark(stall: CustodyStall) -> Mark {
    match stall {
        CustodyStall::Full { .. } => Mark::CustodyFull,
        CustodyStall::Refused { .. } => Mark::CustodyRefused,
        CustodyStall::Over => Mark::CustodyOver,
    }
}

/// What a fault does to the marks while it lasts.
#[derive(Clone, Copy, Debug)]
enum Lasting {
    StalledHandler(NodeId, Class),
    StalledChannel { from: NodeId, to: NodeId, one_way: bool, channel: u8 },
    Clock(NodeId),
}

/// Counts marks.
pub struct Marks {
    counts: [u64; MARKS.len()],
    nodes: Vec<NodeState>,
    lasting: BTreeMap<FaultId, Lasting>,
    /// Channels that are stalled now, with the ends.
    stalled_channels: Vec<(FaultId, NodeId, NodeId, bool, u8)>,
    /// Frames in flight that were sent beside a stalled channel.
    beside_stall: IndexMap<u64, (), FxBuildHasher>,
    /// Highest admitted sequence of each stream of each receiver.
    highest: IndexMap<(NodeId, RecordName), u64, FxBuildHasher>,
    links: LinkMarks,
    /// Last exposed sequence of each stream, and the life that exposed it.
    exposed: IndexMap<StreamKey, (u64, Life), FxBuildHasher>,
    slots: SlotMarks,
    stores: StoreMarks,
    allocators: AllocatorMarks,
}

impl Marks {
    /// For one run of `plan`.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let node = |wrong_at_boot_ms: i64| NodeState {
            wrong_at_boot: wrong_at_boot_ms != 0,
            ..NodeState::default()
        };
        let lasting = plan.faults.iter().filter_map(|fault| {
            let lasting = match fault.kind {
                FaultKind::StallHandler { node, class } => Lasting::StalledHandler(node, class),
                FaultKind::Link {
                    from,
                    to,
                    one_way,
                    fault: LinkFault::StallChannel { channel } | LinkFault::StallReceiver { channel },
                } => Lasting::StalledChannel { from, to, one_way, channel },
                FaultKind::Clock { node, fault: ClockFault::Step { .. } | ClockFault::Freeze } => {
                    Lasting::Clock(node)
                }
                _ => return None,
            };
            Some((fault.id, lasting))
        });
        Self {
            counts: [0; MARKS.len()],
            nodes: plan.nodes.iter().map(|plan| node(plan.clock.wrong_at_boot_ms)).collect(),
            lasting: lasting.collect(),
            stalled_channels: Vec::new(),
            beside_stall: IndexMap::default(),
            highest: IndexMap::default(),
            exposed: IndexMap::default(),
            links: LinkMarks::new(plan),
            slots: SlotMarks::new(plan),
            stores: StoreMarks::new(plan),
            allocators: AllocatorMarks::new(plan),
        }
    }

    /// How often each mark was reached; marks never reached are absent.
    #[must_use]
    pub fn reached(&self) -> BTreeMap<&'static str, u64> {
        let reached = MARKS.iter().zip(self.counts).filter(|(_, count)| *count > 0);
        reached.map(|(mark, count)| (mark.id, count)).collect()
    }

    /// A batch failed; the store is looked at as it is after the failure.
    pub fn failed(&mut self, node: NodeId, failed: FailedBatch<'_>, view: &dyn View) {
        self.count_if(failed.gathering_on_top, Mark::FailedWithAnother);
        let landed = failed.records.iter().any(|record| {
            let image = view.visible_image(node, *record);
            matches!(image, RecordImage::Whole { generation, .. } if generation == failed.batch.0)
        });
        self.count_if(landed, Mark::FailedBatchLanded);
    }

    /// Reads one event, before `batches` and `fates` read it; `reordered` says that it delivers a frame out of order.
    #[inline]
    pub fn event(
        &mut self,
        at: SimTime,
        event: &Event<'_>,
        batches: &Batches,
        fates: &Fates,
        reordered: bool,
    ) {
        let Self { links, stores, counts, .. } = self;
        links.event(event, &mut |mark| counts[mark as usize] += 1);
        stores.event(event, &mut |mark| counts[mark as usize] += 1);
        if let Some(mark) = self.slots.event(event) {
            self.count_if(true, mark);
        }
        if let Some(mark) = self.allocators.event(event) {
            self.count_if(true, mark);
        }
        match *event {
            Event::Booted { node, wall, .. } => self.booted(node, wall.0),
            Event::Ready { node, .. } => self.with_node(node, |node| node.ready = true),
            Event::Died { node, death, .. } => self.died(node, death, batches),
            Event::ClockSet { node, from, to } => self.clock_set(at, node, from.0, to.0),
            Event::FaultBegan { fault } => self.fault_began(at, fault),
            Event::FaultEnded { fault } => self.fault_ended(at, fault),
            Event::Exposed { life, transaction, .. } => {
                self.exposed(life, &transaction.stream, transaction.sequence.0)
            }
            Event::FrameSent { frame, from, to, channel, .. } if self.beside_stalled(from, to, channel) => {
                self.beside_stall.insert(frame.0, ());
            }
            Event::FrameLost { frame, .. } => {
                self.beside_stall.swap_remove(&frame.0);
            }
            Event::FrameDelivered { frame, .. } => {
                self.count_if(reordered, Mark::FrameReordered);
                let beside =
                    !self.beside_stall.is_empty() && self.beside_stall.swap_remove(&frame.0).is_some();
                self.count_if(beside && !self.stalled_channels.is_empty(), Mark::StalledChannelPassed);
            }
            Event::Unverified { reason, .. } => {
                self.count_if(reason == DELEGATION_EXPIRED, Mark::DelegationExpired);
            }
            Event::Answered {
                message,
                node,
                life,
                transaction,
                record,
                passage,
                answer: Answer::Verdict(verdict),
                ..
            } => {
                self.classified(node, record, transaction.sequence.0, verdict);
                if passage.is_from_inbox() && verdict.admits() {
                    self.with_node(node, |node| node.untaken += 1);
                }
                if verdict == VerdictKind::Replay {
                    let by = message.and_then(|message| fates.dispatched_by(message));
                    self.count_if(
                        by.is_some_and(|(place, earlier)| place == node && earlier < life),
                        Mark::ReplayAfterRestart,
                    );
                }
            }
            Event::Dispatched { node, transaction, .. } => {
                let class = transaction.stream.class.index();
                self.with_node(node, |node| node.in_hand[class] += 1);
            }
            Event::Handled { node, class, .. } => self.handled(node, class),
            Event::Mail { node, step: MailStep::Taken | MailStep::NotTaken { .. }, .. } => {
                self.with_node(node, |node| node.untaken = node.untaken.saturating_sub(1));
            }
            Event::Engine {
                event: EngineEvent::BoundMet { bound: CapacityBound::Inbox { .. }, .. }, ..
            } => {
                self.count_if(true, Mark::InboxShareMet);
            }
            Event::Engine { event: EngineEvent::CustodyStall { stall, .. }, .. } => {
                self.count_if(true, stall_mark(stall))
            }
            Event::Engine {
                event: EngineEvent::Custody { change: CustodyChange::Expired { .. }, .. },
                ..
            } => {
                self.count_if(true, Mark::CustodyExpired);
            }
            Event::Joined { .. }
            | Event::Left { .. }
            | Event::ConnectionRetired { .. }
            | Event::Routed { .. }
            | Event::HandedOff { .. }
            | Event::Relayed { message: None, .. }
            | Event::Arrived { .. }
            | Event::NotSent { .. } => self.on_ring(event),
            Event::Engine { event: EngineEvent::Retired { .. }, .. } => {
                self.count_if(true, Mark::StreamRetired)
            }
            Event::Engine { event: EngineEvent::Step { step, .. }, .. } => {
                self.count_if(step == Step::OpenMarked, Mark::OpenMarked);
                self.count_if(step == Step::OpenTemporaryRemoved, Mark::OpenRemovedTemporary);
            }
            _ => {}
        }
    }

    fn on_ring(&mut self, event: &Event<'_>) {
        match *event {
            Event::Joined { node } => {
                let left =
                    self.nodes.get_mut(node.index()).is_some_and(|node| std::mem::take(&mut node.left));
                self.count_if(left, Mark::Rejoined);
            }
            Event::Left { node, hand_off, .. } => {
                self.with_node(node, |node| node.left = true);
                self.count_if(hand_off, Mark::LeftWithHandOff);
                self.count_if(!hand_off, Mark::LeftWithoutHandOff);
            }
            Event::ConnectionRetired { under_way, .. } => {
                self.count_if(under_way > 0, Mark::RetiredUnderWay);
            }
            Event::Relayed { message: None, .. } => self.count_if(true, Mark::AdversaryRelayed),
            Event::HandedOff { mails, .. } => self.count_if(mails > 0, Mark::MailHandedOff),
            Event::Routed { hops, stale, .. } => {
                self.count_if(hops == 4, Mark::RelayedThrice);
                self.count_if(stale, Mark::StaleHop);
            }
            Event::Arrived { introducer, .. } => {
                self.count_if(introducer == Introducer::Own, Mark::SelfCharged);
            }
            Event::NotSent { cause, .. } => {
                self.count_if(cause == LossCause::NoRoute, Mark::NoRoute);
                self.count_if(cause == LossCause::HopBudget, Mark::HopBudgetSpent);
            }
            _ => {}
        }
    }

    #[inline]
    fn count_if(&mut self, reached: bool, mark: Mark) {
        self.counts[mark as usize] += u64::from(reached);
    }

    fn with_node(&mut self, node: NodeId, change: impl FnOnce(&mut NodeState)) {
        if let Some(node) = self.nodes.get_mut(node.index()) {
            change(node);
        }
    }

    fn booted(&mut self, node: NodeId, wall: u64) {
        let Some(state) = self.nodes.get_mut(node.index()) else { return };
        let earlier = state.last_boot_wall.replace(wall);
        state.ready = false;
        state.boot_clock_wrong = state.wrong_at_boot;
        state.in_hand = [0; 4];
        self.count_if(earlier.is_some_and(|earlier| wall < earlier), Mark::BootBeforeEarlierLife);
    }

    fn died(&mut self, node: NodeId, death: Death, batches: &Batches) {
        for (phase, roles) in batches.phases(node) {
            let Roles { leases, windows } = roles;
            self.count_if(leases > 0, death_mark(death, false, phase));
            self.count_if(windows > 0, death_mark(death, true, phase));
        }
        let ready = self.nodes.get(node.index()).is_none_or(|node| node.ready);
        self.count_if(!ready, Mark::DeathWhileOpening);
        let untaken = self.nodes.get(node.index()).map_or(0, |node| node.untaken);
        self.count_if(untaken > 0, Mark::DiedBeforeTaking);
        self.with_node(node, |node| (node.in_hand, node.untaken) = ([0; 4], 0));
    }

    fn clock_set(&mut self, at: SimTime, node: NodeId, from: u64, to: u64) {
        self.count_if(to < from, Mark::ClockBack);
        let Some(state) = self.nodes.get_mut(node.index()) else { return };
        let corrected = state.boot_clock_wrong && state.clock_fault_at != Some(at);
        if corrected {
            state.boot_clock_wrong = false;
        }
        self.count_if(corrected, Mark::BootClockCorrected);
    }

    fn fault_began(&mut self, at: SimTime, fault: FaultId) {
        match self.lasting.get(&fault) {
            None => {}
            Some(&Lasting::StalledHandler(node, class)) => {
                self.with_node(node, |node| node.stalled[class.index()] = true);
            }
            Some(&Lasting::StalledChannel { from, to, one_way, channel }) => {
                self.stalled_channels.push((fault, from, to, one_way, channel));
            }
            Some(&Lasting::Clock(node)) => self.with_node(node, |node| node.clock_fault_at = Some(at)),
        }
    }

    fn fault_ended(&mut self, at: SimTime, fault: FaultId) {
        match self.lasting.get(&fault) {
            None => {}
            Some(&Lasting::StalledHandler(node, class)) => {
                self.with_node(node, |node| node.stalled[class.index()] = false);
            }
            Some(Lasting::StalledChannel { .. }) => {
                self.stalled_channels.retain(|stalled| stalled.0 != fault)
            }
            Some(&Lasting::Clock(node)) => self.with_node(node, |node| node.clock_fault_at = Some(at)),
        }
    }

    fn exposed(&mut self, life: Life, stream: &StreamKey, sequence: u64) {
        let gap = match self.exposed.insert(*stream, (sequence, life)) {
            Some((last, earlier)) => earlier < life && sequence > last.saturating_add(1),
            None => false,
        };
        self.count_if(gap, Mark::LeaseGap);
    }

    /// Whether another channel between the two is stalled in this direction, and this one is not.
    fn beside_stalled(&self, from: NodeId, to: NodeId, channel: u8) -> bool {
        let mut others = false;
        for &(_, a, b, one_way, stalled) in &self.stalled_channels {
            if (a, b) == (from, to) || (!one_way && (b, a) == (from, to)) {
                if stalled == channel {
                    return false;
                }
                others = true;
            }
        }
        others
    }

    fn classified(&mut self, node: NodeId, record: RecordName, sequence: u64, verdict: VerdictKind) {
        if verdict == VerdictKind::Redelivered {
            let highest = self.highest.get(&(node, record)).copied().unwrap_or(0);
            self.count_if(sequence.saturating_add(31) < highest, Mark::RedeliveredBelow);
        }
        if !verdict.admits() {
            return;
        }
        self.count_if(verdict == VerdictKind::Late, Mark::WindowLate);
        let highest = self.highest.entry((node, record)).or_insert(sequence);
        let gap = verdict == VerdictKind::Advance && sequence > highest.saturating_add(1);
        // After a baseline was lost a first transaction may lie below the old height.
        *highest = if verdict == VerdictKind::First { sequence } else { sequence.max(*highest) };
        self.count_if(gap, Mark::AdvanceOverGap);
    }

    fn handled(&mut self, node: NodeId, class: Class) {
        let Some(state) = self.nodes.get_mut(node.index()) else { return };
        let own = class.index();
        state.in_hand[own] = state.in_hand[own].saturating_sub(1);
        let passed = (0..4).any(|other| other != own && state.stalled[other] && state.in_hand[other] > 0);
        self.count_if(passed, Mark::StalledHandlerPassed);
    }
}
