//! Which nodes have columns, and which beats are told where not all fit on a page.
//!
//! Promise: what a law saw, the lives and faults of the nodes that it is about, and the way of the message that it is about
//! come before anything else.

use super::beat::{About, Beat, What};
use super::story::Told;
use groundhog_sim::units::NodeId;
use std::collections::{BTreeMap, BTreeSet};

/// Lines that a page holds.
pub const MOST_LINES: usize = 52;

/// The last beats before the end are told whatever they are about.
const LAST: usize = 10;

/// The nodes with columns, in the order of their numbers, and the others that take part. Where nodes are asked for, no
/// other has a column.
pub fn nodes(told: &Told, wanted: &BTreeSet<NodeId>, most: usize) -> (Vec<NodeId>, Vec<NodeId>) {
    let mut parts: BTreeMap<NodeId, u64> = wanted.iter().map(|node| (*node, 0)).collect();
    let mut crashed = BTreeSet::new();
    for beat in told.beats.iter().filter(|beat| beat.shown) {
        for node in beat.nodes() {
            *parts.entry(node).or_default() += beat.events;
            if beat.is_notable() {
                crashed.insert(node);
            }
        }
    }
    for node in &told.scenes {
        parts.entry(*node).or_default();
    }
    let concerned: BTreeSet<NodeId> =
        told.focus.iter().flat_map(|(stream, _)| [stream.origin, stream.destination]).collect();
    let mut ranked: Vec<(NodeId, u64)> = parts.into_iter().collect();
    ranked.sort_by_key(|(node, events)| {
        let rank = if wanted.contains(node) {
            0
        } else if told.scenes.first() == Some(node) {
            1
        } else if concerned.contains(node) {
            2
        } else if told.scenes.contains(node) {
            3
        } else if crashed.contains(node) {
            4
        } else {
            5
        };
        (rank, std::cmp::Reverse(*events), *node)
    });
    let mut ranked: Vec<NodeId> = ranked.into_iter().map(|(node, _)| node).collect();
    let most = if wanted.is_empty() { most } else { most.min(wanted.len()) };
    let others = ranked.split_off(ranked.len().min(most));
    ranked.sort_unstable();
    (ranked, others)
}

/// Which beats are told: all that fit on a page of `most` lines, the most telling first. `lines` says how many one takes.
pub fn beats(told: &Told, columns: &[NodeId], most: usize, lines: impl Fn(&Beat) -> usize) -> Vec<bool> {
    let seen = |beat: &Beat| {
        beat.shown
            && match beat.what {
                What::At { node, .. } | What::Arrow { to: node, .. } => columns.contains(&node),
                What::Link { ends: (one, other), .. } => columns.contains(&one) || columns.contains(&other),
                What::Across(_) | What::Broken { .. } => true,
            }
    };
    let mut ranked: Vec<(u8, usize)> = Vec::new();
    let last = told.beats.len().saturating_sub(LAST);
    for (place, beat) in told.beats.iter().enumerate().filter(|(_, beat)| seen(beat)) {
        ranked.push((rank(told, beat, place >= last), place));
    }
    // Of two alike the later one is nearer to what went wrong.
    ranked.sort_by_key(|(rank, place)| (*rank, std::cmp::Reverse(*place)));
    let mut chosen = vec![false; told.beats.len()];
    let mut room = most;
    for (rank, place) in &ranked {
        let lines = lines(&told.beats[*place]);
        if *rank > 0 && lines > room {
            break;
        }
        room = room.saturating_sub(lines);
        chosen[*place] = true;
    }
    // A line that says what is not shown may as well show it.
    for (_, place) in ranked {
        let both = place > 0 && chosen[place - 1] && chosen.get(place + 1).is_some_and(|chosen| *chosen);
        if both && !chosen[place] && lines(&told.beats[place]) == 1 {
            chosen[place] = true;
        }
    }
    chosen
}

