//! How long a run took, on the clock and on the processor.

use std::time::{Duration, Instant};

/// Linux counts processor time in steps of this, on every machine.
const TICK: Duration = Duration::from_millis(10);

/// What one run took of this machine.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Timed {
    /// Real time from its beginning to its end.
    pub elapsed: Duration,
    /// Time that it had a core, where the system says it: what it would take on a machine that does nothing else.
    pub processor: Option<Duration>,
}

impl Timed {
    /// Does something, alone in this process, and times it.
    pub fn of<T>(act: impl FnOnce() -> T) -> (T, Self) {
        let (began, used) = (Instant::now(), processor_time());
        let done = act();
        let elapsed = began.elapsed();
        let processor = processor_time().zip(used).map(|(after, before)| after.saturating_sub(before));
        // A run of few steps is better told by the clock.
        let processor = processor.filter(|processor| *processor >= 10 * TICK);
        (done, Self { elapsed, processor })
    }

    /// What figures are computed from: one core's time.
    pub fn core(&self) -> Duration {
        self.processor.unwrap_or(self.elapsed)
    }
}

/// Processor time of this process so far, all its threads and those that have ended.
fn processor_time() -> Option<Duration> {
    processor_time_in(&std::fs::read_to_string("/proc/self/stat").ok()?)
}

/// Fields 14 and 15 of the system's line about a process.
fn processor_time_in(stat: &str) -> Option<Duration> {
    // The second field is the name in brackets, and may hold blanks and brackets of its own.
    let (_, fields) = stat.rsplit_once(')')?;
    let mut ticks = fields.split_whitespace().skip(11).map(str::parse::<u32>);
    let (user, system) = (ticks.next()?.ok()?, ticks.next()?.ok()?);
    Some(TICK * user.checked_add(system)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn processor_time_is_read_whatever_the_process_is_called() {
        let stat = "7 (a (b) c) R 1 7 7 0 -1 4194304 1 0 0 0 123 45 0 0 20 0 1 0 0";
        assert_eq!(processor_time_in(stat), Some(Duration::from_millis(1_680)));
        assert_eq!(processor_time_in("7 (short) R 1"), None);
        assert_eq!(processor_time_in(""), None);
    }

    #[test]
    fn a_short_run_is_told_by_the_clock() {
        let ((), timed) = Timed::of(|| ());
        assert_eq!(timed.processor, None);
        assert_eq!(timed.core(), timed.elapsed);
    }
}
