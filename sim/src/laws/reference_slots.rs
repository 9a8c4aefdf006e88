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
    /// Whom else the stream was charged to when it arrived, or since.
    also: SmallVec<[Introducer; 1]>,
    /// Who brought the same bytes and was answered: that answer may have been this one's.
    or: SmallVec<[Introducer; 1]>,
    spent: WallMs,
    wall: WallMs,
    /// Whether an earlier admission's clock was ahead of this one's.
    behind: bool,
    /// Why a new stream could not be admitted when it arrived, for sure.
    over: Option<OverClaim>,
    /// Streams that had moved when it arrived.
    moved: u64,
}

/// A stream of the node, by the order in which they were met: what is filed under it is small and compared fast.
type StreamNumber = u32;

/// Streams by spent instant. A stream's present place may be earlier than it belongs, never later: it is put right when it
/// comes first, so that an admission does not pay for the streams beside it.
type SpentSet = BTreeSet<(WallMs, StreamNumber)>;

/// What is known of one stream.
#[derive(Default)]
struct Known {
    /// Whom it is charged to, as far as was told, and when it is spent.
    charged: Option<(Introducer, WallMs)>,
    /// Its place among what may be charged to that introducer, and among what surely is.
    may_at: Option<WallMs>,
    sure_at: Option<WallMs>,
    open: SmallVec<[Open; 1]>,
    /// When it is spent by what was told while others of it were not: its own first may be among them.
    told_ahead: Option<WallMs>,
    /// It may have begun anew without anybody being told: who else it may be charged to since.
    unsure: BTreeSet<Introducer>,
}

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
    /// Streams that went from one introducer to another while nobody knew of the refusal: counted above, wherever they went.
    pub moved: u64,
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
    numbers: FxHashMap<StreamKey, StreamNumber>,
    streams: Vec<Known>,
    open_of: FxHashMap<Introducer, u64>,
    /// What may be charged, told or not.
    may: FxHashMap<Introducer, SpentSet>,
    /// What surely is.
    sure: SpentSet,
    sure_of: BTreeMap<Introducer, u64>,
    latest: WallMs,
    /// Streams that began anew through somebody else than before.
    moved: u64,
    taken: BTreeSet<SlotIndex>,
    /// New streams of each slot since its connection was admitted.
    own: FxHashMap<SlotIndex, u64>,
}

