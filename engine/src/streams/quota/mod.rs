//! The rate at which one origin may put transactions into this node: two token buckets for each stream, in memory alone.
//!
//! Promise: what an origin is admitted in any span of time is at most its burst and what its rate gains in that span. A
//! rejection consumes nothing, a reservation can be taken back exactly, and the tables are bounded. A restart forgets it
//! all: the quota protects this node's time, not its memory of what it has seen (seed 000, Receiver state machine).

mod bucket;
mod lane;
#[cfg(test)]
mod tests;

use super::key::{Class, StreamKey};
use super::wire::put_number;
use crate::units::MonotonicNs;
use lane::{Buckets, Lane};

/// What one message costs at least where the message limit is delegated, in bytes. No source gives a figure; with the
/// seed's rates this one lets 8,192 delegated messages a second pass.
pub const DELEGATED_MIN_CHARGE_BYTES: u64 = 512;

/// The limits of one lane. All of them are at least 1 in a [`QuotaConfig`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LaneQuota {
    /// Messages that a stream gains in a second.
    pub messages_per_s: u64,
    /// Messages that a stream that was silent may send at once.
    pub message_burst: u64,
    /// Bytes of data that a stream gains in a second.
    pub bytes_per_s: u64,
    /// Bytes of data that a stream that was silent may send at once. What is longer never passes.
    pub byte_burst: u64,
    /// How many streams have buckets of their own.
    pub records: usize,
}

impl LaneQuota {
    /// The seed's limits, the same for every lane.
    pub const SEED: LaneQuota = LaneQuota {
        messages_per_s: 8,
        message_burst: 32,
        bytes_per_s: 4 * 1_024 * 1_024,
        byte_burst: 64 * 1_024 * 1_024,
        records: 1_024,
    };

    /// The longest time that a full table refuses a new stream while nothing is admitted to the others, in nanoseconds.
    #[must_use]
    pub fn longest_outage_ns(&self) -> u128 {
        let flows = [(self.messages_per_s, self.message_burst), (self.bytes_per_s, self.byte_burst)];
        let refills = flows.map(|(per_s, burst)| bucket::Flow { per_s, burst }.refills_after_ns());
        refills[0].max(refills[1])
    }
}

/// A limit of zero: nothing would ever pass, which is a mistake and no policy.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the quota of lane {lane} has {limit} = 0, and nothing would ever pass: give it at least 1")]
pub struct ZeroLimit {
    /// The lane.
    pub lane: Class,
    /// The limit's name.
    pub limit: &'static str,
}

/// The limits of every lane, none of them zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaConfig {
    lanes: [LaneQuota; 4],
}

impl QuotaConfig {
    /// The seed's limits.
    pub const SEED: QuotaConfig = QuotaConfig { lanes: [LaneQuota::SEED; 4] };

    /// Limits for each lane, in the order of [`Class::ALL`].
    ///
    /// # Errors
    /// [`ZeroLimit`] names the first limit that is zero.
    pub fn new(lanes: [LaneQuota; 4]) -> Result<Self, ZeroLimit> {
        for (lane, limits) in Class::ALL.into_iter().zip(&lanes) {
            let named = [
                ("messages_per_s", limits.messages_per_s),
                ("message_burst", limits.message_burst),
                ("bytes_per_s", limits.bytes_per_s),
                ("byte_burst", limits.byte_burst),
                ("records", limits.records as u64),
            ];
            if let Some((limit, _)) = named.into_iter().find(|(_, value)| *value == 0) {
                return Err(ZeroLimit { lane, limit });
            }
        }
        Ok(Self { lanes })
    }

    /// The limits of one lane.
    #[must_use]
    pub const fn lane(&self, class: Class) -> &LaneQuota {
        &self.lanes[class.index()]
    }
}

/// Whether an admission needs a message token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum MessageLimit {
    /// It needs one and consumes it.
    Enforced,
    /// Its namespace keeps a limit of its own: the message bucket is neither asked nor charged, the byte bucket pays at
    /// least [`DELEGATED_MIN_CHARGE_BYTES`], and the bound of the table holds.
    Delegated,
}

/// Why a message is over its origin's quota. Nothing of it was consumed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum QuotaError {
    /// The message bucket is empty.
    #[error("{stream} has used up its messages for now")]
    MessageRateExhausted {
        /// The stream.
        stream: StreamKey,
    },
    /// The byte bucket holds less than the message costs.
    #[error("{stream} has {available_bytes} bytes for now, and the message costs {cost_bytes}")]
    ByteRateExhausted {
        /// The stream.
        stream: StreamKey,
        /// What the message costs.
        cost_bytes: u64,
        /// What the bucket holds.
        available_bytes: u64,
    },
    /// Every place of the lane's table is taken, by streams that are still to be remembered.
    #[error("all {capacity} quota records of lane {lane} are in use")]
    TableCapacityExhausted {
        /// The lane.
        lane: Class,
        /// Its bound.
        capacity: usize,
    },
    /// The clock went backwards since the record was last refilled: nothing can be computed, so nothing passes.
    #[error("the monotonic clock went from {} ns back to {} ns", last_refill.0, now.0)]
    ClockRegressed {
        /// What it was.
        last_refill: MonotonicNs,
        /// What it is.
        now: MonotonicNs,
    },
}

