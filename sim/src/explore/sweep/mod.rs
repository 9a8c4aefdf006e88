//! Sweep: a plan again and again, with one node ended at every point of its life at which it can be.
//!
//! Promise: every disk operation in each of its phases and every step of the engines is struck, by a process crash and by a
//! power failure, and each distinct image that the death could leave is one run of the whole world to the plan's end, with
//! every law on. What is not looked at is counted, never left out silently. No thread, no real time: whoever calls brings a
//! [`Runner`].
//!
//! The recovery of each such run, from boot until the engines are open, is swept in the same way, and so is the recovery
//! from that, as deep as [`Settings::depth`] says. There an image that was run from the same first point is not run again.
//! That is sound for what laws ask of a node because of three things, each of which is looked at and not assumed:
//! - *One history.* Up to the first point both runs are the same, event by event: the node has exposed, answered,
//!   dispatched and staged the same.
//! - *An opening life gives nothing out.* What it gives out is named ([`Point::given_out`]), so that a life that gave
//!   something out before it was open would share nothing with one that did not.
//! - *One state.* Two disks of one [`State`](crate::world::disk::State) read alike, and can be left alike whatever is done
//!   to both, but for what is deleted unread; and the kinds of the last deaths are the same, which clocks see.
//!
//! So the two runs differ in when the node is up again, and in nothing that a law could hold it to. First deaths are not
//! merged at all: each image of each point is run.

mod explore;
mod plans;
mod survey;
mod tally;

pub use crate::world::probe::{Point, Probe, ProbedLife};
pub use explore::explore;
pub use plans::{SweptDeath, struck};
pub use survey::{Survey, SweptNode};
pub use tally::{Broken, Finding, Level, Tally};

use crate::outcome::{Cut, Outcome, Violation};
use crate::plan::Plan;
use crate::run::{RunError, RunOptions, run_probed};
use crate::units::{NodeId, SimTime};
use crate::world::probe::Probed;
use std::ops::Range;

/// How long a node that a sweep ends is down, unless it is told otherwise, in microseconds.
pub const DOWN_US: u64 = 20_000;

/// States of one death that are run at most, unless it is told otherwise.
pub const MOST_IMAGES: usize = 65_536;

/// How deep recoveries are swept at most: the recovery from the recovery.
pub const MOST_DEPTH: u8 = 2;

/// What is swept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settings {
    /// Whose lives; everybody's when empty.
    pub nodes: Vec<NodeId>,
    /// How deep recoveries are swept: 0 for not at all.
    pub depth: u8,
    /// How long a node is down.
    pub down_us: u64,
    /// States of one death that are run at most. A death that could leave more is counted.
    pub most_images: usize,
    /// The simulated time within which the first death lies.
    pub within: Range<SimTime>,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            nodes: Vec::new(),
            depth: MOST_DEPTH,
            down_us: DOWN_US,
            most_images: MOST_IMAGES,
            within: SimTime(0)..SimTime(u64::MAX),
        }
    }
}

/// One run to make.
#[derive(Clone, Debug)]
pub struct Job {
    /// What is run.
    pub plan: Plan,
    /// What is looked at.
    pub probe: Probe,
}

/// What came of one run.
#[derive(Clone, Debug)]
pub struct Done {
    /// Laws broken, in order of time.
    pub violations: Vec<Violation>,
    /// Why it ended early, if it did.
    pub cut: Option<Cut>,
    /// What was seen.
    pub probed: Probed,
}

impl Job {
    /// Makes the run.
    ///
    /// # Errors
    /// [`RunError`].
    pub fn run(&self, options: RunOptions) -> Result<Done, RunError> {
        let (Outcome { violations, cut, .. }, probed) = run_probed(&self.plan, options, self.probe.clone())?;
        Ok(Done { violations, cut, probed })
    }
}

/// Makes runs.
pub trait Runner {
    /// Makes all of these, in any order and on any threads, and gives what came of each in the order of the jobs; `None`
    /// when it was interrupted.
    fn run(&mut self, jobs: Vec<Job>) -> Option<Vec<Result<Done, RunError>>>;
}

/// Why a sweep has no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Stopped {
    /// The runner was interrupted.
    #[error("it was interrupted")]
    Interrupted,
    /// The plan as it is does not run to its end.
    #[error("the plan itself does not run to its end: {0:?}")]
    Cut(Cut),
    /// A run failed.
    #[error(transparent)]
    Run(#[from] RunError),
    /// A node that the plan does not have.
    #[error("there is no {0}")]
    NoNode(NodeId),
}
