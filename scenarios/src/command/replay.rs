//! `groundhog replay`: a plan again, event by event.

use super::CallError;
use crate::exit::Exit;
use crate::print::text;
use crate::simulate::{self, Laws, Manner};
use crate::target::{self, Source, TargetError};
use clap::Args;
use groundhog_sim::ledger::onlooker::Line;
use groundhog_sim::plan::Plan;
use std::io::Write;
use std::path::PathBuf;

#[derive(Args)]
pub struct Arguments {
    /// The plan.
    plan: String,
    /// Only what happens at this node.
    #[arg(long)]
    node: Option<u16>,
    /// Only what happens around this simulated time, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds)]
    around: Option<u64>,
    /// How far around, in seconds.
    #[arg(long, value_name = "SECONDS", value_parser = seconds, default_value = "0.05", requires = "around")]
    within: u64,
    /// Polls that the run may use.
    #[arg(long, value_name = "N", default_value_t = groundhog_sim::run::POLL_BUDGET)]
    max_polls: u64,
}

/// Seconds with up to six decimals, as microseconds.
pub fn seconds(text: &str) -> Result<u64, String> {
    let expected = || "expected seconds, such as 8.214".to_owned();
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits = |text: &str| text.bytes().all(|digit| digit.is_ascii_digit());
    if whole.is_empty() || decimals.len() > 6 || !digits(whole) || !digits(decimals) {
        return Err(expected());
    }
    format!("{whole}{decimals:0<6}").parse().map_err(|_| expected())
}

/// Prints it.
pub fn main(arguments: &Arguments) -> Result<Exit, CallError> {
    let plan = plan(arguments)?;
    let (node, around, within) = (arguments.node, arguments.around, arguments.within);
    let wanted = move |line: &Line<'_>| {
        let near = around.is_none_or(|around| line.at.as_us().abs_diff(around) <= within);
        near && node.is_none_or(|node| line.node.is_some_and(|at| at.0 == node))
    };
    let mut output = std::io::BufWriter::new(std::io::stdout());
    let sink = Box::new(move |line: &Line<'_>| {
        if wanted(line) {
            // Whoever no longer reads has seen enough; the run goes on for its verdict.
            let _ = writeln!(output, "{}", line.text);
        }
    });
    let (max_polls, stop) = (arguments.max_polls, Default::default());
    let manner = Manner { laws: Laws::All, max_polls, stop, plant: None };
    let outcome = simulate::watch(&plan, &manner, sink)?;
    let fingerprint = crate::campaign::tally::hex(&outcome.fingerprint);
    text::out(&format!("\n{} events\nfingerprint {fingerprint}\n", outcome.events));
    let failures =
        super::run::failures_of_one(&plan, &outcome, &|_| super::run::repeat_plan(&arguments.plan));
    text::out(&crate::print::block::block(&failures, text::colour()));
    Ok(crate::print::block::exit(&failures))
}

fn plan(arguments: &Arguments) -> Result<Plan, CallError> {
    let mut targets = target::find(&arguments.plan, &[])?;
    match targets.pop().map(|target| target.source) {
        Some(Source::Plan(plan)) => {
            if let Some(node) = arguments.node.filter(|node| usize::from(*node) >= plan.nodes.len()) {
                let what = format!("--node {node}: the plan has nodes 0 to {}", plan.nodes.len() - 1);
                return Err(TargetError::Call(what).into());
            }
            Ok(*plan)
        }
        _ => Err(TargetError::NotAPlan { path: PathBuf::from(&arguments.plan) }.into()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_read_to_the_microsecond() {
        for (text, us) in [
            ("8.214", Some(8_214_000)),
            ("0", Some(0)),
            ("1.000001", Some(1_000_001)),
            ("1.0000001", None),
            ("-1", None),
            ("", None),
            ("1e3", None),
        ] {
            assert_eq!(seconds(text).ok(), us, "{text}");
        }
    }
}
