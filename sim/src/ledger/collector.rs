//! Counts events into the figures of an outcome.
//!
//! Promise: every figure is counted from events, except the use of stores, which is read from the disks: of a node's
//! store once in every slice in which a batch of it became durable, at each of its deaths, and at the end.

use super::batches::Batches;
use super::event::{Answer, Event};
use super::fates::Fates;
use super::floods::Floods;
use super::lanes::Lanes;
use super::mail_counter::MailCounter;
use super::usage::{self, Usage};
use super::words;
use crate::laws::{StoreUse, View};
use crate::outcome::{BoundUse, FaultSpan, Latency, Outcome, Slice};
use crate::plan::{ClockFault, Death, DiskFault, FaultKind, Plan};
use crate::units::{FaultId, NodeId, SimTime};
use groundhog_engine::host::observe::EngineEvent;
use groundhog_engine::streams::TableUse;
use groundhog_engine::streams::key::Class;
use groundhog_engine::streams::lanes::LANE_WINDOW;
use groundhog_engine::streams::lanes::RECEIVE_CREDIT_FRAMES;
use groundhog_engine::streams::window::VerdictKind;
use hdrhistogram::Histogram;
use std::collections::BTreeMap;

/// The most slices that an outcome has.
pub const MOST_SLICES: u64 = 240;
/// Decimal digits that latency histograms keep.
const LATENCY_DIGITS: u8 = 3;
/// A node writes at most one batch while one more gathers (seed 000; decision 12).
const MOST_BATCHES: u64 = 2;

const VERDICTS: [VerdictKind; 7] = [
    VerdictKind::First,
    VerdictKind::Advance,
    VerdictKind::Late,
    VerdictKind::Replay,
    VerdictKind::Fork,
    VerdictKind::Stale,
    VerdictKind::Redelivered,
];

/// The instants of what was held on its way: how long that took says nothing of the engine.
pub const NO_LATENCY: u64 = u64::MAX;

/// What the plan says of a fault.
struct Known {
    label: String,
    kind: &'static str,
    /// The node that it takes down until that boots again.
    takes_down: Option<NodeId>,
    /// Whether it lasts no time.
    instant: bool,
}

impl Known {
    fn new(kind: &FaultKind) -> Self {
        let instant = matches!(
            kind,
            FaultKind::Clock { fault: ClockFault::Step { .. } | ClockFault::BehindAtBoot { .. }, .. }
                | FaultKind::Disk { fault: DiskFault::WriteBack, .. }
                | FaultKind::Store { .. }
        );
        let takes_down = if let FaultKind::Crash { node, .. } = kind { Some(*node) } else { None };
        Self { label: words::fault_label(kind), kind: words::fault_kind(kind), takes_down, instant }
    }
}

/// A fault that was on. One that takes a node down ends with the node's next boot.
struct Span {
    fault: FaultId,
    takes_down: Option<NodeId>,
    from: SimTime,
    until: Option<SimTime>,
}

/// The figures so far.
pub struct Collector {
    faults: BTreeMap<FaultId, Known>,
    end: SimTime,
    store_budget_bytes: u64,
    store_records_bound: u64,
    lane_frames_bound: u64,
    slice_ns: u64,
    slices: Vec<Slice>,
    latencies: Vec<Latency>,
    fates: Fates,
    spans: Vec<Span>,
    verdicts: [u64; 7],
    answers: BTreeMap<&'static str, u64>,
    refusals: BTreeMap<&'static str, u64>,
    faults_met: BTreeMap<&'static str, u64>,
    deaths: [u64; 2],
    batch_sizes: BTreeMap<u32, u64>,
    intended: u64,
    most_batches: u32,
    store_bytes: u64,
    store_records: u64,
    usage: Usage,
    /// Records of the batch that each node writes.
    writing: Vec<u32>,
    /// The slice in which each node's store was last looked at.
    sampled: Vec<usize>,
    floods: Floods,
    mail: MailCounter,
}

