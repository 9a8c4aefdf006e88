//! Every delivery in custody by the instant at which it is spent.
//!
//! Promise: how many there are, and which is spent first, is known at once; equal entries give equal indexes.

use crate::streams::key::StreamKey;
use crate::streams::record::CustodyEntry;
use crate::streams::window::Digest;
use crate::units::{Sequence, WallMs};
use std::collections::BTreeSet;

/// See the module.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(in crate::streams) struct CustodyIndex(BTreeSet<(WallMs, StreamKey, Sequence, Digest)>);

impl CustodyIndex {
    /// # Panics
    /// When the entry is here already: a stream has a digest in custody once.
    pub(in crate::streams) fn insert(&mut self, stream: StreamKey, entry: &CustodyEntry) {
        assert!(self.0.insert(place(stream, entry)), "a delivery enters custody once");
    }

    /// # Panics
    /// When the entry is not here.
    pub(in crate::streams) fn remove(&mut self, stream: StreamKey, entry: &CustodyEntry) {
        assert!(self.0.remove(&place(stream, entry)), "a delivery that leaves is in custody");
    }

    pub(in crate::streams) fn len(&self) -> usize {
        self.0.len()
    }

    /// The last instant of the delivery that is spent first.
    pub(in crate::streams) fn until(&self) -> Option<WallMs> {
        self.0.first().map(|(spent, ..)| *spent)
    }

    /// The first delivery that is spent at `now`.
    pub(in crate::streams) fn first_spent(&self, now: WallMs) -> Option<(StreamKey, Sequence, Digest)> {
        let (spent, stream, sequence, digest) = self.0.first()?;
        (now > *spent).then_some((*stream, *sequence, *digest))
    }

    /// Every delivery, the first spent first.
    pub(in crate::streams) fn iter(&self) -> impl Iterator<Item = (&StreamKey, Sequence, &Digest)> {
        self.0.iter().map(|(_, stream, sequence, digest)| (stream, *sequence, digest))
    }
}

const fn place(stream: StreamKey, entry: &CustodyEntry) -> (WallMs, StreamKey, Sequence, Digest) {
    (entry.spent, stream, entry.sequence, entry.digest)
}
