//! Who is charged with what, as far as it can be seen from outside: bounds from above and from below.
//!
//! Promise: read from arrivals and answers alone. A stream is *surely* charged once its first admission was told, until an
//! admission's clock is past all that it accepted. It *may* be charged from the arrival that may have begun it, until long
//! after that: nobody sees when an engine lets go of what is spent.

use super::fair_claim::OverClaim;
use super::lifespan::spent;
use super::names::DigestKey;
use super::store_acts::Touch;
use crate::ledger::event::{Answer, Event, Passage, Transaction};
use groundhog_engine::streams::key::StreamKey;
use groundhog_engine::streams::record::Introducer;
use groundhog_engine::streams::slots::{SlotBounds, SlotIndex};
use groundhog_engine::streams::window::VerdictKind;
use groundhog_engine::units::WallMs;
use rustc_hash::FxHashMap;
use smallvec::SmallVec;
use std::collections::{BTreeMap, BTreeSet};

/// What is spent may still be there for so long: admissions retire a few at a time, and clocks may be set back.
const MAY_LINGER_MS: u64 = 600_000;

/// An arrival that was not answered yet.
struct Open {
    sequence: u64,
    word: u64,
    passage: Passage,
    introducer: Introducer,
    /// Whom the stream was charged to when it arrived, if somebody else.
    also: Option<Introducer>,
    spent: WallMs,
    wall: WallMs,
    /// Whether an earlier admission's clock was ahead of this one's.
    behind: bool,
    /// Why a new stream could not be admitted when it arrived, for sure.
    over: Option<OverClaim>,
}

type SpentSet = BTreeSet<(WallMs, StreamKey)>;

/// A refusal for lack of room, and what may have been charged to its introducer then.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RefusedNew {
    /// Through whom the stream came.
    pub introducer: Introducer,
    /// Streams that may have been charged to it, spent ones included.
    pub most: u64,
    /// Of these, those that were not spent by the clock at the admission; `None` where the clock was set back.
    pub most_unspent: Option<u64>,
    /// New streams that the slot's present connection brought; as many as can be for who has no slot.
    pub own: u64,
}

/// What an answer says of charges.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seen {
    /// A new stream was refused.
    Refused(RefusedNew),
    /// A new stream was admitted, though its slot had its claim already when it arrived.
    BegunBeyond(OverClaim),
}

/// Charges of one node.
#[derive(Default)]
pub struct ReferenceSlots {
    /// What slots are held to; `None` where nobody asks.
    bounds: Option<SlotBounds>,
    streams: FxHashMap<StreamKey, (Introducer, WallMs)>,
    open: FxHashMap<StreamKey, SmallVec<[Open; 2]>>,
    open_of: FxHashMap<Introducer, u64>,
    /// What may be charged, told or not.
    may: FxHashMap<Introducer, SpentSet>,
    /// What surely is.
    sure: BTreeSet<(WallMs, Introducer, StreamKey)>,
    sure_of: BTreeMap<Introducer, u64>,
    /// Streams that may have begun anew without anybody being told, with who else they may be charged to since.
    unsure: FxHashMap<StreamKey, BTreeSet<Introducer>>,
    latest: WallMs,
    taken: BTreeSet<SlotIndex>,
    /// New streams of each slot since its connection was admitted.
    own: FxHashMap<SlotIndex, u64>,
}

impl ReferenceSlots {
    /// New streams are held against these bounds.
    pub const fn held_to(&mut self, bounds: SlotBounds) {
        self.bounds = Some(bounds);
    }

    /// Reads one event of the node.
    pub fn event(&mut self, event: &Event<'_>) -> Option<Seen> {
        match event {
            Event::Booted { .. } => self.booted(),
            Event::Arrived { wall, transaction, passage, introducer, .. } => {
                self.arrived(*wall, transaction, *passage, *introducer);
            }
            Event::Answered { transaction, passage, answer, .. } => {
                return self.answered(transaction, *passage, *answer);
            }
            Event::ConnectionAdmitted { slot, .. } => {
                self.taken.insert(*slot);
                self.own.insert(*slot, 0);
            }
            Event::ConnectionRetired { slot, .. } => {
                self.taken.remove(slot);
            }
            _ => {}
        }
        None
    }

