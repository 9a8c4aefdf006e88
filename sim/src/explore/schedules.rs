//! The schedule seeds under which a kept plan is tried: inputs and faults outlive a change of the code, schedules do not.
//!
//! Promise: the plan's own schedule seed comes first, no seed comes twice, and the same plan gives the same list.

use crate::plan::{Dice, Plan};

/// Schedule seeds under which a plan is tried, its own included (design section 4).
pub const SCHEDULE_SEEDS: usize = 16;

/// So many schedule seeds for a plan, its own first.
#[must_use]
pub fn schedule_seeds(plan: &Plan, count: usize) -> Vec<u64> {
    let mut seeds = vec![plan.schedule_seed];
    let mut dice = Dice::new(plan.seed, "other schedules", 0);
    while seeds.len() < count {
        let seed = dice.bits();
        if !seeds.contains(&seed) {
            seeds.push(seed);
        }
    }
    seeds.truncate(count);
    seeds
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::yardstick;

    #[test]
    fn a_plan_has_its_own_schedule_first_and_no_schedule_twice() {
        let plan = yardstick::messages(2, 1, 1_000);
        let seeds = schedule_seeds(&plan, SCHEDULE_SEEDS);
        assert_eq!((seeds.len(), seeds[0]), (SCHEDULE_SEEDS, plan.schedule_seed));
        assert_eq!(seeds, schedule_seeds(&plan, SCHEDULE_SEEDS));
        assert_eq!(seeds[..4], schedule_seeds(&plan, 4));
        let mut distinct = seeds.clone();
        distinct.sort_unstable();
        distinct.dedup();
        assert_eq!(distinct.len(), SCHEDULE_SEEDS);
    }
}
