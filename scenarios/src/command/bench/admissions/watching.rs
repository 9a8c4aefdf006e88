//! The real machine with somebody who watches.
//!
//! Promise: everything but the watching is the real machine's own.

use groundhog_engine::host::disk::{DiskAnswer, DiskError, DiskRequest, FileHandle};
use groundhog_engine::host::native::NativeMachine;
use groundhog_engine::host::observe::EngineEvent;
use groundhog_engine::host::{Host, Machine, Unscheduled, Work};
use groundhog_engine::units::{MonotonicNs, WallMs};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// A real machine whose engines' events are seen by `watch`, which must be quick: it stands on their path.
struct Watching<W> {
    machine: Arc<NativeMachine>,
    watch: W,
}

/// A host over `machine` whose events `watch` sees.
pub fn watched<W>(machine: Arc<NativeMachine>, watch: W) -> Host
where
    W: Fn(EngineEvent<'_>) + Send + Sync + 'static,
{
    Host::new(Arc::new(Watching { machine, watch }))
}

impl<W> Machine for Watching<W>
where
    W: Fn(EngineEvent<'_>) + Send + Sync + 'static,
{
    fn wall_now(&self) -> WallMs {
        self.machine.wall_now()
    }

    fn monotonic_now(&self) -> MonotonicNs {
        self.machine.monotonic_now()
    }

    fn sleep(&self, duration: Duration) -> Boxed<()> {
        self.machine.sleep(duration)
    }

    fn spawn(&self, name: &'static str, task: Boxed<()>) -> Result<(), Unscheduled> {
        self.machine.spawn(name, task)
    }

    fn disk(&self, request: DiskRequest) -> Boxed<Result<DiskAnswer, DiskError>> {
        self.machine.disk(request)
    }

    fn close(&self, file: FileHandle) {
        self.machine.close(file);
    }

    fn charge(&self, work: Work) -> Boxed<()> {
        self.machine.charge(work)
    }

    fn observe(&self, event: EngineEvent<'_>) {
        (self.watch)(event);
    }
}
