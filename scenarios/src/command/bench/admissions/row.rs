//! One line of the table: so many admissions in flight, for so long.
//!
//! Promise: timed is the engine's admission alone, from the call to the release of its verdict. Each of those in flight
//! starts its next one when its last was released, so nothing waits outside the engine.

use super::people::{self, Load, Person};
use super::watching::watched;
use super::{BenchError, Interrupts};
use groundhog_engine::host::disk::DiskPath;
use groundhog_engine::host::native::NativeMachine;
use groundhog_engine::host::observe::EngineEvent;
use groundhog_engine::identity::delegation::Signer;
use groundhog_engine::store::name::FileName;
use groundhog_engine::streams::record::Introducer;
use groundhog_engine::streams::slots::{DEFAULT_SUCCESSORS, SlotBounds, SlotLease};
use groundhog_engine::streams::verify::Verified;
use groundhog_engine::streams::{Admitting, Arrival, Streams};
use hdrhistogram::Histogram;
use std::path::Path;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Transactions that one row prepares at most where streams go on.
const PREPARED_MAX: u64 = 20_000;

/// The longest latency that is told from a longer one: ten minutes.
const LATENCY_MAX_NS: u64 = 600_000_000_000;

/// The most streams that a store takes in through all its connection slots.
pub const STREAMS_MAX: u32 = {
    let SlotBounds { slots, floor, pool, .. } = SlotBounds::for_successors(DEFAULT_SUCCESSORS);
    slots as u32 * floor + pool
};

/// Transactions of a load that a row may use: a store takes in no more fresh streams.
const fn bound(load: Load) -> u64 {
    match load {
        Load::Fresh => STREAMS_MAX as u64,
        Load::Streams(_) => PREPARED_MAX,
    }
}

/// Batches, counted while they are written.
#[derive(Debug, Default)]
struct Batches {
    batches: AtomicU64,
    records: AtomicU64,
    transitions: AtomicU64,
}

/// Batches of a row.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counted {
    /// Batches.
    pub batches: u64,
    /// Records that they wrote.
    pub records: u64,
    /// Admissions that waited for them.
    pub transitions: u64,
}

impl Batches {
    fn see(&self, event: EngineEvent<'_>) {
        if let EngineEvent::BatchClosed { records, transitions, .. } = event {
            self.batches.fetch_add(1, Ordering::Relaxed);
            self.records.fetch_add(records.len() as u64, Ordering::Relaxed);
            self.transitions.fetch_add(u64::from(transitions), Ordering::Relaxed);
        }
    }

    fn counted(&self) -> Counted {
        let number = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Counted {
            batches: number(&self.batches),
            records: number(&self.records),
            transitions: number(&self.transitions),
        }
    }
}

impl Counted {
    fn since(self, before: Self) -> Self {
        Self {
            batches: self.batches - before.batches,
            records: self.records - before.records,
            transitions: self.transitions - before.transitions,
        }
    }
}

/// What a row found.
pub struct Row {
    /// Admissions in flight.
    pub in_flight: u32,
    /// Admissions made.
    pub admissions: u64,
    /// From the first call to the last release.
    pub elapsed: Duration,
    /// Each admission's latency, in nanoseconds.
    pub latency_ns: Histogram<u64>,
    /// Its batches.
    pub counted: Counted,
    /// Whether it ended before its time, at the bound of what a row may admit.
    pub used_up: bool,
}

impl Row {
    fn empty(in_flight: u32) -> Self {
        let latency_ns = Histogram::new_with_bounds(1, LATENCY_MAX_NS, 3).expect("the bounds are in order");
        let (admissions, elapsed, counted) = Default::default();
        Self { in_flight, admissions, elapsed, latency_ns, counted, used_up: false }
    }

    /// Another stretch of the same row.
    fn absorb(&mut self, more: &Self) {
        self.admissions += more.admissions;
        self.elapsed += more.elapsed;
        self.latency_ns.add(&more.latency_ns).expect("both have the same bounds");
        self.counted = Counted {
            batches: self.counted.batches + more.counted.batches,
            records: self.counted.records + more.counted.records,
            transitions: self.counted.transitions + more.counted.transitions,
        };
    }

    /// How many admissions `time` has room for, at this row's rate.
    fn would_admit_in(&self, time: Duration) -> u64 {
        let admissions = u128::from(self.admissions) * time.as_nanos() / self.elapsed.as_nanos().max(1);
        u64::try_from(admissions).unwrap_or(u64::MAX)
    }
}

/// A store that is written to, and how.
struct Store {
    machine: Arc<NativeMachine>,
    streams: Streams,
    witness: Arc<Signer>,
    batches: Arc<Batches>,
    /// A connection in each slot: what is admitted comes by one after the other, for none may bring so many streams.
    peers: Vec<SlotLease>,
    next_peer: AtomicUsize,
}

impl Store {
    async fn open(base: &Path, name: &str) -> Result<Self, BenchError> {
        let machine = NativeMachine::new(base)?;
        let batches = Arc::new(Batches::default());
        let host = watched(Arc::clone(&machine), {
            let batches = Arc::clone(&batches);
            move |event| batches.see(event)
        });
        let witness = Arc::new(people::signer(Person::Receiver, 0));
        let config = people::config(&witness);
        let streams = Streams::open(&host, DiskPath::root().join(name), config).await?;
        let peer = people::signer(Person::Hop, 0).account();
        let peers = std::iter::from_fn(|| streams.connected(peer).ok()).collect();
        Ok(Self { machine, streams, witness, batches, peers, next_peer: AtomicUsize::new(0) })
    }

