//! One run of a plan that speed is measured with, and nothing else: what a profiler is pointed at.
//!
//! `valgrind --tool=callgrind target/release/examples/yardstick admissions <nodes> <messages per stream>`
//! `valgrind --tool=callgrind target/release/examples/yardstick messages <nodes> <messages per node>`

use groundhog_sim::plan::{Crypto, yardstick};
use groundhog_sim::run::{RunOptions, run, run_transport_alone};

fn main() {
    let words: Vec<String> = std::env::args().skip(1).collect();
    let number = |place: usize, default| {
        words.get(place).map_or(default, |word| word.parse::<u32>().expect("a number"))
    };
    let nodes = u16::try_from(number(1, 10)).expect("a number of nodes");
    let outcome = match words.first().map(String::as_str) {
        Some("admissions") => {
            run(&yardstick::admissions(nodes, number(2, 100), Crypto::KeyedHash), RunOptions::default())
        }
        Some("messages") => {
            run_transport_alone(&yardstick::messages(nodes, number(2, 10_000), 100), RunOptions::default())
        }
        _ => panic!("what to run: admissions or messages"),
    };
    let outcome = outcome.expect("the plan can be run");
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
