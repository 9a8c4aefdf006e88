//! The buckets of one lane: a bounded table that forgets a bucket only where forgetting changes nothing.
//!
//! Promise: a bucket gives up its place only once it is full, when it is what a new one would be; of those the one that
//! was touched longest ago, and then the lowest key. Every change can be taken back exactly.

use super::bucket::{Flow, Tokens};
use super::{LaneQuota, MessageLimit, QuotaError, QuotaUndo};
use crate::streams::key::StreamKey;
use crate::units::MonotonicNs;
use indexmap::IndexMap;
use rustc_hash::FxBuildHasher;
use std::collections::BTreeSet;

/// The two buckets of one key, as they were at one instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Buckets {
    pub(super) last_refill: MonotonicNs,
    pub(super) messages: Tokens,
    pub(super) bytes: Tokens,
}

/// What a lane's limits come to.
#[derive(Clone, Copy, Debug)]
struct Flows {
    messages: Flow,
    bytes: Flow,
}

impl Flows {
    const fn full(self, now: MonotonicNs) -> Buckets {
        Buckets { last_refill: now, messages: self.messages.full(), bytes: self.bytes.full() }
    }

    fn refilled(self, buckets: &Buckets, now: MonotonicNs) -> Result<Buckets, QuotaError> {
        let last_refill = buckets.last_refill;
        let elapsed_ns =
            now.0.checked_sub(last_refill.0).ok_or(QuotaError::ClockRegressed { last_refill, now })?;
        Ok(Buckets {
            last_refill: now,
            messages: buckets.messages.refilled(elapsed_ns, self.messages),
            bytes: buckets.bytes.refilled(elapsed_ns, self.bytes),
        })
    }

    /// The instant from which on both buckets are full; later than any clock where that never comes.
    fn full_from(self, buckets: &Buckets) -> u128 {
        let messages = buckets.messages.full_after_ns(self.messages);
        let bytes = buckets.bytes.full_after_ns(self.bytes);
        u128::from(buckets.last_refill.0) + messages.max(bytes)
    }
}

/// Who gives up its place next. Kept only while the table is at its bound, so that a node with few origins pays nothing.
#[derive(Debug, Default)]
struct Order {
    /// Keys that were not full when they were last looked at, by the instant from which on they are.
    filling: BTreeSet<(u128, StreamKey)>,
    /// Keys that were full, by the instant at which they were last refilled.
    full: BTreeSet<(MonotonicNs, StreamKey)>,
}

impl Order {
    fn add(&mut self, key: &StreamKey, buckets: &Buckets, flows: Flows) {
        self.filling.insert((flows.full_from(buckets), *key));
    }

    fn remove(&mut self, key: &StreamKey, buckets: &Buckets, flows: Flows) {
        if !self.filling.remove(&(flows.full_from(buckets), *key)) {
            let was_there = self.full.remove(&(buckets.last_refill, *key));
            debug_assert!(was_there, "every key has one place in the order");
        }
    }
}

#[derive(Debug)]
pub(super) struct Lane {
    flows: Flows,
    capacity: usize,
    buckets: IndexMap<StreamKey, Buckets, FxBuildHasher>,
    order: Option<Order>,
}

impl Lane {
    pub(super) fn new(limits: &LaneQuota) -> Self {
        let LaneQuota { messages_per_s, message_burst, bytes_per_s, byte_burst, records } = *limits;
        Self {
            flows: Flows {
                messages: Flow { per_s: messages_per_s, burst: message_burst },
                bytes: Flow { per_s: bytes_per_s, burst: byte_burst },
            },
            capacity: records,
            buckets: IndexMap::default(),
            order: None,
        }
    }

    pub(super) fn len(&self) -> usize {
        self.buckets.len()
    }

    pub(super) fn iter(&self) -> impl Iterator<Item = (&StreamKey, &Buckets)> {
        self.buckets.iter()
    }

