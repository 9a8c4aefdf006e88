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
    shown(
        "B-R11",
        "64 deliveries in custody whose mail is lost at every carrier refuse all other mail until the earliest is spent.",
        "custody-stall",
        None,
    ),
    outside(
        "B-R21",
        "A browser's store reports a write before it is durable.",
        "A browser's store is not simulated; the same in a file store is the flaw no-directory-flush and the fault of a flush that lies.",
    ),
    outside(
        "B-R23",
        "A lock held across the flush makes a node as slow as one flush for each admission.",
        "It breaks no promise, it is slow: `groundhog bench admissions` shows the rate growing with the admissions in flight.",
    ),
    outside(
        "B-R27",
        "Each admission rewrites a snapshot of all streams.",
        "This store has a record for each stream; the law streams/store-bounds holds each to 5,089 bytes.",
    ),
    shown(
        "B-R29",
        "So many fresh origins that every quota record is in use refuse new origins until one is full again.",
        "quota-burst",
        None,
    ),
    shown(
        "B-R30",
        "What is refused after its durable admission is lost: a retransmission is a replay.",
        "link-generations",
        None,
    ),
    shown(
        "B-R35",
        "Two runtimes on one allocator, or a backup put back, show an honest node as forking.",
        "two-allocators",
        Some("forks-by-two-allocators"),
    ),
    shown(
        "B-R36",
        "A cleared sender's record begins again at 0: stale, then forks against itself, until it is past the high.",
        "operator-clear",
        Some("cleared-sender"),
    ),
    shown(
        "B-R38",
        "A wall clock that runs ahead and comes back retires what can still be delivered.",
        "skewed-clocks",
        Some("clock-excursion"),
    ),
    shown(
        "non-guarantee/order",
        "There is no order across accounts, and none over the whole network: each stream is judged by itself.",
        "lane-interleaving",
        None,
    ),
    shown(
        "non-guarantee/gap",
        "A gap in sequences proves no loss and no dishonest relay.",
        "crash-mid-batch",
        None,
    ),
    shown(
        "non-guarantee/retransmission",
        "The protocol resends and acknowledges nothing: what is lost stays lost, unless the workload sends a copy (decision 14).",
        "crash-mid-batch",
        None,
    ),
    shown(
        "non-guarantee/exactly-once",
        "An application's effects are not exactly once: a process may die between dispatch and effect.",
        "crash-mid-batch",
        None,
    ),
    shown(
        "non-guarantee/deleted-store",
        "Messages older than a store that somebody deleted are not recognised.",
        "operator-clear",
        Some("cleared-receiver"),
    ),
    shown(
        "non-guarantee/reputation",
        "Evidence of a fork has no consequence for its signer: an honest node that is shown as forking is served as before.",
        "two-allocators",
        None,
    ),
];

#[cfg(test)]
mod tests {
    use super::*;
    use crate::catalogue::CATALOGUE;
    use groundhog_engine::flaws::Flaw;
    use groundhog_sim::laws::excuses::LIMITS;

    #[test]
    fn every_recorded_behaviour_of_streams_is_a_flaw_or_has_its_answer_here() {
        for number in 1..=39 {
            let entry = format!("B-R{number}");
            let flaws = Flaw::ALL.iter().filter(|flaw| flaw.entry() == entry).count();
            let here = RECORDED.iter().filter(|recorded| recorded.entry == entry).count();
            assert!((flaws > 0) != (here == 1), "{entry}: {flaws} flaws, {here} answers");
        }
        let known = |entry: &str| {
            let number = entry.strip_prefix("B-R").and_then(|number| number.parse().ok());
            number.is_some_and(|number| (1..=39).contains(&number)) || entry.starts_with("non-guarantee/")
        };
        assert!(RECORDED.iter().all(|recorded| known(recorded.entry)), "what else is recorded of streams?");
    }

    #[test]
    fn every_line_of_the_seeds_non_guarantees_is_shown_by_a_scenario() {
        const LINES: [&str; 6] =
            ["order", "gap", "retransmission", "exactly-once", "deleted-store", "reputation"];
        let recorded =
            RECORDED.iter().filter_map(|one| Some((one.entry.strip_prefix("non-guarantee/")?, one.answer)));
        let (lines, answers): (Vec<_>, Vec<_>) = recorded.unzip();
        assert_eq!(lines, LINES);
        assert!(answers.iter().all(|answer| matches!(answer, Answer::Shown { .. })), "{answers:?}");
    }

    #[test]
    fn what_lies_outside_says_why() {
        for recorded in RECORDED {
            let Answer::Outside { because } = recorded.answer else { continue };
            assert!(because.len() > 40 && because.ends_with('.'), "{}: {because}", recorded.entry);
        }
    }

    #[test]
    fn what_is_shown_is_shown_by_a_scenario_that_exists_and_counted_as_a_limit_that_exists() {
        for recorded in RECORDED {
            let Answer::Shown { scenario, limit } = recorded.answer else { continue };
            assert!(CATALOGUE.iter().any(|entry| entry.name == scenario), "{scenario}");
            let known = |id: &str| LIMITS.iter().any(|limit| limit.id == id);
            assert!(limit.is_none_or(known), "{}: {limit:?}", recorded.entry);
        }
    }
}