fn rank(told: &Told, beat: &Beat, is_last: bool) -> u8 {
    let concerned = |node: NodeId| {
        told.scenes.contains(&node)
            || told.focus.iter().any(|(stream, _)| [stream.origin, stream.destination].contains(&node))
    };
    let about = |exactly: bool| {
        let is_about = |(stream, sequence): &About| {
            told.focus.iter().any(|(other, place)| stream == other && (!exactly || sequence == place))
        };
        beat.about.iter().any(is_about)
    };
    let one_of_ours = beat.nodes().any(concerned);
    match &beat.what {
        What::Broken { .. } => 0,
        _ if beat.is_notable() && one_of_ours => 1,
        _ if about(true) => 2,
        _ if is_last => 3,
        What::Link { ends: (one, other), .. } if concerned(*one) && concerned(*other) => 1,
        What::Across(_) => 4,
        _ if beat.is_notable() => 5,
        _ if about(false) => 6,
        _ if one_of_ours => 7,
        _ => 8,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::print::columns::beat::Mark;
    use groundhog_engine::streams::key::Class;
    use groundhog_sim::ledger::subjects::StreamName;
    use groundhog_sim::units::SimTime;

    fn beat(node: u16, mark: Mark, about: Vec<About>) -> Beat {
        let what = What::At { node: NodeId(node), text: String::new(), mark };
        Beat { at: SimTime(0), events: 1, about, what, shown: true }
    }

    fn stream(origin: u16, destination: u16) -> StreamName {
        StreamName { origin: NodeId(origin), destination: NodeId(destination), class: Class::E2e }
    }

    #[test]
    fn columns_go_to_the_nodes_that_the_law_is_about_then_to_the_crashed_then_to_the_busy() {
        let mut beats = vec![beat(1, Mark::Plain, vec![]), beat(7, Mark::Death, vec![])];
        beats.extend(std::iter::repeat_n(beat(4, Mark::Plain, vec![]), 9));
        let told = Told { beats, focus: vec![(stream(9, 8), None)], scenes: vec![NodeId(6)] };
        let numbers = |nodes: Vec<NodeId>| nodes.iter().map(|node| node.0).collect::<Vec<_>>();
        // Nodes 8 and 9 are named, and did nothing that is shown.
        let (shown, others) = nodes(&told, &BTreeSet::new(), 3);
        assert_eq!((numbers(shown), numbers(others)), (vec![4, 6, 7], vec![1]));
        let (shown, others) = nodes(&told, &[NodeId(1), NodeId(5)].into(), 3);
        assert_eq!((numbers(shown), numbers(others)), (vec![1, 5], vec![6, 7, 4]));
    }

    #[test]
    fn where_not_all_fit_the_message_in_question_and_the_last_beats_are_told() {
        let ours = vec![(stream(1, 2), Some(4))];
        let mut beats = vec![beat(1, Mark::Plain, ours.clone()), beat(2, Mark::Fault, vec![])];
        beats.extend(std::iter::repeat_n(beat(3, Mark::Plain, vec![]), 60));
        beats.push(Beat {
            what: What::Broken { law: "a/b", saw: String::new() },
            ..beat(0, Mark::Plain, vec![])
        });
        let told = Told { beats, focus: ours, scenes: vec![NodeId(2)] };
        let columns = [1, 2, 3].map(NodeId);
        let chosen = super::beats(&told, &columns, 14, |_| 1);
        let places: Vec<usize> = (0..chosen.len()).filter(|place| chosen[*place]).collect();
        let last: Vec<usize> = (51..63).collect();
        assert_eq!(places, [vec![0, 1], last].concat());
        assert!(super::beats(&told, &columns, 100, |_| 1).iter().all(|chosen| *chosen));
        // What stands in no column is not told.
        let chosen = super::beats(&told, &[NodeId(1)], 100, |_| 1);
        assert_eq!(chosen.iter().filter(|chosen| **chosen).count(), 2);
        // A long beat ends the page; a broken law never does.
        let long = |beat: &Beat| if beat.is_notable() { 20 } else { 1 };
        assert_eq!(super::beats(&told, &columns, 14, long).iter().filter(|chosen| **chosen).count(), 1);
    }
}
