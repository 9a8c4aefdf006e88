//! The machines, how long they run, and the bounds of the engines on them.

use super::keys::{COUNT, Key, KeySource, PER_MILLE, SIZE, TIME_MS, TIME_US, section};
use crate::plan::dice::Draw;

section! {
    /// How long a run is, in simulated time.
    Time time {
        /// How long faults go on, in milliseconds.
        chaos_ms = 2_000, 1..=604_800_000;
        /// How long only healing goes on afterwards, in milliseconds.
        settle_ms = 5_000, 100..=604_800_000;
    }
}

section! {
    /// What the machines are like.
    Machines machines {
        /// Processor cores of a node.
        cores = 2, 1..=64;
        /// Create, open, rename, remove, list, lock: microseconds.
        metadata_us = 15, 1..=1_000_000;
        /// Read or write of each started 4 KiB: microseconds.
        transfer_us = 8, 1..=1_000_000;
        /// Flush of a file: microseconds.
        flush_us = 300, 1..=10_000_000;
        /// Flush of a directory: microseconds.
        flush_directory_us = 350, 1..=10_000_000;
        /// Most that a disk operation takes longer, in thousandths.
        disk_jitter_per_mille = 500, 0..=100_000;
        /// Space on each disk in bytes; 0 is unlimited.
        disk_capacity_bytes = 0, SIZE;
        /// Seeds whose disks ignore the case of names, in thousandths.
        disk_ignores_case_per_mille = 0, PER_MILLE;
        /// One signature made: nanoseconds.
        signature_ns = 20_000, COUNT;
        /// One signature verified: nanoseconds.
        verification_ns = 53_000, COUNT;
        /// 1,024 bytes hashed: nanoseconds.
        hash_kib_ns = 2_500, COUNT;
        /// 1,024 bytes encoded or decoded: nanoseconds.
        code_kib_ns = 600, COUNT;
        /// One message handled by the application: nanoseconds.
        handler_ns = 20_000, 0..=1_000_000_000;
    }
}

section! {
    /// The engines' bounds.
    Bounds engines {
        /// The overlay's id.
        network_id = 1, 0..=4_294_967_295;
        /// Hard bound of each table, in streams.
        stream_capacity = 16_384, 1..=16_384;
        /// Budget of the record store in bytes.
        store_budget_bytes = 41_943_040, 1..=1_099_511_627_776;
        /// Lifetime of a delegation in milliseconds.
        delegation_lifetime_ms = 2_592_000_000, 1..=31_536_000_000;
        /// Lifetime of a transaction in milliseconds.
        transaction_lifetime_ms = 600_000, 1..=6_000_000;
        /// Clock tolerance sigma in milliseconds.
        clock_tolerance_ms = 3_000, 0..=3_600_000;
        /// Messages that an origin gains in a second, in each class; 0 for no quota at all.
        quota_messages_per_s = 0, COUNT;
        /// Messages that an origin may send at once, after a silence.
        quota_message_burst = 32, 1..=1_000_000;
        /// Bytes of data that an origin gains in a second.
        quota_bytes_per_s = 4_194_304, 1..=1_099_511_627_776;
        /// Bytes of data that an origin may send at once, after a silence.
        quota_byte_burst = 67_108_864, 1..=1_099_511_627_776;
        /// Origins of a class that have a quota of their own at one time.
        quota_records = 1_024, 1..=1_000_000;
        /// Connection slots of a node; 0 for as many as its successors make.
        slots = 0, 0..=10_000;
        /// Successors that a node keeps.
        successors = 3, 0..=255;
        /// Streams that each slot may have whatever the others have.
        slot_floor = 32, 0..=16_384;
        /// Streams that all slots together may have above their floors.
        slot_pool = 3_328, 0..=16_384;
        /// Streams that mail out of a node's own relay inbox may have.
        inbox_share = 768, 0..=16_384;
        /// Streams that out-of-band signalling of a node itself may have.
        self_share = 1_024, 0..=16_384;
    }
}

section! {
    /// Clocks. Whatever is drawn is cut so that any two clocks differ by at most the tolerance over the whole run.
    Clocks clocks {
        /// Nodes whose clocks are wrong from the start, in thousandths.
        skewed_per_mille = 0, PER_MILLE;
        /// How wrong their wall clocks are, in milliseconds.
        offset_ms = 0, -3_600_000..=3_600_000;
        /// How wrong their oscillators run, in parts per million.
        drift_ppm = 0, -500_000..=500_000;
        /// Nodes whose wall clock is wrong at each boot until it is corrected, in thousandths.
        wrong_at_boot_per_mille = 0, PER_MILLE;
        /// How wrong, in milliseconds.
        wrong_at_boot_ms = 0, -3_600_000..=3_600_000;
        /// How long after a boot it is corrected, in microseconds.
        corrected_after_us = 200_000, TIME_US;
        /// Steps of a wall clock.
        steps = 0, COUNT;
        /// By how much, in milliseconds.
        step_ms = 0, -3_600_000..=3_600_000;
        /// Times in which an oscillator runs wrong.
        drifts = 0, COUNT;
        /// How wrong, in parts per million.
        drifts_ppm = 50_000, -500_000..=500_000;
        /// Times in which a wall clock stands still.
        freezes = 0, COUNT;
        /// Times in which a machine is paused.
        pauses = 0, COUNT;
        /// Restarts from a snapshot: the wall clock is behind at the boot after a death.
        snapshots = 0, COUNT;
        /// How far behind, in milliseconds.
        snapshot_behind_ms = 500, 0..=3_600_000;
        /// How long a drift, freeze or pause lasts, in milliseconds.
        lasts_ms = 300, TIME_MS;
    }
}

section! {
    /// Faults of handlers and processors.
    Handlers handlers {
        /// Times in which a node's handler of one class finishes nothing.
        stalls = 0, COUNT;
        /// Times in which a node's processors are slow.
        slow_processors = 0, COUNT;
        /// How many times slower.
        slow_factor = 8, 2..=100_000;
        /// How long a fault lasts, in milliseconds.
        lasts_ms = 200, TIME_MS;
    }
}