    /// See [`super::OriginQuota::reserve`].
    pub(super) fn reserve(
        &mut self,
        key: &StreamKey,
        cost_bytes: u64,
        limit: MessageLimit,
        now: MonotonicNs,
    ) -> (Result<(), QuotaError>, Option<QuotaUndo>) {
        let previous = self.buckets.get(key).copied();
        let refilled = match &previous {
            Some(buckets) => match self.flows.refilled(buckets, now) {
                Ok(refilled) => refilled,
                Err(regressed) => return (Err(regressed), None),
            },
            None => self.flows.full(now),
        };
        let charged = charge(&refilled, key, cost_bytes, limit);
        let kept = match (&charged, &previous) {
            (Ok(charged), _) => *charged,
            (Err(_), Some(_)) => refilled,
            // A first admission that is rejected leaves no record.
            (Err(_), None) => return (charged.map(drop), None),
        };
        let evicted = match previous {
            Some(_) => None,
            None => match self.make_room(now) {
                Ok(evicted) => evicted.map(Box::new),
                Err(full) => {
                    return (
                        Err(QuotaError::TableCapacityExhausted { lane: key.class, capacity: full }),
                        None,
                    );
                }
            },
        };
        self.put(key, Some(kept));
        if self.order.is_none() && self.buckets.len() >= self.capacity {
            self.order = Some(self.sorted());
        }
        (charged.map(drop), Some(QuotaUndo { key: *key, previous, evicted }))
    }

    /// Restores what `reserve` changed: the key's buckets, and those that made room for them.
    pub(super) fn undo(&mut self, undo: QuotaUndo) {
        self.put(&undo.key, undo.previous);
        if let Some(evicted) = undo.evicted {
            let (key, buckets) = *evicted;
            self.put(&key, Some(buckets));
        }
        if self.buckets.len() < self.capacity {
            self.order = None;
        }
    }

    /// Makes room for one key more; gives the one that lost its place, or the bound.
    fn make_room(&mut self, now: MonotonicNs) -> Result<Option<(StreamKey, Buckets)>, usize> {
        if self.buckets.len() < self.capacity {
            return Ok(None);
        }
        let victim = self.victim(now).ok_or(self.capacity)?;
        let buckets = *self.buckets.get(&victim).expect("the order names keys of the table");
        self.put(&victim, None);
        Ok(Some((victim, buckets)))
    }

    /// Of the keys whose buckets are full at `now`, the one refilled longest ago.
    fn victim(&mut self, now: MonotonicNs) -> Option<StreamKey> {
        let order = self.order.as_mut()?;
        let now = u128::from(now.0);
        while let Some((full_from, key)) = order.filling.first().copied()
            && full_from <= now
        {
            order.filling.pop_first();
            order.full.insert((self.buckets[&key].last_refill, key));
        }
        // The first one is full, unless the clock went backwards since it was found to be.
        let is_full = |key: &StreamKey| self.flows.full_from(&self.buckets[key]) <= now;
        order.full.iter().map(|(_, key)| key).find(|key| is_full(key)).copied()
    }

    fn put(&mut self, key: &StreamKey, buckets: Option<Buckets>) {
        let before = match buckets {
            Some(buckets) => self.buckets.insert(*key, buckets),
            None => self.buckets.swap_remove(key),
        };
        if let Some(order) = &mut self.order {
            if let Some(before) = &before {
                order.remove(key, before, self.flows);
            }
            if let Some(buckets) = &buckets {
                order.add(key, buckets, self.flows);
            }
        }
    }

    fn sorted(&self) -> Order {
        let mut order = Order::default();
        self.buckets.iter().for_each(|(key, buckets)| order.add(key, buckets, self.flows));
        order
    }
}

/// The buckets after one message; the message test comes first.
fn charge(
    buckets: &Buckets,
    key: &StreamKey,
    cost_bytes: u64,
    limit: MessageLimit,
) -> Result<Buckets, QuotaError> {
    let messages = match limit {
        MessageLimit::Enforced => {
            buckets.messages.take(1).ok_or(QuotaError::MessageRateExhausted { stream: *key })?
        }
        MessageLimit::Delegated => buckets.messages,
    };
    let bytes = buckets.bytes.take(cost_bytes).ok_or(QuotaError::ByteRateExhausted {
        stream: *key,
        cost_bytes,
        available_bytes: buckets.bytes.whole(),
    })?;
    Ok(Buckets { messages, bytes, ..*buckets })
}
