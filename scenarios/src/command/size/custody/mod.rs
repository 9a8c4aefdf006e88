//! `groundhog size custody`: how much lost mail relay custody holds before deliveries stall, and how long a stall lasts.
//!
//! Promise: the seed's bounds, each load in a run of its own, days of simulated time with every law on; what the formula says
//! stands beside what was simulated, and where they differ the command says so and fails.

mod stall;

use super::{Output, as_far, interrupted, ramp, trouble::Trouble};
use crate::campaign::interrupt::Interrupt;
use crate::command::CallError;
use crate::command::run::{joined, print_failures, program};
use crate::exit::Exit;
use crate::simulate::Manner;
use groundhog_engine::streams::RELAY_INBOX_MAX_MS;
use groundhog_engine::streams::record::CUSTODY_MAX_ENTRIES;
use groundhog_reports::{CurvePoints, Sizing, count};
use indicatif::ProgressBar;
use serde::Serialize;
use stall::{DAYS, DRAIN_US, Formula, Load, Seen};
use std::fmt::Write;
use std::sync::atomic::Ordering;

/// How much lost mail relay custody holds before deliveries stall, and how long a stall lasts: ramps the mail that every
/// carrier loses before it is taken, and the transactions' lifetime.
#[derive(clap::Args)]
pub struct Arguments {
    /// The lost mail, ramped.
    #[arg(long, value_name = "N,N", value_delimiter = ',', default_values_t = [16, 32, 48, 63, 64, 65, 96],
        value_parser = clap::value_parser!(u32).range(1..=1_000))]
    lost: Vec<u32>,
    /// The lifetime of every transaction in seconds, ramped; at most four.
    #[arg(long, value_name = "S,S", value_delimiter = ',', default_values_t = [60, 600, 6_000],
        value_parser = clap::value_parser!(u64).range(1..=6_000))]
    lifetimes: Vec<u64>,
    /// The seed of every run.
    #[arg(long, value_name = "N", default_value_t = 0)]
    seed: u64,
    #[command(flatten)]
    output: Output,
}

/// One run of the ramp. Instants are milliseconds after the first lost mail was signed.
#[derive(Clone, Debug, Serialize)]
struct Point {
    lifetime_ms: u64,
    lost: u32,
    most_in_custody: u64,
    most_in_custody_by_the_formula: u64,
    admits_again_after_ms: Option<u64>,
    admits_again_after_ms_by_the_formula: Option<u64>,
    deliveries_refused: u64,
    mails_expired: u64,
    agrees: bool,
    trouble: Option<Trouble>,
}

#[derive(Serialize)]
struct Answer<'a> {
    question: &'static str,
    answer: &'a str,
    seed: u64,
    entries: usize,
    drain_pass_every_ms: u64,
    mails_after_the_loss: u64,
    points: &'a [Point],
}

/// Runs the ramp.
pub fn main(arguments: &Arguments) -> Result<Exit, CallError> {
    let lifetimes = ramp::curves("--lifetimes", &arguments.lifetimes)?;
    let lost = ramp::rising(&arguments.lost);
    let _claim = arguments.output.claim()?;
    let (of, repeat) = (lifetimes.len() * lost.len(), repeat(arguments));
    let bar = ProgressBar::new(of as u64);
    let mut points = Vec::new();
    let interrupt = Interrupt::listen().map_err(CallError::Signals)?;
    let manner = Manner::plain(interrupt.stop());
    let give_up = || print_failures(&[interrupted("custody", 0, of, &repeat)], arguments.output.json);
    interrupt.during(give_up, || -> Result<(), CallError> {
        for (lifetime, lost) in lifetimes.iter().flat_map(|one| lost.iter().map(move |other| (one, other))) {
            let load = Load { lost: *lost, lifetime_ms: lifetime * 1_000 };
            let point = Point::run(arguments.seed, load, &manner)?;
            if manner.stop.load(Ordering::Relaxed) {
                break;
            }
            points.push(point);
            bar.inc(1);
        }
        Ok(())
    })?;
    bar.finish_and_clear();
    let cut = (points.len() < of).then(|| interrupted("custody", points.len(), of, &repeat));
    if points.is_empty() {
        return Ok(print_failures(&cut.into_iter().collect::<Vec<_>>(), arguments.output.json));
    }
    let sentence = as_far(sentence(&points), points.len(), of);
    let answer = Answer {
        question: "custody",
        answer: &sentence,
        seed: arguments.seed,
        entries: CUSTODY_MAX_ENTRIES,
        drain_pass_every_ms: DRAIN_US / 1_000,
        mails_after_the_loss: DAYS,
        points: &points,
    };
    let sizing = Sizing {
        title: "How much lost mail does relay custody hold?",
        answer: &sentence,
        plotted: "Seconds beyond 7 days until full custody admits again, 0 where it never stalls, by the mail that was lost",
        curves: curves(&lifetimes, &points),
        bound: None,
        head: HEAD.to_vec(),
        rows: points.iter().map(|point| point.cells().to_vec()).collect(),
        repeat: &repeat,
    };
    let unwritten = arguments.output.hand_over(&text(&sentence, &points), &answer, &sizing)?;
    let failures = points.iter().filter_map(|point| point.failure(&repeat)).chain(cut).collect::<Vec<_>>();
    Ok(unwritten.ending(print_failures(&failures, arguments.output.json)))
}

