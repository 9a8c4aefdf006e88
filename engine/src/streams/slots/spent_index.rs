//! Streams by the instant at which they are spent: over all, and of each introducer.
//!
//! Promise: the next spent stream of an introducer, and of all, is found in time that grows with the logarithm of their
//! number. A stream that is spent later than it stands here costs nothing until its place is first in line: it is then put
//! where it belongs. So an admission, which moves a stream's instant nearly always, does not pay for the streams beside it.

use crate::streams::key::StreamKey;
use crate::streams::record::Introducer;
use crate::units::WallMs;
use rustc_hash::FxHashMap;
use std::collections::BTreeSet;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::streams) struct SpentIndex {
    /// Of each introducer that has streams, its streams by spent instant.
    by_introducer: FxHashMap<Introducer, BTreeSet<(WallMs, StreamKey)>>,
    /// Each introducer that has streams, by the instant of its first.
    first: BTreeSet<(WallMs, Introducer)>,
}

impl SpentIndex {
    pub(in crate::streams) fn insert(&mut self, introducer: Introducer, spent: WallMs, stream: StreamKey) {
        let streams = self.by_introducer.entry(introducer).or_default();
        let before = first_of(streams);
        streams.insert((spent, stream));
        let now = first_of(streams);
        self.first_moved(introducer, before, now);
    }

    pub(in crate::streams) fn remove(&mut self, introducer: Introducer, spent: WallMs, stream: StreamKey) {
        let streams = self.by_introducer.get_mut(&introducer).expect("a stream that leaves is here");
        let before = first_of(streams);
        assert!(streams.remove(&(spent, stream)), "a stream that leaves is here");
        let now = first_of(streams);
        if now.is_none() {
            self.by_introducer.remove(&introducer);
        }
        self.first_moved(introducer, before, now);
    }

    /// A stream stands at another instant than before.
    pub(in crate::streams) fn change(
        &mut self,
        introducer: Introducer,
        (before, now): (WallMs, WallMs),
        stream: StreamKey,
    ) {
        if before == now {
            return;
        }
        let streams = self.by_introducer.get_mut(&introducer).expect("a stream that changes is here");
        let first_before = first_of(streams);
        assert!(streams.remove(&(before, stream)), "a stream that changes is here");
        streams.insert((now, stream));
        let first_now = first_of(streams);
        self.first_moved(introducer, first_before, first_now);
    }

    /// The introducer's first stream that is spent at `now`. `place` gives the instant at which a stream is spent, which is
    /// never before the one at which it stands, and takes note that it stands there from now on.
    pub(in crate::streams) fn first_spent_of(
        &mut self,
        introducer: Introducer,
        now: WallMs,
        mut place: impl FnMut(&StreamKey) -> WallMs,
    ) -> Option<StreamKey> {
        loop {
            if let Some(first) = self.settle_first_of(introducer, now, &mut place)? {
                return Some(first);
            }
        }
    }

    /// The first stream of all that is spent at `now`; see [`SpentIndex::first_spent_of`].
    pub(in crate::streams) fn first_spent(
        &mut self,
        now: WallMs,
        mut place: impl FnMut(&StreamKey) -> WallMs,
    ) -> Option<StreamKey> {
        loop {
            // Where the first of these was put in its place, another introducer's may be first.
            let (_, introducer) = *self.first.first()?;
            if let Some(first) = self.settle_first_of(introducer, now, &mut place)? {
                return Some(first);
            }
        }
    }

    /// `None` where the introducer's first stands at `now` or later; the first where it stands where it belongs.
    fn settle_first_of(
        &mut self,
        introducer: Introducer,
        now: WallMs,
        place: &mut impl FnMut(&StreamKey) -> WallMs,
    ) -> Option<Option<StreamKey>> {
        let (stands, stream) = *self.by_introducer.get(&introducer)?.first()?;
        if now <= stands {
            return None;
        }
        let spent = place(&stream);
        assert!(spent >= stands, "a stream stands no later than it is spent");
        if spent == stands {
            return Some(Some(stream));
        }
        self.change(introducer, (stands, spent), stream);
        Some(None)
    }

    /// How many streams of each introducer are spent at `now`, by what `spent` says of each.
    pub(in crate::streams) fn spent(
        &self,
        now: WallMs,
        spent: impl Fn(&StreamKey) -> WallMs,
    ) -> impl Iterator<Item = (Introducer, usize)> {
        let may_be = self.first.iter().take_while(move |(first, _)| now > *first);
        may_be.map(move |(_, introducer)| {
            let streams = self.by_introducer[introducer].iter().take_while(|(stands, _)| now > *stands);
            (*introducer, streams.filter(|(_, stream)| now > spent(stream)).count())
        })
    }

