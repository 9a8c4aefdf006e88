//! An operator asks what slow links, disks and processors do: no law is called broken because a run ended before they had
//! done what was asked of them.

mod common;

use common::{groundhog, out};

#[test]
fn a_run_of_slow_links_disks_and_processors_goes_on_until_they_are_done() {
    for slow in [
        "links.latency_us=3000000",
        "links.latency_us=60000000",
        "links.bandwidth_bytes_per_s=10000",
        "machines.flush_us=1000000",
        "machines.verification_ns=1000000",
        "machines.handler_ns=100000000",
    ] {
        let output =
            groundhog(&["run", "crash-mid-batch", "--seeds", "3", "--set", "nodes=8", "--set", slow]);
        assert_eq!(output.status.code(), Some(0), "{slow}: {}", out(&output));
        assert!(out(&output).starts_with("HELD         crash-mid-batch   3 of 3 seeds held\n"), "{slow}");
    }
}
