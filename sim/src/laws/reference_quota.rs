//! The quota of one node as a reference keeps it: the seed's rules without any cleverness, over what was released.
//!
//! Promise: it follows from the events that an engine reports about its transitions and batches, and from nothing that the
//! engine computed. Where it cannot know which batch a transition waited for, it says so until the node's next life.

use crate::ledger::kind::{EventKind, EventMask};
use crate::plan::Quota;
use groundhog_engine::host::observe::{EngineEvent, TransitionNumber};
use groundhog_engine::streams::key::{Class, StreamKey};
use groundhog_engine::streams::quota::{
    DELEGATED_MIN_CHARGE_BYTES, MessageLimit, QuotaCharge, encode_record,
};
use groundhog_engine::units::MonotonicNs;
use std::collections::BTreeMap;

/// Parts of a token, which a rate of one a second gains in a nanosecond each.
const PARTS: u128 = 1_000_000_000;

/// Buckets as they were at one instant, in parts of a token.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Buckets {
    last_refill: u64,
    messages: u128,
    bytes: u128,
}

type Records = BTreeMap<StreamKey, Buckets>;

/// What one charge changed: records as they were before it.
type Before = Vec<(StreamKey, Option<Buckets>)>;

/// See the module.
#[derive(Clone, Debug, Default)]
pub struct ReferenceQuota {
    records: Records,
    /// A charge whose transition has not said yet what it waits for.
    open: Option<(TransitionNumber, Before)>,
    in_flight: Vec<Before>,
    gathering: Vec<Before>,
    batch_in_flight: bool,
    batch_gathers: bool,
    /// A batch has failed, and the next one may gather what it left suspect without telling.
    suspects: bool,
    unknown: bool,
}

impl ReferenceQuota {
    /// What it is to be told.
    pub const READS: EventMask = EventMask::of(&[
        EventKind::EngineOpened,
        EventKind::EngineQuota,
        EventKind::EngineRetired,
        EventKind::EngineTransition,
        EventKind::EngineLinkLocal,
        EventKind::EngineBatchClosed,
        EventKind::EngineBatchDurable,
        EventKind::EngineBatchFailed,
    ]);

