//! Marks: places and states that a run over many seeds must reach, so that a scenario that no longer tests what it was
//! written for is seen.
//!
//! Promise: every mark has an id, a sentence, the scenarios that must reach it and how often; [`super::mark_counter`] counts.

use super::batches::BatchPhase;
use crate::plan::Death;

/// What a mark says, and how often it is to be reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct MarkText {
    /// Its id.
    pub id: &'static str,
    /// When it is reached, in one sentence.
    pub says: &'static str,
    /// The scenarios that must reach it.
    pub scenarios: &'static [&'static str],
    /// How often 1,000 seeds of such a scenario must reach it.
    pub per_thousand_seeds: u64,
}

/// The reason of `Event::Unverified` for a delegation that has expired by the verifier's clock.
pub const DELEGATION_EXPIRED: &str = "delegation-expired";

const CRASH: &[&str] = &["crash-mid-batch"];
const LANES: &[&str] = &["lane-interleaving"];
const CLOCKS: &[&str] = &["skewed-clocks"];
const GENERATIONS: &[&str] = &["link-generations"];
const MISSES: &[&str] = &["reference-misses"];
const CHUNKS: &[&str] = &["chunked-transfers"];
const FLOOD: &[&str] = &["origin-flood"];
const ROTATION: &[&str] = &["connection-rotation", "newcomer-after-rotation"];
const QUOTA: &[&str] = &["quota-burst"];
const FULL: &[&str] = &["sender-table-full"];
const STALL: &[&str] = &["custody-stall"];
const CHURN: &[&str] = &["custody-churn"];
const BAD: &[&str] = &["bad-records"];
const CLEAR: &[&str] = &["operator-clear"];
const CUTOVER: &[&str] = &["hard-cutover"];
const REMOVED: &[&str] = &["bad-records", "operator-clear", "hard-cutover"];
const RETIRING: &[&str] = &["retirement"];
const RESET: &[&str] = &["custody-stall-reset"];
const MAIL_FLOOD: &[&str] = &["mail-flood"];
const RING: &[&str] = &["ring-churn"];
const ALLOCATORS: &[&str] = &["two-allocators"];

macro_rules! marks {
    ($($name:ident = $id:literal, $scenarios:expr, $least:literal, $says:literal;)*) => {
        /// A mark.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
        #[expect(missing_docs, reason = "each mark's sentence is in its text")]
        #[repr(u8)]
        pub enum Mark {
            $($name,)*
        }

        /// Every mark, in the order of [`Mark`].
        pub const MARKS: &[MarkText] = &[
            $(MarkText { id: $id, says: $says, scenarios: $scenarios, per_thousand_seeds: $least },)*
        ];
    };
}