impl QuotaError {
    /// The name in kebab case.
    #[must_use]
    pub const fn id(&self) -> &'static str {
        match self {
            QuotaError::MessageRateExhausted { .. } => "message-rate-exhausted",
            QuotaError::ByteRateExhausted { .. } => "byte-rate-exhausted",
            QuotaError::TableCapacityExhausted { .. } => "quota-table-capacity-exhausted",
            QuotaError::ClockRegressed { .. } => "quota-clock-regressed",
        }
    }
}

/// What was refused, by lane in the order of [`Class::ALL`].
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct QuotaCounters {
    /// Messages for which there was no message token.
    pub message_rate_exhausted: [u64; 4],
    /// Messages for which there were too few bytes.
    pub byte_rate_exhausted: [u64; 4],
    /// Messages of new streams for which the table had no place.
    pub table_capacity_exhausted: [u64; 4],
    /// Messages at which the clock had gone backwards.
    pub arithmetic_failure: [u64; 4],
}

impl QuotaCounters {
    /// What counts this refusal.
    pub const fn of(&mut self, lane: Class, error: &QuotaError) -> &mut u64 {
        let counter = match error {
            QuotaError::MessageRateExhausted { .. } => &mut self.message_rate_exhausted,
            QuotaError::ByteRateExhausted { .. } => &mut self.byte_rate_exhausted,
            QuotaError::TableCapacityExhausted { .. } => &mut self.table_capacity_exhausted,
            QuotaError::ClockRegressed { .. } => &mut self.arithmetic_failure,
        };
        &mut counter[lane.index()]
    }

    /// All refusals.
    #[must_use]
    pub fn total(&self) -> u64 {
        let Self {
            message_rate_exhausted,
            byte_rate_exhausted,
            table_capacity_exhausted,
            arithmetic_failure,
        } = self;
        [message_rate_exhausted, byte_rate_exhausted, table_capacity_exhausted, arithmetic_failure]
            .into_iter()
            .flatten()
            .sum()
    }
}

/// One call of [`OriginQuota::reserve`] that changed the quota, or was refused.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct QuotaCharge {
    /// When.
    pub at: MonotonicNs,
    /// The length of the transaction's data.
    pub data_bytes: u64,
    /// Whether a message token was needed.
    pub limit: MessageLimit,
    /// Why it was refused, as [`QuotaError::id`] says it; `None` where it was charged.
    pub refused: Option<&'static str>,
}

/// Takes one call of [`OriginQuota::reserve`] back.
#[must_use = "a reservation whose message is not admitted is taken back"]
#[derive(Debug)]
pub struct QuotaUndo {
    key: StreamKey,
    previous: Option<Buckets>,
    evicted: Option<Box<(StreamKey, Buckets)>>,
}

/// The buckets of every stream that was lately admitted.
#[derive(Debug)]
pub struct OriginQuota {
    lanes: [Lane; 4],
}

impl OriginQuota {
    /// No stream has sent anything yet.
    #[must_use]
    pub fn new(config: &QuotaConfig) -> Self {
        Self { lanes: std::array::from_fn(|lane| Lane::new(&config.lanes[lane])) }
    }

    /// Charges one message of `data_bytes` to its stream, at `now`. `now` must be read where admissions are serialised, so
    /// that the instants of a record follow the order in which admissions hold it.
    ///
    /// The second value takes back what was changed, be it a charge or, of a rejection, a refill; undo in reverse order.
    ///
    /// # Errors
    /// [`QuotaError`]: nothing was consumed.
    pub fn reserve(
        &mut self,
        stream: &StreamKey,
        data_bytes: u64,
        limit: MessageLimit,
        now: MonotonicNs,
    ) -> (Result<(), QuotaError>, Option<QuotaUndo>) {
        let cost_bytes = match limit {
            MessageLimit::Enforced => data_bytes,
            MessageLimit::Delegated => data_bytes.max(DELEGATED_MIN_CHARGE_BYTES),
        };
        self.lanes[stream.class.index()].reserve(stream, cost_bytes, limit, now)
    }

    /// Takes one reservation back; those made after it must be taken back first.
    pub fn undo(&mut self, undo: QuotaUndo) {
        self.lanes[undo.key.class.index()].undo(undo);
    }

    /// How many streams of a lane have buckets.
    #[must_use]
    pub fn records(&self, lane: Class) -> usize {
        self.lanes[lane.index()].len()
    }

    /// Every record as [`encode_record`] writes it, for a digest; their order means nothing.
    pub fn encoded(&self) -> impl Iterator<Item = Vec<u8>> {
        self.lanes.iter().flat_map(Lane::iter).map(|(key, buckets)| {
            encode_record(key, buckets.last_refill, buckets.messages.0, buckets.bytes.0)
        })
    }
}

/// One quota record as the state digest takes it: its key, the instant of its last refill, and what its buckets held then,
/// in thousand-millionths of a token. It is never stored.
#[must_use]
pub fn encode_record(key: &StreamKey, last_refill: MonotonicNs, messages: u128, bytes: u128) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    // No record of a stream begins with this byte.
    out.push(b'q');
    put_number(&mut out, u64::from(key.network_id.0));
    out.extend_from_slice(&key.origin.0);
    out.extend_from_slice(&key.destination.0);
    out.push(key.class as u8);
    put_number(&mut out, last_refill.0);
    out.extend_from_slice(&messages.to_le_bytes());
    out.extend_from_slice(&bytes.to_le_bytes());
    out
}
