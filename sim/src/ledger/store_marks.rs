//! Marks of acts on stores and of retirement: each act was seen to take effect, and what it let begin again began again.
//!
//! Promise: as those of [`super::mark_counter`]; an act is counted by what follows it at its node, never by having been done.

use super::event::{Answer, Event};
use super::marks::Mark;
use crate::laws::per_node::PerNode;
use crate::plan::{Act, FaultKind, Plan, StoreAct};
use crate::units::{ActionId, FaultId, NodeId};
use groundhog_engine::host::observe::{BatchNumber, CustodyStall, EngineEvent, RecordName, Step};
use groundhog_engine::streams::key::{Class, StreamKey, Table};
use groundhog_engine::streams::window::Digest;
use rustc_hash::{FxHashMap, FxHashSet};
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
struct Node {
    /// Acts that began, and were not seen to take effect.
    begun: Vec<StoreAct>,
    /// Acts after which streams begin again.
    forgot: Vec<StoreAct>,
    /// Records that this life told missing after somebody had removed one.
    missing: BTreeSet<RecordName>,
    /// Streams that this node signed in.
    signed: FxHashSet<StreamKey>,
    /// What this node admitted.
    admitted: FxHashSet<Digest>,
    custody_is_full: bool,
    /// The store was removed while custody was full.
    was_reset: bool,
    /// Batches that streams are retired in, and that are not durable.
    retiring: BTreeSet<BatchNumber>,
    /// Streams that were retired and have admitted nothing since.
    retired: FxHashSet<StreamKey>,
}

/// See the module.
pub struct StoreMarks {
    acts: BTreeMap<FaultId, (NodeId, StoreAct)>,
    routes: BTreeMap<ActionId, (NodeId, NodeId, Class)>,
    /// The streams that were signed in, by whose they are.
    streams: FxHashMap<StreamKey, (NodeId, NodeId, Class)>,
    nodes: PerNode<Node>,
}

