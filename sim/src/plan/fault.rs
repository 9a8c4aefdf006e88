//! Faults: when each begins, what it does, when it ends.

use super::store_act::StoreAct;
use crate::units::{FaultId, Life, NodeId};
use groundhog_engine::streams::key::{Class, Table};
use serde::{Deserialize, Serialize};

/// One fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Fault {
    /// Its id, kept when other faults are cut.
    pub id: FaultId,
    /// When it begins.
    pub at: When,
    /// When it ends, for one that lasts; at quiescence at the latest.
    pub until_us: Option<u64>,
    /// What it does.
    pub kind: FaultKind,
}

/// When a fault begins.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum When {
    /// At a true simulated time.
    Time {
        /// The time.
        us: u64,
    },
    /// At one disk operation of one life, numbered from 0 at submission.
    Operation {
        /// Whose disk.
        node: NodeId,
        /// In which life.
        life: Life,
        /// The operation's number.
        operation: u64,
        /// Before it, in its middle, or after its effect and before its answer.
        phase: Phase,
    },
    /// When an engine of one life reports a step for the `count`-th time (from 1), counting only steps that touch `table`
    /// where one is named.
    Step {
        /// Whose engine.
        node: NodeId,
        /// In which life.
        life: Life,
        /// The step's id (see `Step::id` of the engine).
        step: StepId,
        /// Only steps that touch this table.
        table: Option<Table>,
        /// Which one.
        count: u32,
    },
    /// At one poll of one life's tasks, numbered from 0.
    Poll {
        /// Whose tasks.
        node: NodeId,
        /// In which life.
        life: Life,
        /// The poll's number.
        poll: u64,
    },
}

/// A step by its id in plans.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct StepId(pub groundhog_engine::host::observe::Step);

impl Serialize for StepId {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.serialize_str(self.0.id())
    }
}

impl<'de> Deserialize<'de> for StepId {
    fn deserialize<D: serde::Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let id = std::borrow::Cow::<'de, str>::deserialize(deserializer)?;
        let step = groundhog_engine::host::observe::Step::ALL.iter().copied().find(|step| step.id() == id);
        step.map(StepId).ok_or_else(|| serde::de::Error::custom(format!("no step is called {id:?}")))
    }
}

/// Where in an operation a death strikes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Phase {
    /// It has no effect.
    Before,
    /// Some of its effect: any subset of a write's sectors; another operation takes effect or not.
    Partly,
    /// Its whole effect, and no answer.
    After,
}

/// How a life ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Death {
    /// The process dies; the kernel, its page cache and the wall clock live on.
    Process,
    /// The machine loses power.
    Power,
}

/// What a death leaves to chance, decided: one surviving image of a disk, as data.
///
/// A death asks, in this order, what takes effect of the operation that it strikes in its middle, what takes effect of each
/// other operation that is under way, by its number, and, where power fails, which of the disk's pending changes survive:
/// names in the order of issue, then sizes and sectors by file. Each is asked once, whatever came of those before it.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Survivors {
    /// How many changes the death decides. One that the world finds beyond these is lost.
    pub of: u32,
    /// The places, from 0 and in order, of those that survive or take effect; the rest do not.
    pub kept: Vec<u32>,
}

