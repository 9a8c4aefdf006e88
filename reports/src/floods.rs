//! What floods took over many seeds, by the number of slots that they came through.
//!
//! Promise: one row a size of attacker, in words that fit 80 columns; nothing where nothing was flooded.

use crate::format::{count, duration};
use groundhog_sim::outcome::FloodFigures;
use maud::{Markup, html};
use serde::Serialize;
use std::collections::BTreeMap;

/// Floods through so many slots, summed over nodes and seeds.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct FloodTotal {
    /// Nodes flooded.
    pub nodes: u64,
    /// Streams that the floods began, at all of them.
    pub streams_taken: u64,
    /// The most at one of them.
    pub most_streams_taken: u64,
    /// Streams that the floods were refused.
    pub streams_refused: u64,
    /// New streams of honest origins refused below the floor of their edge.
    pub honest_refused_below_floor: u64,
    /// Those refused above it.
    pub honest_refused_above_floor: u64,
    /// The fullest table, in streams that were not spent.
    pub most_streams: u64,
    /// What its bounds allow.
    pub bound: u64,
    /// Refusals of an edge that ended with a new stream through it.
    pub edges_admitted_again: u64,
    /// The longest of them, in simulated nanoseconds.
    pub longest_refusal_ns: u64,
    /// Edges that were still refused at the end.
    pub edges_still_refused: u64,
}

impl FloodTotal {
    /// One node more.
    pub(crate) fn absorb(&mut self, flood: &FloodFigures) {
        self.merge(&Self {
            nodes: 1,
            streams_taken: flood.taken,
            most_streams_taken: flood.taken,
            streams_refused: flood.refused,
            honest_refused_below_floor: flood.honest_refused_below_floor,
            honest_refused_above_floor: flood.honest_refused_above_floor,
            most_streams: flood.most_streams,
            bound: flood.bound,
            edges_admitted_again: flood.readmitted,
            longest_refusal_ns: flood.longest_refusal_ns,
            edges_still_refused: flood.still_refused,
        });
    }

    pub(crate) fn merge(&mut self, other: &Self) {
        self.nodes += other.nodes;
        self.streams_taken += other.streams_taken;
        self.most_streams_taken = self.most_streams_taken.max(other.most_streams_taken);
        self.streams_refused += other.streams_refused;
        self.honest_refused_below_floor += other.honest_refused_below_floor;
        self.honest_refused_above_floor += other.honest_refused_above_floor;
        // By nearness to the bound, which may differ from seed to seed; of equal ones the smaller bound.
        let near = |one: &Self| u128::from(one.most_streams);
        let (mine, theirs) = (near(self) * u128::from(other.bound), near(other) * u128::from(self.bound));
        if self.bound == 0 || theirs > mine || (theirs == mine && other.bound < self.bound) {
            (self.most_streams, self.bound) = (other.most_streams, other.bound);
        }
        self.edges_admitted_again += other.edges_admitted_again;
        self.longest_refusal_ns = self.longest_refusal_ns.max(other.longest_refusal_ns);
        self.edges_still_refused += other.edges_still_refused;
    }

    fn again(&self) -> String {
        if self.edges_admitted_again == 0 { "-".to_owned() } else { duration(self.longest_refusal_ns) }
    }
}

/// What the columns of [`lines`] mean.
pub(crate) const NOTE: &str = "refused: to the flood, and to honest origins below and above the floor of their edge; an \
                               edge that refused is free again after so long at most (-: none was), and so many still \
                               refuse";

