//! A node's processors: cores that are busy until a time, and what work costs on them.
//!
//! Promise: work begins on the core that is free first, never before it was charged, and takes its cost times the factor
//! of the faults that were on when it was charged; at quiescence, what is left of it takes its cost alone. No core does
//! two things at once.

use crate::plan::Costs;
use crate::units::{FaultId, SimTime};
use groundhog_engine::host::Work;
use smallvec::SmallVec;

/// What a piece of work costs in nanoseconds of one core. Bytes are rounded up to a whole nanosecond, once for each kind.
#[must_use]
pub fn cost_ns(work: &Work, costs: &Costs) -> u64 {
    let kib = |bytes: u32, kib_ns: u64| (u128::from(bytes) * u128::from(kib_ns)).div_ceil(1_024);
    let ns = u128::from(work.signatures) * u128::from(costs.signature_ns)
        + u128::from(work.verifications) * u128::from(costs.verification_ns)
        + kib(work.hashed_bytes, costs.hash_kib_ns)
        + kib(work.coded_bytes, costs.code_kib_ns);
    u64::try_from(ns).unwrap_or(u64::MAX)
}

/// The cores of one node.
#[derive(Clone, Debug)]
pub struct Processor {
    busy_until: SmallVec<[SimTime; 8]>,
    slow: SmallVec<[(FaultId, u32); 1]>,
    charges: u64,
    /// Work that was charged while a fault made it slow, and what waits behind it, in the order of charging.
    stretched: Vec<Stretched>,
}

/// Work that a core has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Charged {
    /// Its number among all that the processors were charged with.
    pub number: u64,
    /// When it is done.
    pub until: SimTime,
}

#[derive(Clone, Copy, Debug)]
struct Stretched {
    number: u64,
    core: usize,
    cost_ns: u64,
    begins: SimTime,
    until: SimTime,
}

impl Stretched {
    /// What is left of it as if nothing had ever made it slow, rounded up.
    fn left_ns(&self, now: SimTime) -> u64 {
        if self.begins >= now || self.until <= self.begins {
            return self.cost_ns;
        }
        let (left, whole) = (self.until.0 - now.0, self.until.0 - self.begins.0);
        let left_ns = (u128::from(self.cost_ns) * u128::from(left)).div_ceil(u128::from(whole));
        u64::try_from(left_ns).expect("no more than its cost")
    }
}

impl Processor {
    /// Idle cores.
    ///
    /// # Panics
    /// When there are none.
    #[must_use]
    pub fn new(cores: u8) -> Self {
        assert!(cores > 0, "a node has at least one core");
        Self {
            busy_until: smallvec::smallvec![SimTime(0); usize::from(cores)],
            slow: SmallVec::new(),
            charges: 0,
            stretched: Vec::new(),
        }
    }

    /// When work of this cost that is handed over now will be done: on the core that is free first, the lowest of equals.
    pub fn occupy(&mut self, now: SimTime, cost_ns: u64) -> Charged {
        let factor = self.factor();
        let cores = self.busy_until.iter_mut().enumerate();
        let (core, first_free) = cores.min_by_key(|(_, free)| **free).expect("a node has at least one core");
        let begins = (*first_free).max(now);
        let until = begins.plus_ns(cost_ns.saturating_mul(factor));
        *first_free = until;
        let number = self.charges;
        self.charges += 1;
        if factor > 1 || !self.stretched.is_empty() {
            self.stretched.retain(|work| work.until > now);
            self.stretched.push(Stretched { number, core, cost_ns, begins, until });
        }
        Charged { number, until }
    }

    /// The process has died: its work is gone, and every core is free. Faults of the machine stay on.
    pub fn restart(&mut self) {
        self.busy_until.fill(SimTime(0));
        self.stretched.clear();
    }

    /// From now on work takes `factor` times as long; several such faults multiply.
    pub fn begin_slow(&mut self, id: FaultId, factor: u32) {
        self.slow.push((id, factor.max(1)));
    }

    /// The fault ends; one that is not on ends without effect. Work charged before keeps its time.
    pub fn end_slow(&mut self, id: FaultId) {
        self.slow.retain(|(slow, _)| *slow != id);
    }

    /// Every fault ends (quiescence), and so does what it did to work that is under way or waits: gives what is done
    /// sooner because of that.
    pub fn heal_all(&mut self, now: SimTime) -> Vec<Charged> {
        self.slow.clear();
        let mut free_at: SmallVec<[Option<SimTime>; 8]> = smallvec::smallvec![None; self.busy_until.len()];
        let mut sooner = Vec::new();
        for work in std::mem::take(&mut self.stretched).into_iter().filter(|work| work.until > now) {
            // The first of a core may wait for work that was never slow.
            let begins = free_at[work.core].unwrap_or_else(|| work.begins.max(now));
            let until = begins.plus_ns(work.left_ns(now));
            free_at[work.core] = Some(until);
            if until < work.until {
                sooner.push(Charged { number: work.number, until });
            }
        }
        for (busy_until, free_at) in self.busy_until.iter_mut().zip(free_at) {
            *busy_until = free_at.unwrap_or(*busy_until);
        }
        sooner
    }

