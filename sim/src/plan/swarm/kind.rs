//! The kinds of fault that swarm deals in: each a key of the scenario, with how many times as much of it a heavy seed has.
//!
//! Promise: what a scenario does not have, no seed of it has.

use crate::plan::dice::Draw;
use crate::plan::scenario::Sections;
use serde::{Deserialize, Serialize};

macro_rules! kinds {
    ($($variant:ident $id:literal $section:ident . $key:ident x $heavy:literal $about:literal;)*) => {
        /// A kind of fault that swarm deals in.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
        pub enum Kind {
            $(#[doc = $about] #[serde(rename = $id)] $variant,)*
        }

        impl Kind {
            /// Every kind, in the order in which scenarios name them.
            pub const ALL: &'static [Kind] = &[$(Kind::$variant,)*];

            /// The id in words, as plans and reports spell it.
            #[must_use]
            pub const fn id(self) -> &'static str {
                match self { $(Kind::$variant => $id,)* }
            }

            /// What it is, in one sentence.
            #[must_use]
            pub const fn about(self) -> &'static str {
                match self { $(Kind::$variant => $about.trim_ascii(),)* }
            }

            /// The section of the scenario, and the key, that say how much of it there is.
            #[must_use]
            pub const fn key(self) -> (&'static str, &'static str) {
                match self { $(Kind::$variant => (stringify!($section), stringify!($key)),)* }
            }

            /// How many times as much of it a heavy seed has.
            #[must_use]
            pub const fn heavy(self) -> u32 {
                match self { $(Kind::$variant => $heavy,)* }
            }

            /// What a scenario says about it.
            #[must_use]
            pub fn of(self, sections: &Sections) -> &Draw {
                match self { $(Kind::$variant => &sections.$section.$key,)* }
            }
        }
    };
}

