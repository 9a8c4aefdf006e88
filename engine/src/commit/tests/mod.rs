//! Each law of group commit, over a disk that can be held and failed.

mod failures;
#[cfg(feature = "flaws")]
mod flawed;
mod property;
mod release;

use super::*;
use crate::host::disk::{DiskErrorKind, DiskPath};
use crate::host::test_machine::{Seen, TestMachine};
use crate::store::name::{record_name, record_path};
use crate::store::{FileStore, Scan, StoreConfig, StoreError, frame};
use bytes::Bytes;
use futures_util::FutureExt;
use std::collections::BTreeMap;

/// Numbers under one-byte keys; a removed key is one without a number.
#[derive(Default, Debug)]
struct Numbers {
    values: BTreeMap<u8, u64>,
    undone: Vec<(u8, Option<u64>)>,
}

fn storage_key(key: u8) -> String {
    format!("number {key}")
}

fn name(key: u8) -> RecordName {
    record_name(&storage_key(key))
}

fn root() -> DiskPath {
    DiskPath::new("data/numbers")
}

impl State for Numbers {
    type Key = u8;
    type Undo = (u8, Option<u64>);

    fn table(&self, key: u8) -> Table {
        if key < 128 { Table::Receiver } else { Table::Sender }
    }

    fn name(&self, key: u8) -> RecordName {
        name(key)
    }

    fn encode(&self, key: u8) -> Option<Record> {
        let value = Bytes::copy_from_slice(&self.values.get(&key)?.to_le_bytes());
        Some(Record { storage_key: storage_key(key).into(), value })
    }

    fn undo(&mut self, (key, before): Self::Undo) {
        self.undone.push((key, before));
        match before {
            Some(before) => self.values.insert(key, before),
            None => self.values.remove(&key),
        };
    }

    fn digest(&self) -> [u8; 32] {
        let mut digest = [0; 32];
        for (key, value) in &self.values {
            digest[usize::from(key % 32)] ^= key.wrapping_add(1) ^ (*value as u8);
        }
        digest
    }
}

struct Life {
    machine: Arc<TestMachine>,
    commit: GroupCommit<Numbers>,
}

async fn open_store(machine: &Arc<TestMachine>, flaws: Flaws) -> (FileStore, Scan) {
    let config = StoreConfig { flaws, ..StoreConfig::default() };
    FileStore::open(&machine.host(), root(), config).await.expect("the store opens")
}

impl Life {
    async fn begin() -> Self {
        Self::of(&TestMachine::new(), Flaws::NONE).await
    }

    async fn of(machine: &Arc<TestMachine>, flaws: Flaws) -> Self {
        let (store, scan) = open_store(machine, flaws).await;
        assert!(scan.bad.is_empty(), "{:?}", scan.bad);
        let mut numbers = Numbers::default();
        let mut restored = Vec::new();
        for stored in scan.records {
            let key: u8 = stored.record.storage_key["number ".len()..].parse().expect("our key");
            let value = u64::from_le_bytes(stored.record.value[..].try_into().expect("our value"));
            numbers.values.insert(key, value);
            restored.push((key, stored.generation));
        }
        let commit = GroupCommit::open(&machine.host(), store, numbers, restored, flaws).expect("running");
        machine.take_seen();
        machine.take_log();
        Self { machine: Arc::clone(machine), commit }
    }

    fn set(&self, key: u8, value: u64) -> Ticket<BatchNumber> {
        let ticket = self.commit.transact(|numbers, staging| {
            let before = numbers.values.insert(key, value);
            staging.stage(key, (key, before));
            staging.batch()
        });
        ticket.expect("running")
    }

    fn remove(&self, key: u8) -> Ticket<()> {
        let ticket = self.commit.transact(|numbers, staging| {
            let before = numbers.values.remove(&key);
            staging.stage(key, (key, before));
        });
        ticket.expect("running")
    }

    fn look(&self, key: u8) -> Ticket<Option<u64>> {
        let ticket = self.commit.transact(|numbers, staging| {
            staging.depend_on(key);
            numbers.values.get(&key).copied()
        });
        ticket.expect("running")
    }

    fn values(&self) -> BTreeMap<u8, u64> {
        self.commit.read(|numbers| numbers.values.clone())
    }

    fn on_disk(&self, key: u8) -> Option<(u64, BatchNumber)> {
        let bytes = self.machine.content(&record_path(&root(), name(key)))?;
        let frame = frame::decode(&bytes).expect("whole");
        let value = u64::from_le_bytes(frame.record.value[..].try_into().expect("our value"));
        Some((value, frame.header.generation))
    }
}

/// Lets every task run until nothing moves any more.
async fn settle() {
    for _ in 0..400 {
        tokio::task::yield_now().await;
    }
}

fn pending<T>(ticket: &mut Ticket<T>) -> bool {
    ticket.now_or_never().is_none()
}

fn drop_value(result: Result<BatchNumber, CommitError>) -> Result<(), CommitError> {
    result.map(|_| ())
}
