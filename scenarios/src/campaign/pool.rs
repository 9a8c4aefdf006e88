//! Jobs on all cores, results in order. The one place of the command that starts worker threads.
//!
//! Promise: what reaches the sink, and in which order, does not depend on how many workers there are; what is held back
//! to keep that order is bounded.

use std::collections::BTreeMap;
use std::sync::{Condvar, Mutex};

/// How far a worker may run ahead of the oldest job that is not done, in jobs a worker: as long as one run of a scenario of
/// days takes, others do some hundred runs of scenarios of seconds.
const AHEAD: u64 = 256;

struct Queue<T> {
    started: u64,
    delivered: u64,
    exhausted: bool,
    waiting: BTreeMap<u64, T>,
}

/// Does `work` for the jobs that `next` gives for 0, 1, 2 and so on until it gives none, on `workers` threads, and hands the
/// results to `sink` in that order. `work` is told its worker's number.
pub fn run<J: Send, T: Send>(
    workers: usize,
    next: impl Fn(u64) -> Option<J> + Sync,
    work: impl Fn(usize, &J) -> T + Sync,
    sink: impl FnMut(J, T) + Send,
) {
    assert!(workers > 0, "somebody has to work");
    let queue = Mutex::new(Queue { started: 0, delivered: 0, exhausted: false, waiting: BTreeMap::new() });
    let sink = Mutex::new(sink);
    let moved = Condvar::new();
    let most_ahead = AHEAD * workers as u64;
    std::thread::scope(|scope| {
        for worker in 0..workers {
            let (queue, moved, next, work, sink) = (&queue, &moved, &next, &work, &sink);
            scope.spawn(move || {
                while let Some((number, job)) = take(queue, moved, next, most_ahead) {
                    let result = work(worker, &job);
                    deliver(queue, moved, sink, number, (job, result));
                }
            });
        }
    });
}

fn take<J, T>(
    queue: &Mutex<Queue<T>>,
    moved: &Condvar,
    next: impl Fn(u64) -> Option<J>,
    most_ahead: u64,
) -> Option<(u64, J)> {
    let mut queue = queue.lock().expect("no worker panics while it holds the queue");
    while !queue.exhausted && queue.started - queue.delivered >= most_ahead {
        queue = moved.wait(queue).expect("no worker panics while it holds the queue");
    }
    if queue.exhausted {
        return None;
    }
    let number = queue.started;
    match next(number) {
        Some(job) => {
            queue.started += 1;
            Some((number, job))
        }
        None => {
            queue.exhausted = true;
            moved.notify_all();
            None
        }
    }
}

fn deliver<J, T>(
    queue: &Mutex<Queue<(J, T)>>,
    moved: &Condvar,
    sink: &Mutex<impl FnMut(J, T)>,
    number: u64,
    done: (J, T),
) {
    let mut queue = queue.lock().expect("no worker panics while it holds the queue");
    queue.waiting.insert(number, done);
    let mut sink = sink.lock().expect("the sink does not panic");
    while let Some((job, result)) = {
        let delivered = queue.delivered;
        queue.waiting.remove(&delivered)
    } {
        sink(job, result);
        queue.delivered += 1;
    }
    moved.notify_all();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn results_come_in_order_for_any_number_of_workers() {
        for workers in [1, 2, 7] {
            let mut seen = Vec::new();
            run(
                workers,
                |number| (number < 200).then_some(number),
                |_, job| {
                    // Uneven work, so that later jobs are done before earlier ones.
                    (0..(job * 7919) % 5000).fold(*job, |sum, step| sum.wrapping_mul(31).wrapping_add(step))
                },
                |job, _| seen.push(job),
            );
            assert_eq!(seen, (0..200).collect::<Vec<_>>());
        }
    }

    #[test]
    fn a_long_job_keeps_no_other_worker_waiting() {
        use std::sync::atomic::{AtomicU64, Ordering};
        use std::time::{Duration, Instant};
        let (done, meanwhile) = (AtomicU64::new(0), AtomicU64::new(0));
        let began = Instant::now();
        run(
            2,
            |number| (number <= 300).then_some(number),
            |_, job| {
                // The first takes as long as all others together, or, where they wait for it, as long as a person does.
                while *job == 0
                    && done.load(Ordering::Relaxed) < 300
                    && began.elapsed() < Duration::from_secs(20)
                {
                    std::thread::yield_now();
                }
                if *job == 0 {
                    meanwhile.store(done.load(Ordering::Relaxed), Ordering::Relaxed);
                }
                done.fetch_add(1, Ordering::Relaxed)
            },
            |_, _| (),
        );
        assert_eq!(meanwhile.into_inner(), 300, "others were done meanwhile");
    }

    #[test]
    fn no_job_is_no_result() {
        run(
            3,
            |_| None::<()>,
            |_, ()| unreachable!("there is no job"),
            |(), ()| unreachable!("there is no result"),
        );
    }
}