impl Point {
    fn run(seed: u64, load: Load, manner: &Manner) -> Result<Self, CallError> {
        let (formula, seen, outcome) = load.run(seed, manner)?;
        let differs = seen.differs(&formula);
        let agrees = differs.is_none();
        let trouble = Trouble::of(&outcome, "custody", differs);
        let Formula { held: held_by_the_formula, stalls_ms } = formula;
        let Seen { held, stalled_ms, refused, expired, .. } = seen;
        Ok(Self {
            lifetime_ms: load.lifetime_ms,
            lost: load.lost,
            most_in_custody: held,
            most_in_custody_by_the_formula: held_by_the_formula,
            admits_again_after_ms: stalled_ms,
            admits_again_after_ms_by_the_formula: stalls_ms,
            deliveries_refused: refused,
            mails_expired: expired,
            agrees,
            trouble,
        })
    }

    fn failure(&self, repeat: &str) -> Option<crate::print::block::Failure> {
        let load = format!("{} lost, lifetime {} s", self.lost, self.lifetime_ms / 1_000);
        self.trouble.as_ref().map(|trouble| trouble.failure(&load, repeat))
    }

    fn cells(&self) -> [String; 9] {
        let span = |ms: Option<u64>| ms.map_or("no stall".to_owned(), span);
        [
            count(self.lifetime_ms / 1_000),
            count(self.lost.into()),
            count(self.most_in_custody),
            count(self.most_in_custody_by_the_formula),
            span(self.admits_again_after_ms),
            span(self.admits_again_after_ms_by_the_formula),
            count(self.deliveries_refused),
            count(self.mails_expired),
            if self.agrees { "yes" } else { "NO" }.to_owned(),
        ]
    }
}

const HEAD: [&str; 9] = [
    "lifetime (s)",
    "lost",
    "most in custody",
    "by the formula",
    "admits again after",
    "by the formula",
    "deliveries refused",
    "mails expired",
    "agrees",
];

/// `7 d 00:10:06`.
fn span(ms: u64) -> String {
    let seconds = ms / 1_000;
    let (days, rest) = (seconds / 86_400, seconds % 86_400);
    format!("{days} d {:02}:{:02}:{:02}", rest / 3_600, rest / 60 % 60, rest % 60)
}

fn sentence(points: &[Point]) -> String {
    let stalls = |point: &&Point| point.deliveries_refused > 0;
    let held = points.iter().filter(|point| !stalls(point)).map(|point| point.lost).max();
    let stalled = points.iter().filter(stalls);
    let Some(fewest) = stalled.clone().map(|point| point.lost).min() else {
        let held = count(held.unwrap_or(0).into());
        return format!(
            "Relay custody of {CUSTODY_MAX_ENTRIES} entries holds {held} lost mails and never stalls."
        );
    };
    let holds = match held.filter(|held| *held < fewest) {
        Some(held) => {
            format!("holds {} lost mails and stalls with {}", count(held.into()), count(fewest.into()))
        }
        None => format!("stalls with {} lost mails", count(fewest.into())),
    };
    let ends: Vec<u64> = stalled.clone().filter_map(|point| point.admits_again_after_ms).collect();
    let lasts = match (ends.iter().min(), ends.iter().max()) {
        (Some(least), Some(most)) if least == most => format!("for {}", span(*least)),
        (Some(least), Some(most)) => format!("for {} to {}", span(*least), span(*most)),
        _ => "to the end of the run".to_owned(),
    };
    let expired = stalled.map(|point| point.mails_expired).max().unwrap_or(0);
    format!(
        "Relay custody of {CUSTODY_MAX_ENTRIES} entries {holds}: it then admits nothing new out of the inbox {lasts} after the first of \
         them was signed, and of the {DAYS} mails that come meanwhile up to {expired} expired at the carriers."
    )
}

