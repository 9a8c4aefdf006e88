//! A node's clocks over true simulated time: the wall clock, and the monotonic clock since its machine's boot.
//!
//! Promise: the monotonic clock never goes back, and [`Clock::monotonic_reaches`] is its exact inverse. A process crash
//! keeps both clocks. Quiescing never steps the wall clock back: one behind is stepped forward to true time, one ahead runs
//! at half speed until true time has caught up. Integers only: a clock's error is kept in millionths of a nanosecond,
//! in which a drift in parts per million is exact.

#[cfg(test)]
mod tests;
mod tolerance;

pub use tolerance::{Spread, spread};

use crate::plan::{ClockFault, ClockPlan, Death};
use crate::units::{FaultId, SimTime};
use groundhog_engine::units::{MonotonicNs, WallMs};
use smallvec::SmallVec;

/// True wall time when a run begins: 2026-01-01 00:00:00 UTC, in milliseconds since the Unix epoch.
pub const EPOCH_MS: u64 = 1_767_225_600_000;

/// The most that a clock is wrong, and the longest sleep: 100 years of 365.25 days.
pub const CENTURY_MS: u64 = 3_155_760_000_000;

/// The most that an oscillator is wrong, all causes together, in parts per million.
pub const MAX_DRIFT_PPM: i64 = 500_000;

/// How fast a wall clock that is ahead at quiescence runs until true time has caught up: half speed.
pub const SLEW_PPM: i64 = -500_000;

/// Millionths of a nanosecond, the unit of a clock's error: a drift of 1 ppm gathers 1 of them each true nanosecond.
const UNITS_PER_NS: i128 = 1_000_000;
const UNITS_PER_MS: i128 = 1_000_000 * UNITS_PER_NS;
const CENTURY_UNITS: i128 = CENTURY_MS as i128 * UNITS_PER_MS;
const CENTURY_NS: u64 = CENTURY_MS * 1_000_000;

/// What a change did to the clocks, for the driver.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[must_use]
pub struct ClockChange {
    /// The wall clock stepped: from, to.
    pub set: Option<(WallMs, WallMs)>,
    /// When sleeping tasks wake must be worked out anew ([`Clock::monotonic_reaches`]).
    pub monotonic_changed: bool,
    /// [`Clock::correct`] is to be called then.
    pub correct_at: Option<SimTime>,
}

/// A fault that is on.
#[derive(Clone, Copy, Debug)]
struct ActiveFault {
    id: FaultId,
    fault: ClockFault,
    /// For a clock behind at boot: whether that boot has been.
    applied: bool,
}

/// A boot's error that is still to be corrected.
#[derive(Clone, Copy, Debug)]
struct WrongAtBoot {
    by_units: i128,
    correct_at: SimTime,
}

/// The clocks of one node.
#[derive(Clone, Debug)]
pub struct Clock {
    plan: ClockPlan,
    /// The true time of `error` and `monotonic`.
    anchor: SimTime,
    /// Wall clock minus true time, frozen or not.
    error: i128,
    /// Since the machine's boot.
    monotonic: i128,
    /// Where a frozen wall clock stands, in units since the Unix epoch.
    frozen: Option<i128>,
    wrong: Option<WrongAtBoot>,
    faults: SmallVec<[ActiveFault; 2]>,
    quiesced: bool,
}

impl Clock {
    /// The clocks of a node whose machine has yet to boot, at true time zero.
    #[must_use]
    pub fn new(plan: ClockPlan) -> Self {
        Self {
            plan,
            anchor: SimTime(0),
            error: clamp(i128::from(plan.offset_ms) * UNITS_PER_MS),
            monotonic: 0,
            frozen: None,
            wrong: None,
            faults: SmallVec::new(),
            quiesced: false,
        }
    }

    /// What the wall clock says; never before 1970.
    #[must_use]
    pub fn wall_now(&self, now: SimTime) -> WallMs {
        let shown = self.shown(now).max(0) / UNITS_PER_MS;
        WallMs(u64::try_from(shown).expect("a wall clock is at most two centuries wrong"))
    }

    /// What the monotonic clock says.
    #[must_use]
    pub fn monotonic_now(&self, now: SimTime) -> MonotonicNs {
        let ns = self.monotonic_units(now) / UNITS_PER_NS;
        MonotonicNs(u64::try_from(ns).unwrap_or(u64::MAX))
    }

