//! What a run gives: verdict, figures, and where to look. Everything a report or a person needs, as data.
//!
//! Promise: every figure in it was counted from the ledger's events. Simulated figures are exact.

use crate::ledger::doer::Doer;
use crate::units::{FaultId, Life, NodeId, SimTime};
use groundhog_engine::streams::TableUse;
use groundhog_engine::streams::key::Class;
use hdrhistogram::Histogram;
use std::collections::BTreeMap;

/// One law broken once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Violation {
    /// The law's id, such as `streams/at-most-once`.
    pub law: &'static str,
    /// True simulated time.
    pub at: SimTime,
    /// Where, when it happened at one node.
    pub node: Option<NodeId>,
    /// What the law saw, in one line.
    pub saw: String,
}

/// Why a run ended before its plan did.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Cut {
    /// More polls of tasks than the whole run may use.
    Polls {
        /// The budget.
        limit: u64,
        /// The poll at which it was used up.
        last: Option<LastPoll>,
    },
    /// More polls of tasks at one instant than any plan needs: they wake each other, or themselves, and time stands still.
    Livelock {
        /// The bound.
        limit: u64,
        /// The poll at which it was reached.
        last: Option<LastPoll>,
    },
    /// More memory than the bound.
    Memory {
        /// The bound.
        limit_bytes: u64,
    },
    /// More real time than the watchdog allows, at a point where the run could still stop itself.
    Watchdog {
        /// The bound.
        limit_ms: u64,
    },
    /// Interrupted from outside.
    Interrupted,
}

/// A poll of one task of one node.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LastPoll {
    /// The node.
    pub node: NodeId,
    /// Its life.
    pub life: Life,
    /// Which of its tasks, in words.
    pub task: String,
}

impl LastPoll {
    /// The poll that this doer was in; `None` for the world, which is not polled.
    #[must_use]
    pub fn of(doer: &Doer) -> Option<Self> {
        let (node, life) = doer.place()?;
        Some(Self { node, life, task: doer.task() })
    }
}

/// Counts of one slice of simulated time, for the plots.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Slice {
    /// Messages intended.
    pub intended: u64,
    /// Messages dispatched, by class index.
    pub dispatched: [u64; 4],
    /// Admissions answered with a refusal or a refusing verdict.
    pub refused: u64,
    /// Batches durable.
    pub batches: u64,
    /// Records written by them.
    pub records: u64,
    /// Of each bound of the receiver's table, the most that was in use at one node.
    pub tables: TableUse,
}

/// A span of simulated time in which a fault was on, for shading.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FaultSpan {
    /// Which fault of the plan.
    pub fault: FaultId,
    /// The fault's kind and subject in words, such as `power failure, node 3`.
    pub label: String,
    /// Begin.
    pub from: SimTime,
    /// End; equal to `from` for one that lasts no time.
    pub until: SimTime,
}

/// A span in which one node's full relay custody refused what its inbox held for it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stall {
    /// The node.
    pub node: NodeId,
    /// The first refusal.
    pub from: SimTime,
    /// The next delivery that was admitted, or the end of the run.
    pub until: SimTime,
    /// Deliveries refused meanwhile.
    pub refused: u64,
    /// Whether a delivery was admitted before the run ended.
    pub over: bool,
}

/// Latencies of one class.
#[derive(Clone, Debug, PartialEq)]
pub struct Latency {
    /// The class.
    pub class: Class,
    /// From the intended time of sending to dispatch, in nanoseconds of simulated time.
    pub from_intended: Histogram<u64>,
    /// From the actual time of sending to dispatch, in nanoseconds of simulated time.
    pub from_sent: Histogram<u64>,
}

/// A bound and how near the run came to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BoundUse {
    /// What is bounded, in words: `store bytes at the fullest node`.
    pub name: String,
    /// The most that was seen.
    pub most: u64,
    /// The bound.
    pub bound: u64,
}