    fn first_moved(&mut self, introducer: Introducer, before: Option<WallMs>, now: Option<WallMs>) {
        if before == now {
            return;
        }
        if let Some(before) = before {
            self.first.remove(&(before, introducer));
        }
        if let Some(now) = now {
            self.first.insert((now, introducer));
        }
    }
}

fn first_of(streams: &BTreeSet<(WallMs, StreamKey)>) -> Option<WallMs> {
    streams.first().map(|(spent, _)| *spent)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::identity::Did;
    use crate::streams::key::{Class, NetworkId};
    use crate::streams::slots::SlotIndex;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    fn stream(number: u8) -> StreamKey {
        StreamKey {
            network_id: NetworkId(1),
            origin: Did([number; 20]),
            destination: Did([0; 20]),
            class: Class::Control,
        }
    }

    fn introducer(number: u8) -> Introducer {
        match number {
            0 => Introducer::Inbox,
            1 => Introducer::Own,
            slot => Introducer::Slot(SlotIndex::new(slot.into())),
        }
    }

    #[test]
    fn a_stream_is_spent_after_its_instant_and_not_at_it() {
        let mut index = SpentIndex::default();
        let (at_10, at_20) = (|_: &StreamKey| WallMs(10), |_: &StreamKey| WallMs(20));
        index.insert(introducer(0), WallMs(10), stream(1));
        assert_eq!(index.first_spent(WallMs(10), at_10), None);
        assert_eq!(index.first_spent(WallMs(11), at_10), Some(stream(1)));
        assert_eq!(index.first_spent_of(introducer(1), WallMs(11), at_10), None);
        assert_eq!(index.spent(WallMs(11), at_20).map(|(_, spent)| spent).sum::<usize>(), 0);
        assert_eq!(index.first_spent(WallMs(11), at_20), None, "it is spent later than it stood");
        index.remove(introducer(0), WallMs(20), stream(1));
        assert_eq!(index, SpentIndex::default(), "nothing is left behind");
    }

    /// What the index is to know: whose a stream is, when it is spent, and where it stands.
    #[derive(Clone, Copy)]
    struct Plain {
        by: u8,
        spent: u64,
        stands: u64,
    }

    fn first(plain: &BTreeMap<u8, Plain>, now: u64, of: Option<u8>) -> Option<StreamKey> {
        let spent = plain.iter().filter(|(_, one)| now > one.spent && of.is_none_or(|of| of == one.by));
        let by_instant = spent.map(|(number, one)| (one.spent, introducer(one.by), stream(*number)));
        by_instant.min().map(|(_, _, stream)| stream)
    }

    proptest! {
        #[test]
        fn the_first_spent_are_those_of_a_plain_list_whatever_stands_too_early(
            steps in proptest::collection::vec((0u8..12, 0u8..4, 0u64..20, 0u8..6), 1..120),
        ) {
            let mut index = SpentIndex::default();
            let mut plain: BTreeMap<u8, Plain> = BTreeMap::new();
            for (number, by, spent, what) in steps {
                match plain.get(&number).copied() {
                    None => {
                        index.insert(introducer(by), WallMs(spent), stream(number));
                        plain.insert(number, Plain { by, spent, stands: spent });
                    }
                    Some(one) if what == 0 => {
                        index.remove(introducer(one.by), WallMs(one.stands), stream(number));
                        plain.remove(&number);
                    }
                    Some(one) if spent < one.stands => {
                        index.change(introducer(one.by), (WallMs(one.stands), WallMs(spent)), stream(number));
                        plain.insert(number, Plain { spent, stands: spent, ..one });
                    }
                    Some(one) => {
                        plain.insert(number, Plain { spent, ..one });
                    }
                }
                let now = u64::from(what) * 4;
                let counted: usize = index
                    .spent(WallMs(now), |stream| WallMs(plain[&stream.origin.0[0]].spent))
                    .map(|(_, spent)| spent)
                    .sum();
                prop_assert_eq!(counted, plain.values().filter(|one| now > one.spent).count());
                for of in [None, Some(by)] {
                    let expected = first(&plain, now, of);
                    let place = |stream: &StreamKey| {
                        let one = plain.get_mut(&stream.origin.0[0]).expect("a stream that stands is there");
                        one.stands = one.spent;
                        WallMs(one.spent)
                    };
                    let found = match of {
                        None => index.first_spent(WallMs(now), place),
                        Some(by) => index.first_spent_of(introducer(by), WallMs(now), place),
                    };
                    prop_assert_eq!(found, expected);
                }
            }
        }
    }
}
