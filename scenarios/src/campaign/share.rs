//! Which runs a series has: seed by seed over all targets, each of which takes its share of the seeds.
//!
//! Promise: a target's seeds are spread evenly and begin with the first; a target that is alone takes every seed.

/// Seeds of which shares are stated.
const WHOLE: u64 = 1_000;

/// The shares of the targets of one series, in thousandths.
#[derive(Clone, Debug)]
pub struct Shares(Vec<u64>);

impl Shares {
    /// Of these targets.
    pub fn new(shares: impl Iterator<Item = u64>) -> Self {
        let shares: Vec<u64> = shares.collect();
        // Who asks for one target asks for its seeds.
        let alone = shares.len() == 1;
        Self(if alone { vec![WHOLE] } else { shares })
    }

    /// How many runs the first so many seeds have, over all targets.
    pub fn runs_of(&self, seeds: u64) -> u64 {
        self.0.iter().map(|share| runs(*share, seeds)).sum()
    }

    /// The place of the seed and the target of one run, by its number.
    pub fn run(&self, number: u64) -> (u64, usize) {
        let of_whole = self.runs_of(WHOLE);
        let (block, within) = (number / of_whole, number % of_whole);
        // The last place before which no more than `within` runs lie.
        let (mut from, mut until) = (0, WHOLE);
        while until - from > 1 {
            let middle = from + (until - from) / 2;
            if self.runs_of(middle) <= within { from = middle } else { until = middle }
        }
        let taking = (0..self.0.len()).filter(|target| takes(self.0[*target], from));
        let target = taking.into_iter().nth((within - self.runs_of(from)) as usize);
        (block * WHOLE + from, target.expect("a place has as many runs as targets that take it"))
    }
}

/// How many of the first so many seeds a share takes.
fn runs(share: u64, seeds: u64) -> u64 {
    let (blocks, within) = (seeds / WHOLE, seeds % WHOLE);
    blocks * share + (within * share).div_ceil(WHOLE)
}

fn takes(share: u64, place: u64) -> bool {
    runs(share, place + 1) > runs(share, place)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn whole_shares_go_seed_by_seed_over_all_targets() {
        let shares = Shares::new([1_000, 1_000, 1_000].into_iter());
        for number in 0..10_000 {
            assert_eq!(shares.run(number), (number / 3, (number % 3) as usize));
        }
        assert_eq!(shares.runs_of(7), 21);
    }

    #[test]
    fn a_smaller_share_begins_with_the_first_seed_and_is_spread_evenly() {
        let shares = Shares::new([1_000, 100].into_iter());
        let runs: Vec<(u64, usize)> = (0..shares.runs_of(2_000)).map(|number| shares.run(number)).collect();
        let second: Vec<u64> =
            runs.iter().filter(|(_, target)| *target == 1).map(|(place, _)| *place).collect();
        assert_eq!(second, (0..200).map(|nth| nth * 10).collect::<Vec<_>>());
        assert_eq!(runs.iter().filter(|(_, target)| *target == 0).count(), 2_000);
        assert!(runs.is_sorted());
    }

    #[test]
    fn a_target_alone_takes_every_seed() {
        let shares = Shares::new(std::iter::once(100));
        assert!((0..2_500).all(|number| shares.run(number) == (number, 0)));
        assert_eq!(shares.runs_of(2_500), 2_500);
    }
}