    /// Somebody touches records of the node: nobody sees whether the next open charges their streams to anybody.
    pub fn touched(&mut self, touch: &Touch) {
        if !touch.changes_records() {
            return;
        }
        let is_touched = |stream: &StreamKey| {
            touch.is_of_all() || touch.records.iter().any(|(_, touched, _)| touched == stream)
        };
        let unsure: Vec<_> = self.sure.iter().filter(|(_, _, stream)| is_touched(stream)).copied().collect();
        for sure in unsure {
            self.sure.remove(&sure);
            *self.sure_of.entry(sure.1).or_default() -= 1;
        }
    }

    /// What was not answered may have become durable all the same.
    fn booted(&mut self) {
        self.taken.clear();
        self.own.clear();
        self.open_of.clear();
        for (stream, opens) in std::mem::take(&mut self.open) {
            opens.iter().for_each(|open| self.may_have_landed(&stream, open));
        }
    }

    /// What nobody was told of, or what failed, may be on the disk and be found there by the next life.
    fn may_have_landed(&mut self, stream: &StreamKey, open: &Open) {
        for introducer in [Some(open.introducer), open.also].into_iter().flatten() {
            self.may.entry(introducer).or_default().insert((open.spent, *stream));
        }
        self.may_have_begun(stream, open.introducer);
    }

    /// A first admission of the stream may be durable and untold: it is charged to nobody for sure until one is told.
    fn may_have_begun(&mut self, stream: &StreamKey, introducer: Introducer) {
        let known = self.streams.get(stream).copied();
        if known.is_some_and(|(known, _)| known == introducer) {
            return;
        }
        self.unsure.entry(*stream).or_default().insert(introducer);
        if let Some((known, spent)) = known
            && self.sure.remove(&(spent, known, *stream))
        {
            *self.sure_of.entry(known).or_default() -= 1;
        }
    }

    fn arrived(&mut self, wall: WallMs, transaction: &Transaction, passage: Passage, introducer: Introducer) {
        let behind = wall < self.latest;
        self.latest = self.latest.max(wall);
        let known = self.streams.get(&transaction.stream).map(|(introducer, _)| *introducer);
        let also = known.filter(|known| *known != introducer);
        let over = self.over_claim(&transaction.stream, introducer);
        for introducer in [Some(introducer), also].into_iter().flatten() {
            *self.open_of.entry(introducer).or_default() += 1;
        }
        self.open.entry(transaction.stream).or_default().push(Open {
            sequence: transaction.sequence.0,
            word: DigestKey::word(&transaction.digest),
            passage,
            introducer,
            also,
            spent: spent(transaction),
            wall,
            behind,
            over,
        });
    }

    fn answered(&mut self, transaction: &Transaction, passage: Passage, answer: Answer) -> Option<Seen> {
        let (sequence, word) = (transaction.sequence.0, DigestKey::word(&transaction.digest));
        let opens = self.open.get_mut(&transaction.stream)?;
        let place = opens
            .iter()
            .position(|open| (open.sequence, open.word, open.passage) == (sequence, word, passage))?;
        let open = opens.remove(place);
        if opens.is_empty() {
            self.open.remove(&transaction.stream);
        }
        for introducer in [Some(open.introducer), open.also].into_iter().flatten() {
            *self.open_of.entry(introducer).or_default() -= 1;
        }
        match answer {
            Answer::Verdict(VerdictKind::First) => {
                self.began(&transaction.stream, &open);
                return open.over.map(Seen::BegunBeyond);
            }
            Answer::Verdict(verdict) if verdict.dispatches() => self.went_on(&transaction.stream, &open),
            Answer::Refused(super::available::CAPACITY) => return Some(Seen::Refused(self.refused(&open))),
            Answer::FailedBatch | Answer::Unscheduled => self.may_have_landed(&transaction.stream, &open),
            Answer::Verdict(_) | Answer::Refused(_) => {}
        }
        None
    }

    fn began(&mut self, stream: &StreamKey, open: &Open) {
        self.forget(stream);
        self.unsure.remove(stream);
        self.streams.insert(*stream, (open.introducer, open.spent));
        self.remember(stream, open.introducer, open.spent);
        if let Introducer::Slot(slot) = open.introducer
            && let Some(own) = self.own.get_mut(&slot)
        {
            *own += 1;
        }
    }

    fn went_on(&mut self, stream: &StreamKey, open: &Open) {
        for introducer in self.unsure.get(stream).into_iter().flatten() {
            self.may.entry(*introducer).or_default().insert((open.spent, *stream));
        }
        let Some((introducer, spent)) = self.streams.get(stream).copied() else { return };
        self.forget(stream);
        self.streams.insert(*stream, (introducer, spent.max(open.spent)));
        if self.unsure.contains_key(stream) {
            self.may.entry(introducer).or_default().insert((spent.max(open.spent), *stream));
            return;
        }
        self.remember(stream, introducer, spent.max(open.spent));
    }

