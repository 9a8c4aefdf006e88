//! Plants: what must never be in a run, planted on purpose, to show that the examination of determinism sees it.
//!
//! Promise: without one that is asked for by name nothing here does anything; no plan names one; and this is the one place
//! of the simulator that may hold a map in hash order, a thread, real time or entropy of the operating system.
//!
//! What each shows is tested, by `groundhog run --plant`; the rest was read in madsim's source. Inside a run it stands
//! before the C library: `SystemTime`, `Instant`, the keys of std maps, `getrandom` and the number of cores are the same in every run
//! of a plan, and the standard library gets no thread, which it takes for impossible, so that it panics. Nothing stands
//! before files, the process's number and environment, code that asks the kernel without the C library, and C code that
//! starts a thread without attributes: those only the comparison of two runs shows.

use super::workload::{Job, burst_of};
use crate::outcome::Outcome;
use crate::plan::Plan;
use crate::units::MessageId;
use std::collections::{BTreeSet, VecDeque};
use std::hash::{BuildHasher, RandomState};
use std::io::Read;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::task::Poll;
use std::time::{Instant, SystemTime};

macro_rules! plants {
    ($($variant:ident, $id:literal, $says:literal;)*) => {
        /// Something that is planted.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub enum Plant {
            $(#[doc = $says] $variant,)*
        }

        impl Plant {
            /// Every one.
            pub const ALL: &'static [Plant] = &[$(Plant::$variant,)*];

            /// Its id.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self {
                    $(Self::$variant => $id,)*
                }
            }

            /// What it does, and what is to come of it.
            #[must_use]
            pub const fn says(self) -> &'static str {
                match self {
                    $(Self::$variant => $says,)*
                }
            }
        }
    };
}

plants! {
    MapBefore, "map-before",
        "The order of two sends comes from a std map built before the run. No random number is drawn; `--check` names the event.";
    CounterBefore, "counter-before",
        "The size of a message comes from a counter that a thread started before the run goes on counting. `--check` names the event.";
    EntropyInside, "entropy-inside",
        "The size of a message is read from /dev/urandom inside the run, which nothing intercepts. `--check` names the event.";
    FigureOfProcess, "figure-of-process",
        "A figure of the outcome depends on the process, and no event does. `--check` names the figure.";
    ThreadInside, "thread-inside",
        "A task starts a thread inside the run. madsim refuses it, and the law `engine/no-thread` names node and task.";
    TaskWithoutEnd, "task-without-end",
        "A task wakes itself for ever. The bound on polls at one instant ends the run and names node and task.";
    LoopWithoutEnd, "loop-without-end",
        "A task loops without ever giving way. The watchdog ends the process.";
    MapInside, "map-inside",
        "The order of two sends comes from a std map built inside the run. madsim seeds such maps: two runs are equal.";
    ClockInside, "clock-inside",
        "The size of a message comes from SystemTime and Instant read inside the run. madsim simulates both: two runs are equal.";
}

impl Plant {
    /// The plant of this id.
    #[must_use]
    pub fn from_id(id: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|plant| plant.id() == id)
    }
}

/// How many keys the map has: for no two processes all pairs of them come in the same order.
const KEYS: u64 = 4_096;

/// Sizes that a message may have because of a plant.
const SIZES: u64 = 1_000;

/// A plant in one run.
#[derive(Debug)]
pub struct Planted {
    plant: Plant,
    /// For each key, its place in the map's order; empty until it is made.
    order: Mutex<Vec<usize>>,
    /// The first jobs of pairs that were told apart already, and the second ones.
    released: Mutex<BTreeSet<MessageId>>,
    counter: Option<Counter>,
    struck: AtomicBool,
}

impl Planted {
    /// Plants it. Is called before the run begins, on a thread that is none of its own.
    #[must_use]
    pub fn before_the_run(plant: Plant) -> Self {
        let order = if plant == Plant::MapBefore { order_of_a_map() } else { Vec::new() };
        let counter = (plant == Plant::CounterBefore).then(Counter::start);
        Self {
            plant,
            order: Mutex::new(order),
            released: Mutex::default(),
            counter,
            struck: AtomicBool::new(false),
        }
    }

    /// The job that a sending task takes, of those that wait.
    pub(super) fn take(&self, jobs: &mut VecDeque<Job>, plan: &Plan) -> Option<Job> {
        if matches!(self.plant, Plant::MapBefore | Plant::MapInside) {
            return self.first_by_map(jobs, plan);
        }
        let mut job = jobs.pop_front()?;
        let bytes = match self.plant {
            Plant::CounterBefore => self.counter.as_ref().map_or(0, Counter::next),
            Plant::EntropyInside => entropy(),
            Plant::ClockInside => time(),
            _ => return Some(job),
        };
        job.bytes = 1 + u32::try_from(bytes % SIZES).expect("below a thousand");
        Some(job)
    }

