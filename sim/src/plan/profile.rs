//! What the machines are like: disk, processors, signatures. Inlined in every plan.

use serde::{Deserialize, Serialize};

/// Whether signatures are real.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Crypto {
    /// Real Ed25519.
    #[default]
    Ed25519,
    /// Signing and verifying are replaced by a keyed hash; keys stay real. Same verdicts for the same plan.
    KeyedHash,
}

/// The machines of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Profile {
    /// What survives on the disks.
    pub disk: DiskProfile,
    /// How long the disks take.
    pub disk_latency: DiskLatency,
    /// How long the processors take.
    pub costs: Costs,
    /// Space on each disk in bytes; 0 is unlimited.
    pub disk_capacity_bytes: u64,
    /// Names on the disks are compared ignoring case, as on a default APFS volume.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub disk_ignores_case: bool,
}

/// How a disk keeps what is not flushed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DiskProfile {
    /// Each unflushed name change, size change and sector survives or not by itself.
    #[default]
    Strict,
    /// As ext4 with data=ordered.
    Ordered,
}

/// Disk latencies in nanoseconds: at least `_ns`, and up to `jitter_per_mille` thousandths more.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DiskLatency {
    /// Create, open, rename, remove, list, length, create directory, lock.
    pub metadata_ns: u64,
    /// Read or write, for each started 4 KiB.
    pub transfer_ns: u64,
    /// Flush of a file.
    pub flush_ns: u64,
    /// Flush of a directory.
    pub flush_directory_ns: u64,
    /// Most added on top, in thousandths.
    pub jitter_per_mille: u32,
}

/// Processor costs in nanoseconds.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Costs {
    /// One signature made.
    pub signature_ns: u64,
    /// One signature verified.
    pub verification_ns: u64,
    /// 1,024 bytes hashed.
    pub hash_kib_ns: u64,
    /// 1,024 bytes encoded or decoded.
    pub code_kib_ns: u64,
    /// One message handled by the application.
    pub handler_ns: u64,
}
