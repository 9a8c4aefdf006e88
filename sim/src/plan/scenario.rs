//! What a scenario says: the distributions that plans are drawn from. Each key stands here once, with its meaning, its
//! default and its range; readers of scenario files learn all three from here.
//!
//! Promise: every key has a range, so that no drawn value can be refused by the plan's format.

use super::dice::{Dice, Draw};
use super::profile::{Crypto, DiskProfile};
use std::collections::BTreeMap;
use std::ops::RangeInclusive;

/// One key of a section, as a reader needs it.
#[derive(Clone, Debug)]
pub struct Key {
    /// The section's name.
    pub section: &'static str,
    /// The key's name.
    pub name: &'static str,
    /// What it means.
    pub about: &'static str,
    /// Which values it may take.
    pub range: RangeInclusive<i64>,
    /// What it is where a file leaves it out.
    pub default: i64,
}

/// Where the values of keys come from.
pub trait KeySource {
    /// Why a value cannot be had.
    type Error;
    /// The value of one key.
    ///
    /// # Errors
    /// When the source holds something that is no distribution within the key's range.
    fn draw(&mut self, key: &Key) -> Result<Draw, Self::Error>;
}

macro_rules! sections {
    ($( #[doc = $about:literal] $name:ident $field:ident { $( #[doc = $key_about:literal] $key:ident = $default:literal, $range:expr; )* } )*) => {
        $(
            #[doc = $about]
            #[derive(Clone, Debug, PartialEq, Eq)]
            pub struct $name {
                $( #[doc = $key_about] pub $key: Draw, )*
            }

            impl $name {
                fn read<S: KeySource>(source: &mut S) -> Result<Self, S::Error> {
                    Ok(Self { $( $key: source.draw(&Key {
                        section: stringify!($field),
                        name: stringify!($key),
                        about: $key_about.trim_ascii(),
                        range: $range,
                        default: $default,
                    })?, )* })
                }
            }
        )*

        /// Every section of a scenario.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct Sections {
            $( #[doc = $about] pub $field: $name, )*
        }

        impl Sections {
            /// Reads every key of every section, in the order of their definition.
            ///
            /// # Errors
            /// The first error of the source.
            pub fn read<S: KeySource>(source: &mut S) -> Result<Self, S::Error> {
                Ok(Self { $( $field: $name::read(source)?, )* })
            }
        }
    };
}

const COUNT: RangeInclusive<i64> = 0..=1_000_000;
const PER_MILLE: RangeInclusive<i64> = 0..=1_000;
/// Seven days.
const TIME_MS: RangeInclusive<i64> = 0..=604_800_000;
const TIME_US: RangeInclusive<i64> = 0..=604_800_000_000;
const SIZE: RangeInclusive<i64> = 0..=i64::MAX;

sections! {
    /// How long a run is, in simulated time.
    Time time {
        /// How long faults go on, in milliseconds.
        chaos_ms = 2_000, 1..=604_800_000;
        /// How long only healing goes on afterwards, in milliseconds.
        settle_ms = 5_000, 100..=604_800_000;
    }
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
    /// Which links exist and what they are like. Neighbours on a ring are always linked.
    Links links {
        /// Nodes that many others talk to and that most faults strike.
        hubs = 4, COUNT;
        /// Nodes linked to each hub.
        spokes = 5, 1..=64;
        /// Further links between random nodes.
        chords = 8, COUNT;
        /// Least one-way latency of a link in microseconds.
        latency_us = 1_000, TIME_US;
        /// Most latency on top, drawn for each frame, in microseconds.
        jitter_us = 500, TIME_US;
        /// Bandwidth of each direction in bytes a second; 0 is unlimited.
        bandwidth_bytes_per_s = 0, SIZE;
        /// Channels of a connection's pool.
        channels = 2, 1..=4;
        /// Links whose channels deliver in order, in thousandths.
        ordered_per_mille = 500, PER_MILLE;
        /// Frames lost all the time, in thousandths.
        loss_per_mille = 0, PER_MILLE;
        /// Frames delivered twice all the time, in thousandths.
        duplicate_per_mille = 0, PER_MILLE;
    }
    /// What the nodes send.
    Load load {
        /// Bursts of messages in all.
        bursts = 60, COUNT;
        /// Bursts between a hub and its spokes, in thousandths; the rest goes between other linked nodes.
        hub_per_mille = 800, PER_MILLE;
        /// Bursts that travel over a relay, in thousandths.
        relayed_per_mille = 0, PER_MILLE;
        /// Streams of a hub: its bursts go on in the same few, and new ones open from wave to wave.
        streams = 16, 1..=10_000;
        /// Instants at which the bursts of one hub begin together.
        waves = 6, 1..=10_000;
        /// How far around its wave a burst begins, in microseconds.
        wave_spread_us = 2_000, TIME_US;
        /// Messages of a burst.
        messages = 4, 1..=1_000_000;
        /// Time between two of them in microseconds.
        every_us = 500, TIME_US;
        /// Bytes of data in each.
        bytes = 128, 0..=60_000_000;
        /// How often each is sent in all.
        copies = 1, 1..=100;
        /// Time between two copies in microseconds.
        copy_every_us = 300_000, TIME_US;
        /// Every this-many-th message's caller gives up its reservation; 0 for never.
        cancel_reserve_every = 0, COUNT;
        /// Every this-many-th message's caller gives up its admission; 0 for never.
        cancel_admit_every = 0, COUNT;
        /// How long a caller that gives up has waited, in microseconds.
        cancel_after_us = 300, TIME_US;
        /// Bursts after every fault has ended.
        after_quiesce_bursts = 8, COUNT;
        /// Each sender takes a fresh delegatee key this often, in milliseconds; 0 for never.
        rotate_every_ms = 0, TIME_MS;
    }
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
    /// What connections carry beside plain frames, and connections that are torn down.
    Peers peers {
        /// Bursts of a namespace that looks after its own replays; none is declared where there can be no such burst.
        namespace_bursts = 0, COUNT;
        /// Messages of each.
        namespace_messages = 6, 1..=1_000_000;
        /// Time between two of them in microseconds.
        namespace_every_us = 500, TIME_US;
        /// Of these bursts so many in a thousand travel over a relay, where there is one.
        namespace_relayed_per_mille = 0, PER_MILLE;
        /// How often each message of the namespace is sent in all.
        namespace_copies = 1, 1..=100;
        /// Time between two copies in microseconds.
        namespace_copy_every_us = 300_000, TIME_US;
        /// Messages that carry each payload of the namespace.
        envelopes = 1, 1..=1_000;
        /// Seeds in which the namespace bounds its messages itself, in thousandths.
        message_limit_per_mille = 0, PER_MILLE;
        /// Connections that are torn down, both ends alive, and made again.
        dropped_connections = 0, COUNT;
        /// How long such a connection is gone, in milliseconds.
        dropped_ms = 50, TIME_MS;
        /// Delegations that a sender refers to on one connection; 0 for none, and every frame carries its own.
        references_sent = 0, 0..=65_536;
        /// Delegations that a receiver keeps of one connection.
        references_received = 128, 1..=65_536;
        /// Bytes of a piece of a message that is too long for a frame; 0 where no message may be.
        chunk_bytes = 0, 0..=64_512;
        /// Messages of one peer that may wait for pieces.
        pending_messages = 512, 1..=65_536;
        /// Bytes that everything that waits for pieces may cost.
        reassembly_bytes = 240_000_000, 1..=1_000_000_000;
        /// Bytes that what waits of one peer may cost.
        peer_reassembly_bytes = 67_500_128, 1..=1_000_000_000;
        /// Messages of one peer that are remembered as complete.
        tombstones = 1_024, 0..=65_536;
        /// Bursts of messages that are cut into pieces.
        long_bursts = 0, COUNT;
        /// Messages of each.
        long_messages = 2, 1..=1_000_000;
        /// Time between two of them in microseconds.
        long_every_us = 5_000, TIME_US;
        /// Bytes of data in each.
        long_bytes = 100_000, 0..=59_000_000;
        /// How often each is sent in all.
        long_copies = 1, 1..=100;
        /// Time between two copies in microseconds.
        long_copy_every_us = 300_000, TIME_US;
        /// Messages of a class that an application takes before it has handled one; 0 for any number.
        mailbox_messages = 0, COUNT;
    }
    /// The ring that nodes live on: any two members can be linked, each pair within the bounds of the links' section.
    RingKeys ring {
        /// Length of a successor list; 0 for no ring.
        successors = 0, 0..=15;
        /// Time between two maintenance passes of a member, in milliseconds.
        maintenance_ms = 60_000, 1..=86_400_000;
        /// Hops that a message may take.
        hop_budget = 64, 1..=64;
        /// Nodes that are no members when the run begins; each joins at some time.
        outside = 0, COUNT;
        /// Leaves of members.
        leaves = 0, COUNT;
        /// Of these, so many in a thousand say so and hand over what they hold.
        hand_off_per_mille = 500, PER_MILLE;
        /// How long what a member answers for takes to get to the one that takes it over, in milliseconds.
        hand_off_ms = 20, 0..=86_400_000;
        /// How long a node that left stays away, in milliseconds.
        away_ms = 600_000, TIME_MS;
    }
    /// Adversaries, who record every frame.
    Adversaries adversaries {
        /// Recorded frames sent again.
        replays = 0, COUNT;
        /// Of these, sent on another lane, in thousandths.
        other_lane_per_mille = 200, PER_MILLE;
        /// Parties that flood a node each with transactions of fresh accounts.
        parties = 0, 0..=64;
        /// Nodes of the first party, each with a connection to its victim.
        party_slots = 1, 1..=1_000;
        /// How many times as many nodes each further party has.
        party_factor = 8, 1..=64;
        /// Fresh accounts of each node of a party.
        flood_keys = 100, 0..=100_000;
        /// Time between two transactions of one node of a party in microseconds.
        flood_every_us = 1_000, TIME_US;
        /// Floods that come again once what they left is spent, or may be.
        flood_waves = 1, 1..=100;
        /// Time between two waves in milliseconds.
        flood_wave_ms = 5_000, TIME_MS;
        /// Nodes of a party that send through an honest neighbour of their victim, in thousandths.
        flood_relayed_per_mille = 0, PER_MILLE;
        /// Accounts that send a second transaction, through an honest neighbour of their victim, in thousandths.
        flood_again_per_mille = 0, PER_MILLE;
        /// Floods of application traffic, which is remembered for seven days, in thousandths.
        flood_application_per_mille = 0, PER_MILLE;
        /// How far ahead of its clock a flooder stamps, in milliseconds.
        flood_stamp_ms = 0, -86_400_000..=86_400_000;
        /// Floods of which a proof is forged, in thousandths.
        forged_per_mille = 0, PER_MILLE;
        /// Times at which the connections of a party, and some others of its victim, are retired and admitted anew.
        rotations = 0, COUNT;
        /// Connections between honest nodes that are retired and admitted anew.
        reconnects = 0, COUNT;
        /// How long a retired connection is away, in microseconds.
        away_us = 20_000, TIME_US;
        /// Out-of-band signals to each party's victim.
        signals = 0, COUNT;
        /// Backups of a sending node's disk that are put back.
        put_backs = 0, COUNT;
        /// Second runtimes that are started beside a sending node, with a copy of its disk and under its account.
        second_runtimes = 0, COUNT;
    }
    /// Acts of an operator on stores, and their damage at rest. Each strikes another node; its stream goes on after it.
    StoreActs store {
        /// Records removed, whose markers stay.
        records_removed = 0, COUNT;
        /// Markers removed, whose records stay.
        markers_removed = 0, COUNT;
        /// Records that take the name of another.
        records_renamed = 0, COUNT;
        /// Records that take their own name in upper case.
        upper_case = 0, COUNT;
        /// Pairs of records that change places.
        records_swapped = 0, COUNT;
        /// Records cut short.
        records_truncated = 0, COUNT;
        /// Records with a flipped bit.
        bits_flipped = 0, COUNT;
        /// Records with a sector that cannot be read.
        unreadable = 0, COUNT;
        /// Stores whose directory cannot be listed by the next opens.
        unlisted = 0, COUNT;
        /// Stores whose directory is removed while their node runs, and some time before it restarts.
        roots_removed = 0, COUNT;
        /// Stores opened with a budget below what they hold.
        budgets_lowered = 0, COUNT;
        /// Stores removed while their node is stopped.
        stores_removed = 0, COUNT;
        /// Receivers' streams that an operator clears.
        cleared_receivers = 0, COUNT;
        /// Senders' streams that an operator clears.
        cleared_senders = 0, COUNT;
        /// Receivers' records of a build that did not charge streams.
        without_charge = 0, COUNT;
        /// Snapshots of all streams, of an older build.
        shared_snapshots = 0, COUNT;
        /// How long a node is stopped for it, in microseconds.
        stopped_us = 20_000, 1..=3_600_000_000;
    }
    /// Mail: what is held for nodes that are away, and what they do with it.
    Mail mail {
        /// How long a carrier keeps mail, in milliseconds; 0: no mail is held at all.
        lifetime_ms = 0, TIME_MS;
        /// Bytes of mail that a carrier keeps in all.
        carrier_bytes = 1_048_576, 1..=1_099_511_627_776;
        /// Time between two drain passes of a node, in milliseconds.
        drain_every_ms = 60_000, 1..=604_800_000;
        /// How long an application has mail before it takes it, in microseconds.
        take_after_us = 20_000, TIME_US;
        /// Times in which a hub is away while mail for it is sent, is back, and drains.
        absences = 0, COUNT;
        /// Origins of the mail of one absence.
        origins = 3, 1..=64;
        /// Mails of each.
        mails = 8, 1..=64;
        /// How long the hub is away, in milliseconds.
        away_ms = 400, 1..=604_800_000;
        /// Absences after which the hub dies again between admission and taking, in thousandths.
        dies_per_mille = 0, PER_MILLE;
        /// Messages that overtake the mail in its streams before it is delivered again.
        overtaking = 0, 0..=1_000;
        /// Absences in which one carrier loses the mail, in thousandths.
        carrier_lost_per_mille = 0, PER_MILLE;
        /// Absences in which no carrier is to be reached for a while after the mail was delivered, in thousandths.
        unreachable_per_mille = 0, PER_MILLE;
        /// Absences in which the application takes nothing until the hub has died, in thousandths.
        refusing_per_mille = 0, PER_MILLE;
        /// Absences in which every carrier loses the mail, in thousandths.
        lost_per_mille = 0, PER_MILLE;
        /// Times in which 64 deliveries fill custody, are lost at every carrier, and more mail comes.
        stalls = 0, COUNT;
        /// Times in which 64 deliveries fill custody, and an operator removes the hub's store.
        resets = 0, COUNT;
        /// Times in which an adversary mails a hub under fresh accounts.
        floods = 0, COUNT;
        /// Mails of each flood.
        flood_mails = 64, 1..=10_000;
    }
}

/// One scenario.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Scenario {
    /// Its name.
    pub name: String,
    /// What it is for, in one sentence.
    pub about: String,
    /// How many nodes.
    pub nodes: u32,
    /// The number of nodes that the counts of bursts, hubs, chords and faults are written for; another number of nodes
    /// scales them in proportion.
    pub counts_for: u32,
    /// Whether signatures are real.
    pub crypto: Vec<(Crypto, u32)>,
    /// How disks keep what is not flushed.
    pub disk: Vec<(DiskProfile, u32)>,
    /// Everything else.
    pub sections: Sections,
    /// Of a thousand seeds of a series over several scenarios, so many are run.
    pub seeds_per_thousand: u32,
    /// The ceiling of each known limit in one run.
    pub limits: BTreeMap<String, u64>,
}

impl Scenario {
    /// This scenario with nothing in it but its load and its scenes, on links without a bound, and scenes that last.
    #[must_use]
    pub fn quieted(&self) -> Self {
        let Ok(calm) = Sections::read(&mut Defaults);
        let mut quiet = self.clone();
        let sections = &mut quiet.sections;
        sections.crashes = calm.crashes;
        sections.disks = calm.disks;
        sections.network = calm.network;
        sections.handlers = calm.handlers;
        sections.clocks = calm.clocks;
        sections.links.bandwidth_bytes_per_s = Draw::Fixed(0);
        sections.links.jitter_us = calm.links.jitter_us;
        sections.load.bytes = calm.load.bytes;
        sections.time.chaos_ms = sections.scenes.quiet_chaos_ms.clone();
        sections.scenes.lasts_ms = sections.scenes.quiet_chaos_ms.clone();
        quiet
    }

    /// A count drawn for this scenario's number of nodes.
    pub fn scaled(&self, draw: &Draw, dice: &mut Dice) -> u64 {
        self.for_nodes(draw.roll_u64(dice))
    }

    /// A count of the file for this scenario's number of nodes: never zero where the file's is not.
    #[must_use]
    pub fn for_nodes(&self, count: u64) -> u64 {
        let scaled = u128::from(count) * u128::from(self.nodes) / u128::from(self.counts_for.max(1));
        u64::try_from(scaled).unwrap_or(u64::MAX).max(count.min(1))
    }
}

/// The values of every key where a file says nothing.
#[derive(Debug)]
pub struct Defaults;

impl KeySource for Defaults {
    type Error = std::convert::Infallible;

    fn draw(&mut self, key: &Key) -> Result<Draw, Self::Error> {
        Ok(Draw::Fixed(key.default))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Keys(Vec<Key>);

    impl KeySource for Keys {
        type Error = std::convert::Infallible;

        fn draw(&mut self, key: &Key) -> Result<Draw, Self::Error> {
            self.0.push(key.clone());
            Ok(Draw::Fixed(key.default))
        }
    }

    #[test]
    fn every_default_lies_in_its_range_and_every_key_says_what_it_is() {
        let mut keys = Keys(Vec::new());
        let Ok(_) = Sections::read(&mut keys);
        assert!(keys.0.len() > 80);
        for key in keys.0 {
            assert!(key.range.contains(&key.default), "{}.{}", key.section, key.name);
            assert!(key.about.ends_with('.') && !key.about.contains("  "), "{}.{}", key.section, key.name);
        }
    }
}
