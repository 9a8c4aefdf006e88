//! One event: something that the world observed, or that an engine reported.
//!
//! Promise: an event holds no address, no hash order and no number of the process: equal runs give equal events.

use super::doer::Task;
use super::link_event::LinkEvent;
use crate::plan::{Death, DiskOperation};
use crate::units::{FaultId, FrameNumber, Life, MessageId, NodeId};
use groundhog_engine::host::disk::DiskErrorKind;
use groundhog_engine::host::observe::{BatchNumber, EngineEvent, RecordName, Roles, Step};
use groundhog_engine::streams::key::{Class, StreamKey};
use groundhog_engine::streams::record::Introducer;
use groundhog_engine::streams::slots::SlotIndex;
use groundhog_engine::streams::window::VerdictKind;
use groundhog_engine::units::{Sequence, WallMs};

/// Why a message was not dispatched. Conservation: sent = dispatched + lost, each loss with exactly one cause.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum LossCause {
    /// A frame was lost on its link.
    LinkLoss,
    /// A frame met a partition, or had no live link.
    Partition,
    /// The sender died with the message in its hands.
    SenderCrash,
    /// The receiver, or the relay, died with the frame in flight or unhandled.
    ReceiverCrash,
    /// The caller gave up waiting for its reservation or its admission.
    CallerGone,
    /// The batch of its reservation or admission failed.
    FailedBatch,
    /// Refused with a typed reason: capacity, unavailable, storage, exhausted.
    Refused,
    /// Refused by verdict: replay, fork or stale.
    Verdict,
    /// A signature or a delegation did not verify (expired, future, wrong).
    Unverified,
    /// Admitted, and dropped before dispatch.
    DropAfterAdmission,
    /// A bound of the lanes refused it.
    LaneFull,
    /// A frame referred to a delegation that its receiver no longer kept.
    ReferenceMiss,
    /// Its destination was away, and no carrier held it.
    HoldRefused,
    /// Newer mail of the same inbox pushed it out of every carrier.
    PushedOut,
    /// No carrier keeps it any longer: its time there was over.
    MailExpired,
    /// An accident took it at every carrier.
    LostAtCarriers,
    /// No member nearer to its destination was known, or there was nobody to open a connection to.
    NoRoute,
    /// It had taken as many hops on the ring as it may.
    HopBudget,
}

impl LossCause {
    /// The name in reports.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::LinkLoss => "link-loss",
            Self::Partition => "partition",
            Self::SenderCrash => "sender-crash",
            Self::ReceiverCrash => "receiver-crash",
            Self::CallerGone => "caller-gone",
            Self::FailedBatch => "failed-batch",
            Self::Refused => "refused",
            Self::Verdict => "verdict",
            Self::Unverified => "unverified",
            Self::DropAfterAdmission => "drop-after-admission",
            Self::LaneFull => "lane-full",
            Self::ReferenceMiss => "reference-miss",
            Self::HoldRefused => "hold-refused",
            Self::PushedOut => "pushed-out",
            Self::MailExpired => "mail-expired",
            Self::LostAtCarriers => "lost-at-carriers",
            Self::NoRoute => "no-route",
            Self::HopBudget => "hop-budget",
        }
    }
}

/// What travels: a signed transaction, named by what its signature binds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Transaction {
    /// The stream as the seed defines it: by delegator, whatever the engine believes.
    pub stream: StreamKey,
    /// Its sequence.
    pub sequence: Sequence,
    /// Its digest.
    pub digest: [u8; 32],
    /// The last instant of its lifetime. It is signed, and so the digest stands for it.
    pub expires: WallMs,
}

/// How a frame came to its admission.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Passage {
    /// Whether it came straight from its origin, over one link generation and one channel, pushed in signing order, as the
    /// original copy (no retransmission, no transport duplicate, no adversary, no relay): the premise of the honest law.
    pub honest: bool,
    /// The copy of the workload, from 0; `u32::MAX` for an adversary's, and one less for what came out of the relay inbox.
    pub copy: u32,
    /// Which connection of its origin with this node it came by, where that connection's volatile window is to judge it: the
    /// plan declares its namespace, and the connection stands.
    pub link: Option<u32>,
}

