//! What was counted, for a person and for a machine.

use groundhog_engine::flaws::Flaw;
use groundhog_reports::count;
use groundhog_sim::laws::catalogue::convicted_by;
use serde::Serialize;
use std::fmt::Write;
use std::time::Duration;

/// Some seeds of one flaw, with swarm or without.
#[derive(Clone, Copy, Debug, Default)]
pub struct Side {
    /// Seeds in which the law broke.
    pub convicted: u64,
    /// Real time of their runs, on this machine.
    pub real: Duration,
}

impl Side {
    fn add(&mut self, other: Side) {
        self.convicted += other.convicted;
        self.real += other.real;
    }
}

/// One flaw.
#[derive(Clone, Debug)]
pub struct Row {
    flaw: &'static str,
    scenario: &'static str,
    law: &'static str,
    /// Seeds that were counted.
    seeds: u64,
    plain: Side,
    swarm: Side,
}

impl Row {
    /// No seed yet.
    pub fn new(flaw: Flaw, scenario: &'static str) -> Self {
        let (plain, swarm) = Default::default();
        Self { flaw: flaw.id(), scenario, law: convicted_by(flaw).0, seeds: 0, plain, swarm }
    }

    /// One seed more.
    pub fn add(&mut self, plain: Side, swarm: Side) {
        self.seeds += 1;
        self.plain.add(plain);
        self.swarm.add(swarm);
    }
}

/// All of them.
#[derive(Clone, Debug)]
pub struct Table {
    /// Seeds of each flaw.
    pub seeds: u64,
    /// The first of them.
    pub from: u64,
    /// Flaw by flaw.
    pub rows: Vec<Row>,
}

#[derive(Serialize)]
struct JsonTable<'a> {
    seeds: u64,
    from: u64,
    flaws: Vec<JsonRow<'a>>,
    all: JsonRow<'a>,
}

#[derive(Serialize)]
struct JsonRow<'a> {
    flaw: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    scenario: Option<&'a str>,
    #[serde(skip_serializing_if = "Option::is_none")]
    law: Option<&'a str>,
    seeds: u64,
    convicted_without_swarm: u64,
    convicted_with_swarm: u64,
    per_1000_seeds_without_swarm: u64,
    per_1000_seeds_with_swarm: u64,
    real_time_ms_without_swarm: u64,
    real_time_ms_with_swarm: u64,
}

impl Table {
    /// Over all flaws.
    fn all(&self) -> Row {
        let mut all = Row {
            flaw: "all",
            scenario: "",
            law: "",
            seeds: 0,
            plain: Side::default(),
            swarm: Side::default(),
        };
        for row in &self.rows {
            all.plain.add(row.plain);
            all.swarm.add(row.swarm);
            all.seeds += row.seeds;
        }
        all
    }

    /// Seeds counted, over all flaws: fewer than were asked for where it was interrupted.
    pub fn done(&self) -> u64 {
        self.rows.iter().map(|row| row.seeds).sum()
    }

    /// For a person, at 80 columns.
    pub fn text(&self) -> String {
        let mut text = format!(
            "Seeds that convict each flaw by the outcome law named for it, in 1,000\n({} seeds from {} on, the same with swarm and without)\n\n",
            count(self.seeds),
            self.from
        );
        let _ = writeln!(text, "  {:<44}{:>9}{:>9}{:>9}", "flaw", "without", "swarm", "change");
        for row in &self.rows {
            text.push_str(&line(row, row.seeds));
        }
        text.push('\n');
        let all = self.all();
        text.push_str(&line(&all, all.seeds));
        let seconds = |side: &Side| format!("{:.1} s", side.real.as_secs_f64());
        let (plain, swarm) = (seconds(&all.plain), seconds(&all.swarm));
        let _ = writeln!(text, "  {:<44}{plain:>9}{swarm:>9}", "real time of the runs, on this machine");
        text
    }

