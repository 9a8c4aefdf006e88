//! The world's own speed: messages through the network alone as the world drives it, simulated over real time, and durable
//! admissions through the whole path. The first three rows of the table of speeds.
//!
//! A message is what `groundhog bench world` says: driver, heap, links and ledger with fingerprint and laws, no engines.

use criterion::{BenchmarkId, Criterion, SamplingMode, Throughput, criterion_group, criterion_main};
use groundhog_sim::outcome::Outcome;
use groundhog_sim::plan::{Crypto, yardstick};
use groundhog_sim::run::{RunOptions, run, run_transport_alone};
use std::hint::black_box;
use std::time::Duration;

/// Messages of one run of the network alone.
const MESSAGES: u32 = 100_000;

fn held(outcome: Outcome) -> Outcome {
    assert!(outcome.held(), "{:?} {:?}", outcome.violations, outcome.cut);
    outcome
}

fn messages(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("world");
    group.sample_size(10).sampling_mode(SamplingMode::Flat).measurement_time(Duration::from_secs(5));
    group.throughput(Throughput::Elements(MESSAGES.into()));
    // One message a node each 100 us, then each 10 ms, where a simulated second is a hundred messages of each node.
    for (name, every_us) in [("messages", 100), ("messages each 10 ms", 10_000)] {
        for nodes in [10_u16, 100, 1_000] {
            let plan = yardstick::messages(nodes, MESSAGES / u32::from(nodes), every_us);
            group.bench_function(BenchmarkId::new(name, nodes), |bencher| {
                bencher.iter(|| black_box(held(run_transport_alone(&plan, RunOptions::default()).unwrap())));
            });
        }
    }
    group.finish();
}

fn admissions(criterion: &mut Criterion) {
    let mut group = criterion.benchmark_group("world");
    group.sample_size(10).sampling_mode(SamplingMode::Flat).measurement_time(Duration::from_secs(5));
    for (nodes, messages_per_stream) in [(10_u16, 200_u32), (1_000, 8)] {
        let plan = yardstick::admissions(nodes, messages_per_stream, Crypto::KeyedHash);
        group.throughput(Throughput::Elements(u64::from(nodes) * 16 * u64::from(messages_per_stream)));
        group.bench_function(BenchmarkId::new("durable admissions", nodes), |bencher| {
            bencher.iter(|| {
                let outcome = held(run(&plan, RunOptions::default()).unwrap());
                assert_eq!(outcome.dispatched, outcome.intended);
                black_box(outcome)
            });
        });
    }
    group.finish();
}

criterion_group!(benches, messages, admissions);
criterion_main!(benches);