/// Rows of a table for a terminal of 80 columns, the head first; none where nothing was flooded.
pub(crate) fn lines(floods: &BTreeMap<u64, FloodTotal>) -> Vec<String> {
    if floods.is_empty() {
        return Vec::new();
    }
    let head = |cells: [&str; 8]| {
        let [slots, taken, refused, below, above, table, again, still] = cells;
        format!("  {slots:>5}{taken:>11}{refused:>11}{below:>8}{above:>8}{table:>17}{again:>10}{still:>7}")
    };
    let mut rows = vec![
        head(["flood", "streams", "streams", "honest", "refused", "most of table", "edge", "edges"]),
        head(["slots", "taken", "refused", "below", "above", "and its bound", "free in", "still"]),
    ];
    rows.extend(floods.iter().map(|(slots, total)| {
        let table = format!("{} of {}", count(total.most_streams), count(total.bound));
        head([
            &count(*slots),
            &count(total.streams_taken),
            &count(total.streams_refused),
            &count(total.honest_refused_below_floor),
            &count(total.honest_refused_above_floor),
            &table,
            &total.again(),
            &count(total.edges_still_refused),
        ])
    }));
    rows
}

/// The same for a page.
pub(crate) fn table(floods: &BTreeMap<u64, FloodTotal>) -> Markup {
    html! {
        @if !floods.is_empty() {
            h2 { "Floods of fresh accounts" }
            p.note {
                "Honest streams refused below the floor of their edge must be none. The time is the longest from a refusal of an "
                "edge to the next new stream through it."
            }
            div.scroll { table {
                thead { tr {
                    th.n { "slots" } th.n { "streams taken" } th.n { "refused to it" } th.n { "honest refused below" }
                    th.n { "above" } th.n { "most in the table" } th.n { "bound" } th.n { "admits again after" } th.n { "still refused" }
                } }
                tbody { @for (slots, total) in floods { tr {
                    td.n { (count(*slots)) } td.n { (count(total.streams_taken)) } td.n { (count(total.streams_refused)) }
                    td.n { (count(total.honest_refused_below_floor)) } td.n { (count(total.honest_refused_above_floor)) }
                    td.n { (count(total.most_streams)) } td.n { (count(total.bound)) }
                    td.n { (total.again()) } td.n { (count(total.edges_still_refused)) }
                } } }
            } }
        }
    }
}

/// One row of a summary for machines.
#[derive(Serialize)]
pub(crate) struct FloodSummary<'a> {
    slots: u64,
    #[serde(flatten)]
    total: &'a FloodTotal,
}

/// The rows of a summary for machines.
pub(crate) fn summary(floods: &BTreeMap<u64, FloodTotal>) -> Vec<FloodSummary<'_>> {
    floods.iter().map(|(slots, total)| FloodSummary { slots: *slots, total }).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use groundhog_sim::units::NodeId;

    fn figures(taken: u64, most_streams: u64, bound: u64) -> FloodFigures {
        FloodFigures { taken, most_streams, ..FloodFigures::new(NodeId(0), 8, bound) }
    }

    #[test]
    fn the_fullest_table_is_the_nearest_to_its_own_bound_in_whatever_order() {
        let seeds = [figures(5, 50, 100), figures(7, 60, 200), figures(1, 5, 10)];
        let total = |order: [usize; 3]| {
            let mut total = FloodTotal::default();
            order.iter().for_each(|seed| total.absorb(&seeds[*seed]));
            total
        };
        assert_eq!(total([0, 1, 2]), total([2, 1, 0]));
        let total = total([1, 0, 2]);
        assert_eq!((total.streams_taken, total.most_streams_taken, total.nodes), (13, 7, 3));
        assert_eq!((total.most_streams, total.bound), (5, 10));
    }

    #[test]
    fn the_table_fits_80_columns() {
        let mut total = FloodTotal::default();
        total.absorb(&figures(16_384_000, 15_616, 15_616));
        total.longest_refusal_ns = 603_123_000_000;
        total.edges_admitted_again = 1;
        (total.streams_refused, total.edges_still_refused) = (99_999_999, 99_999);
        let lines = lines(&BTreeMap::from([(64, total)]));
        assert!(lines.iter().all(|line| line.chars().count() <= 80), "{lines:#?}");
        assert!(super::lines(&BTreeMap::new()).is_empty());
    }
}
