//! A durable counter with a reserved block: numbers are handed out from memory, and the disk knows an end that they never
//! pass (decision 1; seed 000, Persistence and bounds).
//!
//! Promise: no number is handed out twice, whatever is lost between two starts, as long as none is used before the lease
//! that covers it is durable. A reservation that would pass the last number fails and changes nothing.

use std::num::NonZeroU64;

/// Numbers `first..=last`, and the end of the lease that covers them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Reserved {
    /// The first number.
    pub first: u64,
    /// The last number.
    pub last: u64,
    /// The last number that the lease covers.
    pub lease: u64,
    /// Whether the lease grew, and must be written.
    pub writes: bool,
}

/// The numbers up to the last one are used up, or would be passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{count} numbers do not fit below the last one")]
pub struct Exhausted {
    /// How many were asked for.
    pub count: u64,
}

/// One counter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counter {
    last_used: Option<u64>,
    lease: Option<u64>,
}

impl Counter {
    /// A counter that was never used: its first number is zero.
    #[must_use]
    pub const fn new() -> Self {
        Self { last_used: None, lease: None }
    }

    /// A counter after a restart: whatever its durable lease covers may have been used.
    #[must_use]
    pub const fn resume(lease: u64) -> Self {
        Self { last_used: Some(lease), lease: Some(lease) }
    }

    /// The last number of the lease; `None` before the first reservation.
    #[must_use]
    pub const fn lease(&self) -> Option<u64> {
        self.lease
    }

    /// The last number handed out or skipped; `None` before the first reservation.
    #[must_use]
    pub const fn last_used(&self) -> Option<u64> {
        self.last_used
    }

    /// Hands out the next `count` numbers. A lease that does not reach them grows to cover them, and at least `block`
    /// numbers from the first of them on.
    ///
    /// # Errors
    /// [`Exhausted`]; nothing changed then.
    pub fn reserve(&mut self, count: NonZeroU64, block: NonZeroU64) -> Result<Reserved, Exhausted> {
        let exhausted = Exhausted { count: count.get() };
        let first = match self.last_used {
            None => 0,
            Some(last) => last.checked_add(1).ok_or(exhausted)?,
        };
        let last = first.checked_add(count.get() - 1).ok_or(exhausted)?;
        let covered = self.lease.is_some_and(|lease| last <= lease);
        let lease = match self.lease {
            Some(lease) if covered => lease,
            _ => last.max(first.saturating_add(block.get() - 1)),
        };
        assert!(last <= lease && self.lease.is_none_or(|before| before <= lease), "a lease only grows");
        *self = Self { last_used: Some(last), lease: Some(lease) };
        Ok(Reserved { first, last, lease, writes: !covered })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const BLOCK: NonZeroU64 = NonZeroU64::new(64).unwrap();

    fn reserve(counter: &mut Counter, count: u64) -> Result<Reserved, Exhausted> {
        counter.reserve(NonZeroU64::new(count).unwrap(), BLOCK)
    }

    fn reserved(first: u64, last: u64, lease: u64, writes: bool) -> Result<Reserved, Exhausted> {
        Ok(Reserved { first, last, lease, writes })
    }

    #[test]
    fn a_lease_is_written_once_for_64_single_reservations() {
        let mut counter = Counter::new();
        assert_eq!(reserve(&mut counter, 1), reserved(0, 0, 63, true));
        for number in 1..64 {
            assert_eq!(reserve(&mut counter, 1), reserved(number, number, 63, false));
        }
        assert_eq!(reserve(&mut counter, 1), reserved(64, 64, 127, true));
    }

    #[test]
    fn edge_cases_of_a_reservation() {
        const MAX: u64 = u64::MAX;
        type Case = (&'static str, Counter, u64, Result<Reserved, Exhausted>);
        let used = |last_used, lease| Counter { last_used: Some(last_used), lease: Some(lease) };
        let cases: [Case; 11] = [
            ("more than a block leases itself", Counter::new(), 100, reserved(0, 99, 99, true)),
            ("exactly a block", Counter::new(), 64, reserved(0, 63, 63, true)),
            ("up to the lease writes nothing", used(10, 63), 53, reserved(11, 63, 63, false)),
            (
                "one past the lease leases a block from its first",
                used(10, 63),
                54,
                reserved(11, 64, 74, true),
            ),
            (
                "after a restart the next is past the lease",
                Counter::resume(63),
                1,
                reserved(64, 64, 127, true),
            ),
            (
                "near the top the lease saturates",
                Counter::resume(MAX - 10),
                1,
                reserved(MAX - 9, MAX - 9, MAX, true),
            ),
            ("the last number can be had", used(MAX - 1, MAX), 1, reserved(MAX, MAX, MAX, false)),
            ("but nothing after it", used(MAX, MAX), 1, Err(Exhausted { count: 1 })),
            ("nor across it", used(MAX - 2, MAX), 3, Err(Exhausted { count: 3 })),
            (
                "nor after a restart with a saturated lease",
                Counter::resume(MAX),
                1,
                Err(Exhausted { count: 1 }),
            ),
            ("nor all at once but one", used(0, 63), MAX, reserved(1, MAX, MAX, true)),
        ];
        for (name, before, count, expected) in cases {
            let mut counter = before;
            assert_eq!(reserve(&mut counter, count), expected, "{name}");
            if expected.is_err() {
                assert_eq!(counter, before, "{name}: a refusal changes nothing");
            }
        }
    }

    proptest! {
        #[test]
        fn no_number_is_handed_out_twice_over_restarts(
            start in prop_oneof![Just(None), any::<u64>().prop_map(Some), (u64::MAX - 300..).prop_map(Some)],
            acts in proptest::collection::vec((1u64..200, any::<bool>()), 1..60),
        ) {
            let mut counter = start.map_or_else(Counter::new, Counter::resume);
            let mut durable = start;
            let mut highest = start;
            let (mut numbers, mut writes, mut restarts) = (0u64, 0u64, 0u64);
            for (count, restart) in acts {
                if restart && let Some(lease) = durable {
                    counter = Counter::resume(lease);
                    restarts += 1;
                }
                let Ok(reserved) = reserve(&mut counter, count) else { continue };
                prop_assert!(highest.is_none_or(|highest| reserved.first > highest));
                prop_assert_eq!(reserved.last - reserved.first, count - 1);
                if reserved.writes {
                    durable = Some(reserved.lease);
                    writes += 1;
                }
                prop_assert!(durable >= Some(reserved.last), "exposed beyond the durable lease");
                let skipped = reserved.first - highest.map_or(0, |highest| highest + 1);
                prop_assert!(skipped <= 199, "a restart skips at most what one lease covers");
                highest = Some(reserved.last);
                numbers += count;
            }
            prop_assert!(writes <= numbers.div_ceil(64) * 2 + restarts + 1);
        }
    }
}
