//! Beats as they grow: several events of one message at one node are one beat, and like beats of neighbouring messages
//! are told as one.

use super::beat::{About, Beat, Mark, What};
use groundhog_engine::streams::key::Class;
use groundhog_sim::ledger::subjects::StreamName;
use groundhog_sim::units::{MessageId, NodeId, SimTime};

/// The copy number of an adversary's frames.
const REPLAYED: u32 = u32::MAX;

/// Which copy of which message a beat is about.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Subject {
    /// The message of the workload, unless it is an adversary's.
    pub message: Option<MessageId>,
    /// Its stream, where its accounts are nodes'.
    pub stream: Option<StreamName>,
    /// Its class.
    pub class: Class,
    /// Its place in the stream, once it has one.
    pub sequence: Option<u64>,
    /// Which copy.
    pub copy: u32,
}

impl Subject {
    /// Whether both are the same copy of one message.
    pub fn is(&self, other: &Self) -> bool {
        let same = match (self.message, other.message) {
            (Some(one), Some(other)) => one == other,
            _ => (self.stream, self.sequence) == (other.stream, other.sequence),
        };
        same && self.copy == other.copy
    }
}

/// An origin's way from the wish to the frame.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sending {
    /// It is meant to be sent now.
    pub wanted: bool,
    /// What was leased for it.
    pub leased: Option<String>,
    /// Its sequence was handed out.
    pub given: bool,
    /// Its signature left its maker.
    pub signed: bool,
    /// A frame of it left.
    pub sent: bool,
}

/// A destination's way from the arrival to the handler.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Admitting {
    /// What was decided: a verdict, a refusal, and the batch that carries it.
    pub decided: Option<String>,
    /// What the caller was told, where that is not what was decided.
    pub told: Option<String>,
    /// Its handler began.
    pub dispatched: bool,
}

/// What is said of a subject.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Deed {
    /// It is being sent.
    Sending(Sending),
    /// It is being admitted.
    Admitting(Admitting),
    /// Words before and after its name.
    Said(String, String),
    /// It travelled.
    Travelled,
    /// Words, about no message.
    Words(String),
}

/// Where a beat stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Place {
    /// In a node's column.
    At(NodeId, Mark),
    /// Between two columns.
    Between(NodeId, NodeId),
    /// Over all columns.
    Across,
    /// Over all columns that stand for an end of this link.
    Link(NodeId, NodeId),
    /// A law was broken.
    Broken(&'static str),
}

/// A beat that may still grow.
#[derive(Clone, Debug)]
pub struct Draft {
    /// When its first event happened.
    pub at: SimTime,
    /// When its last did.
    pub until: SimTime,
    /// How many events it tells.
    pub events: u64,
    /// Where it stands.
    pub place: Place,
    /// What it is about: one subject until like drafts are joined.
    pub subjects: Vec<Subject>,
    /// What is said.
    pub deed: Deed,
    /// Whether it is to be looked at.
    pub shown: bool,
}

impl Draft {
    /// The beat, with names for what it is about.
    pub fn beat(&self) -> Beat {
        let about = |subject: &Subject| Some((subject.stream?, subject.sequence));
        let about: Vec<About> = self.subjects.iter().filter_map(about).collect();
        let what = match self.place {
            Place::At(node, mark) => What::At { node, text: self.words(node), mark },
            Place::Between(from, to) => {
                let stream = self.subjects.first().and_then(|subject| subject.stream);
                let direct = stream.is_none_or(|stream| (stream.origin, stream.destination) == (from, to));
                What::Arrow { from, to, label: self.name(!direct) }
            }
            Place::Across => What::Across(self.words(NodeId(0))),
            Place::Link(one, other) => What::Link { ends: (one, other), text: self.words(one) },
            Place::Broken(law) => What::Broken { law, saw: self.words(NodeId(0)) },
        };
        Beat { at: self.at, events: self.events, about, what, shown: self.shown }
    }