/// What a fault does.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum FaultKind {
    /// Ends the node's life; it boots again after `down_us`.
    Crash {
        /// Whose life.
        node: NodeId,
        /// How.
        death: Death,
        /// How long the node is down.
        down_us: u64,
        /// What of the disk survives it; drawn by keyed draws where it is left out.
        #[serde(default, skip_serializing_if = "Option::is_none")]
        survivors: Option<Survivors>,
    },
    /// The node's disk misbehaves.
    Disk {
        /// Whose disk.
        node: NodeId,
        /// How.
        fault: DiskFault,
        /// Which operations it strikes; all that it can strike when empty.
        operations: Vec<DiskOperation>,
        /// How many of them it lets pass first.
        skip: u32,
        /// How many it strikes; 0 for all until it ends.
        count: u32,
    },
    /// A link misbehaves, in one direction or both.
    Link {
        /// One end; with `one_way`, the sending one.
        from: NodeId,
        /// The other end.
        to: NodeId,
        /// Whether only `from -> to` is touched.
        one_way: bool,
        /// How.
        fault: LinkFault,
    },
    /// A node's clock misbehaves.
    Clock {
        /// Whose clock.
        node: NodeId,
        /// How.
        fault: ClockFault,
    },
    /// A node's handler of one class finishes nothing while this lasts.
    StallHandler {
        /// Whose handler.
        node: NodeId,
        /// Which class.
        class: Class,
    },
    /// The node's processors work this many times slower while this lasts.
    SlowProcessor {
        /// Whose processors.
        node: NodeId,
        /// How many times slower, at least 2.
        factor: u32,
    },
    /// Somebody, or something, lays hands on the node's store.
    Store {
        /// Whose store.
        node: NodeId,
        /// What is done.
        act: StoreAct,
        /// How long the node is stopped for it, in microseconds; 0 where it happens while the node runs. A node that is
        /// down already boots when it would.
        stopped_us: u64,
    },
}

/// A kind of disk operation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
#[expect(missing_docs, reason = "each is the request of the same name")]
pub enum DiskOperation {
    Create,
    Open,
    Write,
    Flush,
    Read,
    Length,
    Rename,
    Remove,
    CreateDirectory,
    List,
    FlushDirectory,
    LockDirectory,
    RemoveDirectory,
}

/// How a disk misbehaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum DiskFault {
    /// Any operation but a flush fails with an input/output error and has no effect.
    Error,
    /// Create, write, flush or rename fails: no space left.
    NoSpace,
    /// A file flush fails: the error goes once to each handle then open, pages turn clean.
    FailedFlush,
    /// A directory flush fails.
    FailedDirectoryFlush {
        /// The file system turns read-only until the node restarts.
        read_only: bool,
    },
    /// A file flush or directory flush reports success and makes nothing durable.
    LyingFlush,
    /// Sectors written now cannot be read later.
    BadSector,
    /// One bit of a file written now is flipped.
    FlippedBit,
    /// The kernel writes back now, at this operation.
    WriteBack,
    /// Operations take this many times longer.
    Slow {
        /// How many times longer, at least 2.
        factor: u32,
    },
    /// Operations are not answered until the fault ends, then with success or an error.
    Stuck {
        /// Whether they then fail.
        fails: bool,
    },
}

/// How a link misbehaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum LinkFault {
    /// Nothing passes.
    Partition,
    /// Frames are lost.
    Loss {
        /// In thousandths.
        per_mille: u16,
    },
    /// Frames are delivered twice.
    Duplicate {
        /// In thousandths.
        per_mille: u16,
    },
    /// Frames take longer.
    Delay {
        /// By this much.
        us: u64,
    },
    /// Bandwidth is this low.
    Bandwidth {
        /// Bytes a second.
        bytes_per_s: u64,
    },
    /// One channel of the pool delivers nothing while this lasts, and everything held after.
    StallChannel {
        /// The channel.
        channel: u8,
    },
    /// The receiver's transport takes what arrives on one channel of the pool, and hands nothing of it on while this
    /// lasts: the sender's lane goes on, as far as its receive credit reaches.
    StallReceiver {
        /// The channel.
        channel: u8,
    },
    /// The connection is torn down, both ends alive, and made again when this ends: another generation of the link.
    DropConnection,
}

/// How a clock misbehaves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub enum ClockFault {
    /// The wall clock steps at once.
    Step {
        /// Forwards, or backwards when negative.
        by_ms: i64,
    },
    /// The oscillator runs this wrong while this lasts; both clocks.
    Drift {
        /// Parts per million.
        ppm: i32,
    },
    /// The wall clock stands still while this lasts, then steps to where it would be.
    Freeze,
    /// The machine is paused while this lasts: the wall clock moves on, the monotonic clock and the node's tasks do not.
    Pause,
    /// At the node's next boot the wall clock is behind by this much (a restored snapshot).
    BehindAtBoot {
        /// By this much.
        by_ms: u64,
    },
}