    /// For a machine.
    pub fn json(&self) -> Result<String, serde_json::Error> {
        let all = self.all();
        let rows = self.rows.iter().map(|row| {
            let named = json_row(row, row.seeds);
            JsonRow { scenario: Some(row.scenario), law: Some(row.law), ..named }
        });
        let table = JsonTable {
            seeds: self.seeds,
            from: self.from,
            flaws: rows.collect(),
            all: json_row(&all, all.seeds),
        };
        Ok(format!("{}\n", serde_json::to_string_pretty(&table)?))
    }
}

fn json_row(row: &Row, seeds: u64) -> JsonRow<'_> {
    let ms = |side: Side| u64::try_from(side.real.as_millis()).unwrap_or(u64::MAX);
    JsonRow {
        flaw: row.flaw,
        scenario: None,
        law: None,
        seeds,
        convicted_without_swarm: row.plain.convicted,
        convicted_with_swarm: row.swarm.convicted,
        per_1000_seeds_without_swarm: per_thousand(row.plain.convicted, seeds),
        per_1000_seeds_with_swarm: per_thousand(row.swarm.convicted, seeds),
        real_time_ms_without_swarm: ms(row.plain),
        real_time_ms_with_swarm: ms(row.swarm),
    }
}

fn line(row: &Row, seeds: u64) -> String {
    let (plain, swarm) = (per_thousand(row.plain.convicted, seeds), per_thousand(row.swarm.convicted, seeds));
    let change = change(row.plain.convicted, row.swarm.convicted);
    format!("  {:<44}{:>9}{:>9}{change:>9}\n", row.flaw, count(plain), count(swarm))
}

/// Rounded to the nearest.
fn per_thousand(convicted: u64, seeds: u64) -> u64 {
    (convicted * 2_000 + seeds).checked_div(2 * seeds).unwrap_or(0)
}

/// How many times as many with swarm.
fn change(plain: u64, swarm: u64) -> String {
    match (swarm * 100).checked_div(plain) {
        Some(hundredths) => format!("x {}.{:02}", hundredths / 100, hundredths % 100),
        None if swarm > 0 => "new".to_owned(),
        None => "-".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table() -> Table {
        let side = |convicted, ms| Side { convicted, real: Duration::from_millis(ms) };
        let row = |flaw, plain, swarm| Row {
            seeds: 300,
            plain: side(plain, 1_500),
            swarm: side(swarm, 4_000),
            ..Row::new(flaw, "crash-mid-batch")
        };
        Table {
            seeds: 300,
            from: 7,
            rows: vec![
                row(Flaw::MarkerTrustedAfterFailedFlush, 2, 9),
                row(Flaw::EarlyRelease, 300, 290),
                row(Flaw::MarkBeforeFlushAtOpen, 0, 3),
            ],
        }
    }

    #[test]
    fn each_flaw_and_all_of_them_stand_with_swarm_and_without() {
        let text = table().text();
        let rows: Vec<Vec<&str>> = text.lines().map(|line| line.split_whitespace().collect()).collect();
        let row = |flaw: &str| rows.iter().find(|row| row.first() == Some(&flaw)).unwrap().clone();
        assert_eq!(row("marker-trusted-after-failed-directory-flush")[1..], ["7", "30", "x", "4.50"]);
        assert_eq!(row("early-release")[1..], ["1,000", "967", "x", "0.96"]);
        assert_eq!(row("mark-before-flush-at-open")[1..], ["0", "10", "new"]);
        assert_eq!(row("all")[1..], ["336", "336", "x", "1.00"]);
        assert!(text.contains("4.5 s   12.0 s"), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }

    #[test]
    fn a_machine_gets_counts_rates_laws_and_times() {
        let json: serde_json::Value = serde_json::from_str(&table().json().unwrap()).unwrap();
        let first = &json["flaws"][0];
        assert_eq!(first["law"], "store/markers");
        assert_eq!(
            (first["convicted_with_swarm"].as_u64(), first["per_1000_seeds_with_swarm"].as_u64()),
            (Some(9), Some(30))
        );
        assert_eq!(
            (json["all"]["seeds"].as_u64(), json["all"]["convicted_without_swarm"].as_u64()),
            (Some(900), Some(302))
        );
        assert_eq!(json["all"]["real_time_ms_with_swarm"], 12_000);
    }
}
