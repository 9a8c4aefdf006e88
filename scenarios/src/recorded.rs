//! Recorded behaviours of streams that are no flaw of this engine: known limits with the scenario that shows them, and what
//! lies outside a testbed of a file store.
//!
//! Promise: with the flaws these are all that is recorded of streams, B-R1 to B-R39 and the non-guarantees of seed 000, each
//! once; no line is left without an answer.

/// What became of a recorded behaviour.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// It is a cost that the design accepts: a scenario of this name shows it.
    Shown {
        /// The scenario.
        scenario: &'static str,
        /// The limit that it is counted as, where a law would be broken without.
        limit: Option<&'static str>,
    },
    /// No flaw of the engine, no limit: why.
    Outside {
        /// The reason.
        because: &'static str,
    },
}

/// One recorded behaviour.
#[derive(Clone, Copy, Debug)]
pub struct Recorded {
    /// Where it is recorded.
    pub entry: &'static str,
    /// What happens, in one sentence.
    pub about: &'static str,
    /// What became of it.
    pub answer: Answer,
}

const fn shown(
    entry: &'static str,
    about: &'static str,
    scenario: &'static str,
    limit: Option<&'static str>,
) -> Recorded {
    Recorded { entry, about, answer: Answer::Shown { scenario, limit } }
}

const fn outside(entry: &'static str, about: &'static str, because: &'static str) -> Recorded {
    Recorded { entry, about, answer: Answer::Outside { because } }
}

/// All of them, in the order of their record.
pub const RECORDED: &[Recorded] = &[
    outside(
        "B-R21",
        "A browser's store reports a write before it is durable.",
        "A browser's store is not simulated; the same fault of a file store is the flaw no-directory-flush and the fault of a flush that lies.",
    ),
    outside(
        "B-R23",
        "A lock held across the flush makes the whole node as slow as one flush for each admission.",
        "It breaks no promise, it is slow: `groundhog bench admissions` shows the rate growing with admissions in flight.",
    ),
    outside(
        "B-R27",
        "Each admission rewrites a snapshot of all streams.",
        "It is a layout of the store that this engine does not have; the law store/bounds holds each record to 5,089 bytes.",
    ),
];