impl Collector {
    /// For one run of `plan`.
    ///
    /// # Panics
    /// Never: three digits are within what a histogram keeps.
    #[must_use]
    pub fn new(plan: &Plan) -> Self {
        let end = SimTime::from_us(plan.end_us);
        let histogram = || Histogram::new(LATENCY_DIGITS).expect("3 digits are within 0 to 5");
        Self {
            faults: plan.faults.iter().map(|fault| (fault.id, Known::new(&fault.kind))).collect(),
            end,
            store_budget_bytes: plan.engines.store_budget_bytes,
            store_records_bound: 2 * u64::from(plan.engines.stream_capacity),
            // A transfer of many frames is bounded by the receive credit of its lane.
            lane_frames_bound: match plan.engines.links.chunks {
                None => LANE_WINDOW,
                Some(_) => RECEIVE_CREDIT_FRAMES.into(),
            },
            slice_ns: slice_ns(end),
            slices: Vec::new(),
            latencies: Class::ALL
                .map(|class| Latency { class, from_intended: histogram(), from_sent: histogram() })
                .into(),
            fates: Fates::new(plan),
            spans: Vec::new(),
            verdicts: [0; 7],
            answers: BTreeMap::new(),
            refusals: BTreeMap::new(),
            faults_met: BTreeMap::new(),
            deaths: [0; 2],
            batch_sizes: BTreeMap::new(),
            intended: 0,
            most_batches: 0,
            store_bytes: 0,
            store_records: 0,
            usage: Usage::new(plan),
            writing: vec![0; plan.nodes.len()],
            sampled: vec![usize::MAX; plan.nodes.len()],
            floods: Floods::new(plan),
            mail: MailCounter::default(),
        }
    }

    /// What became of each message so far.
    #[must_use]
    pub const fn fates(&self) -> &Fates {
        &self.fates
    }

    /// Reads one event, which `batches` has read already.
    #[inline]
    pub fn event(&mut self, at: SimTime, event: &Event<'_>, batches: &Batches, view: &dyn View) {
        let first_dispatch = self.fates.event(event);
        self.floods.event(at, event);
        self.mail.event(at, event);
        match *event {
            Event::Intended { .. } => {
                self.intended += 1;
                self.slice(at).intended += 1;
            }
            Event::Dispatched { transaction, intended_ns, sent_ns, .. } => {
                let class = transaction.stream.class;
                self.slice(at).dispatched[class.index()] += 1;
                if first_dispatch && intended_ns != NO_LATENCY {
                    let latency = &mut self.latencies[class.index()];
                    record(&mut latency.from_intended, at.0.saturating_sub(intended_ns));
                    record(&mut latency.from_sent, at.0.saturating_sub(sent_ns));
                }
            }
            Event::Answered { answer, .. } => self.answered(at, answer),
            Event::ReserveAnswered { refusal: Some(reason), .. } => {
                *self.refusals.entry(reason).or_default() += 1
            }
            Event::OpenFailed { reason, .. } => *self.refusals.entry(reason).or_default() += 1,
            Event::Booted { node, .. } => self.end_spans(at, |span| span.takes_down == Some(node)),
            Event::Quiesced => self.end_spans(at, |span| span.takes_down.is_none()),
            Event::Died { node, death, .. } => {
                self.deaths[death as usize] += 1;
                self.usage.tells(node, TableUse::default());
                self.sample(node, view);
            }
            Event::FaultBegan { fault } => self.fault_began(at, fault),
            Event::FaultEnded { fault } => {
                self.end_spans(at, |span| span.fault == fault && span.takes_down.is_none())
            }
            Event::Engine { node, ref event, .. } => self.reported(at, node, event, batches, view),
            _ => {}
        }
    }

    /// The figures, without what the ledger itself knows (fingerprint, laws, marks).
    #[must_use]
    pub fn finish(mut self, at: SimTime, lanes: &Lanes, view: &dyn View) -> Outcome {
        for node in 0..self.sampled.len() {
            self.sample(NodeId(u16::try_from(node).expect("nodes are numbered by u16")), view);
        }
        let (dispatched, losses) = self.fates.tally();
        let bound = |name: &str, most: u64, bound: u64| BoundUse { name: name.to_owned(), most, bound };
        let mut bounds = vec![
            bound("store bytes at the fullest node", self.store_bytes, self.store_budget_bytes),
            bound("store records at the fullest node", self.store_records, self.store_records_bound),
            bound("batches in hand at one node", u64::from(self.most_batches), MOST_BATCHES),
            bound("frames of one lane in flight", u64::from(lanes.most_in_flight()), self.lane_frames_bound),
        ];
        bounds.extend(self.usage.bounds());
        let spans = std::mem::take(&mut self.spans);
        let fault_spans = spans
            .into_iter()
            .map(|span| FaultSpan {
                fault: span.fault,
                label: self.faults[&span.fault].label.clone(),
                from: span.from,
                until: span.until.unwrap_or(at),
            })
            .collect();
        let (mail, stalls) = self.mail.figures(at);
        let mut verdicts = self.answers;
        for (verdict, count) in VERDICTS.iter().zip(self.verdicts).filter(|(_, count)| *count > 0) {
            verdicts.insert(verdict.id(), count);
        }
        let deaths = [Death::Process, Death::Power]
            .map(|death| (words::death_kind(death), self.deaths[death as usize]));
        Outcome {
            fingerprint: [0; 32],
            checkpoints: Vec::new(),
            events: 0,
            covered: at,
            violations: Vec::new(),
            limits: BTreeMap::new(),
            marks: BTreeMap::new(),
            latencies: self.latencies,
            slice_ns: self.slice_ns,
            slices: self.slices,
            fault_spans,
            intended: self.intended,
            dispatched,
            losses,
            verdicts,
            refusals: self.refusals,
            faults: self.faults_met,
            deaths: deaths.into_iter().filter(|(_, count)| *count > 0).collect(),
            bounds,
            batch_sizes: self.batch_sizes,
            floods: self.floods.finish(),
            mail,
            stalls,
            cut: None,
        }
    }