marks! {
    ProcessSenderGathering = "death/process/sender/gathering", CRASH, 50,
        "A process died while leases were gathered and nothing was being written.";
    ProcessSenderTemporaries = "death/process/sender/temporaries", CRASH, 50,
        "A process died while temporaries of a batch with leases were being written and flushed.";
    ProcessSenderRenames = "death/process/sender/renames", CRASH, 50,
        "A process died after all temporaries of a batch with leases were flushed and before all were renamed.";
    ProcessSenderDirectoryFlush = "death/process/sender/directory-flush", CRASH, 50,
        "A process died after all renames of a batch with leases and before it was durable.";
    ProcessSenderBeforeRelease = "death/process/sender/before-release", CRASH, 50,
        "A process died after a batch with leases was durable and before a result of it was released.";
    ProcessReceiverGathering = "death/process/receiver/gathering", CRASH, 50,
        "A process died while windows were gathered and nothing was being written.";
    ProcessReceiverTemporaries = "death/process/receiver/temporaries", CRASH, 50,
        "A process died while temporaries of a batch with windows were being written and flushed.";
    ProcessReceiverRenames = "death/process/receiver/renames", CRASH, 50,
        "A process died after all temporaries of a batch with windows were flushed and before all were renamed.";
    ProcessReceiverDirectoryFlush = "death/process/receiver/directory-flush", CRASH, 50,
        "A process died after all renames of a batch with windows and before it was durable.";
    ProcessReceiverBeforeRelease = "death/process/receiver/before-release", CRASH, 50,
        "A process died after a batch with windows was durable and before a result of it was released.";
    PowerSenderGathering = "death/power/sender/gathering", CRASH, 50,
        "Power failed while leases were gathered and nothing was being written.";
    PowerSenderTemporaries = "death/power/sender/temporaries", CRASH, 50,
        "Power failed while temporaries of a batch with leases were being written and flushed.";
    PowerSenderRenames = "death/power/sender/renames", CRASH, 50,
        "Power failed after all temporaries of a batch with leases were flushed and before all were renamed.";
    PowerSenderDirectoryFlush = "death/power/sender/directory-flush", CRASH, 50,
        "Power failed after all renames of a batch with leases and before it was durable.";
    PowerSenderBeforeRelease = "death/power/sender/before-release", CRASH, 50,
        "Power failed after a batch with leases was durable and before a result of it was released.";
    PowerReceiverGathering = "death/power/receiver/gathering", CRASH, 50,
        "Power failed while windows were gathered and nothing was being written.";
    PowerReceiverTemporaries = "death/power/receiver/temporaries", CRASH, 50,
        "Power failed while temporaries of a batch with windows were being written and flushed.";
    PowerReceiverRenames = "death/power/receiver/renames", CRASH, 50,
        "Power failed after all temporaries of a batch with windows were flushed and before all were renamed.";
    PowerReceiverDirectoryFlush = "death/power/receiver/directory-flush", CRASH, 50,
        "Power failed after all renames of a batch with windows and before it was durable.";
    PowerReceiverBeforeRelease = "death/power/receiver/before-release", CRASH, 50,
        "Power failed after a batch with windows was durable and before a result of it was released.";
    DeathWhileOpening = "death/while-opening", CRASH, 1,
        "A life ended after its boot and before its engines were open.";
    FailedWithAnother = "batch/failed-with-another-gathering", CRASH, 50,
        "A batch failed while another was gathering on top of it.";
    FailedBatchLanded = "store/failed-batch-landed", CRASH, 1,
        "A record of a batch that failed was seen in the store after the failure.";
    OpenMarked = "open/marked-unmarked-record", CRASH, 1,
        "An open found a record without its marker and marked it.";
    OpenRemovedTemporary = "open/removed-temporary", CRASH, 1,
        "An open removed a temporary that an earlier life had left.";
    LeaseGap = "lease/gap-after-crash", CRASH, 1,
        "A life resumed a stream above the sequence after the last one that an earlier life had exposed.";
    ReplayAfterRestart = "replay/refused-after-restart", CRASH, 1,
        "A message that an earlier life had dispatched came again and was refused as a replay.";
    FrameReordered = "frame/reordered-within-class", LANES, 1,
        "A frame was delivered after one that its lane had sent later.";
    WindowLate = "window/late", LANES, 1,
        "A transaction was admitted into an empty slot below the highest of its window.";
    AdvanceOverGap = "window/advance-over-gap", LANES, 1,
        "A window advanced over a sequence that had not arrived.";
    StalledHandlerPassed = "lane/stalled-while-others-moved", LANES, 1,
        "A handler of one class finished while another class's, with work in hand, was stalled at the same node.";
    StalledChannelPassed = "channel/stalled-while-others-moved", LANES, 1,
        "A frame was sent on a channel and delivered while another channel between the two nodes was stalled.";
    ClockBack = "clock/stepped-back", CLOCKS, 1,
        "A wall clock was set to an earlier time.";
    BootClockCorrected = "clock/wrong-at-boot-corrected", CLOCKS, 1,
        "A wall clock that was wrong at boot was set right, with no fault of that clock beginning at that moment.";
    BootBeforeEarlierLife = "clock/boot-before-earlier-life", CLOCKS, 1,
        "A node booted with a wall clock before the one of its earlier boot.";
    StreamRetired = "stream/retired", CLOCKS, 1,
        "A stream was retired, since all that it had admitted was spent.";
    CustodyRefused = "custody/65th-delivery", STALL, 1,
        "A delivery out of the relay inbox was refused, with 64 in custody.";
    CustodyFull = "custody/stall-begun", STALL, 1,
        "The 64th delivery entered custody.";
    CustodyOver = "custody/stall-ended", STALL, 1,
        "Custody was at its bound, and was below it again.";
    CustodyExpired = "custody/expired", STALL, 1,
        "A delivery in custody was spent before its mail was taken.";
    RedeliveredBelow = "custody/redelivered-below-window", CHURN, 1,
        "A delivery was dispatched again that lay below its stream's window.";
    DiedBeforeTaking = "custody/died-before-taking", CHURN, 1,
        "A process died with mail that was dispatched out of its inbox and not taken.";
    InboxShareMet = "inbox/share-met", MAIL_FLOOD, 1,
        "A new stream was refused because the inbox had its share of the table.";
    DelegationExpired = "delegation/expired-refused", CLOCKS, 1,
        "A transaction was refused because its delegation had expired by the verifier's clock.";
    LinkWindowUsed = "link/window-used", GENERATIONS, 1_000,
        "A transaction was admitted by the volatile window of its origin's own connection.";
    LinkGenerationEnded = "link/generation-ended-with-window", GENERATIONS, 500,
        "A connection's volatile window accepted a transaction of a stream for which an earlier connection had a window.";
    LinkLocalRelayed = "link/relayed-copy-of-link-local", GENERATIONS, 500,
        "A transaction of the namespace came over a relay, or over a connection that was gone, to its durable window.";
    SecondActRefused = "namespace/second-act-refused", GENERATIONS, 500,
        "The namespace was handed a payload that it had acted on, and did not act.";
    OtherEpochRefused = "namespace/other-epoch-refused", GENERATIONS, 1,
        "The namespace was handed a payload that was meant for an earlier life of it, and did not act.";
    DroppedAfterAdmission = "mailbox/dropped-after-admission", GENERATIONS, 1,
        "A transaction was admitted and not dispatched, for the application's mailbox was full.";
    ReferenceSent = "reference/sent", MISSES, 1_000,
        "A frame left with a delegation by reference.";
    ReferenceResolved = "reference/resolved", MISSES, 1_000,
        "A delegation was found by its reference.";
    ReferenceDisclaimed = "reference/disclaimed", MISSES, 100,
        "A receiver had no room for a delegation and said so.";
    ReferenceMissed = "reference/missed", MISSES, 1,
        "A frame was dropped because a delegation that it referred to was no longer kept.";
    ChunksReassembled = "chunk/reassembled", CHUNKS, 1_000,
        "A message was put together from its pieces.";
    PartialExpired = "chunk/partial-expired", CHUNKS, 1,
        "A message of which pieces were missing expired.";
    TombstoneOverflow = "chunk/tombstone-overflow", CHUNKS, 1,
        "A message that was put together was forgotten before it expired, for too many others were.";
    SlotRefused = "slots/refused-at-its-floor-or-claim", FLOOD, 100,
        "A new stream was refused because its slot had its floor, and its claim on the pool where no other slot had one.";
    ClaimCut = "slots/claim-cut-by-another-flooder", FLOOD, 500,
        "A slot was refused at a claim on the pool that another slot above its floor had made smaller.";
    PoolFull = "slots/pool-full", FLOOD, 100,
        "A slot was refused because the slots above their floors had all of the pool.";
    FloorCrossed = "slots/floor-crossed", FLOOD, 500,
        "A slot went above its floor.";
    SelfShareMet = "slots/self-share-met", FLOOD, 100,
        "An out-of-band signal was refused because the node had its own share.";
    TableFull = "slots/table-full", FULL, 100,
        "A new stream was refused because the table itself was full.";
    SlotInheritedDirty = "slots/inherited-dirty", ROTATION, 500,
        "A connection was admitted into a slot to which streams were still charged.";
    QuotaMessages = "quota/message-bound-met", QUOTA, 500,
        "A message was refused because its origin had used up its messages.";
    QuotaBytes = "quota/byte-bound-met", QUOTA, 100,
        "A message was refused because its origin had used up its bytes.";
    QuotaRecords = "quota/record-bound-met", QUOTA, 100,
        "A message was refused because every quota record of its class was in use.";
    QuotaVictim = "quota/victim-evicted", QUOTA, 100,
        "A stream was charged in the place of one whose buckets were full again.";
    RelayedThrice = "ring/relayed-thrice", RING, 100,
        "A message took its fourth hop on the ring, after three relays or more.";
    StaleHop = "ring/stale-hop", RING, 1_000,
        "A member sent a message on by a view older than the last change of who can be reached.";
    LeftWithHandOff = "ring/left-with-hand-off", RING, 1_000,
        "A member left, said so, and handed over what it answered for.";
    LeftWithoutHandOff = "ring/left-without-hand-off", RING, 1_000,
        "A member left without a word.";
    Rejoined = "ring/rejoined", RING, 1_000,
        "A node that had left joined again, with the store that it had.";
    RetiredUnderWay = "ring/retired-under-way", RING, 20,
        "A connection was retired, though no end had failed, while something was under way on it.";
    SelfCharged = "ring/self-charged", RING, 1_000,
        "A signal out of band reached admission, to be charged to the node itself.";
    MailHandedOff = "ring/mail-handed-off", RING, 100,
        "A member took over mail of an absent member, since who answers for it had changed.";
    AdversaryRelayed = "ring/adversary-relayed", RING, 1_000,
        "A member relayed a frame of an adversary, as it does any other.";
    NoRoute = "ring/no-route", RING, 1_000,
        "A message was lost since no member nearer to its destination was known.";
    HopBudgetSpent = "ring/hop-budget", RING, 100,
        "A message was lost since it had taken as many hops as it may.";
    RecordRemoved = "store/record-removed", BAD, 700,
        "An open told a record missing after one had been removed.";
    MissingRefused = "store/missing-refused", BAD, 5_000,
        "A call of a stream was refused because its record was missing.";
    MarkerRemoved = "store/marker-removed", BAD, 250,
        "An open marked a record after a marker had been removed.";
    RecordRenamed = "store/record-renamed", BAD, 230,
        "An open told a record misfiled after one had taken another's name.";
    RecordInUpperCase = "store/record-in-upper-case", BAD, 150,
        "An open told a record missing after one had taken its name in upper case.";
    RecordsSwapped = "store/records-swapped", BAD, 250,
        "An open told a record misfiled after two had changed places.";
    RecordTruncated = "store/record-truncated", BAD, 700,
        "An open told a record undecodable after one had been cut short.";
    BitFlipped = "store/record-bit-flipped", BAD, 450,
        "An open told a record undecodable after a bit of one had been flipped.";
    RecordUnreadable = "store/record-unreadable", BAD, 230,
        "An open told a record unreadable after a sector of one had gone bad.";
    ScanFailed = "store/scan-failed", BAD, 300,
        "An open failed as a whole because the disk did.";
    BudgetLowered = "store/budget-lowered", BAD, 240,
        "An open failed because the store held more than its lowered budget.";
    StoreRemoved = "store/store-removed", REMOVED, 190,
        "An open found nothing after the store had been removed.";
    AdmittedAgain = "store/admitted-again-after-clear", CLEAR, 1_000,
        "A message was admitted that its node had dispatched before its receiver's record was cleared or went with its store.";
    SenderBeganAgain = "store/sender-began-again-after-clear", CLEAR, 1_300,
        "A sender signed sequence 0 again after its record had been cleared or had gone with its store.";
    RecordWithoutCharge = "store/record-without-charge", CUTOVER, 1_400,
        "An open told a record without a charge.";
    SharedSnapshot = "store/shared-snapshot", CUTOVER, 700,
        "An open told a snapshot of all streams.";
    RetirementCut = "retirement/cut-by-a-death", RETIRING, 370,
        "A life ended while a batch that retires streams was not durable.";
    RetirementUndone = "retirement/undone-with-its-batch", RETIRING, 200,
        "A batch that retires streams failed.";
    RetiredBeganAgain = "retirement/began-again", RETIRING, 8_000,
        "A stream that had been retired admitted again.";
    TwoAtOnce = "allocator/two-at-once", ALLOCATORS, 1_000,
        "A runtime signed a sequence that another of its account had signed, which still lived.";
    CustodyReset = "custody/stall-ended-by-reset", RESET, 900,
        "Mail was admitted after the store had been removed while custody was full.";
}

