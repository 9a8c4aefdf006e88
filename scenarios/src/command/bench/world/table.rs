//! What was measured, for a person and for a machine.

use super::goal;
use super::timed::Timed;
use crate::print::text::wrapped;
use groundhog_reports::count;
use serde::Serialize;
use std::fmt::Write;
use std::time::Duration;

/// Messages through the network alone.
pub struct Messages {
    pub nodes: u16,
    pub messages: u64,
    pub timed: Timed,
    /// Messages a second.
    pub goal: u64,
}

/// Simulated time over real time.
pub struct RealTime {
    pub nodes: u16,
    pub simulated: Duration,
    pub timed: Timed,
    /// Times as fast as real time.
    pub goal: u64,
}

/// Durable admissions through the whole path.
#[derive(Clone)]
pub struct Admissions {
    pub nodes: u16,
    pub admissions: u64,
    pub events: u64,
    pub batches: u64,
    pub records: u64,
    pub timed: Timed,
}

/// The same admissions with something switched off, or something real switched on.
pub struct Part {
    pub name: &'static str,
    pub timed: Timed,
}

/// The whole run.
pub struct Table {
    pub messages: Vec<Messages>,
    pub real_time: Vec<RealTime>,
    pub few: Admissions,
    pub many: Admissions,
    pub parts: Vec<Part>,
}

/// One figure beside its goal.
#[derive(Serialize)]
struct Row {
    what: &'static str,
    nodes: u16,
    /// Per second that the run had a core.
    reached: u64,
    /// Per second on the clock.
    reached_by_the_clock: u64,
    unit: &'static str,
    goal: u64,
    per_mille_of_goal: u64,
    elapsed_ns: u64,
    processor_ns: Option<u64>,
}

/// `part / whole` in thousandths, rounded down.
fn per_mille(part: u128, whole: u128) -> u64 {
    u64::try_from(part * 1_000 / whole.max(1)).unwrap_or(u64::MAX)
}

/// `things` a second, rounded down.
fn per_second(things: u64, elapsed: Duration) -> u64 {
    let rate = u128::from(things) * 1_000_000_000 / elapsed.as_nanos().max(1);
    u64::try_from(rate).unwrap_or(u64::MAX)
}

fn ns(elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
}

/// Thousandths with two decimals, rounded down.
fn decimal(per_mille: u64) -> String {
    format!("{}.{:02}", per_mille / 1_000, per_mille % 1_000 / 10)
}

impl Row {
    /// `things` were done; `goal` is for a second of one core.
    fn new(
        what: &'static str,
        unit: &'static str,
        (nodes, timed): (u16, Timed),
        things: u64,
        goal: u64,
    ) -> Self {
        let reached = per_second(things, timed.core());
        Self {
            what,
            nodes,
            reached,
            reached_by_the_clock: per_second(things, timed.elapsed),
            unit,
            goal,
            per_mille_of_goal: per_mille(reached.into(), goal.into()),
            elapsed_ns: ns(timed.elapsed),
            processor_ns: timed.processor.map(ns),
        }
    }
}

impl Admissions {
    fn rate(&self) -> u64 {
        per_second(self.admissions, self.timed.core())
    }
}

impl Table {
    fn rows(&self) -> Vec<Row> {
        let messages = self
            .messages
            .iter()
            .map(|row| Row::new("network", "messages/s", (row.nodes, row.timed), row.messages, row.goal));
        let real_time = self.real_time.iter().map(|row| {
            Row::new("real time", "x real", (row.nodes, row.timed), row.simulated.as_secs(), row.goal)
        });
        let admissions = [
            (&self.few, goal::ADMISSIONS_PER_SECOND),
            (&self.many, self.few.rate() * goal::MANY_NODES_PER_MILLE / 1_000),
        ];
        let admissions = admissions.into_iter().map(|(row, goal)| {
            Row::new("admissions", "admissions/s", (row.nodes, row.timed), row.admissions, goal)
        });
        messages.chain(real_time).chain(admissions).collect()
    }

    /// For a person, in lines of at most `width` columns.
    pub fn text(&self, width: usize) -> String {
        let mut text = String::from("The simulated world on one core of this machine\n");
        let mut last = "";
        for row in self.rows() {
            if row.what != last {
                let _ = writeln!(text, "\n{}", wrapped(about(row.what), width, 0));
                let _ =
                    writeln!(text, "{}", cells(["nodes", row.unit, "by the clock", "goal", "reached/goal"]));
                last = row.what;
            }
            let [nodes, reached, by_the_clock, goal] =
                [row.nodes.into(), row.reached, row.reached_by_the_clock, row.goal].map(count);
            let ratio = decimal(row.per_mille_of_goal);
            let _ = writeln!(text, "{}", cells([&nodes, &reached, &by_the_clock, &goal, &ratio]));
        }
        let _ = writeln!(text, "\n{}", wrapped(&self.notes(), width, 0));
        let _ = writeln!(text, "\nWhere the time of an admission goes, {} nodes\n", self.few.nodes);
        for line in self.breakdown() {
            let _ = writeln!(text, "  {line}");
        }
        text
    }

