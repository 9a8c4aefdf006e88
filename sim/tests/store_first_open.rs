//! The engine's store on the simulated disk: whatever becomes of its first opens, what it calls durable is.
//!
//! Promise: every disk operation of the first open, and then every one of the second, fails, or is the last of its life,
//! before or after its effect; each life ends with its process or with the power. The third open is left in peace, and
//! after its first batch no power failure can take the record away.

use bytes::Bytes;
use futures_util::FutureExt;
use futures_util::future::{BoxFuture, pending, ready};
use groundhog_engine::flaws::{Flaw, Flaws};
use groundhog_engine::host::disk::{DiskAnswer, DiskError, DiskPath, DiskRequest, FileHandle};
use groundhog_engine::host::observe::{BatchNumber, EngineEvent};
use groundhog_engine::host::{Host, Machine, Unscheduled, Work};
use groundhog_engine::store::name::{record_name, record_path};
use groundhog_engine::store::{FileStore, OpenError, Put, Record, StoreConfig, frame};
use groundhog_engine::streams::key::Table;
use groundhog_engine::units::{MonotonicNs, WallMs};
use groundhog_sim::plan::DiskProfile;
use groundhog_sim::world::disk::{Certainty, Disk, DiskConfig, Found, OpFault};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

/// What happens to one operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Trouble {
    /// It fails.
    Failure,
    /// It is never done, and neither is anything after it in this life.
    DeathBefore,
    /// It is done, and nothing after it in this life.
    DeathAfter,
}

/// How a life ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum End {
    Process,
    /// The name changes whose operation's bit is set survive.
    Power(u64),
}

const ENDS: [End; 5] = [
    End::Process,
    End::Power(0),
    End::Power(u64::MAX),
    End::Power(0x5555_5555_5555_5555),
    End::Power(0xCCCC_CCCC_CCCC_CCCC),
];

/// One life's trouble: at which operation, which one, and how the life ends.
type Life = (u64, Trouble, End);

struct Node {
    disk: Disk,
    /// Operations of this life so far.
    operations: u64,
    trouble: Option<(u64, Trouble)>,
    dead: bool,
}

/// A machine that answers every operation at its first poll.
struct DiskMachine(Mutex<Node>);

impl DiskMachine {
    fn new(profile: DiskProfile) -> Arc<Self> {
        let tag = |file: &[u8]| {
            frame::decode(&Bytes::copy_from_slice(file)).ok().map(|frame| frame.header.generation.0)
        };
        let directories = vec![DiskPath::new("data")];
        let disk = Disk::new(DiskConfig { profile, capacity_bytes: None, directories, tag });
        Arc::new(Self(Mutex::new(Node { disk, operations: 0, trouble: None, dead: false })))
    }

    fn node(&self) -> MutexGuard<'_, Node> {
        self.0.lock().expect("no test panics while it holds the node")
    }

    fn begin(&self, trouble: Option<(u64, Trouble)>) {
        let mut node = self.node();
        node.disk.start_life();
        (node.operations, node.trouble, node.dead) = (0, trouble, false);
    }

    fn end(&self, end: End) {
        let mut node = self.node();
        match end {
            End::Process => node.disk.process_crash(),
            End::Power(kept) => {
                let mut asked = 0;
                node.disk.power_failure(&mut |_| {
                    asked += 1;
                    kept >> (asked % 64) & 1 == 1
                });
            }
        }
    }
}

impl Node {
    /// The answer; `None` where the life is over.
    fn perform(&mut self, request: &DiskRequest) -> Option<Result<DiskAnswer, DiskError>> {
        let number = self.operations;
        self.operations += 1;
        let trouble = self.trouble.filter(|(at, _)| *at == number).map(|(_, trouble)| trouble);
        self.dead |= trouble == Some(Trouble::DeathBefore);
        if self.dead {
            return None;
        }
        let fault = (trouble == Some(Trouble::Failure)).then_some(match request {
            DiskRequest::Flush { .. } => OpFault::FailedFlush,
            DiskRequest::FlushDirectory { .. } => OpFault::FailedDirectoryFlush { read_only: false },
            _ => OpFault::Error,
        });
        let answer = self.disk.apply(request, fault.as_ref());
        self.dead |= trouble == Some(Trouble::DeathAfter);
        (!self.dead).then_some(answer)
    }
}

impl Machine for DiskMachine {
    fn wall_now(&self) -> WallMs {
        WallMs(0)
    }

