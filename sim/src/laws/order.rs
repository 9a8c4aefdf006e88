//! `commit/order`: each stream's durable values follow lock order.
//!
//! Seen as: once a batch is durable, the records of every transition staged so far, in it or before it, hold what that
//! transition decided; and a record never holds a value of an older batch than it held before in the same life.

use super::names::{DigestKey, Names};
use super::per_node::PerNode;
use super::reading::{RecordReader, RecordValue};
use super::{Law, RecordImage, Setting, View};
use crate::ledger::event::Event;
use crate::outcome::Violation;
use crate::units::{NodeId, SimTime};
use groundhog_engine::host::observe::{BatchNumber, Decision, EngineEvent, RecordName};
use groundhog_engine::streams::key::StreamKey;
use rustc_hash::FxBuildHasher;
use std::collections::VecDeque;

/// Records of one batch that are read; of a larger batch others each time, so that a batch costs a bounded time.
const READ_OF_A_BATCH: usize = 4;

#[derive(Clone, Copy)]
enum Effect {
    Admitted { sequence: u64, word: u64 },
    Leased { lease: u64 },
}

struct Staged {
    batch: BatchNumber,
    record: RecordName,
    stream: StreamKey,
    effect: Effect,
}

#[derive(Default)]
struct Node {
    staged: VecDeque<Staged>,
    held: indexmap::IndexMap<RecordName, u64, FxBuildHasher>,
}

/// See the module.
pub struct Order {
    names: Names,
    reader: RecordReader,
    nodes: PerNode<Node>,
}

impl Order {
    /// Its id.
    pub const ID: &'static str = "commit/order";
    /// What it states.
    pub const STATES: &'static str =
        "Each stream's durable values follow lock order (000, group commit, Order).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        Self { names: setting.names.clone(), reader: setting.reader, nodes: PerNode::default() }
    }

    fn durable(
        &mut self,
        at: SimTime,
        node: NodeId,
        batch: BatchNumber,
        view: &dyn View,
        broken: &mut Vec<Violation>,
    ) {
        let mut read = 0;
        let due = self.nodes.at(node).staged.iter().take_while(|staged| staged.batch <= batch).count();
        let skip = if due > READ_OF_A_BATCH { batch.0 as usize % (due - READ_OF_A_BATCH + 1) } else { 0 };
        for index in 0..due {
            let staged = self.nodes.at(node).staged.pop_front().expect("counted above");
            // What an earlier batch staged and never ended is always read: that is the order broken.
            let is_due = staged.batch < batch || (index >= skip && read < READ_OF_A_BATCH);
            if !is_due {
                continue;
            }
            read += 1;
            let image = view.visible_image(node, staged.record);
            let state = self.nodes.at(node);
            let wrong = generation_of(&image).and_then(|found| {
                let held = state.held.entry(staged.record).or_insert(found);
                let before = std::mem::replace(held, found.max(*held));
                (found < before).then(|| format!("went back from batch {before} to batch {found}"))
            });
            let wrong = wrong.or_else(|| self.lacks(&image, staged.effect));
            if let Some(wrong) = wrong {
                let stream = self.names.stream(&staged.stream);
                let saw =
                    format!("batch {} is durable at {node}, and the record of {stream} {wrong}", batch.0);
                broken.push(Violation { law: Self::ID, at, node: Some(node), saw });
            }
        }
    }

    fn lacks(&self, image: &RecordImage, effect: Effect) -> Option<String> {
        match (self.reader.image(image).map(|read| read.value), effect) {
            (Some(RecordValue::Receiver(window)), Effect::Admitted { sequence, word }) => {
                let lacks = window.classify(sequence, word).dispatches();
                lacks.then(|| format!("lacks the admission of sequence {sequence}"))
            }
            (Some(RecordValue::Sender(held)), Effect::Leased { lease }) => {
                (held < lease).then(|| format!("holds lease {held}, and {lease} was staged"))
            }
            _ => Some(String::from("is not whole")),
        }
    }

    fn went_back(&mut self, at: SimTime, node: NodeId, view: &dyn View, broken: &mut Vec<Violation>) {
        for (record, before) in &self.nodes.at(node).held {
            if let Some(found) = generation_of(&view.visible_image(node, *record))
                && found < *before
            {
                let saw = format!(
                    "record {record} of {node} went back from batch {before} to batch {found} in one life"
                );
                broken.push(Violation { law: Self::ID, at, node: Some(node), saw });
            }
        }
    }
}

fn generation_of(image: &RecordImage) -> Option<u64> {
    match image {
        RecordImage::Whole { generation, .. } => Some(*generation),
        RecordImage::Absent | RecordImage::Torn => None,
    }
}

impl Law for Order {
    law_identity!(Mechanism reads Booted, Died, EngineTransition, EngineRetired, EngineBatchDurable, EngineBatchFailed);

    fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View, broken: &mut Vec<Violation>) {
        match event {
            Event::Booted { node, .. } => *self.nodes.at(*node) = Node::default(),
            Event::Died { node, .. } => {
                self.went_back(at, *node, view, broken);
                *self.nodes.at(*node) = Node::default();
            }
            Event::Engine { node, event, .. } => match event {
                EngineEvent::Transition { staged: Some(batch), record, stream, decision, .. } => {
                    let effect = match decision {
                        Decision::Verdict { sequence, digest, .. } => {
                            Effect::Admitted { sequence: sequence.0, word: DigestKey::word(digest) }
                        }
                        Decision::Reserved { lease, .. } => Effect::Leased { lease: lease.0 },
                        Decision::Taken { .. } | Decision::Refused { .. } => return,
                    };
                    let staged = Staged { batch: *batch, record: *record, stream: **stream, effect };
                    self.nodes.at(*node).staged.push_back(staged);
                }
                // What the same batch staged of the record before is not written.
                EngineEvent::Retired { record, staged: batch, .. } => {
                    let staged = &mut self.nodes.at(*node).staged;
                    staged.retain(|staged| (staged.record, staged.batch) != (*record, *batch));
                }
                EngineEvent::BatchDurable { batch } => self.durable(at, *node, *batch, view, broken),
                EngineEvent::BatchFailed { .. } => self.nodes.at(*node).staged.clear(),
                _ => {}
            },
            _ => {}
        }
    }

    fn end(&mut self, at: SimTime, view: &dyn View, broken: &mut Vec<Violation>) {
        let nodes: Vec<NodeId> = self.nodes.iter_mut().map(|(node, _)| node).collect();
        nodes.into_iter().for_each(|node| self.went_back(at, node, view, broken));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{
        Image, Ledger, admission, receiver_record, reservation, sender_record, transaction,
    };

    fn ledger() -> Ledger<Order> {
        Ledger::over(Order::new(&Ledger::setting()))
    }

    #[test]
    fn a_durable_batch_holds_what_was_staged_in_it_and_before_it() {
        for (image, wrong) in [
            (Image::Window(2, (1, 3), vec![(5, 1), (6, 1)]), None),
            (Image::Window(2, (1, 3), vec![(6, 1), (99, 1)]), None),
            (Image::Window(2, (1, 3), vec![(6, 1)]), Some("lacks the admission of sequence 5")),
            (Image::Absent, Some("is not whole")),
        ] {
            let mut ledger = ledger();
            ledger.engine(3, admission(0, 5, 1, 1));
            ledger.engine(3, admission(1, 6, 1, 2));
            ledger.view.certain(3, receiver_record(1, 3), image);
            ledger.durable(3, 2);
            let saw = ledger.finish();
            assert_eq!(
                saw.iter().any(|saw| Some(saw).zip(wrong).is_some_and(|(saw, wrong)| saw.contains(wrong))),
                wrong.is_some(),
                "{saw:?}"
            );
        }
    }

    #[test]
    fn what_the_batch_retires_it_does_not_write() {
        for (retired_by, breaks) in [(None, true), (Some(1), true), (Some(2), false)] {
            let mut ledger = ledger();
            ledger.engine(3, admission(0, 6, 1, 2));
            if let Some(batch) = retired_by {
                ledger.retired(3, &transaction(1, 3, 6, 1), batch);
            }
            ledger.view.certain(3, receiver_record(1, 3), Image::Absent);
            ledger.durable(3, 2);
            assert_eq!(ledger.finish().len(), usize::from(breaks), "{retired_by:?}");
        }
    }

    #[test]
    fn a_lease_is_durable_as_it_was_staged() {
        for (held, breaks) in [(63, false), (62, true)] {
            let mut ledger = ledger();
            ledger.engine(1, reservation(0, 0, 63, Some(1)));
            ledger.view.certain(1, sender_record(1, 3), Image::Lease(1, (1, 3), held));
            ledger.durable(1, 1);
            assert_eq!(ledger.finish().len(), usize::from(breaks));
        }
    }

    #[test]
    fn a_record_never_goes_back_within_a_life() {
        let mut ledger = ledger();
        ledger.engine(3, admission(0, 5, 1, 2));
        ledger.view.certain(3, receiver_record(1, 3), Image::Window(2, (1, 3), vec![(5, 1)]));
        ledger.durable(3, 2);
        ledger.view.certain(3, receiver_record(1, 3), Image::Window(1, (1, 3), vec![(4, 1)]));
        ledger.restarted(3);
        let saw = ledger.finish();
        assert!(saw.len() == 1 && saw[0].contains("went back from batch 2 to batch 1"), "{saw:?}");
    }

    #[test]
    fn what_failed_need_not_be_there() {
        let mut ledger = ledger();
        ledger.engine(3, admission(0, 5, 1, 1));
        ledger.failed(3, 1, 1);
        ledger.engine(3, admission(1, 6, 1, 2));
        ledger.view.certain(3, receiver_record(1, 3), Image::Window(2, (1, 3), vec![(6, 1)]));
        ledger.durable(3, 2);
        assert_eq!(ledger.finish(), Vec::<String>::new());
    }
}