/// The text of a mark by its id.
#[must_use]
pub fn mark(id: &str) -> Option<&'static MarkText> {
    MARKS.iter().find(|mark| mark.id == id)
}

impl Mark {
    /// Its text.
    #[must_use]
    pub fn text(self) -> &'static MarkText {
        &MARKS[self as usize]
    }
}

/// The marks of deaths stand first, by kind, role and phase.
pub(super) const fn death_mark(death: Death, receiver: bool, phase: BatchPhase) -> Mark {
    const TABLE: [[[Mark; 5]; 2]; 2] = [
        [
            [
                Mark::ProcessSenderGathering,
                Mark::ProcessSenderTemporaries,
                Mark::ProcessSenderRenames,
                Mark::ProcessSenderDirectoryFlush,
                Mark::ProcessSenderBeforeRelease,
            ],
            [
                Mark::ProcessReceiverGathering,
                Mark::ProcessReceiverTemporaries,
                Mark::ProcessReceiverRenames,
                Mark::ProcessReceiverDirectoryFlush,
                Mark::ProcessReceiverBeforeRelease,
            ],
        ],
        [
            [
                Mark::PowerSenderGathering,
                Mark::PowerSenderTemporaries,
                Mark::PowerSenderRenames,
                Mark::PowerSenderDirectoryFlush,
                Mark::PowerSenderBeforeRelease,
            ],
            [
                Mark::PowerReceiverGathering,
                Mark::PowerReceiverTemporaries,
                Mark::PowerReceiverRenames,
                Mark::PowerReceiverDirectoryFlush,
                Mark::PowerReceiverBeforeRelease,
            ],
        ],
    ];
    TABLE[death as usize][receiver as usize][phase as usize]
}
