//! `streams/bad-records`: a record that does not restore fails its own stream closed, and no other; it is kept, and the
//! store is read once.
//!
//! Which records cannot restore is read off the disk when a node boots, before its new life touches it: torn or unreadable,
//! no record of a stream, filed under another's name, or gone while their markers stay. Only a plan that lays hands on
//! stores is looked at in this way. A directory that is gone while its node runs is never made anew.

use super::available::UNAVAILABLE;
use super::names::{DigestKey, Names};
use super::per_node::PerNode;
use super::reading::RecordReader;
use super::store_acts::{Routes, StoreActs, Touch};
use super::{Law, RecordImage, Setting, View};
use crate::ledger::event::{Answer, Event, Transaction};
use crate::outcome::Violation;
use crate::plan::{DiskOperation, StoreAct};
use crate::units::{MessageId, NodeId, SimTime};
use groundhog_engine::host::observe::RecordName;
use groundhog_engine::streams::key::{NetworkId, StreamKey, Table};
use rustc_hash::FxHashSet;
use std::collections::{BTreeMap, BTreeSet};

#[derive(Default)]
struct Node {
    ready: bool,
    /// Records that could not restore when the node booted, and why.
    bad: BTreeMap<RecordName, &'static str>,
    /// Records that an act touched since.
    touched: BTreeSet<RecordName>,
    /// Records with a sector that will be readable again when every fault has ended.
    will_be_mended: BTreeSet<RecordName>,
    /// What arrived for the store since its directory was removed from under the node; `None` while it is there.
    rootless: Option<FxHashSet<DigestKey>>,
}

/// See the module.
pub struct BadRecords {
    names: Names,
    reader: RecordReader,
    network_id: NetworkId,
    acts: StoreActs,
    routes: Routes,
    nodes: PerNode<Node>,
}

impl BadRecords {
    /// Its id.
    pub const ID: &'static str = "streams/bad-records";
    /// What it states.
    pub const STATES: &'static str = "A record that is torn, unreadable, misfiled, invalid or missing refuses its own stream and is kept; every other stream \
         runs as it would without it, and after the one scan nothing is read (000, Bad records).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        Self {
            names: setting.names.clone(),
            reader: setting.reader,
            network_id: NetworkId(setting.plan.engines.network_id),
            acts: StoreActs::of(setting),
            routes: Routes::of(setting),
            nodes: PerNode::default(),
        }
    }

    /// Why the record of this name cannot restore.
    fn wrong(&self, name: RecordName, image: &RecordImage) -> Option<&'static str> {
        let RecordImage::Whole { .. } = image else { return Some("torn or unreadable") };
        match self.reader.image(image) {
            None => Some("no record of a stream"),
            Some(_) => (!self.reader.is_in_place(name, image)).then_some("the record of another stream"),
        }
    }

    fn bad_now(&self, node: NodeId, view: &dyn View) -> BTreeMap<RecordName, &'static str> {
        let records = view.visible_records(node).into_iter();
        let wrong =
            records.filter_map(|(name, _)| Some((name, self.wrong(name, &view.visible_image(node, name))?)));
        let missing =
            view.visible_orphan_markers(node).into_iter().map(|name| (name, "gone, and was marked"));
        wrong.chain(missing).collect()
    }

    fn booted(&mut self, node: NodeId, view: &dyn View) -> Vec<String> {
        let bad = if self.acts.is_empty() { BTreeMap::new() } else { self.bad_now(node, view) };
        let state = self.nodes.at(node);
        (state.ready, state.rootless) = (false, None);
        let touched = std::mem::take(&mut state.touched);
        let before = std::mem::replace(&mut state.bad, bad);
        let state = &*state;
        let kept = |name: &RecordName| {
            let excused = touched.contains(name) || state.will_be_mended.contains(name);
            excused || state.bad.contains_key(name)
        };
        let gone = before.iter().filter(|(name, _)| !kept(name));
        gone.map(|(name, why)| format!("{node} held record {name}, which was {why}, and no longer does"))
            .collect()
    }

    fn act(&mut self, touch: &Touch) {
        let state = self.nodes.at(touch.node);
        let names = touch.records.iter().map(|(name, ..)| *name);
        match touch.act {
            StoreAct::Unreadable { .. } => state.will_be_mended.extend(names),
            _ => state.touched.extend(names),
        }
        if touch.is_of_all() {
            state.touched.extend(state.bad.keys());
            // A node that is still opening makes its directory, or will find that it is gone.
            state.rootless = (touch.while_it_runs && state.ready).then(FxHashSet::default);
        }
    }

    /// What a call about a stream says of its record.
    fn told(
        &mut self,
        node: NodeId,
        record: RecordName,
        is_judged: bool,
        refusal: Option<&str>,
    ) -> Option<String> {
        let why = self.nodes.at(node).bad.get(&record).copied();
        match (why, refusal) {
            (Some(why), _) if is_judged => Some(format!("{node} served a stream whose record is {why}")),
            (None, Some(UNAVAILABLE)) => {
                Some(format!("{node} refused a stream as unavailable, and its record restores"))
            }
            _ => None,
        }
    }

    fn answered(
        &mut self,
        node: NodeId,
        record: RecordName,
        transaction: &Transaction,
        answer: Answer,
    ) -> Option<String> {
        let (is_judged, refusal) = match answer {
            Answer::Verdict(verdict) => {
                let rootless = self.nodes.at(node).rootless.as_ref();
                let arrived = DigestKey::of(&transaction.digest);
                if verdict.dispatches() && rootless.is_some_and(|since| since.contains(&arrived)) {
                    let name = self.names.transaction(transaction);
                    return Some(format!("{node} accepted {name}, and its store's directory is gone"));
                }
                (true, None)
            }
            Answer::Refused(reason) => (false, Some(reason)),
            Answer::FailedBatch | Answer::Unscheduled => (false, None),
        };
        let saw = self.told(node, record, is_judged, refusal)?;
        Some(format!("{saw}: {}", self.names.stream(&transaction.stream)))
    }

    fn reserved(
        &mut self,
        node: NodeId,
        message: MessageId,
        is_judged: bool,
        refusal: Option<&str>,
    ) -> Option<String> {
        if !is_judged && refusal != Some(UNAVAILABLE) || self.acts.is_empty() && is_judged {
            return None;
        }
        let (origin, to, class) = self.routes.get(message)?;
        let (origin, destination) = (self.names.did(origin)?, self.names.did(to)?);
        let stream = StreamKey { network_id: self.network_id, origin, destination, class };
        let saw = self.told(node, (self.reader.name)(Table::Sender, &stream), is_judged, refusal)?;
        Some(format!("{saw}: {}", self.names.stream(&stream)))
    }
}

