//! Like beats of neighbouring messages are told as one: forty messages of a burst make one line, and not forty.

use super::beat::{Beat, Mark};
use super::draft::{Draft, Place, Subject};
use groundhog_sim::units::MessageId;
use std::collections::BTreeMap;

/// How far apart two like beats may be to be told as one, in nanoseconds.
const TOGETHER_NS: u64 = 500_000;

/// How many beats may stand between two that are told as one.
const NEAR: usize = 8;

/// What is known of each message once the story is over.
pub type Sequences = BTreeMap<MessageId, u64>;

/// Drafts as beats: with the sequences that their messages got, and like ones joined.
pub fn beats(mut drafts: Vec<Draft>, sequences: &Sequences) -> Vec<Beat> {
    for subject in drafts.iter_mut().flat_map(|draft| &mut draft.subjects) {
        subject.sequence = subject.sequence.or_else(|| sequences.get(&subject.message?).copied());
    }
    let mut joined: Vec<Draft> = Vec::with_capacity(drafts.len());
    for draft in drafts {
        match like(&joined, &draft) {
            Some(place) => {
                let earlier = &mut joined[place];
                earlier.until = draft.until;
                earlier.events += draft.events;
                earlier.subjects.extend(draft.subjects);
            }
            None => joined.push(draft),
        }
    }
    joined.iter().map(Draft::beat).collect()
}

/// The draft that takes another in: a near one like it, with nothing between that a story turns on, and of the same node
/// nothing but what is about other messages.
fn like(earlier: &[Draft], draft: &Draft) -> Option<usize> {
    for (place, candidate) in earlier.iter().enumerate().rev().take(NEAR) {
        if candidate.takes(draft) {
            return Some(place);
        }
        let of_this_node = matches!((candidate.place, draft.place),
            (Place::At(one, _), Place::At(other, _)) if one == other);
        let of_others = !candidate.subjects.is_empty()
            && !candidate.subjects.iter().any(|one| draft.subjects.iter().any(|other| one.is(other)));
        if candidate.is_notable() || of_this_node && !of_others {
            return None;
        }
    }
    None
}

impl Draft {
    fn is_notable(&self) -> bool {
        match self.place {
            Place::At(_, mark) => mark != Mark::Plain,
            Place::Broken(_) | Place::Link(..) => true,
            Place::Between(..) | Place::Across => false,
        }
    }

    fn takes(&self, other: &Self) -> bool {
        let alike = |one: &Subject, other: &Subject| {
            (one.stream, one.class, one.copy) == (other.stream, other.class, other.copy)
                && one.sequence.is_some() == other.sequence.is_some()
        };
        self.place == other.place
            && self.shown == other.shown
            && self.deed == other.deed
            && other.at.0.saturating_sub(self.until.0) <= TOGETHER_NS
            && matches!((self.subjects.last(), other.subjects.first()), (Some(one), Some(other)) if alike(one, other))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::columns::draft::Deed;
    use crate::print::columns::samples::{FROM, TO, draft, words};

    #[test]
    fn like_beats_of_neighbouring_messages_are_one_unless_something_stands_between() {
        let travels = |us, sequence| draft(us, sequence, Place::Between(FROM, TO), Deed::Travelled);
        let works = |us, sequence, node, text: &str| {
            draft(us, sequence, Place::At(node, Mark::Plain), Deed::Said(text.to_owned(), String::new()))
        };
        let dies = |us| draft(us, 0, Place::At(TO, Mark::Death), Deed::Words("dies".to_owned()));
        assert_eq!(words(vec![travels(1, 1), travels(2, 2), travels(3, 9), travels(4, 0)]), ["app#1-2,9,0"]);
        // What another node does does not part them, nor does what the receiver does with the first.
        assert_eq!(words(vec![travels(1, 1), works(1, 1, TO, "takes "), travels(2, 2)]).len(), 2);
        assert_eq!(words(vec![works(1, 1, TO, "a "), works(1, 1, TO, "b "), works(2, 2, TO, "a ")]).len(), 2);
        assert_eq!(words(vec![works(1, 1, TO, "a "), works(1, 2, TO, "b "), works(2, 2, TO, "a ")]).len(), 3);
        assert_eq!(words(vec![travels(1, 1), dies(1), travels(2, 2)]).len(), 3);
        assert_eq!(words(vec![travels(1, 1), travels(900, 2)]).len(), 2);
        // Without sequences they are counted.
        let unnumbered = |us| {
            let mut draft = travels(us, 0);
            draft.subjects[0].sequence = None;
            draft
        };
        assert_eq!(words(vec![unnumbered(1), unnumbered(2), travels(3, 3)]), ["app x2", "app#3"]);
    }
}
