//! What goes wrong: deaths, disks, links, and scenes of them.

use super::keys::{COUNT, Key, KeySource, PER_MILLE, TIME_MS, TIME_US, section};
use crate::plan::dice::Draw;

section! {
    /// Deaths of nodes.
    Crashes crashes {
        /// Deaths inside group commit: kind, role and phase are dealt evenly.
        in_commit = 0, COUNT;
        /// Of these, so many in a thousand are followed by another in the open after them.
        in_open_per_mille = 0, PER_MILLE;
        /// Deaths at a disk operation.
        at_operation = 0, COUNT;
        /// Deaths at a poll.
        at_poll = 0, COUNT;
        /// Deaths at a time.
        at_time = 0, COUNT;
        /// Deaths at an operation, poll or time that are power failures, in thousandths.
        power_per_mille = 500, PER_MILLE;
        /// How long a node is down, in microseconds.
        down_us = 50_000, TIME_US;
    }
}

section! {
    /// Faults of disks.
    Disks disks {
        /// Batches that fail on a slow disk while another gathers on top.
        failing_batches = 0, COUNT;
        /// Failing batches that a power failure follows a few batches later, in thousandths.
        power_after_failure_per_mille = 0, PER_MILLE;
        /// Directory flushes that fail just after new records were marked; good batches follow, and then a power failure.
        lost_markers = 0, COUNT;
        /// Operations that fail with an input/output error.
        errors = 0, COUNT;
        /// Times without space.
        no_space = 0, COUNT;
        /// File flushes that fail.
        failed_flushes = 0, COUNT;
        /// Directory flushes that fail.
        failed_directory_flushes = 0, COUNT;
        /// Directory flushes that fail and turn the file system read-only until the node restarts.
        read_only = 0, COUNT;
        /// Times in which a disk is slow.
        slow = 0, COUNT;
        /// How many times slower.
        slow_factor = 10, 2..=100_000;
        /// Times in which a disk does not answer.
        stuck = 0, COUNT;
        /// Times at which the kernel writes back.
        write_backs = 0, COUNT;
        /// How long a fault lasts, in milliseconds.
        lasts_ms = 200, TIME_MS;
    }
}

section! {
    /// Faults of links.
    Network network {
        /// Partitions of a link.
        partitions = 0, COUNT;
        /// Partitions, losses and delays of one direction only, in thousandths.
        one_way_per_mille = 300, PER_MILLE;
        /// Times in which frames are lost.
        losses = 0, COUNT;
        /// Frames lost in them, in thousandths.
        loss_per_mille = 200, PER_MILLE;
        /// Times in which frames are delivered twice.
        duplicates = 0, COUNT;
        /// Frames delivered twice in them, in thousandths.
        duplicate_per_mille = 300, PER_MILLE;
        /// Times in which frames take longer.
        delays = 0, COUNT;
        /// How much longer, in microseconds.
        delay_us = 20_000, TIME_US;
        /// Times in which bandwidth is low.
        narrow = 0, COUNT;
        /// How low, in bytes a second.
        narrow_bytes_per_s = 100_000, 1..=1_000_000_000_000;
        /// Times in which one channel of a pool delivers nothing.
        stalled_channels = 0, COUNT;
        /// How long a fault lasts, in milliseconds.
        lasts_ms = 200, TIME_MS;
    }
}

section! {
    /// Scenes of overtaking: one class, or one channel, stands still while traffic beside it goes on.
    Scenes scenes {
        /// Seeds in which nothing but scenes disturbs the run and each lasts to the end of it, in thousandths.
        quiet_per_mille = 0, PER_MILLE;
        /// How long faults go on in such a seed, in milliseconds.
        quiet_chaos_ms = 4_000, 1..=604_800_000;
        /// One class's handler stalls until its frames wait in their lane, while the other classes of the pair go on.
        stalled_classes = 0, COUNT;
        /// One channel of a pool stalls, while every class of the pair goes on.
        stalled_channels = 0, COUNT;
        /// The receiver of one channel stalls behind its transport, while a long burst of one class goes on.
        stalled_receivers = 0, COUNT;
        /// Messages of the class that stands still.
        behind = 26, 1..=10_000;
        /// Messages of each other class.
        beside = 20, 1..=10_000;
        /// Long dense bursts of one class.
        floods = 0, COUNT;
        /// Messages of each.
        flood = 160, 1..=100_000;
        /// Time between two messages of a scene in microseconds.
        every_us = 100, TIME_US;
        /// How long the stall lasts, in milliseconds.
        lasts_ms = 400, TIME_MS;
    }
}
