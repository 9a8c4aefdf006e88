//! Drawing plans: streams of random integers keyed by seed, purpose and place, and the distributions of scenarios.
//!
//! Promise: a draw depends on its key alone. One more draw for one purpose moves no draw for another.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use sha2::{Digest, Sha256};

/// A stream of random integers.
#[derive(Debug)]
pub struct Dice(ChaCha8Rng);

impl Dice {
    /// The stream of one purpose of one seed; `place` tells apart equal purposes.
    #[must_use]
    pub fn new(seed: u64, purpose: &str, place: u64) -> Self {
        let key = Sha256::new()
            .chain_update(b"groundhog plan\0")
            .chain_update(seed.to_le_bytes())
            .chain_update(place.to_le_bytes())
            .chain_update(purpose.as_bytes())
            .finalize();
        Self(ChaCha8Rng::from_seed(key.into()))
    }

    /// Any 64 bits.
    pub fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// An integer below `bound`, each as likely.
    ///
    /// # Panics
    /// When `bound` is 0.
    pub fn below(&mut self, bound: u64) -> u64 {
        assert!(bound > 0, "nothing is below zero");
        // The first `skip` of the 2^64 values are redrawn, so that the rest divides evenly.
        let skip = bound.wrapping_neg() % bound;
        loop {
            let bits = self.bits();
            if bits >= skip {
                return bits % bound;
            }
        }
    }

    /// An integer from `min` to `max`, both included, each as likely.
    ///
    /// # Panics
    /// When `min > max`.
    pub fn between(&mut self, min: u64, max: u64) -> u64 {
        assert!(min <= max, "no integer lies between {min} and {max}");
        match (max - min).checked_add(1) {
            Some(span) => min + self.below(span),
            None => self.bits(),
        }
    }

    /// True in so many of a thousand draws.
    pub fn per_mille(&mut self, per_mille: u64) -> bool {
        self.below(1_000) < per_mille
    }

    /// One of `items`, each as likely; `None` of nothing.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        if items.is_empty() { None } else { Some(&items[self.below(items.len() as u64) as usize]) }
    }

    /// One of `items` by weight.
    ///
    /// # Panics
    /// When the weights sum to 0.
    pub fn weighted<T: Copy>(&mut self, items: &[(T, u32)]) -> T {
        let total = items.iter().map(|(_, weight)| u64::from(*weight)).sum();
        let mut left = self.below(total);
        for (item, weight) in items {
            let weight = u64::from(*weight);
            if left < weight {
                return *item;
            }
            left -= weight;
        }
        unreachable!("the draw is below the sum of the weights")
    }

    /// Puts `items` in random order, each order as likely.
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u64 + 1) as usize);
        }
    }
}

/// What a scenario says about one integer: a fixed value or a distribution.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Draw {
    /// Always this.
    Fixed(i64),
    /// From the first to the second, both included, each as likely.
    Between(i64, i64),
    /// One of these, by weight.
    OneOf(Vec<(i64, u32)>),
}

impl Draw {
    /// One value.
    pub fn roll(&self, dice: &mut Dice) -> i64 {
        match self {
            Self::Fixed(value) => *value,
            Self::Between(min, max) => {
                let span = max.wrapping_sub(*min).cast_unsigned();
                min.wrapping_add(dice.between(0, span).cast_signed())
            }
            Self::OneOf(items) => dice.weighted(items),
        }
    }

    /// One value of a key whose range begins at 0 or above.
    ///
    /// # Panics
    /// When the value is negative: the range of the key was not checked when the scenario was read.
    pub fn roll_u64(&self, dice: &mut Dice) -> u64 {
        u64::try_from(self.roll(dice)).expect("the key's range excludes negative values")
    }

    /// One value of a key whose range fits 32 bits.
    ///
    /// # Panics
    /// As [`Draw::roll_u64`].
    pub fn roll_u32(&self, dice: &mut Dice) -> u32 {
        u32::try_from(self.roll(dice)).expect("the key's range fits 32 bits")
    }

    /// The least and the greatest value.
    #[must_use]
    pub fn bounds(&self) -> (i64, i64) {
        match self {
            Self::Fixed(value) => (*value, *value),
            Self::Between(min, max) => (*min, *max),
            Self::OneOf(items) => {
                let values = items.iter().map(|(value, _)| *value);
                (values.clone().min().unwrap_or(0), values.max().unwrap_or(0))
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_depends_on_seed_purpose_and_place() {
        let first = |seed, purpose, place| Dice::new(seed, purpose, place).bits();
        assert_eq!(first(1, "load", 0), first(1, "load", 0));
        assert_ne!(first(1, "load", 0), first(2, "load", 0));
        assert_ne!(first(1, "load", 0), first(1, "clock", 0));
        assert_ne!(first(1, "load", 0), first(1, "load", 1));
    }

    #[test]
    fn draws_stay_within_their_bounds_and_reach_them() {
        let mut dice = Dice::new(3, "test", 0);
        let draws = [
            Draw::Fixed(-4),
            Draw::Between(-2, 2),
            Draw::Between(i64::MIN, i64::MAX),
            Draw::OneOf(vec![(9, 1), (7, 3), (100, 0)]),
        ];
        for draw in &draws {
            let (min, max) = draw.bounds();
            assert!((0..200).all(|_| (min..=max).contains(&draw.roll(&mut dice))), "{draw:?}");
        }
        let mut seen: Vec<i64> = (0..200).map(|_| draws[1].roll(&mut dice)).collect();
        seen.sort_unstable();
        seen.dedup();
        assert_eq!(seen, [-2, -1, 0, 1, 2]);
        assert!((0..200).all(|_| draws[3].roll(&mut dice) != 100), "a weight of 0 is never drawn");
    }

    #[test]
    fn a_shuffle_keeps_every_item() {
        let mut items: Vec<u32> = (0..50).collect();
        Dice::new(1, "shuffle", 0).shuffle(&mut items);
        assert!(items.windows(2).any(|pair| pair[0] > pair[1]));
        items.sort_unstable();
        assert_eq!(items, (0..50).collect::<Vec<_>>());
    }
}
