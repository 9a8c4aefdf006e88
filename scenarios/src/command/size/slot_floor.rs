//! `groundhog size slot-floor`: what a flooder with so many slots takes, and what that leaves to everybody else.
//!
//! Promise: the seed's bounds, unless others are asked for; one node is flooded as `origin-flood` floods it, without faults.

use super::{Output, as_far, interrupted, ramp, trouble::Trouble};
use crate::campaign::interrupt::Interrupt;
use crate::command::CallError;
use crate::command::run::{joined, print_failures, program};
use crate::exit::Exit;
use crate::print::block::Failure;
use crate::simulate::{self, Manner};
use crate::target;
use groundhog_engine::streams::key::Class;
use groundhog_engine::streams::slots::{DEFAULT_SUCCESSORS, SlotBounds};
use groundhog_reports::{CurvePoints, Sizing, count};
use groundhog_sim::outcome::{FloodFigures, Outcome};
use indicatif::ProgressBar;
use serde::Serialize;
use std::fmt::Write;
use std::sync::atomic::Ordering;

/// Honest nodes that are linked to the one that is flooded, each with a stream in every class.
const HONEST: u64 = 4;

/// Nodes of the flooder at most: beyond them the plan would hold more than a small run needs.
const MOST_SLOTS: u64 = 256;

/// Which floor holds which flood: ramps the flooder's slots, and how often it connects anew, and says what it takes.
#[derive(clap::Args)]
pub struct Arguments {
    /// Streams that each slot may have whatever the others have; the seed's 32 where it is left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..=1_000))]
    floor: Option<u32>,
    /// Streams that all slots together may have above their floors; the seed's 3,328 where it is left out.
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(0..=16_384))]
    pool: Option<u32>,
    /// The flooder's slots, ramped.
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = [1, 2, 4, 8, 16, 32, 64],
        value_parser = clap::value_parser!(u64).range(1..=MOST_SLOTS))]
    slots: Vec<u64>,
    /// How often the flooder connects all of them anew, ramped.
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = [0, 2],
        value_parser = clap::value_parser!(u64).range(0..=6))]
    rotations: Vec<u64>,
    /// The seed of every run.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    output: Output,
}

/// One run of the ramp.
#[derive(Clone, Debug, Serialize)]
struct Point {
    slots: u64,
    rotations: u64,
    streams_taken: u64,
    streams_taken_by_the_formula: u64,
    most_streams: u64,
    honest_refused_below_floor: u64,
    honest_refused_above_floor: u64,
    agrees: bool,
    trouble: Option<Trouble>,
}

#[derive(Serialize)]
struct Answer<'a> {
    question: &'static str,
    answer: &'a str,
    seed: u64,
    slots: u16,
    floor: u32,
    pool: u32,
    bound: u64,
    points: &'a [Point],
}

/// Runs the ramp.
pub fn main(arguments: &Arguments) -> Result<Exit, CallError> {
    let bounds = bounds(arguments);
    let mut points = Vec::new();
    let (rotated, ramped) =
        (ramp::curves("--rotations", &arguments.rotations)?, ramp::rising(&arguments.slots));
    let _claim = arguments.output.claim()?;
    let (of, repeat) = (ramped.len() * rotated.len(), repeat(arguments));
    let bar = ProgressBar::new(of as u64);
    let interrupt = Interrupt::listen().map_err(CallError::Signals)?;
    let manner = Manner::plain(interrupt.stop());
    let give_up = || print_failures(&[interrupted("slot-floor", 0, of, &repeat)], arguments.output.json);
    interrupt.during(give_up, || -> Result<(), CallError> {
        for (rotations, slots) in rotated.iter().flat_map(|one| ramped.iter().map(move |other| (one, other)))
        {
            let point = point(arguments.seed, &bounds, *slots, *rotations, &manner)?;
            if manner.stop.load(Ordering::Relaxed) {
                break;
            }
            points.push(point);
            bar.inc(1);
        }
        Ok(())
    })?;
    bar.finish_and_clear();
    let cut = (points.len() < of).then(|| interrupted("slot-floor", points.len(), of, &repeat));
    if points.is_empty() {
        return Ok(print_failures(&cut.into_iter().collect::<Vec<_>>(), arguments.output.json));
    }
    let sentence = as_far(sentence(&bounds, &points), points.len(), of);
    let answer = Answer {
        question: "slot-floor",
        answer: &sentence,
        seed: arguments.seed,
        slots: bounds.slots,
        floor: bounds.floor,
        pool: bounds.pool,
        bound: bounds.most_streams(),
        points: &points,
    };
    let (table, head) = (text(&bounds, &sentence, &points), HEAD.to_vec());
    let (curves, rows) =
        (curves(&rotated, &points), points.iter().map(|point| point.cells().to_vec()).collect());
    let unwritten = arguments.output.hand_over(
        &table,
        &answer,
        &Sizing {
            title: "Which slot floor holds which flood?",
            answer: &sentence,
            plotted: "Streams that the flooder took, by its slots",
            curves,
            bound: Some(("the table's bound", bounds.most_streams())),
            head,
            rows,
            repeat: &repeat,
        },
    )?;
    let broken = points.iter().filter_map(|point| point.failure(&repeat)).chain(cut).collect::<Vec<_>>();
    Ok(unwritten.ending(print_failures(&broken, arguments.output.json)))
}

