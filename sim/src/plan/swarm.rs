//! Swarm: in each seed each kind of fault is off, light or heavy, for a run that does a little of everything finds little.
//! What one kind does hides what another would have shown: where nodes die all the time, no life is long enough for a
//! marker to be lost in it.
//!
//! A kind is a key of the scenario, and what it is scaled by stands beside it. Light is what the scenario says. Swarm adds
//! no kind that the scenario does not have: that a scenario leaves one out is a decision of its author's.
//!
//! Promise: a level is drawn by seed and kind alone, and nothing else is drawn by it: one kind's level moves no other
//! kind's draws. Without swarm every kind is light, and a plan is what it was before there was swarm.

use super::dice::{Dice, Draw};
use super::scenario::{Scenario, Sections};
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;

/// How much of one kind of fault a seed has.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Level {
    /// None.
    Off,
    /// What the scenario says.
    Light,
    /// Several times as much, and never none.
    Heavy,
}

impl Level {
    /// Every level, from none on.
    pub const ALL: [Level; 3] = [Level::Off, Level::Light, Level::Heavy];

    /// The word for it.
    #[must_use]
    pub const fn id(self) -> &'static str {
        match self {
            Self::Off => "off",
            Self::Light => "light",
            Self::Heavy => "heavy",
        }
    }
}

/// What a seed has of each kind of fault that its scenario has; empty without swarm.
pub type Levels = BTreeMap<Kind, Level>;

/// How often each level is drawn.
const WEIGHTS: [(Level, u32); 3] = [(Level::Off, 1), (Level::Light, 1), (Level::Heavy, 2)];

/// A count that a scenario drives this far is made no heavier: a plan has a most of everything.
const MOST: u64 = 10_000;

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

/// The levels that one seed of a scenario has under swarm.
#[must_use]
pub fn levels(scenario: &Scenario, seed: u64) -> Levels {
    let occurring = Kind::ALL.iter().filter(|kind| kind.occurs_in(&scenario.sections));
    occurring.map(|kind| (*kind, level(seed, *kind))).collect()
}

fn level(seed: u64, kind: Kind) -> Level {
    // By name, so that a new kind moves no level of another.
    Dice::new(seed, &format!("swarm {kind}"), 0).weighted(&WEIGHTS)
}

/// What one seed makes of what is drawn for one kind.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Intensity {
    level: Level,
    heavy: u64,
}

impl Intensity {
    pub fn of(levels: &Levels, kind: Kind) -> Self {
        let level = levels.get(&kind).copied().unwrap_or(Level::Light);
        Self { level, heavy: kind.heavy().into() }
    }

    pub fn is_off(self) -> bool {
        self.level == Level::Off
    }

    /// Of things that are counted.
    pub fn count(self, drawn: u64) -> u64 {
        match self.level {
            Level::Off => 0,
            Level::Light => drawn,
            Level::Heavy => drawn.max(1).saturating_mul(self.heavy).min(MOST).max(drawn),
        }
    }

    /// Of a share in thousandths that strikes: heavy spares so many times fewer.
    pub fn share(self, per_mille: u64) -> u64 {
        match self.level {
            Level::Off => 0,
            Level::Light => per_mille,
            Level::Heavy => 1_000 - 1_000_u64.saturating_sub(per_mille) / self.heavy,
        }
    }

    /// Of a share in thousandths of which everything would be too much.
    pub fn thin_share(self, per_mille: u64) -> u64 {
        match self.level {
            Level::Off => 0,
            Level::Light => per_mille,
            Level::Heavy => per_mille.max(1).saturating_mul(self.heavy).min(per_mille.max(500)),
        }
    }

    /// Of a size in either direction.
    pub fn size(self, drawn: i64) -> i64 {
        match self.level {
            Level::Off => 0,
            Level::Light => drawn,
            Level::Heavy => drawn.saturating_mul(self.heavy.cast_signed()),
        }
    }

    /// Of copies of which the first is no fault.
    pub fn copies(self, drawn: u32) -> u32 {
        match self.level {
            Level::Off => 1,
            Level::Light => drawn,
            Level::Heavy => drawn.max(2).saturating_mul(self.heavy as u32).min(drawn.max(100)),
        }
    }

