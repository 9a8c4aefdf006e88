//! `streams/verdict`: every verdict is the seed's `observe` over what arrived, and over nothing else.
//!
//! A reference window of each stream reads arrivals (sequence and digest: no timestamp, no relay, no other stream) in the
//! order of admission, with the outcome that each was answered with. A failed or refused admission never was. After a
//! restart the reference begins from what the disk showed, before anybody laid hands on it under the running node. An abandoned admission is in the window, unless the disk had
//! an error meanwhile: then both may be true, until a verdict tells.
//!
//! A stream begins anew with a transaction that arrives when all that it accepted is spent by the clock at that admission.
//! Where only the clock of another admission was past that, both may be true.

use super::lifespan::spent;
use super::names::{DigestKey, Names};
use super::per_node::PerNode;
use super::reading::{RecordNames, RecordReader, RecordValue, ReferenceWindow};
use super::store_acts::StoreActs;
use super::{Law, RecordImage, Setting, View};
use crate::ledger::event::{Answer, Event, Passage, Transaction};
use crate::outcome::Violation;
use crate::units::{FaultId, Life, NodeId, SimTime};
use groundhog_engine::host::observe::RecordName;
use groundhog_engine::streams::key::{StreamKey, Table};
use groundhog_engine::streams::window::VerdictKind;
use groundhog_engine::units::WallMs;
use rustc_hash::FxHashMap;
use smallvec::{SmallVec, smallvec};
use std::collections::VecDeque;

/// States that a stream may be in at once; beyond these it is no longer judged until its node's next life.
const MOST_CANDIDATES: usize = 8;

/// How an arrival ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    Verdict(VerdictKind),
    /// Its batch failed: it never was.
    Failed,
    /// It never reached the window.
    Refused,
    /// Nobody was told.
    Untold,
}

struct Arrival {
    sequence: u64,
    word: u64,
    /// When it is spent.
    spent: WallMs,
    /// The clock at its admission.
    wall: WallMs,
    /// The latest reading at an admission of this life so far.
    latest: WallMs,
    passage: Passage,
    errors: u32,
    ending: Option<Ending>,
}

impl Arrival {
    fn is_twin(&self, other: &Arrival) -> bool {
        (self.sequence, self.word, self.passage) == (other.sequence, other.word, other.passage)
    }
}

/// A window that a stream may have, and when all in it is spent.
#[derive(Clone, Default, PartialEq, Eq)]
struct Candidate {
    window: Box<ReferenceWindow>,
    spent: WallMs,
}

impl Candidate {
    fn is_retained(&self) -> bool {
        self.window.high().is_some()
    }

    fn observe(&mut self, arrival: &Arrival) -> VerdictKind {
        let verdict = self.window.observe(arrival.sequence, arrival.word);
        if verdict.admits() {
            self.spent = self.spent.max(arrival.spent);
        }
        verdict
    }
}

/// One window over the arrivals that it judged.
pub(super) struct Stream {
    life: Life,
    /// What the stream may be; none when it is not judged.
    candidates: SmallVec<[Candidate; 1]>,
    /// The record was there and not whole: nothing may be judged by it.
    torn: bool,
    queue: VecDeque<Arrival>,
}

/// A verdict that no candidate gives.
pub(super) struct Mismatch {
    pub(super) sequence: u64,
    pub(super) told: VerdictKind,
    pub(super) expected: Option<VerdictKind>,
}

impl Stream {
    fn begin(life: Life, image: &RecordImage, of: &StreamKey, reader: RecordReader) -> Self {
        // What is filed under the name of another stream is not this stream's window.
        let read = reader.image(image).filter(|read| read.stream == *of);
        let spent = read.as_ref().and_then(|read| read.spent).unwrap_or_default();
        let window = match read.map(|read| read.value) {
            Some(RecordValue::Receiver(window)) => Some(window),
            Some(RecordValue::Sender(_)) => None,
            None if *image == RecordImage::Absent => Some(ReferenceWindow::default()),
            None => None,
        };
        let torn = window.is_none();
        let candidate = |window| Candidate { window: Box::new(window), spent };
        let candidates = window.into_iter().map(candidate).collect();
        Self { life, candidates, torn, queue: VecDeque::new() }
    }

    /// A window that is never written and begins empty; nothing in it is ever spent.
    pub(super) fn unwritten(life: Life) -> Self {
        let candidates = smallvec![Candidate::default()];
        Self { life, candidates, torn: false, queue: VecDeque::new() }
    }

    /// A transaction comes to a window that nothing makes forget.
    pub(super) fn comes(&mut self, sequence: u64, word: u64, passage: Passage) {
        let (spent, wall, latest) = (WallMs(u64::MAX), WallMs(0), WallMs(0));
        let (errors, ending) = (0, None);
        self.queue.push_back(Arrival { sequence, word, spent, wall, latest, passage, errors, ending });
    }