    fn words(&self, node: NodeId) -> String {
        let stream = self.subjects.first().and_then(|subject| subject.stream);
        let at_origin = stream.is_none_or(|stream| stream.origin == node);
        let name = self.name(!at_origin);
        let to =
            stream.filter(|_| at_origin).map_or_else(String::new, |s| format!(" to n{}", s.destination.0));
        match &self.deed {
            Deed::Sending(Sending { wanted, leased, given, signed, sent }) => {
                let mut words = Vec::new();
                // What is leased after the wish is leased before the frame.
                let leased = leased.clone();
                let (before, after) = if *signed || *sent { (leased, None) } else { (None, leased) };
                words.extend(before);
                match (signed, sent) {
                    (true, true) => words.push(format!("signs and sends {name}{to}")),
                    (true, false) => words.push(format!("signs {name}{to}")),
                    (false, true) => words.push(format!("sends {name}{to}")),
                    (false, false) if *wanted => words.push(format!("wants {name}{to}")),
                    (false, false) => {}
                }
                words.extend(after);
                if *given && !signed {
                    words.push(if *wanted { "may use it".to_owned() } else { format!("may use {name}") });
                }
                words.join(", ")
            }
            Deed::Admitting(Admitting { decided, told, dispatched }) => {
                let told = told.as_ref().filter(|told| Some(*told) != decided.as_ref());
                let mut words: Vec<&str> = decided.iter().chain(told).map(String::as_str).collect();
                match (dispatched, words.is_empty()) {
                    (true, true) => return format!("dispatches {name}"),
                    (true, false) => words.push("dispatched"),
                    (false, true) => words.push("arrives"),
                    (false, false) => {}
                }
                format!("{name}: {}", words.join(", "))
            }
            Deed::Said(before, after) => format!("{before}{name}{after}"),
            Deed::Travelled => name,
            Deed::Words(words) => words.clone(),
        }
    }

    /// The messages by class and sequence, after their origin where that does not go without saying.
    fn name(&self, with_origin: bool) -> String {
        let Some(first) = self.subjects.first() else { return String::new() };
        let class = if first.class == Class::Application { "app" } else { first.class.id() };
        let origin = first.stream.filter(|_| with_origin);
        let origin = origin.map_or_else(String::new, |stream| format!("n{} ", stream.origin.0));
        let mut sequences: Vec<u64> = Vec::new();
        for sequence in self.subjects.iter().filter_map(|subject| subject.sequence) {
            if !sequences.contains(&sequence) {
                sequences.push(sequence);
            }
        }
        let sequences = match (sequences.is_empty(), self.subjects.len()) {
            (true, 1) => String::new(),
            (true, messages) => format!(" x{messages}"),
            (false, _) => format!("#{}", ranges(&sequences)),
        };
        let copy = match first.copy {
            0 => String::new(),
            REPLAYED => " replayed".to_owned(),
            copy => format!(" copy {copy}"),
        };
        format!("{origin}{class}{sequences}{copy}")
    }
}

/// `0-3,5`: numbers in their order, those that follow each other as a range.
pub fn ranges(numbers: &[u64]) -> String {
    let mut ranges: Vec<(u64, u64)> = Vec::new();
    for number in numbers {
        match ranges.last_mut() {
            Some((_, last)) if last.checked_add(1) == Some(*number) => *last = *number,
            _ => ranges.push((*number, *number)),
        }
    }
    let range = |(first, last): &(u64, u64)| {
        if first == last { first.to_string() } else { format!("{first}-{last}") }
    };
    ranges.iter().map(range).collect::<Vec<_>>().join(",")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::columns::samples::{FROM, TO, draft, words};

    #[test]
    fn a_deed_says_what_was_done_and_no_more() {
        let sending = |wanted, leased: Option<&str>, given, signed, sent| {
            Deed::Sending(Sending { wanted, leased: leased.map(str::to_owned), given, signed, sent })
        };
        let admitting = |decided: Option<&str>, told: Option<&str>, dispatched| {
            let (decided, told) = (decided.map(str::to_owned), told.map(str::to_owned));
            Deed::Admitting(Admitting { decided, told, dispatched })
        };
        let at = |node| Place::At(node, Mark::Plain);
        for (place, deed, expected) in [
            (at(FROM), sending(true, None, false, false, false), "wants app#5 to n3"),
            (
                at(FROM),
                sending(true, Some("leases"), true, false, false),
                "wants app#5 to n3, leases, may use it",
            ),
            (at(FROM), sending(false, None, true, false, false), "may use app#5"),
            (at(FROM), sending(true, None, true, true, true), "signs and sends app#5 to n3"),
            (
                at(FROM),
                sending(true, Some("leases"), true, true, true),
                "leases, signs and sends app#5 to n3",
            ),
            (at(TO), admitting(None, None, false), "n0 app#5: arrives"),
            (at(TO), admitting(Some("first"), Some("first"), true), "n0 app#5: first, dispatched"),
            (at(TO), admitting(None, Some("failed batch"), false), "n0 app#5: failed batch"),
            (at(TO), admitting(None, None, true), "dispatches n0 app#5"),
            (Place::Between(FROM, TO), Deed::Travelled, "app#5"),
            (Place::Between(NodeId(1), TO), Deed::Travelled, "n0 app#5"),
        ] {
            assert_eq!(words(vec![draft(1, 5, place, deed)]), [expected]);
        }
    }

    #[test]
    fn numbers_that_follow_each_other_are_a_range() {
        for (numbers, text) in [
            (&[4][..], "4"),
            (&[0, 1, 2, 3], "0-3"),
            (&[3, 1, 2], "3,1-2"),
            (&[u64::MAX, 0], "18446744073709551615,0"),
        ] {
            assert_eq!(ranges(numbers), text);
        }
    }
}