    fn factor(&self) -> u64 {
        self.slow.iter().fold(1, |factor, (_, by)| u64::saturating_mul(factor, u64::from(*by)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const COSTS: Costs = Costs {
        signature_ns: 20_000,
        verification_ns: 50_000,
        hash_kib_ns: 1_000,
        code_kib_ns: 500,
        handler_ns: 5_000,
    };

    fn done(processor: &mut Processor, now: SimTime, cost_ns: u64) -> SimTime {
        processor.occupy(now, cost_ns).until
    }

    #[test]
    fn costs_add_up_and_round_up() {
        let table = [
            (Work::default(), 0),
            (Work { signatures: 1, verifications: 2, hashed_bytes: 1_024, coded_bytes: 2_048 }, 122_000),
            (Work { hashed_bytes: 1, ..Work::default() }, 1),
            (Work { hashed_bytes: 1_025, ..Work::default() }, 1_001),
        ];
        for (work, ns) in table {
            assert_eq!(cost_ns(&work, &COSTS), ns);
        }
        let most = Costs { signature_ns: u64::MAX, ..COSTS };
        assert_eq!(cost_ns(&Work { signatures: 2, ..Work::default() }, &most), u64::MAX);
    }

    #[test]
    fn work_waits_for_the_core_that_is_free_first() {
        let mut processor = Processor::new(2);
        let verification_ns = cost_ns(&Work { verifications: 1, ..Work::default() }, &COSTS);
        let now = SimTime(1_000);
        assert_eq!(done(&mut processor, now, 2 * verification_ns), SimTime(101_000));
        assert_eq!(done(&mut processor, now, verification_ns), SimTime(51_000));
        assert_eq!(done(&mut processor, now, verification_ns), SimTime(101_000));
        assert_eq!(done(&mut processor, SimTime(500_000), verification_ns), SimTime(550_000));
    }

    #[test]
    fn slow_processors_take_longer_until_the_fault_ends() {
        let mut processor = Processor::new(1);
        processor.begin_slow(FaultId(1), 4);
        assert_eq!(done(&mut processor, SimTime(0), 1_000), SimTime(4_000));
        processor.begin_slow(FaultId(2), 2);
        assert_eq!(done(&mut processor, SimTime(4_000), 1_000), SimTime(12_000));
        processor.end_slow(FaultId(1));
        assert_eq!(done(&mut processor, SimTime(12_000), 1_000), SimTime(14_000));
        processor.end_slow(FaultId(1));
        assert_eq!(processor.heal_all(SimTime(14_000)), []);
        assert_eq!(done(&mut processor, SimTime(14_000), 1_000), SimTime(15_000));
    }

    #[test]
    fn at_quiescence_what_is_left_takes_its_cost_alone_in_the_same_order() {
        let mut processor = Processor::new(1);
        assert_eq!(done(&mut processor, SimTime(0), 100), SimTime(100));
        processor.begin_slow(FaultId(1), 1_000);
        let slowed = [100, 50].map(|cost_ns| processor.occupy(SimTime(0), cost_ns).number);
        processor.end_slow(FaultId(1));
        let behind = processor.occupy(SimTime(0), 10);
        assert_eq!(behind.until, SimTime(150_110));
        // Half of the first is done by then.
        let sooner = processor.heal_all(SimTime(50_100));
        let times = [50_150, 50_200, 50_210].map(SimTime);
        let numbers = [slowed[0], slowed[1], behind.number];
        let expected: Vec<_> =
            numbers.into_iter().zip(times).map(|(number, until)| Charged { number, until }).collect();
        assert_eq!(sooner, expected);
        assert_eq!(done(&mut processor, SimTime(50_100), 5), SimTime(50_215));
        assert_eq!(processor.heal_all(SimTime(50_100)), []);
    }

    #[test]
    fn work_without_end_ends_soon_after_quiescence() {
        let mut processor = Processor::new(2);
        processor.begin_slow(FaultId(1), u32::MAX);
        processor.begin_slow(FaultId(2), u32::MAX);
        processor.begin_slow(FaultId(3), u32::MAX);
        for _ in 0..10 {
            assert_eq!(done(&mut processor, SimTime(7), 1_000), SimTime(u64::MAX));
        }
        let sooner = processor.heal_all(SimTime(1_000));
        assert_eq!(sooner.len(), 10);
        assert!(sooner.iter().all(|work| work.until <= SimTime(1_000 + 10 * 1_000)), "{sooner:?}");
    }

    #[test]
    fn a_new_life_finds_its_cores_idle_and_still_slow() {
        let mut processor = Processor::new(1);
        processor.begin_slow(FaultId(1), 3);
        processor.occupy(SimTime(0), 1_000_000);
        processor.restart();
        assert_eq!(done(&mut processor, SimTime(10), 100), SimTime(310));
    }
}
