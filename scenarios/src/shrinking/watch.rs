//! Watches over the shrinker from outside: its deadline, Ctrl-C, and candidates that do not stop when they are told to.

use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// How often it looks.
const LOOK_EVERY: Duration = Duration::from_millis(20);

/// How long the shrinker has to stop itself, beside what the runs that it ends with take.
const GRACE: Duration = Duration::from_secs(10);

/// The runs that the shrinker ends with are two; on a busy machine each may take several times as long as before.
const ENDING_RUNS: u32 = 10;

/// Who interrupts, and what is done about a candidate that cannot be stopped.
#[derive(Clone, Copy)]
pub struct Watch<'a> {
    /// Counts Ctrl-C: the first stops the shrinker, which hands over what it has; the second ends the command.
    pub interrupts: &'a AtomicU8,
    /// Says what is known and ends the process.
    pub give_up: &'a (dyn Fn() + Sync),
}

impl Watch<'_> {
    /// Does `work`, and sets `stop` when its time is over. `slowest_ms` is what the longest whole run took.
    pub fn over<T>(
        &self,
        deadline: Instant,
        stop: &AtomicBool,
        slowest_ms: &AtomicU64,
        work: impl FnOnce() -> T,
    ) -> T {
        let done = AtomicBool::new(false);
        std::thread::scope(|scope| {
            let looking = scope.spawn(|| self.look(deadline, stop, slowest_ms, &done));
            let result = work();
            done.store(true, Ordering::Relaxed);
            looking.thread().unpark();
            result
        })
    }

    fn look(&self, deadline: Instant, stop: &AtomicBool, slowest_ms: &AtomicU64, done: &AtomicBool) {
        let mut told: Option<Instant> = None;
        while !done.load(Ordering::Relaxed) {
            std::thread::park_timeout(LOOK_EVERY);
            let interrupts = self.interrupts.load(Ordering::Relaxed);
            match told {
                None if interrupts > 0 || Instant::now() >= deadline => {
                    stop.store(true, Ordering::Relaxed);
                    told = Some(Instant::now());
                }
                None => {}
                Some(since) => {
                    let slowest = Duration::from_millis(slowest_ms.load(Ordering::Relaxed));
                    if interrupts > 1 || since.elapsed() > GRACE + slowest * ENDING_RUNS {
                        (self.give_up)();
                        return;
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_deadline_and_an_interrupt_stop_the_work_and_a_second_interrupt_gives_it_up() {
        for (time, interrupts, given_up) in
            [(Duration::ZERO, 0, false), (Duration::from_secs(3_600), 1, false), (Duration::ZERO, 2, true)]
        {
            let (count, gave_up) = (AtomicU8::new(interrupts), AtomicBool::new(false));
            let give_up = || gave_up.store(true, Ordering::Relaxed);
            let watch = Watch { interrupts: &count, give_up: &give_up };
            let (stop, slowest_ms) = (AtomicBool::new(false), AtomicU64::new(0));
            watch.over(Instant::now() + time, &stop, &slowest_ms, || {
                while !stop.load(Ordering::Relaxed) || gave_up.load(Ordering::Relaxed) != given_up {
                    std::thread::yield_now();
                }
            });
            assert_eq!(gave_up.into_inner(), given_up);
        }
    }

    #[test]
    fn work_that_is_done_in_time_is_not_stopped() {
        let (count, stop, slowest_ms) = (AtomicU8::new(0), AtomicBool::new(false), AtomicU64::new(0));
        let watch = Watch { interrupts: &count, give_up: &|| unreachable!("all is well") };
        let deadline = Instant::now() + Duration::from_secs(3_600);
        assert_eq!(watch.over(deadline, &stop, &slowest_ms, || 7), 7);
        assert!(!stop.into_inner());
    }
}