    fn admit(&self, verified: &Verified) -> Admitting {
        let peer = &self.peers[self.next_peer.fetch_add(1, Ordering::Relaxed) % self.peers.len()];
        let introducer = Introducer::Slot(peer.slot());
        let arrival = Arrival { introducer, link: Some(peer.link()), witness: &self.witness };
        self.streams.admit(verified, arrival)
    }
}

/// How long the file of a record is that the load writes.
pub async fn record_bytes(base: &Path, load: Load) -> Result<usize, BenchError> {
    const NAME: &str = "sample";
    // Of streams that go on, a record grows until its window is full.
    let numbers = if load == Load::Fresh { 0..1 } else { 0..64 };
    let load = if load == Load::Fresh { load } else { Load::Streams(1) };
    let store = Store::open(base, NAME).await?;
    for verified in people::prepare(&store.machine, load, numbers) {
        store.admit(&verified).await?;
    }
    let directory = base.join(NAME);
    let length = || {
        for entry in std::fs::read_dir(&directory)? {
            let entry = entry?;
            if let FileName::Record(_) = FileName::parse(&entry.file_name().to_string_lossy()) {
                return Ok(entry.metadata()?.len());
            }
        }
        Err(std::io::Error::other("the store holds no record after an admission"))
    };
    let length = length().map_err(|source| BenchError::Directory { path: directory.clone(), source })?;
    Ok(usize::try_from(length).unwrap_or(usize::MAX))
}

/// Measures one row in a store of its own. `say` is told what is going on.
pub async fn measure(
    (base, name): (&Path, &str),
    load: Load,
    in_flight: u32,
    time: Duration,
    interrupts: &Interrupts,
    say: impl Fn(String),
) -> Result<Row, BenchError> {
    let store = Arc::new(Store::open(base, name).await?);
    let warm = (2 * u64::from(in_flight)).clamp(32, bound(load) / 2);
    say(format!("{in_flight} in flight: warming up"));
    let prepared = people::prepare(&store.machine, load, 0..warm);
    let mut last = closed_loop(&store, prepared, in_flight, Duration::MAX, interrupts).await?;
    let (mut row, mut prepared_to) = (Row::empty(in_flight), warm);
    // In stretches: how fast the last one was tells how many transactions to prepare for the rest of the time.
    while row.elapsed < time && prepared_to < bound(load) {
        let left = time - row.elapsed;
        let more = last.would_admit_in(left).saturating_mul(3) / 2;
        let to = prepared_to.saturating_add(more.max(2 * u64::from(in_flight))).min(bound(load));
        say(format!("{in_flight} in flight: signing and verifying {} transactions", to - prepared_to));
        let prepared = people::prepare(&store.machine, load, prepared_to..to);
        say(format!("{in_flight} in flight: admitting"));
        last = closed_loop(&store, prepared, in_flight, left, interrupts).await?;
        row.absorb(&last);
        prepared_to = to;
    }
    row.used_up = row.elapsed < time;
    Ok(row)
}

/// What is admitted next, and whether anything is.
struct Source {
    prepared: std::vec::IntoIter<Verified>,
    until: Option<Instant>,
    interrupts: Interrupts,
}

impl Source {
    /// Begins the next admission. Called under a lock, so that streams that go on are admitted in their order.
    fn begin(&mut self, store: &Store) -> Option<(Instant, Verified, Admitting)> {
        let now = Instant::now();
        if self.until.is_some_and(|until| now >= until) || self.interrupts.any() {
            return None;
        }
        let verified = self.prepared.next()?;
        let now = Instant::now();
        let admitting = store.admit(&verified);
        Some((now, verified, admitting))
    }
}

async fn closed_loop(
    store: &Arc<Store>,
    prepared: Vec<Verified>,
    in_flight: u32,
    time: Duration,
    interrupts: &Interrupts,
) -> Result<Row, BenchError> {
    let admissions = prepared.len();
    let counted = store.batches.counted();
    let began = Instant::now();
    let until = began.checked_add(time);
    let source = Arc::new(Mutex::new(Source {
        prepared: prepared.into_iter(),
        until,
        interrupts: interrupts.clone(),
    }));
    let share = admissions.div_ceil(in_flight as usize);
    let tasks: Vec<_> = (0..in_flight)
        .map(|_| tokio::spawn(one_after_the_other(Arc::clone(store), Arc::clone(&source), share)))
        .collect();
    let (mut row, mut last) = (Row::empty(in_flight), began);
    for task in tasks {
        let (latencies, ended) = task.await.map_err(std::io::Error::other).map_err(BenchError::Runtime)??;
        for latency in latencies {
            row.latency_ns.saturating_record(latency);
        }
        last = last.max(ended);
    }
    if interrupts.any() {
        return Err(BenchError::Interrupted);
    }
    row.admissions = row.latency_ns.len();
    row.elapsed = last - began;
    row.counted = store.batches.counted().since(counted);
    Ok(row)
}

/// Admits one transaction after the other; gives the latencies in nanoseconds, and when the last was released.
async fn one_after_the_other(
    store: Arc<Store>,
    source: Arc<Mutex<Source>>,
    share: usize,
) -> Result<(Vec<u64>, Instant), BenchError> {
    let mut latencies = Vec::with_capacity(2 * share);
    let mut ended = Instant::now();
    loop {
        let begun = source.lock().unwrap_or_else(PoisonError::into_inner).begin(&store);
        let Some((began, _verified, admitting)) = begun else { return Ok((latencies, ended)) };
        admitting.await?;
        ended = Instant::now();
        latencies.push(u64::try_from((ended - began).as_nanos()).unwrap_or(u64::MAX));
    }
}
