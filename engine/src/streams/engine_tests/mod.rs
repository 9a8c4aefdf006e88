//! The streams over a disk that can be held, failed and crashed, and over real files.

mod admission;
mod bad_records;
mod failure;
#[cfg(feature = "flaws")]
mod flaws;
mod native;
mod reservation;

use super::*;
use crate::host::observe::Decision;
use crate::host::test_machine::{Seen, TestMachine};
use crate::streams::fixtures::{self, receiver, signer, transaction};
use futures_util::FutureExt;

/// One node, life after life on one disk.
struct Node {
    machine: Arc<TestMachine>,
    config: StreamsConfig,
    streams: Streams,
}

fn root() -> DiskPath {
    DiskPath::new("data/transaction-replay")
}

impl Node {
    async fn start() -> Self {
        Self::start_with(fixtures::config(Flaws::NONE)).await
    }

    async fn start_with(config: StreamsConfig) -> Self {
        let machine = TestMachine::new();
        let streams = Streams::open(&machine.host(), root(), config).await.unwrap();
        Self { machine, config, streams }
    }

    /// The process dies and starts again.
    async fn restart(&mut self) {
        self.machine.crash();
        self.streams = Streams::open(&self.machine.host(), root(), self.config).await.unwrap();
    }

    fn admit(&self, transaction: Transaction) -> Admitting {
        let arrival = Arrival { introducer: Introducer::Slot(3), witness: &receiver() };
        self.streams.admit(&fixtures::verified(transaction, self.config.flaws), arrival)
    }

    async fn verdict(&self, transaction: Transaction) -> &'static str {
        word(self.admit(transaction).await)
    }

    fn reserve_of(&self, signer: &Signer, class: Class, count: u64) -> Reserving {
        self.streams.reserve(signer, Did([9; 20]), class, NonZeroU64::new(count).unwrap())
    }

    fn reserve(&self, count: u64) -> Reserving {
        self.reserve_of(&signer(1, 2), Class::Application, count)
    }

    async fn reserved(&self, count: u64) -> (u64, u64) {
        let reservation = self.reserve(count).await.unwrap();
        (reservation.first.0, reservation.last.0)
    }
}

fn word(result: Result<VerdictKind, AdmitError>) -> &'static str {
    match result {
        Ok(verdict) => verdict.id(),
        Err(error) => error.id(),
    }
}
