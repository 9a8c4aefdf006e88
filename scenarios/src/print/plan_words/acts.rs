//! What adversaries do, in words.

use super::counted;
use groundhog_sim::plan::{Act, Flood, PutBack, Reconnect, SecondRuntime, Signalling};
use groundhog_sim::units::NodeId;

/// What an act of an adversary is.
pub(super) fn words(node: NodeId, act: &Act) -> String {
    match act {
        Act::Flood(flood) => self::flood(node, flood),
        Act::Reconnect(Reconnect { peer, after_us }) => format!(
            "{node} and {peer} retire their connection, and admit it anew after {}",
            super::time(*after_us)
        ),
        Act::Signalling(Signalling { keys, count, every_us }) => format!(
            "{} of fresh accounts of party {keys} reach {node}{}",
            counted((*count).into(), "out-of-band signal"),
            apart(*count, *every_us)
        ),
        Act::PutBack(PutBack { taken_us, down_us }) => format!(
            "the disk of {node} is put back to what it was at {}, and the node is down for {}",
            super::time(*taken_us),
            super::time(*down_us)
        ),
        Act::SecondRuntime(SecondRuntime { of, lasts_us }) => {
            let until =
                lasts_us.map_or_else(String::new, |lasts_us| format!(", for {}", super::time(lasts_us)));
            format!("{node} runs a copy of {of} under its account, from what is durable on its disk{until}")
        }
        Act::Join | Act::Leave { .. } => "nothing of an adversary".to_owned(),
        Act::Send(_) | Act::RotateDelegatee | Act::Replay { .. } | Act::Mail(_) => {
            "nothing of an adversary".to_owned()
        }
    }
}

fn flood(node: NodeId, flood: &Flood) -> String {
    let Flood { to, via, class, keys, first_key, sequence, count, every_us, bytes, stamp_ms, forgery } =
        flood;
    let mut text = format!(
        "an adversary at {node} sends {} of fresh accounts of party {keys} to {to}",
        counted((*count).into(), &format!("{class} message"))
    );
    if let Some(via) = via {
        text.push_str(&format!(" through {via}"));
    }
    if *first_key > 0 {
        text.push_str(&format!(", from account {first_key} on"));
    }
    if *sequence > 0 {
        text.push_str(&format!(", each at sequence {sequence}"));
    }
    if *bytes > 0 {
        text.push_str(&format!(", {} each", counted((*bytes).into(), "byte")));
    }
    if *stamp_ms != 0 {
        text.push_str(&format!(", stamped {stamp_ms:+} ms from its clock"));
    }
    if let Some(forgery) = forgery {
        text.push_str(&format!(", with a forged {}", forgery.id()));
    }
    text.push_str(&apart(*count, *every_us));
    text
}

fn apart(count: u32, every_us: u64) -> String {
    match (count, every_us) {
        (0 | 1, _) => String::new(),
        (_, 0) => ", all at once".to_owned(),
        (_, every_us) => format!(", {} apart", super::time(every_us)),
    }
}
