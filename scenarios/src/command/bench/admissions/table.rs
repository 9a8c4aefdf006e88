//! What was measured, for a person and for a machine. Every figure is this machine's real time, and says so.

use super::directory::in_memory;
use super::people::Load;
use super::raw::Raw;
use super::row::Row;
use crate::print::text::wrapped;
use groundhog_reports::{LADDER, Percentile, count, duration, percentile};
use hdrhistogram::Histogram;
use std::fmt::Write;
use std::path::PathBuf;
use std::time::Duration;

/// What is timed.
const TIMED: &str = "an admission from its call until its verdict is released, when all that it was computed from is \
                     durable; signed and verified before; each in flight begins its next when its last was released";

/// What stands beside it.
const RAW: &str = "records that the directory takes one at a time, without the engine: written, flushed, renamed, the \
                   directory flushed; measured before and after each row";

/// The whole run.
pub struct Table {
    /// The directory that was given.
    pub inside: PathBuf,
    /// Its kind of file system, where the system says it.
    pub file_system: Option<String>,
    /// What was admitted.
    pub load: Load,
    /// The length of a record's file.
    pub record_bytes: usize,
    /// The rows, each with the directory alone, before and after it.
    pub rows: Vec<(Row, Raw)>,
}

/// `things` a second, rounded down.
fn per_second(things: u64, elapsed: Duration) -> u64 {
    let rate = u128::from(things) * 1_000_000_000 / elapsed.as_nanos().max(1);
    u64::try_from(rate).unwrap_or(u64::MAX)
}

/// `part / whole` with one decimal.
fn tenths(part: u128, whole: u128) -> String {
    let tenths = part * 10 / whole.max(1);
    format!("{}.{}", tenths / 10, tenths % 10)
}

/// A percentile, where enough samples lie above it.
fn shown(latency_ns: &Histogram<u64>, label: &str) -> Option<u64> {
    let step: &Percentile = LADDER.iter().find(|step| step.label == label)?;
    percentile(latency_ns, *step)
}

/// How many times the raw rate a row reached, as two products of integers.
fn times_raw(row: &Row, raw: Raw) -> (u128, u128) {
    (u128::from(row.admissions) * raw.elapsed.as_nanos(), u128::from(raw.records) * row.elapsed.as_nanos())
}

impl Table {
    /// For a person, in lines of at most `width` columns.
    pub fn text(&self, width: usize) -> String {
        let mut text =
            String::from("Admissions on this machine's real disk, in this machine's real time\n\n");
        for (label, words) in self.facts() {
            let _ = writeln!(text, "  {label:<10} {}", wrapped(&words, width - 13, 13));
        }
        let heads = ["in flight", "admitted/s", "p50", "p99", "max", "per batch", "raw/s", "x raw"];
        let _ = writeln!(text, "\n{}", cells(&heads.map(str::to_owned)));
        for (row, raw) in &self.rows {
            let shown = |label| shown(&row.latency_ns, label).map_or_else(|| "-".to_owned(), duration);
            let (ours, theirs) = times_raw(row, *raw);
            let _ = writeln!(
                text,
                "{}",
                cells(&[
                    count(u64::from(row.in_flight)),
                    count(per_second(row.admissions, row.elapsed)),
                    shown("p50"),
                    shown("p99"),
                    duration(row.latency_ns.max()),
                    tenths(u128::from(row.counted.records), u128::from(row.counted.batches)),
                    count(per_second(raw.records, raw.elapsed)),
                    tenths(ours, theirs),
                ])
            );
        }
        for note in self.notes() {
            let _ = writeln!(text, "\n  {}", wrapped(&note, width - 2, 2));
        }
        text
    }

