//! The known-bad behaviours, each one line at the seam that it changes, each off unless asked for.
//!
//! Promise: without the feature `flaws`, [`Flaws`] has size zero and every question about it is answered `false` at
//! compile time, so a real node cannot be made to misbehave.

macro_rules! flaws {
    ($($variant:ident $id:literal $entry:literal $summary:literal;)*) => {
        /// One behaviour that was once real, or is one slip away.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[repr(u8)]
        pub enum Flaw {
            $(#[doc = $summary] $variant,)*
        }

        impl Flaw {
            /// Every flaw, in the order of its definition.
            pub const ALL: &'static [Flaw] = &[$(Flaw::$variant,)*];

            /// The id in words, as the command line and plans spell it.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Flaw::$variant => $id,)* }
            }

            /// Where the behaviour is recorded: an entry of the facts, or a decision of the design.
            #[must_use]
            pub const fn entry(self) -> &'static str {
                match self { $(Flaw::$variant => $entry,)* }
            }

            /// What the flawed engine does, in one sentence.
            #[must_use]
            pub const fn summary(self) -> &'static str {
                match self { $(Flaw::$variant => $summary,)* }
            }

            /// The flaw of this id.
            #[must_use]
            pub fn from_id(id: &str) -> Option<Flaw> {
                Flaw::ALL.iter().copied().find(|flaw| flaw.id() == id)
            }
        }
    };
}

flaws! {
    OneStreamForAllClasses "one-stream-for-all-classes" "B-R1" "The class is left out of the stream key, so all classes share one stream.";
    ClassSpreadOverChannels "class-spread-over-channels" "B-R2" "Frames of one class are spread round robin over the channels of the pool.";
    LaneWindow64 "lane-window-64" "B-R3" "64 transfers of a lane are in flight instead of 8, on as much receive credit.";
    KeyedByDelegatee "keyed-by-delegatee" "000, Stream and transcript" "The stream's origin is the delegatee key instead of the delegator.";
    NoFlushBeforeRename "no-flush-before-rename" "B-R13" "A temporary is renamed into place without being flushed.";
    NoDirectoryFlush "no-directory-flush" "B-R14" "A batch is reported durable without a flush of the directory.";
    AncestorsNotFlushed "ancestors-not-flushed" "B-R15" "Open flushes the store's directory but none of its ancestors.";
    OneFlushForMarkerAndRecord "one-flush-for-marker-and-record" "decision 12" "Markers are created before the directory flush that makes their records durable.";
    MarkBeforeFlushAtOpen "mark-before-flush-at-open" "decision 12" "Open marks unmarked records before it has flushed the directory that names them.";
    FailedFlushRetried "failed-flush-retried" "decision 13" "After a failed flush the same file is flushed again and believed.";
    MarkerTrustedAfterFailedFlush "marker-trusted-after-failed-directory-flush" "decision 13" "Markers created before a failed directory flush are believed to exist.";
    EarlyRelease "early-release" "B-R24" "A result is returned before its batch is durable.";
    EarlyReleaseOfRefusals "early-release-of-refusals" "B-R24" "A refusal is returned before the batch that it was computed from is durable.";
    PartialUndo "partial-undo" "B-R25" "A failed batch is undone, but the batch gathering on top of it is kept.";
    CancelledCallerBreaksOrder "cancelled-caller-breaks-order" "B-R22" "A cancelled caller's write goes on unserialised: the next transitions neither see it nor wait for it.";
    LeaseWrittenAfterExposure "lease-written-after-exposure" "B-R26" "A reservation is handed out before the lease that covers it is durable.";
    ResumedAtLastUsed "resumed-at-last-used" "B-R26" "The record holds the last used sequence instead of the lease, and a restart resumes there.";
    RecordRemovedBeforeMarker "record-removed-before-marker" "B-R17" "A retired record is unlinked with its batch, and its marker only after the flush.";
    NeverRetired "never-retired" "B-R6" "A stream stays in the table for ever, whatever of it can still be delivered.";
    RetiredTooEarly "retired-too-early" "B-R7" "A stream is spent when its transactions expire, with no time for clocks that are behind nor for held mail.";
    CustodyNeedsReplay "custody-needs-replay" "decision 4" "Mail in custody is delivered again only where its window would call it a replay.";
    NoCustody "no-custody" "B-R10" "Mail out of the relay inbox is admitted and never enters custody.";
    CustodyDroppedOnAbsentCarrier "custody-dropped-on-absent-carrier" "B-R9" "A drain pass that reads no carrier drops from custody what it did not read.";
    CustodyNotUndone "custody-not-undone" "decision 4" "A failed batch leaves in custody what it admitted there.";
    RelayInboxEvicts "relay-inbox-evicts" "B-R31" "A carrier that is full lets the oldest mail go, whosever it is, instead of refusing the new.";
    SingleCopyRelayInbox "single-copy-relay-inbox" "B-R32" "Mail is held by one carrier instead of three.";
    MemoryStoreAfterRestart "memory-store-after-restart" "B-R12" "Open ignores what the store holds, as an in-memory store would.";
    BoundPerTableOnly "bound-per-table-only" "B-R5" "A new stream is held against the table's bound alone, through whomever it comes.";
    AnyFreeSlot "any-free-slot" "B-R8" "A connection takes the first free slot, however much that still holds.";
    InboxAndSelfMerged "inbox-and-self-share-merged" "B-R39" "The inbox and the node's own signalling draw on one share together.";
    PoolTotalNotEnforced "pool-total-not-enforced" "decision 2" "Slots above their floors are held against their fair claims, and not against the pool.";
    ChargesNotRebuilt "charges-not-rebuilt-at-restart" "000, Receiver streams by connection slot" "What a restart finds in the store is charged to no slot.";
    ExistingStreamRecharged "existing-stream-recharged" "000, Receiver streams by connection slot" "A stream is charged to whom its latest transaction came through.";
    QuotaClockBeforeLock "quota-clock-before-lock" "B-R19" "The quota's clock is read when a transaction is verified, and not when it is admitted.";
    QuotaNotUndone "quota-not-undone" "B-R25" "A failed batch keeps what its admissions were charged.";
    RelayedLimitDelegated "relayed-message-limit-delegated" "B-R28" "The message limit of application traffic is left to its namespace although a relay brought it.";
    RejectionChargesQuota "rejection-charges-quota" "000, Receiver state machine" "Replays, forks and stale transactions are charged to their origin's quota.";
    BadRecordFailsTheStore "bad-record-fails-the-store" "B-R18" "While one record does not restore, every stream is refused as unavailable.";
    LostRecordBeginsAnew "lost-record-begins-anew" "B-R16" "A marker without its record means nothing, and the stream begins again from first.";
    UndecodableRecordDiscarded "undecodable-record-discarded" "B-R20" "A record that does not decode is treated as absent, and is overwritten.";
    MisfiledRecordServed "misfiled-record-served" "B-R34" "A whole record is believed, whatever name it is filed under.";
    ListingErrorSkipped "listing-error-skipped" "B-R33" "An open that cannot list the directory goes on with what it saw, which is nothing.";
    VanishedRootRecreated "vanished-root-recreated" "B-R33" "A write that finds the store's directory gone makes a new one and goes on.";
    VolatileWindowForRelayedCopies "volatile-window-for-relayed-copies" "decision 7" "A transaction of a declared namespace is judged by the volatile window of whichever connection it came by.";
    VolatileWindowForUndeclared "volatile-window-for-undeclared-namespaces" "decision 7" "All application traffic on its origin's own connection is judged by that connection's volatile window.";
    VolatileWindowOutlivesLink "volatile-window-outlives-link" "decision 7" "A peer's next connection is judged by the volatile window of its first one.";
    NamespaceForgetsAtRestart "namespace-forgets-at-restart" "000, Persistence and bounds" "The namespace that delegates its replays begins every life in the same epoch, remembering nothing.";
    MissedFrameHeld "missed-frame-held" "B-R4" "A frame whose reference misses is held until its delegation comes again, and then delivered late.";
    ReferenceTableLru "reference-table-lru" "decision 6" "A receiver gives the place of the delegation used longest ago away at once, whatever may still refer to it.";
    ReferencesResolvedAtDequeue "references-resolved-at-dequeue" "decision 6" "References are resolved when a frame leaves its lane's queue, and not when it arrives.";
    ChunkEnvelopesAdmitted "chunk-envelopes-admitted" "000, Receiver state machine" "The envelope of a chunk is admitted, and charged, like a transaction of its own.";
    TombstonesInsteadOfWindow "tombstones-instead-of-window" "B-R37" "What was put together from chunks is dispatched without an admission: its tombstone is trusted.";
    FailedBatchStaysCounted "failed-batch-stays-counted" "000, Persistence and bounds" "What a failed batch would have refused stays counted, although no caller was told.";
    FairClaimNotEnforced "fair-claim-not-enforced" "000, Receiver streams by connection slot" "Slots above their floors are held against the pool, and not against their fair claims.";
}