kinds! {
    UnorderedChannels "unordered-channels" links.ordered_per_mille x 3 "Channels that deliver in any order.";
    SteadyLoss "steady-loss" links.loss_per_mille x 3 "Frames that links lose all the time.";
    SteadyDuplicates "steady-duplicates" links.duplicate_per_mille x 3 "Frames that links deliver twice all the time.";
    Copies "copies" load.copies x 2 "Messages that their sender sends more than once.";
    CancelledReservations "cancelled-reservations" load.cancel_reserve_every x 2 "Callers that give up a reservation.";
    CancelledAdmissions "cancelled-admissions" load.cancel_admit_every x 2 "Callers that give up an admission.";
    DeathsInCommit "deaths-in-commit" crashes.in_commit x 2 "Deaths at a step of group commit.";
    DeathsInOpen "deaths-in-open" crashes.in_open_per_mille x 3 "Deaths in the open that follows a death in group commit.";
    DeathsAtOperations "deaths-at-operations" crashes.at_operation x 3 "Deaths at a disk operation.";
    DeathsAtPolls "deaths-at-polls" crashes.at_poll x 3 "Deaths at a poll.";
    DeathsAtTimes "deaths-at-times" crashes.at_time x 3 "Deaths at a time.";
    FailingBatches "failing-batches" disks.failing_batches x 3 "Batches that fail on a slow disk while another gathers on top.";
    PowerAfterFailure "power-after-failing-batches" disks.power_after_failure_per_mille x 3 "Power failures soon after a failing batch.";
    LostMarkers "lost-markers" disks.lost_markers x 3 "A failed directory flush just after records were marked, good batches, and a power failure.";
    DiskErrors "disk-errors" disks.errors x 3 "Disk operations that fail with an input/output error.";
    NoSpace "no-space" disks.no_space x 3 "Times in which a disk has no space.";
    FailedFlushes "failed-flushes" disks.failed_flushes x 3 "File flushes that fail.";
    FailedDirectoryFlushes "failed-directory-flushes" disks.failed_directory_flushes x 3 "Directory flushes that fail.";
    ReadOnly "read-only-disks" disks.read_only x 2 "File systems that turn read-only until their node restarts.";
    SlowDisks "slow-disks" disks.slow x 3 "Times in which a disk is slow.";
    StuckDisks "stuck-disks" disks.stuck x 3 "Disk operations that do not come back for a time.";
    WriteBacks "write-backs" disks.write_backs x 3 "Times at which the kernel writes back.";
    Partitions "partitions" network.partitions x 3 "Links that are cut for a time.";
    Losses "losses" network.losses x 3 "Times in which a link loses frames.";
    Duplicates "duplicates" network.duplicates x 3 "Times in which a link delivers frames twice.";
    Delays "delays" network.delays x 3 "Times in which frames of a link take longer.";
    NarrowLinks "narrow-links" network.narrow x 3 "Times in which a link's bandwidth is low.";
    StalledChannels "stalled-channels" network.stalled_channels x 3 "Channels that deliver nothing for a time.";
    SceneClass "scenes-stalled-class" scenes.stalled_classes x 2 "Scenes in which one class's handler stands still while the others go on.";
    SceneChannel "scenes-stalled-channel" scenes.stalled_channels x 2 "Scenes in which one channel stands still while every class goes on.";
    SceneReceiver "scenes-stalled-receiver" scenes.stalled_receivers x 2 "Scenes in which one channel's receiver stands still under a long burst.";
    Floods "floods" scenes.floods x 2 "Long dense bursts of one class.";
    StalledHandlers "stalled-handlers" handlers.stalls x 3 "Times in which a node's handler of one class finishes nothing.";
    SlowProcessors "slow-processors" handlers.slow_processors x 3 "Times in which a node's processors are slow.";
    ClockOffsets "clock-offsets" clocks.offset_ms x 2 "Wall clocks that are wrong from the start.";
    ClockDrift "clock-drift" clocks.drift_ppm x 3 "Oscillators that run wrong from the start.";
    WrongAtBoot "clocks-wrong-at-boot" clocks.wrong_at_boot_per_mille x 3 "Wall clocks that are wrong at each boot until they are corrected.";
    ClockSteps "clock-steps" clocks.steps x 3 "Steps of a wall clock.";
    ClockDriftTimes "clock-drift-times" clocks.drifts x 3 "Times in which an oscillator runs wrong.";
    ClockFreezes "clock-freezes" clocks.freezes x 3 "Times in which a wall clock stands still.";
    ClockPauses "clock-pauses" clocks.pauses x 3 "Times in which a machine is paused.";
    Snapshots "snapshots" clocks.snapshots x 3 "Restarts from a snapshot, whose wall clock is behind.";
    DroppedConnections "dropped-connections" peers.dropped_connections x 3 "Connections that are torn down, both ends alive, and made again.";
    Replays "replays" adversaries.replays x 3 "Recorded frames that an adversary sends again.";
    OriginFloods "origin-floods" adversaries.flood_keys x 3 "Fresh accounts of each node of a flooding party.";
    ForgedFloods "forged-floods" adversaries.forged_per_mille x 3 "Floods of which a proof is forged.";
    Rotations "rotations" adversaries.rotations x 3 "Times at which a party's connections are retired and admitted anew.";
    Reconnects "reconnects" adversaries.reconnects x 3 "Connections between honest nodes that are retired and admitted anew.";
    Signals "signals" adversaries.signals x 3 "Out-of-band signals to a party's victim.";
    PutBacks "put-backs" adversaries.put_backs x 2 "Backups of a node's disk that are put back.";
    SecondRuntimes "second-runtimes" adversaries.second_runtimes x 2 "Second runtimes on a node's account.";
    LateJoins "late-joins" ring.outside x 2 "Nodes that join the ring after the run has begun.";
    Leaves "leaves" ring.leaves x 3 "Members that leave the ring.";
    MailAbsences "mail-absences" mail.absences x 2 "Times in which a hub is away while mail for it comes.";
    MailDeaths "mail-deaths" mail.dies_per_mille x 3 "Hubs that die again between admission and taking.";
    LostCarriers "lost-carriers" mail.carrier_lost_per_mille x 3 "Absences in which one carrier loses the mail.";
    UnreachableCarriers "unreachable-carriers" mail.unreachable_per_mille x 3 "Absences after which no carrier is to be reached for a while.";
    RefusingApplications "refusing-applications" mail.refusing_per_mille x 3 "Absences after which the application takes nothing for a while.";
    LostMail "lost-mail" mail.lost_per_mille x 3 "Absences in which every carrier loses the mail.";
    CustodyStalls "custody-stalls" mail.stalls x 2 "Times in which custody fills, is lost at every carrier, and more mail comes.";
    CustodyResets "custody-resets" mail.resets x 2 "Times in which custody fills and an operator removes the store.";
    MailFloods "mail-floods" mail.floods x 3 "Times in which an adversary mails a hub under fresh accounts.";
    RecordsRemoved "records-removed" store.records_removed x 2 "Records removed, whose markers stay.";
    MarkersRemoved "markers-removed" store.markers_removed x 2 "Markers removed, whose records stay.";
    RecordsRenamed "records-renamed" store.records_renamed x 2 "Records that take the name of another.";
    UpperCase "upper-case" store.upper_case x 2 "Records that take their own name in upper case.";
    RecordsSwapped "records-swapped" store.records_swapped x 2 "Pairs of records that change places.";
    RecordsTruncated "records-truncated" store.records_truncated x 2 "Records cut short.";
    BitsFlipped "bits-flipped" store.bits_flipped x 2 "Records with a flipped bit.";
    Unreadable "unreadable-records" store.unreadable x 2 "Records with a sector that cannot be read.";
    Unlisted "unlisted-stores" store.unlisted x 2 "Stores whose directory cannot be listed.";
    RootsRemoved "roots-removed" store.roots_removed x 2 "Stores removed while their node runs.";
    BudgetsLowered "budgets-lowered" store.budgets_lowered x 2 "Stores opened with a budget below what they hold.";
    StoresRemoved "stores-removed" store.stores_removed x 2 "Stores removed while their node is stopped.";
    ClearedReceivers "cleared-receivers" store.cleared_receivers x 2 "Receivers' streams that an operator clears.";
    ClearedSenders "cleared-senders" store.cleared_senders x 2 "Senders' streams that an operator clears.";
    WithoutCharge "records-without-charge" store.without_charge x 2 "Receivers' records of a build that did not charge streams.";
    SharedSnapshots "shared-snapshots" store.shared_snapshots x 2 "Snapshots of all streams, of an older build.";
}

