//! What nodes send, over which links, and what connections carry.

use super::keys::{COUNT, Key, KeySource, PER_MILLE, SIZE, TIME_MS, TIME_US, section};
use crate::plan::dice::Draw;

section! {
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
}

section! {
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
}

section! {
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
}

section! {
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