/// For a person, at 80 columns.
fn text(sentence: &str, points: &[Point]) -> String {
    let mut text = crate::print::text::wrapped(sentence, 80, 0);
    let line = |text: &mut String, cells: [&str; 9]| {
        let [lifetime, lost, held, held_formula, after, after_formula, refused, expired, agrees] = cells;
        let _ = writeln!(
            text,
            "{lifetime:>8}{lost:>6}{held:>6}{held_formula:>9}{after:>14}{after_formula:>14}{refused:>8}{expired:>8}{agrees:>7}"
        );
    };
    text.push_str("\n\n");
    line(&mut text, ["", "", "in", "custody", "admits", "again after", "deliv.", "mails", ""]);
    line(
        &mut text,
        ["lifetime", "lost", "most", "formula", "simulated", "formula", "refused", "expired", "agrees"],
    );
    for point in points {
        let cells = point.cells();
        let mut cells = cells.each_ref().map(String::as_str);
        let lifetime = format!("{} s", cells[0]);
        cells[0] = &lifetime;
        line(&mut text, cells);
    }
    let _ = write!(
        text,
        "\n  formula: {CUSTODY_MAX_ENTRIES} entries; the first is spent its lifetime, 7 d and twice 3 s\n  \
         after it was signed: a lower edge. The next drain pass, one each {} s, sees\n  \
         that, so agrees: at most one pass (and the time that it takes) later\n  \
         lost: admitted and not taken, then lost at every carrier; a mail a day follows\n",
        DRAIN_US / 1_000_000
    );
    text
}

/// Beyond the seven days that all stalls have in common, so that lifetimes are told apart.
fn curves(lifetimes: &[u64], points: &[Point]) -> Vec<(String, CurvePoints)> {
    let beyond = |ms: Option<u64>| ms.unwrap_or(0).saturating_sub(RELAY_INBOX_MAX_MS) / 1_000;
    let curve = |lifetime: &u64| {
        let points = points.iter().filter(|point| point.lifetime_ms == lifetime * 1_000);
        let point = |point: &Point| {
            let (seen, formula) = (point.admits_again_after_ms, point.admits_again_after_ms_by_the_formula);
            (u64::from(point.lost), beyond(seen), beyond(formula))
        };
        (format!("lifetime {} s", count(*lifetime)), points.map(point).collect())
    };
    lifetimes.iter().map(curve).collect()
}

fn repeat(arguments: &Arguments) -> String {
    let words = [program(), "size".to_owned(), "custody".to_owned()];
    let (lost, lifetimes) = (ramp::list(&arguments.lost), ramp::list(&arguments.lifetimes));
    format!("{} --seed {} --lost {lost} --lifetimes {lifetimes}", joined(&words), arguments.seed)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn point(lost: u32, after_ms: Option<u64>) -> Point {
        Point {
            lifetime_ms: 60_000,
            lost,
            most_in_custody: 64,
            most_in_custody_by_the_formula: 64,
            admits_again_after_ms: after_ms,
            admits_again_after_ms_by_the_formula: after_ms,
            deliveries_refused: after_ms.map_or(0, |_| 7),
            mails_expired: 1,
            agrees: true,
            trouble: None,
        }
    }

    #[test]
    fn the_sentence_says_what_was_simulated_and_nothing_else() {
        let none = sentence(&[point(3, None), point(9, None)]);
        assert_eq!(none, "Relay custody of 64 entries holds 9 lost mails and never stalls.");
        let both = sentence(&[point(63, None), point(64, Some(90_061_000)), point(65, Some(2_000))]);
        for expected in ["holds 63 lost mails and stalls with 64", "for 0 d 00:00:02 to 1 d 01:01:01 after"] {
            assert!(both.contains(expected), "{both}");
        }
        assert!(sentence(&[point(70, Some(1))]).contains("stalls with 70 lost mails:"));
    }

    #[test]
    fn a_table_fits_80_columns() {
        let wide = Point {
            lifetime_ms: 6_000_000,
            lost: 1_000,
            deliveries_refused: 10_080,
            ..point(1, Some(604_800_000))
        };
        let text = text(&sentence(std::slice::from_ref(&wide)), &[wide]);
        assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    }
}
