//! A node's processors: cores that are busy until a time, and what work costs on them.
//!
//! Promise: work begins on the core that is free first, never before it was charged, and takes its cost times the factor
//! of the faults that were on when it was charged. No core does two things at once.

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
}

impl Processor {
    /// Idle cores.
    ///
    /// # Panics
    /// When there are none.
    #[must_use]
    pub fn new(cores: u8) -> Self {
        assert!(cores > 0, "a node has at least one core");
        Self { busy_until: smallvec::smallvec![SimTime(0); usize::from(cores)], slow: SmallVec::new() }
    }

    /// When work that is handed over now will be done: on the core that is free first, the lowest of equals.
    pub fn charge(&mut self, now: SimTime, work: &Work, costs: &Costs) -> SimTime {
        self.occupy(now, cost_ns(work, costs))
    }

    /// As [`Self::charge`] for work whose cost is known, such as an application's handler.
    pub fn occupy(&mut self, now: SimTime, cost_ns: u64) -> SimTime {
        let slowed_ns = cost_ns.saturating_mul(self.factor());
        let first_free = self.busy_until.iter_mut().min().expect("a node has at least one core");
        *first_free = (*first_free).max(now).plus_ns(slowed_ns);
        *first_free
    }

    /// The process has died: its work is gone, and every core is free. Faults of the machine stay on.
    pub fn restart(&mut self) {
        self.busy_until.fill(SimTime(0));
    }

    /// From now on work takes `factor` times as long; several such faults multiply.
    pub fn begin_slow(&mut self, id: FaultId, factor: u32) {
        self.slow.push((id, factor.max(1)));
    }

    /// The fault ends; one that is not on ends without effect. Work charged before keeps its time.
    pub fn end_slow(&mut self, id: FaultId) {
        self.slow.retain(|(slow, _)| *slow != id);
    }

    /// Every fault ends (quiescence).
    pub fn heal_all(&mut self) {
        self.slow.clear();
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

    fn verifications(verifications: u32) -> Work {
        Work { verifications, ..Work::default() }
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
        let now = SimTime(1_000);
        assert_eq!(processor.charge(now, &verifications(2), &COSTS), SimTime(101_000));
        assert_eq!(processor.charge(now, &verifications(1), &COSTS), SimTime(51_000));
        assert_eq!(processor.charge(now, &verifications(1), &COSTS), SimTime(101_000));
        assert_eq!(processor.charge(SimTime(500_000), &verifications(1), &COSTS), SimTime(550_000));
    }

    #[test]
    fn slow_processors_take_longer_until_the_fault_ends() {
        let mut processor = Processor::new(1);
        processor.begin_slow(FaultId(1), 4);
        assert_eq!(processor.occupy(SimTime(0), 1_000), SimTime(4_000));
        processor.begin_slow(FaultId(2), 2);
        assert_eq!(processor.occupy(SimTime(4_000), 1_000), SimTime(12_000));
        processor.end_slow(FaultId(1));
        assert_eq!(processor.occupy(SimTime(12_000), 1_000), SimTime(14_000));
        processor.end_slow(FaultId(1));
        processor.heal_all();
        assert_eq!(processor.occupy(SimTime(14_000), 1_000), SimTime(15_000));
    }

    #[test]
    fn a_new_life_finds_its_cores_idle_and_still_slow() {
        let mut processor = Processor::new(1);
        processor.begin_slow(FaultId(1), 3);
        processor.occupy(SimTime(0), 1_000_000);
        processor.restart();
        assert_eq!(processor.occupy(SimTime(10), 100), SimTime(310));
    }
}