    /// What an engine reports; where it asked its quota, how the reference answers: why not, if so.
    pub fn event(&mut self, event: &EngineEvent<'_>, limits: &Quota) -> Option<Option<&'static str>> {
        match *event {
            EngineEvent::Opened { .. } => *self = Self::default(),
            EngineEvent::Quota { transition, stream, charge } => {
                let (answer, before) = self.ask(stream, &charge, limits);
                self.open = Some((transition, before));
                return (!self.unknown).then_some(answer);
            }
            EngineEvent::Retired { .. } => self.batch_gathers = true,
            EngineEvent::Transition { transition, staged, .. } => {
                self.batch_gathers |= staged.is_some();
                self.waits(transition);
            }
            EngineEvent::LinkLocal { transition, .. } => self.waits(transition),
            EngineEvent::BatchClosed { .. } => {
                self.in_flight = std::mem::take(&mut self.gathering);
                (self.batch_in_flight, self.batch_gathers, self.suspects) = (true, false, false);
            }
            EngineEvent::BatchDurable { .. } => {
                self.in_flight.clear();
                self.batch_in_flight = false;
            }
            EngineEvent::BatchFailed { .. } => self.failed(),
            _ => {}
        }
        None
    }

    /// Every record as an engine's digest takes it; `None` where they are not known.
    pub fn encoded(&self) -> Option<impl Iterator<Item = Vec<u8>>> {
        let encode = |(stream, buckets): (&StreamKey, &Buckets)| {
            encode_record(stream, MonotonicNs(buckets.last_refill), buckets.messages, buckets.bytes)
        };
        (!self.unknown).then(|| self.records.iter().map(encode))
    }

    /// A transition is decided: what it charged is taken back with the latest batch that is pending.
    fn waits(&mut self, transition: TransitionNumber) {
        let Some((_, before)) = self.open.take_if(|(open, _)| *open == transition) else { return };
        if self.batch_gathers {
            self.gathering.push(before);
        } else if self.suspects && !before.is_empty() {
            self.unknown = true;
        } else if self.batch_in_flight {
            self.in_flight.push(before);
        }
    }

    fn failed(&mut self) {
        let gathering = std::mem::take(&mut self.gathering);
        let in_flight = std::mem::take(&mut self.in_flight);
        for (stream, buckets) in gathering.into_iter().rev().chain(in_flight.into_iter().rev()).flatten() {
            match buckets {
                Some(buckets) => self.records.insert(stream, buckets),
                None => self.records.remove(&stream),
            };
        }
        (self.batch_in_flight, self.batch_gathers, self.suspects) = (false, false, true);
    }

    fn ask(
        &mut self,
        stream: &StreamKey,
        charge: &QuotaCharge,
        limits: &Quota,
    ) -> (Option<&'static str>, Before) {
        let now = charge.at.0;
        let known = self.records.get(stream).copied();
        let held = match known {
            Some(buckets) => match refilled(buckets, now, limits) {
                Some(held) => held,
                None => return (Some("quota-clock-regressed"), Before::new()),
            },
            None => full(now, limits),
        };
        let (messages, bytes) = match charge.limit {
            MessageLimit::Enforced => (PARTS, charge.data_bytes),
            MessageLimit::Delegated => (0, charge.data_bytes.max(DELEGATED_MIN_CHARGE_BYTES)),
        };
        let bytes = u128::from(bytes) * PARTS;
        let refused = if held.messages < messages {
            Some("message-rate-exhausted")
        } else if held.bytes < bytes {
            Some("byte-rate-exhausted")
        } else {
            None
        };
        let mut before = Before::new();
        match (known, refused) {
            (None, Some(_)) => return (refused, before),
            (None, None) if self.of_class(stream.class).count() >= limits.records as usize => {
                let Some(victim) = self.victim(stream.class, now, limits) else {
                    return (Some("quota-table-capacity-exhausted"), before);
                };
                before.push((victim, self.records.remove(&victim)));
            }
            _ => {}
        }
        before.insert(0, (*stream, known));
        let kept = match refused {
            Some(_) => held,
            None => Buckets { messages: held.messages - messages, bytes: held.bytes - bytes, ..held },
        };
        self.records.insert(*stream, kept);
        (refused, before)
    }

    fn of_class(&self, class: Class) -> impl Iterator<Item = (&StreamKey, &Buckets)> {
        self.records.iter().filter(move |(stream, _)| stream.class == class)
    }

    fn victim(&self, class: Class, now: u64, limits: &Quota) -> Option<StreamKey> {
        let is_full = |buckets: Buckets| refilled(buckets, now, limits) == Some(full(now, limits));
        let full = self.of_class(class).filter(|(_, buckets)| is_full(**buckets));
        full.map(|(stream, buckets)| (buckets.last_refill, *stream)).min().map(|(_, stream)| stream)
    }
}

fn full(now: u64, limits: &Quota) -> Buckets {
    let whole = |burst: u64| u128::from(burst) * PARTS;
    Buckets { last_refill: now, messages: whole(limits.message_burst), bytes: whole(limits.byte_burst) }
}

fn refilled(buckets: Buckets, now: u64, limits: &Quota) -> Option<Buckets> {
    let elapsed = u128::from(now.checked_sub(buckets.last_refill)?);
    let full = full(now, limits);
    let gained = |held: u128, per_s: u64| held.saturating_add(elapsed * u128::from(per_s));
    Some(Buckets {
        last_refill: now,
        messages: gained(buckets.messages, limits.messages_per_s).min(full.messages),
        bytes: gained(buckets.bytes, limits.bytes_per_s).min(full.bytes),
    })
}