impl Passage {
    /// Out of the destination's own relay inbox.
    pub const FROM_INBOX: Self = Self { honest: false, copy: u32::MAX - 1, link: None };

    /// Whether it came out of the destination's own relay inbox.
    #[must_use]
    pub const fn is_from_inbox(self) -> bool {
        self.copy == Self::FROM_INBOX.copy
    }
}

/// What happens to mail that is held for a node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MailStep {
    /// Carriers took it.
    Held {
        /// Who signed that it is held.
        owner: NodeId,
        /// How many carriers took it.
        copies: u8,
        /// How many were asked.
        asked: u8,
    },
    /// No carrier took it; `reason` in kebab case.
    HoldRefused {
        /// Why.
        reason: &'static str,
    },
    /// No carrier keeps it any more.
    Gone {
        /// Why.
        why: MailGone,
    },
    /// The application begins to take it.
    Taking,
    /// It is the application's.
    Taken,
    /// The application does not get it; `reason` in kebab case.
    NotTaken {
        /// Why.
        reason: &'static str,
    },
    /// The run is over, and a carrier keeps it.
    Stored,
}

/// Why no carrier keeps mail any more.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum MailGone {
    /// Its destination has done with it.
    Fetched,
    /// Newer mail of the same inbox pushed it out.
    PushedOut,
    /// Its time was over.
    Expired,
    /// An act of the plan took it at every carrier.
    LostEverywhere,
    /// An act of the plan took it at one carrier, and no other had it.
    CarrierLost,
}

impl MailGone {
    /// The name in reports.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Fetched => "fetched",
            Self::PushedOut => "pushed-out",
            Self::Expired => "expired",
            Self::LostEverywhere => "lost-at-every-carrier",
            Self::CarrierLost => "carrier-lost",
        }
    }
}

/// How an admission or a reservation ended, as its caller saw it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Classified; dispatched iff the verdict says so.
    Verdict(VerdictKind),
    /// Refused; the typed error's name in kebab case.
    Refused(&'static str),
    /// Its batch failed.
    FailedBatch,
    /// The engine was going down.
    Unscheduled,
}