impl Kind {
    /// Whether some seed of the scenario has any of it.
    #[must_use]
    pub fn occurs_in(self, sections: &Sections) -> bool {
        let (least, most) = self.of(sections).bounds();
        match self {
            // Its key counts the other kind of channel.
            Self::UnorderedChannels => least < 1_000,
            Self::Copies => most > 1,
            Self::ClockOffsets | Self::ClockDrift => {
                (least, most) != (0, 0) && sections.clocks.skewed_per_mille.bounds().1 > 0
            }
            Self::DeathsInOpen => most > 0 && Self::DeathsInCommit.occurs_in(sections),
            Self::PowerAfterFailure => most > 0 && Self::FailingBatches.occurs_in(sections),
            Self::OriginFloods | Self::Signals | Self::Rotations => most > 0 && has_parties(sections),
            Self::ForgedFloods => most > 0 && Self::OriginFloods.occurs_in(sections),
            Self::LateJoins | Self::Leaves => most > 0 && sections.ring.successors.bounds().1 > 0,
            Self::MailAbsences | Self::CustodyStalls | Self::CustodyResets | Self::MailFloods => {
                most > 0 && sections.mail.lifetime_ms.bounds().1 > 0
            }
            Self::MailDeaths
            | Self::LostCarriers
            | Self::UnreachableCarriers
            | Self::RefusingApplications => most > 0 && Self::MailAbsences.occurs_in(sections),
            Self::LostMail => {
                most > 0 && [Self::MailAbsences, Self::CustodyResets].iter().any(|of| of.occurs_in(sections))
            }
            _ => most > 0,
        }
    }
}

fn has_parties(sections: &Sections) -> bool {
    sections.adversaries.parties.bounds().1 > 0
}

impl std::fmt::Display for Kind {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.pad(self.id())
    }
}