fn bounds(arguments: &Arguments) -> SlotBounds {
    let seeds = SlotBounds::for_successors(DEFAULT_SUCCESSORS);
    SlotBounds {
        floor: arguments.floor.unwrap_or(seeds.floor),
        pool: arguments.pool.unwrap_or(seeds.pool),
        ..seeds
    }
}

/// Slots that are charged to a flooder in the end: honest connections keep theirs, and a rotation gets the cleanest of the
/// rest.
fn charged(bounds: &SlotBounds, slots: u64, rotations: u64) -> u64 {
    (slots * (rotations + 1)).min(u64::from(bounds.slots).saturating_sub(HONEST))
}

/// Streams that a flooder takes who sends more than enough: the floors of all slots that it ever had, and the pool.
fn formula(bounds: &SlotBounds, slots: u64, rotations: u64) -> u64 {
    charged(bounds, slots, rotations) * u64::from(bounds.floor) + u64::from(bounds.pool)
}

fn point(
    seed: u64,
    bounds: &SlotBounds,
    slots: u64,
    rotations: u64,
    manner: &Manner,
) -> Result<Point, CallError> {
    let claim = u64::from(bounds.pool).div_ceil(slots);
    let keys = u64::from(bounds.floor) + claim + 20;
    let nodes = slots + 2 * HONEST + 4;
    let capacity = (bounds.most_streams() + 100).min(16_384);
    let settings = [
        ("nodes", nodes.to_string()),
        ("time.chaos_ms", "16000".to_owned()),
        ("time.settle_ms", "1000".to_owned()),
        ("engines.transaction_lifetime_ms", "600000".to_owned()),
        ("engines.slots", bounds.slots.to_string()),
        ("engines.slot_floor", bounds.floor.to_string()),
        ("engines.slot_pool", bounds.pool.to_string()),
        ("engines.inbox_share", bounds.inbox.to_string()),
        ("engines.self_share", bounds.self_share.to_string()),
        ("engines.stream_capacity", capacity.to_string()),
        ("links.hubs", "1".to_owned()),
        ("links.spokes", HONEST.to_string()),
        ("load.bursts", "40".to_owned()),
        ("load.relayed_per_mille", "0".to_owned()),
        ("crashes.at_time", "0".to_owned()),
        ("disks.failing_batches", "0".to_owned()),
        ("disks.slow", "0".to_owned()),
        ("adversaries.parties", "1".to_owned()),
        ("adversaries.party_slots", slots.to_string()),
        ("adversaries.flood_keys", keys.to_string()),
        ("adversaries.flood_every_us", "100".to_owned()),
        ("adversaries.flood_waves", (rotations + 1).to_string()),
        ("adversaries.flood_wave_ms", (16_000 / (rotations + 1)).to_string()),
        ("adversaries.flood_relayed_per_mille", "0".to_owned()),
        ("adversaries.flood_again_per_mille", "0".to_owned()),
        ("adversaries.flood_application_per_mille", "0".to_owned()),
        ("adversaries.flood_stamp_ms", "0".to_owned()),
        ("adversaries.forged_per_mille", "0".to_owned()),
        ("adversaries.rotations", rotations.to_string()),
        ("adversaries.away_us", "1000".to_owned()),
        ("adversaries.signals", "0".to_owned()),
        ("adversaries.replays", "0".to_owned()),
    ];
    let settings: Vec<String> = settings.iter().map(|(key, value)| format!("{key}={value}")).collect();
    let targets = target::find("origin-flood", &target::settings(&settings)?)?;
    let outcome = simulate::simulate(&targets[0].plan(seed, &[]), manner)?;
    Ok(Point::of(slots, rotations, formula(bounds, slots, rotations), &outcome))
}

impl Point {
    fn of(slots: u64, rotations: u64, formula: u64, outcome: &Outcome) -> Self {
        let sum = |of: fn(&FloodFigures) -> u64| outcome.floods.iter().map(of).sum();
        let taken: u64 = sum(|flood| flood.taken);
        let agrees = taken == formula;
        let differs =
            format!("the flooder took {} streams, and {} by the formula", count(taken), count(formula));
        Self {
            slots,
            rotations,
            streams_taken: taken,
            streams_taken_by_the_formula: formula,
            most_streams: sum(|flood| flood.most_streams),
            honest_refused_below_floor: sum(|flood| flood.honest_refused_below_floor),
            honest_refused_above_floor: sum(|flood| flood.honest_refused_above_floor),
            agrees,
            trouble: Trouble::of(outcome, "slot-floor", (!agrees).then_some(differs)),
        }
    }