    fn forget(&mut self, stream: &StreamKey) {
        let Some((introducer, spent)) = self.streams.remove(stream) else { return };
        if let Some(may) = self.may.get_mut(&introducer) {
            may.remove(&(spent, *stream));
        }
        if self.sure.remove(&(spent, introducer, *stream)) {
            *self.sure_of.entry(introducer).or_default() -= 1;
        }
    }

    fn remember(&mut self, stream: &StreamKey, introducer: Introducer, spent: WallMs) {
        self.may.entry(introducer).or_default().insert((spent, *stream));
        self.sure.insert((spent, introducer, *stream));
        *self.sure_of.entry(introducer).or_default() += 1;
    }

    fn refused(&mut self, open: &Open) -> RefusedNew {
        let pending = self.open_of.get(&open.introducer).copied().unwrap_or(0);
        let own = match open.introducer {
            Introducer::Slot(slot) => self.own.get(&slot).copied().unwrap_or(u64::MAX),
            Introducer::Inbox | Introducer::Own => u64::MAX,
        };
        let (latest, may) = (self.latest, self.may.entry(open.introducer).or_default());
        while let Some((spent, _)) = may.first()
            && spent.plus_ms(MAY_LINGER_MS) < latest
        {
            may.pop_first();
        }
        let unspent = may.iter().rev().take_while(|(spent, _)| *spent >= open.wall).count();
        RefusedNew {
            introducer: open.introducer,
            most: may.len() as u64 + pending,
            own,
            most_unspent: (!open.behind).then_some(unspent as u64 + pending),
        }
    }

    /// What surely is charged now, by introducer.
    pub fn surely(&mut self) -> &BTreeMap<Introducer, u64> {
        while let Some((spent, introducer, _)) = self.sure.first()
            && *spent < self.latest
        {
            *self.sure_of.entry(*introducer).or_default() -= 1;
            self.sure.pop_first();
        }
        &self.sure_of
    }

    /// A free slot that surely is cleaner than this one, which is about to be taken: what this one has, and what that one
    /// has at most. One that nothing ever came through has no number.
    pub fn cleaner_than(
        &mut self,
        slot: SlotIndex,
        bounds: &SlotBounds,
    ) -> Option<(Option<SlotIndex>, u64, u64)> {
        let charged = self.surely().get(&Introducer::Slot(slot)).copied().unwrap_or(0);
        if charged == 0 {
            return None;
        }
        let known: BTreeSet<SlotIndex> = self
            .may
            .keys()
            .chain(self.open_of.keys())
            .filter_map(|introducer| match introducer {
                Introducer::Slot(slot) => Some(*slot),
                Introducer::Inbox | Introducer::Own => None,
            })
            .collect();
        let touched = known.union(&self.taken).count();
        if touched < usize::from(bounds.slots) {
            return Some((None, charged, 0));
        }
        let most = |slot: SlotIndex| {
            let introducer = Introducer::Slot(slot);
            let may = self.may.get(&introducer).map_or(0, BTreeSet::len) as u64;
            may + self.open_of.get(&introducer).copied().unwrap_or(0)
        };
        let free = known.into_iter().filter(|other| *other != slot && !self.taken.contains(other));
        let cleaner = free.map(|other| (Some(other), charged, most(other)));
        cleaner.into_iter().find(|(_, _, most)| *most < charged)
    }

    /// The clock of the latest admission.
    pub(super) const fn latest(&self) -> WallMs {
        self.latest
    }

    /// What slots are held to, where anybody asks.
    pub(super) const fn bounds(&self) -> Option<SlotBounds> {
        self.bounds
    }

    /// The last instant of a stream that was admitted.
    pub(super) fn spent_of(&self, stream: &StreamKey) -> Option<WallMs> {
        self.streams.get(stream).map(|(_, spent)| *spent)
    }

    /// The most streams that may be charged to each introducer that any ever came through, in no order.
    pub(super) fn at_most(&self) -> impl Iterator<Item = (Introducer, u64)> {
        let of = |introducer| self.open_of.get(introducer).copied().unwrap_or(0);
        let known =
            self.may.iter().map(move |(introducer, may)| (*introducer, may.len() as u64 + of(introducer)));
        let new = self.open_of.iter().filter(|(introducer, _)| !self.may.contains_key(introducer));
        known.chain(new.map(|(introducer, open)| (*introducer, *open)))
    }
}