    #[inline]
    fn slice_index(&self, at: SimTime) -> usize {
        // What happens at the plan's end or after it belongs to the last slice.
        (at.0.min(self.end.0.saturating_sub(1)) / self.slice_ns) as usize
    }

    #[inline]
    fn slice(&mut self, at: SimTime) -> &mut Slice {
        let index = self.slice_index(at);
        if index >= self.slices.len() {
            let tables = self.usage.now();
            self.slices.resize(index + 1, Slice { tables, ..Slice::default() });
        }
        &mut self.slices[index]
    }

    fn answered(&mut self, at: SimTime, answer: Answer) {
        let refused = match answer {
            Answer::Verdict(verdict) => {
                self.verdicts[verdict as usize] += 1;
                !verdict.dispatches()
            }
            Answer::Refused(reason) => {
                *self.refusals.entry(reason).or_default() += 1;
                *self.answers.entry("refused").or_default() += 1;
                true
            }
            Answer::FailedBatch => {
                *self.answers.entry("failed-batch").or_default() += 1;
                true
            }
            Answer::Unscheduled => {
                *self.answers.entry("unscheduled").or_default() += 1;
                true
            }
        };
        self.slice(at).refused += u64::from(refused);
    }

    fn fault_began(&mut self, at: SimTime, fault: FaultId) {
        let Some(known) = self.faults.get(&fault) else { return };
        *self.faults_met.entry(known.kind).or_default() += 1;
        let until = known.instant.then_some(at);
        self.spans.push(Span { fault, takes_down: known.takes_down, from: at, until });
    }

    fn end_spans(&mut self, at: SimTime, which: impl Fn(&Span) -> bool) {
        for span in self.spans.iter_mut().filter(|span| span.until.is_none() && which(span)) {
            span.until = Some(at);
        }
    }

    fn reported(
        &mut self,
        at: SimTime,
        node: NodeId,
        event: &EngineEvent<'_>,
        batches: &Batches,
        view: &dyn View,
    ) {
        match *event {
            EngineEvent::BatchClosed { records, .. } => {
                let records = u32::try_from(records.len()).unwrap_or(u32::MAX);
                *self.batch_sizes.entry(records).or_default() += 1;
                if let Some(writing) = self.writing.get_mut(node.index()) {
                    *writing = records;
                }
                self.most_batches = self.most_batches.max(batches.in_hand(node));
            }
            EngineEvent::TableUse { used } => {
                self.usage.tells(node, used);
                let slice = self.slice(at);
                slice.tables = usage::greater(slice.tables, used);
            }
            EngineEvent::Transition { staged: Some(_), .. } => {
                self.most_batches = self.most_batches.max(batches.in_hand(node));
            }
            EngineEvent::BatchDurable { .. } => {
                let records = self.writing.get(node.index()).copied().unwrap_or(0);
                self.slice(at).batches += 1;
                self.slice(at).records += u64::from(records);
                let slice = self.slice_index(at);
                if self.sampled.get(node.index()).is_some_and(|sampled| *sampled != slice) {
                    self.sampled[node.index()] = slice;
                    self.sample(node, view);
                }
            }
            _ => {}
        }
    }

    fn sample(&mut self, node: NodeId, view: &dyn View) {
        let StoreUse { records, bytes } = view.store_use(node);
        self.store_bytes = self.store_bytes.max(bytes);
        self.store_records = self.store_records.max(records);
    }
}

/// The length of a slice: at most [`MOST_SLICES`] cover the run; at least a microsecond, so that no figure hides in noise.
fn slice_ns(end: SimTime) -> u64 {
    end.0.div_ceil(MOST_SLICES).max(1_000)
}

/// Histograms grow, so that none is too small for a value.
fn record(histogram: &mut Histogram<u64>, value_ns: u64) {
    histogram.record(value_ns).expect("a histogram that grows takes every value");
}
