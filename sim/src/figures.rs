//! An outcome as names and values, to compare it with another of the same plan.
//!
//! Promise: every figure of an outcome is here, so that two outcomes with equal fingerprints and equal figures are equal.
//! Figures are counted from events: where those are equal and a figure is not, the ledger has a defect.

use crate::outcome::{Outcome, Slice};
use hdrhistogram::Histogram;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::collections::BTreeMap;
use std::fmt::Display;

/// One figure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Figure {
    /// What it is, such as `lost by partition`.
    pub name: String,
    /// Its value, in words or digits.
    pub value: String,
}

/// A figure that two outcomes do not share.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Unlike {
    /// What it is.
    pub name: String,
    /// Its value in the first; `None` where the first has none.
    pub left: Option<String>,
    /// Its value in the second.
    pub right: Option<String>,
}

/// The first figure that differs.
#[must_use]
pub fn first_unlike_figure(left: &[Figure], right: &[Figure]) -> Option<Unlike> {
    let by_name = |figures: &[Figure]| -> BTreeMap<String, String> {
        figures.iter().map(|figure| (figure.name.clone(), figure.value.clone())).collect()
    };
    let (by_left, by_right) = (by_name(left), by_name(right));
    // In the order of the outcome, which begins with what a reader looks at first.
    left.iter().chain(right).find_map(|Figure { name, .. }| {
        let (left, right) = (by_left.get(name), by_right.get(name));
        (left != right).then(|| Unlike { name: name.clone(), left: left.cloned(), right: right.cloned() })
    })
}

#[derive(Default)]
struct Figures(Vec<Figure>);

impl Figures {
    fn add(&mut self, name: impl Into<String>, value: impl Display) {
        self.0.push(Figure { name: name.into(), value: value.to_string() });
    }

    fn add_counts<K: Display>(&mut self, what: &str, counts: &BTreeMap<K, u64>) {
        for (name, count) in counts {
            self.add(format!("{what} {name}"), count);
        }
    }

    fn add_histogram(&mut self, name: String, histogram: &Histogram<u64>) {
        let mut digest = Sha256::new();
        for step in histogram.iter_recorded() {
            digest.update(step.value_iterated_to().to_le_bytes());
            digest.update(step.count_at_value().to_le_bytes());
        }
        let [a, b, c, d, ..]: [u8; 32] = digest.finalize().into();
        let (samples, least, most) = (histogram.len(), histogram.min(), histogram.max());
        self.add(name, format_args!("{samples} samples, {least} to {most} ns, {a:02x}{b:02x}{c:02x}{d:02x}"));
    }
}

impl Outcome {
    /// Every figure but the fingerprint and its checkpoints, which are digests of the events.
    #[must_use]
    pub fn figures(&self) -> Vec<Figure> {
        // Taken apart whole: a new field is a figure, or says here why it is none.
        let Outcome {
            fingerprint: _,
            checkpoints: _,
            events,
            covered,
            violations,
            limits,
            marks,
            latencies,
            slice_ns,
            slices,
            fault_spans,
            intended,
            dispatched,
            losses,
            verdicts,
            refusals,
            faults,
            deaths,
            bounds,
            batch_sizes,
            floods,
            mail,
            stalls,
            cut,
        } = self;
        let mut figures = Figures::default();
        figures.add("events", events);
        figures.add("simulated time", covered);
        figures.add("why it was cut", format_args!("{cut:?}"));
        for (place, broken) in violations.iter().enumerate() {
            figures.add(format!("violation {place}"), format_args!("{broken:?}"));
        }
        figures.add("messages intended", intended);
        figures.add("messages dispatched", dispatched);
        figures.add_counts("lost by", losses);
        figures.add_counts("verdict", verdicts);
        figures.add_counts("refusal", refusals);
        figures.add_counts("fault", faults);
        figures.add_counts("death by", deaths);
        figures.add_counts("limit", limits);
        figures.add_counts("mark", marks);
        figures.add_counts("batches of size", batch_sizes);
        for flood in floods {
            figures.add(format!("flood of {}", flood.victim), format_args!("{flood:?}"));
        }
        figures.add_counts("mail", mail);
        for (place, stall) in stalls.iter().enumerate() {
            figures.add(format!("stall {place}"), format_args!("{stall:?}"));
        }
        for bound in bounds {
            figures.add(format!("bound {}", bound.name), format_args!("{} of {}", bound.most, bound.bound));
        }
        for latency in latencies {
            figures
                .add_histogram(format!("latency of {} from intended", latency.class), &latency.from_intended);
            figures.add_histogram(format!("latency of {} from sent", latency.class), &latency.from_sent);
        }
        for (place, span) in fault_spans.iter().enumerate() {
            let (label, from, until) = (&span.label, span.from, span.until);
            figures.add(format!("fault span {place}"), format_args!("{label}, {from} to {until}"));
        }
        figures.add("length of a slice", format_args!("{slice_ns} ns"));
        for (place, slice) in slices.iter().enumerate() {
            figures.add(format!("slice {place}"), of_slice(slice));
        }
        figures.0
    }
}

fn of_slice(slice: &Slice) -> String {
    let Slice { intended, dispatched, refused, batches, records, tables } = slice;
    format!(
        "{intended} intended, {dispatched:?} dispatched, {refused} refused, {batches} batches, {records} records, {tables:?}"
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn figures(values: &[(&str, u64)]) -> Vec<Figure> {
        values
            .iter()
            .map(|(name, value)| Figure { name: (*name).to_owned(), value: value.to_string() })
            .collect()
    }

    #[test]
    fn the_first_figure_that_differs_is_named_with_both_values() {
        let left = figures(&[("a", 1), ("b", 2), ("c", 3)]);
        assert_eq!(first_unlike_figure(&left, &left.clone()), None);
        let cases = [
            (figures(&[("a", 1), ("b", 7), ("c", 9)]), "b", Some("2"), Some("7")),
            (figures(&[("a", 1), ("c", 3)]), "b", Some("2"), None),
            (figures(&[("a", 1), ("b", 2), ("c", 3), ("d", 0)]), "d", None, Some("0")),
            (figures(&[]), "a", Some("1"), None),
        ];
        for (right, name, in_left, in_right) in cases {
            let unlike = first_unlike_figure(&left, &right).expect("they differ");
            let values = (unlike.left.as_deref(), unlike.right.as_deref());
            assert_eq!((unlike.name.as_str(), values), (name, (in_left, in_right)));
        }
    }
}