/// One event. `node` and `life` are those of the node that it happened at.
#[derive(Clone, Copy, Debug)]
#[expect(missing_docs, reason = "the fields are the subjects that each variant's text names")]
pub enum Event<'a> {
    /// A node boots. `wall` is what its clock says.
    Booted { node: NodeId, life: Life, wall: WallMs },
    /// Its engines are open.
    Ready { node: NodeId, life: Life },
    /// Its engines did not open; `reason` in kebab case.
    OpenFailed { node: NodeId, life: Life, reason: &'static str },
    /// A life ended. `during` is the last step that its engine reported, with the batch and what it touched, if a batch was
    /// being written or opened; `gathering` whether another was gathering on top.
    Died {
        node: NodeId,
        life: Life,
        death: Death,
        during: Option<(Step, BatchNumber, Roles)>,
        gathering: bool,
        fault: Option<FaultId>,
    },
    /// What a power failure left of the pending changes of a disk.
    PowerLost { node: NodeId, kept: u32, lost: u32 },
    /// A task of the node panicked, with this message.
    Panicked { node: NodeId, life: Life, message: &'a str },
    /// A task of the node started a thread of the operating system, or would have: the simulation refuses it, and the
    /// life is over.
    ThreadStarted { node: NodeId, life: Life, task: Task },
    /// The node's wall clock was set: from, to.
    ClockSet { node: NodeId, from: WallMs, to: WallMs },
    /// A disk operation was answered (or, with `error`, failed). `injected` when a fault made it so.
    DiskAnswered {
        node: NodeId,
        life: Life,
        number: u64,
        operation: DiskOperation,
        bytes: u32,
        error: Option<DiskErrorKind>,
        injected: bool,
    },
    /// A fault of the plan takes effect, or ends.
    FaultBegan { fault: FaultId },
    /// A fault of the plan has ended.
    FaultEnded { fault: FaultId },
    /// Every fault has ended.
    Quiesced,
    /// The workload intends to send a message now.
    Intended { message: MessageId, node: NodeId, to: NodeId, class: Class },
    /// The message was given up before any frame of it left its origin.
    NotSent { message: MessageId, node: NodeId, cause: LossCause },
    /// A reservation was answered.
    ReserveAnswered {
        message: MessageId,
        node: NodeId,
        life: Life,
        answer: Option<Sequence>,
        refusal: Option<&'static str>,
    },
    /// A signature leaves the node that made it, for the first time.
    Exposed { message: MessageId, node: NodeId, life: Life, transaction: &'a Transaction },
    /// A frame is handed to a channel.
    FrameSent {
        frame: FrameNumber,
        message: Option<MessageId>,
        copy: u32,
        from: NodeId,
        to: NodeId,
        class: Class,
        channel: u8,
        bytes: u32,
    },
    /// A frame is lost on its way, or at an end that died.
    FrameLost { frame: FrameNumber, message: Option<MessageId>, cause: LossCause },
    /// The receiver's transport has the frame.
    FrameDelivered { frame: FrameNumber, message: Option<MessageId>, to: NodeId, duplicate: bool },
    /// An adversary at the node had not recorded the frame that it was to send again, or had no connection to send it by.
    ReplayMissed { node: NodeId },
    /// A connection was given a slot by the node's engine. Told when the engine is asked, at the next arrival.
    ConnectionAdmitted { node: NodeId, life: Life, peer: NodeId, slot: SlotIndex },
    /// A connection was retired, and its slot is free. Told at the next arrival.
    ConnectionRetired { node: NodeId, life: Life, peer: NodeId, slot: SlotIndex, under_way: u32 },
    /// A relay sends a message on.
    Relayed { message: Option<MessageId>, node: NodeId, life: Life },
    /// A transaction did not verify at its destination or at a relay; `reason` in kebab case.
    Unverified { message: Option<MessageId>, node: NodeId, life: Life, reason: &'static str },
    /// A transaction is handed to the engine for admission. Events of this kind stand in the order of admission.
    /// `introducer` is whom the world has it charged to if its stream is new.
    Arrived {
        message: Option<MessageId>,
        node: NodeId,
        life: Life,
        wall: WallMs,
        transaction: &'a Transaction,
        passage: Passage,
        introducer: Introducer,
    },
    /// The caller of an admission has its answer. `record` names the stream's record at the receiver.
    Answered {
        message: Option<MessageId>,
        node: NodeId,
        life: Life,
        transaction: &'a Transaction,
        record: RecordName,
        passage: Passage,
        answer: Answer,
    },
    /// The caller of an admission gave up waiting.
    AdmissionAbandoned { message: Option<MessageId>, node: NodeId, life: Life, transaction: &'a Transaction },
    /// The transaction is dispatched: its handler starts.
    Dispatched {
        message: Option<MessageId>,
        node: NodeId,
        life: Life,
        transaction: &'a Transaction,
        verdict: VerdictKind,
        intended_ns: u64,
        sent_ns: u64,
    },
    /// What happens to mail for the node `node`, in whatever life it is.
    Mail {
        message: Option<MessageId>,
        node: NodeId,
        life: Life,
        transaction: &'a Transaction,
        step: MailStep,
    },
    /// Its handler has finished.
    Handled { message: Option<MessageId>, node: NodeId, life: Life, class: Class },
    /// What a transport or an application did beside admissions.
    Link { node: NodeId, life: Life, event: LinkEvent },
    /// A node becomes a member of the ring: it boots if it is down.
    Joined { node: NodeId },
    /// A node stops being a member; `hand_off` when it says so and hands over what it holds.
    Left { node: NodeId, life: Life, hand_off: bool },
    /// A message takes its `hops`-th hop on the ring, to `next`; `stale` when the node's view is older than the last change
    /// of the members that can be reached.
    Routed { message: Option<MessageId>, node: NodeId, next: NodeId, hops: u8, stale: bool },
    /// What a member answers for goes over from one to another, with `mails` of absent members: after a join, or after a
    /// leave that says so.
    HandedOff { from: NodeId, to: NodeId, mails: u32 },
    /// A second runtime of the account of `of` is about to boot on `node`, with a copy of its disk.
    SecondRuntime { node: NodeId, of: NodeId },
    /// An engine reports.
    Engine { node: NodeId, life: Life, event: EngineEvent<'a> },
}
