//! Many small jobs, some of them at a time.

use super::CONCURRENT_FILES;
use futures_util::StreamExt;
use futures_util::stream::FuturesUnordered;

/// Jobs that run at the same time, at most [`CONCURRENT_FILES`]. They are always awaited to the last one begun, after
/// an error too: a disk operation goes on even where nobody waits for it, and who cleans up must know that none is
/// left. Which of them ends first is the machine's, so results carry their own names.
pub(super) struct Bounded<F>(FuturesUnordered<F>);

impl<F: Future> Bounded<F> {
    pub(super) fn new() -> Self {
        Self(FuturesUnordered::new())
    }

    /// Whether one more may begin.
    pub(super) fn has_room(&self) -> bool {
        self.0.len() < CONCURRENT_FILES
    }

    /// Adds a job.
    pub(super) fn begin(&mut self, job: F) {
        assert!(self.has_room(), "more than {CONCURRENT_FILES} files at a time");
        self.0.push(job);
    }

    /// The next result; `None` once no job runs.
    pub(super) async fn next(&mut self) -> Option<F::Output> {
        self.0.next().await
    }
}