/// What a flood of fresh accounts took of one node, and what it cost those who are honest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FloodFigures {
    /// The node.
    pub victim: NodeId,
    /// Nodes that sent it, each with a slot of its own.
    pub slots: u64,
    /// Streams that it began.
    pub taken: u64,
    /// Streams that it was refused.
    pub refused: u64,
    /// New streams of honest origins that were refused although their edge was below its floor.
    pub honest_refused_below_floor: u64,
    /// Those refused above it.
    pub honest_refused_above_floor: u64,
    /// The most streams that were in the table and not spent.
    pub most_streams: u64,
    /// The most that its bounds allow.
    pub bound: u64,
    /// Refusals of an edge that ended with a new stream through it.
    pub readmitted: u64,
    /// The longest of them.
    pub longest_refusal_ns: u64,
    /// Edges that were still refused when the run ended.
    pub still_refused: u64,
}

impl FloodFigures {
    /// Nothing has come yet.
    #[must_use]
    pub const fn new(victim: NodeId, slots: u64, bound: u64) -> Self {
        Self {
            victim,
            slots,
            taken: 0,
            refused: 0,
            honest_refused_below_floor: 0,
            honest_refused_above_floor: 0,
            most_streams: 0,
            bound,
            readmitted: 0,
            longest_refusal_ns: 0,
            still_refused: 0,
        }
    }

    /// A new stream was refused for lack of room.
    pub const fn refused(&mut self, honest: bool, below_floor: bool) {
        match (honest, below_floor) {
            (false, _) => self.refused += 1,
            (true, true) => self.honest_refused_below_floor += 1,
            (true, false) => self.honest_refused_above_floor += 1,
        }
    }
}

/// One run's outcome.
#[derive(Clone, Debug, PartialEq)]
pub struct Outcome {
    /// SHA-256 over all events.
    pub fingerprint: [u8; 32],
    /// A digest for every 1,024 events, to find where two runs part.
    pub checkpoints: Vec<[u8; 8]>,
    /// Events in the ledger.
    pub events: u64,
    /// Simulated time covered.
    pub covered: SimTime,
    /// Laws broken, in order of time.
    pub violations: Vec<Violation>,
    /// Known limits met: id -> how often.
    pub limits: BTreeMap<&'static str, u64>,
    /// Marks reached: id -> how often.
    pub marks: BTreeMap<&'static str, u64>,
    /// Every class's latencies.
    pub latencies: Vec<Latency>,
    /// Length of a slice in simulated nanoseconds.
    pub slice_ns: u64,
    /// The slices, from time zero.
    pub slices: Vec<Slice>,
    /// Fault spans in order of their begin.
    pub fault_spans: Vec<FaultSpan>,
    /// Messages intended.
    pub intended: u64,
    /// Messages dispatched at least once.
    pub dispatched: u64,
    /// Messages lost, by cause.
    pub losses: BTreeMap<&'static str, u64>,
    /// Verdicts on admissions, by kind.
    pub verdicts: BTreeMap<&'static str, u64>,
    /// Refusals, by reason.
    pub refusals: BTreeMap<&'static str, u64>,
    /// Faults that took effect, by kind.
    pub faults: BTreeMap<&'static str, u64>,
    /// Deaths, by kind.
    pub deaths: BTreeMap<&'static str, u64>,
    /// Bounds and their use.
    pub bounds: Vec<BoundUse>,
    /// Batch sizes in records: size -> how many batches.
    pub batch_sizes: BTreeMap<u32, u64>,
    /// What floods took, for each node that was flooded, those by fewer slots first.
    pub floods: Vec<FloodFigures>,
    /// What became of mail, and how long custody stalled: what -> how much. Empty where none was held.
    pub mail: BTreeMap<&'static str, u64>,
    /// Spans in which custody refused mail, in order of their begin.
    pub stalls: Vec<Stall>,
    /// Why the run ended early, if it did.
    pub cut: Option<Cut>,
}

impl Outcome {
    /// Whether every law held and the run was whole.
    #[must_use]
    pub fn held(&self) -> bool {
        self.violations.is_empty() && self.cut.is_none()
    }
}