    /// Of what strikes every this-many-th, 0 for none. Heavy never strikes all: somebody has to wait for an answer.
    pub fn every(self, drawn: u32) -> u32 {
        match self.level {
            Level::Off => 0,
            Level::Light => drawn,
            Level::Heavy if drawn == 0 => 4,
            Level::Heavy => (drawn / self.heavy as u32).max(2).min(drawn),
        }
    }
}

/// The ceiling of a known limit in a seed with these levels: where a kind is heavy, what it licenses may be met as many
/// times as often. What must never be met may not be met here either.
pub(super) fn ceiling(levels: &Levels, drawn: u64) -> u64 {
    let heavy = levels.iter().filter(|(_, level)| **level == Level::Heavy).map(|(kind, _)| kind.heavy());
    drawn.saturating_mul(heavy.max().unwrap_or(1).into())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::plan::scenario::{Defaults, Key, KeySource};

    /// The keys of a section of faults that say how, when and for how long, of faults whose number another key says.
    const DETAILS: &[&str] = &[
        "crashes.power_per_mille",
        "crashes.down_us",
        "disks.slow_factor",
        "disks.lasts_ms",
        "network.one_way_per_mille",
        "network.loss_per_mille",
        "network.duplicate_per_mille",
        "network.delay_us",
        "network.narrow_bytes_per_s",
        "network.lasts_ms",
        "scenes.quiet_per_mille",
        "scenes.quiet_chaos_ms",
        "scenes.behind",
        "scenes.beside",
        "scenes.flood",
        "scenes.every_us",
        "scenes.lasts_ms",
        "handlers.slow_factor",
        "handlers.lasts_ms",
        "clocks.skewed_per_mille",
        "clocks.wrong_at_boot_ms",
        "clocks.corrected_after_us",
        "clocks.step_ms",
        "clocks.drifts_ppm",
        "clocks.snapshot_behind_ms",
        "clocks.lasts_ms",
        "adversaries.other_lane_per_mille",
        "adversaries.parties",
        "adversaries.party_slots",
        "adversaries.party_factor",
        "adversaries.flood_every_us",
        "adversaries.flood_waves",
        "adversaries.flood_wave_ms",
        "adversaries.flood_relayed_per_mille",
        "adversaries.flood_again_per_mille",
        "adversaries.flood_application_per_mille",
        "adversaries.flood_stamp_ms",
        "adversaries.away_us",
        "ring.successors",
        "ring.maintenance_ms",
        "ring.hop_budget",
        "ring.hand_off_per_mille",
        "ring.hand_off_ms",
        "ring.away_ms",
        "store.stopped_us",
        "mail.lifetime_ms",
        "mail.carrier_bytes",
        "mail.drain_every_ms",
        "mail.take_after_us",
        "mail.origins",
        "mail.mails",
        "mail.away_ms",
        "mail.overtaking",
        "mail.flood_mails",
    ];

    const OF_FAULTS: [&str; 10] = [
        "crashes",
        "disks",
        "network",
        "scenes",
        "handlers",
        "clocks",
        "adversaries",
        "ring",
        "store",
        "mail",
    ];

    struct Keys(Vec<String>);

    impl KeySource for Keys {
        type Error = std::convert::Infallible;

        fn draw(&mut self, key: &Key) -> Result<Draw, Self::Error> {
            if OF_FAULTS.contains(&key.section) {
                self.0.push(format!("{}.{}", key.section, key.name));
            }
            Ok(Draw::Fixed(key.default))
        }
    }

    #[test]
    fn every_key_of_a_fault_is_one_kind_or_says_how() {
        let mut keys = Keys(Vec::new());
        let Ok(_) = Sections::read(&mut keys);
        let kinds: Vec<String> =
            Kind::ALL.iter().map(|kind| format!("{}.{}", kind.key().0, kind.key().1)).collect();
        for key in &keys.0 {
            let (kind, detail) = (kinds.contains(key), DETAILS.contains(&key.as_str()));
            assert!(kind != detail, "{key}: a kind of swarm's, or a detail of one, and not both");
        }
        let gone = DETAILS.iter().find(|detail| !keys.0.iter().any(|key| key == *detail));
        assert_eq!(gone, None);
    }

    #[test]
    fn every_kind_has_a_name_of_its_own_that_plans_spell() {
        for (place, kind) in Kind::ALL.iter().enumerate() {
            assert!(
                Kind::ALL[..place].iter().all(|other| other.id() != kind.id() && other.key() != kind.key())
            );
            assert_eq!(serde_json::to_string(kind).unwrap(), format!("{:?}", kind.id()));
            assert!(kind.heavy() > 1 && kind.about().ends_with('.'), "{kind}");
        }
    }

    #[test]
    fn each_kind_has_each_level_as_often_as_its_weight_says() {
        const SEEDS: u64 = 2_000;
        let whole: u64 = WEIGHTS.iter().map(|(_, weight)| u64::from(*weight)).sum();
        for kind in Kind::ALL {
            for (wanted, weight) in WEIGHTS {
                let seeds = (0..SEEDS).filter(|seed| level(*seed, *kind) == wanted).count() as u64;
                let expected = SEEDS * u64::from(weight) / whole;
                let (least, most) = (expected * 7 / 10, expected * 13 / 10);
                assert!((least..=most).contains(&seeds), "{kind} {}: {seeds} of {SEEDS}", wanted.id());
            }
        }
    }

    #[test]
    fn a_kind_that_the_scenario_does_not_have_has_no_level_and_moves_no_other() {
        let Ok(sections) = Sections::read(&mut Defaults);
        let scenario = |sections| Scenario {
            name: String::new(),
            about: String::new(),
            nodes: 8,
            counts_for: 8,
            crypto: Vec::new(),
            disk: Vec::new(),
            seeds_per_thousand: 1_000,
            sections,
            limits: BTreeMap::new(),
        };
        let few = levels(&scenario(sections.clone()), 4);
        assert_eq!(
            few.keys().collect::<Vec<_>>(),
            [&Kind::UnorderedChannels],
            "it is in every file's defaults"
        );
        let mut more = sections;
        more.network.partitions = Draw::Between(0, 2);
        more.crashes.in_open_per_mille = Draw::Fixed(300);
        more.clocks.offset_ms = Draw::Between(-5, 5);
        let found = levels(&scenario(more.clone()), 4);
        assert_eq!(found.keys().collect::<Vec<_>>(), [&Kind::UnorderedChannels, &Kind::Partitions]);
        assert_eq!(found[&Kind::UnorderedChannels], few[&Kind::UnorderedChannels]);
        // What only shows with another kind is there with it.
        more.crashes.in_commit = Draw::Fixed(1);
        more.clocks.skewed_per_mille = Draw::Fixed(100);
        let found = levels(&scenario(more), 4);
        assert!([Kind::DeathsInOpen, Kind::ClockOffsets].iter().all(|kind| found.contains_key(kind)));
    }

    #[test]
    fn heavy_is_more_than_light_and_off_is_none_for_every_value() {
        let of = |level| Intensity { level, heavy: 3 };
        let [off, light, heavy] = Level::ALL.map(of);
        for value in [0, 1, 2, 300, 999, 1_000, 9_000, 2_000_000] {
            assert_eq!((off.count(value), light.count(value)), (0, value));
            assert!(heavy.count(value) >= value.max(1), "{value}");
            assert!(heavy.count(value) <= value.max(MOST), "{value}");
        }
        for value in [0, 1, 5, 500, 999, 1_000] {
            for of in [Intensity::share, Intensity::thin_share] {
                assert_eq!((of(off, value), of(light, value)), (0, value));
                assert!((value.max(1)..=1_000).contains(&of(heavy, value)), "{value}");
            }
            assert!(heavy.thin_share(value) <= value.max(500));
        }
        assert_eq!([off, light, heavy].map(|intensity| intensity.size(-7)), [0, -7, -21]);
        assert_eq!([1, 2, 3, 100].map(|copies| heavy.copies(copies)), [6, 6, 9, 100]);
        assert_eq!(
            [1, 2, 3, 100].map(|copies| (off.copies(copies), light.copies(copies))),
            [(1, 1), (1, 2), (1, 3), (1, 100)]
        );
        assert_eq!([0, 1, 2, 9].map(|every| heavy.every(every)), [4, 1, 2, 3]);
        assert_eq!(
            [0, 1, 2, 9].map(|every| (off.every(every), light.every(every))),
            [(0, 0), (0, 1), (0, 2), (0, 9)]
        );
    }
}
