//! Which runs a series has: seed by seed over all targets, each of which takes its share of the seeds.
//!
//! Promise: whether a target takes a seed follows from the seed alone, so that one series and two that follow each other have
//! the same runs; a target that is alone takes every seed. A series of so many seeds leaves no target out: one whose share
//! has none of them takes the first, last of all.

/// Seeds of which shares are stated.
const WHOLE: u128 = 1_000;

/// The shares of the targets of one series, in thousandths, none of them 0.
#[derive(Clone, Debug)]
pub struct Shares {
    of: Vec<u128>,
    /// Runs of the seeds before the first of the series.
    before: u128,
    /// How many runs the shares give, and after them, one run each, the first seed and the targets that had none.
    short: Option<(u64, u64, Vec<usize>)>,
}

impl Shares {
    /// Of these targets, in a series that begins with the seed `from`.
    pub fn new(shares: impl Iterator<Item = u64>, from: u64) -> Self {
        let of = shares.map(u128::from).collect();
        let mut shares = Self { of, before: 0, short: None };
        shares.before = shares.until(from.into());
        shares
    }

    /// Gives each target one run at least of a series of `count` seeds.
    pub fn with_each(mut self, from: u64, count: u64) -> Self {
        let (first, end) = (u128::from(from), u128::from(from) + u128::from(count));
        let has_none = |target: &usize| taken(self.of[*target], end) == taken(self.of[*target], first);
        let left_out: Vec<usize> = (0..self.of.len()).filter(has_none).collect();
        let runs = self.runs_of(from, count);
        self.short = (!left_out.is_empty()).then_some((runs, from, left_out));
        self
    }

    /// How many runs so many seeds from the first on have, over all targets.
    pub fn runs_of(&self, from: u64, count: u64) -> u64 {
        let runs = self.until(u128::from(from) + u128::from(count)) - self.before;
        let more = self.short.as_ref().map_or(0, |(_, _, targets)| targets.len() as u64);
        u64::try_from(runs).unwrap_or(u64::MAX).saturating_add(more)
    }

    /// How many runs all seeds below this one have.
    fn until(&self, seed: u128) -> u128 {
        self.of.iter().map(|share| taken(*share, seed)).sum()
    }

    /// The seed and the target of one run of the series, by its number; `None` beyond the last seed that there is.
    pub fn run(&self, number: u64) -> Option<(u64, usize)> {
        if let Some((runs, first, targets)) = &self.short
            && number >= *runs
        {
            let place = usize::try_from(number - runs).ok()?;
            return targets.get(place).map(|target| (*first, *target));
        }
        let number = self.before + u128::from(number);
        let of_whole = self.until(WHOLE);
        let (block, within) = (number / of_whole, number % of_whole);
        // The last seed of the block before which no more than `within` runs lie.
        let (mut from, mut until) = (0, WHOLE);
        while until - from > 1 {
            let middle = from + (until - from) / 2;
            if self.until(middle) <= within {
                from = middle;
            } else {
                until = middle;
            }
        }
        let mut taking = (0..self.of.len()).filter(|target| takes(self.of[*target], from));
        let place = usize::try_from(within - self.until(from)).ok()?;
        Some((u64::try_from(block * WHOLE + from).ok()?, taking.nth(place)?))
    }
}

/// How many seeds below this one a share takes: the last of each part, so that a short series has none of a small share.
fn taken(share: u128, seed: u128) -> u128 {
    seed / WHOLE * share + seed % WHOLE * share / WHOLE
}

fn takes(share: u128, seed: u128) -> bool {
    taken(share, seed + 1) > taken(share, seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(shares: &[u64], from: u64, count: u64) -> Vec<(u64, usize)> {
        let shares = Shares::new(shares.iter().copied(), from);
        (0..shares.runs_of(from, count)).map(|number| shares.run(number).expect("there are seeds")).collect()
    }

    #[test]
    fn whole_shares_go_seed_by_seed_over_all_targets() {
        let all = (0..3_000).flat_map(|seed| (0..3).map(move |target| (seed, target)));
        assert_eq!(runs(&[1_000; 3], 0, 3_000), all.collect::<Vec<_>>());
    }

    #[test]
    fn a_smaller_share_is_spread_evenly() {
        let runs = runs(&[1_000, 100], 0, 2_000);
        let second: Vec<u64> =
            runs.iter().filter(|(_, target)| *target == 1).map(|(seed, _)| *seed).collect();
        assert_eq!(second, (0..200).map(|nth| nth * 10 + 9).collect::<Vec<_>>());
        assert_eq!(runs.iter().filter(|(_, target)| *target == 0).count(), 2_000);
        assert!(runs.is_sorted());
    }

    #[test]
    fn a_short_series_leaves_no_target_out() {
        let series = |from, count| {
            let shares = Shares::new([1_000, 100].into_iter(), from).with_each(from, count);
            (0..)
                .map_while(|number| shares.run(number))
                .take(shares.runs_of(from, count) as usize)
                .collect::<Vec<_>>()
        };
        assert_eq!(series(0, 1), [(0, 0), (0, 1)]);
        assert_eq!(series(3, 2), [(3, 0), (4, 0), (3, 1)]);
        assert_eq!(series(0, 10), [(0..10).map(|seed| (seed, 0)).collect(), vec![(9, 1)]].concat());
    }

    #[test]
    fn a_series_and_the_one_after_it_have_the_runs_of_both_together() {
        let shares = [1_000, 130, 999];
        let both = [runs(&shares, 0, 17), runs(&shares, 17, 2_345)].concat();
        assert_eq!(both, runs(&shares, 0, 17 + 2_345));
    }

    #[test]
    fn a_series_ends_where_seeds_end() {
        let shares = Shares::new([1_000, 1_000].into_iter(), u64::MAX);
        assert_eq!(shares.run(1), Some((u64::MAX, 1)));
        assert_eq!(shares.run(2), None);
    }
}
