//! The schedule seeds under which a kept plan is tried: inputs and faults outlive a change of the code, schedules do not.
//!
//! Promise: the plan's own schedule seed comes first, no seed comes twice, and the same plan gives the same list.

/// Schedule seeds under which a plan is tried, its own included (design section 4).
pub const SCHEDULE_SEEDS: usize = 16;

/// The schedule seeds of a plan, without end: its own, and then small numbers, which a person can type.
pub fn schedule_seeds(own: u64) -> impl Iterator<Item = u64> {
    std::iter::once(own).chain((0..).filter(move |small| *small != own))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_plan_has_its_own_schedule_first_and_no_schedule_twice() {
        for (own, seeds) in [(2, [2, 0, 1, 3]), (0, [0, 1, 2, 3]), (u64::MAX, [u64::MAX, 0, 1, 2])] {
            assert_eq!(schedule_seeds(own).take(4).collect::<Vec<_>>(), seeds);
        }
    }
}
