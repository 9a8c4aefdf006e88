//! Everything that will happen, written down before it happens: inputs, faults, adversaries' acts, as data.
//!
//! Promise: a plan alone fixes a run. What a plan does not name, the world does not do; unknown formats and fields are
//! errors that say so.

mod act;
mod acts;
mod burst;
mod check;
mod check_links;
mod check_ring;
mod dice;
mod fault;
mod generate;
mod links;
pub mod mail;
mod profile;
pub(crate) mod rest;
mod ring;
mod scenario;
mod slots;
mod store_act;
pub mod swarm;
mod text;
pub mod yardstick;

pub use act::{Act, Action, Burst, FrameName};
pub use acts::{Accounts, Flood, Forgery, PutBack, Reconnect, SecondRuntime, Signalling};
pub use check::PlanError;
pub use dice::{Dice, Draw};
pub use fault::{
    ClockFault, Death, DiskFault, DiskOperation, Fault, FaultKind, LinkFault, Phase, StepId, Survivors, When,
};
pub use generate::{generate, generate_swarm};
pub use links::{ChunksPlan, LinksPlan, NamespacePlan, ReferencesPlan};
pub use mail::{MailAct, MailPlan};
pub use profile::{Costs, Crypto, DiskLatency, DiskProfile, Profile};
pub use ring::{HOP_BUDGET, LinkTemplate, RingPlan, Route, Span};
pub use scenario::{Defaults, Key, KeySource, Scenario, Sections};
pub use slots::Slots;
pub use store_act::{RecordOf, StoreAct};

use crate::units::NodeId;
use groundhog_engine::streams::quota::{LaneQuota, QuotaConfig, ZeroLimit};
use serde::{Deserialize, Serialize};

/// The format that this build reads and writes.
pub const FORMAT: u32 = 1;

/// The most nodes that a plan may hold.
pub const MAX_NODES: usize = 10_000;

/// One run, whole.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Plan {
    /// [`FORMAT`].
    pub format: u32,
    /// The version of Groundhog that wrote it.
    pub groundhog: String,
    /// The scenario that it was drawn from.
    pub scenario: String,
    /// The seed that it was drawn with; also the seed of every keyed draw of the world.
    pub seed: u64,
    /// The seed of the executor that picks the next ready task.
    pub schedule_seed: u64,
    /// Ids of the flaws switched on.
    pub flaws: Vec<String>,
    /// Signatures: real, or replaced.
    pub crypto: Crypto,
    /// What the machines are like.
    pub profile: Profile,
    /// The engines' bounds.
    pub engines: Engines,
    /// The nodes, by id.
    pub nodes: Vec<NodePlan>,
    /// The links that exist.
    pub links: Vec<LinkPlan>,
    /// Inputs and adversaries' acts, in order of id.
    pub actions: Vec<Action>,
    /// Faults, in order of id.
    pub faults: Vec<Fault>,
    /// When every fault has ended and only healing goes on.
    pub quiesce_us: u64,
    /// When the run ends: what is not delivered by then is lost without a cause. A plan that is drawn gives slow machines the
    /// time that they may need.
    pub end_us: u64,
    /// The ceiling of each known limit; one beyond it breaks the law that it excuses.
    pub limits: std::collections::BTreeMap<String, u64>,
    /// What the seed had of each kind of fault of its scenario; empty where it was drawn without swarm. It changes nothing:
    /// the faults themselves stand above.
    #[serde(default, skip_serializing_if = "swarm::Levels::is_empty")]
    pub swarm: swarm::Levels,
    /// The ring that its nodes are members of; absent where they are linked by the list alone.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ring: Option<RingPlan>,
}

/// The engines' bounds, all inlined so that a change of a default moves no old plan.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Engines {
    /// The overlay's id.
    pub network_id: u32,
    /// Hard bound of each table, in streams.
    pub stream_capacity: u32,
    /// Budget of the record store in bytes.
    pub store_budget_bytes: u64,
    /// Lifetime of a delegation, in milliseconds of the delegator's wall clock.
    pub delegation_lifetime_ms: u64,
    /// Lifetime of a transaction (its `ttl_ms`).
    pub transaction_lifetime_ms: u64,
    /// Clock tolerance sigma, in milliseconds.
    pub clock_tolerance_ms: u64,
    /// How much an origin may send; absent where nothing limits it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub quota: Option<Quota>,
    /// Bounds of connection slots; absent for the seed's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slots: Option<Slots>,
    /// What connections carry beside plain frames.
    #[serde(default, skip_serializing_if = "LinksPlan::is_plain")]
    pub links: LinksPlan,
    /// How mail is held for nodes that are away; absent where none is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mail: Option<MailPlan>,
}

/// How much each origin may send to a node in each class, by the node's monotonic clock. None of it is zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Quota {
    /// Messages gained in a second.
    pub messages_per_s: u64,
    /// Messages at once, after a silence.
    pub message_burst: u64,
    /// Bytes of data gained in a second.
    pub bytes_per_s: u64,
    /// Bytes of data at once, after a silence.
    pub byte_burst: u64,
    /// Streams of a class that have buckets at one time.
    pub records: u32,
}

impl Quota {
    /// The engine's configuration: the same limits for every class.
    ///
    /// # Errors
    /// [`ZeroLimit`] names a limit that is zero.
    pub fn config(&self) -> Result<QuotaConfig, ZeroLimit> {
        let Self { messages_per_s, message_burst, bytes_per_s, byte_burst, records } = *self;
        let records = records as usize;
        QuotaConfig::new([LaneQuota { messages_per_s, message_burst, bytes_per_s, byte_burst, records }; 4])
    }
}

/// One node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NodePlan {
    /// Its id, equal to its place.
    pub id: NodeId,
    /// Processor cores.
    pub cores: u8,
    /// Its clocks at boot.
    pub clock: ClockPlan,
}

/// A node's clocks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClockPlan {
    /// Wall clock minus true time when the run begins.
    pub offset_ms: i64,
    /// Oscillator error in parts per million; moves both clocks.
    pub drift_ppm: i32,
    /// The wall clock is this wrong at each boot, until it is corrected.
    pub wrong_at_boot_ms: i64,
    /// How long after a boot it is corrected; 0 when it is right at boot.
    pub corrected_after_us: u64,
}

/// A link: where a connection can stand.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkPlan {
    /// One end, the lower id.
    pub a: NodeId,
    /// The other end.
    pub b: NodeId,
    /// Least one-way latency.
    pub latency_us: u64,
    /// Most latency added on top, drawn for each frame.
    pub jitter_us: u64,
    /// Bandwidth of each direction; 0 is unlimited.
    pub bandwidth_bytes_per_s: u64,
    /// Channels of the connection's pool, 1 to 4.
    pub channels: u8,
    /// Whether each channel delivers in order.
    pub ordered: bool,
    /// Frames lost, in thousandths, all the time.
    pub loss_per_mille: u16,
    /// Frames delivered twice, in thousandths, all the time.
    pub duplicate_per_mille: u16,
}
