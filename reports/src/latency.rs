//! Which percentiles may be shown, and what they are.
//!
//! Promise: no percentile is given that fewer than ten samples lie above: with 800 samples a p99.9 is a single message.

use hdrhistogram::Histogram;

/// Samples that must lie above a percentile for it to be shown (design, section 7).
pub const SAMPLES_ABOVE: u64 = 10;

/// A percentile in whole parts of 100,000, so that none is a rounded float.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Percentile {
    /// Parts of 100,000.
    pub per_100_000: u32,
    /// How it is written.
    pub label: &'static str,
}

/// The percentiles that reports may show, ascending.
pub const LADDER: [Percentile; 7] = [
    Percentile { per_100_000: 50_000, label: "p50" },
    Percentile { per_100_000: 75_000, label: "p75" },
    Percentile { per_100_000: 90_000, label: "p90" },
    Percentile { per_100_000: 99_000, label: "p99" },
    Percentile { per_100_000: 99_900, label: "p99.9" },
    Percentile { per_100_000: 99_990, label: "p99.99" },
    Percentile { per_100_000: 99_999, label: "p99.999" },
];

/// Whether at least [`SAMPLES_ABOVE`] of `samples` lie above `parts` of `whole`.
#[must_use]
pub fn allowed(samples: u64, parts: u64, whole: u64) -> bool {
    debug_assert!(parts <= whole && whole > 0);
    let below = (u128::from(samples) * u128::from(parts)).div_ceil(u128::from(whole));
    u128::from(samples) - below >= u128::from(SAMPLES_ABOVE)
}

/// The value at `percentile`, or `None` when fewer than [`SAMPLES_ABOVE`] samples lie above it.
#[must_use]
pub fn percentile(histogram: &Histogram<u64>, percentile: Percentile) -> Option<u64> {
    allowed(histogram.len(), u64::from(percentile.per_100_000), 100_000)
        .then(|| histogram.value_at_quantile(f64::from(percentile.per_100_000) / 100_000.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_percentile_needs_ten_samples_above_it() {
        let table = [
            (0, 50_000, false),
            (19, 50_000, false),
            (20, 50_000, true),
            (99, 90_000, false),
            (100, 90_000, true),
            (999, 99_000, false),
            (1_000, 99_000, true),
            (9_999, 99_900, false),
            (10_000, 99_900, true),
            (999_999, 99_999, false),
            (1_000_000, 99_999, true),
            (u64::MAX, 99_999, true),
        ];
        for (samples, parts, expected) in table {
            assert_eq!(allowed(samples, parts, 100_000), expected, "{samples} samples at {parts}");
        }
    }

    #[test]
    fn a_shown_percentile_has_its_samples_above_it() {
        let mut histogram = Histogram::<u64>::new(3).unwrap();
        for value in 1..=2_000 {
            histogram.record(value).unwrap();
        }
        for step in LADDER {
            let Some(value) = percentile(&histogram, step) else {
                assert!(step.per_100_000 > 99_500, "{} is missing", step.label);
                continue;
            };
            let above = histogram.len() - histogram.count_between(0, value);
            assert!(above >= SAMPLES_ABOVE, "{} has {above} samples above it", step.label);
        }
    }
}
