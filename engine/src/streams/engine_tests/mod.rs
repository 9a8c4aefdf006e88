//! The streams over a disk that can be held, failed and crashed, and over real files.

mod admission;
mod bad_records;
mod counters;
mod custody;
mod failure;
#[cfg(feature = "flaws")]
mod flaws;
mod link_local;
mod native;
mod quota;
mod reservation;
mod retirement;
mod slots;

use super::*;
use crate::host::observe::Decision;
use crate::host::test_machine::{Seen, TestMachine};
use crate::streams::error::ReserveError;
use crate::streams::fixtures::{self, receiver, signer, transaction};
use crate::streams::slots::SlotIndex;
use crate::streams::spent::spent;
use crate::streams::transaction::Transaction;
use crate::streams::window::VerdictKind;
use crate::units::Sequence;
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

    /// The wall clock says this from now on.
    fn at(&self, now: WallMs) {
        self.machine.set_wall(now);
    }

    /// The process dies and starts again.
    async fn restart(&mut self) {
        self.machine.crash();
        self.streams = Streams::open(&self.machine.host(), root(), self.config).await.unwrap();
    }

    fn admit(&self, transaction: Transaction) -> Admitting {
        self.admit_by(Introducer::Slot(SlotIndex::new(3)), transaction)
    }

    fn admit_by(&self, introducer: Introducer, transaction: Transaction) -> Admitting {
        self.admit_over(None, introducer, transaction)
    }

    fn admit_over(&self, link: Option<&Link>, introducer: Introducer, transaction: Transaction) -> Admitting {
        let arrival = Arrival { introducer, link, witness: &receiver() };
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

/// Lets every task run until nothing moves any more.
async fn settle() {
    for _ in 0..400 {
        tokio::task::yield_now().await;
    }
}

fn word(result: Result<VerdictKind, AdmitError>) -> &'static str {
    match result {
        Ok(verdict) => verdict.id(),
        Err(error) => error.id(),
    }
}
