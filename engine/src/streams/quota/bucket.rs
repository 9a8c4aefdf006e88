//! One token bucket in fixed point.
//!
//! Promise: a token is a thousand million parts, so that a rate of one a second gains one part in a nanosecond and nothing
//! is ever rounded. No token comes early, none is lost, and looking at a bucket more often changes nothing.

/// Parts of a token.
const PARTS: u128 = 1_000_000_000;

/// How a bucket fills.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Flow {
    pub(super) per_s: u64,
    pub(super) burst: u64,
}

impl Flow {
    /// A full bucket, in parts of a token.
    pub(super) const fn full(self) -> Tokens {
        Tokens(self.burst as u128 * PARTS)
    }

    /// How long an empty bucket takes to fill, in nanoseconds, rounded up.
    pub(super) const fn refills_after_ns(self) -> u128 {
        self.full().0.div_ceil(self.per_s as u128)
    }
}

/// What a bucket holds, in parts of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Tokens(pub(super) u128);

impl Tokens {
    /// The bucket `elapsed_ns` later.
    pub(super) fn refilled(self, elapsed_ns: u64, flow: Flow) -> Self {
        // Two factors of 64 bits fit; their sum with what is there may not.
        let gained = u128::from(elapsed_ns) * u128::from(flow.per_s);
        Self(self.0.saturating_add(gained)).min(flow.full())
    }

    /// The bucket after `tokens` were taken out of it, if it holds so many.
    pub(super) fn take(self, tokens: u64) -> Option<Self> {
        self.0.checked_sub(u128::from(tokens) * PARTS).map(Self)
    }

    /// Whole tokens.
    pub(super) fn whole(self) -> u64 {
        u64::try_from(self.0 / PARTS).expect("a bucket holds at most a burst, which is 64 bits wide")
    }

    /// Nanoseconds until the bucket is full, rounded up.
    pub(super) const fn full_after_ns(self, flow: Flow) -> u128 {
        flow.full().0.saturating_sub(self.0).div_ceil(flow.per_s as u128)
    }

    fn min(self, other: Self) -> Self {
        Self(self.0.min(other.0))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const MESSAGES: Flow = Flow { per_s: 8, burst: 32 };

    #[test]
    fn no_token_comes_a_nanosecond_early() {
        let empty = Tokens(0);
        let one_after = 125_000_000;
        assert_eq!(empty.refilled(one_after - 1, MESSAGES).take(1), None);
        assert_eq!(empty.refilled(one_after, MESSAGES).take(1), Some(Tokens(0)));
        assert_eq!(empty.refilled(u64::MAX, MESSAGES), MESSAGES.full());
        assert_eq!(MESSAGES.refills_after_ns(), 4_000_000_000);
    }

    #[test]
    fn the_widest_numbers_neither_wrap_nor_panic() {
        let widest = Flow { per_s: u64::MAX, burst: u64::MAX };
        assert_eq!(widest.full().refilled(u64::MAX, widest), widest.full());
        assert_eq!(widest.full().take(u64::MAX), Some(Tokens(0)));
        assert_eq!(widest.full().whole(), u64::MAX);
        let slow = Flow { per_s: 1, burst: u64::MAX };
        assert_eq!(Tokens(0).full_after_ns(slow), u128::from(u64::MAX) * 1_000_000_000);
    }

    proptest! {
        #[test]
        fn a_bucket_that_is_looked_at_more_often_holds_the_same(
            tokens in 0..=32_000_000_000u128,
            (first, second) in (0..5_000_000_000u64, 0..5_000_000_000u64),
        ) {
            let twice = Tokens(tokens).refilled(first, MESSAGES).refilled(second, MESSAGES);
            prop_assert_eq!(twice, Tokens(tokens).refilled(first + second, MESSAGES));
        }

        #[test]
        fn a_bucket_is_full_at_its_instant_and_not_before(tokens in 0..32_000_000_000u128) {
            let after = u64::try_from(Tokens(tokens).full_after_ns(MESSAGES)).unwrap();
            prop_assert_eq!(Tokens(tokens).refilled(after, MESSAGES), MESSAGES.full());
            prop_assert!(Tokens(tokens).refilled(after - 1, MESSAGES).0 < MESSAGES.full().0);
        }
    }
}