    /// Notes how an arrival ended: the first open one of this passage, or else of this transaction.
    pub(super) fn ended(&mut self, sequence: u64, word: u64, passage: Option<Passage>, ending: Ending) {
        let is_open = |arrival: &Arrival| {
            arrival.ending.is_none() && (arrival.sequence, arrival.word) == (sequence, word)
        };
        let exact = self.queue.iter().position(|arrival| {
            // A caller that gives up is the workload's, and gives up the first copy.
            let passes = passage.map_or(arrival.passage.copy == 0, |passage| arrival.passage == passage);
            is_open(arrival) && passes
        });
        if let Some(place) = exact.or_else(|| self.queue.iter().position(is_open)) {
            self.queue[place].ending = Some(ending);
        }
    }

    /// Judges every arrival whose ending, and whose predecessors' endings, are known.
    pub(super) fn judge(&mut self, errors: u32) -> Option<Mismatch> {
        while let Some(front) = self.queue.front() {
            let (sequence, word) = (front.sequence, front.word);
            match front.ending? {
                Ending::Failed | Ending::Refused => {}
                Ending::Untold => {
                    // Whether its batch failed is settled once a later transition of the stream has its result.
                    let settles = |ending| matches!(ending, Some(Ending::Verdict(_) | Ending::Failed));
                    if !self.queue.iter().skip(1).any(|later| settles(later.ending)) {
                        return None;
                    }
                    self.take_untold(errors);
                }
                Ending::Verdict(told) => {
                    self.forget();
                    if !self.explains(sequence, word, told) && self.twins_may_explain(sequence, word)? {
                        continue;
                    }
                    if let Some(mismatch) = self.take(told) {
                        self.queue.pop_front();
                        return Some(mismatch);
                    }
                }
            }
            self.queue.pop_front();
        }
        None
    }

    fn explains(&self, sequence: u64, word: u64, told: VerdictKind) -> bool {
        self.candidates.iter().any(|candidate| candidate.window.classify(sequence, word) == told)
    }

    /// Copies that nothing tells apart may have been answered in another order: exchanges endings with one that fits.
    /// `None` while one of them has no ending yet.
    fn twins_may_explain(&mut self, sequence: u64, word: u64) -> Option<bool> {
        for later in 1..self.queue.len() {
            if !self.queue[later].is_twin(&self.queue[0]) {
                continue;
            }
            match self.queue[later].ending? {
                Ending::Verdict(told) if self.explains(sequence, word, told) => {
                    let mine = self.queue[0].ending;
                    self.queue[0].ending = self.queue[later].ending;
                    self.queue[later].ending = mine;
                    return Some(true);
                }
                _ => {}
            }
        }
        Some(false)
    }

    /// What is spent at the admission of the first arrival is forgotten, and may be where only an earlier admission of the
    /// node was past it.
    fn forget(&mut self) {
        let Some(Arrival { wall, latest, .. }) = self.queue.front() else { return };
        let mut may_be_forgotten = false;
        for candidate in self.candidates.iter_mut().filter(|candidate| candidate.is_retained()) {
            if *wall > candidate.spent {
                *candidate = Candidate::default();
            } else {
                may_be_forgotten |= *latest > candidate.spent;
            }
        }
        if may_be_forgotten {
            self.candidates.push(Candidate::default());
        }
        let mut forgotten = 0;
        self.candidates.retain(|candidate| {
            forgotten += u32::from(!candidate.is_retained());
            candidate.is_retained() || forgotten == 1
        });
    }

    fn take(&mut self, told: VerdictKind) -> Option<Mismatch> {
        if self.candidates.is_empty() && !self.torn {
            return None;
        }
        let arrival = self.queue.front()?;
        let sequence = arrival.sequence;
        let expected =
            self.candidates.first().map(|candidate| candidate.window.classify(sequence, arrival.word));
        self.candidates.retain(|candidate| candidate.observe(arrival) == told);
        // Once it is told the stream is not judged until the next life, so that one slip is one violation.
        let mismatch = self.candidates.is_empty().then_some(Mismatch { sequence, told, expected });
        self.torn = false;
        mismatch
    }

    fn take_untold(&mut self, errors: u32) {
        let may_have_failed = self.queue.front().is_some_and(|arrival| errors != arrival.errors);
        let without = may_have_failed.then(|| self.candidates.clone());
        self.forget();
        let Some(arrival) = self.queue.front() else { return };
        for candidate in &mut self.candidates {
            candidate.observe(arrival);
        }
        for candidate in without.into_iter().flatten() {
            if !self.candidates.contains(&candidate) {
                self.candidates.push(candidate);
            }
        }
        if self.candidates.len() > MOST_CANDIDATES {
            self.candidates = smallvec![];
        }
    }
}

/// See the module.
pub struct Verdict {
    names: Names,
    reader: RecordReader,
    records: RecordNames,
    /// By node as well: two runtimes of one account have a window each.
    streams: FxHashMap<(NodeId, StreamKey), Stream>,
    errors: PerNode<u32>,
    /// The latest reading at an admission, of each node's life.
    latest: PerNode<(Life, WallMs)>,
    acts: StoreActs,
    /// What the records of a node's life were before somebody laid hands on them: what its open read.
    read: PerNode<FxHashMap<RecordName, RecordImage>>,
}