    fn monotonic_now(&self) -> MonotonicNs {
        MonotonicNs(0)
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(ready(()))
    }

    fn spawn(&self, _: &'static str, _: BoxFuture<'static, ()>) -> Result<(), Unscheduled> {
        Err(Unscheduled)
    }

    fn disk(&self, request: DiskRequest) -> BoxFuture<'static, Result<DiskAnswer, DiskError>> {
        match self.node().perform(&request) {
            Some(answer) => Box::pin(ready(answer)),
            None => Box::pin(pending()),
        }
    }

    fn close(&self, file: FileHandle) {
        self.node().disk.close(file);
    }

    fn charge(&self, _: Work) -> BoxFuture<'static, ()> {
        Box::pin(ready(()))
    }

    fn observe(&self, _: EngineEvent<'_>) {}
}

fn root() -> DiskPath {
    DiskPath::new("data/node/transaction-replay")
}

fn open(machine: &Arc<DiskMachine>, flaws: Flaws) -> Option<Result<FileStore, OpenError>> {
    let host = Host::new(Arc::clone(machine) as Arc<dyn Machine>);
    let config = StoreConfig { flaws, ..StoreConfig::default() };
    FileStore::open(&host, root(), config).now_or_never().map(|opened| opened.map(|(store, _)| store))
}

/// What is certain of a record that a store on this machine, opened in peace, calls durable.
fn record_after_peace(machine: &Arc<DiskMachine>, flaws: Flaws) -> Certainty {
    machine.begin(None);
    let mut store = open(machine, flaws).expect("nobody dies").expect("nothing is in its way");
    let name = record_name("key");
    let record = Record { storage_key: "key".into(), value: Bytes::from_static(b"value") };
    let put = Put { name, table: Table::Receiver, record };
    let written = store.write_batch(BatchNumber(1), &[put], &[]).now_or_never().expect("nobody dies");
    written.expect("nothing is in its way");
    machine.node().disk.certain(record_path(&root(), name).as_str())
}

/// One life that opens the store and has this trouble. Gives whether its operation was reached.
fn troubled_life(machine: &Arc<DiskMachine>, (at, trouble, end): Life) -> bool {
    machine.begin(Some((at, trouble)));
    drop(open(machine, Flaws::NONE));
    let reached = machine.node().operations > at;
    machine.end(end);
    reached
}

/// Every life whose trouble is at this operation.
fn lives_at(operation: u64) -> impl Iterator<Item = Life> {
    let troubles = [Trouble::Failure, Trouble::DeathBefore, Trouble::DeathAfter].into_iter();
    troubles.flat_map(move |trouble| ENDS.map(|end| (operation, trouble, end)))
}

/// Every first life, as long as its trouble is reached, and then every second one. Gives how many histories there were.
fn sweep(profile: DiskProfile) -> u64 {
    let mut histories = 0;
    let survives = |machine: &Arc<DiskMachine>, lives: &[Life]| {
        let certain = record_after_peace(machine, Flaws::NONE);
        assert_eq!(certain, Certainty::Certain(Found::Generation(1)), "{profile:?}, after {lives:?}");
    };
    for operation in 0.. {
        let machine = DiskMachine::new(profile);
        if !troubled_life(&machine, (operation, Trouble::Failure, End::Process)) {
            return histories;
        }
        for first in lives_at(operation) {
            for second_operation in 0.. {
                let mut reached = false;
                for second in lives_at(second_operation) {
                    let machine = DiskMachine::new(profile);
                    troubled_life(&machine, first);
                    reached |= troubled_life(&machine, second);
                    survives(&machine, &[first, second]);
                    histories += 1;
                }
                if !reached {
                    break;
                }
            }
        }
    }
    unreachable!("an open has an end")
}

#[test]
fn no_trouble_in_two_first_opens_makes_the_third_believe_a_name_that_a_power_failure_takes() {
    for profile in [DiskProfile::Strict, DiskProfile::Ordered] {
        let histories = sweep(profile);
        assert!(histories > 10_000, "only {histories} histories");
    }
}

#[test]
fn a_store_that_flushes_no_ancestor_is_found_out() {
    let machine = DiskMachine::new(DiskProfile::Strict);
    let certain = record_after_peace(&machine, Flaws::NONE.with(Flaw::AncestorsNotFlushed));
    assert!(matches!(certain, Certainty::Uncertain(_)), "{certain:?}");
}
