//! What a worker tells its parent, a line for each event, and what the parent hands to the next worker.
//!
//! Promise: a line that was not written whole is not read, so what it tells has not been acted on.

use groundhog_engine::streams::payload::Payload;
use std::fmt::Write;

/// A transaction's digest.
pub type Digest = [u8; 32];

/// One line of a worker.
#[derive(Clone, Debug)]
pub enum Line {
    /// The store is open.
    Opened,
    /// The writing of this batch begins.
    Begun(u64),
    /// A place in the writing of a batch was passed.
    Step(String),
    /// This batch is durable.
    Durable(u64),
    /// A transaction is signed and leaves the sender. Its reservation was released before.
    Exposed(Box<Payload>),
    /// The transaction of this digest is dispatched. Its admission was released before.
    Admitted(Digest),
    /// The transaction of this digest is not dispatched, for this reason.
    Refused(Digest, String),
    /// The worker has done all that it was asked for.
    Done,
}

impl Line {
    /// The line, with its end.
    pub fn text(&self) -> String {
        match self {
            Self::Opened => "opened\n".to_owned(),
            Self::Begun(batch) => format!("begun {batch}\n"),
            Self::Step(step) => format!("step {step}\n"),
            Self::Durable(batch) => format!("durable {batch}\n"),
            Self::Exposed(payload) => format!("exposed {}\n", hex(payload.encoded())),
            Self::Admitted(digest) => format!("admitted {}\n", hex(digest)),
            Self::Refused(digest, reason) => format!("refused {} {reason}\n", hex(digest)),
            Self::Done => "done\n".to_owned(),
        }
    }

    /// Reads a line without its end; `None` where it is none.
    pub fn parse(line: &str) -> Option<Self> {
        let mut words = line.split(' ');
        let line = match (words.next()?, words.next(), words.next()) {
            ("opened", None, None) => Self::Opened,
            ("done", None, None) => Self::Done,
            ("begun", Some(batch), None) => Self::Begun(batch.parse().ok()?),
            ("durable", Some(batch), None) => Self::Durable(batch.parse().ok()?),
            ("step", Some(step), None) => Self::Step(step.to_owned()),
            ("exposed", Some(payload), None) => Self::Exposed(Box::new(payload_of(payload)?)),
            ("admitted", Some(digest), None) => Self::Admitted(digest_of(digest)?),
            ("refused", Some(digest), Some(reason)) => Self::Refused(digest_of(digest)?, reason.to_owned()),
            _ => return None,
        };
        words.next().is_none().then_some(line)
    }
}

/// Lower-case hex digits.
pub fn hex(bytes: &[u8]) -> String {
    let mut text = String::with_capacity(2 * bytes.len());
    for byte in bytes {
        let _ = write!(text, "{byte:02x}");
    }
    text
}

/// The payload that hex digits spell.
pub fn payload_of(digits: &str) -> Option<Payload> {
    Payload::decode(bytes_of(digits)?.into()).ok()
}

fn digest_of(digits: &str) -> Option<Digest> {
    bytes_of(digits)?.try_into().ok()
}

fn bytes_of(digits: &str) -> Option<Vec<u8>> {
    let digit = |byte: u8| char::from(byte).to_digit(16).and_then(|digit| u8::try_from(digit).ok());
    let (pairs, []) = digits.as_bytes().as_chunks::<2>() else { return None };
    pairs.iter().map(|[high, low]| Some(digit(*high)? << 4 | digit(*low)?)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::bench::admissions::people::{self, Content, Person};
    use groundhog_engine::streams::key::Class;
    use groundhog_engine::streams::transaction::TransactionId;
    use groundhog_engine::units::{Sequence, WallMs};

    #[test]
    fn every_line_is_read_as_it_was_written_and_no_part_of_one() {
        let (origin, hop) = (people::signer(Person::Origin(1), 0), people::signer(Person::Hop, 0));
        let content = Content { class: Class::E2e, sequence: Sequence(7), id: TransactionId([1; 16]) };
        let payload = people::sign(&origin, &hop, origin.account(), content, WallMs(1));
        let lines = [
            Line::Opened,
            Line::Begun(3),
            Line::Step("renamed".to_owned()),
            Line::Durable(3),
            Line::Exposed(Box::new(payload)),
            Line::Admitted([0xab; 32]),
            Line::Refused([1; 32], "replay".to_owned()),
            Line::Done,
        ];
        for line in lines {
            let text = line.text();
            let whole = text.strip_suffix('\n').expect("a line has an end");
            assert_eq!(Line::parse(whole).map(|line| line.text()).as_deref(), Some(text.as_str()));
            assert!(Line::parse(&format!("{whole} more")).is_none(), "{whole}");
        }
        for wrong in ["", "begun", "begun x", "admitted 12", "admitted zz", "exposed 00", "what"] {
            assert!(Line::parse(wrong).is_none(), "{wrong}");
        }
    }
}
