//! Streams by the instant at which they are spent: over all, and of each introducer.
//!
//! Promise: the next spent stream of an introducer, and of all, is found in time that grows with the logarithm of their
//! number, and so is a stream's place kept.

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

    /// A stream is spent at another instant than before.
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

    /// The introducer's first stream that is spent at `now`.
    pub(in crate::streams) fn first_spent_of(
        &self,
        introducer: Introducer,
        now: WallMs,
    ) -> Option<StreamKey> {
        let (spent, stream) = self.by_introducer.get(&introducer)?.first()?;
        (now > *spent).then_some(*stream)
    }

    /// The first stream of all that is spent at `now`.
    pub(in crate::streams) fn first_spent(&self, now: WallMs) -> Option<StreamKey> {
        let (spent, introducer) = self.first.first()?;
        if now > *spent { self.first_spent_of(*introducer, now) } else { None }
    }

    /// How many streams of each introducer are spent at `now`.
    pub(in crate::streams) fn spent(&self, now: WallMs) -> impl Iterator<Item = (Introducer, usize)> {
        let spent = self.first.iter().take_while(move |(first, _)| now > *first);
        spent.map(move |(_, introducer)| {
            let streams = &self.by_introducer[introducer];
            (*introducer, streams.iter().take_while(|(spent, _)| now > *spent).count())
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
        index.insert(introducer(0), WallMs(10), stream(1));
        assert_eq!(index.first_spent(WallMs(10)), None);
        assert_eq!(index.first_spent(WallMs(11)), Some(stream(1)));
        assert_eq!(index.first_spent_of(introducer(1), WallMs(11)), None);
        index.change(introducer(0), (WallMs(10), WallMs(20)), stream(1));
        assert_eq!(index.first_spent(WallMs(11)), None);
        index.remove(introducer(0), WallMs(20), stream(1));
        assert_eq!(index, SpentIndex::default(), "nothing is left behind");
    }

    proptest! {
        #[test]
        fn the_first_spent_are_those_of_a_plain_list(
            steps in proptest::collection::vec((0u8..12, 0u8..4, 0u64..20, any::<bool>()), 1..80),
            now in 0u64..22,
        ) {
            let mut index = SpentIndex::default();
            let mut plain: BTreeMap<u8, (u8, u64)> = BTreeMap::new();
            for (number, by, spent, leaves) in steps {
                match plain.get(&number).copied() {
                    None => {
                        index.insert(introducer(by), WallMs(spent), stream(number));
                        plain.insert(number, (by, spent));
                    }
                    Some((by, before)) if leaves => {
                        index.remove(introducer(by), WallMs(before), stream(number));
                        plain.remove(&number);
                    }
                    Some((by, before)) => {
                        index.change(introducer(by), (WallMs(before), WallMs(spent)), stream(number));
                        plain.insert(number, (by, spent));
                    }
                }
            }
            let first = |of: Option<u8>| {
                let spent = plain.iter().filter(|(_, (by, spent))| now > *spent && of.is_none_or(|of| of == *by));
                let by_edge = spent.map(|(number, (by, spent))| (*spent, introducer(*by), stream(*number)));
                by_edge.min().map(|(_, _, stream)| stream)
            };
            prop_assert_eq!(index.first_spent(WallMs(now)), first(None));
            for by in 0..4 {
                prop_assert_eq!(index.first_spent_of(introducer(by), WallMs(now)), first(Some(by)));
            }
        }
    }
}
