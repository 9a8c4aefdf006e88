//! `groundhog bench retained`: whether an admission costs more the more streams a node retains.
//!
//! Promise: both figures are of the same admissions in one command, and all of them at the node that retains the streams. A
//! figure is the difference between two runs, one with twice the admissions of the other, so that what it costs to retain
//! the streams first is in none. Times are this machine's.

use super::world::{BenchError, Timed};
use crate::campaign::interrupt::Interrupt;
use crate::command::CallError;
use crate::command::run::{joined, print_failures, program};
use crate::exit::Exit;
use crate::print::block::{Failure, FailureKind};
use crate::print::text;
use clap::Args;
use groundhog_engine::streams::key::Class;
use groundhog_reports::count;
use groundhog_sim::ledger::{LawSelection, LedgerOptions};
use groundhog_sim::plan::{Act, Action, Crypto, Flood, Plan, Slots, yardstick};
use groundhog_sim::run::{RunOptions, run};
use groundhog_sim::units::{ActionId, NodeId};
use serde::Serialize;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// How much more an admission may cost with many, in thousandths.
const MOST_PER_MILLE: u64 = 1_200;

/// Streams that the yardstick's admissions of one node are of.
const STREAMS: u32 = 16;

/// The streams are retained by then.
const RETAINED_US: u64 = 2_000_000;

/// What one more admission costs at a node that retains 100 streams, and at one that retains 16,000: the whole path of the
/// simulated world, from signing to dispatch, the receiver's engine and its simulated disk included, without laws and
/// without a fingerprint. Held against 1.2 times.
#[derive(Args)]
pub struct Arguments {
    /// How often each figure is measured; the median counts.
    #[arg(long, value_name = "N", default_value_t = 7, value_parser = clap::value_parser!(u32).range(1..=100))]
    repeat: u32,
    /// Admissions that are timed: a run has as many, and another twice as many.
    #[arg(long, value_name = "N", default_value_t = 120_000,
        value_parser = clap::value_parser!(u32).range(1_000..=10_000_000))]
    admissions: u32,
    /// Streams that few are.
    #[arg(long, value_name = "N", default_value_t = 100, value_parser = clap::value_parser!(u32).range(1..=16_000))]
    few: u32,
    /// Streams that many are.
    #[arg(long, value_name = "N", default_value_t = 16_000, value_parser = clap::value_parser!(u32).range(1..=16_000))]
    many: u32,
    /// As JSON.
    #[arg(long)]
    json: bool,
}

#[derive(Serialize)]
struct Row {
    retained: u32,
    admissions: u64,
    ns_per_admission: u64,
}

#[derive(Serialize)]
struct Table {
    rows: Vec<Row>,
    ratio_per_mille: u64,
    ratio_at_most_per_mille: u64,
}

/// Measures.
pub fn main(arguments: &Arguments) -> Result<Exit, CallError> {
    let retained = [arguments.few, arguments.many];
    let mut measured = [Vec::new(), Vec::new()];
    let mut admissions = [0; 2];
    // In turn, so that what else this machine does meets both alike; a difference is of two runs that follow each other.
    let interrupt = Interrupt::listen().map_err(CallError::Signals)?;
    let give_up = || print_failures(&[interrupted(arguments, 0)], arguments.json);
    let stop = interrupt.stop();
    let whole = interrupt.during(give_up, || -> Result<bool, CallError> {
        for _ in 0..arguments.repeat {
            for (place, retained) in retained.into_iter().enumerate() {
                let once = timed(&plan(retained, arguments.admissions), &stop)?;
                let twice = timed(&plan(retained, 2 * arguments.admissions), &stop)?;
                let (Some((once, fewer)), Some((twice, more))) = (once, twice) else { return Ok(false) };
                admissions[place] = more - fewer;
                measured[place].push(nanoseconds(twice.saturating_sub(once)) / admissions[place].max(1));
            }
        }
        Ok(true)
    })?;
    let cut = (!whole).then(|| interrupted(arguments, measured[1].len()));
    if measured[1].is_empty() {
        return Ok(print_failures(&cut.into_iter().collect::<Vec<_>>(), arguments.json));
    }
    let row = |place: usize| Row {
        retained: retained[place],
        admissions: admissions[place],
        ns_per_admission: median(&measured[place]),
    };
    let rows = vec![row(0), row(1)];
    let ratio_per_mille = rows[1].ns_per_admission * 1_000 / rows[0].ns_per_admission.max(1);
    let table = Table { rows, ratio_per_mille, ratio_at_most_per_mille: MOST_PER_MILLE };
    text::out(&if arguments.json { table.json()? } else { table.text() });
    // Few measurements are no figure to hold against a threshold.
    if ratio_per_mille <= MOST_PER_MILLE || cut.is_some() {
        return Ok(print_failures(&cut.into_iter().collect::<Vec<_>>(), arguments.json));
    }
    let missed = Failure {
        kind: FailureKind::Threshold,
        what: "bench retained".to_owned(),
        saw: format!("an admission costs {ratio_per_mille} thousandths, and {MOST_PER_MILLE} are asked for"),
        shrunk: None,
        see: None,
        repeat: Some(repeat(arguments)),
    };
    Ok(print_failures(&[missed], arguments.json))
}

