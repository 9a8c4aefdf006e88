//! The flaw `cancelled-caller-breaks-order`: a write whose caller is gone is no longer waited for (B-R22).
//!
//! Promise: compiled only with the feature `flaws`, and reached only where that flaw is on.

use super::State;
use super::core::Closed;
use super::ticket::Outcome;
use super::writer::Writer;
use futures_util::FutureExt;
use std::pin::pin;
use std::sync::Arc;
use tokio::sync::oneshot;

impl<S: State> Writer<S> {
    /// Writes a batch on a task of its own. Once one of its callers is gone the writer goes on without it: it takes
    /// the gone callers' transitions back in memory, and the write may land after those of later batches.
    pub(super) async fn write_unserialised(&mut self, closed: Closed) {
        let roles = closed.roles();
        let batch = Arc::clone(&closed.batch);
        let mut twin = self.store.as_ref().expect("the writer has its store until it ends").twin();
        let (done, written) = oneshot::channel();
        let write = async move {
            let Closed { batch, puts, removals, .. } = closed;
            let result = twin.write_batch(batch.number, &puts, &removals).await;
            if let Err((mut twin, result)) = done.send((twin, result)) {
                batch.resolve(match result {
                    Ok(()) => Outcome::Durable { removed: removals.iter().map(|one| one.name).collect() },
                    Err(error) => Outcome::Failed(Arc::new(error)),
                });
                twin.finish_batch().await;
            }
        };
        if self.shared.host.spawn("unserialised-write", write).is_err() {
            return;
        }
        let mut written = written.fuse();
        let mut caller_gone = pin!(batch.caller_gone().fuse());
        futures_util::select_biased! {
            result = written => if let Ok((twin, result)) = result {
                self.store = Some(twin);
                self.end(&batch, roles, result).await;
            },
            gone = caller_gone => {
                if let Ok(mut core) = self.shared.lock() {
                    core.take_back_some(&gone);
                }
            }
        }
    }
}
