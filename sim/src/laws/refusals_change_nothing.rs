//! `streams/refusals-change-nothing`: a refused transaction leaves no trace in its stream's record.
//!
//! Seen on the disk where nothing else explains a trace: the transaction arrived once, or its stream was only ever refused.

use super::names::{DigestKey, Names};
use super::reading::{RecordReader, RecordValue};
use super::{Law, RecordImage, Setting, View};
use crate::ledger::event::{Answer, Event, Transaction};
use crate::outcome::Violation;
use crate::units::{NodeId, SimTime};
use groundhog_engine::host::observe::RecordName;
use groundhog_engine::streams::key::StreamKey;
use groundhog_engine::streams::window::VerdictKind;
use rustc_hash::FxHashMap;

#[derive(Default)]
struct Stream {
    arrivals: u64,
    refusals: u64,
}

/// See the module.
pub struct RefusalsChangeNothing {
    names: Names,
    reader: RecordReader,
    arrivals: FxHashMap<u64, u32>,
    streams: FxHashMap<StreamKey, Stream>,
}

impl RefusalsChangeNothing {
    /// Its id.
    pub const ID: &'static str = "streams/refusals-change-nothing";
    /// What it states.
    pub const STATES: &'static str = "Rejections leave the window, and quota and capacity refusals the disk, as they were (000; design section 5).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        Self {
            names: setting.names.clone(),
            reader: setting.reader,
            arrivals: FxHashMap::default(),
            streams: FxHashMap::default(),
        }
    }

    fn trace(&self, transaction: &Transaction, image: &RecordImage) -> Option<&'static str> {
        let word = DigestKey::word(&transaction.digest);
        let window = match self.reader.image(image).map(|read| read.value) {
            Some(RecordValue::Receiver(window)) => Some(window),
            Some(RecordValue::Sender(_)) | None => None,
        };
        let once = self.arrivals.get(&word) == Some(&1);
        if once && window.is_some_and(|window| window.at(transaction.sequence.0) == Some(word)) {
            return Some("its window holds it");
        }
        let stream = self.streams.get(&transaction.stream)?;
        let only_refused = stream.arrivals == stream.refusals;
        (only_refused && *image != RecordImage::Absent)
            .then_some("the stream, of which nothing was accepted, has a record")
    }

    fn refused(
        &mut self,
        (at, node, record): (SimTime, NodeId, RecordName),
        transaction: &Transaction,
        view: &dyn View,
        broken: &mut Vec<Violation>,
    ) {
        let image = view.visible_image(node, record);
        if image != RecordImage::Absent && !self.reader.is_in_place(record, &image) {
            // Whatever lies there, it is not the stream's.
            return;
        }
        if let Some(trace) = self.trace(transaction, &image) {
            let saw = format!("{node} refused {}, and {trace}", self.names.transaction(transaction));
            broken.push(Violation { law: Self::ID, at, node: Some(node), saw });
        }
    }
}

impl Law for RefusalsChangeNothing {
    law_identity!(Outcome reads Arrived, Answered);

    fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View, broken: &mut Vec<Violation>) {
        match event {
            Event::Arrived { transaction, .. } => {
                *self.arrivals.entry(DigestKey::word(&transaction.digest)).or_default() += 1;
                self.streams.entry(transaction.stream).or_default().arrivals += 1;
            }
            Event::Answered { node, transaction, record, answer, .. } => match answer {
                Answer::Refused(_) => {
                    self.streams.entry(transaction.stream).or_default().refusals += 1;
                    self.refused((at, *node, *record), transaction, view, broken);
                }
                Answer::Verdict(VerdictKind::Fork | VerdictKind::Stale) => {
                    self.refused((at, *node, *record), transaction, view, broken);
                }
                Answer::Verdict(_) | Answer::FailedBatch | Answer::Unscheduled => {}
            },
            _ => {}
        }
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::laws::fake::{COPY, HONEST, Image, Ledger, receiver_record, transaction};

    fn refused(earlier: bool, answer: Answer, image: Image) -> usize {
        let mut ledger = Ledger::over(RefusalsChangeNothing::new(&Ledger::setting()));
        if earlier {
            ledger.admitted(3, &transaction(1, 3, 5, 5), HONEST, VerdictKind::First);
        }
        ledger.view.certain(3, receiver_record(1, 3), image);
        ledger.arrived(3, &transaction(1, 3, 6, 6), COPY);
        ledger.answered(3, &transaction(1, 3, 6, 6), COPY, answer);
        ledger.finish().len()
    }

    #[test]
    fn a_refused_transaction_leaves_no_trace() {
        let refusal = Answer::Refused("stream-capacity-exceeded");
        let (without, with) =
            (Image::Window(1, (1, 3), vec![(5, 5)]), Image::Window(2, (1, 3), vec![(5, 5), (6, 6)]));
        assert_eq!(refused(true, refusal, without.clone()), 0);
        assert_eq!(refused(true, refusal, with.clone()), 1);
        assert_eq!(refused(true, Answer::Verdict(VerdictKind::Fork), with.clone()), 1);
        assert_eq!(refused(true, Answer::FailedBatch, with), 0, "a failed batch may have landed");
        assert_eq!(refused(false, refusal, Image::Absent), 0);
        assert_eq!(refused(false, refusal, without), 1);
    }
}