impl Law for BadRecords {
    law_identity!(Outcome reads Booted, Ready, Died, FaultBegan, DiskAnswered, Arrived, Answered, ReserveAnswered);

    fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View, broken: &mut Vec<Violation>) {
        let (node, saw) = match event {
            Event::Booted { node, .. } => (*node, self.booted(*node, view)),
            Event::Ready { node, .. } => return self.nodes.at(*node).ready = true,
            Event::Died { node, .. } => return self.nodes.at(*node).ready = false,
            Event::FaultBegan { fault } => {
                if let Some(touch) = self.acts.get(*fault).cloned() {
                    self.act(&touch);
                }
                return;
            }
            Event::DiskAnswered { node, operation, .. } => {
                use DiskOperation as Op;
                let reads = matches!(operation, Op::Open | Op::Read | Op::List | Op::Length);
                if !reads || !self.nodes.at(*node).ready {
                    return;
                }
                (*node, vec![format!("{node} read its store after the one scan of its open")])
            }
            Event::Arrived { node, transaction, passage, .. } => {
                // A connection's window needs no store.
                if passage.link.is_none()
                    && let Some(since) = &mut self.nodes.at(*node).rootless
                {
                    since.insert(DigestKey::of(&transaction.digest));
                }
                return;
            }
            Event::Answered { node, transaction, record, answer, .. } => {
                let saw = self.answered(*node, *record, transaction, *answer);
                (*node, saw.into_iter().collect())
            }
            Event::ReserveAnswered { message, node, answer, refusal, .. } => {
                let saw = self.reserved(*node, *message, answer.is_some(), *refusal);
                (*node, saw.into_iter().collect())
            }
            _ => return,
        };
        broken.extend(saw.into_iter().map(|saw| Violation { law: Self::ID, at, node: Some(node), saw }));
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
#[path = "bad_records_tests.rs"]
mod tests;