impl StoreMarks {
    /// For one run of `plan`.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let acts = plan.faults.iter().filter_map(|fault| match &fault.kind {
            FaultKind::Store { node, act, .. } => Some((fault.id, (*node, *act))),
            _ => None,
        });
        let acts: BTreeMap<_, _> = acts.collect();
        let sends = plan.actions.iter().filter_map(|action| match &action.act {
            Act::Send(burst) => Some((action.id, (action.node, burst.to, burst.class))),
            _ => None,
        });
        let routes = if acts.is_empty() { BTreeMap::new() } else { sends.collect() };
        Self { acts, routes, streams: FxHashMap::default(), nodes: PerNode::default() }
    }

    /// The marks that an event reaches.
    #[inline]
    pub fn event(&mut self, event: &Event<'_>, reached: &mut dyn FnMut(Mark)) {
        if let Some(mark) = self.retirement(event) {
            reached(mark);
        }
        if self.acts.is_empty() {
            return;
        }
        match *event {
            Event::FaultBegan { fault } => self.began(fault),
            Event::Booted { node, .. } => self.nodes.at(node).missing.clear(),
            Event::OpenFailed { node, reason: "budget-lowered", .. } => {
                let lowered = |act: &StoreAct| matches!(act, StoreAct::LowerBudget { .. });
                self.took_effect(node, lowered, Mark::BudgetLowered, reached);
            }
            Event::Engine { node, event, .. } => self.engine(node, &event, reached),
            Event::Exposed { message, node, transaction, .. } => {
                if let Some(route) = self.routes.get(&message.action) {
                    self.streams.insert(transaction.stream, *route);
                }
                let again = !self.nodes.at(node).signed.insert(transaction.stream);
                if again
                    && transaction.sequence.0 == 0
                    && self.forgot(node, &transaction.stream, Table::Sender)
                {
                    reached(Mark::SenderBeganAgain);
                }
            }
            Event::Answered { node, transaction, passage, answer: Answer::Verdict(verdict), .. }
                if verdict.admits() =>
            {
                let state = self.nodes.at(node);
                if passage.is_from_inbox() && std::mem::take(&mut state.was_reset) {
                    reached(Mark::CustodyReset);
                }
                let again = !state.admitted.insert(transaction.digest);
                if again && self.forgot(node, &transaction.stream, Table::Receiver) {
                    reached(Mark::AdmittedAgain);
                }
            }
            _ => {}
        }
    }

    fn began(&mut self, fault: FaultId) {
        let Some((node, act)) = self.acts.get(&fault).copied() else { return };
        let state = self.nodes.at(node);
        state.begun.push(act);
        if act.forgets() {
            state.forgot.push(act);
        }
        if matches!(act, StoreAct::RemoveStore) {
            state.was_reset = std::mem::take(&mut state.custody_is_full);
        }
    }

    /// Whether the stream was begun again at the node by an act.
    fn forgot(&mut self, node: NodeId, stream: &StreamKey, table: Table) -> bool {
        let route = self.streams.get(stream);
        let forgets = |act: &StoreAct| match act {
            StoreAct::Clear { of } => {
                of.table == table && route == Some(&(of.origin, of.destination, of.class))
            }
            _ => true,
        };
        self.nodes.at(node).forgot.iter().any(forgets)
    }

    /// The first act of such a kind at the node took effect; it is counted once.
    fn took_effect(
        &mut self,
        node: NodeId,
        kind: impl Fn(&StoreAct) -> bool,
        mark: Mark,
        reached: &mut dyn FnMut(Mark),
    ) -> bool {
        let begun = &mut self.nodes.at(node).begun;
        let Some(place) = begun.iter().position(kind) else { return false };
        begun.remove(place);
        reached(mark);
        true
    }

    fn engine(&mut self, node: NodeId, event: &EngineEvent<'_>, reached: &mut dyn FnMut(Mark)) {
        match *event {
            EngineEvent::Unrestorable { record, reason, .. } => {
                let begun = &self.nodes.at(node).begun;
                let Some(mark) = begun.iter().find_map(|act| told(act, reason)) else { return };
                self.took_effect(node, |act| told(act, reason) == Some(mark), mark, reached);
                if mark == Mark::RecordRemoved {
                    self.nodes.at(node).missing.insert(record);
                }
            }
            EngineEvent::UnavailableRefused { record, .. }
                if self.nodes.at(node).missing.contains(&record) =>
            {
                reached(Mark::MissingRefused);
            }
            EngineEvent::Opened { restored: 0, unrestorable: 0, .. } => {
                let removed = |act: &StoreAct| matches!(act, StoreAct::RemoveStore);
                self.took_effect(node, removed, Mark::StoreRemoved, reached);
            }
            EngineEvent::Step { step: Step::OpenMarked, .. } => {
                let removed = |act: &StoreAct| matches!(act, StoreAct::RemoveMarker { .. });
                self.took_effect(node, removed, Mark::MarkerRemoved, reached);
            }
            EngineEvent::LoadFailed { reason: "disk" } => reached(Mark::ScanFailed),
            EngineEvent::CustodyStall { stall, .. } => {
                self.nodes.at(node).custody_is_full = !matches!(stall, CustodyStall::Over);
            }
            _ => {}
        }
    }

    fn retirement(&mut self, event: &Event<'_>) -> Option<Mark> {
        match *event {
            Event::Engine { node, event: EngineEvent::Retired { stream, staged, .. }, .. } => {
                let state = self.nodes.at(node);
                state.retiring.insert(staged);
                state.retired.insert(*stream);
                None
            }
            Event::Engine { node, event: EngineEvent::BatchDurable { batch }, .. } => {
                self.nodes.at(node).retiring.remove(&batch);
                None
            }
            Event::Engine { node, event: EngineEvent::BatchFailed { batch, .. }, .. } => {
                self.nodes.at(node).retiring.remove(&batch).then_some(Mark::RetirementUndone)
            }
            Event::Died { node, .. } => {
                let cut = !std::mem::take(&mut self.nodes.at(node).retiring).is_empty();
                cut.then_some(Mark::RetirementCut)
            }
            Event::Answered { node, transaction, answer: Answer::Verdict(verdict), .. }
                if verdict.admits() =>
            {
                let retired = &mut self.nodes.at(node).retired;
                (!retired.is_empty() && retired.remove(&transaction.stream))
                    .then_some(Mark::RetiredBeganAgain)
            }
            _ => None,
        }
    }
}

/// The mark of an act that shows as a record that does not restore, for this reason.
fn told(act: &StoreAct, reason: &str) -> Option<Mark> {
    match (act, reason) {
        (StoreAct::RemoveRecord { .. }, "missing") => Some(Mark::RecordRemoved),
        (StoreAct::Rename { .. }, "misfiled") => Some(Mark::RecordRenamed),
        (StoreAct::UpperCase { .. }, "missing") => Some(Mark::RecordInUpperCase),
        (StoreAct::Swap { .. }, "misfiled") => Some(Mark::RecordsSwapped),
        (StoreAct::Truncate { .. }, "undecodable") => Some(Mark::RecordTruncated),
        (StoreAct::FlipBit { .. }, "undecodable") => Some(Mark::BitFlipped),
        (StoreAct::Unreadable { .. }, "unreadable") => Some(Mark::RecordUnreadable),
        (StoreAct::WithoutCharge { .. }, "without-charge") => Some(Mark::RecordWithoutCharge),
        (StoreAct::SharedSnapshot, "shared-snapshot") => Some(Mark::SharedSnapshot),
        _ => None,
    }
}

#[cfg(test)]
#[path = "store_marks_tests.rs"]
mod tests;
