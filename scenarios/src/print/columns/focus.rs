//! What the words of a law are about: the streams and messages that they name.

use super::beat::About;
use groundhog_engine::streams::key::Class;
use groundhog_sim::ledger::subjects::StreamName;
use groundhog_sim::units::NodeId;

/// Digits of a digest that are shown.
const DIGITS: usize = 6;

/// Hexadecimal digits in a row that are a digest and no number.
const LEAST_DIGEST: usize = 16;

/// Every `node 1->node 3/storage#4`, with its sequence where it has one.
pub fn named_in(saw: &str) -> Vec<About> {
    let stream = |(place, arrow): (usize, &str)| {
        let (_, origin) = saw[..place].rsplit_once("node ")?;
        let rest = saw[place + arrow.len()..].strip_prefix("node ")?;
        let (destination, rest) = rest.split_once('/')?;
        let class = *Class::ALL.iter().find(|class| rest.starts_with(class.id()))?;
        let (origin, destination) = (NodeId(origin.parse().ok()?), NodeId(destination.parse().ok()?));
        let digits = rest[class.id().len()..].strip_prefix('#').unwrap_or_default();
        let digits = digits.split(|letter: char| !letter.is_ascii_digit()).next().unwrap_or_default();
        Some((StreamName { origin, destination, class }, digits.parse().ok()))
    };
    saw.match_indices("->").filter_map(stream).collect()
}

/// `saw` with each digest cut short.
pub fn abbreviated(saw: &str) -> String {
    let mut short = String::with_capacity(saw.len());
    let mut rest = saw;
    while !rest.is_empty() {
        let digits = rest.bytes().take_while(|byte| matches!(byte, b'0'..=b'9' | b'a'..=b'f')).count();
        let word = rest.find(|letter: char| !letter.is_ascii_alphanumeric()).unwrap_or(rest.len());
        if digits == word && digits >= LEAST_DIGEST {
            short.push_str(&rest[..DIGITS]);
        } else {
            short.push_str(&rest[..word]);
        }
        rest = &rest[word..];
        let other = rest.find(|letter: char| letter.is_ascii_alphanumeric()).unwrap_or(rest.len());
        short.push_str(&rest[..other]);
        rest = &rest[other..];
    }
    short
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn streams_are_read_out_of_a_laws_words() {
        let stream = |origin, destination, class| {
            let (origin, destination) = (NodeId(origin), NodeId(destination));
            StreamName { origin, destination, class }
        };
        for (saw, expected) in [
            (
                "node 1 exposed node 1->node 3/e2e#12, and no lease",
                vec![(stream(1, 3, Class::E2e), Some(12))],
            ),
            (
                "holds the record of node 0->node 31/storage no more",
                vec![(stream(0, 31, Class::Storage), None)],
            ),
            (
                "node 1->node 2/control#0 and node 2->node 1/application#1",
                vec![(stream(1, 2, Class::Control), Some(0)), (stream(2, 1, Class::Application), Some(1))],
            ),
            ("a -> b, 7a048edc->node 3/e2e#0, node 1->node x/e2e", vec![]),
            ("", vec![]),
        ] {
            assert_eq!(named_in(saw), expected, "{saw}");
        }
    }

    #[test]
    fn digests_are_cut_short_and_numbers_are_not() {
        for (saw, short) in [
            ("of record 888392bba05886073c16e6215515fd5fa486aac8; a", "of record 888392; a"),
            ("at 1767225600205 ms", "at 1767225600205 ms"),
            ("(0123456789abcdef)", "(012345)"),
            ("deadbeefdeadbeefx \u{2026}é", "deadbeefdeadbeefx \u{2026}é"),
            ("", ""),
        ] {
            assert_eq!(abbreviated(saw), short);
        }
    }
}
