//! `--stream`: streams as people write them, and as laws, lines and plans spell them.

use crate::target::TargetError;
use groundhog_engine::streams::key::Class;
use groundhog_sim::ledger::subjects::StreamName;
use groundhog_sim::plan::{Act, Plan};
use groundhog_sim::units::NodeId;
use std::collections::BTreeSet;
use std::fmt;

/// Streams of a plan that an error names, at most.
const MOST_NAMED: usize = 8;

/// Some streams: by origin, by destination, by class, or by several of these.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Streams {
    origin: Option<NodeId>,
    destination: Option<NodeId>,
    class: Option<Class>,
}

impl Streams {
    /// Whether a stream is one of them.
    pub fn hold(&self, stream: &StreamName) -> bool {
        self.origin.is_none_or(|origin| stream.origin == origin)
            && self.destination.is_none_or(|destination| stream.destination == destination)
            && self.class.is_none_or(|class| stream.class == class)
    }
}

impl fmt::Display for Streams {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let end = |f: &mut fmt::Formatter<'_>, end: Option<NodeId>| match end {
            Some(node) => write!(f, "n{}", node.0),
            None => f.write_str("*"),
        };
        end(f, self.origin)?;
        if self.destination.is_some() || self.class.is_none() {
            f.write_str("->")?;
            end(f, self.destination)?;
        }
        self.class.map_or(Ok(()), |class| write!(f, "/{class}"))
    }
}

/// Reads `ORIGIN/CLASS`, `ORIGIN->DESTINATION/CLASS` or a part of it. An end is `3`, `n3` or `node 3`; a class is its name
/// or the beginning of it. A sequence behind it, as laws write, names the same stream.
pub fn streams(text: &str) -> Result<Streams, String> {
    let expected = || {
        let form = "expected ORIGIN/CLASS or ORIGIN->DESTINATION/CLASS, such as n3->n1/control";
        let classes = Class::ALL.map(Class::id).join(", ");
        format!("{form}; an origin is a node, and the classes are {classes}")
    };
    let text = text.trim().to_ascii_lowercase();
    let text = text.split('#').next().unwrap_or_default();
    let (ends, class) = text.split_once('/').map_or((text, None), |(ends, class)| (ends, Some(class)));
    let class = match class.map(str::trim).filter(|class| !class.is_empty()) {
        None => None,
        Some(word) => Some(class_of(word).ok_or_else(expected)?),
    };
    let arrow = ["->", "=>", "\u{2192}", ">"].into_iter().find(|arrow| ends.contains(arrow));
    let (origin, destination) = arrow.and_then(|arrow| ends.split_once(arrow)).unwrap_or((ends, ""));
    let end = |word: &str| match word.trim() {
        "" | "*" => Ok(None),
        word => node(word).map(|node| Some(NodeId(node))).map_err(|_| expected()),
    };
    let streams = Streams { origin: end(origin)?, destination: end(destination)?, class };
    match streams {
        Streams { origin: None, destination: None, class: None } => Err(expected()),
        streams => Ok(streams),
    }
}

/// A node as `3`, `n3`, `node3` or `node 3`.
pub fn node(text: &str) -> Result<u16, String> {
    let text = text.trim().to_ascii_lowercase();
    let digits = text.trim_start_matches("node").trim_start_matches('n').trim_start_matches(['-', ' ']);
    digits.parse().map_err(|_| "expected a node's number, such as 3".to_owned())
}

fn class_of(word: &str) -> Option<Class> {
    let mut found = Class::ALL.into_iter().filter(|class| class.id().starts_with(word));
    found.next().filter(|_| found.next().is_none())
}

/// The streams of a plan: those that its bursts use, and those whose frames its adversaries send again.
pub fn of_plan(plan: &Plan) -> BTreeSet<StreamName> {
    let stream = |action: &groundhog_sim::plan::Action| match &action.act {
        Act::Send(burst) => {
            Some(StreamName { origin: action.node, destination: burst.to, class: burst.class })
        }
        Act::Replay { frame, .. } => {
            let (origin, destination, class) = (frame.origin, frame.destination, frame.class);
            Some(StreamName { origin, destination, class })
        }
        Act::RotateDelegatee | Act::Join | Act::Leave { .. } => None,
    };
    plan.actions.iter().filter_map(stream).collect()
}

/// Refuses streams of which the plan has none.
pub fn checked(asked: &[Streams], plan: &Plan) -> Result<(), TargetError> {
    let streams = of_plan(plan);
    let Some(strange) = asked.iter().find(|asked| !streams.iter().any(|stream| asked.hold(stream))) else {
        return Ok(());
    };
    // Those that are nearest to what was asked stand first.
    let mut near: Vec<&StreamName> = streams.iter().collect();
    near.sort_by_key(|stream| {
        let unlike = [
            strange.origin.is_some_and(|origin| stream.origin != origin),
            strange.destination.is_some_and(|destination| stream.destination != destination),
            strange.class.is_some_and(|class| stream.class != class),
        ];
        unlike.into_iter().filter(|unlike| *unlike).count()
    });
    let names: Vec<String> = near.iter().take(MOST_NAMED).map(ToString::to_string).collect();
    let more = match streams.len().saturating_sub(MOST_NAMED) {
        0 => String::new(),
        more => format!(" and {more} more"),
    };
    let has = if names.is_empty() {
        "it has none".to_owned()
    } else {
        format!("it has {}{more}", names.join(", "))
    };
    Err(TargetError::Call(format!("--stream {strange}: the plan has no such stream; {has}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_read_however_it_is_written() {
        let text = |text: &str| streams(text).map(|streams| streams.to_string());
        for (written, read) in [
            ("n3->n1/control", "n3->n1/control"),
            ("3->1/control", "n3->n1/control"),
            ("node 3->node 1/control#41", "n3->n1/control"),
            (" N3 => N1 / C ", "n3->n1/control"),
            ("3>1/app", "n3->n1/application"),
            ("3\u{2192}1/e", "n3->n1/e2e"),
            ("3/storage", "n3/storage"),
            ("3", "n3->*"),
            ("->1", "*->n1"),
            ("/s", "*/storage"),
            ("*->node-7/e2e", "*->n7/e2e"),
        ] {
            assert_eq!(text(written).as_deref(), Ok(read), "{written}");
        }
        for wrong in ["", "/", "->", "alice/control", "3/x", "3->1/controls", "70000/e2e", "n/e2e", "3->1->2"]
        {
            let error = text(wrong).expect_err(wrong);
            assert!(error.contains("such as n3->n1/control"), "{wrong}: {error}");
        }
    }

    #[test]
    fn some_streams_hold_those_that_agree_in_all_that_they_say() {
        let stream = StreamName { origin: NodeId(3), destination: NodeId(1), class: Class::E2e };
        for (written, holds) in [
            ("3/e2e", true),
            ("3->1", true),
            ("->1", true),
            ("/e2e", true),
            ("1->3/e2e", false),
            ("3/control", false),
            ("3->2/e2e", false),
        ] {
            assert_eq!(streams(written).expect(written).hold(&stream), holds, "{written}");
        }
    }
}
