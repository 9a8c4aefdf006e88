//! A whole table of receiver streams takes at most 2 KiB of memory for each of them, everything that the engine keeps of it
//! included: stream, window, accounting, and what commit and store know of its record.

#![cfg(target_os = "linux")]

use futures_util::future::BoxFuture;
use groundhog_engine::flaws::Flaws;
use groundhog_engine::host::disk::{DiskAnswer, DiskError, DiskPath, DiskRequest, FileHandle};
use groundhog_engine::host::observe::EngineEvent;
use groundhog_engine::host::{Host, Machine, Unscheduled, Work};
use groundhog_engine::identity::delegation::{Delegation, Signer};
use groundhog_engine::identity::signing::{Crypto, KeyPair};
use groundhog_engine::streams::key::{Class, NetworkId, Table};
use groundhog_engine::streams::message::MessageKind;
use groundhog_engine::streams::payload::Payload;
use groundhog_engine::streams::record::Introducer;
use groundhog_engine::streams::slots::{DEFAULT_SUCCESSORS, SlotBounds};
use groundhog_engine::streams::transaction::{Draft, Transaction, TransactionId};
use groundhog_engine::streams::verify::{Verified, Verifier};
use groundhog_engine::streams::{Arrival, STREAM_CAPACITY, Streams, StreamsConfig};
use groundhog_engine::units::{MonotonicNs, Sequence, WallMs};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

const NETWORK: NetworkId = NetworkId(1);
const CRYPTO: Crypto = Crypto::KeyedHash;
const NOW: WallMs = WallMs(1_700_000_000_000);

/// A machine whose disk takes everything and keeps nothing. A second passes whenever its clock is read, so that no origin's
/// quota is in the way.
#[derive(Default)]
struct Forgetful {
    seconds: AtomicU64,
}

impl Machine for Forgetful {
    fn wall_now(&self) -> WallMs {
        NOW
    }

    fn monotonic_now(&self) -> MonotonicNs {
        MonotonicNs(self.seconds.fetch_add(1, Ordering::Relaxed) * 1_000_000_000)
    }

    fn sleep(&self, _: Duration) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }

    fn spawn(&self, _: &'static str, task: BoxFuture<'static, ()>) -> Result<(), Unscheduled> {
        drop(tokio::spawn(task));
        Ok(())
    }

    fn disk(&self, request: DiskRequest) -> BoxFuture<'static, Result<DiskAnswer, DiskError>> {
        let answer = match request {
            DiskRequest::Create { .. } | DiskRequest::LockDirectory { .. } => DiskAnswer::File(FileHandle(1)),
            DiskRequest::List { .. } => DiskAnswer::Entries(Vec::new()),
            _ => DiskAnswer::Done,
        };
        Box::pin(std::future::ready(Ok(answer)))
    }

    fn close(&self, _: FileHandle) {}

    fn charge(&self, _: Work) -> BoxFuture<'static, ()> {
        Box::pin(std::future::ready(()))
    }

    fn observe(&self, _: EngineEvent<'_>) {}
}

fn signer(number: u64) -> Signer {
    let mut seed = [0; 32];
    seed[..8].copy_from_slice(&number.to_le_bytes());
    let account = KeyPair::from_seed(&seed);
    let always = (WallMs(0), WallMs(u64::MAX));
    let delegation = Delegation::sign(&account, *account.public(), always, NETWORK, CRYPTO);
    Signer::new(account, delegation)
}

/// The first transaction of an origin of its own.
fn first_of(origin: u64, receiver: &Signer) -> Verified {
    let origin = signer(1 + origin);
    let draft = Draft {
        destination: receiver.account(),
        id: TransactionId([0; 16]),
        sequence: Sequence(u64::MAX / 2),
        reply_via: None,
        data: &[MessageKind::plain(Class::Application) as u8],
        issued: NOW,
        lifetime_ms: 600_000,
    };
    let transaction = Transaction::sign(&draft, &origin, NETWORK, CRYPTO).expect("within its limits");
    let payload = Payload::sign(transaction, &origin, NETWORK, CRYPTO);
    // One for each, since a verifier remembers delegations.
    Verifier::new(NETWORK, CRYPTO, Flaws::NONE).verify(payload, NOW).expect("signed here and now")
}

/// Resident memory of this process in bytes.
fn resident_bytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").expect("Linux tells it");
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).expect("it is among them");
    let kib: u64 = line.split_whitespace().nth(1).and_then(|kib| kib.parse().ok()).expect("a number");
    kib * 1_024
}

#[tokio::test]
async fn a_full_table_takes_two_kib_a_stream() {
    let host = Host::new(Arc::new(Forgetful::default()));
    let receiver = Arc::new(signer(0));
    // One slot may bring them all.
    let slots = SlotBounds { floor: 16_384, ..SlotBounds::for_successors(DEFAULT_SUCCESSORS) };
    let config = StreamsConfig { crypto: CRYPTO, slots, ..StreamsConfig::new(NETWORK, receiver.account()) };
    let streams = Streams::open(&host, DiskPath::new("streams"), config).await.expect("the store opens");
    let connection = streams.connected(signer(1).account()).expect("a slot is free");
    let admit = async |origin| {
        let introducer = Introducer::Slot(connection.slot());
        let arrival = Arrival { introducer, link: Some(connection.link()), witness: &receiver };
        streams.admit(&first_of(origin, &receiver), arrival).await.expect("a first transaction")
    };
    for origin in 0..64 {
        admit(origin).await;
    }
    let before = resident_bytes();
    for origin in 64..STREAM_CAPACITY as u64 {
        admit(origin).await;
    }
    let taken = resident_bytes().saturating_sub(before);
    assert_eq!(streams.streams(Table::Receiver), STREAM_CAPACITY);
    let each = taken / (STREAM_CAPACITY as u64 - 64);
    println!("{each} bytes a retained stream");
    assert!((1_024..=2_048).contains(&each), "{each} bytes a retained stream");
}