/// The block of a measurement that Ctrl-C ended.
fn interrupted(arguments: &Arguments, done: usize) -> Failure {
    Failure {
        kind: FailureKind::Cut,
        what: "interrupted".to_owned(),
        saw: format!("both figures were measured {done} of {} times", arguments.repeat),
        shrunk: None,
        see: None,
        repeat: Some(repeat(arguments)),
    }
}

fn median(measured: &[u64]) -> u64 {
    let mut sorted = measured.to_vec();
    sorted.sort_unstable();
    sorted[sorted.len() / 2]
}

/// The command that measures so much, so often.
fn repeat(arguments: &Arguments) -> String {
    let Arguments { repeat, admissions, few, many, .. } = arguments;
    let words = [program(), "bench".to_owned(), "retained".to_owned()];
    let figures = format!("--repeat {repeat} --admissions {admissions} --few {few} --many {many}");
    joined(&words.into_iter().chain(figures.split(' ').map(str::to_owned)).collect::<Vec<_>>())
}

fn nanoseconds(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Streams of strangers, all retained at node 1; then admissions of a few streams there and nowhere else.
fn plan(retained: u32, admissions: u32) -> Plan {
    let (to, node) = (NodeId(1), NodeId(0));
    let each = (admissions / STREAMS).max(1);
    let mut plan = yardstick::admissions(yardstick::FEWEST_NODES, each, Crypto::KeyedHash);
    plan.actions.retain(|action| matches!(&action.act, Act::Send(burst) if burst.to == to));
    for (action, id) in plan.actions.iter_mut().zip(1..) {
        action.at_us += RETAINED_US;
        action.id = ActionId(id);
    }
    let flood = Flood {
        to,
        via: None,
        class: Class::Storage,
        keys: 0,
        first_key: 0,
        sequence: 0,
        count: retained,
        every_us: 100,
        bytes: 64,
        stamp_ms: 0,
        forgery: None,
    };
    plan.actions.insert(0, Action { id: ActionId(0), at_us: 100_000, node, act: Act::Flood(flood) });
    plan.engines.slots = Some(Slots { slots: 64, floor: 16_384, pool: 0, inbox: 0, self_share: 0 });
    plan.quiesce_us += RETAINED_US;
    // The ledger looks through all of a store once in a slice of the run. One slice holds everything, so that this is in
    // neither figure; the rest of the time nothing happens.
    plan.end_us = plan.quiesce_us * 1_000;
    plan
}

/// The core's time of one run, and how many messages it dispatched; nothing when it was told to stop.
fn timed(plan: &Plan, stop: &Arc<AtomicBool>) -> Result<Option<(Duration, u64)>, CallError> {
    let ledger = LedgerOptions { laws: LawSelection::None, unhashed: true, ..LedgerOptions::default() };
    let options = RunOptions { ledger, stop: Arc::clone(stop), ..RunOptions::default() };
    let (outcome, timed) = Timed::of(|| run(plan, options));
    let outcome = outcome?;
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let strangers: u64 = outcome.floods.iter().map(|flood| flood.taken).sum();
    let asked: u64 = plan
        .actions
        .iter()
        .filter_map(|action| match &action.act {
            Act::Flood(flood) => Some(u64::from(flood.count)),
            _ => None,
        })
        .sum();
    if outcome.dispatched != outcome.intended || strangers != asked {
        let saw = format!(
            "{} of {} messages were dispatched, and {strangers} of {asked} streams retained",
            outcome.dispatched, outcome.intended
        );
        let what = "admissions beside retained streams".to_owned();
        return Err(BenchError::Broken { what, law: "conservation".to_owned(), saw }.into());
    }
    Ok(Some((timed.core(), outcome.dispatched)))
}

impl Table {
    /// For a person.
    fn text(&self) -> String {
        let mut text = "What one more message costs in this machine's core time, from signing to dispatch,\n\
                        at a node that retains so many streams:\n\n"
            .to_owned();
        text.push_str(&format!("  {:>16}{:>14}{:>18}\n", "streams retained", "admissions", "for each"));
        for Row { retained, admissions, ns_per_admission } in &self.rows {
            text.push_str(&format!(
                "  {:>16}{:>14}{:>18}\n",
                count((*retained).into()),
                count(*admissions),
                groundhog_reports::duration(*ns_per_admission)
            ));
        }
        let (ratio, most) = (self.ratio_per_mille, self.ratio_at_most_per_mille);
        text.push_str(&format!(
            "\n  ratio {}.{:03}, and at most {}.{:03} is asked for\n",
            ratio / 1_000,
            ratio % 1_000,
            most / 1_000,
            most % 1_000
        ));
        text
    }

    /// For a machine.
    fn json(&self) -> serde_json::Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }
}
