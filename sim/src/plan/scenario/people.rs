//! What others do: members that come and go, adversaries, operators.

use super::keys::{COUNT, Key, KeySource, PER_MILLE, TIME_MS, TIME_US, section};
use crate::plan::dice::Draw;

section! {
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
}

section! {
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
}

section! {
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
}