    /// How wrong the wall clock is now, in nanoseconds rounded down; negative when it is behind.
    #[must_use]
    pub fn error_ns(&self, now: SimTime) -> i128 {
        self.error_units(now).div_euclid(UNITS_PER_NS)
    }

    /// Whether the machine is paused: its tasks do not run.
    #[must_use]
    pub fn is_paused(&self) -> bool {
        self.any(|fault| matches!(fault, ClockFault::Pause))
    }

    /// The first true time, not before `now`, at which the monotonic clock says at least `at`; at most 100 years after the
    /// run began. `None` while the machine is paused. Holds until a [`ClockChange`] says otherwise.
    #[must_use]
    pub fn monotonic_reaches(&self, now: SimTime, at: MonotonicNs) -> Option<SimTime> {
        let rate = self.monotonic_rate();
        if rate == 0 {
            return None;
        }
        let missing = (i128::from(at.0) * UNITS_PER_NS - self.monotonic).max(0);
        let true_ns = i128::from(self.anchor.0) + (missing + rate - 1) / rate;
        let reached = u64::try_from(true_ns).unwrap_or(u64::MAX).min(CENTURY_NS);
        Some(SimTime(reached).max(now))
    }

    /// A life begins; `after` is how the one before ended. A process crash keeps both clocks; else the machine boots: its
    /// monotonic clock starts at zero and its wall clock may be wrong.
    pub fn boot(&mut self, now: SimTime, after: Option<Death>) -> ClockChange {
        if after == Some(Death::Process) {
            return ClockChange::default();
        }
        self.change(now, |clock| {
            clock.monotonic = 0;
            if let Some(wrong) = clock.wrong.take() {
                clock.shift(-wrong.by_units);
            }
            if clock.quiesced {
                return None;
            }
            let due = |active: &&mut ActiveFault| !active.applied;
            let mut behind = 0;
            for active in clock.faults.iter_mut().filter(due) {
                if let ClockFault::BehindAtBoot { by_ms } = active.fault {
                    active.applied = true;
                    behind += i128::from(by_ms) * UNITS_PER_MS;
                }
            }
            clock.shift(-behind);
            if clock.plan.corrected_after_us == 0 || clock.plan.wrong_at_boot_ms == 0 {
                return None;
            }
            let by_units = clamp(i128::from(clock.plan.wrong_at_boot_ms) * UNITS_PER_MS);
            let correct_at = SimTime(now.0.saturating_add(SimTime::from_us(clock.plan.corrected_after_us).0));
            clock.shift(by_units);
            clock.wrong = Some(WrongAtBoot { by_units, correct_at });
            Some(correct_at)
        })
    }

    /// Corrects what was wrong at boot, if that is due; else does nothing.
    pub fn correct(&mut self, now: SimTime) -> ClockChange {
        self.change(now, |clock| {
            if let Some(wrong) = clock.wrong.take_if(|wrong| wrong.correct_at <= now) {
                clock.shift(-wrong.by_units);
            }
            None
        })
    }

    /// A fault begins.
    ///
    /// # Panics
    /// After quiescence, which no fault may follow.
    pub fn begin_fault(&mut self, now: SimTime, id: FaultId, fault: ClockFault) -> ClockChange {
        assert!(!self.quiesced, "no fault follows quiescence");
        self.change(now, |clock| {
            if let ClockFault::Step { by_ms } = fault {
                clock.shift(i128::from(by_ms) * UNITS_PER_MS);
                return None;
            }
            if fault == ClockFault::Freeze && clock.frozen.is_none() {
                clock.frozen = Some(clock.shown(now));
            }
            clock.faults.push(ActiveFault { id, fault, applied: false });
            None
        })
    }

    /// A fault ends: a frozen clock steps to where it would be, and so does one that a boot set behind. One that is not
    /// on ends without effect.
    pub fn end_fault(&mut self, now: SimTime, id: FaultId) -> ClockChange {
        self.change(now, |clock| {
            let place = clock.faults.iter().position(|active| active.id == id)?;
            let ended = clock.faults.remove(place);
            if let (ClockFault::BehindAtBoot { by_ms }, true) = (ended.fault, ended.applied) {
                clock.shift(i128::from(by_ms) * UNITS_PER_MS);
            }
            if !clock.any(|fault| matches!(fault, ClockFault::Freeze)) {
                clock.frozen = None;
            }
            None
        })
    }