    fn notes(&self) -> String {
        let few = &self.few;
        format!(
            "{} Admissions are never to be below {} a second. A batch holds {} admissions in {} records, an admission makes {} \
             events.",
            if few.timed.processor.is_some() {
                "Rates are per second that a run had a core."
            } else {
                "Rates are per second on the clock: the system does not say how long a run had a core."
            },
            count(goal::ADMISSIONS_PER_SECOND_AT_LEAST),
            few.admissions / few.batches.max(1),
            few.records / few.batches.max(1),
            few.events / few.admissions.max(1),
        )
    }

    /// Nanoseconds of one admission, and of the whole's time each manner took.
    fn breakdown(&self) -> Vec<String> {
        let whole_ns = self.few.timed.core().as_nanos();
        let per_admission = |elapsed: Duration| elapsed.as_nanos() / u128::from(self.few.admissions.max(1));
        let line = |name: &str, elapsed: Duration| {
            let share = decimal(per_mille(elapsed.as_nanos(), whole_ns));
            format!("{name:<24} {:>10} ns  {share:>6} of the whole", count(per_admission(elapsed) as u64))
        };
        let mut lines = vec![line("the whole path", self.few.timed.core())];
        lines.extend(self.parts.iter().map(|part| line(part.name, part.timed.core())));
        if let Some(network) = self.messages.iter().find(|row| row.nodes == self.few.nodes) {
            let each = network.timed.core() / u32::try_from(network.messages.max(1)).unwrap_or(u32::MAX);
            let share = decimal(per_mille(each.as_nanos(), per_admission(self.few.timed.core())));
            lines.push(format!(
                "{:<24} {:>10} ns  {share:>6} of the whole",
                "one message, alone",
                count(ns(each))
            ));
        }
        lines
    }

    /// For a machine.
    pub fn json(&self) -> String {
        let (few, whole_ns) = (&self.few, self.few.timed.core().as_nanos());
        let parts: Vec<_> = self
            .parts
            .iter()
            .map(|part| {
                serde_json::json!({
                    "part": part.name,
                    "core_ns": ns(part.timed.core()),
                    "per_mille_of_whole": per_mille(part.timed.core().as_nanos(), whole_ns),
                })
            })
            .collect();
        let all = serde_json::json!({
            "bench": "world",
            "time": "this machine's real time on one core",
            "rows": self.rows(),
            "admissions_per_second_at_least": goal::ADMISSIONS_PER_SECOND_AT_LEAST,
            "admissions": few.admissions,
            "events": few.events,
            "batches": few.batches,
            "records": few.records,
            "whole_ns": ns(few.timed.core()),
            "parts": parts,
        });
        format!("{all:#}\n")
    }
}

/// What the rows of one kind are.
fn about(what: &str) -> &'static str {
    match what {
        "network" => {
            "Messages through the network alone: driver, heap of time, links, ledger with fingerprint and laws; no engines, \
             no lanes, no credit"
        }
        "real time" => "The same with one small message a node each 10 ms: simulated over real time",
        _ => {
            "Durable admissions, the whole path, all laws and the fingerprint on, keyed hash for Ed25519; the goal of many \
             nodes is 0.7 of what few reached"
        }
    }
}

/// One line of figures.
fn cells(cells: [&str; 5]) -> String {
    let [nodes, reached, by_the_clock, goal, ratio] = cells;
    format!("  {nodes:>6} {reached:>14} {by_the_clock:>14} {goal:>12} {ratio:>14}")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let second = Timed { elapsed: Duration::from_secs(2), processor: Some(Duration::from_secs(1)) };
        let admissions = |nodes, admissions| Admissions {
            nodes,
            admissions,
            events: admissions * 16,
            batches: admissions / 50,
            records: admissions / 5,
            timed: second,
        };
        Table {
            messages: vec![Messages { nodes: 10, messages: 1_250_000, timed: second, goal: 2_500_000 }],
            real_time: vec![RealTime {
                nodes: 10,
                simulated: Duration::from_secs(2_600),
                timed: second,
                goal: 2_500,
            }],
            few: admissions(10, 80_000),
            many: admissions(1_000, 70_000),
            parts: vec![Part {
                name: "without laws",
                timed: Timed { processor: None, elapsed: Duration::from_millis(500) },
            }],
        }
    }

    #[test]
    fn each_figure_stands_beside_its_goal() {
        let reached: Vec<_> = table()
            .rows()
            .iter()
            .map(|row| (row.nodes, row.reached, row.goal, row.per_mille_of_goal))
            .collect();
        assert_eq!(
            reached,
            [
                (10, 1_250_000, 2_500_000, 500),
                (10, 2_600, 2_500, 1_040),
                (10, 80_000, 100_000, 800),
                (1_000, 70_000, 56_000, 1_250),
            ]
        );
    }

    #[test]
    fn the_text_says_what_a_part_costs_and_fits_the_width() {
        let text = table().text(80);
        assert!(text.contains("without laws                  6,250 ns    0.50 of the whole"), "{text}");
        assert!(text.contains("one message, alone              800 ns    0.06 of the whole"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        let json: serde_json::Value = serde_json::from_str(&table().json()).unwrap();
        assert_eq!(json["parts"][0]["per_mille_of_whole"], 500);
    }
}
