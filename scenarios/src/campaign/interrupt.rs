//! A request to end, for a command that has no campaign: work is told to stop, and what does not stop is ended with the process after
//! its block is printed.
//!
//! Promise: however the work hangs, one request ends the command, and the last that is seen is the block.

use super::monitor::{Bounds, Monitor};
use super::signals;
use crate::exit::Exit;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU8};
use std::time::Duration;

/// Listens for signals from its beginning to the end of the process.
pub struct Interrupt {
    stop: Arc<AtomicBool>,
    monitor: Monitor,
}

impl Interrupt {
    /// Listens from now on.
    ///
    /// # Errors
    /// When the system gives no thread or no signal handler.
    pub fn listen() -> std::io::Result<Self> {
        let (stop, interrupts) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU8::new(0)));
        signals::count(Arc::clone(&interrupts))?;
        let bounds = Bounds { run_time: Duration::MAX, memory_bytes: u64::MAX };
        Ok(Self { monitor: Monitor::new(bounds, Arc::clone(&stop), interrupts), stop })
    }

    /// What runs are given to look at: set once they are to stop.
    pub fn stop(&self) -> Arc<AtomicBool> {
        Arc::clone(&self.stop)
    }

    /// Does `work`. When it does not stop in time after it was told to, `give_up` prints what there is to say and tells how
    /// the command ends, which it does there.
    pub fn during<T>(&self, give_up: impl Fn() -> Exit + Sync, work: impl FnOnce() -> T) -> T {
        std::thread::scope(|scope| {
            let looking = scope.spawn(|| {
                self.monitor.look(|| std::process::exit(i32::from(give_up().code())));
            });
            // The watch ends with the work also when that panics: a scope waits for all of its threads.
            let _over = Over { monitor: &self.monitor, looking: looking.thread() };
            work()
        })
    }
}

struct Over<'m> {
    monitor: &'m Monitor,
    looking: &'m std::thread::Thread,
}

impl Drop for Over<'_> {
    fn drop(&mut self) {
        self.monitor.over();
        self.looking.unpark();
    }
}