    fn facts(&self) -> [(&'static str, String); 5] {
        let kind = self.file_system.as_ref().map(|kind| format!(" ({kind})")).unwrap_or_default();
        let load = match self.load {
            Load::Fresh => "each admission opens a stream of its own".to_owned(),
            Load::Streams(1) => "one stream that goes on".to_owned(),
            Load::Streams(streams) => {
                format!("{} streams that go on, in turn", count(u64::from(streams)))
            }
        };
        [
            ("directory", format!("{}{kind}", self.inside.display())),
            ("load", format!("{load}; a record's file has {} bytes", count(self.record_bytes as u64))),
            ("timed", TIMED.to_owned()),
            ("per batch", "records that a batch wrote, on average".to_owned()),
            ("raw", RAW.to_owned()),
        ]
    }

    fn notes(&self) -> Vec<String> {
        let mut notes = Vec::new();
        if self.file_system.as_deref().is_some_and(in_memory) {
            notes.push(
                "Nothing of this directory ever reaches a disk: give one that is on a disk with --dir."
                    .to_owned(),
            );
        }
        if self.rows.iter().any(|(row, _)| shown(&row.latency_ns, "p99").is_none()) {
            notes.push("- stands where fewer than ten samples lie above a percentile.".to_owned());
        }
        for (row, _) in self.rows.iter().filter(|(row, _)| row.used_up) {
            notes.push(format!(
                "With {} in flight the bound of what one row admits was reached after {} admissions, in {}.",
                row.in_flight,
                count(row.admissions),
                duration(ns(row.elapsed)),
            ));
        }
        notes
    }

    /// For a machine.
    pub fn json(&self) -> String {
        let rows: Vec<_> = self.rows.iter().map(|(row, raw)| row_json(row, *raw)).collect();
        let streams = match self.load {
            Load::Fresh => None,
            Load::Streams(streams) => Some(streams),
        };
        let all = serde_json::json!({
            "bench": "admissions",
            "time": "this machine's real time",
            "timed": TIMED,
            "directory": self.inside.display().to_string(),
            "file_system": self.file_system,
            "streams": streams,
            "record_bytes": self.record_bytes,
            "raw": RAW,
            "rows": rows,
        });
        format!("{all:#}\n")
    }
}

fn row_json(row: &Row, raw: Raw) -> serde_json::Value {
    let (ours, theirs) = times_raw(row, raw);
    serde_json::json!({
        "in_flight": row.in_flight,
        "admissions": row.admissions,
        "elapsed_ns": ns(row.elapsed),
        "admissions_per_second": per_second(row.admissions, row.elapsed),
        "latency_ns": {
            "p50": shown(&row.latency_ns, "p50"),
            "p99": shown(&row.latency_ns, "p99"),
            "max": row.latency_ns.max(),
        },
        "batches": row.counted.batches,
        "records": row.counted.records,
        "transitions": row.counted.transitions,
        "per_mille_of_raw": u64::try_from(ours * 1_000 / theirs.max(1)).unwrap_or(u64::MAX),
        "used_up": row.used_up,
        "raw": {
            "records": raw.records,
            "elapsed_ns": ns(raw.elapsed),
            "records_per_second": per_second(raw.records, raw.elapsed),
        },
    })
}

fn ns(elapsed: Duration) -> u64 {
    u64::try_from(elapsed.as_nanos()).unwrap_or(u64::MAX)
}

/// One line of the table.
fn cells(cells: &[String; 8]) -> String {
    const WIDTHS: [usize; 8] = [9, 10, 8, 8, 8, 9, 7, 5];
    let mut line = String::from("  ");
    for (cell, width) in cells.iter().zip(WIDTHS) {
        let _ = write!(line, "{cell:>width$}  ");
    }
    line.trim_end().to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(samples: u64) -> Table {
        let mut latency_ns = Histogram::new(3).expect("three figures");
        for sample in 1..=samples {
            latency_ns.record(sample * 1_000).expect("it grows");
        }
        let row = Row {
            in_flight: 8,
            admissions: samples,
            elapsed: Duration::from_secs(1),
            latency_ns,
            counted: super::super::row::Counted { batches: 4, records: 10, transitions: 12 },
            used_up: true,
        };
        let raw = Raw { records: 150, elapsed: Duration::from_secs(2) };
        Table {
            inside: PathBuf::from("/somewhere"),
            file_system: Some("tmpfs".to_owned()),
            load: Load::Streams(3),
            record_bytes: 1_234,
            rows: vec![(row, raw)],
        }
    }

    #[test]
    fn figures_are_what_was_counted_and_a_percentile_needs_ten_samples_above_it() {
        let few = table(150);
        let text = few.text(80);
        let row = text.lines().find(|line| line.trim_start().starts_with("8 ")).unwrap_or_default();
        let cells: Vec<_> = row.split_whitespace().collect();
        assert_eq!(cells[..2], ["8", "150"]);
        assert_eq!(cells[4..], ["-", "150", "us", "2.5", "75", "2.0"]);
        assert!(text.contains("ever reaches a disk") && text.contains("bound of what one row"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
        assert!(table(1_000).rows.iter().all(|(row, _)| shown(&row.latency_ns, "p99").is_some()));
    }
}