    /// Two messages of one burst wait for each other, and leave in the order of the map.
    fn first_by_map(&self, jobs: &mut VecDeque<Job>, plan: &Plan) -> Option<Job> {
        let mut released = self.released.lock().expect("one thread at a time");
        let first = jobs.front()?.message;
        let second = MessageId { ordinal: first.ordinal ^ 1, ..first };
        if released.contains(&first)
            || first.ordinal % 2 == 1
            || second.ordinal >= burst_of(plan, first).count
        {
            return jobs.pop_front();
        }
        let place = jobs.iter().position(|job| job.message == second)?;
        released.extend([first, second]);
        let mut order = self.order.lock().expect("one thread at a time");
        if order.is_empty() {
            *order = order_of_a_map();
        }
        let pair = (u64::from(first.action.0) * 31 + u64::from(first.ordinal / 2)) % (KEYS / 2);
        let [one, other] = [2 * pair, 2 * pair + 1].map(|key| order[usize::try_from(key).expect("a key")]);
        if one > other {
            jobs.swap(0, place);
        }
        jobs.pop_front()
    }

    /// A sending task is about to sign.
    pub(super) async fn before_signing(&self) {
        match self.plant {
            Plant::ThreadInside if !self.struck.swap(true, Ordering::Relaxed) => start_a_thread(),
            Plant::TaskWithoutEnd => {
                std::future::poll_fn(|task| {
                    task.waker().wake_by_ref();
                    Poll::<()>::Pending
                })
                .await;
            }
            Plant::LoopWithoutEnd => loop {
                std::hint::spin_loop();
            },
            _ => {}
        }
    }

    /// The run is over.
    pub(super) fn at_the_end(&self, outcome: &mut Outcome) {
        if self.plant == Plant::FigureOfProcess {
            outcome.intended += u64::from(std::process::id());
        }
    }
}

/// The place of each key in the order of a map whose hasher is the standard library's.
#[expect(clippy::disallowed_types, reason = "its order is what is planted")]
fn order_of_a_map() -> Vec<usize> {
    let map: std::collections::HashMap<u64, ()> = (0..KEYS).map(|key| (key, ())).collect();
    let mut places = vec![0; map.len()];
    for (place, key) in map.into_keys().enumerate() {
        places[usize::try_from(key).expect("a key")] = place;
    }
    places
}

#[expect(clippy::disallowed_methods, reason = "a thread inside the run is what is planted")]
fn start_a_thread() {
    drop(std::thread::spawn(|| ()));
}

fn entropy() -> u64 {
    let mut bytes = [0; 8];
    let read = std::fs::File::open("/dev/urandom").and_then(|mut file| file.read_exact(&mut bytes));
    read.expect("a Unix has /dev/urandom");
    u64::from_le_bytes(bytes)
}

/// Real time would differ in every call: that of day, and how long some work takes.
fn time() -> u64 {
    let begun = Instant::now();
    let of_day = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |time| time.as_nanos());
    let worked = (0..1_000_u64).fold(0, |sum, step| sum ^ RandomState::new().hash_one(step));
    std::hint::black_box(worked);
    u64::try_from((of_day + begun.elapsed().as_nanos()) % u128::from(u64::MAX)).expect("below 2^64")
}

/// A thread that counts until it is dropped.
#[derive(Debug)]
struct Counter {
    count: Arc<AtomicU64>,
    over: Arc<AtomicBool>,
    seen: AtomicU64,
    thread: Option<std::thread::JoinHandle<()>>,
}

impl Counter {
    #[expect(clippy::disallowed_methods, reason = "a thread beside the run is what is planted")]
    fn start() -> Self {
        let (count, over) = (Arc::new(AtomicU64::new(0)), Arc::new(AtomicBool::new(false)));
        let (counting, told) = (Arc::clone(&count), Arc::clone(&over));
        let thread = std::thread::spawn(move || {
            while !told.load(Ordering::Relaxed) {
                counting.fetch_add(1, Ordering::Relaxed);
            }
        });
        Self { count, over, seen: AtomicU64::new(0), thread: Some(thread) }
    }

    /// A count that was not seen before, so that it has moved whatever the system runs beside it.
    fn next(&self) -> u64 {
        let seen = self.seen.load(Ordering::Relaxed);
        loop {
            let count = self.count.load(Ordering::Relaxed);
            if count != seen {
                self.seen.store(count, Ordering::Relaxed);
                return count;
            }
            std::thread::yield_now();
        }
    }
}

impl Drop for Counter {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}
