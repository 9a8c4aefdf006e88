//! Watches the process from outside the runs: real time of each run, memory, and whoever asks it to end. A run that does
//! not stop itself is ended with the process, after whatever is known has been printed.
//!
//! Promise: however a run hangs, the command ends.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, AtomicU8, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};

/// How often it looks.
const LOOK_EVERY: Duration = Duration::from_millis(100);

/// How long runs have to stop themselves once they are told to.
const GRACE: Duration = Duration::from_secs(2);

/// The bounds that it watches.
#[derive(Clone, Copy, Debug)]
pub struct Bounds {
    /// Real time of one run.
    pub run_time: Duration,
    /// Memory of the process, in bytes.
    pub memory_bytes: u64,
}

/// Why everything is to stop.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Reason {
    /// Ctrl-C, or another of the signals in [`super::signals`].
    Interrupted,
    /// A run takes longer than its bound.
    RunTime {
        /// Of which target.
        target: usize,
        /// Of which seed.
        seed: u64,
        /// The bound.
        bound: Duration,
    },
    /// The process holds more memory than its bound.
    Memory {
        /// What it holds.
        bytes: u64,
        /// The bound.
        bound_bytes: u64,
    },
}

struct Watched {
    target: usize,
    seed: u64,
    since: Instant,
}

/// The monitor.
pub struct Monitor {
    bounds: Bounds,
    stop: Arc<AtomicBool>,
    interrupts: Arc<AtomicU8>,
    runs: Mutex<BTreeMap<usize, Watched>>,
    reason: Mutex<Option<Reason>>,
    over: AtomicBool,
}

/// Ends the watch over one run when dropped.
pub struct Watch<'m> {
    monitor: &'m Monitor,
    worker: usize,
}

impl Drop for Watch<'_> {
    fn drop(&mut self) {
        self.monitor.runs.lock().expect("watching does not panic").remove(&self.worker);
    }
}

impl Monitor {
    /// Tells runs to stop through `stop`; `interrupts` counts requests to end.
    pub fn new(bounds: Bounds, stop: Arc<AtomicBool>, interrupts: Arc<AtomicU8>) -> Self {
        let (runs, reason, over) = Default::default();
        Self { bounds, stop, interrupts, runs, reason, over }
    }

    /// Watches the run of one worker.
    pub fn watch(&self, worker: usize, target: usize, seed: u64) -> Watch<'_> {
        let watched = Watched { target, seed, since: Instant::now() };
        self.runs.lock().expect("watching does not panic").insert(worker, watched);
        Watch { monitor: self, worker }
    }

    /// Why everything was told to stop, if it was.
    pub fn reason(&self) -> Option<Reason> {
        self.reason.lock().expect("watching does not panic").clone()
    }

    /// The work is done: [`Self::look`] returns.
    pub fn over(&self) {
        self.over.store(true, Ordering::Relaxed);
    }

    /// Looks until the work is done. Tells the runs to stop when a bound is hit, and calls `end` when they do not.
    pub fn look(&self, end: impl Fn()) {
        let mut told: Option<Instant> = None;
        while !self.over.load(Ordering::Relaxed) {
            std::thread::park_timeout(LOOK_EVERY);
            match told {
                None => {
                    if let Some(reason) = self.trouble() {
                        *self.reason.lock().expect("watching does not panic") = Some(reason);
                        self.stop.store(true, Ordering::Relaxed);
                        told = Some(Instant::now());
                    }
                }
                // Who asks a second time waits for nothing.
                Some(since) if since.elapsed() > GRACE || self.interrupts.load(Ordering::Relaxed) > 1 => {
                    end();
                    return;
                }
                Some(_) => {}
            }
        }
    }

    fn trouble(&self) -> Option<Reason> {
        if self.interrupts.load(Ordering::Relaxed) > 0 {
            return Some(Reason::Interrupted);
        }
        let runs = self.runs.lock().expect("watching does not panic");
        if let Some(run) = runs.values().find(|run| run.since.elapsed() > self.bounds.run_time) {
            let bound = self.bounds.run_time;
            return Some(Reason::RunTime { target: run.target, seed: run.seed, bound });
        }
        drop(runs);
        let bytes = resident_bytes()?;
        let bound_bytes = self.bounds.memory_bytes;
        (bytes > bound_bytes).then_some(Reason::Memory { bytes, bound_bytes })
    }
}

/// What the process holds in memory, where the system says so.
pub fn resident_bytes() -> Option<u64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmRSS:"))?;
    line.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1_024)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn monitor(bounds: Bounds) -> (Monitor, Arc<AtomicBool>, Arc<AtomicU8>) {
        let (stop, interrupts) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU8::new(0)));
        (Monitor::new(bounds, Arc::clone(&stop), Arc::clone(&interrupts)), stop, interrupts)
    }

    const WIDE: Bounds = Bounds { run_time: Duration::from_secs(3_600), memory_bytes: u64::MAX };

    #[test]
    fn a_run_beyond_its_time_is_named_and_told_to_stop_and_then_ended() {
        let (monitor, stop, _) = monitor(Bounds { run_time: Duration::ZERO, ..WIDE });
        let _watch = monitor.watch(0, 1, 42);
        let ended = AtomicBool::new(false);
        monitor.look(|| ended.store(true, Ordering::Relaxed));
        assert!(ended.into_inner() && stop.load(Ordering::Relaxed));
        assert_eq!(monitor.reason(), Some(Reason::RunTime { target: 1, seed: 42, bound: Duration::ZERO }));
    }

    #[test]
    fn nothing_is_told_to_stop_while_all_is_well() {
        let (monitor, stop, _) = monitor(WIDE);
        drop(monitor.watch(0, 0, 1));
        monitor.over();
        monitor.look(|| unreachable!("all is well"));
        assert_eq!((monitor.trouble(), stop.load(Ordering::Relaxed)), (None, false));
    }

    #[test]
    fn memory_and_interrupts_are_seen() {
        let (first, ..) = monitor(Bounds { memory_bytes: 1, ..WIDE });
        assert!(matches!(first.trouble(), Some(Reason::Memory { bound_bytes: 1, .. })));
        let (second, _, interrupts) = monitor(WIDE);
        interrupts.store(1, Ordering::Relaxed);
        assert_eq!(second.trouble(), Some(Reason::Interrupted));
    }
}
