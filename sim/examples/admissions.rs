//! One run of the plan that durable admissions are measured with, and nothing else: what a profiler is pointed at.
//!
//! `valgrind --tool=callgrind target/release/examples/admissions <nodes> <messages per stream>`

use groundhog_sim::plan::{Crypto, yardstick};
use groundhog_sim::run::{RunOptions, run};

fn main() {
    let mut numbers = std::env::args().skip(1).map(|text| text.parse::<u32>().expect("a number"));
    let nodes = numbers.next().unwrap_or(10);
    let messages_per_stream = numbers.next().unwrap_or(100);
    let plan = yardstick::admissions(
        u16::try_from(nodes).expect("a number of nodes"),
        messages_per_stream,
        Crypto::KeyedHash,
    );
    let outcome = run(&plan, RunOptions::default()).expect("the plan can be run");
    assert!(outcome.held(), "{:?} {:?}", outcome.violations, outcome.cut);
    let fingerprint: String = outcome.fingerprint.iter().map(|byte| format!("{byte:02x}")).collect();
    let batches: u64 = outcome.batch_sizes.values().sum();
    let records: u64 = outcome.batch_sizes.iter().map(|(size, count)| u64::from(*size) * count).sum();
    println!("fingerprint {fingerprint}");
    println!(
        "dispatched {} events {} batches {batches} records {records}",
        outcome.dispatched, outcome.events
    );
}