/// A set of flaws in an engine's configuration: never global, `Copy`, and of size zero without the feature `flaws`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flaws {
    #[cfg(feature = "flaws")]
    bits: u128,
}

impl Flaws {
    /// No flaw: the engine as a real node runs it.
    pub const NONE: Flaws = Flaws {
        #[cfg(feature = "flaws")]
        bits: 0,
    };

    /// Whether this engine misbehaves in the way of `flaw`.
    #[must_use]
    #[inline]
    pub const fn has(self, flaw: Flaw) -> bool {
        #[cfg(feature = "flaws")]
        {
            self.bits & (1 << flaw as u8) != 0
        }
        #[cfg(not(feature = "flaws"))]
        {
            let _ = flaw;
            false
        }
    }

    /// This set and one flaw more.
    #[cfg(feature = "flaws")]
    #[must_use]
    pub const fn with(self, flaw: Flaw) -> Flaws {
        Flaws { bits: self.bits | (1 << flaw as u8) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(not(feature = "flaws"))]
    fn flaws_take_no_space_in_a_real_node() {
        assert_eq!(std::mem::size_of::<Flaws>(), 0);
        assert!(Flaw::ALL.iter().all(|flaw| !Flaws::NONE.has(*flaw)));
    }

    #[test]
    fn every_flaw_is_found_by_its_id() {
        for flaw in Flaw::ALL {
            assert_eq!(Flaw::from_id(flaw.id()), Some(*flaw));
        }
        assert!(Flaw::ALL.len() <= 128, "Flaws holds 128 bits");
    }
}