    /// Every fault ends, and the wall clock is brought to true time without stepping back. The oscillator keeps the drift
    /// of the plan, which from now on shows on the monotonic clock only.
    pub fn quiesce(&mut self, now: SimTime) -> ClockChange {
        let before = self.wall_now(now);
        let change = self.change(now, |clock| {
            clock.faults.clear();
            clock.frozen = None;
            clock.wrong = None;
            clock.error = clock.error.max(0);
            clock.quiesced = true;
            None
        });
        assert!(self.wall_now(now) >= before, "quiescing never steps a clock back");
        change
    }

    /// Whether the wall clock is true, for good.
    #[must_use]
    pub fn is_true(&self, now: SimTime) -> bool {
        self.quiesced && self.error_at(now) == 0
    }

    fn any(&self, is: impl Fn(&ClockFault) -> bool) -> bool {
        self.faults.iter().any(|active| is(&active.fault))
    }

    /// Applies a change at `now` and says what it did; the change's answer is when to correct the clock.
    fn change(&mut self, now: SimTime, apply: impl FnOnce(&mut Self) -> Option<SimTime>) -> ClockChange {
        let (wall, rate, monotonic) = (self.wall_now(now), self.monotonic_rate(), self.monotonic_now(now));
        let (error, monotonic_units) = (self.error_at(now), self.monotonic_units(now));
        assert!(now >= self.anchor, "true time never goes back");
        (self.anchor, self.error, self.monotonic) = (now, error, monotonic_units);
        let correct_at = apply(self);
        let after = self.wall_now(now);
        ClockChange {
            set: (wall != after).then_some((wall, after)),
            monotonic_changed: rate != self.monotonic_rate() || monotonic != self.monotonic_now(now),
            correct_at,
        }
    }

    /// Steps the wall clock, frozen or not.
    fn shift(&mut self, by_units: i128) {
        self.error = clamp(self.error.saturating_add(by_units));
        self.frozen = self.frozen.map(|at| at.saturating_add(by_units));
    }

    fn drift_ppm(&self) -> i64 {
        let faults = self.faults.iter().map(|active| match active.fault {
            ClockFault::Drift { ppm } => i64::from(ppm),
            _ => 0,
        });
        (i64::from(self.plan.drift_ppm) + faults.sum::<i64>()).clamp(-MAX_DRIFT_PPM, MAX_DRIFT_PPM)
    }

    /// Units of monotonic time in a true nanosecond.
    fn monotonic_rate(&self) -> i128 {
        if self.is_paused() { 0 } else { UNITS_PER_NS + i128::from(self.drift_ppm()) }
    }

    fn elapsed_ns(&self, now: SimTime) -> i128 {
        i128::from(now.0.saturating_sub(self.anchor.0))
    }

    fn monotonic_units(&self, now: SimTime) -> i128 {
        self.monotonic + self.monotonic_rate() * self.elapsed_ns(now)
    }

    /// The error of the wall clock as it would be if it were not frozen.
    fn error_at(&self, now: SimTime) -> i128 {
        let elapsed_ns = self.elapsed_ns(now);
        if self.quiesced {
            (self.error + i128::from(SLEW_PPM) * elapsed_ns).max(0)
        } else {
            clamp(self.error + i128::from(self.drift_ppm()) * elapsed_ns)
        }
    }

    /// The error of what the wall clock shows.
    pub(in crate::world::clock) fn error_units(&self, now: SimTime) -> i128 {
        self.shown(now) - true_units(now)
    }

    /// What the wall clock shows, in units since the Unix epoch.
    fn shown(&self, now: SimTime) -> i128 {
        self.frozen.unwrap_or_else(|| true_units(now) + self.error_at(now))
    }
}

const fn true_units(now: SimTime) -> i128 {
    EPOCH_MS as i128 * UNITS_PER_MS + now.0 as i128 * UNITS_PER_NS
}

fn clamp(units: i128) -> i128 {
    units.clamp(-CENTURY_UNITS, CENTURY_UNITS)
}
