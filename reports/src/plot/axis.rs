//! Where an axis has its labels. Floats here place ink, and decide nothing.

use plotters::coord::ranged1d::{DefaultFormatting, KeyPointHint, Ranged};
use std::ops::Range;

/// An axis with labels where it is told to have them.
#[derive(Clone, Debug)]
pub(super) struct Axis {
    pub range: Range<f64>,
    pub labels: Vec<f64>,
}

impl Ranged for Axis {
    type FormatOption = DefaultFormatting;
    type ValueType = f64;

    #[expect(clippy::cast_possible_truncation, reason = "a pixel")]
    fn map(&self, value: &f64, (begin, end): (i32, i32)) -> i32 {
        let share = (value - self.range.start) / (self.range.end - self.range.start);
        begin + (f64::from(end - begin) * share).round() as i32
    }

    fn key_points<Hint: KeyPointHint>(&self, _: Hint) -> Vec<f64> {
        self.labels.clone()
    }

    fn range(&self) -> Range<f64> {
        self.range.clone()
    }
}

/// Steps of 1, 2 and 5 times a power of ten from the last one at or below `least` to the first one at or above `most`.
pub(super) fn decades(least: u64, most: u64) -> Vec<u64> {
    let mut steps = Vec::new();
    let mut power = 1_u64;
    loop {
        for factor in [1, 2, 5] {
            let Some(step) = power.checked_mul(factor) else { return steps };
            if step <= least {
                steps.clear();
            }
            steps.push(step);
            if step >= most && steps.len() > 1 {
                return steps;
            }
        }
        let Some(next) = power.checked_mul(10) else { return steps };
        power = next;
    }
}

/// Of `steps`, those to label: all of them when few, else powers of ten, and always the first and the last kept as ends.
pub(super) fn thinned(steps: &[u64], most: usize) -> Vec<u64> {
    if steps.len() <= most {
        return steps.to_vec();
    }
    steps.iter().copied().filter(|step| is_power_of_ten(*step)).collect()
}

fn is_power_of_ten(mut number: u64) -> bool {
    while number > 1 && number.is_multiple_of(10) {
        number /= 10;
    }
    number == 1
}

/// Evenly spaced round values from 0 up to at least `most`: (values, the last of them).
pub(super) fn linear(most: u64, labels: usize) -> (Vec<u64>, u64) {
    let wanted = most.max(1).div_ceil(labels.max(2) as u64 - 1).max(1);
    let steps = decades(wanted, wanted);
    let step = steps.into_iter().find(|step| *step >= wanted).unwrap_or(wanted);
    let last = most.max(1).div_ceil(step).saturating_mul(step);
    ((0..=last / step).map(|index| index * step).collect(), last)
}

/// The decimal logarithm for placing a value on an axis.
#[expect(clippy::cast_precision_loss, reason = "places ink")]
pub(super) fn log10(value: u64) -> f64 {
    (value.max(1) as f64).log10()
}

/// A count as a coordinate.
#[expect(clippy::cast_precision_loss, reason = "places ink")]
pub(super) fn place(value: u64) -> f64 {
    value as f64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decades_reach_around_the_values() {
        assert_eq!(decades(3, 40), [2, 5, 10, 20, 50]);
        assert_eq!(decades(1, 1), [1, 2]);
        assert_eq!(decades(0, 9), [1, 2, 5, 10]);
        assert_eq!(decades(10, 10), [10, 20]);
        let steps = decades(1, u64::MAX);
        assert_eq!(steps.last(), Some(&10_000_000_000_000_000_000));
    }

    #[test]
    fn many_steps_are_thinned_to_powers_of_ten() {
        assert_eq!(thinned(&[2, 5, 10], 3), [2, 5, 10]);
        assert_eq!(thinned(&[2, 5, 10, 20, 50, 100, 200], 4), [10, 100]);
    }

    #[test]
    fn a_linear_axis_ends_on_a_label() {
        for most in [0, 1, 7, 99, 100, 101, 12_345] {
            let (values, last) = linear(most, 6);
            assert!(last >= most && values.last() == Some(&last), "{most}: {values:?}");
            assert!((2..=7).contains(&values.len()), "{most}: {values:?}");
        }
    }
}