fn number(stream: usize) -> StreamNumber {
    StreamNumber::try_from(stream).expect("a run has fewer streams than there are numbers")
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
        if touch.is_of_all() {
            (0..self.streams.len()).for_each(|stream| self.is_not_sure(stream));
            return;
        }
        for (_, stream, _) in &touch.records {
            if let Some(stream) = self.numbers.get(stream) {
                self.is_not_sure(*stream as usize);
            }
        }
    }

    fn is_not_sure(&mut self, stream: usize) {
        let known = &mut self.streams[stream];
        if let (Some(at), Some((introducer, _))) = (known.sure_at.take(), known.charged) {
            self.sure.remove(&(at, number(stream)));
            *self.sure_of.entry(introducer).or_default() -= 1;
        }
    }

    fn number_of(&mut self, stream: &StreamKey) -> usize {
        let next = number(self.streams.len());
        let number = *self.numbers.entry(*stream).or_insert(next);
        if number == next {
            self.streams.push(Known::default());
        }
        number as usize
    }

    /// What was not answered may have become durable all the same.
    fn booted(&mut self) {
        self.taken.clear();
        self.own.clear();
        self.open_of.clear();
        for stream in 0..self.streams.len() {
            self.streams[stream].told_ahead = None;
            let opens = std::mem::take(&mut self.streams[stream].open);
            opens.iter().for_each(|open| self.may_have_landed(stream, open));
        }
    }

    /// What nobody was told of, or what failed, may be on the disk and be found there by the next life.
    fn may_have_landed(&mut self, stream: usize, open: &Open) {
        for introducer in [open.introducer].iter().chain(&open.also).chain(&open.or) {
            self.may_be_charged(stream, *introducer, open.spent);
        }
        for introducer in [open.introducer].iter().chain(&open.or) {
            self.may_have_begun(stream, *introducer);
        }
    }

    /// A first admission of the stream may be durable and untold: it is charged to nobody for sure until one is told.
    fn may_have_begun(&mut self, stream: usize, introducer: Introducer) {
        let known = &mut self.streams[stream];
        if known.charged.is_some_and(|(charged, _)| charged == introducer) {
            return;
        }
        known.unsure.insert(introducer);
        self.is_not_sure(stream);
    }

    /// One entry more beside the stream's own place, which must not be taken for it.
    fn may_be_charged(&mut self, stream: usize, introducer: Introducer, spent: WallMs) {
        self.put_right(stream);
        self.may.entry(introducer).or_default().insert((spent, number(stream)));
    }

    /// Puts the stream where it belongs among what may be charged.
    fn put_right(&mut self, stream: usize) {
        let known = &mut self.streams[stream];
        if let (Some((introducer, spent)), Some(at)) = (known.charged, known.may_at)
            && at != spent
        {
            let may = self.may.entry(introducer).or_default();
            may.remove(&(at, number(stream)));
            may.insert((spent, number(stream)));
            known.may_at = Some(spent);
        }
    }

    fn arrived(&mut self, wall: WallMs, transaction: &Transaction, passage: Passage, introducer: Introducer) {
        let behind = wall < self.latest;
        self.latest = self.latest.max(wall);
        let over = self.over_claim(&transaction.stream, introducer);
        let stream = self.number_of(&transaction.stream);
        let known = &mut self.streams[stream];
        let also = known.charged.map(|(charged, _)| charged).filter(|charged| *charged != introducer);
        let also: SmallVec<[Introducer; 1]> = also.into_iter().collect();
        for introducer in [introducer].iter().chain(&also) {
            *self.open_of.entry(*introducer).or_default() += 1;
        }
        known.open.push(Open {
            sequence: transaction.sequence.0,
            word: DigestKey::word(&transaction.digest),
            passage,
            introducer,
            also,
            or: SmallVec::new(),
            spent: spent(transaction),
            wall,
            behind,
            over,
            moved: self.moved,
        });
    }

    fn answered(&mut self, transaction: &Transaction, passage: Passage, answer: Answer) -> Option<Seen> {
        let (sequence, word) = (transaction.sequence.0, DigestKey::word(&transaction.digest));
        let stream = self.number_of(&transaction.stream);
        let opens = &mut self.streams[stream].open;
        let is_this = |open: &Open| (open.sequence, open.word, open.passage) == (sequence, word, passage);
        let place = opens.iter().position(is_this)?;
        let open = opens.remove(place);
        // Two may have brought the same bytes: nobody sees which of them this answers.
        let mut others = open.or.clone();
        for other in opens.iter_mut().filter(|other| is_this(other) && other.introducer != open.introducer) {
            others.push(other.introducer);
            other.or.push(open.introducer);
            *self.open_of.entry(open.introducer).or_default() += 1;
        }
        for introducer in [open.introducer].iter().chain(&open.also).chain(&open.or) {
            *self.open_of.entry(*introducer).or_default() -= 1;
        }
        match answer {
            Answer::Verdict(VerdictKind::First) => {
                self.began(stream, &open, &others);
                return open.over.filter(|_| others.is_empty()).map(Seen::BegunBeyond);
            }
            Answer::Verdict(verdict) if verdict.dispatches() => self.went_on(stream, &open),
            Answer::Refused(super::available::CAPACITY) if others.is_empty() => {
                return Some(Seen::Refused(self.refused(&open)));
            }
            Answer::FailedBatch | Answer::Unscheduled => self.may_have_landed(stream, &open),
            Answer::Verdict(_) | Answer::Refused(_) => {}
        }
        None
    }

    /// It is charged to who brought this, or to one of `others` who brought the same.
    fn began(&mut self, stream: usize, open: &Open, others: &[Introducer]) {
        self.is_not_sure(stream);
        let known = &mut self.streams[stream];
        known.unsure.clear();
        // Of one batch, an advance may be told before the first that it follows.
        let spent = known.told_ahead.take().map_or(open.spent, |ahead| ahead.max(open.spent));
        if let (Some(at), Some((introducer, _))) = (known.may_at.take(), known.charged) {
            self.may.entry(introducer).or_default().remove(&(at, number(stream)));
            self.moved += u64::from(introducer != open.introducer);
        }
        known.charged = Some((open.introducer, spent));
        self.stands_in_both(stream);
        // What is not answered yet may already have made it last longer.
        for untold in &mut self.streams[stream].open {
            if untold.introducer != open.introducer && !untold.also.contains(&open.introducer) {
                untold.also.push(open.introducer);
                *self.open_of.entry(open.introducer).or_default() += 1;
            }
        }
        for introducer in others {
            self.may_be_charged(stream, *introducer, spent);
            self.may_have_begun(stream, *introducer);
        }
        for introducer in std::iter::once(&open.introducer).chain(others) {
            if let Introducer::Slot(slot) = introducer
                && let Some(own) = self.own.get_mut(slot)
            {
                *own += 1;
            }
        }
    }

    fn went_on(&mut self, stream: usize, open: &Open) {
        let until = open.spent;
        for introducer in self.streams[stream].unsure.clone() {
            self.may_be_charged(stream, introducer, until);
        }
        let known = &mut self.streams[stream];
        let is_alone = known.open.is_empty();
        known.told_ahead = (!is_alone).then(|| known.told_ahead.map_or(until, |ahead| ahead.max(until)));
        let Some((_, spent)) = &mut known.charged else { return };
        // What was spent when this arrived has begun anew since, by a first that is not told yet, or had been told less.
        let is_sure = is_alone || *spent >= open.wall;
        *spent = until.max(*spent);
        if known.unsure.is_empty() && is_sure {
            self.stands_in_both(stream);
            return;
        }
        self.is_not_sure(stream);
        self.stands(stream);
    }

    /// The stream has a place among what may be charged, and among what surely is.
    fn stands_in_both(&mut self, stream: usize) {
        self.stands(stream);
        let known = &mut self.streams[stream];
        if let (None, Some((introducer, spent))) = (known.sure_at, known.charged) {
            self.sure.insert((spent, number(stream)));
            known.sure_at = Some(spent);
            *self.sure_of.entry(introducer).or_default() += 1;
        }
    }

    fn stands(&mut self, stream: usize) {
        let known = &mut self.streams[stream];
        if let (None, Some((introducer, spent))) = (known.may_at, known.charged) {
            self.may.entry(introducer).or_default().insert((spent, number(stream)));
            known.may_at = Some(spent);
        }
    }

    fn refused(&mut self, open: &Open) -> RefusedNew {
        let pending = self.open_of.get(&open.introducer).copied().unwrap_or(0);
        let own = match open.introducer {
            Introducer::Slot(slot) => self.own.get(&slot).copied().unwrap_or(u64::MAX),
            Introducer::Inbox | Introducer::Own => u64::MAX,
        };
        self.put_right_before(open.introducer, self.latest);
        self.forget_long_spent(open.introducer);
        let may = self.may.entry(open.introducer).or_default();
        let unspent = may.iter().rev().take_while(|(spent, _)| *spent >= open.wall).count();
        // It was refused some time before this was told.
        let moved = self.moved - open.moved;
        RefusedNew {
            introducer: open.introducer,
            most: may.len() as u64 + pending + moved,
            own,
            most_unspent: (!open.behind).then_some(unspent as u64 + pending + moved),
            moved,
        }
    }

    /// What stands before `until` among what may be charged to the introducer stands where it belongs.
    fn put_right_before(&mut self, introducer: Introducer, until: WallMs) {
        let may = self.may.entry(introducer).or_default();
        let before: Vec<_> = may.range(..(until, StreamNumber::MIN)).copied().collect();
        for (at, stream) in before {
            if self.streams[stream as usize].may_at == Some(at) {
                self.put_right(stream as usize);
            }
        }
    }

    fn forget_long_spent(&mut self, introducer: Introducer) {
        let (latest, may) = (self.latest, self.may.entry(introducer).or_default());
        while let Some((spent, stream)) = may.first().copied()
            && spent.plus_ms(MAY_LINGER_MS) < latest
        {
            may.pop_first();
            let known = &mut self.streams[stream as usize];
            let is_its_place = known.charged.is_some_and(|(charged, _)| charged == introducer);
            known.may_at = known.may_at.filter(|at| !is_its_place || *at != spent);
        }
    }

    /// What surely is charged now, by introducer.
    pub fn surely(&mut self) -> &BTreeMap<Introducer, u64> {
        while let Some((at, stream)) = self.sure.first().copied()
            && at < self.latest
        {
            self.sure.pop_first();
            let known = &mut self.streams[stream as usize];
            let (introducer, spent) = known.charged.expect("what surely is charged is charged to somebody");
            if spent < self.latest {
                known.sure_at = None;
                *self.sure_of.entry(introducer).or_default() -= 1;
            } else {
                known.sure_at = Some(spent);
                self.sure.insert((spent, stream));
            }
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
        let number = self.numbers.get(stream)?;
        self.streams[*number as usize].charged.map(|(_, spent)| spent)
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
