//! The runs that are timed.

use super::BenchError;
use super::goal;
use super::table::{Admissions, Messages, Part, RealTime, Table};
use super::timed::Timed;
use groundhog_sim::ledger::{LawSelection, LedgerOptions};
use groundhog_sim::outcome::{Cut, Outcome};
use groundhog_sim::plan::{Crypto, Plan, yardstick};
use groundhog_sim::run::{RunError, RunOptions, run, run_transport_alone};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

/// Few nodes, and many, between which admissions are compared.
const FEW_NODES: u16 = 10;
const MANY_NODES: u16 = 1_000;

/// Streams that leave a node in the plan of admissions.
const STREAMS_PER_NODE: u32 = 16;

/// The fewest messages of one stream: opening a stream is then not most of what is measured.
const FEWEST_PER_STREAM: u32 = 32;

/// Time between two messages of a node, in the densest run and in the sparse one that is compared to real time.
const DENSE_EVERY_US: u64 = 100;
const SPARSE_EVERY_US: u64 = 10_000;

/// How much is run.
#[derive(Clone, Copy)]
pub struct Effort<'s> {
    /// How often each figure is measured.
    pub repeat: u32,
    /// Messages of one run of the network alone.
    pub messages: u32,
    /// Set to interrupt the run that is on.
    pub stop: &'s Arc<AtomicBool>,
}

impl Effort<'_> {
    fn options(&self, ledger: LedgerOptions) -> RunOptions {
        RunOptions { ledger, stop: Arc::clone(self.stop), ..RunOptions::default() }
    }
}

/// One way to run the plan of admissions.
#[derive(Clone, Copy)]
struct Manner {
    laws: bool,
    fingerprint: bool,
    crypto: Crypto,
}

const WHOLE: Manner = Manner { laws: true, fingerprint: true, crypto: Crypto::KeyedHash };

/// Measures everything.
pub fn measure(effort: Effort<'_>, say: impl Fn(String)) -> Result<Table, BenchError> {
    let mut messages = Vec::new();
    for (nodes, goal) in goal::MESSAGES_PER_SECOND {
        say(format!("messages through the network alone, {nodes} nodes"));
        let (sent, timed) = network_alone(effort, nodes, DENSE_EVERY_US)?;
        messages.push(Messages { nodes, messages: sent, timed, goal });
    }
    let mut real_time = Vec::new();
    for (nodes, goal) in goal::TIMES_REAL {
        say(format!("simulated over real time, {nodes} nodes"));
        let (sent, timed) = network_alone(effort, nodes, SPARSE_EVERY_US)?;
        // What the messages cover: the run's idle end would only flatter it.
        let simulated = Duration::from_micros(sent / u64::from(nodes) * SPARSE_EVERY_US);
        real_time.push(RealTime { nodes, simulated, timed, goal });
    }
    let (few, parts) = where_the_time_goes(effort, &say)?;
    say(format!("durable admissions, {MANY_NODES} nodes"));
    let many = (0..effort.repeat).map(|_| admissions(effort, MANY_NODES, WHOLE));
    let many = fastest(many.collect::<Result<_, _>>()?);
    Ok(Table { messages, real_time, few, many, parts })
}

fn network_alone(effort: Effort<'_>, nodes: u16, every_us: u64) -> Result<(u64, Timed), BenchError> {
    let per_node = effort.messages / u32::from(nodes);
    let plan = yardstick::messages(nodes, per_node, every_us);
    let mut best: Option<Timed> = None;
    let mut delivered = 0;
    for _ in 0..effort.repeat {
        let what = || format!("messages of {nodes} nodes");
        let (outcome, timed) =
            timed(&plan, effort.options(LedgerOptions::default()), run_transport_alone, what)?;
        // Each frame is sent and delivered; a node that is ready and the end of all faults are the only other events.
        delivered = (outcome.events - u64::from(nodes) - 1) / 2;
        best = best.into_iter().chain([timed]).min_by_key(Timed::core);
    }
    Ok((delivered, best.expect("everything is measured at least once")))
}

fn admissions(effort: Effort<'_>, nodes: u16, manner: Manner) -> Result<Admissions, BenchError> {
    let streams = u32::from(nodes) * STREAMS_PER_NODE;
    let per_stream = (effort.messages / 10 / streams).max(FEWEST_PER_STREAM);
    let plan = yardstick::admissions(nodes, per_stream, manner.crypto);
    let ledger = LedgerOptions {
        laws: if manner.laws { LawSelection::All } else { LawSelection::None },
        unhashed: !manner.fingerprint,
        ..LedgerOptions::default()
    };
    let options = effort.options(ledger);
    let what = || format!("admissions of {nodes} nodes");
    let (outcome, timed) = timed(&plan, options, run, what)?;
    if outcome.dispatched != outcome.intended {
        let saw = format!("{} of {} messages were dispatched", outcome.dispatched, outcome.intended);
        return Err(BenchError::Broken { what: what(), law: "conservation".to_owned(), saw });
    }
    let records = outcome.batch_sizes.iter().map(|(size, batches)| u64::from(*size) * batches).sum();
    Ok(Admissions {
        nodes,
        admissions: outcome.dispatched,
        events: outcome.events,
        batches: outcome.batch_sizes.values().sum(),
        records,
        timed,
    })
}

/// The same run with parts switched off, in turn, so that what else this machine does meets all of them alike.
fn where_the_time_goes(
    effort: Effort<'_>,
    say: &impl Fn(String),
) -> Result<(Admissions, Vec<Part>), BenchError> {
    let manners = [
        ("", WHOLE),
        ("without laws", Manner { laws: false, ..WHOLE }),
        ("without fingerprint", Manner { fingerprint: false, ..WHOLE }),
        ("without both", Manner { laws: false, fingerprint: false, ..WHOLE }),
        ("with real Ed25519", Manner { crypto: Crypto::Ed25519, ..WHOLE }),
    ];
    let mut runs = vec![Vec::new(); manners.len()];
    for _ in 0..effort.repeat {
        for ((name, manner), runs) in manners.iter().zip(&mut runs) {
            say(format!("durable admissions, {FEW_NODES} nodes {name}"));
            runs.push(admissions(effort, FEW_NODES, *manner)?);
        }
    }
    let mut runs = runs.into_iter().map(fastest);
    let whole = runs.next().expect("the whole path is the first");
    let names = manners[1..].iter().map(|(name, _)| *name);
    let parts = names.zip(runs).map(|(name, run)| Part { name, timed: run.timed }).collect();
    Ok((whole, parts))
}

fn fastest(runs: Vec<Admissions>) -> Admissions {
    runs.into_iter().min_by_key(|run| run.timed.core()).expect("everything is measured at least once")
}

/// Time is taken here, outside the thread that simulates.
fn timed(
    plan: &Plan,
    options: RunOptions,
    run: fn(&Plan, RunOptions) -> Result<Outcome, RunError>,
    what: impl Fn() -> String,
) -> Result<(Outcome, Timed), BenchError> {
    let (outcome, timed) = Timed::of(|| run(plan, options));
    let outcome = outcome?;
    if let Some(violation) = outcome.violations.first() {
        let (law, saw) = (violation.law.to_owned(), violation.saw.clone());
        return Err(BenchError::Broken { what: what(), law, saw });
    }
    if outcome.cut == Some(Cut::Interrupted) {
        return Err(BenchError::Interrupted);
    }
    if let Some(cut) = &outcome.cut {
        let saw = format!("the run was cut: {cut:?}");
        return Err(BenchError::Broken { what: what(), law: "whole".to_owned(), saw });
    }
    Ok((outcome, timed))
}
