//! The one writer of a life: it closes the gathering batch, writes it outside the lock, and releases or undoes.
//!
//! Promise: batches are written one after the other, each only after the one before it is durable or undone. Whatever
//! ends this task ends every wait for it.

use super::core::{Closed, Phase, Undone};
use super::ticket::{Batch, Outcome};
use super::{Shared, State};
use crate::flaws::Flaw;
use crate::host::observe::{BatchNumber, EngineEvent, RecordName, Roles, Step};
use crate::store::{BatchError, FileStore};
use std::sync::Arc;

/// The writer's own: when it is dropped, nobody waits any more and the directory is free.
pub(super) struct Writer<S: State> {
    pub(super) shared: Arc<Shared<S>>,
    pub(super) store: Option<FileStore>,
}

impl<S: State> Drop for Writer<S> {
    fn drop(&mut self) {
        self.shared.lock_regardless().abandon();
        if let Some(store) = self.store.take() {
            store.close();
        }
    }
}

/// What is next for the writer.
enum Next {
    Write(Closed),
    Wait,
    End,
}

/// The writer's task.
pub(super) async fn run<S: State>(mut writer: Writer<S>) {
    loop {
        match writer.next() {
            Next::Write(closed) => writer.write(closed).await,
            Next::Wait => writer.shared.work.notified().await,
            Next::End => return,
        }
    }
}

impl<S: State> Writer<S> {
    pub(super) fn new(shared: Arc<Shared<S>>, store: FileStore) -> Self {
        Self { shared, store: Some(store) }
    }

    fn next(&self) -> Next {
        let Ok(mut core) = self.shared.lock() else { return Next::End };
        match core.close_gathering() {
            Some(closed) => Next::Write(closed),
            None if core.phase == Phase::Running => Next::Wait,
            None => Next::End,
        }
    }

    async fn write(&mut self, closed: Closed) {
        self.report_closed(&closed);
        #[cfg(feature = "flaws")]
        if self.shared.flaws.has(Flaw::CancelledCallerBreaksOrder) {
            return self.write_unserialised(closed).await;
        }
        let store = self.store.as_mut().expect("the writer has its store until it ends");
        let written = store.write_batch(closed.batch.number, &closed.puts, &closed.removals).await;
        self.end(&closed.batch, closed.roles(), written).await;
    }

    /// Releases a durable batch, or undoes a failed one.
    pub(super) async fn end(&mut self, batch: &Batch, roles: Roles, written: Result<(), BatchError>) {
        match written {
            Ok(()) => {
                self.release(batch.number, roles);
                self.store.as_mut().expect("the writer has its store until it ends").finish_batch().await;
            }
            Err(error) => self.undo(error),
        }
    }

    fn report_closed(&self, closed: &Closed) {
        let written = closed.puts.iter().map(|put| (put.name, u32::try_from(put.record.value.len()).ok()));
        let removed = closed.removals.iter().map(|removal| (removal.name, None));
        let records: Vec<(RecordName, Option<u32>)> = written.chain(removed).collect();
        self.shared.host.observe(EngineEvent::BatchClosed {
            batch: closed.batch.number,
            records: &records,
            transitions: closed.transitions,
        });
    }

    fn release(&self, batch: BatchNumber, roles: Roles) {
        let host = &self.shared.host;
        let Ok(mut core) = self.shared.lock() else { return };
        let (settled, removed) = core.settle();
        drop(core);
        host.observe(EngineEvent::BatchDurable { batch });
        host.observe(EngineEvent::Step { step: Step::BeforeRelease, batch, roles });
        settled.resolve(Outcome::Durable { removed });
    }

    fn undo(&self, error: BatchError) {
        let Ok(mut core) = self.shared.lock() else { return };
        let keep_gathering = self.shared.flaws.has(Flaw::PartialUndo);
        let Undone { batches, transitions, digest } = core.fail(error.landed, keep_gathering);
        drop(core);
        self.shared.host.observe(EngineEvent::BatchFailed {
            batch: error.batch,
            undone: transitions,
            state_digest: digest,
        });
        let error = Arc::new(error);
        for batch in batches {
            batch.resolve(Outcome::Failed(Arc::clone(&error)));
        }
    }
}
