//! An adversary's memory: the frames that a plan will send again, kept byte for byte.
//!
//! Promise: only frames that some act of the plan names are kept, and never more than the bound. What is replayed is
//! exactly what was on the wire.

use crate::plan::{Act, Action, FrameName};
use bytes::Bytes;
use groundhog_engine::streams::key::Class;
use std::collections::BTreeMap;

/// The most bytes that are kept; a frame beyond is not recorded, and counted.
pub const MAX_RECORDED_BYTES: usize = 64 << 20;

/// A frame as it was on the wire.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Recorded {
    /// The lane that it travelled on.
    pub class: Class,
    /// Its bytes.
    pub bytes: Bytes,
}

/// What an adversary records and has recorded.
#[derive(Clone, Debug)]
pub struct Recorder {
    /// Whether any frame of an origin is wanted, by node: most frames end here.
    origins: Vec<bool>,
    wanted: BTreeMap<FrameName, Option<Recorded>>,
    recorded_bytes: usize,
    limit_bytes: usize,
    not_kept: u64,
}

impl Recorder {
    /// A recorder of what these actions will send again.
    #[must_use]
    pub fn new(actions: &[Action]) -> Self {
        Self::with_limit(actions, MAX_RECORDED_BYTES)
    }

    fn with_limit(actions: &[Action], limit_bytes: usize) -> Self {
        let mut recorder = Self {
            origins: Vec::new(),
            wanted: BTreeMap::new(),
            recorded_bytes: 0,
            limit_bytes,
            not_kept: 0,
        };
        for action in actions {
            if let Act::Replay { frame, .. } = &action.act {
                let origin = frame.origin.index();
                recorder.origins.resize(recorder.origins.len().max(origin + 1), false);
                recorder.origins[origin] = true;
                recorder.wanted.insert(*frame, None);
            }
        }
        recorder
    }

    /// A frame is on the wire: kept if it is wanted, and was not seen before. Of a frame that is relayed, or sent again
    /// over a later connection, the first sight is kept.
    #[inline]
    pub fn see(&mut self, name: &FrameName, class: Class, bytes: &Bytes) {
        if self.origins.get(name.origin.index()) == Some(&true) {
            self.keep(name, class, bytes);
        }
    }

    fn keep(&mut self, name: &FrameName, class: Class, bytes: &Bytes) {
        let Some(place @ None) = self.wanted.get_mut(name) else { return };
        if bytes.len() > self.limit_bytes - self.recorded_bytes {
            self.not_kept += 1;
            return;
        }
        self.recorded_bytes += bytes.len();
        // A copy: a slice of a larger buffer would keep all of it.
        *place = Some(Recorded { class, bytes: Bytes::copy_from_slice(bytes) });
    }

    /// A frame by its name; `None` when it was not seen or not kept.
    #[must_use]
    pub fn recorded(&self, name: &FrameName) -> Option<&Recorded> {
        self.wanted.get(name)?.as_ref()
    }

    /// Sights of wanted frames that were not kept because of the bound.
    #[must_use]
    pub const fn not_kept(&self) -> u64 {
        self.not_kept
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::units::{ActionId, NodeId};

    fn name(origin: u16, sequence: u64) -> FrameName {
        FrameName { origin: NodeId(origin), destination: NodeId(9), class: Class::Storage, sequence, copy: 0 }
    }

    fn replays(names: &[FrameName]) -> Vec<Action> {
        let act = |frame: &FrameName| Act::Replay { frame: *frame, to: NodeId(9), lane: None };
        let action = |(id, frame)| Action { id: ActionId(id), at_us: 0, node: NodeId(3), act: act(frame) };
        (0..).zip(names).map(action).collect()
    }

    #[test]
    fn what_no_act_names_is_not_kept() {
        let mut recorder = Recorder::new(&replays(&[name(1, 5)]));
        let bytes = Bytes::from_static(b"frame");
        for other in [name(1, 6), name(2, 5), FrameName { copy: 1, ..name(1, 5) }] {
            recorder.see(&other, Class::Storage, &bytes);
            assert_eq!(recorder.recorded(&other), None);
        }
        assert_eq!(recorder.recorded_bytes, 0);
        recorder.see(&name(1, 5), Class::Storage, &bytes);
        assert_eq!(recorder.recorded_bytes, 5);
    }

    #[test]
    fn a_frame_is_kept_byte_for_byte_as_first_seen() {
        let mut recorder = Recorder::new(&replays(&[name(1, 5), name(1, 5)]));
        assert_eq!(recorder.recorded(&name(1, 5)), None);
        recorder.see(&name(1, 5), Class::Storage, &Bytes::from_static(b"first"));
        recorder.see(&name(1, 5), Class::Control, &Bytes::from_static(b"relayed"));
        let recorded = recorder.recorded(&name(1, 5)).unwrap();
        assert_eq!((&recorded.bytes[..], recorded.class), (&b"first"[..], Class::Storage));
    }

    #[test]
    fn memory_is_bounded_and_what_is_not_kept_is_counted() {
        let mut recorder = Recorder::with_limit(&replays(&[name(1, 1), name(1, 2), name(1, 3)]), 10);
        recorder.see(&name(1, 1), Class::Storage, &Bytes::from_static(&[1; 6]));
        recorder.see(&name(1, 2), Class::Storage, &Bytes::from_static(&[2; 5]));
        recorder.see(&name(1, 3), Class::Storage, &Bytes::from_static(&[3; 4]));
        assert!(recorder.recorded(&name(1, 1)).is_some());
        assert!(recorder.recorded(&name(1, 2)).is_none());
        assert!(recorder.recorded(&name(1, 3)).is_some());
        assert_eq!(recorder.not_kept(), 1);
    }
}