    fn failure(&self, repeat: &str) -> Option<Failure> {
        let Self { slots, rotations, .. } = self;
        let load = format!("{slots} slots, {rotations} rotations");
        self.trouble.as_ref().map(|trouble| trouble.failure(&load, repeat))
    }

    fn cells(&self) -> [String; 8] {
        let figures = [
            self.slots,
            self.rotations,
            self.streams_taken,
            self.streams_taken_by_the_formula,
            self.most_streams,
            self.honest_refused_below_floor,
            self.honest_refused_above_floor,
        ];
        let [slots, rotations, taken, formula, most, below, above] = figures.map(count);
        let agrees = if self.agrees { "yes" } else { "NO" }.to_owned();
        [slots, rotations, taken, formula, most, below, above, agrees]
    }
}

const HEAD: [&str; 8] = [
    "slots",
    "rotations",
    "streams taken",
    "by the formula",
    "most in the table",
    "honest refused below",
    "above",
    "agrees",
];

fn sentence(bounds: &SlotBounds, points: &[Point]) -> String {
    let most = points.iter().max_by_key(|point| (point.streams_taken, point.slots));
    let sum = |of: fn(&Point) -> u64| points.iter().map(of).sum::<u64>();
    let (below, above) =
        (sum(|point| point.honest_refused_below_floor), sum(|point| point.honest_refused_above_floor));
    let Some(most) = most else { return "Nothing was asked.".to_owned() };
    let holds = match below {
        0 => "held".to_owned(),
        below => format!("did not hold: {} honest streams were refused below it", count(below)),
    };
    format!(
        "A floor of {floor} streams {holds} for every edge, whoever flooded, and {above} honest streams were refused above \
         it: a flooder that had {had} of {all} slots in all, {slots} at a time, took {taken} streams at most, {formula} by \
         the formula, of the {bound} that the table holds.",
        floor = bounds.floor,
        above = count(above),
        had = count(charged(bounds, most.slots, most.rotations)),
        all = bounds.slots,
        slots = count(most.slots),
        taken = count(most.streams_taken),
        formula = count(most.streams_taken_by_the_formula),
        bound = count(bounds.most_streams()),
    )
}

/// For a person, at 80 columns.
fn text(bounds: &SlotBounds, sentence: &str, points: &[Point]) -> String {
    let mut text = crate::print::text::wrapped(sentence, 80, 0);
    let line = |text: &mut String, cells: [&str; 8]| {
        let [slots, rotations, taken, formula, most, below, above, agrees] = cells;
        let _ = writeln!(
            text,
            "  {slots:>5}{rotations:>11}{taken:>10}{formula:>10}{most:>18}{below:>9}{above:>8}{agrees:>7}"
        );
    };
    let bound = format!("of {}", count(bounds.most_streams()));
    text.push_str("\n\n");
    line(
        &mut text,
        ["slots", "rotations", "taken", "formula", "most in the table", "honest", "refused", "agrees"],
    );
    line(&mut text, ["", "", "", "", &bound, "below", "above", ""]);
    for point in points {
        line(&mut text, point.cells().each_ref().map(String::as_str));
    }
    let classes = Class::ALL.len();
    let _ = writeln!(
        text,
        "\n  formula: the floors of all slots that the flooder had, and the pool\n  \
         honest: {HONEST} edges with streams in up to {classes} classes, while the flood goes on"
    );
    text
}

fn curves(rotated: &[u64], points: &[Point]) -> Vec<(String, CurvePoints)> {
    let curve = |rotations: &u64| {
        let points = points.iter().filter(|point| point.rotations == *rotations);
        let points = points
            .map(|point| (point.slots, point.streams_taken, point.streams_taken_by_the_formula))
            .collect();
        (format!("{rotations} rotations"), points)
    };
    rotated.iter().map(curve).collect()
}

fn repeat(arguments: &Arguments) -> String {
    let words = [program(), "size".to_owned(), "slot-floor".to_owned()];
    let mut command = format!("{} --seed {}", joined(&words), arguments.seed);
    let _ = write!(
        command,
        " --slots {} --rotations {}",
        ramp::list(&arguments.slots),
        ramp::list(&arguments.rotations)
    );
    if let Some(floor) = arguments.floor {
        let _ = write!(command, " --floor {floor}");
    }
    if let Some(pool) = arguments.pool {
        let _ = write!(command, " --pool {pool}");
    }
    command
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flooder_takes_the_floors_of_the_slots_that_it_had_and_the_pool() {
        let bounds = SlotBounds::for_successors(DEFAULT_SUCCESSORS);
        for (slots, rotations, taken) in
            [(1, 0, 3_360), (8, 0, 3_584), (64, 0, 5_376), (64, 2, 9_472), (64, 6, 13_696)]
        {
            assert_eq!(formula(&bounds, slots, rotations), taken, "{slots} slots, {rotations} rotations");
        }
    }
}