impl Verdict {
    /// Its id.
    pub const ID: &'static str = "streams/verdict";
    /// What it states.
    pub const STATES: &'static str = "Verdicts follow from sequence, digest and the retained window alone; timestamps never order replay state, \
         and what failed never was (000, Receiver state machine; Fail closed).";

    /// A checker for one run.
    #[must_use]
    pub fn new(setting: &Setting) -> Self {
        Self {
            names: setting.names.clone(),
            reader: setting.reader,
            records: RecordNames::new(Table::Receiver, setting.reader),
            streams: FxHashMap::default(),
            errors: PerNode::default(),
            latest: PerNode::default(),
            acts: StoreActs::of(setting),
            read: PerNode::default(),
        }
    }

    fn touched(&mut self, fault: FaultId, view: &dyn View) {
        let Some(touch) = self.acts.get(fault).filter(|touch| touch.changes_records()) else { return };
        let read = self.read.at(touch.node);
        for (name, _) in view.visible_records(touch.node) {
            read.entry(name).or_insert_with(|| view.visible_image(touch.node, name));
        }
    }

    fn arrived(
        &mut self,
        node: NodeId,
        (life, wall): (Life, WallMs),
        transaction: &Transaction,
        passage: Passage,
        view: &dyn View,
    ) {
        let errors = *self.errors.at(node);
        let (of, latest) = self.latest.at(node);
        *latest = if *of == life { wall.max(*latest) } else { wall };
        *of = life;
        let latest = *latest;
        let reader = self.reader;
        let (records, read, stream) = (&mut self.records, &*self.read.at(node), &transaction.stream);
        let mut begin = || {
            let name = records.of(stream);
            let image = read.get(&name).cloned().unwrap_or_else(|| view.visible_image(node, name));
            Stream::begin(life, &image, stream, reader)
        };
        let state = self.streams.entry((node, *stream)).or_insert_with(&mut begin);
        if state.life != life {
            *state = begin();
        }
        let word = DigestKey::word(&transaction.digest);
        state.queue.push_back(Arrival {
            sequence: transaction.sequence.0,
            word,
            spent: spent(transaction),
            wall,
            latest,
            passage,
            errors,
            ending: None,
        });
    }

    fn ended(
        &mut self,
        (at, node, life): (SimTime, NodeId, Life),
        transaction: &Transaction,
        passage: Option<Passage>,
        ending: Ending,
        broken: &mut Vec<Violation>,
    ) {
        let errors = *self.errors.at(node);
        let of = (node, transaction.stream);
        let Some(state) = self.streams.get_mut(&of).filter(|state| state.life == life) else { return };
        let (sequence, word) = (transaction.sequence.0, DigestKey::word(&transaction.digest));
        state.ended(sequence, word, passage, ending);
        if let Some(Mismatch { sequence, told, expected }) = state.judge(errors) {
            let stream = self.names.stream(&transaction.stream);
            let expected = expected.map_or("nothing, for its record is not whole", VerdictKind::id);
            let saw = format!(
                "{node} judged {stream}#{sequence} as {}, and what arrived there makes it {expected}",
                told.id()
            );
            broken.push(Violation { law: Self::ID, at, node: Some(node), saw });
        }
    }
}

impl Law for Verdict {
    law_identity!(Outcome reads Booted, FaultBegan, Arrived, Answered, AdmissionAbandoned, DiskAnswered);

    fn event(&mut self, at: SimTime, event: &Event<'_>, view: &dyn View, broken: &mut Vec<Violation>) {
        match event {
            Event::Arrived { node, life, wall, transaction, passage, .. } => {
                self.arrived(*node, (*life, *wall), transaction, *passage, view);
            }
            Event::Answered { node, life, transaction, passage, answer, .. } => {
                let ending = match answer {
                    // The window was not asked.
                    Answer::Verdict(VerdictKind::Redelivered) | Answer::Refused(_) => Ending::Refused,
                    Answer::Verdict(verdict) => Ending::Verdict(*verdict),
                    Answer::FailedBatch => Ending::Failed,
                    Answer::Unscheduled => Ending::Untold,
                };
                self.ended((at, *node, *life), transaction, Some(*passage), ending, broken);
            }
            Event::AdmissionAbandoned { node, life, transaction, .. } => {
                self.ended((at, *node, *life), transaction, None, Ending::Untold, broken);
            }
            Event::DiskAnswered { node, error: Some(_), .. } => *self.errors.at(*node) += 1,
            Event::FaultBegan { fault } => self.touched(*fault, view),
            Event::Booted { node, .. } => self.read.at(*node).clear(),
            _ => {}
        }
    }

    fn end(&mut self, _at: SimTime, _view: &dyn View, _broken: &mut Vec<Violation>) {}
}

#[cfg(test)]
#[path = "verdict_tests.rs"]
mod tests;
